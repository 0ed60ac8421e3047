/* core.c - a minimal unsatisfiable subset by deletion; see engine.h. */
#include "engine/engine.h"

#include <string.h>

typedef struct trial {
    acq_query query; /* shares everything but its root with the original */
    acq_node root;
    const acq_predictor *predictor;
    const acq_ent *values;
    acq_search_params search;
    acq_error *error;
} trial;

/* Do these conjuncts have an answer? *none: proved that they have not. */
static acq_status has_none(trial *t, acq_node **conjuncts, size_t n, bool *none)
{
    acq_problem *problem = NULL;
    acq_search_result result = {0};
    t->root = (acq_node){.kind = ACQ_NODE_AND, .children = conjuncts, .n_children = (uint32_t)n};
    t->query.root = &t->root;
    acq_status status = acq_problem_new_fixed(
        &t->query, acq_graph_get_n_entities(t->predictor->graph), t->values, &problem, t->error);
    if (status != ACQ_OK)
        return status;
    status = acq_search_exact(problem, t->predictor, &t->search, &result, t->error);
    *none = status == ACQ_OK && result.outcome == ACQ_NONE;
    acq_search_result_deinit(&result);
    acq_problem_free(problem);
    return status;
}

/* Leaves out conjunct after conjunct as long as the rest has no answer. */
static acq_status shrink(trial *t, acq_node **kept, size_t *n, acq_node **scratch, double seconds)
{
    int64_t deadline = acq_clock_ns() + (int64_t)(seconds * 1e9);
    for (size_t i = *n; i-- > 0;) {
        bool none = false;
        double left = (double)(deadline - acq_clock_ns()) / 1e9;
        if (left <= 0)
            return ACQ_OK;
        t->search.seconds = left;
        memcpy(scratch, kept, i * sizeof *kept);
        memcpy(scratch + i, kept + i + 1, (*n - i - 1) * sizeof *kept);
        acq_status status = has_none(t, scratch, *n - 1, &none);
        if (status != ACQ_OK)
            return status;
        if (none) {
            memcpy(kept, scratch, (*n - 1) * sizeof *kept);
            --*n;
        }
    }
    return ACQ_OK;
}

acq_status acq_engine_find_core(const acq_query *query, const acq_predictor *predictor,
                                const acq_ent *values, const acq_engine_params *params,
                                double seconds, acq_arena *arena, const acq_node ***out,
                                size_t *n_out, acq_error *error)
{
    bool is_and = query->root->kind == ACQ_NODE_AND;
    size_t n = is_and ? query->root->n_children : 1;
    acq_node **kept = acq_arena_alloc(arena, n, sizeof *kept);
    acq_node **scratch = acq_arena_alloc(arena, n, sizeof *scratch);
    trial t = {.query = *query,
               .predictor = predictor,
               .values = values,
               .search = params->search,
               .error = error};
    if (kept == NULL || scratch == NULL)
        return acq_fail_memory(error);
    if (is_and && n > 0)
        memcpy(kept, query->root->children, n * sizeof *kept);
    else if (!is_and)
        kept[0] = query->root;
    t.search.limit = 1;
    acq_status status = n > 1 ? shrink(&t, kept, &n, scratch, seconds) : ACQ_OK;
    if (status != ACQ_OK)
        return status;
    *out = (const acq_node **)kept;
    *n_out = n;
    return ACQ_OK;
}
