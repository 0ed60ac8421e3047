/* fuzzy.c - the engines that rank by fuzzy sets (search/fuzzy/fuzzy.h): one pass gives every
 * candidate its degree, so an ask, a check and many checks cost the same.
 *
 * What is verified: an answer of qto, or of fit with one norm, has the degree that the verifier
 * gives its assignment in their logic (answer/answer.h). With fit's usual two norms it must lie
 * between the product and, of a tree, the minimum of that assignment. What gnnqe and ultraquery say
 * is no function of links, and over a predictor that makes rows there is no link to look up:
 * nothing is verified there, and brute force and slow networks in the tests stand for it. */
#include "engine/engine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "base/memory.h"
#include "base/text.h"
#include "predict/rows.h"
#include "search/fuzzy/fuzzy.h"

static const double SAME_DEGREE = 1e-9;

enum { NOTE_ROOM = 96 };

typedef struct fuzzy_engine {
    acq_engine_id engine;
    bool is_fit;       /* its norms are chosen, and it answers queries with cycles */
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
    out->is_minimum = own->is_fit && search->t_norm != ACQ_NORM_PRODUCT;
    out->is_minimum_along = own->is_fit && search->t_norm == ACQ_NORM_MINIMUM;
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
    if (model->ops->score_set == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "the engine %s needs rows of all entities: --visit 1",
                        acq_engine_get_name(engine));
    status = acq_fuzzy_network_new(model, search->input_threshold, network, error);
    out->project = acq_fuzzy_network_project;
    out->context = *network;
    return status;
}

typedef struct pass {
    const acq_predictor *predictor;
    acq_fuzzy_params fuzzy;
    acq_problem *problem;
    acq_set_tree *tree; /* NULL: by `cycles` */
    acq_fuzzy_network *network;
    acq_fuzzy_run run;
    acq_fuzzy_cycles *cycles;
    bool is_done;
} pass;

static void pass_deinit(pass *p)
{
    acq_fuzzy_run_deinit(&p->run);
    acq_fuzzy_cycles_free(p->cycles);
    acq_fuzzy_network_free(p->network);
    acq_set_tree_free(p->tree);
    acq_problem_free(p->problem);
}

static const acq_fuzzy_set *get_root(const pass *p)
{
    return p->tree != NULL ? acq_fuzzy_run_get_root(&p->run) : acq_fuzzy_cycles_get_root(p->cycles);
}

static acq_status check_params(const acq_engine_params *params, acq_error *error)
{
    if (params->search.scoring.binarize > 0 || params->has_negation_threshold)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the engine %s has degrees: --binarize and --negation-threshold are for "
                        "other engines",
                        acq_engine_get_name(params->engine));
    return ACQ_OK;
}

/* "not r(x, y)" with a variable x that has other atoms: sets would say "for no x". */
static bool has_negated_path(const acq_problem *problem)
{
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *l = &problem->literals[i];
        if (l->is_negated && l->left.is_variable && l->right.is_variable)
            return true;
    }
    return false;
}

/* The query as sets; fit takes what is none by its own algorithm, and *out stays NULL. */
static acq_status make_tree(const acq_problem *problem, const fuzzy_engine *engine,
                            acq_set_tree **out, acq_error *error)
{
    const char *name = acq_engine_get_name(engine->engine);
    acq_error why = {0};
    *out = NULL;
    if (has_negated_path(problem))
        return engine->is_fit ? ACQ_OK
                              : acq_fail(error, ACQ_ERR_INPUT,
                                         "the engine %s cannot answer this query: a negated atom "
                                         "is between two variables; use --engine exact",
                                         name);
    acq_status status = acq_set_tree_new(problem, name, out, &why);
    if (status == ACQ_ERR_INPUT && engine->is_fit)
        return ACQ_OK;
    if (status != ACQ_OK && error != NULL)
        *error = why;
    return status;
}

static acq_status run_cycles(pass *p, const acq_engine_params *params, acq_error *error)
{
    acq_status status =
        acq_fuzzy_cycles_new(p->problem, p->predictor, &p->fuzzy, &p->cycles, &p->is_done, error);
    if (status != ACQ_OK || !p->is_done)
        return status;
    double bound = acq_fuzzy_cycles_get_bound(p->cycles);
    if (params->search.steps > 0 && bound > (double)params->search.steps)
        return acq_fail(error, ACQ_ERR_LIMIT,
                        "the cycles of this query are up to %.3g assignments for fit, more than "
                        "--steps %llu; use --engine exact",
                        bound, (unsigned long long)params->search.steps);
    return acq_fuzzy_cycles_run(p->cycles, &p->is_done, error);
}

static acq_status run_pass(const acq_query *query, const acq_predictor *predictor,
                           const acq_engine_params *params, pass *out, acq_error *error)
{
    const fuzzy_engine *engine = find_engine(params->engine);
    *out = (pass){.predictor = predictor};
    acq_status status = check_params(params, error);
    if (status == ACQ_OK)
        status = acq_problem_new(query, acq_graph_get_n_entities(predictor->graph), &out->problem,
                                 error);
    if (status == ACQ_OK)
        status = make_tree(out->problem, engine, &out->tree, error);
    if (status == ACQ_OK)
        status = acq_engine_fuzzy_open(params->engine, predictor, &params->search, &out->fuzzy,
                                       &out->network, error);
    if (status != ACQ_OK)
        return status;
    if (params->search.seconds > 0)
        out->fuzzy.deadline_ns = acq_clock_get_deadline(params->search.seconds);
    if (out->tree == NULL)
        return run_cycles(out, params, error);
    return acq_fuzzy_run_tree(&out->run, out->tree, predictor, &out->fuzzy, &out->is_done, error);
}

/* ---- results ---- */

static double get_degree(const pass *p, const acq_query *query, acq_verify_logic logic,
                         const acq_ent *values)
{
    return acq_verify_degree(query, p->predictor, logic, p->fuzzy.negation_scale, values);
}

static acq_status verify(const pass *p, const acq_query *query, double degree,
                         const acq_ent *values, acq_error *error)
{
    bool is_one_norm = p->fuzzy.is_minimum == p->fuzzy.is_minimum_along;
    if (p->network != NULL || (p->tree != NULL && acq_predictor_makes_rows(p->predictor)))
        return ACQ_OK;
    double found = get_degree(p, query,
                              !is_one_norm          ? ACQ_VERIFY_LEAST
                              : p->fuzzy.is_minimum ? ACQ_VERIFY_MINIMUM
                                                    : ACQ_VERIFY_PRODUCT,
                              values);
    bool is_right =
        is_one_norm ? fabs(found - degree) <= SAME_DEGREE : found <= degree + SAME_DEGREE;
    if (!is_one_norm && p->tree != NULL) /* whose trace has the degree of the assignment itself */
        is_right =
            is_right && degree <= get_degree(p, query, ACQ_VERIFY_MINIMUM, values) + SAME_DEGREE;
    if (is_right)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INTERNAL,
                    "the verifier finds %.9g where the engine says %.9g; please report this query",
                    found, degree);
}

static acq_status trace(pass *p, acq_ent *values, bool *is_done, acq_error *error)
{
    *is_done = true;
    if (p->cycles != NULL)
        return acq_fuzzy_cycles_trace(p->cycles, values, is_done, error);
    acq_fuzzy_run_trace(&p->run, values);
    return ACQ_OK;
}

typedef struct ranked {
    acq_ent entity;
    double degree;
} ranked;

/* With its assignment if that is wanted. *is_done false: there was no time to find it. */
static acq_status add_answer(pass *p, const acq_query *query, ranked one, bool wants_values,
                             acq_engine_result *result, acq_engine_answer *out, bool *is_done,
                             acq_error *error)
{
    acq_ent *values = acq_arena_zalloc(&result->arena, query->n_variables, sizeof *values);
    acq_status status = ACQ_OK;
    if (values == NULL)
        return acq_fail_memory(error);
    values[0] = one.entity;
    if (wants_values)
        status = trace(p, values, is_done, error);
    if (status == ACQ_OK && wants_values && *is_done)
        status = verify(p, query, one.degree, values, error);
    *out = (acq_engine_answer){
        .score = one.degree, .p = NAN, .p_prior = NAN, .p_if_answered = NAN, .values = values};
    return status;
}

static acq_status begin_result(const pass *p, acq_engine_result *result, acq_error *error)
{
    acq_arena_init(&result->arena);
    result->outcome = p->is_done ? ACQ_NONE : ACQ_UNDECIDED;
    result->complete = p->is_done;
    result->spent = p->is_done ? ACQ_SPENT_NOTHING : ACQ_SPENT_TIME;
    result->effort.nodes = p->run.n_rows;
    if (p->cycles == NULL || acq_fuzzy_cycles_get_bound(p->cycles) <= 1)
        return ACQ_OK;
    char *note = acq_arena_alloc(&result->arena, NOTE_ROOM, 1);
    if (note == NULL)
        return acq_fail_memory(error);
    acq_format(note, NOTE_ROOM, "fit tries up to %.3g assignments of the variables on cycles",
               acq_fuzzy_cycles_get_bound(p->cycles));
    result->note = note;
    return ACQ_OK;
}

/* There was no time to find an answer's assignment. */
static void run_out(acq_engine_result *result)
{
    result->outcome = ACQ_UNDECIDED;
    result->complete = false;
    result->spent = ACQ_SPENT_TIME;
}

/* The tuple's degree is kept even where it is too low: it ranks. */
static acq_status give_check(pass *p, const acq_query *query, const acq_ent *tuple,
                             double threshold, acq_engine_result *result, acq_error *error)
{
    bool is_done = true;
    acq_status status = begin_result(p, result, error);
    if (status != ACQ_OK || !p->is_done)
        return status;
    double degree = acq_fuzzy_set_get(get_root(p), tuple[0]);
    acq_engine_answer *answer = acq_arena_alloc(&result->arena, 1, sizeof *answer);
    status = answer == NULL ? acq_fail_memory(error)
                            : add_answer(p, query, (ranked){tuple[0], degree},
                                         p->tree != NULL || degree >= threshold, result, answer,
                                         &is_done, error);
    if (status != ACQ_OK)
        return status;
    result->likeliest = answer;
    if (degree >= threshold && is_done) {
        result->outcome = ACQ_ANSWERED;
        result->answers = answer;
        result->n_answers = 1;
    } else if (!is_done) {
        run_out(result);
    }
    return ACQ_OK;
}

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
    const acq_fuzzy_set *root = get_root(p);
    bool is_all = root->rest >= threshold;
    uint32_t n = is_all ? p->problem->n_entities : root->n;
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

static acq_status give_ask(pass *p, const acq_query *query, double threshold, uint64_t limit,
                           acq_engine_result *result, acq_error *error)
{
    ranked *list = NULL;
    size_t n = 0;
    bool is_done = true;
    acq_status status = begin_result(p, result, error);
    if (status != ACQ_OK || !p->is_done)
        return status;
    status = rank(p, threshold, &list, &n, error);
    n = limit > 0 && limit < n ? (size_t)limit : n;
    if (status == ACQ_OK) {
        result->answers = acq_arena_alloc(&result->arena, n, sizeof *result->answers);
        status = result->answers == NULL ? acq_fail_memory(error) : ACQ_OK;
    }
    for (size_t i = 0; i < n && status == ACQ_OK && is_done; i++) {
        status = add_answer(p, query, list[i], true, result, &result->answers[i], &is_done, error);
        result->n_answers += status == ACQ_OK && is_done;
    }
    if (!is_done)
        run_out(result);
    if (status == ACQ_OK && result->n_answers > 0)
        result->outcome = ACQ_ANSWERED;
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
