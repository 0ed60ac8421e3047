/* laws.c - the laws of probability between queries, on random graphs, links and queries, through
 * the engine as every command uses it: 20,000 cases.
 *
 *   one number   ask for all, ask for some, check; atoms in another order, repeated, negated twice
 *   links        p of a query that asks for a link alone is the link's; a denial has 1 - p
 *   order        a condition never raises p, an alternative never lowers it, an existential has at
 *                least the p of each value, a conjunction of ground parts between 1 - sum (1 - p)
 *                and the least part
 *   facts first  what the facts' tuples are judged to be early is what the whole question says, and
 *                every tuple by facts is there; with a limit nothing is better than they are
 *   certain      p is 1 exactly when observed positive facts make the answer, with any values */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "calibrate/calibrator.h"
#include "calibrate/worlds.h"
#include "engine/engine.h"
#include "support/case.h"
#include "support/scale.h"

enum { N_CASES = SCALE(20000, 2000), MOST_TREE = 400 };

static test_case c;
static acq_random random_;
static acq_predictor_ops ops;

static double get_floor(const acq_predictor *self)
{
    (void)self;
    return .002;
}

/* A query whose tree is the test's own; the rest is the case's. */
static acq_query with_root(acq_node *root)
{
    acq_query query = *c.query;
    query.root = root;
    query.graph = NULL;
    return query;
}

static acq_engine_params get_params(uint64_t limit)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    params.search.seconds = 0;
    params.search.limit = limit;
    params.min_p = 0;
    return params;
}

/* p of a tuple, supported or not. */
static double check_p(const acq_query *query, const acq_ent *values)
{
    acq_engine_params params = get_params(1);
    acq_engine_result result;
    assert_int_equal(acq_engine_check(query, &c.predictor, values, &params, &result, NULL), ACQ_OK);
    double p = result.p_whole;
    if (result.n_answers > 0)
        assert_true(result.answers[0].p == p);
    assert_true(p >= 0 && p <= 1);
    acq_engine_result_deinit(&result);
    return p;
}

/* ---- one number ---- */

static void check_answers(uint64_t limit, double *p_any)
{
    acq_engine_params params = get_params(limit);
    acq_engine_result result;
    assert_int_equal(acq_engine_ask(c.query, &c.predictor, &params, &result, NULL), ACQ_OK);
    *p_any = result.p_whole;
    for (size_t i = 0; i < result.n_answers; i++) {
        const acq_engine_answer *answer = &result.answers[i];
        assert_true(i == 0 || answer->p <= result.answers[i - 1].p);
        if (i < 3 || i == result.n_answers - 1)
            assert_true(answer->p == check_p(c.query, answer->values));
        assert_true(c.query->n_free == 0 || answer->p <= *p_any);
        assert_true(c.query->n_free == 0 || answer->p_if_answered >= answer->p);
    }
    acq_engine_result_deinit(&result);
}

/* ---- other spellings ---- */

static acq_node pool[MOST_TREE];
static acq_node *children[4 * MOST_TREE];
static size_t n_pool, n_children;

static acq_node *make_node(acq_node_kind kind, uint32_t n)
{
    assert_true(n_pool < MOST_TREE && n_children + n <= 4 * MOST_TREE);
    acq_node *node = &pool[n_pool++];
    *node = (acq_node){.kind = kind, .children = children + n_children, .n_children = n};
    n_children += n;
    return node;
}

static acq_node *join(acq_node_kind kind, acq_node *left, acq_node *right)
{
    acq_node *node = make_node(kind, 2);
    node->children[0] = left;
    node->children[1] = right;
    return node;
}

static acq_node *negate(acq_node *child)
{
    acq_node *node = make_node(ACQ_NODE_NOT, 1);
    node->children[0] = child;
    return node;
}

static bool draw(unsigned one_in)
{
    return acq_random_below(&random_, one_in) == 0;
}

/* Children in another order, some twice, some negated twice; atoms turned around at times. */
static acq_node *respell(const acq_node *node)
{
    uint32_t n = node->n_children;
    bool is_list = node->kind == ACQ_NODE_AND || node->kind == ACQ_NODE_OR;
    bool repeats = is_list && n > 0 && draw(4);
    acq_node *out = make_node(node->kind, n + repeats);
    acq_node **list = out->children;
    *out = *node;
    out->children = list;
    for (uint32_t i = 0; i < n; i++)
        list[i] = respell(node->children[i]);
    for (uint32_t i = n; is_list && i > 1; i--) {
        uint32_t j = (uint32_t)acq_random_below(&random_, i);
        acq_node *kept = list[i - 1];
        list[i - 1] = list[j];
        list[j] = kept;
    }
    if (repeats)
        list[n] = list[acq_random_below(&random_, n)];
    out->n_children = n + repeats;
    return draw(6) ? negate(negate(out)) : out;
}

static acq_node *draw_atom(bool may_negate)
{
    acq_node *atom = make_node(ACQ_NODE_ATOM, 0);
    acq_term *ends[2] = {&atom->left, &atom->right};
    uint32_t n_terms = c.query->n_variables + c.query->n_constants;
    atom->relation = (uint32_t)acq_random_below(&random_, c.query->n_relations);
    for (int i = 0; i < 2; i++) {
        uint32_t term = (uint32_t)acq_random_below(&random_, n_terms);
        bool is_variable = term < c.query->n_variables;
        *ends[i] = (acq_term){is_variable, is_variable ? term : term - c.query->n_variables};
    }
    return may_negate && draw(3) ? negate(atom) : atom;
}

/* ---- order ---- */

static void check_order(const acq_ent *values, double p)
{
    acq_query stricter = with_root(join(ACQ_NODE_AND, c.query->root, draw_atom(true)));
    acq_query laxer = with_root(join(ACQ_NODE_OR, draw_atom(true), c.query->root));
    assert_true(check_p(&stricter, values) <= p);
    assert_true(check_p(&laxer, values) >= p);
    acq_query closer = *c.query; /* one existential variable has a value */
    acq_ent more[CASE_MOST_VARIABLES];
    memcpy(more, values, sizeof more);
    if (closer.n_free < closer.n_variables) {
        more[closer.n_free++] = (acq_ent)acq_random_below(&random_, c.n_entities);
        assert_true(check_p(&closer, more) <= p);
    }
}

/* All variables have values: parts of a conjunction, each on its own. */
static void check_ground(void)
{
    acq_ent values[CASE_MOST_VARIABLES];
    acq_node *left = respell(c.query->root), *right = draw_atom(true);
    acq_query parts[2] = {with_root(left), with_root(right)};
    acq_query both = with_root(join(ACQ_NODE_AND, left, right));
    acq_query any = with_root(join(ACQ_NODE_OR, left, right));
    acq_query none = with_root(negate(both.root));
    double p[2];
    for (uint32_t i = 0; i < c.query->n_variables; i++)
        values[i] = (acq_ent)acq_random_below(&random_, c.n_entities);
    parts[0].n_free = parts[1].n_free = both.n_free = any.n_free = none.n_free =
        c.query->n_variables;
    for (int i = 0; i < 2; i++)
        p[i] = check_p(&parts[i], values);
    double p_both = check_p(&both, values), p_any = check_p(&any, values);
    assert_true(p_both <= fmin(p[0], p[1]) && p_both >= p[0] + p[1] - 1);
    assert_true(p_any >= fmax(p[0], p[1]) && p_any <= p[0] + p[1]);
    assert_true(p_both + p_any == p[0] + p[1]);
    assert_true(check_p(&none, values) == 1 - p_both);
}

/* ---- links ---- */

static void check_link(void)
{
    acq_ent values[2] = {(acq_ent)acq_random_below(&random_, c.n_entities),
                         (acq_ent)acq_random_below(&random_, c.n_entities)};
    acq_query_name names[2] = {c.query->relations[0], c.query->relations[0]};
    acq_node *atom = make_node(ACQ_NODE_ATOM, 0);
    atom->left = (acq_term){true, 0};
    atom->right = (acq_term){true, 1};
    acq_query query = with_root(atom), denial = with_root(negate(atom));
    query.variables = denial.variables = names;
    query.n_variables = denial.n_variables = query.n_free = denial.n_free = 2;
    double score = (double)c.table[c.query->relations[0].id][values[0]][values[1]];
    double p = check_p(&query, values);
    assert_true(p == acq_worlds_get_link_p(score));
    assert_true(score == 1 || fabs(p - score) <= 1.0 / ACQ_N_WORLDS);
    assert_true(check_p(&denial, values) == 1 - p);
}

/* ---- certain ---- */

/* By observed facts alone; whatever is denied is not sure. */
static bool is_sure(const acq_node *node, const acq_ent *values, bool is_negated)
{
    acq_ent ends[2];
    const acq_term terms[2] = {node->left, node->right};
    bool is_all = (node->kind == ACQ_NODE_AND) != is_negated;
    if (node->kind == ACQ_NODE_NOT)
        return is_sure(node->children[0], values, !is_negated);
    for (uint32_t i = 0; i < node->n_children; i++)
        if (is_sure(node->children[i], values, is_negated) != is_all)
            return !is_all;
    if (node->kind == ACQ_NODE_AND || node->kind == ACQ_NODE_OR)
        return is_all;
    for (int i = 0; i < 2; i++)
        ends[i] = terms[i].is_variable ? values[terms[i].id] : c.query->constants[terms[i].id].id;
    if (node->kind == ACQ_NODE_EQUAL)
        return (ends[0] == ends[1]) != is_negated;
    return !is_negated && c.table[c.query->relations[node->relation].id][ends[0]][ends[1]] == 1.0F;
}

static bool has_sure_values(uint32_t next, acq_ent *values)
{
    bool is_found = next == c.query->n_variables && is_sure(c.query->root, values, false);
    for (acq_ent e = 0; next < c.query->n_variables && e < c.n_entities && !is_found; e++) {
        values[next] = e;
        is_found = has_sure_values(next + 1, values);
    }
    return is_found;
}

/* Facts make it sure, and so may links together: r(a, b) or not r(a, b) holds in every world. */
static void check_certain(const acq_ent *given, double p)
{
    acq_ent values[CASE_MOST_VARIABLES];
    memcpy(values, given, sizeof values);
    bool is_conjunction = true;
    for (uint32_t i = 0; i < c.query->root->n_children; i++) {
        acq_node_kind kind = c.query->root->children[i]->kind;
        is_conjunction = is_conjunction && (kind == ACQ_NODE_ATOM || kind == ACQ_NODE_EQUAL);
    }
    if (pow(c.n_entities, c.query->n_variables - c.query->n_free) > 2000)
        return;
    bool is_certain = has_sure_values(c.query->n_free, values);
    assert_true(!is_certain || p == 1);
    if (is_conjunction && c.query->root->kind == ACQ_NODE_AND &&
        c.query->n_free == c.query->n_variables)
        assert_true(is_certain == (p == 1));
}

/* ---- facts first ---- */

static size_t n_early, n_early_best; /* so that the law is not kept by silence */

/* Read as a closed world: what is no fact is false. */
static bool holds(const acq_node *node, const acq_ent *values)
{
    const acq_term terms[2] = {node->left, node->right};
    acq_ent ends[2];
    bool is_all = node->kind == ACQ_NODE_AND;
    if (node->kind == ACQ_NODE_NOT)
        return !holds(node->children[0], values);
    for (uint32_t i = 0; i < node->n_children; i++)
        if (holds(node->children[i], values) != is_all)
            return !is_all;
    if (node->kind == ACQ_NODE_AND || node->kind == ACQ_NODE_OR)
        return is_all;
    for (int i = 0; i < 2; i++)
        ends[i] = terms[i].is_variable ? values[terms[i].id] : c.query->constants[terms[i].id].id;
    return node->kind == ACQ_NODE_EQUAL
               ? ends[0] == ends[1]
               : c.table[c.query->relations[node->relation].id][ends[0]][ends[1]] == 1.0F;
}

static bool has_closed_values(uint32_t next, acq_ent *values)
{
    bool is_found = next == c.query->n_variables && holds(c.query->root, values);
    for (acq_ent e = 0; next < c.query->n_variables && e < c.n_entities && !is_found; e++) {
        values[next] = e;
        is_found = has_closed_values(next + 1, values);
    }
    return is_found;
}

static const acq_engine_answer *find(const acq_engine_result *in, const acq_ent *tuple)
{
    for (size_t i = 0; i < in->n_answers; i++)
        if (memcmp(in->answers[i].values, tuple, c.query->n_free * sizeof *tuple) == 0)
            return &in->answers[i];
    return NULL;
}

static void check_all_early(const acq_engine_result *all)
{
    acq_engine_params params = get_params(0);
    acq_engine_result early;
    assert_int_equal(acq_engine_ask_facts(c.query, &c.predictor, &params, 0, &early, NULL), ACQ_OK);
    for (size_t i = 0; i < early.n_answers; i++) {
        const acq_engine_answer *said = &early.answers[i], *whole = find(all, said->values);
        assert_non_null(whole);
        assert_true(said->p == whole->p && said->score == whole->score);
        assert_true(said->p_if_answered == whole->p_if_answered);
    }
    n_early += early.n_answers;
    for (size_t i = 0; i < all->n_answers; i++) {
        acq_ent values[CASE_MOST_VARIABLES];
        memcpy(values, all->answers[i].values, c.query->n_free * sizeof *values);
        if (pow(c.n_entities, c.query->n_variables - c.query->n_free) <= 500)
            assert_true(has_closed_values(c.query->n_free, values) ==
                        (find(&early, all->answers[i].values) != NULL));
    }
    acq_engine_result_deinit(&early);
}

static void check_best_early(const acq_engine_result *all)
{
    uint64_t limit = 1 + acq_random_below(&random_, 3);
    acq_engine_params params = get_params(limit);
    acq_engine_result early;
    assert_int_equal(acq_engine_ask_facts(c.query, &c.predictor, &params, 0, &early, NULL), ACQ_OK);
    assert_true(early.n_answers <= limit && early.n_answers <= all->n_answers);
    for (size_t i = 0; i < early.n_answers; i++) {
        const acq_engine_answer *whole = find(all, early.answers[i].values);
        assert_true(whole != NULL && whole->p == early.answers[i].p);
        assert_true(early.answers[i].p == all->answers[i].p);
    }
    n_early_best += early.n_answers;
    acq_engine_result_deinit(&early);
}

static void check_facts_first(void)
{
    acq_engine_params params = get_params(0);
    acq_engine_result all;
    if (c.query->n_free == 0)
        return;
    assert_int_equal(acq_engine_ask(c.query, &c.predictor, &params, &all, NULL), ACQ_OK);
    check_all_early(&all);
    check_best_early(&all);
    acq_engine_result_deinit(&all);
}

/* ---- */

static void set_up(uint64_t seed, acq_calibrator *calibrator)
{
    case_init(&c, seed);
    random_ = acq_random_start(seed, 17);
    n_pool = n_children = 0;
    ops = *c.predictor.ops;
    ops.get_floor = get_floor;
    c.predictor.ops = &ops;
    c.predictor.graph = case_build_graph(&c);
    calibrator->joint = (double)acq_random_below(&random_, 5) / 4;
    calibrator->if_slope = draw(2) ? 1 : .3;
    acq_calibrator_lend(calibrator, &c.predictor);
}

static void tear_down(void)
{
    acq_graph_free((acq_graph *)c.predictor.graph);
    case_deinit(&c);
}

static void test_laws(void **state)
{
    (void)state;
    acq_calibrator *calibrator = acq_calibrator_new();
    assert_non_null(calibrator);
    for (uint64_t seed = 1; seed <= count_cases(N_CASES); seed++) {
        acq_ent values[CASE_MOST_VARIABLES] = {0};
        double p_all, p_some;
        set_up(seed, calibrator);
        for (uint32_t i = 0; i < c.query->n_free; i++)
            values[i] = (acq_ent)acq_random_below(&random_, c.n_entities);
        double p = check_p(c.query, values);
        acq_query other = with_root(respell(c.query->root));
        if (check_p(&other, values) != p)
            fail_msg("seed %llu: another spelling, another p", (unsigned long long)seed);
        check_order(values, p);
        check_ground();
        check_link();
        check_certain(values, p);
        if (seed % 4 == 0) {
            check_answers(0, &p_all);
            check_answers(1 + acq_random_below(&random_, 3), &p_some);
            assert_true(p_all == p_some || (isnan(p_all) && isnan(p_some)));
            assert_true(c.query->n_free == 0 || !(p_all < p));
            check_facts_first();
        }
        tear_down();
    }
    assert_true(n_early > count_cases(N_CASES) / 4 && n_early_best > 0);
    acq_calibrator_free(calibrator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_laws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
