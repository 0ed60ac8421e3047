/* suggest.c - the likeliest links that are not observed, of one relation or of all.
 *
 *   completion   every stored link of a relation is looked at
 *   models       the rows of the relation's smaller side are made, a few at a time, until the time
 * is up; relations with few rows first, so that most of them are done
 *
 * A heap with the least likely on top keeps the best `top`, by score; p is made of it in the end.
 */
#include "library/parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "calibrate/reasons.h"
#include "calibrate/worlds.h"
#include "query/print.h"

enum { ROWS_AT_A_TIME = 16 };

struct acq_suggestions {
    acq_suggestion *items; /* a heap while links come, then in order */
    size_t n, capacity;
    acq_suggest_report report;
    acq_arena texts;
};

typedef struct suggesting {
    const acq_predictor *predictor;
    acq_suggest_params params;
    acq_budget budget;
    acq_suggestions *list;
} suggesting;

static acq_suggest_params get_defaults(void)
{
    return (acq_suggest_params){.relation = ACQ_NO_ID, .top = 10, .seconds = 60};
}

void acq_suggest_params_init_sized(acq_suggest_params *params, size_t size)
{
    acq_suggest_params own = get_defaults();
    acq_sized_init(params, size, &own, sizeof own);
}

/* ---- the best so far ---- */

/* Likelier, then by ids: no two are equal. */
static bool is_better(const acq_suggestion *a, const acq_suggestion *b)
{
    if (a->p != b->p)
        return a->p > b->p;
    if (a->relation != b->relation)
        return a->relation < b->relation;
    return a->head != b->head ? a->head < b->head : a->tail < b->tail;
}

static int compare(const void *a, const void *b)
{
    return is_better(a, b) ? -1 : is_better(b, a);
}

static void sift_up(acq_suggestion *heap, size_t i)
{
    acq_suggestion moved = heap[i];
    for (; i > 0 && is_better(&heap[(i - 1) / 2], &moved); i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = moved;
}

static void sift_down(acq_suggestion *heap, size_t n)
{
    acq_suggestion moved = heap[0];
    size_t i = 0;
    for (size_t child = 1; child < n; child = 2 * i + 1) {
        child += child + 1 < n && is_better(&heap[child], &heap[child + 1]);
        if (!is_better(&moved, &heap[child]))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moved;
}

static acq_status offer(suggesting *s, acq_suggestion link)
{
    acq_suggestions *list = s->list;
    if (acq_worlds_get_link_p(link.p) < s->params.min_p)
        return ACQ_OK;
    list->report.found++;
    if (list->n < s->params.top) {
        if (ACQ_RESERVE(list->items, list->capacity, list->n + 1) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        list->items[list->n++] = link;
        sift_up(list->items, list->n - 1);
    } else if (is_better(&link, &list->items[0])) {
        list->items[0] = link;
        sift_down(list->items, list->n);
    }
    return ACQ_OK;
}

/* ---- links of a relation ---- */

/* Those of one row of `relation` that are not observed, as links of its even direction. */
static acq_status offer_row(suggesting *s, acq_rel relation, acq_ent head, acq_row row,
                            acq_row observed)
{
    size_t f = 0;
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < row.n && status == ACQ_OK; i++) {
        acq_ent tail = row.tails[i];
        bool is_turned = relation % 2 == 1;
        while (f < observed.n && observed.tails[f] < tail)
            f++;
        if ((f < observed.n && observed.tails[f] == tail) || row.scores == NULL)
            continue;
        status = offer(s, (acq_suggestion){.head = is_turned ? tail : head,
                                           .relation = relation & ~1U,
                                           .tail = is_turned ? head : tail,
                                           .p = (double)row.scores[i]});
    }
    return status;
}

static bool goes_on(suggesting *s)
{
    acq_suggest_report *report = &s->list->report;
    acq_progress now = {
        .phase = "looking at rows", .done = report->rows_done, .total = report->rows};
    if (s->params.progress != NULL && !s->params.progress(s->params.context, &now))
        s->budget.spent = ACQ_SPENT_INTERRUPT;
    return s->budget.spent == ACQ_SPENT_NOTHING && acq_budget_check(&s->budget);
}

static acq_status look_at_links(suggesting *s, acq_rel relation, const acq_links *observed,
                                acq_error *error)
{
    const acq_links *links = NULL;
    acq_status status = acq_predictor_open_links(s->predictor, relation, &links, error);
    for (uint32_t i = 0; status == ACQ_OK && i < links->n_heads; i++)
        if (offer_row(s, relation, links->heads[i], acq_links_get_row_at(links, i),
                      acq_links_get_row(observed, links->heads[i])) != ACQ_OK)
            status = acq_fail_memory(error);
    s->list->report.rows_done += observed->n_heads;
    return status;
}

/* Asked from every thread that makes rows. */
static bool is_late(void *context)
{
    return acq_clock_ns() >= ((const suggesting *)context)->budget.deadline_ns;
}

/* Rows that there is no time for are left out. */
static acq_status make_rows(suggesting *s, acq_rel relation, const acq_links *observed,
                            uint32_t first, size_t n, acq_error *error)
{
    acq_scored_row rows[ROWS_AT_A_TIME] = {{0}};
    const acq_ent *heads = observed->heads + first;
    acq_row_want want = {.relation = relation, .heads = heads, .n = n, .stop = {is_late, s}};
    acq_error own = {0};
    acq_status status = s->predictor->ops->copy_rows(s->predictor, &want, rows, &own);
    if (status == ACQ_ERR_INTERRUPTED && is_late(s))
        return ACQ_OK;
    if (status != ACQ_OK && error != NULL)
        *error = own;
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        acq_row row = {.tails = rows[i].tails, .scores = rows[i].scores, .n = rows[i].n};
        if (offer_row(s, relation, heads[i], row, acq_links_get_row(observed, heads[i])) != ACQ_OK)
            status = acq_fail_memory(error);
    }
    for (size_t i = 0; i < n; i++)
        acq_scored_row_deinit(&rows[i]);
    s->list->report.rows_done += status == ACQ_OK ? n : 0;
    return status;
}

static acq_status look_at(suggesting *s, acq_rel relation, acq_error *error)
{
    const acq_links *observed = NULL;
    acq_status status = acq_graph_open_links(s->predictor->graph, relation, &observed, error);
    if (status != ACQ_OK || !goes_on(s))
        return status;
    if (!acq_predictor_makes_rows(s->predictor))
        return look_at_links(s, relation, observed, error);
    for (uint32_t i = 0; i < observed->n_heads && status == ACQ_OK; i += ROWS_AT_A_TIME) {
        size_t left = observed->n_heads - i;
        if (i > 0 && !goes_on(s))
            break;
        status = make_rows(s, relation, observed, i, left < ROWS_AT_A_TIME ? left : ROWS_AT_A_TIME,
                           error);
    }
    return status;
}

/* ---- the order of relations ---- */

typedef struct turn {
    acq_rel relation; /* of the smaller side */
    uint32_t n_rows;
} turn;

static int compare_turns(const void *a, const void *b)
{
    const turn *x = a, *y = b;
    if (x->n_rows != y->n_rows)
        return x->n_rows < y->n_rows ? -1 : 1;
    return (x->relation > y->relation) - (x->relation < y->relation);
}

static acq_status make_turn(const acq_graph *graph, acq_rel even, turn *out, acq_error *error)
{
    const acq_links *on = NULL, *back = NULL;
    acq_status status = acq_graph_open_links(graph, even, &on, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(graph, acq_inverse(even), &back, error);
    if (status == ACQ_OK && on->n_heads <= back->n_heads)
        *out = (turn){even, on->n_heads};
    else if (status == ACQ_OK)
        *out = (turn){acq_inverse(even), back->n_heads};
    return status;
}

static acq_status take_turns(suggesting *s, acq_error *error)
{
    const acq_graph *graph = s->predictor->graph;
    acq_rel n_relations = acq_graph_get_n_relations(graph), only = s->params.relation;
    acq_rel first = only == ACQ_NO_ID ? 0 : only & ~1U;
    acq_rel last = only == ACQ_NO_ID ? n_relations : first + 2;
    turn *turns = acq_alloc(n_relations / 2, sizeof *turns);
    acq_status status = turns == NULL ? acq_fail_memory(error) : ACQ_OK;
    size_t n = 0;
    for (acq_rel r = first; r < last && status == ACQ_OK; r += 2) {
        status = make_turn(graph, r, &turns[n], error);
        s->list->report.rows += status == ACQ_OK ? turns[n++].n_rows : 0;
    }
    if (status == ACQ_OK)
        qsort(turns, n, sizeof *turns, compare_turns);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        status = look_at(s, turns[i].relation, error);
    acq_free(turns);
    return status;
}

/* ---- the call ---- */

static acq_status check(const acq_predictor *predictor, const acq_suggest_params *params,
                        acq_error *error)
{
    uint32_t n = acq_graph_get_n_relations(predictor->graph);
    if (acq_predictor_get_calibrator(predictor) == NULL)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the scores of %.200s are no probabilities; suggestions need a completion "
                        "made by anycq fit, or the predictor ultra",
                        predictor->name);
    if (params->relation != ACQ_NO_ID && params->relation >= n)
        return acq_fail(error, ACQ_ERR_USAGE, "acq_suggest: relation %u is not below %u",
                        params->relation, n);
    if (!(params->min_p >= 0 && params->min_p <= 1))
        return acq_fail(error, ACQ_ERR_USAGE, "min_p %g is not between 0 and 1", params->min_p);
    if (!(params->seconds >= 0))
        return acq_fail(error, ACQ_ERR_USAGE, "seconds %g is no time limit; 0 means none",
                        params->seconds);
    return ACQ_OK;
}

static acq_status write_text(suggesting *s, acq_suggestion *link, acq_text *text)
{
    const acq_graph *graph = s->predictor->graph;
    acq_text_clear(text);
    acq_query_print_fact(text, acq_graph_get_relation_name(graph, link->relation), false,
                         acq_graph_get_entity_name(graph, link->head),
                         acq_graph_get_entity_name(graph, link->tail));
    link->text = text->failed
                     ? NULL
                     : acq_arena_copy_string(&s->list->texts, text->bytes, text->length);
    return link->text == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

static acq_status finish(suggesting *s, acq_error *error)
{
    acq_status status = ACQ_OK;
    acq_text text;
    acq_text_init(&text);
    acq_suggestions *list = s->list;
    if (list->n > 0)
        qsort(list->items, list->n, sizeof *list->items, compare);
    for (size_t i = 0; i < list->n && status == ACQ_OK; i++) {
        acq_suggestion *link = &list->items[i];
        link->p = acq_worlds_get_link_p(link->p);
        list->report.expected += link->p;
        status = write_text(s, link, &text);
    }
    acq_text_deinit(&text);
    list->report.spent = acq_spent_name(s->budget.spent);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

acq_status acq_suggest(const acq_predictor *predictor, const acq_suggest_params *given,
                       acq_suggestions **out, acq_error *error)
{
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(out, error);
    suggesting s = {.predictor = predictor, .params = get_defaults()};
    acq_status status = acq_sized_read(__func__, given, &s.params, sizeof s.params, error);
    if (status == ACQ_OK)
        status = check(predictor, &s.params, error);
    if (status != ACQ_OK)
        return status;
    s.list = acq_zalloc(1, sizeof *s.list);
    if (s.list == NULL)
        return acq_fail_memory(error);
    acq_budget_init(&s.budget, s.params.seconds, 0);
    acq_arena_init(&s.list->texts);
    status = take_turns(&s, error);
    if (status == ACQ_OK)
        status = finish(&s, error);
    if (status == ACQ_OK)
        status = acq_graph_get_failure(predictor->graph, error);
    if (status == ACQ_OK)
        *out = s.list;
    else
        acq_suggestions_free(s.list);
    return status;
}

size_t acq_suggestions_get_n(const acq_suggestions *list)
{
    return list == NULL ? 0 : list->n;
}

const acq_suggestion *acq_suggestions_get(const acq_suggestions *list, size_t i)
{
    return list != NULL && i < list->n ? &list->items[i] : NULL;
}

void acq_suggestions_get_report(const acq_suggestions *list, acq_suggest_report *out)
{
    acq_suggest_report own = {.spent = ""};
    if (list != NULL)
        own = list->report;
    acq_sized_fill(out, &own, sizeof own);
}

void acq_suggestions_free(acq_suggestions *list)
{
    if (list == NULL)
        return;
    acq_free(list->items);
    acq_arena_deinit(&list->texts);
    acq_free(list);
}

/* ---- reasons ----
 *
 * Why a predicted link has its probability (calibrate/reasons.h), for programs. */

struct acq_reasons {
    acq_arena arena; /* owns the reasons */
    acq_reason *items;
    size_t n;
    const char *note;
};

static acq_status check_link(const acq_graph *graph, acq_ent head, acq_rel relation, acq_ent tail,
                             acq_error *error)
{
    uint32_t n_entities = acq_graph_get_n_entities(graph);
    if (head < n_entities && tail < n_entities && relation < acq_graph_get_n_relations(graph))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "acq_reasons_find: the graph has no link of the ids %u, %u, %u", head, relation,
                    tail);
}

acq_status acq_reasons_find(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                            acq_ent tail, acq_reasons **out, acq_error *error)
{
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(out, error);
    acq_status status = check_link(predictor->graph, head, relation, tail, error);
    if (status != ACQ_OK)
        return status;
    acq_reasons *reasons = acq_zalloc(1, sizeof *reasons);
    if (reasons == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&reasons->arena);
    if (acq_graph_has_fact(predictor->graph, head, relation, tail))
        reasons->note = "the link is observed";
    else
        status = acq_reasons_make(predictor, head, relation, tail, &reasons->arena, &reasons->items,
                                  &reasons->n, &reasons->note, error);
    if (status == ACQ_OK)
        *out = reasons;
    else
        acq_reasons_free(reasons);
    return status;
}

size_t acq_reasons_get_n(const acq_reasons *reasons)
{
    return reasons == NULL ? 0 : reasons->n;
}

const acq_reason *acq_reasons_get(const acq_reasons *reasons, size_t i)
{
    return reasons != NULL && i < reasons->n ? &reasons->items[i] : NULL;
}

const char *acq_reasons_get_note(const acq_reasons *reasons)
{
    return reasons == NULL || reasons->note == NULL ? "" : reasons->note;
}

void acq_reasons_free(acq_reasons *reasons)
{
    if (reasons == NULL)
        return;
    acq_arena_deinit(&reasons->arena);
    acq_free(reasons);
}
