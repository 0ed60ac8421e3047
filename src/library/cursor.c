/* cursor.c - answers one at a time, facts first.
 *
 *   FIRST   one answer made of observed facts           a search of the facts, limit 1
 *   FACTS   all such answers, up to the limit           a search of the facts
 *   ALL     the question itself                         what acq_ask does
 *   END
 *
 * A stage runs when the answers of the one before are used up, and hands out what was not handed
 * out before. FIRST and FACTS are for complete searches of queries without negated atoms: there an
 * answer made of facts has the largest score and probability, whatever is predicted, so that
 * handing it out early agrees with the result. FIRST is left out where one answer is asked for, and
 * FACTS where the predictor knows nothing but facts. A stage that fills the limit, or is cut short,
 * is the last, and its result that of the cursor.
 *
 * Answers of equal scores are sorted by their values, so those of FACTS, which all score 1, are
 * looked up by halving. */
#include "library/parts.h"

#include <math.h>
#include <string.h>

#include "answer/verify.h"
#include "base/memory.h"
#include "base/search.h"

typedef enum stage { FIRST, FACTS, ALL, END, N_STAGES } stage;

struct acq_cursor {
    acq_library_question question;
    acq_predictor *observed; /* for FIRST and FACTS; NULL: they are left out */
    atomic_bool is_stopped;
    stage stage;                   /* whose answers are being handed out, or that runs next */
    acq_result *results[N_STAGES]; /* of the stages that have run */
    size_t i_answer;               /* of the stage's answers, to be handed out next */
    uint64_t n_given;
    double seconds;           /* spent by all stages */
    acq_result row;           /* what acq_cursor_next gave last: borrows all it points to */
    acq_engine_answer answer; /* the one answer of row */
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

static acq_status begin(acq_cursor *cursor, acq_error *error)
{
    const acq_library_question *question = &cursor->question;
    bool knows_facts_only = strcmp(question->predictor->name, "observed") == 0;
    bool wants_one = question->params.search.limit == 1 || question->query->n_free == 0;
    cursor->stage = ALL;
    if (!acq_engine_is_complete(question->params.engine) ||
        has_negated_atom(question->query->root, false) || (wants_one && knows_facts_only))
        return ACQ_OK;
    cursor->stage = wants_one ? FACTS : FIRST;
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

/* A predictor may hold a fact to be false; asking one that makes rows would cost rows, but facts
 * are true for those. Certain answers have the probability 1. */
static void admit_facts(const acq_cursor *cursor, acq_result *result)
{
    const acq_library_question *question = &cursor->question;
    acq_engine_result *search = &result->search;
    bool makes_rows = acq_predictor_makes_rows(question->predictor);
    size_t n = 0;
    result->has_p = acq_engine_gives_p(&question->params, question->predictor);
    for (size_t i = 0; i < search->n_answers; i++) {
        if (makes_rows ||
            acq_verify_score(question->query, question->predictor, &question->params.search.scoring,
                             search->answers[i].values) >= 1.0)
            search->answers[n++] = search->answers[i];
    }
    for (size_t i = 0; i < n; i++) {
        acq_ent *values = search->answers[i].values;
        search->answers[i] = ACQ_ENGINE_CERTAIN(result->has_p);
        search->answers[i].values = values;
    }
    search->n_answers = n;
    search->likeliest = result->has_p && n > 0 ? search->answers : NULL;
    search->n_candidates = result->has_p ? n : 0;
    if (n == 0 && search->outcome == ACQ_ANSWERED)
        search->outcome = ACQ_UNDECIDED;
}

static acq_status run_stage(acq_cursor *cursor, acq_error *error)
{
    acq_library_question question = cursor->question;
    acq_search_params *search = &question.params.search;
    bool is_of_facts = cursor->stage != ALL;
    acq_result *result = NULL;
    if (is_of_facts)
        question.predictor = cursor->observed;
    if (cursor->stage == FIRST)
        search->limit = 1;
    if (search->seconds > 0)
        search->seconds = fmax(search->seconds - cursor->seconds, 1e-3);
    acq_status status = acq_library_answer(&question, NULL, 0, &result, error);
    if (status != ACQ_OK)
        return status;
    if (is_of_facts)
        admit_facts(cursor, result);
    cursor->seconds += result->seconds;
    result->seconds = cursor->seconds;
    cursor->results[cursor->stage] = result;
    cursor->i_answer = 0;
    return ACQ_OK;
}

static int compare_free(const acq_cursor *cursor, const acq_ent *a, const acq_ent *b)
{
    uint32_t i = 0, n = cursor->question.query->n_free;
    while (i < n && a[i] == b[i])
        i++;
    return i == n ? 0 : a[i] < b[i] ? -1 : 1;
}

/* Did this stage find the tuple? Its answers are sorted by values. */
static bool has_tuple(const acq_cursor *cursor, stage earlier, const acq_ent *values)
{
    const acq_result *result = cursor->results[earlier];
    size_t i, n = acq_result_get_n_answers(result);
    ACQ_SEARCH(i, 0, n, compare_free(cursor, result->search.answers[i].values, values) < 0);
    return i < n && compare_free(cursor, result->search.answers[i].values, values) == 0;
}

static bool was_given(const acq_cursor *cursor, const acq_ent *values)
{
    bool found = false;
    for (stage s = FIRST; s < cursor->stage && !found; s++)
        found = has_tuple(cursor, s, values);
    return found;
}

static bool is_full(const acq_cursor *cursor)
{
    uint64_t limit = cursor->question.query->n_free == 0 ? 1 : cursor->question.params.search.limit;
    return limit > 0 && cursor->n_given >= limit;
}

/* Puts the next answer of the stage into row; false: there is no other. */
static bool give_next(acq_cursor *cursor)
{
    acq_result *result = cursor->results[cursor->stage];
    while (!is_full(cursor) && cursor->i_answer < acq_result_get_n_answers(result)) {
        const acq_engine_answer *answer = &result->search.answers[cursor->i_answer++];
        if (was_given(cursor, answer->values))
            continue;
        cursor->row = *result;
        cursor->answer = *answer;
        cursor->row.search.answers = &cursor->answer;
        cursor->row.search.n_answers = 1;
        cursor->row.search.likeliest = result->has_p ? &cursor->answer : NULL;
        cursor->n_given++;
        return true;
    }
    return false;
}

/* The stage after this one. FIRST never holds the result of a question for more than one. */
static stage choose_next(const acq_cursor *cursor)
{
    bool knows_facts_only = strcmp(cursor->question.predictor->name, "observed") == 0;
    const acq_engine_result *search = &cursor->results[cursor->stage]->search;
    bool is_cut = search->spent != ACQ_SPENT_NOTHING;
    if (cursor->stage == FIRST && !is_cut)
        return knows_facts_only ? ALL : FACTS;
    return cursor->stage == ALL || is_cut || is_full(cursor) ? END : ALL;
}

acq_status acq_cursor_next(acq_cursor *cursor, const acq_result **out, acq_error *error)
{
    ACQ_REQUIRE(cursor, error);
    ACQ_REQUIRE(out, error);
    while (cursor->stage != END) {
        if (cursor->results[cursor->stage] == NULL) {
            acq_status status = run_stage(cursor, error);
            if (status != ACQ_OK)
                return status;
        }
        if (give_next(cursor)) {
            *out = &cursor->row;
            return ACQ_OK;
        }
        cursor->stage = choose_next(cursor);
    }
    *out = NULL;
    return ACQ_OK;
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
    stage last = ALL;
    while (last > FIRST && cursor->results[last] == NULL)
        last--;
    return cursor->results[last];
}

void acq_cursor_free(acq_cursor *cursor)
{
    if (cursor == NULL)
        return;
    for (stage s = FIRST; s < N_STAGES; s++)
        acq_result_free(cursor->results[s]);
    acq_predictor_free(cursor->observed);
    acq_library_question_deinit(&cursor->question);
    acq_free(cursor);
}
