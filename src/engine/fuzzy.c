/* fuzzy.c - the engines that rank by fuzzy sets (search/fuzzy/fuzzy.h): one pass gives every
 * candidate its degree, so an ask, a check and many checks cost the same.
 *
 * Their degrees are those of their own logic, which the verifier does not know: it has minimum and
 * maximum. What stands for it here are brute force and slow networks in the tests. */
#include "engine/fuzzy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "predict/rows.h"
#include "search/fuzzy/network.h"

typedef struct fuzzy_engine {
    acq_engine_id engine;
    bool is_minimum;
    const char *model; /* kind of the network; NULL: links */
    double threshold;  /* of a yes, as the AnyCQ paper's authors chose it */
} fuzzy_engine;

static const fuzzy_engine engines[] = {
    {ACQ_ENGINE_qto, false, NULL, 0.5},
    {ACQ_ENGINE_fit, true, NULL, 0.5},
    {ACQ_ENGINE_gnnqe, false, "nbfnet", 0.25},
    {ACQ_ENGINE_ultraquery, false, "ultra", 0.2},
};

static const fuzzy_engine *find_engine(acq_engine_id engine)
{
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
        if (engines[i].engine == engine)
            return &engines[i];
    return NULL;
}

bool acq_engine_is_fuzzy(acq_engine_id engine)
{
    return find_engine(engine) != NULL;
}

double acq_engine_get_fuzzy_threshold(const acq_engine_params *params)
{
    return params->has_threshold ? params->search.scoring.threshold
                                 : find_engine(params->engine)->threshold;
}

/* ---- one pass ---- */

acq_status acq_engine_fuzzy_open(acq_engine_id engine, const acq_predictor *predictor,
                                 const acq_search_params *search, acq_fuzzy_params *out,
                                 acq_fuzzy_network **network, acq_error *error)
{
    const fuzzy_engine *own = find_engine(engine);
    const acq_row_model *model = NULL;
    *network = NULL;
    *out = ACQ_FUZZY_DEFAULT;
    out->is_minimum = own->is_minimum;
    out->negation_scale = search->negation_scale > 0 ? search->negation_scale : 1.0;
    out->stop = search->stop;
    if (own->model == NULL)
        return ACQ_OK;
    acq_status status = acq_predictor_open_model(predictor, &model, error);
    if (status != ACQ_OK)
        return status;
    if (model == NULL || strcmp(model->kind, own->model) != 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the engine %s needs the weights of its network: --predictor %s:MODEL",
                        acq_engine_get_name(engine), own->model);
    status = acq_fuzzy_network_new(model, search->input_threshold, network, error);
    out->project = acq_fuzzy_network_project;
    out->context = *network;
    return status;
}

typedef struct pass {
    acq_problem *problem;
    acq_set_tree *tree;
    acq_fuzzy_network *network;
    acq_fuzzy_run run;
    bool is_done;
} pass;

static void pass_deinit(pass *p)
{
    acq_fuzzy_run_deinit(&p->run);
    acq_fuzzy_network_free(p->network);
    acq_set_tree_free(p->tree);
    acq_problem_free(p->problem);
}

static acq_status run_pass(const acq_query *query, const acq_predictor *predictor,
                           const acq_engine_params *params, pass *out, acq_error *error)
{
    acq_fuzzy_params fuzzy;
    const char *name = acq_engine_get_name(params->engine);
    *out = (pass){0};
    if (params->search.scoring.binarize > 0 || params->has_negation_threshold)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the engine %s has degrees: --binarize and --negation-threshold are for "
                        "other engines",
                        name);
    acq_status status = acq_problem_new(query, acq_graph_get_n_entities(predictor->graph),
                                        &out->problem, error);
    if (status == ACQ_OK)
        status = acq_set_tree_new(out->problem, name, &out->tree, error);
    if (status == ACQ_OK)
        status = acq_engine_fuzzy_open(params->engine, predictor, &params->search, &fuzzy,
                                       &out->network, error);
    if (status != ACQ_OK)
        return status;
    if (params->search.seconds > 0)
        fuzzy.deadline_ns = acq_clock_get_deadline(params->search.seconds);
    return acq_fuzzy_run_tree(&out->run, out->tree, predictor, &fuzzy, &out->is_done, error);
}

/* ---- results ---- */

static acq_status add_answer(const pass *p, const acq_query *query, acq_ent value, double degree,
                             acq_engine_result *result, acq_engine_answer *out, acq_error *error)
{
    acq_ent *values = acq_arena_zalloc(&result->arena, query->n_variables, sizeof *values);
    if (values == NULL)
        return acq_fail_memory(error);
    values[0] = value;
    acq_fuzzy_run_trace(&p->run, values);
    *out = (acq_engine_answer){
        .score = degree, .p = NAN, .p_prior = NAN, .p_if_answered = NAN, .values = values};
    return ACQ_OK;
}

static void begin_result(const pass *p, acq_engine_result *result)
{
    acq_arena_init(&result->arena);
    result->outcome = p->is_done ? ACQ_NONE : ACQ_UNDECIDED;
    result->complete = p->is_done;
    result->spent = p->is_done ? ACQ_SPENT_NOTHING : ACQ_SPENT_TIME;
    result->effort.nodes = p->run.n_rows;
}

/* The tuple's degree is kept even where it is too low: it ranks. */
static acq_status give_check(const pass *p, const acq_query *query, const acq_ent *tuple,
                             double threshold, acq_engine_result *result, acq_error *error)
{
    begin_result(p, result);
    if (!p->is_done)
        return ACQ_OK;
    double degree = acq_fuzzy_set_get(acq_fuzzy_run_get_root(&p->run), tuple[0]);
    acq_engine_answer *answer = acq_arena_alloc(&result->arena, 1, sizeof *answer);
    acq_status status = answer == NULL
                            ? acq_fail_memory(error)
                            : add_answer(p, query, tuple[0], degree, result, answer, error);
    if (status != ACQ_OK)
        return status;
    result->likeliest = answer;
    if (degree >= threshold) {
        result->outcome = ACQ_ANSWERED;
        result->answers = answer;
        result->n_answers = 1;
    }
    return ACQ_OK;
}

typedef struct ranked {
    acq_ent entity;
    double degree;
} ranked;

static int compare_ranked(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    if (left->degree != right->degree)
        return left->degree < right->degree ? 1 : -1;
    return (left->entity > right->entity) - (left->entity < right->entity);
}

/* All entities that reach the threshold, best first. */
static acq_status rank(const pass *p, double threshold, ranked **out, size_t *n_out,
                       acq_error *error)
{
    const acq_fuzzy_set *root = acq_fuzzy_run_get_root(&p->run);
    bool is_all = root->rest >= threshold;
    uint32_t n = is_all ? p->run.n_entities : root->n;
    ranked *list = acq_alloc(n, sizeof *list);
    if (list == NULL)
        return acq_fail_memory(error);
    *n_out = 0;
    for (uint32_t i = 0; i < n; i++) {
        ranked one = {is_all ? i : root->entities[i],
                      is_all ? acq_fuzzy_set_get(root, i) : root->degrees[i]};
        if (one.degree >= threshold)
            list[(*n_out)++] = one;
    }
    qsort(list, *n_out, sizeof *list, compare_ranked);
    *out = list;
    return ACQ_OK;
}

static acq_status give_ask(const pass *p, const acq_query *query, double threshold, uint64_t limit,
                           acq_engine_result *result, acq_error *error)
{
    ranked *list = NULL;
    size_t n = 0;
    begin_result(p, result);
    if (!p->is_done)
        return ACQ_OK;
    acq_status status = rank(p, threshold, &list, &n, error);
    n = limit > 0 && limit < n ? (size_t)limit : n;
    if (status == ACQ_OK) {
        result->answers = acq_arena_alloc(&result->arena, n, sizeof *result->answers);
        status = result->answers == NULL ? acq_fail_memory(error) : ACQ_OK;
    }
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        status = add_answer(p, query, list[i].entity, list[i].degree, result, &result->answers[i],
                            error);
    if (status == ACQ_OK && n > 0) {
        result->n_answers = n;
        result->outcome = ACQ_ANSWERED;
    }
    acq_free(list);
    return status;
}

acq_status acq_engine_fuzzy_ask(const acq_query *query, const acq_predictor *predictor,
                                const acq_engine_params *params, acq_engine_result *result,
                                acq_error *error)
{
    pass p;
    acq_status status = run_pass(query, predictor, params, &p, error);
    if (status == ACQ_OK)
        status = give_ask(&p, query, acq_engine_get_fuzzy_threshold(params), params->search.limit,
                          result, error);
    pass_deinit(&p);
    return status;
}

static acq_status check_tuples(const acq_query *query, const acq_predictor *predictor,
                               const acq_ent *const *tuples, size_t n, acq_error *error)
{
    uint32_t n_entities = acq_graph_get_n_entities(predictor->graph);
    for (size_t i = 0; i < n; i++)
        for (uint32_t v = 0; v < query->n_free; v++)
            if (tuples[i][v] >= n_entities)
                return acq_fail(error, ACQ_ERR_USAGE,
                                "the value of %s is not an entity of the graph",
                                query->variables[v].text);
    return ACQ_OK;
}

acq_status acq_engine_fuzzy_check(const acq_query *query, const acq_predictor *predictor,
                                  const acq_ent *const *tuples, size_t n,
                                  const acq_engine_params *params, acq_engine_result *results,
                                  acq_error *error)
{
    pass p;
    acq_status status = check_tuples(query, predictor, tuples, n, error);
    if (status != ACQ_OK)
        return status;
    status = run_pass(query, predictor, params, &p, error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        status = give_check(&p, query, tuples[i], acq_engine_get_fuzzy_threshold(params),
                            &results[i], error);
    pass_deinit(&p);
    return status;
}
