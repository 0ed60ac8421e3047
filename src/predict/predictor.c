/* predictor.c - the dispatch of the seam, the predictor that knows only the facts, and the one that
 * knows the complete graph. */
#include "predict/predictor.h"

#include <string.h>

#include "base/memory.h"
#include "graph/build.h"

acq_status acq_predictor_open_links(const acq_predictor *predictor, acq_rel relation,
                                    const acq_links **out, acq_error *error)
{
    return predictor->ops->open_links(predictor, relation, out, error);
}

float acq_predictor_get_score(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                              acq_ent tail)
{
    const acq_links *links = NULL;
    if (acq_predictor_open_links(predictor, relation, &links, NULL) != ACQ_OK)
        return 0.0F;
    return head < links->n_entities ? acq_links_get_score(links, head, tail) : 0.0F;
}

acq_row acq_predictor_get_row(const acq_predictor *predictor, acq_ent head, acq_rel relation)
{
    const acq_links *links = NULL;
    if (acq_predictor_open_links(predictor, relation, &links, NULL) != ACQ_OK)
        return (acq_row){0};
    return head < links->n_entities ? acq_links_get_row(links, head) : (acq_row){0};
}

void acq_predictor_forget_links(const acq_predictor *predictor, acq_rel relation)
{
    if (predictor->ops->forget_links != NULL)
        predictor->ops->forget_links(predictor, relation);
}

void acq_scored_row_deinit(acq_scored_row *row)
{
    acq_free(row->tails);
    acq_free(row->scores);
    *row = (acq_scored_row){0};
}

bool acq_predictor_makes_rows(const acq_predictor *predictor)
{
    return predictor->ops->copy_rows != NULL;
}

static acq_status copy_row(acq_row row, acq_scored_row *out)
{
    acq_scored_row copy = {.tails = acq_alloc(row.n, sizeof *copy.tails),
                           .scores = acq_alloc(row.n, sizeof *copy.scores)};
    if (copy.tails == NULL || copy.scores == NULL) {
        acq_scored_row_deinit(&copy);
        return ACQ_ERR_MEMORY;
    }
    for (; copy.n < row.n; copy.n++) {
        copy.tails[copy.n] = row.tails[copy.n];
        copy.scores[copy.n] = row.scores == NULL ? 1.0F : row.scores[copy.n];
    }
    *out = copy;
    return ACQ_OK;
}

acq_status acq_predictor_copy_row(const acq_predictor *predictor, acq_rel relation, acq_ent head,
                                  acq_scored_row *out, acq_error *error)
{
    if (acq_predictor_makes_rows(predictor))
        return predictor->ops->copy_rows(
            predictor, &(acq_row_want){.relation = relation, .heads = &head, .n = 1}, out, error);
    const acq_links *links = NULL;
    acq_status status = acq_predictor_open_links(predictor, relation, &links, error);
    if (status != ACQ_OK)
        return status;
    status = copy_row(acq_links_get_row(links, head), out);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

void acq_predictor_set_calibrator(acq_predictor *predictor, acq_calibrator *calibrator,
                                  const acq_calibrator_ops *ops)
{
    const acq_calibrator_ops *before = predictor->calibrator_ops;
    if (before != NULL && before->free != NULL)
        before->free(predictor->calibrator);
    predictor->calibrator = calibrator;
    predictor->calibrator_ops = ops;
}

void acq_predictor_set_reasons(acq_predictor *predictor, acq_reason_source *reasons,
                               void (*free_reasons)(acq_reason_source *reasons))
{
    if (predictor->reasons != NULL)
        predictor->free_reasons(predictor->reasons);
    predictor->reasons = reasons;
    predictor->free_reasons = free_reasons;
}

void acq_predictor_free(acq_predictor *predictor)
{
    if (predictor == NULL)
        return;
    acq_predictor_set_reasons(predictor, NULL, NULL);
    acq_predictor_set_calibrator(predictor, NULL, NULL);
    predictor->ops->free(predictor);
}

const char *acq_predictor_get_note(const acq_predictor *predictor)
{
    return predictor == NULL || predictor->ops->get_note == NULL
               ? NULL
               : predictor->ops->get_note(predictor);
}

const acq_calibrator *acq_predictor_get_calibrator(const acq_predictor *predictor)
{
    return predictor->calibrator;
}

double acq_predictor_get_floor(const acq_predictor *predictor)
{
    return predictor == NULL || predictor->ops->get_floor == NULL
               ? 0.0
               : predictor->ops->get_floor(predictor);
}

static acq_status open_observed(const acq_predictor *self, acq_rel relation, const acq_links **out,
                                acq_error *error)
{
    return acq_graph_open_links(self->graph, relation, out, error);
}

static void free_observed(acq_predictor *self)
{
    acq_free(self);
}

acq_status acq_predictor_new_observed(const acq_graph *graph, acq_predictor **out, acq_error *error)
{
    static const acq_predictor_ops ops = {.open_links = open_observed, .free = free_observed};
    acq_predictor *predictor = acq_alloc(1, sizeof *predictor);
    if (predictor == NULL)
        return acq_fail_memory(error);
    *predictor = (acq_predictor){.ops = &ops, .graph = graph, .name = "observed"};
    *out = predictor;
    return ACQ_OK;
}

/* ---- perfect ----
 *
 * The predictor that knows the complete graph: 1 for its facts, else 0.
 *
 *   complete ids ──(equal dictionaries: the same; else by name)──▶ ids of the observed graph
 *
 * An unnamed inverse is found through its pair. Relations of the complete graph that fall
 * together in the observed one (a pair there, two relations here) merge. All links are
 * translated at once, so the complete graph may go. O(names + facts). */

typedef struct perfect {
    acq_predictor base;
    char *label;
    acq_links **links;
    uint32_t n_relations;
} perfect;

/* How to translate: ids of the complete graph to ours, ACQ_NO_ID where we have none. */
typedef struct translation {
    const acq_graph *graph, *complete;
    acq_ent *entities;
    acq_rel *relations; /* of even ids, indexed by pair */
    uint32_t *next;     /* pairs of the complete graph with the same target pair: a chain */
    uint32_t *first;    /* head of the chain by our pair */
    uint32_t n_pairs;   /* of the complete graph */
    acq_perfect_report report;
} translation;

static acq_status open_links(const acq_predictor *self, acq_rel relation, const acq_links **out,
                             acq_error *error)
{
    const perfect *me = (const perfect *)self;
    if (relation >= me->n_relations)
        return acq_fail(error, ACQ_ERR_USAGE, "relation id %u is unknown: the graph has %u",
                        relation, me->n_relations);
    *out = me->links[relation];
    return ACQ_OK;
}

static void free_perfect(acq_predictor *self)
{
    perfect *me = (perfect *)self;
    for (uint32_t r = 0; me->links != NULL && r < me->n_relations; r++)
        acq_links_free(me->links[r]);
    acq_free(me->links);
    acq_free(me->label);
    acq_free(me);
}

static acq_rel find_relation(const translation *t, acq_rel theirs)
{
    const char *name = acq_graph_get_relation_key(t->complete, theirs);
    if (!acq_graph_is_named(t->complete, theirs))
        return ACQ_NO_ID;
    return acq_graph_find_relation(t->graph, name, strlen(name));
}

static void match_entities(translation *t, bool same)
{
    uint32_t n = acq_graph_get_n_entities(t->complete);
    for (acq_ent e = 0; e < n; e++) {
        const char *key = same ? "" : acq_graph_get_entity_key(t->complete, e);
        t->entities[e] = same ? e : acq_graph_find_entity(t->graph, key, strlen(key));
        t->report.unknown_entities += t->entities[e] == ACQ_NO_ID;
    }
}

static void match_relations(translation *t, bool same)
{
    for (uint32_t pair = 0; pair < t->n_pairs; pair++) {
        acq_rel ours = same ? 2 * pair : find_relation(t, 2 * pair);
        if (ours == ACQ_NO_ID) {
            acq_rel inverse = find_relation(t, 2 * pair + 1);
            ours = inverse == ACQ_NO_ID ? ACQ_NO_ID : acq_inverse(inverse);
        }
        t->relations[pair] = ours;
        if (ours == ACQ_NO_ID)
            continue;
        t->next[pair] = t->first[ours / 2];
        t->first[ours / 2] = pair;
    }
}

static void free_translation(translation *t)
{
    acq_free(t->entities);
    acq_free(t->relations);
    acq_free(t->next);
    acq_free(t->first);
}

static acq_status make_translation(translation *t, const acq_graph *graph,
                                   const acq_graph *complete)
{
    bool same = acq_graph_get_dictionary_fingerprint(graph) ==
                acq_graph_get_dictionary_fingerprint(complete);
    uint32_t ours = acq_graph_get_n_relations(graph) / 2;
    *t = (translation){
        .graph = graph, .complete = complete, .n_pairs = acq_graph_get_n_relations(complete) / 2};
    t->entities = acq_alloc(acq_graph_get_n_entities(complete), sizeof *t->entities);
    t->relations = acq_alloc(t->n_pairs, sizeof *t->relations);
    t->next = acq_alloc(t->n_pairs, sizeof *t->next);
    t->first = acq_alloc(ours, sizeof *t->first);
    if (t->entities == NULL || t->relations == NULL || t->next == NULL || t->first == NULL) {
        free_translation(t);
        return ACQ_ERR_MEMORY;
    }
    for (uint32_t pair = 0; pair < ours; pair++)
        t->first[pair] = ACQ_NO_ID;
    match_entities(t, same);
    match_relations(t, same);
    return ACQ_OK;
}

/* The complete graph's links of a pair, opened in the direction that is `even` with us. */
static acq_status open_source(const translation *t, uint32_t pair, const acq_links **out,
                              acq_error *error)
{
    acq_rel theirs = 2 * pair + (t->relations[pair] & 1U);
    return acq_graph_open_links(t->complete, theirs, out, error);
}

static size_t translate(translation *t, const acq_links *source, acq_link *links)
{
    size_t n = 0;
    for (uint32_t i = 0; i < source->n_heads; i++) {
        acq_ent head = t->entities[source->heads[i]];
        acq_row row = acq_links_get_row_at(source, i);
        for (size_t j = 0; j < row.n; j++) {
            acq_ent tail = t->entities[row.tails[j]];
            if (head == ACQ_NO_ID || tail == ACQ_NO_ID)
                t->report.dropped_facts++;
            else
                links[n++] = (acq_link){.head = head, .tail = tail, .score = 1.0F};
        }
    }
    return n;
}

static acq_status count_links(const translation *t, uint32_t ours, size_t *out, acq_error *error)
{
    const acq_links *source = NULL;
    size_t n = 0;
    for (uint32_t pair = t->first[ours]; pair != ACQ_NO_ID; pair = t->next[pair]) {
        acq_status status = open_source(t, pair, &source, error);
        if (status != ACQ_OK)
            return status;
        n += source->n_links;
    }
    *out = n;
    return ACQ_OK;
}

static acq_status build_both(perfect *me, uint32_t ours, acq_link *links, size_t n,
                             acq_error *error)
{
    uint32_t n_entities = acq_graph_get_n_entities(me->base.graph);
    acq_status status = acq_links_new(links, n, n_entities, false, &me->links[2 * ours]);
    for (size_t i = 0; i < n; i++)
        links[i] = (acq_link){.head = links[i].tail, .tail = links[i].head, .score = 1.0F};
    if (status == ACQ_OK)
        status = acq_links_new(links, n, n_entities, false, &me->links[2 * ours + 1]);
    if (status == ACQ_ERR_MEMORY)
        return acq_fail_memory(error);
    if (status != ACQ_OK)
        return acq_fail(error, status, "a relation of the complete graph has too many facts");
    return ACQ_OK;
}

static acq_status translate_pair(perfect *me, translation *t, uint32_t ours, acq_error *error)
{
    size_t room = 0, n = 0;
    acq_status status = count_links(t, ours, &room, error);
    if (status != ACQ_OK)
        return status;
    acq_link *links = acq_alloc(room, sizeof *links);
    if (links == NULL)
        return acq_fail_memory(error);
    for (uint32_t pair = t->first[ours]; pair != ACQ_NO_ID; pair = t->next[pair]) {
        const acq_links *source = NULL;
        status = open_source(t, pair, &source, error);
        if (status != ACQ_OK)
            break;
        n += translate(t, source, links + n);
    }
    if (status == ACQ_OK)
        status = build_both(me, ours, links, n, error);
    acq_free(links);
    return status;
}

static acq_status count_unknown(translation *t, acq_error *error)
{
    for (uint32_t pair = 0; pair < t->n_pairs; pair++) {
        const acq_links *source = NULL;
        if (t->relations[pair] != ACQ_NO_ID)
            continue;
        acq_status status = acq_graph_open_links(t->complete, 2 * pair, &source, error);
        if (status != ACQ_OK)
            return status;
        t->report.dropped_facts += source->n_links;
    }
    return ACQ_OK;
}

/* The perfect predictor is 0/1 as the complete graph says, even against an observed fact; that is
 * worth counting, because a complete graph should hold them all. */
static acq_status count_denied(const perfect *me, acq_perfect_report *report, acq_error *error)
{
    for (uint32_t relation = 0; relation < me->n_relations; relation += 2) {
        const acq_links *observed = NULL;
        acq_status status = acq_graph_open_links(me->base.graph, relation, &observed, error);
        if (status != ACQ_OK)
            return status;
        for (uint32_t i = 0; i < observed->n_heads; i++) {
            acq_row row = acq_links_get_row_at(observed, i);
            acq_row held = acq_links_get_row(me->links[relation], observed->heads[i]);
            for (size_t k = 0; k < row.n; k++)
                report->denied_facts += acq_row_find(held, row.tails[k]) == held.n;
        }
    }
    return ACQ_OK;
}

static acq_status fill(perfect *me, const acq_graph *complete, acq_perfect_report *report,
                       acq_error *error)
{
    translation t;
    if (make_translation(&t, me->base.graph, complete) != ACQ_OK)
        return acq_fail_memory(error);
    acq_status status = acq_graph_get_failure(complete, error);
    if (status == ACQ_OK)
        status = acq_graph_get_failure(me->base.graph, error);
    if (status == ACQ_OK)
        status = count_unknown(&t, error);
    for (uint32_t pair = 0; status == ACQ_OK && pair < me->n_relations / 2; pair++)
        status = translate_pair(me, &t, pair, error);
    if (status == ACQ_OK)
        status = count_denied(me, &t.report, error);
    *report = t.report;
    free_translation(&t);
    return status;
}

acq_status acq_predictor_new_perfect(const acq_graph *graph, const acq_graph *complete,
                                     const char *label, acq_predictor **out,
                                     acq_perfect_report *report, acq_error *error)
{
    static const acq_predictor_ops ops = {.open_links = open_links, .free = free_perfect};
    acq_perfect_report found = {0};
    perfect *me = acq_zalloc(1, sizeof *me);
    if (me == NULL)
        return acq_fail_memory(error);
    me->n_relations = acq_graph_get_n_relations(graph);
    me->links = acq_zalloc(me->n_relations, sizeof *me->links);
    me->label = acq_copy_string(label == NULL ? "perfect" : label);
    me->base = (acq_predictor){.ops = &ops, .graph = graph, .name = me->label};
    acq_status status = me->links == NULL || me->label == NULL ? acq_fail_memory(error)
                                                               : fill(me, complete, &found, error);
    if (status != ACQ_OK) {
        free_perfect(&me->base);
        return status;
    }
    if (report != NULL)
        *report = found;
    *out = &me->base;
    return ACQ_OK;
}
