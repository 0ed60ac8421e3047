/* source.c - see source.h. */
#include "train/source.h"

#include <math.h>

#include "base/memory.h"
#include "base/threads.h"

enum {
    HELD_STREAM = 0x68656c64,
    HELD_SMALL = 4,   /* small queries kept aside for each hub-like one */
    CHECK_DRAWS = 8,  /* of these small queries the one that leaves most to search is taken */
    SMALL_STEPS = 10, /* they get this many times fewer steps */
    MOST_ANSWER = ACQ_HUB_MOST_TERMS,
};

static acq_status open_graph(acq_train_source *source, const acq_graph *graph, acq_error *error)
{
    size_t i = source->n_graphs++;
    acq_status status = acq_sampler_new(graph, &source->samplers[i], error);
    if (status == ACQ_OK)
        status = acq_predictor_new_observed(graph, &source->predictors[i], error);
    return status;
}

static acq_status draw_held(acq_train_source *source, const acq_train_policy_params *params,
                            acq_error *error)
{
    acq_status status = ACQ_OK;
    source->n_held_hubs = params->held_queries;
    while (source->n_held < (1 + HELD_SMALL) * source->n_held_hubs && status == ACQ_OK) {
        uint64_t key = acq_random_start(HELD_STREAM, source->n_held).key;
        bool is_hub = source->n_held < source->n_held_hubs;
        status = acq_train_source_draw(source, key, is_hub ? &params->held_hub : NULL,
                                       is_hub ? params->check_share : 1.0,
                                       &source->held[source->n_held], error);
        if (status == ACQ_OK)
            source->n_held++;
    }
    return status;
}

acq_status acq_train_source_init(acq_train_source *source, const acq_graph *const *graphs,
                                 size_t n_graphs, const acq_train_policy_params *params,
                                 acq_error *error)
{
    *source = (acq_train_source){.ranks = params->ranks};
    source->samplers = acq_zalloc(n_graphs, sizeof *source->samplers);
    source->predictors = acq_zalloc(n_graphs, sizeof *source->predictors);
    source->held =
        acq_zalloc((1 + HELD_SMALL) * (size_t)params->held_queries, sizeof *source->held);
    if (source->samplers == NULL || source->predictors == NULL || source->held == NULL)
        return acq_fail_memory(error);
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < n_graphs && status == ACQ_OK; i++)
        status = open_graph(source, graphs[i], error);
    if (status == ACQ_OK)
        status = draw_held(source, params, error);
    source->mix = params->mix; /* of training: those kept aside are even */
    return status;
}

void acq_train_source_deinit(acq_train_source *source)
{
    for (size_t i = 0; i < source->n_held; i++)
        acq_problem_free(source->held[i].problem);
    for (size_t i = 0; i < source->n_graphs; i++) {
        acq_sampler_free(source->samplers[i]);
        acq_predictor_free(source->predictors[i]);
    }
    acq_free(source->held);
    acq_free(source->samplers);
    acq_free(source->predictors);
    *source = (acq_train_source){0};
}

/* Shapes of more than one variable; 3p most often, since it alone keeps two of them. */
static const acq_shape_id several[] = {ACQ_SHAPE_2p,  ACQ_SHAPE_3p, ACQ_SHAPE_3p,
                                       ACQ_SHAPE_inp, ACQ_SHAPE_3p, ACQ_SHAPE_pin};

static void fix_first_variable(acq_problem *problem, acq_ent value)
{
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        acq_place *places[] = {&problem->literals[i].left, &problem->literals[i].right};
        for (int side = 0; side < 2; side++)
            if (places[side]->is_variable && places[side]->id == 0)
                *places[side] = (acq_place){.is_variable = false, .id = value};
    }
}

/* How many values the constants beside it leave a variable: the shortest row, at least 1. */
static double count_candidates(const acq_problem *problem, const acq_predictor *predictor,
                               uint32_t variable)
{
    double least = problem->n_entities;
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *l = &problem->literals[i];
        bool at_left = l->left.is_variable && l->left.id == variable;
        bool at_right = l->right.is_variable && l->right.id == variable;
        acq_place other = at_left ? l->right : l->left;
        if (l->is_negated || at_left == at_right || other.is_variable)
            continue;
        acq_rel relation = at_left ? acq_inverse(l->relation) : l->relation;
        least = fmin(least, (double)acq_predictor_get_row(predictor, other.id, relation).n);
    }
    return fmax(least, 1.0);
}

/* The logarithm of the number of assignments that the constants leave. */
static double measure_spread(const acq_problem *problem, const acq_predictor *predictor)
{
    double spread = 0;
    for (uint32_t v = 1; v < problem->n_variables; v++)
        spread += log(count_candidates(problem, predictor, v));
    return spread;
}

static acq_status draw_one(const acq_train_source *source, acq_random *random,
                           const acq_hub_params *hub, bool is_check, acq_episode_query *out,
                           acq_error *error)
{
    size_t i = acq_random_below(random, source->n_graphs);
    acq_shape_id shape = acq_shape_draw(source->mix, random);
    acq_ent answer[MOST_ANSWER];
    if (is_check) /* one that keeps a variable */
        shape = several[acq_random_below(random, sizeof several / sizeof *several)];
    out->predictor = source->predictors[i];
    acq_status status = hub != NULL ? acq_sampler_draw_hub(source->samplers[i], hub, random,
                                                           &out->problem, answer, error)
                                    : acq_sampler_draw_shape(source->samplers[i], shape, random,
                                                             &out->problem, answer, error);
    if (status == ACQ_OK && is_check && out->problem->n_variables > 1)
        fix_first_variable(out->problem, answer[0]);
    return status;
}

acq_status acq_train_source_draw(const acq_train_source *source, uint64_t key,
                                 const acq_hub_params *hub, double check_share,
                                 acq_episode_query *out, acq_error *error)
{
    acq_random random = acq_random_start(key, 0);
    bool is_check = acq_random_unit(&random) < check_share;
    double best = -1;
    *out = (acq_episode_query){.key = key};
    for (int i = 0; i < (is_check && hub == NULL ? CHECK_DRAWS : 1); i++) {
        acq_episode_query drawn = {.key = key};
        acq_status status = draw_one(source, &random, hub, is_check, &drawn, error);
        if (status != ACQ_OK) {
            acq_problem_free(out->problem);
            out->problem = NULL;
            return status;
        }
        double spread = measure_spread(drawn.problem, drawn.predictor);
        acq_problem_free(spread > best ? out->problem : drawn.problem);
        *out = spread > best ? drawn : *out;
        best = fmax(best, spread);
    }
    return ACQ_OK;
}

void acq_train_source_shrink(acq_train_source *source, size_t n_hubs)
{
    size_t n = 0, n_before = source->n_held_hubs;
    if (n_hubs >= n_before)
        return;
    for (size_t i = 0; i < source->n_held; i++) {
        bool is_kept = i < n_hubs || (i >= n_before && i < n_before + HELD_SMALL * n_hubs);
        if (is_kept)
            source->held[n++] = source->held[i];
        else
            acq_problem_free(source->held[i].problem);
    }
    source->n_held = n;
    source->n_held_hubs = n_hubs;
}

typedef struct judging {
    const acq_train_source *source;
    acq_search_params params;
    uint32_t *steps; /* of each query; all it had if it is unsolved */
    bool *solved;
    acq_error *errors; /* of each query */
} judging;

static acq_status judge_one(void *context, size_t i, unsigned thread)
{
    judging *j = context;
    const acq_episode_query *query = &j->source->held[i];
    acq_search_params params = j->params;
    acq_search_result result;
    (void)thread;
    if (acq_ranks_is_others(j->source->ranks, i))
        return ACQ_OK;
    params.stream = i;
    if (i >= j->source->n_held_hubs)
        params.steps = (params.steps + SMALL_STEPS - 1) / SMALL_STEPS;
    acq_status status =
        acq_search_policy(query->problem, query->predictor, &params, &result, &j->errors[i]);
    j->solved[i] = status == ACQ_OK && result.outcome == ACQ_ANSWERED;
    j->steps[i] = j->solved[i] ? (uint32_t)result.effort.nodes : (uint32_t)params.steps;
    acq_search_result_deinit(&result);
    return status;
}

acq_status acq_train_source_judge(const acq_train_source *source, const acq_policy *policy,
                                  uint32_t steps, unsigned n_threads, acq_held_result *out,
                                  acq_error *error)
{
    size_t n = source->n_held;
    judging j = {.source = source, .params = ACQ_SEARCH_DEFAULT};
    j.params.policy.policy = policy;
    j.params.steps = steps;
    j.params.seconds = 0;
    j.steps = acq_zalloc(n, sizeof *j.steps);
    j.solved = acq_zalloc(n, sizeof *j.solved);
    j.errors = acq_zalloc(n, sizeof *j.errors);
    acq_status status = ACQ_ERR_MEMORY;
    if (j.steps != NULL && j.solved != NULL && j.errors != NULL)
        status = acq_threads_run(n_threads, n, judge_one, &j);
    if (status == ACQ_OK)
        status = acq_ranks_join(source->ranks, j.steps, n, sizeof *j.steps, error);
    if (status == ACQ_OK)
        status = acq_ranks_join(source->ranks, j.solved, n, sizeof *j.solved, error);
    *out = (acq_held_result){0};
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        size_t n_hubs = source->n_held_hubs, n_like = i < n_hubs ? n_hubs : n - n_hubs;
        out->solved += (double)j.solved[i] / (double)n_like / 2.0;
        out->steps += (double)j.steps[i] / (double)n;
    }
    for (size_t i = 0; i < n && status != ACQ_OK && j.errors != NULL; i++)
        if (j.errors[i].code != ACQ_OK)
            acq_fail(error, j.errors[i].code, "%s", j.errors[i].message);
    acq_free(j.steps);
    acq_free(j.solved);
    acq_free(j.errors);
    return status == ACQ_ERR_MEMORY ? acq_fail_memory(error) : status;
}
