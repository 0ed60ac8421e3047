/* field.c - the field of a question: what other values of its free variable reach
 * (calibrate/answer.h).
 *
 * Values are tried in the order of a sequence that spreads evenly over the entities which the graph
 * has seen where the shortest list of a positive atom has the variable: the same ones whatever the
 * order of atoms, on every machine. Those that are seen at all its places count. */
#include "engine/engine.h"

#include <math.h>

#include "answer/answer.h"

enum {
    MOST_TRIED = 8 * ACQ_FIELD_MOST,
    WORK = 200000 /* of a search; by work, not by the clock, so that it repeats */
};

/* Entities that are seen where a positive atom has variable 0. */
typedef struct seen_list {
    const acq_links *links; /* NULL: none so far */
    acq_rel relation;
} seen_list;

/* The shorter one; of equal ones that of the smaller relation, whatever the order of atoms. */
static void keep_shorter(seen_list *best, const acq_links *links, acq_rel relation)
{
    if (best->links == NULL || links->n_heads < best->links->n_heads ||
        (links->n_heads == best->links->n_heads && relation < best->relation))
        *best = (seen_list){links, relation};
}

/* Of all atoms below conjunctions. */
static acq_status find_shortest(const acq_query *query, const acq_node *node,
                                const acq_graph *graph, seen_list *best, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; node->kind == ACQ_NODE_AND && i < node->n_children && status == ACQ_OK;
         i++)
        status = find_shortest(query, node->children[i], graph, best, error);
    if (node->kind != ACQ_NODE_ATOM)
        return status;
    const acq_term ends[2] = {node->left, node->right};
    for (unsigned side = 0; side < 2 && status == ACQ_OK; side++) {
        acq_rel relation = query->relations[node->relation].id ^ side;
        const acq_links *links;
        if (!ends[side].is_variable || ends[side].id != 0)
            continue;
        status = acq_graph_open_links(graph, relation, &links, error);
        if (status == ACQ_OK)
            keep_shorter(best, links, relation);
    }
    return status;
}

/* The i-th of n places, spread evenly. */
static uint32_t get_place(uint32_t i, uint32_t n)
{
    const double golden = 0.6180339887498949;
    double turns = ((double)i + .5) * golden;
    return (uint32_t)((turns - floor(turns)) * (double)n);
}

static acq_status add_value(const acq_query *query, const acq_predictor *predictor,
                            const acq_engine_params *params, acq_ent value, acq_answer_field *out,
                            acq_error *error)
{
    acq_engine_result result;
    float features[ACQ_N_ANSWER_FEATURES];
    acq_status status = acq_engine_check(query, predictor, &value, params, &result, error);
    bool is_supported = status == ACQ_OK && result.outcome == ACQ_ANSWERED;
    if (is_supported)
        status = acq_answer_describe(query, predictor, &params->search.scoring,
                                     result.answers[0].values, features, error);
    if (status == ACQ_OK && (is_supported || result.outcome == ACQ_NONE))
        acq_answer_field_add(out, is_supported ? features : NULL);
    acq_engine_result_deinit(&result);
    return status;
}

acq_status acq_engine_find_field(const acq_query *query, const acq_predictor *predictor,
                                 const acq_engine_params *params, acq_answer_field *out,
                                 acq_error *error)
{
    seen_list list = {0};
    acq_engine_params search = *params;
    acq_query single = *query; /* borrows its tree */
    single.n_free = 1;
    *out = (acq_answer_field){.is_found = true};
    if (query->n_free == 0 || acq_predictor_makes_rows(predictor))
        return ACQ_OK;
    search.engine = ACQ_ENGINE_exact; /* whatever search the question itself has */
    search.paper = true;              /* without p */
    search.prior = -1;
    search.search.seconds = 0;
    search.search.work = WORK;
    acq_status status = find_shortest(query, query->root, predictor->graph, &list, error);
    uint32_t n = list.links == NULL ? 0 : list.links->n_heads;
    for (uint32_t i = 0; i < MOST_TRIED && n > 0 && out->n < ACQ_FIELD_MOST && status == ACQ_OK;
         i++) {
        acq_ent value = list.links->heads[get_place(i, n)];
        if (acq_explain_is_seen(&single, predictor->graph, &value))
            status = add_value(&single, predictor, &search, value, out, error);
    }
    return status;
}
