/* policy_run.c - see policy_run.h. */
#include "policy_run.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "common.h"
#include "queries.h"

const uint64_t policy_marks[POLICY_MARKS] = {1, 15, 50, 100, POLICY_STEPS};

/* ---- one run ---- */

/* What a trace says after step s are the classes that step s + 1 runs on. */
static void note_step(void *context, const acq_trace_step *step)
{
    policy_outcome *outcome = context;
    if (step->step == 0)
        outcome->setup_ms = step->ms;
    for (int i = 0; i < POLICY_MARKS; i++)
        if (step->step + 1 == policy_marks[i])
            outcome->classes[i] = step->n_classes;
}

static acq_search_params make_params(const policy_case *one, const policy_setting *how,
                                     policy_outcome *outcome)
{
    acq_search_params params = ACQ_SEARCH_DEFAULT;
    params.steps = POLICY_STEPS;
    params.stream = one->stream;
    params.seconds = 0;
    params.policy = (acq_policy_options){
        .policy = how->policy, .all_steps = how->all_steps, .trace = note_step, .context = outcome};
    return params;
}

static void note_effort(const acq_search_effort *effort, policy_outcome *outcome)
{
    outcome->steps = effort->nodes;
    outcome->flops = effort->flops;
    outcome->last_classes = effort->classes;
    outcome->memory = effort->memory_peak;
}

static void note_answer(const policy_case *one, double score, const acq_ent *found,
                        policy_outcome *outcome, acq_ent *values)
{
    outcome->answered = true;
    outcome->score = score;
    if (values != NULL)
        memcpy(values, found, one->problem->n_variables * sizeof *values);
}

static void search(const policy_case *one, const policy_setting *how,
                   const acq_search_params *params, policy_outcome *outcome, acq_ent *values)
{
    acq_error error = {0};
    acq_search_result result;
    bench_need(acq_search_policy(one->problem, how->predictor, params, &result, &error), &error);
    note_effort(&result.effort, outcome);
    if (result.n_answers > 0)
        note_answer(one, result.answers[0].score, result.answers[0].values, outcome, values);
    acq_search_result_deinit(&result);
}

/* The same with the verifier behind it. */
static void ask(const policy_case *one, const policy_setting *how, const acq_search_params *params,
                policy_outcome *outcome, acq_ent *values)
{
    acq_error error = {0};
    acq_engine_result result;
    acq_engine_params engine = {.engine = ACQ_ENGINE_policy, .search = *params};
    bench_need(acq_engine_ask(one->query, how->predictor, &engine, &result, &error), &error);
    note_effort(&result.effort, outcome);
    if (result.n_answers > 0)
        note_answer(one, result.answers[0].score, result.answers[0].values, outcome, values);
    acq_engine_result_deinit(&result);
}

policy_outcome policy_search(const policy_case *one, const policy_setting *how, acq_ent *values)
{
    policy_outcome outcome = {0};
    acq_search_params params = make_params(one, how, &outcome);
    double begin = bench_now_ms(), cpu_begin = bench_cpu_ms();
    if (one->query != NULL)
        ask(one, how, &params, &outcome, values);
    else
        search(one, how, &params, &outcome, values);
    outcome.ms = bench_now_ms() - begin;
    outcome.cpu_ms = bench_cpu_ms() - cpu_begin;
    return outcome;
}

/* ---- many ---- */

static bool is_same(const policy_outcome *a, const policy_outcome *b)
{
    return a->answered == b->answered && a->score == b->score && a->steps == b->steps &&
           a->last_classes == b->last_classes &&
           memcmp(a->classes, b->classes, sizeof a->classes) == 0;
}

/* The runs of one query as one: medians of the times. */
static policy_outcome join(const policy_outcome *runs, size_t stride)
{
    double ms[BENCH_RUNS], cpu[BENCH_RUNS], setup[BENCH_RUNS];
    policy_outcome joined = runs[0];
    for (size_t i = 0; i < BENCH_RUNS; i++) {
        if (!is_same(&runs[i * stride], &joined))
            bench_die("the same search with the same seed went another way");
        ms[i] = runs[i * stride].ms;
        cpu[i] = runs[i * stride].cpu_ms;
        setup[i] = runs[i * stride].setup_ms;
    }
    joined.ms = bench_median(ms, BENCH_RUNS);
    joined.cpu_ms = bench_median(cpu, BENCH_RUNS);
    joined.setup_ms = bench_median(setup, BENCH_RUNS);
    return joined;
}

static void add(policy_tally *sum, const policy_outcome *one)
{
    sum->n++;
    sum->n_answered += one->answered;
    sum->n_at_once += !one->answered && one->steps == 0;
    sum->cpu_ms += one->cpu_ms;
    sum->setup_ms += one->setup_ms;
    sum->step_ms += one->ms - one->setup_ms;
    sum->steps += (double)one->steps;
    sum->last_classes += (double)one->last_classes;
    sum->gflop += one->flops * 1e-9;
    sum->memory_mb += (double)one->memory * 1e-6;
}

static double mean_classes(const policy_outcome *outcomes, size_t n, int mark)
{
    double sum = 0, reached = 0;
    for (size_t i = 0; i < n; i++) {
        sum += outcomes[i].classes[mark];
        reached += outcomes[i].classes[mark] > 0;
    }
    return reached > 0 ? sum / reached : (double)NAN;
}

/* Sums to means. */
static void finish(policy_tally *t)
{
    double n = (double)t->n;
    t->gflops = t->steps > 0 ? t->gflop / (t->cpu_ms - t->setup_ms) * 1e3 : (double)NAN;
    t->step_ms = t->steps > 0 ? t->step_ms / t->steps : (double)NAN;
    t->cpu_ms /= n;
    t->setup_ms /= n;
    t->steps /= n;
    t->last_classes /= n;
    t->gflop /= n;
    t->memory_mb /= n;
}

static policy_tally sum_up(const policy_outcome *outcomes, size_t n, double *ms)
{
    policy_tally tally = {0};
    for (size_t i = 0; i < n; i++) {
        ms[i] = outcomes[i].ms;
        add(&tally, &outcomes[i]);
    }
    acq_metrics_measure_times(ms, n, &tally.ms);
    for (int mark = 0; mark < POLICY_MARKS; mark++)
        tally.classes[mark] = mean_classes(outcomes, n, mark);
    finish(&tally);
    return tally;
}

policy_tally policy_measure(const policy_case *const *cases, size_t n, const policy_setting *how)
{
    policy_outcome *runs = acq_alloc(n * BENCH_RUNS, sizeof *runs);
    double *ms = acq_alloc(n, sizeof *ms);
    if (runs == NULL || ms == NULL)
        bench_die("out of memory");
    for (size_t i = 0; i < n * BENCH_RUNS; i++)
        runs[i] = policy_search(cases[i % n], how, NULL);
    for (size_t i = 0; i < n; i++)
        runs[i] = join(runs + i, n);
    policy_tally tally = sum_up(runs, n, ms);
    acq_free(runs);
    acq_free(ms);
    return tally;
}

static json_t *pack_number(double value)
{
    return isnan(value) ? json_null() : json_real(value);
}

json_t *policy_pack_tally(const policy_tally *t)
{
    json_t *classes = json_array();
    for (int mark = 0; mark < POLICY_MARKS; mark++)
        json_array_append_new(classes, pack_number(t->classes[mark]));
    return json_pack(
        "{s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:o, s:f, s:f, s:o, s:f, s:o, s:f}",
        "queries", (json_int_t)t->n, "answered", (json_int_t)t->n_answered, "at_once",
        (json_int_t)t->n_at_once, "mean", t->ms.mean, "p50", t->ms.p50, "p99", t->ms.p99, "max",
        t->ms.max, "cpu_ms", t->cpu_ms, "setup_ms", t->setup_ms, "step_ms", pack_number(t->step_ms),
        "steps", t->steps, "last_classes", t->last_classes, "classes", classes, "gflop", t->gflop,
        "gflops", pack_number(t->gflops), "memory_mb", t->memory_mb);
}
