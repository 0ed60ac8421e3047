/* QTO and FIT against brute force: on random trees, and FIT on random conjunctions of literals with
 * cycles, parallel atoms, loops, atoms between constants and negated ones anywhere, every
 * assignment of all variables is tried with their connectives. Queries are drawn here, printed as a
 * formula and read by the engine; the oracle works on what was drawn. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "engine/engine.h"
#include "query/query.h"
#include "support/case.h"

enum { MOST_VARIABLES = 4, ROOM = 16, MOST_ATOMS = 12, CASES = 2000 };

typedef struct tree_atom {
    uint32_t relation, variable;
    uint32_t other;                       /* a child variable, or a constant */
    bool is_child, is_negated, is_turned; /* turned: written relation(variable, other) */
    bool is_or;                           /* joined with the next atom by "or" */
} tree_atom;

typedef struct tree_case {
    test_case *links;
    uint32_t n_variables, n_atoms;
    tree_atom atoms[MOST_ATOMS];
    bool is_minimum;
    double scale;
} tree_case;

static void add_atom(tree_case *c, acq_random *random, uint32_t variable, bool is_child,
                     uint32_t other)
{
    c->atoms[c->n_atoms++] =
        (tree_atom){.relation = (uint32_t)acq_random_below(random, c->links->n_relations),
                    .variable = variable,
                    .other = other,
                    .is_child = is_child,
                    .is_turned = acq_random_below(random, 2) == 1};
}

static uint32_t draw_entity(const tree_case *c, acq_random *random)
{
    return (uint32_t)acq_random_below(random, c->links->n_entities);
}

static void draw_tree(tree_case *c, acq_random *random)
{
    c->n_variables = 1 + (uint32_t)acq_random_below(random, MOST_VARIABLES);
    for (uint32_t v = 1; v < c->n_variables; v++)
        add_atom(c, random, (uint32_t)acq_random_below(random, v), true, v);
    for (uint32_t v = 0; v < c->n_variables; v++)
        if (acq_random_below(random, 5) > 0 || c->n_variables == 1)
            add_atom(c, random, v, false, draw_entity(c, random));
    if (acq_random_below(random, 2) == 0) {
        add_atom(c, random, (uint32_t)acq_random_below(random, c->n_variables), false,
                 draw_entity(c, random));
        c->atoms[c->n_atoms - 1].is_negated = true;
    }
    if (acq_random_below(random, 4) == 0) {
        uint32_t v = (uint32_t)acq_random_below(random, c->n_variables);
        add_atom(c, random, v, false, draw_entity(c, random));
        c->atoms[c->n_atoms - 1].is_or = true;
        add_atom(c, random, v, false, draw_entity(c, random));
    }
}

static double link_score(const tree_case *c, const tree_atom *atom, uint32_t value, uint32_t other)
{
    return atom->is_turned ? (double)c->links->table[atom->relation][value][other]
                           : (double)c->links->table[atom->relation][other][value];
}

static double join(const tree_case *c, double x, double y)
{
    return c->is_minimum ? fmin(x, y) : x * y;
}

/* What the subtree of a variable says under one assignment. */
static double score_variable(const tree_case *c, const uint32_t *values, uint32_t variable)
{
    double result = 1.0;
    for (uint32_t i = 0; i < c->n_atoms; i++) {
        const tree_atom *atom = &c->atoms[i];
        if (atom->variable != variable)
            continue;
        uint32_t other = atom->is_child ? values[atom->other] : atom->other;
        double score = link_score(c, atom, values[variable], other);
        if (atom->is_child)
            score *= score_variable(c, values, atom->other);
        if (atom->is_negated)
            score = 1.0 - fmin(1.0, c->scale * score);
        if (atom->is_or) {
            double next = link_score(c, &c->atoms[i + 1], values[variable], c->atoms[i + 1].other);
            score = c->is_minimum ? fmax(score, next) : score + next - score * next;
            i++;
        }
        result = join(c, result, score);
    }
    return result;
}

static double best_from(const tree_case *c, uint32_t *values, uint32_t variable)
{
    double best = 0;
    if (variable == c->n_variables)
        return score_variable(c, values, 0);
    for (uint32_t e = 0; e < c->links->n_entities; e++) {
        values[variable] = e;
        best = fmax(best, best_from(c, values, variable + 1));
    }
    return best;
}

static void print_atom(const tree_case *c, uint32_t i, acq_text *out)
{
    const tree_atom *atom = &c->atoms[i];
    char variable[8], other[8];
    snprintf(variable, sizeof variable, atom->variable == 0 ? "f1" : "e%u", atom->variable);
    snprintf(other, sizeof other, atom->is_child ? "e%u" : "s%u", atom->other + !atom->is_child);
    acq_text_format(out, atom->is_negated ? "(!(r%u(%s,%s)))" : "(r%u(%s,%s))", atom->relation + 1,
                    atom->is_turned ? variable : other, atom->is_turned ? other : variable);
}

static acq_query *make_query(const tree_case *c)
{
    acq_text text;
    acq_query *query = NULL;
    acq_text_init(&text);
    for (uint32_t i = 0; i < c->n_atoms; i++) {
        acq_text_add(&text, i > 0 ? "&" : "");
        acq_text_add(&text, c->atoms[i].is_or ? "(" : "");
        print_atom(c, i, &text);
        if (c->atoms[i].is_or) {
            acq_text_add(&text, "|");
            print_atom(c, ++i, &text);
            acq_text_add(&text, ")");
        }
    }
    assert_int_equal(acq_query_parse_benchmark(text.bytes, text.length, &query, NULL), ACQ_OK);
    for (uint32_t i = 0; i < query->n_relations; i++) {
        query->relations[i].is_id = true;
        query->relations[i].id = (uint32_t)atoi(query->relations[i].text + 1) - 1;
    }
    for (uint32_t i = 0; i < query->n_constants; i++) {
        query->constants[i].is_id = true;
        query->constants[i].id = (uint32_t)atoi(query->constants[i].text + 1) - 1;
    }
    acq_text_deinit(&text);
    return query;
}

static uint32_t number_of(const acq_query *query, const char *name)
{
    for (uint32_t i = 0; i < query->n_variables; i++)
        if (strcmp(query->variables[i].text, name) == 0)
            return i;
    return ACQ_NO_ID;
}

/* The witness of an answer reaches its degree. */
static void check_witness(const tree_case *c, const acq_query *query,
                          const acq_engine_answer *answer)
{
    uint32_t values[ROOM];
    char name[8];
    values[0] = answer->values[0];
    for (uint32_t v = 1; v < c->n_variables; v++) {
        snprintf(name, sizeof name, "e%u", v);
        values[v] = answer->values[number_of(query, name)];
    }
    assert_true(fabs(score_variable(c, values, 0) - answer->score) < 1e-6);
}

static void check_case(tree_case *c)
{
    acq_query *query = make_query(c);
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_error error = {0};
    params.engine = c->is_minimum ? ACQ_ENGINE_fit : ACQ_ENGINE_qto;
    params.search.negation_scale = c->scale;
    params.search.limit = 0;
    double best = 0, threshold = params.search.scoring.threshold;
    size_t n_reach = 0;
    for (acq_ent e = 0; e < c->links->n_entities; e++) {
        uint32_t values[ROOM] = {e};
        acq_engine_result result;
        double wanted = best_from(c, values, 1);
        acq_status status =
            acq_engine_check(query, &c->links->predictor, &e, &params, &result, &error);
        if (status != ACQ_OK)
            fail_msg("%s", error.message);
        assert_true(fabs(result.likeliest->score - wanted) < 1e-6);
        check_witness(c, query, result.likeliest);
        acq_engine_result_deinit(&result);
        best = fmax(best, wanted);
        n_reach += wanted >= threshold;
    }
    acq_engine_result all;
    assert_int_equal(acq_engine_ask(query, &c->links->predictor, &params, &all, &error), ACQ_OK);
    assert_true(all.n_answers == n_reach || fabs(best - threshold) < 1e-6);
    if (all.n_answers > 0)
        assert_true(fabs(all.answers[0].score - best) < 1e-6);
    for (size_t i = 1; i < all.n_answers; i++)
        assert_true(all.answers[i - 1].score >= all.answers[i].score);
    acq_engine_result_deinit(&all);
    acq_query_free(query);
}

static void test_degrees_are_the_best_over_all_assignments(void **state)
{
    (void)state;
    test_case *links = malloc(sizeof *links);
    size_t n_done = 0, n_large = 0;
    assert_non_null(links);
    for (uint64_t seed = 1; n_done < CASES; seed++) {
        case_init(links, seed);
        acq_graph *graph = case_build_graph(links);
        if (links->n_entities <= 7 && graph != NULL) {
            tree_case c = {.links = links, .is_minimum = seed % 2 == 0};
            acq_random random = acq_random_start(seed, 77);
            links->predictor.graph = graph;
            c.scale = seed % 3 == 0 ? 3.0 : 1.0;
            draw_tree(&c, &random);
            check_case(&c);
            n_done++;
            n_large += c.n_variables >= 3 && links->n_entities >= 4;
        }
        acq_graph_free(graph);
        case_deinit(links);
    }
    assert_true(n_large > 300);
    free(links);
}

/* ---- FIT on any conjunction ---- */

enum { MOST_TERMS = 7, FIRST_CONSTANT = 4, MOST_EXTRA = 4, MOST_LITERALS = 8 };

typedef struct graph_atom {
    uint32_t relation, left, right; /* terms: variables below FIRST_CONSTANT, then constants */
    bool is_negated;
} graph_atom;

typedef struct graph_case {
    test_case *links;
    uint32_t n_variables, n_atoms;
    uint32_t constants[MOST_TERMS]; /* their values, by term */
    graph_atom atoms[MOST_LITERALS];
    double scale;
} graph_case;

static uint32_t draw_term(const graph_case *c, acq_random *random)
{
    if (acq_random_below(random, 6) == 0)
        return FIRST_CONSTANT + (uint32_t)acq_random_below(random, MOST_TERMS - FIRST_CONSTANT);
    return (uint32_t)acq_random_below(random, c->n_variables);
}

static void draw_graph(graph_case *c, acq_random *random)
{
    c->n_variables = 1 + (uint32_t)acq_random_below(random, FIRST_CONSTANT);
    c->n_atoms = c->n_variables + (uint32_t)acq_random_below(random, MOST_EXTRA);
    uint32_t n = c->n_variables;
    bool is_ring = n > 2 && acq_random_below(random, 2) == 0;
    for (uint32_t t = FIRST_CONSTANT; t < MOST_TERMS; t++)
        c->constants[t] = (uint32_t)acq_random_below(random, c->links->n_entities);
    for (uint32_t i = 0; i < c->n_atoms; i++)
        c->atoms[i] =
            (graph_atom){.relation = (uint32_t)acq_random_below(random, c->links->n_relations),
                         .left = i == 0 || (is_ring && i < n) ? i : draw_term(c, random),
                         .right = is_ring && i < n ? (i + 1) % n : draw_term(c, random),
                         .is_negated = acq_random_below(random, 4) == 0};
}

static double score_graph(const graph_case *c, const uint32_t *values, bool is_minimum)
{
    double result = 1;
    for (uint32_t i = 0; i < c->n_atoms; i++) {
        const graph_atom *atom = &c->atoms[i];
        double x = (double)c->links->table[atom->relation][values[atom->left]][values[atom->right]];
        x = atom->is_negated ? 1 - fmin(1, c->scale * x) : x;
        result = is_minimum ? fmin(result, x) : result * x;
    }
    return result;
}

static double best_of_graph(const graph_case *c, uint32_t *values, uint32_t variable,
                            bool is_minimum)
{
    double best = 0;
    if (variable == c->n_variables)
        return score_graph(c, values, is_minimum);
    for (values[variable] = 0; values[variable] < c->links->n_entities; values[variable]++)
        best = fmax(best, best_of_graph(c, values, variable + 1, is_minimum));
    return best;
}

static void print_term(uint32_t term, acq_text *out)
{
    if (term == 0)
        acq_text_add(out, "f1");
    else
        acq_text_format(out, term < FIRST_CONSTANT ? "e%u" : "s%u", term);
}

static acq_query *make_graph_query(const graph_case *c)
{
    acq_text text;
    acq_query *query = NULL;
    acq_text_init(&text);
    for (uint32_t i = 0; i < c->n_atoms; i++) {
        const graph_atom *atom = &c->atoms[i];
        acq_text_format(&text, "%s(%sr%u(", i > 0 ? "&" : "", atom->is_negated ? "!" : "",
                        atom->relation + 1);
        print_term(atom->left, &text);
        acq_text_add(&text, ",");
        print_term(atom->right, &text);
        acq_text_add(&text, "))");
    }
    assert_int_equal(acq_query_parse_benchmark(text.bytes, text.length, &query, NULL), ACQ_OK);
    for (uint32_t i = 0; i < query->n_relations; i++) {
        query->relations[i].is_id = true;
        query->relations[i].id = (uint32_t)atoi(query->relations[i].text + 1) - 1;
    }
    for (uint32_t i = 0; i < query->n_constants; i++) {
        query->constants[i].is_id = true;
        query->constants[i].id = c->constants[atoi(query->constants[i].text + 1)];
    }
    acq_text_deinit(&text);
    return query;
}

/* The degree of every entity; limit 0 and a threshold that all reach make the engine find and
 * verify the assignment of each. */
static void rank_graph(const graph_case *c, const acq_query *query, acq_t_norm norm,
                       double *degrees)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    acq_error error = {0};
    params.engine = ACQ_ENGINE_fit;
    params.search.negation_scale = c->scale;
    params.search.limit = 0;
    params.search.t_norm = norm;
    params.search.scoring.threshold = 1e-300;
    params.has_threshold = true;
    if (acq_engine_ask(query, &c->links->predictor, &params, &result, &error) != ACQ_OK)
        fail_msg("%s", error.message);
    assert_true(result.complete);
    for (uint32_t e = 0; e < c->links->n_entities; e++)
        degrees[e] = 0;
    for (size_t i = 0; i < result.n_answers; i++)
        degrees[result.answers[i].values[0]] = result.answers[i].score;
    acq_engine_result_deinit(&result);
}

static size_t check_graph(const graph_case *c)
{
    acq_query *query = make_graph_query(c);
    double product[ROOM], minimum[ROOM], mixed[ROOM];
    size_t n_found = 0;
    rank_graph(c, query, ACQ_NORM_PRODUCT, product);
    rank_graph(c, query, ACQ_NORM_MINIMUM, minimum);
    rank_graph(c, query, ACQ_NORM_MIXED, mixed);
    for (uint32_t e = 0; e < c->links->n_entities; e++) {
        uint32_t values[MOST_TERMS] = {e};
        for (uint32_t t = FIRST_CONSTANT; t < MOST_TERMS; t++)
            values[t] = c->constants[t];
        double wanted = best_of_graph(c, values, 1, false);
        if (fabs(product[e] - wanted) > 1e-9)
            fail_msg("product %.9g, brute force %.9g", product[e], wanted);
        wanted = best_of_graph(c, values, 1, true);
        if (fabs(minimum[e] - wanted) > 1e-9)
            fail_msg("minimum %.9g, brute force %.9g", minimum[e], wanted);
        assert_true(product[e] <= mixed[e] + 1e-9 && mixed[e] <= minimum[e] + 1e-9);
        n_found += wanted > 0;
    }
    acq_query_free(query);
    return n_found;
}

/* Variables with two neighbours or more, all around: then there is a cycle. */
static bool has_cycle(const graph_case *c)
{
    uint32_t top[FIRST_CONSTANT];
    for (uint32_t v = 0; v < FIRST_CONSTANT; v++)
        top[v] = v;
    for (uint32_t i = 0; i < c->n_atoms; i++) {
        uint32_t a = c->atoms[i].left, b = c->atoms[i].right;
        bool is_parallel = false;
        for (uint32_t j = 0; j < i; j++)
            is_parallel = is_parallel || (c->atoms[j].left == a && c->atoms[j].right == b) ||
                          (c->atoms[j].left == b && c->atoms[j].right == a);
        if (a >= FIRST_CONSTANT || b >= FIRST_CONSTANT || a == b || is_parallel)
            continue;
        while (top[a] != a)
            a = top[a];
        while (top[b] != b)
            b = top[b];
        if (a == b)
            return true;
        top[a] = b;
    }
    return false;
}

static void test_fit_is_the_best_over_all_assignments_of_any_conjunction(void **state)
{
    (void)state;
    test_case *links = malloc(sizeof *links);
    size_t n_done = 0, n_cyclic = 0, n_found = 0;
    assert_non_null(links);
    for (uint64_t seed = 1; n_done < CASES; seed++) {
        case_init(links, seed);
        acq_graph *graph = case_build_graph(links);
        if (links->n_entities <= 7 && graph != NULL) {
            graph_case c = {.links = links, .scale = seed % 3 == 0 ? 3.0 : 1.0};
            acq_random random = acq_random_start(seed, 78);
            links->predictor.graph = graph;
            draw_graph(&c, &random);
            n_found += check_graph(&c);
            n_cyclic += has_cycle(&c);
            n_done++;
        }
        acq_graph_free(graph);
        case_deinit(links);
    }
    if (n_cyclic < 300 || n_found < 2000)
        fail_msg("%zu queries with cycles, %zu answers", n_cyclic, n_found);
    free(links);
}

typedef struct refusal {
    const char *formula, *why;
} refusal;

static const refusal refusals[] = {
    {"(r1(s1,e1))&(r1(e1,f1))&(r1(s1,f1))&(r1(f1,e1))", "its atoms form a cycle"},
    {"(r1(f1,f1))", "its atoms form a cycle"},
    {"(r1(s1,f1))&(r1(f1,f2))", "it has not one free variable"},
    {"(r1(s1,f1))&(r1(s1,s1))", "it has an atom between two constants"},
    {"(r1(s1,f1))&(r1(s1,e1))", "its parts do not hang together"},
    {"(r1(e1,f1))&((r1(s1,f1))|(r1(s1,e1)))", "an \"or\" is over several variables"},
    {"(r1(s1,e1))&(!(r1(e1,f1)))&(r1(s2,f1))", "a negated atom is between two variables"},
};

static void test_queries_outside_are_refused_by_name(void **state)
{
    (void)state;
    test_case *links = malloc(sizeof *links);
    assert_non_null(links);
    case_init(links, 1);
    links->predictor.graph = case_build_graph(links);
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        acq_query *query;
        acq_engine_params params = ACQ_ENGINE_DEFAULT;
        acq_engine_result result;
        acq_error error = {0};
        const char *text = refusals[i].formula;
        assert_int_equal(acq_query_parse_benchmark(text, strlen(text), &query, NULL), ACQ_OK);
        for (uint32_t k = 0; k < query->n_relations; k++) {
            query->relations[k].is_id = true;
            query->relations[k].id = 0;
        }
        for (uint32_t k = 0; k < query->n_constants; k++) {
            query->constants[k].is_id = true;
            query->constants[k].id = 0;
        }
        params.engine = ACQ_ENGINE_qto;
        assert_int_equal(acq_engine_ask(query, &links->predictor, &params, &result, &error),
                         ACQ_ERR_INPUT);
        if (strstr(error.message, refusals[i].why) == NULL)
            fail_msg("%s: %s", text, error.message);
        acq_engine_result_deinit(&result);
        acq_query_free(query);
    }
    acq_graph_free((acq_graph *)links->predictor.graph);
    case_deinit(links);
    free(links);
}

/* Every entity is linked to every other one, both ways: a triangle without a constant. */
static void test_the_cost_of_cycles_is_known_before(void **state)
{
    (void)state;
    test_case *links = malloc(sizeof *links);
    const char *text = "(r1(f1,e1))&(r1(e1,e2))&(r1(e2,f1))";
    acq_query *query;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    acq_error error = {0};
    uint64_t seed = 1;
    assert_non_null(links);
    for (case_init(links, seed); links->n_entities < 4 || links->n_entities > 7;) {
        case_deinit(links);
        case_init(links, ++seed);
    }
    links->predictor.graph = case_build_graph(links);
    assert_int_equal(acq_query_parse_benchmark(text, strlen(text), &query, NULL), ACQ_OK);
    query->relations[0].is_id = true;
    query->relations[0].id = 0;
    params.engine = ACQ_ENGINE_fit;
    params.search.steps = 1000;
    assert_int_equal(acq_engine_ask(query, &links->predictor, &params, &result, &error), ACQ_OK);
    if (result.complete && result.note != NULL)
        assert_non_null(strstr(result.note, "assignments of the variables on cycles"));
    acq_engine_result_deinit(&result);
    params.search.steps = 1;
    assert_int_equal(acq_engine_ask(query, &links->predictor, &params, &result, &error),
                     ACQ_ERR_LIMIT);
    assert_non_null(strstr(error.message, "more than --steps 1;"));
    acq_engine_result_deinit(&result);
    params.search.steps = 0;
    params.search.seconds = 1e-9;
    assert_int_equal(acq_engine_ask(query, &links->predictor, &params, &result, NULL), ACQ_OK);
    assert_int_equal(result.outcome, ACQ_UNDECIDED);
    acq_engine_result_deinit(&result);
    acq_query_free(query);
    acq_graph_free((acq_graph *)links->predictor.graph);
    case_deinit(links);
    free(links);
}

static void test_networks_want_their_weights(void **state)
{
    (void)state;
    test_case *links = malloc(sizeof *links);
    acq_query *query;
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    acq_error error = {0};
    assert_non_null(links);
    case_init(links, 1);
    links->predictor.graph = case_build_graph(links);
    assert_int_equal(acq_query_parse_benchmark("r1(s1,f1)", 9, &query, NULL), ACQ_OK);
    query->relations[0].is_id = query->constants[0].is_id = true;
    query->relations[0].id = query->constants[0].id = 0;
    params.engine = ACQ_ENGINE_ultraquery;
    assert_int_equal(acq_engine_ask(query, &links->predictor, &params, &result, &error),
                     ACQ_ERR_USAGE);
    assert_non_null(strstr(error.message, "--predictor ultra:MODEL"));
    acq_engine_result_deinit(&result);
    acq_query_free(query);
    acq_graph_free((acq_graph *)links->predictor.graph);
    case_deinit(links);
    free(links);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_degrees_are_the_best_over_all_assignments),
        cmocka_unit_test(test_fit_is_the_best_over_all_assignments_of_any_conjunction),
        cmocka_unit_test(test_queries_outside_are_refused_by_name),
        cmocka_unit_test(test_the_cost_of_cycles_is_known_before),
        cmocka_unit_test(test_networks_want_their_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
