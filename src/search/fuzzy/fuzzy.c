/* fuzzy.c - see fuzzy.h. Sets are sparse: a projection costs the rows of the heads with a degree, a
 * conjunction one pass over two sorted lists. A negated set has the rest 1 and few exceptions. */
#include "search/fuzzy/fuzzy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { ROWS_AT_ONCE = 64 };

/* Inside: the time is over. Never leaves this file. */
#define SPENT ACQ_ERR_INTERRUPTED

/* ---- sets ---- */

acq_status acq_fuzzy_set_init(acq_fuzzy_set *set, uint32_t room)
{
    *set = (acq_fuzzy_set){.entities = acq_alloc(room, sizeof *set->entities),
                           .degrees = acq_alloc(room, sizeof *set->degrees)};
    if (set->entities != NULL && set->degrees != NULL)
        return ACQ_OK;
    acq_fuzzy_set_deinit(set);
    return ACQ_ERR_MEMORY;
}

void acq_fuzzy_set_deinit(acq_fuzzy_set *set)
{
    acq_free(set->entities);
    acq_free(set->degrees);
    *set = (acq_fuzzy_set){0};
}

static void add(acq_fuzzy_set *set, acq_ent entity, double degree)
{
    set->entities[set->n] = entity;
    set->degrees[set->n++] = degree;
}

double acq_fuzzy_set_get(const acq_fuzzy_set *set, acq_ent entity)
{
    uint32_t i;
    ACQ_SEARCH(i, 0, set->n, set->entities[i] < entity);
    return i < set->n && set->entities[i] == entity ? set->degrees[i] : set->rest;
}

bool acq_fuzzy_run_must_end(const acq_fuzzy_run *run)
{
    return acq_stop_is_wanted(run->params.stop) ||
           (run->params.deadline_ns > 0 && acq_clock_ns() >= run->params.deadline_ns);
}

/* ---- connectives ---- */

acq_status acq_fuzzy_set_join(const acq_fuzzy_params *params, bool is_and, const acq_fuzzy_set *a,
                              const acq_fuzzy_set *b, acq_fuzzy_set *out)
{
    uint32_t i = 0, j = 0;
    if (acq_fuzzy_set_init(out, a->n + b->n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    out->rest = acq_fuzzy_join(params, is_and, a->rest, b->rest);
    while (i < a->n || j < b->n) {
        acq_ent left = i < a->n ? a->entities[i] : ACQ_NO_ID;
        acq_ent right = j < b->n ? b->entities[j] : ACQ_NO_ID;
        acq_ent entity = left < right ? left : right;
        double x = left == entity ? a->degrees[i++] : a->rest;
        double y = right == entity ? b->degrees[j++] : b->rest;
        double degree = acq_fuzzy_join(params, is_and, x, y);
        if (degree != out->rest)
            add(out, entity, degree);
    }
    return ACQ_OK;
}

acq_status acq_fuzzy_set_copy(const acq_fuzzy_set *from, acq_fuzzy_set *out)
{
    if (acq_fuzzy_set_init(out, from->n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    memcpy(out->entities, from->entities, from->n * sizeof *out->entities);
    memcpy(out->degrees, from->degrees, from->n * sizeof *out->degrees);
    out->n = from->n;
    out->rest = from->rest;
    return ACQ_OK;
}

static acq_status join_children(acq_fuzzy_run *run, const acq_set_node *node, acq_fuzzy_set *out)
{
    bool is_and = node->kind == ACQ_SET_AND;
    acq_status status = ACQ_OK;
    *out = (acq_fuzzy_set){.rest = is_and ? 1.0 : 0.0};
    for (uint32_t i = 0; i < node->n_children && status == ACQ_OK; i++) {
        acq_fuzzy_set joined;
        const acq_fuzzy_set *child = &run->sets[node->children[i]->number];
        status = i == 0 ? acq_fuzzy_set_copy(child, &joined)
                        : acq_fuzzy_set_join(&run->params, is_and, out, child, &joined);
        acq_fuzzy_set_deinit(out);
        if (status == ACQ_OK)
            *out = joined;
    }
    return status;
}

static acq_status negate(acq_fuzzy_run *run, const acq_fuzzy_set *from, acq_fuzzy_set *out)
{
    acq_status status = acq_fuzzy_set_copy(from, out);
    if (status != ACQ_OK)
        return status;
    out->rest = acq_fuzzy_negate(&run->params, from->rest);
    for (uint32_t i = 0; i < out->n; i++)
        out->degrees[i] = acq_fuzzy_negate(&run->params, out->degrees[i]);
    return ACQ_OK;
}

/* ---- projection along scored links ---- */

typedef struct touching {
    acq_fuzzy_run *run;
    uint32_t n; /* entities touched */
} touching;

static void touch_row(touching *t, double degree, acq_row row)
{
    acq_fuzzy_run *run = t->run;
    for (size_t i = 0; i < row.n; i++) {
        double score = acq_fuzzy_carry(&run->params, degree,
                                       row.scores == NULL ? 1.0 : (double)row.scores[i]);
        double *best = &run->best[row.tails[i]];
        if (score <= *best)
            continue;
        if (*best == 0)
            run->touched[t->n++] = row.tails[i];
        *best = score;
    }
    run->n_rows++;
}

static acq_status touch_links(touching *t, acq_rel relation, const acq_ent *heads,
                              const double *degrees, size_t n, acq_error *error)
{
    const acq_links *links;
    acq_status status = acq_predictor_open_links(t->run->predictor, relation, &links, error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        touch_row(t, degrees[i], acq_links_get_row(links, heads[i]));
    return status;
}

/* Rows that a model makes, a batch at a time. */
static acq_status touch_made(touching *t, acq_rel relation, const acq_ent *heads,
                             const double *degrees, size_t n, acq_error *error)
{
    const acq_predictor *predictor = t->run->predictor;
    acq_scored_row rows[ROWS_AT_ONCE] = {0};
    acq_row_want want = {
        .relation = relation, .heads = heads, .n = n, .stop = t->run->params.stop};
    acq_status status = predictor->ops->copy_rows(predictor, &want, rows, error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        touch_row(t, degrees[i], (acq_row){rows[i].tails, rows[i].scores, rows[i].n});
        acq_scored_row_deinit(&rows[i]);
    }
    return status;
}

/* Heads with a degree, ROWS_AT_ONCE of them from *at on; *at is where to go on. */
static size_t take_heads(const acq_fuzzy_run *run, const acq_fuzzy_set *from, uint32_t *at,
                         acq_ent *heads, double *degrees)
{
    size_t n = 0;
    bool is_all = from->rest > 0;
    uint32_t end = is_all ? run->n_entities : from->n;
    for (; *at < end && n < ROWS_AT_ONCE; ++*at) {
        acq_ent head = is_all ? *at : from->entities[*at];
        double degree = is_all ? acq_fuzzy_set_get(from, head) : from->degrees[*at];
        if (degree <= 0)
            continue;
        heads[n] = head;
        degrees[n++] = degree;
    }
    return n;
}

static int compare_entities(const void *a, const void *b)
{
    acq_ent left = *(const acq_ent *)a, right = *(const acq_ent *)b;
    return (left > right) - (left < right);
}

/* The touched entities as a set; the scratch is clean again. */
static acq_status gather(touching *t, acq_fuzzy_set *out)
{
    acq_fuzzy_run *run = t->run;
    acq_status status = acq_fuzzy_set_init(out, t->n);
    if (t->n > 0)
        qsort(run->touched, t->n, sizeof *run->touched, compare_entities);
    for (uint32_t i = 0; i < t->n; i++) {
        if (status == ACQ_OK)
            add(out, run->touched[i], run->best[run->touched[i]]);
        run->best[run->touched[i]] = 0;
    }
    return status;
}

static acq_status project_links(acq_fuzzy_run *run, acq_rel relation, const acq_fuzzy_set *from,
                                acq_fuzzy_set *out, acq_error *error)
{
    acq_ent heads[ROWS_AT_ONCE];
    double degrees[ROWS_AT_ONCE];
    touching t = {.run = run};
    bool is_made = acq_predictor_makes_rows(run->predictor);
    uint32_t at = 0;
    size_t n;
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && (n = take_heads(run, from, &at, heads, degrees)) > 0) {
        status = is_made ? touch_made(&t, relation, heads, degrees, n, error)
                         : touch_links(&t, relation, heads, degrees, n, error);
        if (status == ACQ_OK && acq_fuzzy_run_must_end(run))
            status = SPENT;
    }
    acq_status gathered = gather(&t, out);
    if (status == ACQ_OK)
        return gathered == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
    if (gathered == ACQ_OK)
        acq_fuzzy_set_deinit(out);
    return status;
}

/* ---- the tree ---- */

static acq_status make_set(acq_fuzzy_run *run, const acq_set_node *node, acq_error *error)
{
    acq_fuzzy_set *out = &run->sets[node->number];
    const acq_fuzzy_set *child =
        node->n_children > 0 ? &run->sets[node->children[0]->number] : NULL;
    acq_fuzzy_project_fn project =
        run->params.project != NULL ? run->params.project : project_links;
    acq_status status = ACQ_OK;
    switch (node->kind) {
    case ACQ_SET_ENTITY:
        status = acq_fuzzy_set_init(out, 1);
        if (status == ACQ_OK)
            add(out, node->id, 1.0);
        break;
    case ACQ_SET_ALL:
        status = acq_fuzzy_set_init(out, 0);
        out->rest = 1.0;
        break;
    case ACQ_SET_PROJECT:
        return child == NULL ? ACQ_OK : project(run, node->id, child, out, error);
    case ACQ_SET_NOT:
        status = child == NULL ? ACQ_OK : negate(run, child, out);
        break;
    case ACQ_SET_AND:
    case ACQ_SET_OR:
        status = join_children(run, node, out);
        break;
    }
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

static acq_status make_sets(acq_fuzzy_run *run, const acq_set_node *node, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < node->n_children && status == ACQ_OK; i++)
        status = make_sets(run, node->children[i], error);
    return status == ACQ_OK ? make_set(run, node, error) : status;
}

acq_status acq_fuzzy_run_tree(acq_fuzzy_run *run, const acq_set_tree *tree,
                              const acq_predictor *predictor, const acq_fuzzy_params *params,
                              bool *is_done, acq_error *error)
{
    uint32_t n = acq_graph_get_n_entities(predictor->graph);
    acq_error why = {0};
    *run = (acq_fuzzy_run){
        .tree = tree, .predictor = predictor, .params = *params, .n_entities = n};
    *is_done = false;
    run->sets = acq_zalloc(tree->n_nodes, sizeof *run->sets);
    run->best = acq_zalloc(n, sizeof *run->best);
    run->touched = acq_alloc(n, sizeof *run->touched);
    if (run->sets == NULL || run->best == NULL || run->touched == NULL)
        return acq_fail_memory(error);
    acq_status status = make_sets(run, tree->root, &why);
    if (status == SPENT)
        return ACQ_OK;
    if (status != ACQ_OK && error != NULL && error->code == ACQ_OK)
        *error = why;
    *is_done = status == ACQ_OK;
    return status;
}

void acq_fuzzy_run_deinit(acq_fuzzy_run *run)
{
    for (uint32_t i = 0; run->sets != NULL && i < run->tree->n_nodes; i++)
        acq_fuzzy_set_deinit(&run->sets[i]);
    acq_free(run->sets);
    acq_free(run->best);
    acq_free(run->touched);
    *run = (acq_fuzzy_run){0};
}

const acq_fuzzy_set *acq_fuzzy_run_get_root(const acq_fuzzy_run *run)
{
    return &run->sets[run->tree->root->number];
}

/* ---- how an answer came about ---- */

static double link_to(const acq_fuzzy_run *run, acq_ent head, acq_rel relation, acq_ent tail)
{
    if (run->params.project != NULL || acq_predictor_makes_rows(run->predictor))
        return 1.0; /* no link to look up: the member of largest degree */
    return (double)acq_predictor_get_score(run->predictor, head, relation, tail);
}

/* The head that gives a projection its degree at `tail`. */
static acq_ent find_head(const acq_fuzzy_run *run, const acq_set_node *node, acq_ent tail)
{
    const acq_fuzzy_set *from = &run->sets[node->children[0]->number];
    bool is_all = from->rest > 0;
    uint32_t n = is_all ? run->n_entities : from->n;
    acq_ent found = 0;
    double best = -1;
    for (uint32_t i = 0; i < n; i++) {
        acq_ent head = is_all ? i : from->entities[i];
        double degree = is_all ? acq_fuzzy_set_get(from, head) : from->degrees[i];
        double score = -1;
        if (degree > best)
            score = acq_fuzzy_carry(&run->params, degree, link_to(run, head, node->id, tail));
        if (score > best) {
            best = score;
            found = head;
        }
    }
    return found;
}

static void trace(const acq_fuzzy_run *run, const acq_set_node *node, acq_ent value,
                  acq_ent *values)
{
    if (node->kind == ACQ_SET_PROJECT) {
        const acq_set_node *from = node->children[0];
        if (from->kind == ACQ_SET_ENTITY)
            return;
        acq_ent head = find_head(run, node, value);
        if (from->variable != ACQ_NO_ID)
            values[from->variable] = head;
        trace(run, from, head, values);
        return;
    }
    for (uint32_t i = 0; i < node->n_children; i++)
        trace(run, node->children[i], value, values);
}

void acq_fuzzy_run_trace(const acq_fuzzy_run *run, acq_ent *values)
{
    trace(run, run->tree->root, values[0], values);
}

/* ---- network ---- */

struct acq_fuzzy_network {
    const acq_row_model *model;
    double least;
    void *scratch;
    float *boundary, *logits; /* n_entities */
};

void acq_fuzzy_network_free(acq_fuzzy_network *network)
{
    if (network == NULL)
        return;
    network->model->ops->free_scratch(network->model, network->scratch);
    acq_free(network->boundary);
    acq_free(network->logits);
    acq_free(network);
}

acq_status acq_fuzzy_network_new(const acq_row_model *model, double least, acq_fuzzy_network **out,
                                 acq_error *error)
{
    size_t n = acq_graph_get_n_entities(model->graph);
    acq_fuzzy_network *network = acq_zalloc(1, sizeof *network);
    if (network == NULL)
        return acq_fail_memory(error);
    network->model = model;
    network->least = least;
    network->boundary = acq_alloc(n, sizeof *network->boundary);
    network->logits = acq_alloc(n, sizeof *network->logits);
    acq_status status = network->boundary == NULL || network->logits == NULL
                            ? acq_fail_memory(error)
                            : model->ops->open_scratch(model, &network->scratch, error);
    if (status == ACQ_OK)
        *out = network;
    else
        acq_fuzzy_network_free(network);
    return status;
}

static void fill_boundary(acq_fuzzy_network *network, const acq_fuzzy_set *from, uint32_t n)
{
    double rest = from->rest < network->least ? 0.0 : from->rest;
    for (uint32_t i = 0; i < n; i++)
        network->boundary[i] = (float)rest;
    for (uint32_t i = 0; i < from->n; i++)
        network->boundary[from->entities[i]] =
            (float)(from->degrees[i] < network->least ? 0.0 : from->degrees[i]);
}

acq_status acq_fuzzy_network_project(acq_fuzzy_run *run, acq_rel relation,
                                     const acq_fuzzy_set *from, acq_fuzzy_set *out,
                                     acq_error *error)
{
    acq_fuzzy_network *network = run->params.context;
    uint32_t n = run->n_entities;
    if (acq_fuzzy_run_must_end(run))
        return ACQ_ERR_INTERRUPTED;
    fill_boundary(network, from, n);
    acq_status status = network->model->ops->score_set(
        network->model, network->scratch, relation, network->boundary, network->logits, error);
    if (status != ACQ_OK)
        return status;
    if (acq_fuzzy_set_init(out, n) != ACQ_OK)
        return acq_fail_memory(error);
    for (uint32_t i = 0; i < n; i++) {
        out->entities[i] = i;
        out->degrees[i] = 1.0 / (1.0 + exp(-(double)network->logits[i]));
    }
    out->n = n;
    run->n_rows++;
    return ACQ_OK;
}
