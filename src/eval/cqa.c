/* cqa.c - see cqa.h. Fuzzy engines give every entity a degree; exact search gives its best
 * candidates a p, or without a calibrator a score, and the others 0. */
#include "eval/eval.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"

enum { CANDIDATES = 500 }; /* of a query that exact search gives a p */

typedef struct ranking {
    const acq_eval_params *params;
    const acq_cqa_file *file;
    size_t *chosen; /* queries that are ranked */
    size_t n_chosen;
    acq_cqa_ranks *ranks; /* by query of the file */
    double *ms;
    bool *is_ranked;
    double **scores, **rooms;     /* by thread: n_entities each */
    acq_error *errors;
    size_t n_entities;
    unsigned n_threads;
    atomic_size_t n_done;
} ranking;

/* ---- ranks ---- */

static bool has_entity(const acq_ent *list, size_t n, acq_ent entity)
{
    size_t i;
    ACQ_SEARCH(i, 0, n, list[i] < entity);
    return i < n && list[i] == entity;
}

static int compare_down(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left < right) - (left > right);
}

acq_cqa_ranks acq_cqa_rank(const double *scores, size_t n, const acq_cqa_query *query,
                           double *room)
{
    acq_cqa_ranks sum = {0};
    size_t n_others = 0;
    for (size_t i = 0; i < n; i++)
        if (!has_entity(query->easy, query->n_easy, (acq_ent)i) &&
            !has_entity(query->hard, query->n_hard, (acq_ent)i))
            room[n_others++] = scores[i];
    qsort(room, n_others, sizeof *room, compare_down);
    for (size_t i = 0; i < query->n_hard; i++) {
        double score = scores[query->hard[i]];
        size_t above, until;
        ACQ_SEARCH(above, 0, n_others, room[above] > score);
        ACQ_SEARCH(until, above, n_others, room[until] >= score);
        double rank = 1.0 + (double)above + (double)(until - above) / 2.0;
        double share = 1.0 / (double)query->n_hard;
        sum.mrr += share / rank;
        sum.hits1 += rank <= 1 ? share : 0;
        sum.hits3 += rank <= 3 ? share : 0;
        sum.hits10 += rank <= 10 ? share : 0;
    }
    return sum;
}

/* ---- scores ---- */

static acq_status score_fuzzy(ranking *r, const acq_cqa_query *query, unsigned thread,
                              bool *is_done, acq_error *error)
{
    const acq_engine_params *engine = &r->params->engine;
    acq_fuzzy_params fuzzy;
    acq_fuzzy_run run = {0};
    acq_status status = ACQ_OK;
    acq_fuzzy_network *network = NULL;
    double *scores = r->scores[thread];
    status = acq_engine_fuzzy_open(engine->engine, r->params->predictor, &engine->search, &fuzzy,
                                   &network, error);
    if (status == ACQ_OK && engine->search.seconds > 0)
        fuzzy.deadline_ns = acq_clock_get_deadline(engine->search.seconds);
    if (status == ACQ_OK)
        status = acq_fuzzy_run_tree(&run, query->tree, r->params->predictor, &fuzzy, is_done,
                                    error);
    if (status == ACQ_OK && *is_done) {
        const acq_fuzzy_set *root = acq_fuzzy_run_get_root(&run);
        for (size_t i = 0; i < r->n_entities; i++)
            scores[i] = root->rest;
        for (uint32_t i = 0; i < root->n; i++)
            scores[root->entities[i]] = root->degrees[i];
    }
    acq_fuzzy_run_deinit(&run);
    acq_fuzzy_network_free(network);
    return status;
}

/* One query by exact search. */
typedef struct searched {
    const ranking *r;
    bool has_p;
    bool is_existential; /* every part so far: what is not cannot be searched */
    acq_error *error;
} searched;

/* A p for the best candidates, or without a calibrator a score for all; 0 for the others. */
static acq_status search_set(searched *s, const acq_set_tree *tree, double *scores)
{
    acq_engine_params engine = s->r->params->engine;
    acq_engine_result result = {0};
    acq_query *asked = NULL;
    acq_error why = {0};
    acq_status status = acq_set_tree_make_query(tree, &asked, &why);
    s->is_existential = status != ACQ_ERR_INPUT;
    if (!s->is_existential)
        return ACQ_OK;
    engine.search.limit = s->has_p ? CANDIDATES : 0;
    engine.min_p = 0;
    engine.prior = -1;
    if (status == ACQ_OK)
        status = acq_engine_ask(asked, s->r->params->predictor, &engine, &result, s->error);
    memset(scores, 0, s->r->n_entities * sizeof *scores);
    for (size_t i = 0; status == ACQ_OK && i < result.n_answers; i++)
        scores[result.answers[i].values[0]] =
            s->has_p ? result.answers[i].p : result.answers[i].score;
    acq_engine_result_deinit(&result);
    acq_query_free(asked);
    return status;
}

static bool has_path(const acq_set_node *node)
{
    bool found = node->kind == ACQ_SET_PROJECT && node->children[0]->kind != ACQ_SET_ENTITY;
    for (uint32_t i = 0; i < node->n_children && !found; i++)
        found = has_path(node->children[i]);
    return found;
}

static bool is_denied_path(const acq_set_node *node)
{
    return node->kind == ACQ_SET_NOT && has_path(node);
}

/* The set without its denied path; joined: with the path in place of its denial. */
static acq_status search_part(searched *s, const acq_set_node *root, const acq_set_node *denied,
                              bool is_joined, double *scores)
{
    acq_set_node **children = acq_alloc(root->n_children, sizeof *children);
    acq_set_node part = {.kind = ACQ_SET_AND, .variable = ACQ_NO_ID, .children = children};
    if (children == NULL)
        return acq_fail_memory(s->error);
    for (uint32_t i = 0; i < root->n_children; i++)
        if (root->children[i] != denied)
            children[part.n_children++] = root->children[i];
    if (is_joined)
        children[part.n_children++] = denied->children[0];
    const acq_set_tree tree = {.root = &part, .n_nodes = root->number + 1};
    acq_status status = search_set(s, &tree, scores);
    acq_free(children);
    return status;
}

/* "A and not B" where B is a path, as pni: it denies that something exists, so it is no existential
 * query. A is one, and so are "A and B" and B: p(A and not B) = p(A) - p(A and B), and the score is
 * that of A or 1 less that of B, whichever is less. */
static acq_status search_difference(searched *s, const acq_set_node *root, double *scores,
                                    double *others)
{
    uint32_t i = 0;
    while (i < root->n_children && !is_denied_path(root->children[i]))
        i++;
    if (root->kind != ACQ_SET_AND || root->n_children < 2 || i == root->n_children)
        return ACQ_OK;
    const acq_set_node *denied = root->children[i];
    const acq_set_tree path = {.root = denied->children[0], .n_nodes = root->number};
    acq_status status = search_part(s, root, denied, false, scores);
    if (status == ACQ_OK && s->is_existential)
        status = s->has_p ? search_part(s, root, denied, true, others)
                          : search_set(s, &path, others);
    for (size_t e = 0; status == ACQ_OK && s->is_existential && e < s->r->n_entities; e++)
        scores[e] = s->has_p ? fmax(scores[e] - others[e], 0) : fmin(scores[e], 1 - others[e]);
    return status;
}

static acq_status score_searched(ranking *r, const acq_cqa_query *query, unsigned thread,
                                 bool *is_done, acq_error *error)
{
    searched s = {.r = r,
                  .has_p = acq_engine_gives_p(&r->params->engine, r->params->predictor),
                  .error = error};
    acq_status status = search_set(&s, query->tree, r->scores[thread]);
    if (status == ACQ_OK && !s.is_existential)
        status = search_difference(&s, query->tree->root, r->scores[thread], r->rooms[thread]);
    *is_done = status == ACQ_OK && s.is_existential;
    return status;
}

static acq_status rank_one(void *context, size_t i, unsigned thread)
{
    ranking *r = context;
    size_t at = r->chosen[i];
    const acq_cqa_query *query = &r->file->queries[at];
    int64_t begin = acq_clock_ns();
    bool is_over = r->params->deadline_ns > 0 && begin >= r->params->deadline_ns, is_done = false;
    if (is_over)
        return ACQ_OK;
    acq_status status =
        acq_engine_is_fuzzy(r->params->engine.engine)
            ? score_fuzzy(r, query, thread, &is_done, &r->errors[thread])
            : score_searched(r, query, thread, &is_done, &r->errors[thread]);
    if (status != ACQ_OK)
        return status;
    r->ms[at] = (double)(acq_clock_ns() - begin) * 1e-6;
    r->is_ranked[at] = is_done;
    if (is_done)
        r->ranks[at] = acq_cqa_rank(r->scores[thread], r->n_entities, query, r->rooms[thread]);
    size_t done = atomic_fetch_add(&r->n_done, 1) + 1;
    if (thread != 0 || r->params->progress == NULL ||
        r->params->progress(r->params->context, done, r->n_chosen))
        return ACQ_OK;
    return acq_fail(&r->errors[thread], ACQ_ERR_INTERRUPTED, "interrupted");
}

/* ---- rows ---- */

/* The first ones of each type, spread over it: files may be sorted. */
static void choose(ranking *r)
{
    for (size_t t = 0; t < r->file->n_types; t++) {
        const acq_cqa_type *type = &r->file->types[t];
        size_t n = r->params->first > 0 && r->params->first < type->n ? r->params->first : type->n;
        for (size_t i = 0; i < n; i++)
            r->chosen[r->n_chosen++] = type->first + i * type->n / n;
    }
}

static void measure(const ranking *r, const acq_cqa_type *type, acq_cqa_row *row)
{
    size_t n = 0;
    *row = (acq_cqa_row){.type = type->name};
    for (size_t i = 0; i < r->n_chosen; i++) {
        size_t at = r->chosen[i];
        if (at < type->first || at >= type->first + type->n)
            continue;
        row->n_queries++;
        row->ms += r->ms[at];
        if (!r->is_ranked[at]) {
            row->n_unranked++;
            continue;
        }
        n++;
        row->n_hard += r->file->queries[at].n_hard;
        row->mrr += 100 * r->ranks[at].mrr;
        row->hits1 += 100 * r->ranks[at].hits1;
        row->hits3 += 100 * r->ranks[at].hits3;
        row->hits10 += 100 * r->ranks[at].hits10;
    }
    double share = n > 0 ? 1.0 / (double)n : NAN;
    row->mrr *= share;
    row->hits1 *= share;
    row->hits3 *= share;
    row->hits10 *= share;
    row->ms /= row->n_queries > 0 ? (double)row->n_queries : 1;
}

static void measure_all(const ranking *r, acq_cqa_row *rows)
{
    acq_cqa_row total = {.type = "mean"};
    size_t n = 0;
    for (size_t t = 0; t < r->file->n_types; t++) {
        measure(r, &r->file->types[t], &rows[t]);
        total.n_queries += rows[t].n_queries;
        total.n_hard += rows[t].n_hard;
        total.n_unranked += rows[t].n_unranked;
        total.ms += rows[t].ms / (double)r->file->n_types;
        if (isnan(rows[t].mrr))
            continue;
        n++;
        total.mrr += rows[t].mrr;
        total.hits1 += rows[t].hits1;
        total.hits3 += rows[t].hits3;
        total.hits10 += rows[t].hits10;
    }
    double share = n > 0 ? 1.0 / (double)n : NAN;
    total.mrr *= share;
    total.hits1 *= share;
    total.hits3 *= share;
    total.hits10 *= share;
    rows[r->file->n_types] = total;
}

static acq_status init(ranking *r)
{
    size_t n = r->file->n_queries;
    r->chosen = acq_alloc(n, sizeof *r->chosen);
    r->ranks = acq_zalloc(n, sizeof *r->ranks);
    r->ms = acq_zalloc(n, sizeof *r->ms);
    r->is_ranked = acq_zalloc(n, sizeof *r->is_ranked);
    r->scores = acq_zalloc(r->n_threads, sizeof *r->scores);
    r->rooms = acq_zalloc(r->n_threads, sizeof *r->rooms);
    r->errors = acq_zalloc(r->n_threads, sizeof *r->errors);
    bool ok = r->chosen != NULL && r->ranks != NULL && r->ms != NULL && r->is_ranked != NULL &&
              r->scores != NULL && r->rooms != NULL && r->errors != NULL;
    for (unsigned i = 0; i < r->n_threads && ok; i++) {
        r->scores[i] = acq_alloc(r->n_entities, sizeof **r->scores);
        r->rooms[i] = acq_alloc(r->n_entities, sizeof **r->rooms);
        ok = r->scores[i] != NULL && r->rooms[i] != NULL;
    }
    return ok ? ACQ_OK : ACQ_ERR_MEMORY;
}

static void deinit(ranking *r)
{
    for (unsigned i = 0; i < r->n_threads; i++) {
        if (r->scores != NULL)
            acq_free(r->scores[i]);
        if (r->rooms != NULL)
            acq_free(r->rooms[i]);
    }
    acq_free(r->chosen);
    acq_free(r->ranks);
    acq_free(r->ms);
    acq_free(r->is_ranked);
    acq_free(r->scores);
    acq_free(r->rooms);
    acq_free(r->errors);
}

acq_status acq_cqa_run(const acq_eval_params *params, const acq_cqa_file *file, acq_cqa_row *rows,
                       acq_error *error)
{
    ranking r = {.params = params,
                 .file = file,
                 .n_entities = acq_graph_get_n_entities(params->predictor->graph),
                 .n_threads = params->n_threads > 0 ? params->n_threads : 1};
    acq_engine_id engine = params->engine.engine;
    if (!acq_engine_is_fuzzy(engine) && engine != ACQ_ENGINE_exact)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the engine %s does not rank; use exact, qto, fit, gnnqe or ultraquery",
                        acq_engine_get_name(engine));
    acq_status status = init(&r) == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
    if (status == ACQ_OK) {
        choose(&r);
        status = acq_threads_run(r.n_threads, r.n_chosen, rank_one, &r);
    }
    for (unsigned i = 0; status != ACQ_OK && r.errors != NULL && i < r.n_threads; i++)
        if (error != NULL && error->code == ACQ_OK && r.errors[i].code == status)
            *error = r.errors[i];
    if (status == ACQ_OK)
        measure_all(&r, rows);
    deinit(&r);
    return status;
}
