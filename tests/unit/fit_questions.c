/* fit_questions.c - what questions are tried with, against all entities one by one: labels are the
 * truth, at least one true candidate does not follow from the rest's facts, two of three do not
 * where there are both kinds, wrong ones are shown by the rest, and the true ones stand for all. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/learn.h"
#include "fit/parts.h"
#include "unit/train_case.h"

enum { N_ENTITIES = 80, N_QUESTIONS = 1500 };

typedef struct fixture {
    train_case c;
    acq_graph *rest;
    acq_predictor *observed, *truth;
    acq_trial_source source;
} fixture;

static void fixture_init(fixture *f)
{
    train_case_init_dense(&f->c, N_ENTITIES, 4, 1200);
    assert_int_equal(
        acq_split_by_share(f->c.graph, &(acq_split_params){.share = .2, .seed = 1}, &f->rest, NULL),
        ACQ_OK);
    assert_int_equal(acq_predictor_new_observed(f->rest, &f->observed, NULL), ACQ_OK);
    assert_int_equal(acq_predictor_new_observed(f->c.graph, &f->truth, NULL), ACQ_OK);
    f->source = (acq_trial_source){f->rest, f->observed, f->observed, f->truth, 0, 0};
}

static void fixture_deinit(fixture *f)
{
    acq_predictor_free(f->truth);
    acq_predictor_free(f->observed);
    acq_graph_free(f->rest);
    train_case_deinit(&f->c);
}

static bool holds(const acq_query *query, const acq_predictor *predictor, const acq_ent *values)
{
    acq_engine_params engine = acq_trial_choose_search(predictor, 1, 0);
    acq_engine_result result;
    assert_int_equal(acq_engine_check(query, predictor, values, &engine, &result, NULL), ACQ_OK);
    bool is_yes = result.outcome == ACQ_ANSWERED;
    acq_engine_result_deinit(&result);
    return is_yes;
}

/* Has the entity some fact of the rest at the free variable's end of each positive atom? */
static bool is_seen(const fixture *f, const acq_query *query, acq_ent entity)
{
    for (uint32_t i = 0; i < query->root->n_children; i++) {
        const acq_node *atom = query->root->children[i];
        if (atom->kind != ACQ_NODE_ATOM)
            continue;
        bool is_left = atom->left.is_variable && atom->left.id == 0;
        bool is_right = atom->right.is_variable && atom->right.id == 0, left = false, right = false;
        acq_rel r = query->relations[atom->relation].id;
        for (acq_ent e = 0; e < N_ENTITIES; e++) {
            left = left || acq_graph_has_fact(f->rest, entity, r, e);
            right = right || acq_graph_has_fact(f->rest, e, r, entity);
        }
        if ((is_left && !left) || (is_right && !right))
            return false;
    }
    return true;
}

/* Counts over all questions. */
typedef struct counts {
    size_t n_used, n_useless, n_hidden, n_both;
} counts;

static void check_single(const fixture *f, const acq_query *query, const acq_trials *trials,
                         counts *sum)
{
    size_t n_answers = 0, n_open = 0, n_drawn_hidden = 0;
    double stands_for = 0;
    for (acq_ent e = 0; e < N_ENTITIES; e++) {
        bool is_true = holds(query, f->truth, &e);
        n_answers += is_true;
        n_open += is_true && holds(query, f->observed, &e);
    }
    if (trials->n == 0) {
        sum->n_useless += n_answers == n_open || n_answers < 2;
        return;
    }
    sum->n_used++;
    assert_true(n_answers > n_open && n_answers >= 2);
    assert_int_equal(trials->n_true, n_answers < 10 ? n_answers : 10);
    assert_true(trials->n <= 2 * trials->n_true);
    for (size_t i = 0; i < trials->n; i++) {
        const acq_trial *trial = &trials->items[i];
        bool is_open = holds(query, f->observed, trial->values);
        assert_int_equal(trial->is_true, holds(query, f->truth, trial->values));
        assert_true(trial->stands_for >= 1);
        stands_for += trial->is_true ? trial->stands_for : 0;
        n_drawn_hidden += trial->is_true && !is_open;
        assert_int_equal(trial->is_seen, is_seen(f, query, trial->values[0]));
        assert_true(trial->is_seen || trial->is_true);
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(trial->values[0], trials->items[j].values[0]);
    }
    assert_true(n_drawn_hidden > 0 || n_open >= 10);
    if (n_open >= 10 && n_answers - n_open >= 10) {
        sum->n_both++;
        sum->n_hidden += n_drawn_hidden;
    }
    if (n_drawn_hidden > 0 && (n_drawn_hidden < trials->n_true || n_open == 0))
        assert_true(fabs(stands_for - (double)n_answers) < 1e-6);
}

static void test_trials_are_what_they_say(void **state)
{
    (void)state;
    fixture f;
    counts sum = {0};
    fixture_init(&f);
    for (uint64_t key = 0; key < N_QUESTIONS; key++) {
        acq_query *query;
        acq_trials trials, again;
        acq_random random = acq_random_start(3, key), same = random;
        assert_int_equal(acq_question_draw(f.c.sampler, f.rest, key % 3 == 0, key % 3 != 1, 1, key,
                                           &query, NULL),
                         ACQ_OK);
        if (query == NULL)
            continue;
        assert_int_equal(acq_trials_draw(&f.source, query, 2, &random, &trials, NULL), ACQ_OK);
        assert_int_equal(acq_trials_draw(&f.source, query, 2, &same, &again, NULL), ACQ_OK);
        assert_int_equal(trials.n, again.n);
        for (size_t i = 0; i < trials.n; i++)
            assert_memory_equal(trials.items[i].values, again.items[i].values,
                                query->n_free * sizeof(acq_ent));
        if (query->n_free == 1)
            check_single(&f, query, &trials, &sum);
        acq_query_free(query);
    }
    assert_true(sum.n_used > 300 && sum.n_useless > 10 && sum.n_both > 30);
    double share = (double)sum.n_hidden / (10.0 * (double)sum.n_both);
    assert_true(share > .6 && share < .73);
    fixture_deinit(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_trials_are_what_they_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
