/* case.c - see case.h. */
#include "support/case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/build.h"

const char *const case_feature_names[CASE_N_FEATURES] = {
    "cycle",        "identical atoms", "parallel atoms", "repeated variable", "constant",
    "several free", "negation",        "clause",         "inequality",        "scored links"};

static acq_status open_links(const acq_predictor *self, acq_rel relation, const acq_links **out,
                             acq_error *error)
{
    (void)error;
    *out = ((const test_case *)self)->links[relation];
    return ACQ_OK;
}

static const acq_predictor_ops CASE_OPS = {.open_links = open_links, .free = NULL};

static float draw_score(acq_random *random, bool scored, double density)
{
    static const float steps[] = {0.05F, 0.1F, 0.25F, 0.5F, 0.5F, 0.75F, 0.9F, 0.9999F, 1.0F};
    if (acq_random_unit(random) >= density)
        return 0.0F;
    if (!scored)
        return 1.0F;
    if (acq_random_below(random, 4) == 0)
        return (float)acq_random_unit(random) * 0.9998F;
    return steps[acq_random_below(random, sizeof steps / sizeof steps[0])];
}

static void fill_table(test_case *c, acq_random *random, bool scored)
{
    double density = (c->n_entities > 9 ? 0.01 : 0.15) + 0.6 * acq_random_unit(random);
    for (uint32_t r = 0; r < c->n_relations; r += 2)
        for (uint32_t h = 0; h < c->n_entities; h++)
            for (uint32_t t = 0; t < c->n_entities; t++)
                c->table[r][h][t] = c->table[r + 1][t][h] = draw_score(random, scored, density);
}

static void make_links(test_case *c, bool scored)
{
    for (uint32_t r = 0; r < c->n_relations; r++) {
        acq_link list[CASE_MOST_ENTITIES * CASE_MOST_ENTITIES];
        size_t n = 0;
        for (uint32_t h = 0; h < c->n_entities; h++)
            for (uint32_t t = 0; t < c->n_entities; t++)
                if (c->table[r][h][t] > 0)
                    list[n++] = (acq_link){h, t, c->table[r][h][t]};
        if (acq_links_new(list, n, c->n_entities, scored, &c->links[r]) != ACQ_OK)
            abort();
    }
}

typedef struct generator {
    test_case *c;
    acq_random *random;
    acq_arena *arena;
    acq_node *earlier[64]; /* atoms so far: to repeat, to make parallel, to close cycles */
    uint32_t n_earlier;
    uint32_t budget; /* atoms left */
} generator;

static uint64_t below(generator *g, uint64_t n)
{
    return acq_random_below(g->random, n);
}

static acq_node *new_node(generator *g, acq_node_kind kind, uint32_t n_children)
{
    acq_node *node = acq_arena_zalloc(g->arena, 1, sizeof *node);
    node->kind = kind;
    node->children = acq_arena_zalloc(g->arena, n_children, sizeof *node->children);
    node->n_children = n_children;
    return node;
}

static acq_term draw_term(generator *g)
{
    const acq_query *q = g->c->query;
    bool constant = q->n_constants > 0 && (q->n_variables == 0 || below(g, 6) == 0);
    return (acq_term){.is_variable = !constant,
                      .id = (uint32_t)below(g, constant ? q->n_constants : q->n_variables)};
}

static acq_node *draw_atom(generator *g)
{
    acq_node *node = new_node(g, ACQ_NODE_ATOM, 0);
    const acq_node *old = g->n_earlier > 0 ? g->earlier[below(g, g->n_earlier)] : NULL;
    uint64_t way = below(g, 14);
    node->relation = (uint32_t)below(g, g->c->query->n_relations);
    node->left = draw_term(g);
    node->right = draw_term(g);
    if (old != NULL && way == 0) {
        *node = *old; /* identical */
    } else if (old != NULL && way <= 2) {
        node->left = way == 1 ? old->left : old->right; /* parallel, either way round */
        node->right = way == 1 ? old->right : old->left;
    } else if (old != NULL && way <= 9) {
        node->left = old->right; /* a path: closes cycles sooner or later */
    }
    if (way > 1 && node->left.is_variable && node->right.is_variable &&
        node->left.id == node->right.id && below(g, 5) != 0) /* few loops */
        node->right.id = (node->right.id + 1) % g->c->query->n_variables;
    if (g->n_earlier < 64)
        g->earlier[g->n_earlier++] = node;
    return node;
}

static acq_node *negate(generator *g, acq_node *node)
{
    acq_node *not_node = new_node(g, ACQ_NODE_NOT, 1);
    not_node->children[0] = node;
    return not_node;
}

static acq_node *draw_literal(generator *g)
{
    if (below(g, 8) == 0) {
        acq_node *node = new_node(g, ACQ_NODE_EQUAL, 0);
        node->left = draw_term(g);
        node->right = draw_term(g);
        return below(g, 4) != 0 ? negate(g, node) : node;
    }
    acq_node *atom = draw_atom(g);
    return below(g, 5) == 0 ? negate(g, atom) : atom;
}

static acq_node *draw_tree(generator *g, uint32_t depth)
{
    if (g->budget > 0)
        g->budget--;
    if (depth == 0 || g->budget == 0 || below(g, 10) < 6)
        return draw_literal(g);
    uint32_t n = 1 + (uint32_t)below(g, 3);
    acq_node *node = new_node(g, below(g, 3) == 0 ? ACQ_NODE_AND : ACQ_NODE_OR, n);
    for (uint32_t i = 0; i < n; i++)
        node->children[i] = draw_tree(g, depth - 1);
    return below(g, 6) == 0 ? negate(g, node) : node;
}

static void draw_names(generator *g)
{
    static const char *const variables[CASE_MOST_VARIABLES] = {"v0", "v1", "v2", "v3", "v4"};
    acq_query *q = g->c->query;
    q->n_variables = (uint32_t)below(g, 20) == 0 ? 0 : 1 + (uint32_t)below(g, CASE_MOST_VARIABLES);
    if (g->c->n_entities > 9 && q->n_variables > 2)
        q->n_variables = 2 + (uint32_t)below(g, 4) / 3;
    q->n_free = (uint32_t)below(g, (q->n_variables < 3 ? q->n_variables : 3) + 1);
    if (g->c->n_entities > 9 && q->n_variables > 2 && q->n_free > 1)
        q->n_free = 1;
    q->n_constants = q->n_variables == 0 ? 2 : (uint32_t)below(g, 3);
    q->name = "Q";
    q->n_relations = g->c->n_relations;
    q->variables = acq_arena_zalloc(g->arena, q->n_variables, sizeof *q->variables);
    q->constants = acq_arena_zalloc(g->arena, q->n_constants, sizeof *q->constants);
    q->relations = acq_arena_zalloc(g->arena, q->n_relations, sizeof *q->relations);
    for (uint32_t i = 0; i < q->n_variables; i++)
        q->variables[i] = (acq_query_name){.text = variables[i], .length = 2, .id = ACQ_NO_ID};
    for (uint32_t i = 0; i < q->n_constants; i++)
        q->constants[i] = (acq_query_name){
            .text = "c", .length = 1, .is_id = true, .id = (uint32_t)below(g, g->c->n_entities)};
    for (uint32_t i = 0; i < q->n_relations; i++)
        q->relations[i] = (acq_query_name){.text = "r", .length = 1, .is_id = true, .id = i};
}

static void draw_query(test_case *c, acq_random *random)
{
    c->query = calloc(1, sizeof *c->query);
    acq_arena_init(&c->query->arena);
    generator g = {.c = c, .random = random, .arena = &c->query->arena};
    draw_names(&g);
    uint32_t style = (uint32_t)below(&g, 3); /* 0: plain conjunction, else trees */
    uint32_t n = 1 + (uint32_t)below(&g, style == 0 ? 8 : 5);
    g.budget = 9;
    acq_node *root = new_node(&g, ACQ_NODE_AND, n);
    for (uint32_t i = 0; i < n; i++)
        root->children[i] = style == 0 ? draw_literal(&g) : draw_tree(&g, 3);
    c->query->root = root;
    c->query->n_atoms = g.n_earlier;
}

typedef struct survey {
    test_case *c;
    const acq_node *atoms[64];
    uint32_t n;
    uint32_t parent[CASE_MOST_VARIABLES];
} survey;

static uint32_t find(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v)
        v = parent[v];
    return v;
}

static bool same_term(acq_term a, acq_term b)
{
    return a.is_variable == b.is_variable && a.id == b.id;
}

static void survey_atom(survey *s, const acq_node *node)
{
    bool *f = s->c->features;
    f[CASE_CONSTANT] |= !node->left.is_variable || !node->right.is_variable;
    f[CASE_LOOP] |= node->left.is_variable && same_term(node->left, node->right);
    bool known = false;
    for (uint32_t i = 0; i < s->n; i++) {
        const acq_node *old = s->atoms[i];
        bool straight = same_term(old->left, node->left) && same_term(old->right, node->right);
        bool crossed = same_term(old->left, node->right) && same_term(old->right, node->left);
        f[CASE_IDENTICAL] |= straight && old->relation == node->relation;
        f[CASE_PARALLEL] |= (straight && old->relation != node->relation) || crossed;
        known |= straight || crossed;
    }
    if (s->n < 64)
        s->atoms[s->n++] = node;
    if (!node->left.is_variable || !node->right.is_variable || known ||
        node->left.id == node->right.id)
        return;
    uint32_t a = find(s->parent, node->left.id), b = find(s->parent, node->right.id);
    f[CASE_CYCLE] |= a == b;
    s->parent[a] = b;
}

static void survey_tree(survey *s, const acq_node *node, bool negated)
{
    bool *f = s->c->features;
    switch (node->kind) {
    case ACQ_NODE_ATOM:
        f[CASE_NEGATION] |= negated;
        survey_atom(s, node);
        return;
    case ACQ_NODE_EQUAL:
        f[CASE_INEQUALITY] |= negated;
        return;
    case ACQ_NODE_NOT:
        survey_tree(s, node->children[0], !negated);
        return;
    case ACQ_NODE_AND:
    case ACQ_NODE_OR:
        break;
    }
    f[CASE_CLAUSE] |= (node->kind == ACQ_NODE_OR) != negated && node->n_children > 1;
    for (uint32_t i = 0; i < node->n_children; i++)
        survey_tree(s, node->children[i], negated);
}

static void draw_scoring(test_case *c, acq_random *random)
{
    static const double thresholds[] = {0.5, 0.5, 0.5, 0.05, 0.25, 0.9, 1.0};
    c->scoring = ACQ_SCORING_DEFAULT;
    c->scoring.threshold = thresholds[acq_random_below(random, 7)];
    if (acq_random_below(random, 6) == 0)
        c->scoring.binarize = 0.25 + 0.5 * acq_random_unit(random);
    if (acq_random_below(random, 6) == 0)
        c->scoring.negation_threshold = 0.1 + 0.9 * acq_random_unit(random);
}

void case_init(test_case *c, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 20260);
    *c = (test_case){.predictor = {.ops = &CASE_OPS, .name = "case"}};
    c->n_entities = 1 + (uint32_t)acq_random_below(&random, 6);
    if (acq_random_below(&random, 8) == 0)
        c->n_entities = 9;
    if (acq_random_below(&random, 60) == 0) /* wide: few variables, rows of different lengths */
        c->n_entities = 40 + (uint32_t)acq_random_below(&random, CASE_MOST_ENTITIES - 40 + 1);
    c->n_relations = 2 * (1 + (uint32_t)acq_random_below(&random, CASE_MOST_RELATIONS / 2));
    bool scored = acq_random_below(&random, 5) < 3;
    fill_table(c, &random, scored);
    make_links(c, scored);
    draw_query(c, &random);
    draw_scoring(c, &random);
    survey s = {.c = c};
    for (uint32_t i = 0; i < CASE_MOST_VARIABLES; i++)
        s.parent[i] = i;
    survey_tree(&s, c->query->root, false);
    c->features[CASE_SEVERAL_FREE] = c->query->n_free > 1;
    c->features[CASE_SCORED] = scored;
}

void case_deinit(test_case *c)
{
    for (uint32_t r = 0; r < c->n_relations; r++)
        acq_links_free(c->links[r]);
    acq_arena_deinit(&c->query->arena);
    free(c->query);
}

static double leaf_score(const test_case *c, const acq_node *node, const acq_ent *values,
                         bool negated)
{
    acq_ent left =
        node->left.is_variable ? values[node->left.id] : c->query->constants[node->left.id].id;
    acq_ent right =
        node->right.is_variable ? values[node->right.id] : c->query->constants[node->right.id].id;
    if (node->kind == ACQ_NODE_EQUAL)
        return (left == right) != negated;
    double score = c->table[c->query->relations[node->relation].id][left][right];
    if (c->scoring.binarize > 0)
        score = score >= c->scoring.binarize;
    if (!negated)
        return score;
    volatile float complement = (float)(1 - score); /* scores are floats */
    return c->scoring.negation_threshold > 0 ? score < c->scoring.negation_threshold : complement;
}

static double tree_score(const test_case *c, const acq_node *node, const acq_ent *values,
                         bool negated)
{
    if (node->kind == ACQ_NODE_ATOM || node->kind == ACQ_NODE_EQUAL)
        return leaf_score(c, node, values, negated);
    if (node->kind == ACQ_NODE_NOT)
        return tree_score(c, node->children[0], values, !negated);
    bool is_min = (node->kind == ACQ_NODE_AND) != negated;
    double result = is_min ? 1 : 0;
    for (uint32_t i = 0; i < node->n_children; i++) {
        double score = tree_score(c, node->children[i], values, negated);
        result = is_min ? fmin(result, score) : fmax(result, score);
    }
    return result;
}

double case_score(const test_case *c, const acq_ent *values)
{
    return tree_score(c, c->query->root, values, false);
}

size_t case_brute_force(const test_case *c, case_tuple **out)
{
    const acq_query *q = c->query;
    size_t n_tuples = 1, n_rest = 1;
    for (uint32_t i = 0; i < q->n_variables; i++)
        *(i < q->n_free ? &n_tuples : &n_rest) *= c->n_entities;
    case_tuple *tuples = calloc(n_tuples, sizeof *tuples);
    for (size_t t = 0; t < n_tuples; t++) {
        acq_ent values[CASE_MOST_VARIABLES] = {0};
        size_t code = t;
        for (uint32_t i = 0; i < q->n_free; i++, code /= c->n_entities)
            values[i] = tuples[t].values[i] = (acq_ent)(code % c->n_entities);
        for (size_t k = 0; k < n_rest; k++) {
            code = k;
            for (uint32_t i = q->n_free; i < q->n_variables; i++, code /= c->n_entities)
                values[i] = (acq_ent)(code % c->n_entities);
            tuples[t].score = fmax(tuples[t].score, case_score(c, values));
        }
    }
    *out = tuples;
    return n_tuples;
}

static void must(acq_status status)
{
    if (status != ACQ_OK)
        abort();
}

acq_graph *case_build_graph(const test_case *c)
{
    acq_graph *graph = NULL;
    acq_graph_builder *builder = acq_graph_builder_new();
    char name[16];
    uint32_t id;
    if (builder == NULL)
        abort();
    for (uint32_t i = 0; i < c->n_entities; i++) {
        int n = snprintf(name, sizeof name, "e%u", i);
        must(acq_graph_builder_add_entity(builder, name, (size_t)n, &id));
    }
    for (uint32_t i = 0; i < c->n_relations; i += 2) {
        int n = snprintf(name, sizeof name, "r%u", i);
        must(acq_graph_builder_add_relation(builder, name, (size_t)n, &id));
    }
    for (uint32_t r = 0; r < c->n_relations; r += 2)
        for (uint32_t h = 0; h < c->n_entities; h++)
            for (uint32_t t = 0; t < c->n_entities; t++)
                if (c->table[r][h][t] == 1.0F)
                    must(acq_graph_builder_add_fact(builder, h, r, t));
    must(acq_graph_builder_finish(builder, &graph, NULL));
    acq_graph_builder_free(builder);
    return graph;
}
