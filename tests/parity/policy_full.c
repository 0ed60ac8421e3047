/* policy_full.c - the lumped network on the published benchmark: on hub queries of FB15k-237 the
 * logits of all 14,505 values of every variable, step by step, are those of the dense network in
 * single precision within 1e-4, with random weights and with those that ship. Trained logits are
 * large, so there the tolerance is relative to the largest logit of the step; both numbers are
 * printed.
 *
 * Looks for the data in $ACQ_SHARED or beside the source tree and says "skipped" (exit 77) when it
 * is not there. ACQ_QUERIES in the environment changes the number of queries; the dense network
 * takes about five seconds of processor time for each and each set of weights. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/threads.h"
#include "eval/files.h"
#include "graph/text/read.h"
#include "query/query.h"
#include "search/policy/walk.h"
#include "support/dense_policy.h"
#include "support/policy_case.h"
#include "support/scale.h"

enum { QUERIES = SCALE(3, 1), STEPS = SCALE(30, 2), SKIPPED = 77, THREADS = 2 };

static const double TOLERANCE = 1e-4;

static void need(acq_status status, const acq_error *error)
{
    if (status == ACQ_OK)
        return;
    fprintf(stderr, "%s: %s\n", error->file, error->message);
    exit(1);
}

typedef struct outcome {
    double worst; /* difference of logits, and that relative to the largest where it is above 1 */
    double worst_share;
    double largest; /* logit */
    size_t n_values;
    uint32_t n_classes; /* at the end */
} outcome;

typedef struct job {
    const acq_bench_file *file;
    const acq_predictor *predictor;
    const acq_policy *policy;
    outcome *outcomes; /* of the queries */
} job;

/* One query under both networks. */
typedef struct run {
    acq_problem *problem;
    acq_board *board;
    acq_walk walk;
    acq_rows rows;
    acq_step *steps[2];
    dense_weights weights;
    dense_graph *graph;
    dense_policy *dense;
    uint32_t *terms; /* board to dense */
    acq_ent *values, *by_variable;
    uint32_t *chosen;
    double *p, *room;
} run;

static acq_problem *new_problem(const job *j, size_t item)
{
    acq_error error = {0};
    acq_problem *problem = NULL;
    const acq_bench_instance *instance = &j->file->instances[item];
    const acq_bench_formula *formula = &j->file->formulas[instance->formula];
    need(acq_query_ground_pairs(formula->query, formula->names, instance->ids, formula->n_names,
                                &error),
         &error);
    need(acq_problem_new(formula->query, acq_graph_get_n_entities(j->predictor->graph), &problem,
                         &error),
         &error);
    return problem;
}

static void run_init(run *r, const job *j, size_t item)
{
    acq_error error = {0};
    const acq_scoring scoring = ACQ_SCORING_DEFAULT;
    *r = (run){.problem = new_problem(j, item)};
    need(acq_board_new(r->problem, j->predictor, &scoring, ACQ_PE_EXACT, &r->board, &error),
         &error);
    need(acq_walk_init(&r->walk, r->board), &error);
    need(acq_step_new(&r->steps[0]), &error);
    need(acq_step_new(&r->steps[1]), &error);
    dense_weights_init_from(&r->weights, j->policy);
    r->graph = dense_graph_new(r->problem, j->predictor, &scoring, DENSE_PE_EXACT);
    r->dense = dense_policy_new(&r->weights, r->graph);
    r->terms = match_terms(r->board, r->graph);
    r->values = calloc(r->board->n_terms + 1, sizeof *r->values);
    r->by_variable = calloc(r->problem->n_variables + 1, sizeof *r->by_variable);
    r->chosen = calloc(r->board->n_terms + 1, sizeof *r->chosen);
    r->p = calloc(r->graph->n_values + 1, sizeof *r->p);
    r->room = calloc(r->board->n_terms + 1, sizeof *r->room);
}

static void run_deinit(run *r)
{
    free(r->values);
    free(r->by_variable);
    free(r->chosen);
    free(r->p);
    free(r->room);
    free(r->terms);
    dense_policy_free(r->dense);
    dense_graph_free(r->graph);
    dense_weights_deinit(&r->weights);
    acq_step_free(r->steps[0]);
    acq_step_free(r->steps[1]);
    acq_rows_deinit(&r->rows);
    acq_walk_deinit(&r->walk);
    acq_board_free(r->board);
    acq_problem_free(r->problem);
}

/* The first assignment is uniform, and so is every tenth; the others are the policy's. */
static void assign(run *r, uint64_t query, int step)
{
    acq_random random = acq_random_start(query, (uint64_t)step);
    if (step % 10 == 0)
        acq_walk_draw_uniform(&r->walk, &random, r->values);
    else
        acq_choice_draw(&r->walk, r->p, 7, query, (uint64_t)step, r->values, r->chosen, r->room);
    for (uint32_t t = 0; t < r->board->n_free_terms; t++)
        r->by_variable[r->board->terms[t].variable] = r->values[t];
    need(acq_walk_set(&r->walk, r->values), &(acq_error){.message = "memory"});
    dense_graph_assign(r->graph, r->by_variable);
}

/* What one step adds to the outcome. */
static void compare(const run *r, const float *lumped, const float *dense, outcome *out)
{
    double worst = 0, largest = 1;
    for (uint32_t t = 0; t < r->board->n_terms; t++) {
        const dense_term *term = &r->graph->terms[r->terms[t]];
        for (uint32_t a = 0; a < term->n_values; a++) {
            uint32_t c = acq_walk_find_class(&r->walk, t, term->is_variable ? a : term->id);
            double expected = (double)dense[term->first_value + a];
            worst = fmax(worst, fabs((double)lumped[c] - expected));
            largest = fmax(largest, fabs(expected));
        }
    }
    out->worst = fmax(out->worst, worst);
    out->worst_share = fmax(out->worst_share, worst / largest);
    out->largest = fmax(out->largest, largest);
}

static acq_status compare_query(void *context, size_t item, unsigned thread)
{
    const job *j = context;
    outcome *out = &j->outcomes[item];
    run r;
    (void)thread;
    run_init(&r, j, item);
    for (int step = 0; step < STEPS; step++) {
        acq_step *now = r.steps[step % 2], *before = step == 0 ? NULL : r.steps[(step + 1) % 2];
        assign(&r, item, step);
        acq_rows_clear(&r.rows);
        if (acq_rows_add(&r.rows, &r.walk, step == 0 ? ACQ_NO_ID : 0) != ACQ_OK ||
            acq_step_forward(now, j->policy, &r.rows, before, false) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        dense_policy_step(r.dense);
        compare(&r, acq_step_get_logits(now), dense_policy_get_logits(r.dense), out);
        acq_choice_get_probabilities(&r.walk, acq_step_get_logits(now), r.p, r.room);
    }
    out->n_values = r.graph->n_values;
    out->n_classes = r.walk.n_classes;
    run_deinit(&r);
    return ACQ_OK;
}

/* How many queries differ. */
static int compare_policy(job *j, const acq_policy *policy, size_t n, bool is_trained)
{
    int bad = 0;
    int64_t start = acq_clock_ns();
    outcome *outcomes = calloc(n, sizeof *outcomes), all = {0};
    j->policy = policy;
    j->outcomes = outcomes;
    need(acq_threads_run(THREADS, n, compare_query, j), &(acq_error){.message = "memory"});
    for (size_t i = 0; i < n; i++) {
        bad += !((is_trained ? outcomes[i].worst_share : outcomes[i].worst) <= TOLERANCE);
        all.worst = fmax(all.worst, outcomes[i].worst);
        all.worst_share = fmax(all.worst_share, outcomes[i].worst_share);
        all.largest = fmax(all.largest, outcomes[i].largest);
        all.n_values += outcomes[i].n_values;
        all.n_classes += outcomes[i].n_classes;
    }
    printf("%s weights, d = %u: %zu queries, %d steps, %zu values in %u classes on average; logits "
           "up to %.1f differ by %.1e at most, %.1e of the largest of the step; %.0f s\n",
           policy->name, policy->dim, n, STEPS, all.n_values / n, (unsigned)(all.n_classes / n),
           all.largest, all.worst, all.worst_share, (double)(acq_clock_ns() - start) * 1e-9);
    free(outcomes);
    return bad;
}

static size_t count_queries(const acq_bench_file *file)
{
    const char *text = getenv("ACQ_QUERIES");
    size_t n = text == NULL ? QUERIES : (size_t)strtoul(text, NULL, 10);
    return n < file->n_instances ? n : file->n_instances;
}

/* Random weights hardly tell values apart; with larger logits the search comes back to some. */
static void sharpen(acq_policy *policy)
{
    const acq_tensor *last = &policy->parameters.tensors[ACQ_POLICY_o2_w];
    for (size_t i = 0; i < acq_tensor_get_length(last); i++)
        policy->parameters.values[last->offset + i] *= 30;
    acq_policy_pack(policy);
}

static int compare_both(job *j)
{
    acq_error error = {0};
    size_t n = count_queries(j->file);
    acq_policy *random = policy_new_random(32, 1, 1), *shipped = NULL;
    sharpen(random);
    int bad = compare_policy(j, random, n, false);
    need(acq_policy_new_shipped(&shipped, &error), &error);
    bad += compare_policy(j, shipped, n, true);
    acq_policy_free(random);
    acq_policy_free(shipped);
    return bad;
}

static acq_graph *read_graph(const char *folder, const char *split)
{
    char path[4200];
    const char *const paths[] = {path};
    acq_graph *graph = NULL;
    acq_error error = {0};
    snprintf(path, sizeof path, "%s/%s_kg.tsv", folder, split);
    need(acq_graph_read(paths, 1, &(acq_read_params){.strict = true}, &graph, NULL, &error),
         &error);
    return graph;
}

static int compare_all(const char *folder)
{
    char path[4200];
    acq_error error = {0};
    acq_bench_file *file = NULL;
    acq_predictor *predictor = NULL;
    acq_graph *observed = read_graph(folder, "train"), *complete = read_graph(folder, "valid");
    const acq_bench_limits limits = {.n_entities = acq_graph_get_n_entities(observed),
                                     .n_relations = acq_graph_get_n_relations(observed)};
    snprintf(path, sizeof path, "%s/qar_valid_3hub_efo1.json", folder);
    need(acq_bench_file_read(path, ACQ_TASK_QAR, limits, &file, &error), &error);
    need(acq_predictor_new_perfect(observed, complete, "valid", &predictor, NULL, &error), &error);
    int bad = compare_both(&(job){.file = file, .predictor = predictor});
    acq_predictor_free(predictor);
    acq_bench_file_free(file);
    acq_graph_free(complete);
    acq_graph_free(observed);
    return bad;
}

int main(void)
{
    char folder[4096];
    const char *shared = getenv("ACQ_SHARED");
    snprintf(folder, sizeof folder, "%s/data/FB15k-237",
             shared != NULL ? shared : ACQ_SOURCE_DIR "/../shared");
    if (access(folder, R_OK) != 0) {
        puts("skipped: the benchmark data is not here; set ACQ_SHARED to the folder above data/");
        return SKIPPED;
    }
    int bad = compare_all(folder);
    printf("%d queries differ by more than %g\n", bad, TOLERANCE);
    return bad == 0 ? 0 : 1;
}
