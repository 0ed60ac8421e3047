/* cursor.c - answers as they are found, facts first.
 *
 *   FACTS   answers made of observed facts: 512 of them, then 8192, ... until there are no more
 *   ALL     the question itself                         what acq_ask does
 *   END
 *
 * A stage runs when the answers of the one before are used up, and hands out what was not handed
 * out before. FACTS is for complete searches. Without negated atoms an answer made of facts has the
 * largest score and probability, whatever is predicted, so that handing it out early agrees with
 * the result; predictors that know nothing but facts have no other stage. With negated atoms the
 * predictor judges what the facts' answers deny (acq_engine_ask_facts), in half of the time that
 * there is. Searches meet tuples in the same order whatever the limit, so each search of the facts
 * finds again what the one before has found. A search that fills the limit, or is cut short, is the
 * last, and its result that of the cursor.
 *
 * Which tuples were handed out is looked up by halving: answers of equal scores are sorted by their
 * values; where scores differ, a list of the tuples is. */
#include "library/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answer/answer.h"
#include "base/memory.h"
#include "base/search.h"

typedef enum stage { FACTS, ALL, END } stage;

enum { FIRST_FACTS = 512, FACTS_GROW = 16 };

/* Answers of a search of the facts. */
typedef struct fact_list {
    acq_result *result;     /* NULL: none */
    const acq_ent **sorted; /* their tuples by value; NULL: the answers are */
} fact_list;

struct acq_cursor {
    acq_library_question question;
    acq_predictor *observed; /* for FACTS; NULL: it is left out, or the predictor judges */
    bool is_judged;          /* FACTS by the predictor: there are negated atoms */
    bool knows_facts_only;
    int64_t deadline_ns;
    atomic_bool is_stopped;
    stage stage;          /* whose answers are being handed out, or that runs next */
    uint64_t facts_limit; /* of the search of facts that ran last, or that is next */
    bool has_more_facts;  /* that search was full, and more are asked for */
    acq_outcome facts;    /* what they say: answered, none, or undecided yet */
    fact_list before;     /* of the search of facts before the last */
    fact_list of_facts;   /* of the last search of facts */
    acq_result *all;
    size_t i_answer; /* of the answers that are handed out, the next */
    uint64_t n_given;
    acq_result row;          /* what was handed out last: borrows all it points to */
    acq_engine_answer *some; /* the answers of row */
    size_t some_capacity;
};

static bool has_negated_atom(const acq_node *node, bool is_negated)
{
    if (node->kind == ACQ_NODE_ATOM)
        return is_negated;
    bool found = false;
    for (uint32_t i = 0; i < node->n_children && !found; i++)
        found = has_negated_atom(node->children[i], is_negated || node->kind == ACQ_NODE_NOT);
    return found;
}

/* Most answers to give; 0: all. */
static uint64_t get_limit(const acq_cursor *cursor)
{
    return cursor->question.query->n_free == 0 ? 1 : cursor->question.params.search.limit;
}

static void limit_facts(acq_cursor *cursor, uint64_t limit)
{
    uint64_t most = get_limit(cursor);
    cursor->facts_limit = most > 0 && most < limit ? most : limit;
}

/* Rows that are made for a question depend on it, and so would early numbers. */
static bool can_judge(const acq_library_question *question)
{
    return !acq_predictor_makes_rows(question->predictor) && question->params.prior < 0 &&
           question->query->n_free > 0;
}

static acq_status begin(acq_cursor *cursor, acq_error *error)
{
    const acq_library_question *question = &cursor->question;
    cursor->knows_facts_only = strcmp(question->predictor->name, "observed") == 0;
    cursor->deadline_ns = acq_clock_get_deadline(question->params.search.seconds);
    cursor->facts = ACQ_UNDECIDED;
    cursor->stage = ALL;
    cursor->is_judged = !cursor->knows_facts_only && has_negated_atom(question->query->root, false);
    if (!acq_engine_is_complete(question->params.engine) ||
        (cursor->is_judged && !can_judge(question)))
        return ACQ_OK;
    cursor->stage = FACTS;
    cursor->facts_limit = FIRST_FACTS;
    if (cursor->is_judged)
        return ACQ_OK;
    limit_facts(cursor, FIRST_FACTS);
    return acq_predictor_new_observed(question->predictor->graph, &cursor->observed, error);
}

acq_status acq_cursor_open(const acq_query *query, const acq_predictor *predictor,
                           const acq_ask_params *params, acq_cursor **out, acq_error *error)
{
    ACQ_REQUIRE(query, error);
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(out, error);
    acq_cursor *cursor = acq_zalloc(1, sizeof *cursor);
    if (cursor == NULL)
        return acq_fail_memory(error);
    atomic_init(&cursor->is_stopped, false);
    acq_status status =
        acq_library_read_question(__func__, query, predictor, params, &cursor->question, error);
    cursor->question.stop = &cursor->is_stopped;
    if (status == ACQ_OK)
        status = begin(cursor, error);
    if (status == ACQ_OK)
        *out = cursor;
    else
        acq_cursor_free(cursor);
    return status;
}

/* A predictor may hold a fact to be false, but not one that makes rows or has a calibrator; asking
 * these could cost rows, or all that a small graph teaches. Certain answers have the probability 1.
 */
static void admit_facts(const acq_cursor *cursor, acq_result *result)
{
    const acq_library_question *question = &cursor->question;
    acq_engine_result *search = &result->search;
    bool is_sure = cursor->knows_facts_only || acq_predictor_makes_rows(question->predictor) ||
                   acq_predictor_get_calibrator(question->predictor) != NULL;
    size_t n = 0;
    result->has_p = acq_engine_gives_p(&question->params, question->predictor);
    for (size_t i = 0; i < search->n_answers; i++) {
        if (is_sure ||
            acq_verify_score(question->query, question->predictor, &question->params.search.scoring,
                             search->answers[i].values) >= 1.0)
            search->answers[n++] = search->answers[i];
    }
    for (size_t i = 0; i < n; i++) {
        acq_ent *values = search->answers[i].values;
        search->answers[i] = ACQ_ENGINE_CERTAIN(result->has_p);
        search->answers[i].values = values;
        if (question->params.prior < 0)
            search->answers[i].p_prior = NAN;
    }
    search->n_answers = n;
    search->likeliest = result->has_p && n > 0 ? search->answers : NULL;
    search->n_candidates = result->has_p ? n : 0;
    if (n == 0 && search->outcome == ACQ_ANSWERED)
        search->outcome = ACQ_UNDECIDED;
}

static acq_status search(acq_cursor *cursor, const acq_library_question *question, acq_result **out,
                         acq_error *error)
{
    acq_library_question now = *question;
    double left = (double)(cursor->deadline_ns - acq_clock_ns()) * 1e-9;
    if (cursor->deadline_ns != INT64_MAX)
        now.params.search.seconds = fmax(question->of_facts ? left / 2 : left, 1e-3);
    double before = cursor->of_facts.result == NULL ? 0 : cursor->of_facts.result->seconds;
    acq_status status = acq_library_answer(&now, NULL, 0, out, error);
    if (status == ACQ_OK)
        (*out)->seconds += before;
    cursor->i_answer = 0;
    return status;
}

/* Cut short, a search has found less than the one before, whose result stays. */
static void keep_before(acq_cursor *cursor, acq_result *cut)
{
    acq_engine_result *kept = &cursor->of_facts.result->search;
    kept->spent = cut->search.spent;
    kept->complete = false;
    cursor->of_facts.result->seconds = cut->seconds;
    cursor->i_answer = kept->n_answers;
    cursor->has_more_facts = false;
    acq_result_free(cut);
}

/* The judge's half of the time is over, not that of the question: it goes on with ALL. */
static void forgive(const acq_cursor *cursor, acq_result *result)
{
    bool has_time = acq_clock_ns() < cursor->deadline_ns;
    if (result->search.spent == ACQ_SPENT_TIME && has_time && !result->search.complete) {
        result->search.spent = ACQ_SPENT_NOTHING;
        result->search.has_more = false;
    }
}

static acq_status run_facts(acq_cursor *cursor, acq_result **out, acq_error *error)
{
    acq_library_question question = cursor->question;
    question.of_facts = cursor->is_judged;
    question.most_facts = cursor->facts_limit;
    if (!cursor->is_judged) {
        question.predictor = cursor->observed;
        question.params.search.limit = cursor->facts_limit;
    }
    acq_status status = search(cursor, &question, out, error);
    if (status == ACQ_OK && cursor->is_judged)
        forgive(cursor, *out);
    return status;
}

static void fact_list_deinit(fact_list *list)
{
    acq_result_free(list->result);
    acq_free(list->sorted);
    *list = (fact_list){0};
}

static int compare_tuples(const void *a, const void *b, void *context);

static acq_status sort_tuples(const acq_cursor *cursor, fact_list *list, acq_error *error)
{
    size_t n = list->result->search.n_answers;
    if (!cursor->is_judged || n == 0)
        return ACQ_OK;
    list->sorted = acq_alloc(n, sizeof *list->sorted);
    if (list->sorted == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < n; i++)
        list->sorted[i] = list->result->search.answers[i].values;
    qsort_r(list->sorted, n, sizeof *list->sorted, compare_tuples, (void *)cursor);
    return ACQ_OK;
}

/* Of a judged search there are more where it met as many tuples as it was to look at. */
static bool has_more(const acq_cursor *cursor, const acq_engine_result *found)
{
    uint64_t limit = get_limit(cursor);
    return cursor->is_judged
               ? limit == 0 && found->has_more
               : found->n_answers == cursor->facts_limit && cursor->facts_limit != limit;
}

static acq_status search_facts(acq_cursor *cursor, acq_error *error)
{
    acq_result *result = NULL;
    acq_status status = run_facts(cursor, &result, error);
    if (status != ACQ_OK)
        return status;
    acq_engine_result *found = &result->search;
    if (found->n_answers < acq_result_get_n_answers(cursor->of_facts.result)) {
        keep_before(cursor, result);
        return ACQ_OK;
    }
    cursor->has_more_facts = has_more(cursor, found);
    if (cursor->is_judged) {
        cursor->facts = found->facts;
        found->has_more = false;
    } else {
        cursor->facts = found->facts = found->outcome;
        admit_facts(cursor, result);
    }
    fact_list_deinit(&cursor->before);
    cursor->before = cursor->of_facts;
    cursor->of_facts = (fact_list){.result = result};
    return sort_tuples(cursor, &cursor->of_facts, error);
}

static int compare_free(const acq_cursor *cursor, const acq_ent *a, const acq_ent *b)
{
    uint32_t i = 0, n = cursor->question.query->n_free;
    while (i < n && a[i] == b[i])
        i++;
    return i == n ? 0 : a[i] < b[i] ? -1 : 1;
}

static int compare_tuples(const void *a, const void *b, void *context)
{
    return compare_free(context, *(const acq_ent *const *)a, *(const acq_ent *const *)b);
}

static const acq_ent *get_tuple(const fact_list *list, size_t i)
{
    return list->sorted != NULL ? list->sorted[i] : list->result->search.answers[i].values;
}

/* Is the tuple among these answers? */
static bool has_tuple(const acq_cursor *cursor, const fact_list *list, const acq_ent *values)
{
    size_t i, n = acq_result_get_n_answers(list->result);
    ACQ_SEARCH(i, 0, n, compare_free(cursor, get_tuple(list, i), values) < 0);
    return i < n && compare_free(cursor, get_tuple(list, i), values) == 0;
}

/* Copies answers into the arena that they are to live in. */
static acq_status copy_answers(const acq_query *query, const acq_engine_answer *from, size_t n,
                               acq_arena *arena, acq_engine_answer *to)
{
    for (size_t i = 0; i < n; i++) {
        acq_ent *values = acq_arena_alloc(arena, query->n_variables, sizeof *values);
        if (values == NULL)
            return ACQ_ERR_MEMORY;
        memcpy(values, from[i].values, query->n_variables * sizeof *values);
        to[i] = from[i];
        to[i].values = values;
    }
    return ACQ_OK;
}

/* Answers of facts come before those of the whole question, which may lack them: cut short, it has
 * not met them again; with a limit, it gives as likely ones in their place. */
static acq_status add_facts(acq_cursor *cursor, acq_error *error)
{
    acq_engine_result *all = &cursor->all->search;
    const fact_list *facts = &cursor->of_facts;
    uint64_t limit = get_limit(cursor);
    size_t n_facts = acq_result_get_n_answers(facts->result), n = n_facts;
    if ((all->complete && limit == 0) || n_facts == 0)
        return ACQ_OK;
    acq_engine_answer *joined =
        acq_arena_alloc(&all->arena, n_facts + all->n_answers, sizeof *joined);
    if (joined == NULL || copy_answers(cursor->question.query, facts->result->search.answers,
                                       n_facts, &all->arena, joined) != ACQ_OK)
        return acq_fail_memory(error);
    for (size_t i = 0; i < all->n_answers; i++) {
        if (!has_tuple(cursor, facts, all->answers[i].values))
            joined[n++] = all->answers[i];
    }
    bool has_likelier =
        all->likeliest != NULL && all->n_answers > 0 && all->likeliest->p > joined[0].p;
    all->answers = joined;
    all->n_answers = limit > 0 && limit < n ? limit : n;
    if (!has_likelier)
        all->likeliest = cursor->all->has_p ? joined : NULL;
    all->outcome = ACQ_ANSWERED;
    return ACQ_OK;
}

static acq_status search_all(acq_cursor *cursor, acq_error *error)
{
    acq_status status = search(cursor, &cursor->question, &cursor->all, error);
    if (status == ACQ_OK && cursor->of_facts.result != NULL) {
        cursor->all->search.facts = cursor->facts;
        status = add_facts(cursor, error);
    }
    return status;
}

static bool is_full(const acq_cursor *cursor)
{
    uint64_t limit = get_limit(cursor);
    return limit > 0 && cursor->n_given >= limit;
}

/* What is being handed out; NULL: the stage has not run. */
static acq_result *get_current(const acq_cursor *cursor)
{
    return cursor->stage == FACTS ? cursor->of_facts.result
           : cursor->stage == ALL ? cursor->all
                                  : NULL;
}

/* Puts at most `most` answers that were not given yet into row; false: there is no other. */
static acq_status give(acq_cursor *cursor, size_t most, bool *out, acq_error *error)
{
    acq_result *result = get_current(cursor);
    const fact_list *given = cursor->stage == FACTS ? &cursor->before : &cursor->of_facts;
    size_t n = 0, n_all = acq_result_get_n_answers(result);
    while (!is_full(cursor) && n < most && cursor->i_answer < n_all) {
        const acq_engine_answer *answer = &result->search.answers[cursor->i_answer++];
        if (has_tuple(cursor, given, answer->values))
            continue;
        if (ACQ_RESERVE(cursor->some, cursor->some_capacity, n + 1) != ACQ_OK)
            return acq_fail_memory(error);
        cursor->some[n++] = *answer;
        cursor->n_given++;
    }
    *out = n > 0;
    if (n == 0)
        return ACQ_OK;
    cursor->row = *result;
    cursor->row.search.answers = cursor->some;
    cursor->row.search.n_answers = n;
    cursor->row.search.likeliest = result->has_p ? cursor->some : NULL;
    return ACQ_OK;
}

/* What comes when the answers of this stage are used up. */
static void go_on(acq_cursor *cursor)
{
    const acq_result *result = get_current(cursor);
    bool is_cut = result->search.spent != ACQ_SPENT_NOTHING;
    if (cursor->stage == ALL || is_cut || is_full(cursor))
        cursor->stage = END;
    else if (cursor->has_more_facts && cursor->is_judged)
        cursor->facts_limit *= FACTS_GROW;
    else if (cursor->has_more_facts)
        limit_facts(cursor, cursor->facts_limit * FACTS_GROW);
    else
        cursor->stage = cursor->knows_facts_only ? END : ALL;
}

static acq_status run_stage(acq_cursor *cursor, acq_error *error)
{
    return cursor->stage == FACTS ? search_facts(cursor, error) : search_all(cursor, error);
}

static acq_status next(acq_cursor *cursor, size_t most, const acq_result **out, acq_error *error)
{
    acq_status status = ACQ_OK;
    bool is_given = false;
    if (get_current(cursor) == NULL && cursor->stage != END)
        status = run_stage(cursor, error);
    while (status == ACQ_OK && cursor->stage != END && !is_given) {
        status = give(cursor, most, &is_given, error);
        if (status != ACQ_OK || is_given)
            break;
        go_on(cursor);
        if (cursor->stage != END)
            status = run_stage(cursor, error);
    }
    if (status == ACQ_OK)
        *out = is_given ? &cursor->row : NULL;
    return status;
}

acq_status acq_cursor_next(acq_cursor *cursor, const acq_result **out, acq_error *error)
{
    ACQ_REQUIRE(cursor, error);
    ACQ_REQUIRE(out, error);
    return next(cursor, 1, out, error);
}

acq_status acq_cursor_next_some(acq_cursor *cursor, const acq_result **out, acq_error *error)
{
    ACQ_REQUIRE(cursor, error);
    ACQ_REQUIRE(out, error);
    return next(cursor, SIZE_MAX, out, error);
}

void acq_cursor_stop(acq_cursor *cursor)
{
    if (cursor != NULL)
        atomic_store(&cursor->is_stopped, true);
}

const acq_result *acq_cursor_get_result(const acq_cursor *cursor)
{
    if (cursor == NULL || cursor->stage != END)
        return NULL;
    return cursor->all != NULL ? cursor->all : cursor->of_facts.result;
}

/* The result outlives the cursor, and with it the predictor that knows nothing but facts. */
static acq_result *take_result(acq_cursor *cursor)
{
    acq_result **place = cursor->all != NULL ? &cursor->all : &cursor->of_facts.result;
    acq_result *result = *place;
    *place = NULL;
    if (result->predictor == cursor->observed)
        result->predictor = cursor->question.predictor;
    result->params.search.limit = cursor->question.params.search.limit;
    return result;
}

acq_status acq_library_ask_best(const acq_library_question *question, acq_result **out,
                                acq_error *error)
{
    acq_cursor *cursor = acq_zalloc(1, sizeof *cursor);
    if (cursor == NULL)
        return acq_fail_memory(error);
    cursor->question = *question;
    cursor->question.own_policy = NULL; /* the caller's */
    const acq_result *given = NULL;
    acq_status status = begin(cursor, error);
    do
        status = status == ACQ_OK ? next(cursor, SIZE_MAX, &given, error) : status;
    while (status == ACQ_OK && given != NULL);
    if (status == ACQ_OK)
        *out = take_result(cursor);
    acq_cursor_free(cursor);
    return status;
}

void acq_cursor_free(acq_cursor *cursor)
{
    if (cursor == NULL)
        return;
    fact_list_deinit(&cursor->before);
    fact_list_deinit(&cursor->of_facts);
    acq_result_free(cursor->all);
    acq_predictor_free(cursor->observed);
    acq_library_question_deinit(&cursor->question);
    acq_free(cursor->some);
    acq_free(cursor);
}
