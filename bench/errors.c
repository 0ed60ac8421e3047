/* errors.c - where the errors of a completion are: the decisions of `anycq eval qac` over it, by
 * case.
 *
 *   bench_errors OBSERVED COMPLETE COMPLETION FILE.json ...      a Markdown row for each file
 *
 * Only candidates that the observed graph has seen at their place count (matched F1). A correct one
 * that gets a no has supports in the complete graph. Of these the one that the completion likes
 * best is looked at, whose least link is
 *
 *   absent     no candidate, or below the floor
 *   ranked low not among the first three new ones of either of its rows
 *   p too low  among these
 *
 * or, where its positive atoms are observed, a denied link is in the way (denial). `other`: the
 * search took a support that is not true, although a true one has at least half its score; these
 * are among the others too. A wrong one that gets a yes was given a support by the search: its most
 * doubtful link that is not in the complete graph has p < .1 (guess), < .5 (maybe) or more (sure),
 * or all are there, and so is one that the query denies (denial). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "queries.h"

#include "answer/answer.h"
#include "base/memory.h"
#include "calibrate/calibrator.h"
#include "eval/files.h"
#include "predict/completion.h"
#include "query/query.h"

static const float ABSENT = 2e-6F; /* of true links that the completion does not have */
static const double LOW = .1, SURE = .5;

enum { FIRST = 3 };

typedef enum missed { MISSED_ABSENT, MISSED_RANK, MISSED_P, MISSED_DENIAL, N_MISSED } missed;
typedef enum accepted {
    ACCEPTED_GUESS,
    ACCEPTED_MAYBE,
    ACCEPTED_SURE,
    ACCEPTED_DENIAL,
    N_ACCEPTED
} accepted;

typedef struct errors {
    acq_predictor *completion, *truth;
    acq_predictor *known; /* the completion's links that are true, the true ones that it lacks */
    size_t n_correct, n_wrong, n_other;
    size_t n_missed[N_MISSED], n_accepted[N_ACCEPTED];
} errors;

/* ---- the true links with the completion's p ---- */

static const acq_links *open_links(const acq_predictor *predictor, acq_rel relation)
{
    const acq_links *links;
    acq_error error = {0};
    bench_need(acq_predictor_open_links(predictor, relation, &links, &error), &error);
    return links;
}

static void write_relation(const errors *e, acq_completion_writer *writer, acq_rel relation)
{
    const acq_links *truth = open_links(e->truth, relation);
    const acq_links *scored = open_links(e->completion, relation);
    acq_link *list = acq_alloc(truth->n_links, sizeof *list);
    acq_links *links;
    acq_error error = {0};
    size_t n = 0;
    if (list == NULL)
        bench_die("out of memory");
    for (uint32_t i = 0; i < truth->n_heads; i++) {
        acq_row row = acq_links_get_row_at(truth, i);
        for (size_t j = 0; j < row.n; j++) {
            float p = acq_links_get_score(scored, truth->heads[i], row.tails[j]);
            list[n++] = (acq_link){truth->heads[i], row.tails[j], p > ABSENT ? p : ABSENT};
        }
    }
    if (acq_links_new(list, n, truth->n_entities, true, &links) != ACQ_OK)
        bench_die("out of memory");
    bench_need(acq_completion_writer_add(writer, relation, links, &error), &error);
    acq_links_free(links);
    acq_free(list);
}

static void make_known(errors *e, const char *path)
{
    acq_error error = {0};
    acq_completion_writer *writer;
    acq_completion_params params = {.predictor = "true links", .floor = 1e-6};
    const acq_graph *graph = e->completion->graph;
    bench_need(acq_completion_writer_open(path, graph, &params, &writer, &error), &error);
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r += 2)
        write_relation(e, writer, r);
    bench_need(acq_completion_writer_finish(writer, &error), &error);
    acq_completion_writer_close(writer);
    bench_need(acq_predictor_new_completion(graph, path, &e->known, &error), &error);
    remove(path);
}

/* ---- one decision ---- */

/* Links of the support's positive atoms, and what is wrong with it. */
typedef struct support {
    double least;       /* p of the least link; 1: all are observed */
    acq_ent head, tail; /* of that link */
    acq_rel relation;
    double false_link; /* p of the least one that is not true; 1: all are true */
} support;

static support look(const errors *e, const acq_query *query, const acq_ent *values)
{
    acq_scoring scoring = ((acq_engine_params)ACQ_ENGINE_DEFAULT).search.scoring;
    acq_arena arena;
    acq_evidence *evidence;
    acq_error error = {0};
    size_t n;
    support out = {.least = 1, .false_link = 1};
    acq_arena_init(&arena);
    bench_need(acq_explain(query, e->completion, &scoring, values, &arena, &evidence, &n, &error),
               &error);
    for (size_t i = 0; i < n; i++) {
        const acq_evidence *one = &evidence[i];
        if (one->is_negated || one->kind == ACQ_EVIDENCE_EQUALITY)
            continue;
        acq_rel relation = query->relations[one->node->relation].id;
        bool is_true = acq_predictor_get_score(e->truth, one->left, relation, one->right) > 0;
        if (one->link < out.least)
            out = (support){one->link, one->left, one->right, relation, out.false_link};
        out.false_link = is_true ? out.false_link : fmin(out.false_link, one->link);
    }
    acq_arena_deinit(&arena);
    return out;
}

static acq_engine_result check(const acq_query *query, const acq_predictor *predictor,
                               const acq_ent *tuple, const acq_engine_params *params)
{
    acq_engine_result result;
    acq_error error = {0};
    bench_need(acq_engine_check(query, predictor, tuple, params, &result, &error), &error);
    return result;
}

/* Of the tail among those of the row that are no facts, from 0. */
static size_t find_rank(const errors *e, acq_ent head, acq_rel relation, acq_ent tail, double p)
{
    acq_row row = acq_links_get_row(open_links(e->completion, relation), head);
    size_t n = 0;
    for (size_t i = 0; i < row.n; i++)
        n += row.tails[i] != tail && row.scores != NULL && row.scores[i] < 1.0F &&
             (double)row.scores[i] > p;
    return n;
}

static missed classify(const errors *e, const support *s)
{
    if (s->least >= 1 || s->least <= 0)
        return s->least >= 1 ? MISSED_DENIAL : MISSED_ABSENT;
    bool is_first = find_rank(e, s->head, s->relation, s->tail, s->least) < FIRST ||
                    find_rank(e, s->tail, acq_inverse(s->relation), s->head, s->least) < FIRST;
    return is_first ? MISSED_P : MISSED_RANK;
}

static void count_missed(errors *e, const acq_query *query, const acq_ent *tuple,
                         const acq_engine_result *decision)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.search.scoring.threshold = 1e-6;
    params.search.scoring.negation_threshold = 1;
    acq_engine_result best = check(query, e->known, tuple, &params);
    if (best.outcome != ACQ_ANSWERED) { /* a denied link is true by the observed graph's label */
        e->n_missed[MISSED_DENIAL]++;
        acq_engine_result_deinit(&best);
        return;
    }
    support is_true = look(e, query, best.answers[0].values);
    e->n_missed[classify(e, &is_true)]++;
    if (decision->likeliest != NULL) {
        support chosen = look(e, query, decision->likeliest->values);
        e->n_other += chosen.false_link < 1 && is_true.least >= chosen.least / 2;
    }
    acq_engine_result_deinit(&best);
}

static void count_accepted(errors *e, const acq_query *query, const acq_engine_result *decision)
{
    support chosen = look(e, query, decision->answers[0].values);
    accepted kind = chosen.false_link >= 1     ? ACCEPTED_DENIAL
                    : chosen.false_link < LOW  ? ACCEPTED_GUESS
                    : chosen.false_link < SURE ? ACCEPTED_MAYBE
                                               : ACCEPTED_SURE;
    e->n_accepted[kind]++;
}

static void decide(errors *e, const acq_query *query, const acq_ent *tuple, bool is_correct)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.prior = .5;
    params.only_prior = true;
    if (!acq_explain_is_seen(query, e->completion->graph, tuple))
        return;
    acq_engine_result decision = check(query, e->completion, tuple, &params);
    e->n_correct += is_correct;
    e->n_wrong += !is_correct;
    if (is_correct && decision.outcome != ACQ_ANSWERED)
        count_missed(e, query, tuple, &decision);
    else if (!is_correct && decision.outcome == ACQ_ANSWERED)
        count_accepted(e, query, &decision);
    acq_engine_result_deinit(&decision);
}

/* ---- files ---- */

static void run_instance(errors *e, const acq_bench_file *file, const acq_bench_instance *instance)
{
    const acq_bench_formula *formula = &file->formulas[instance->formula];
    acq_query *query;
    acq_error error = {0};
    acq_atoms_reading reading = file->has_atoms ? file->atoms : acq_bench_file_get_atoms(file);
    bench_need(acq_query_apply_reading(formula->query, reading, &query, &error), &error);
    bench_need(
        acq_query_ground_pairs(query, formula->names, instance->ids, formula->n_names, &error),
        &error);
    for (size_t i = 0; i < instance->correct.n; i++)
        decide(e, query, instance->correct.values + i * query->n_free, true);
    for (size_t i = 0; i < instance->wrong.n; i++)
        decide(e, query, instance->wrong.values + i * query->n_free, false);
    acq_query_free(query);
}

static void print_share(size_t n, size_t of)
{
    printf(" %.1f |", of == 0 ? 0 : 100 * (double)n / (double)of);
}

static void run_file(errors *e, const char *path, acq_bench_limits limits)
{
    acq_bench_file *file;
    acq_error error = {0};
    bench_need(acq_bench_file_read(path, ACQ_TASK_QAC, limits, &file, &error), &error);
    for (size_t i = 0; i < file->n_instances; i++)
        run_instance(e, file, &file->instances[i]);
    printf("| %s |", acq_bench_file_get_name(file));
    for (size_t i = 0; i < N_MISSED; i++)
        print_share(e->n_missed[i], e->n_correct);
    print_share(e->n_other, e->n_correct);
    for (size_t i = 0; i < N_ACCEPTED; i++)
        print_share(e->n_accepted[i], e->n_wrong);
    printf("\n");
    acq_bench_file_free(file);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        bench_die("bench_errors OBSERVED COMPLETE COMPLETION FILE.json ...");
    acq_error error = {0};
    char scratch[] = "bench-errors.completion";
    acq_graph *observed = bench_read_graph(argv[1]), *complete = bench_read_graph(argv[2]);
    acq_bench_limits limits = {acq_graph_get_n_entities(observed),
                               acq_graph_get_n_relations(observed)};
    errors e = {0};
    bench_need(acq_predictor_new_perfect(observed, complete, argv[2], &e.truth, NULL, &error),
               &error);
    bench_need(acq_calibrator_open_completion(observed, argv[3], &e.completion, &error), &error);
    make_known(&e, scratch);
    printf("| %% | absent | ranked low | p too low | denial | other | guess | maybe | sure | "
           "denial |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 4; i < argc; i++) {
        errors one = {.completion = e.completion, .truth = e.truth, .known = e.known};
        run_file(&one, argv[i], limits);
    }
    acq_predictor_free(e.known);
    acq_predictor_free(e.completion);
    acq_predictor_free(e.truth);
    acq_graph_free(observed);
    acq_graph_free(complete);
    return 0;
}
