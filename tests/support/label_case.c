/* label_case.c - see label_case.h. */
#include "support/label_case.h"

#include <stdio.h>
#include <stdlib.h>

#include "graph/build.h"

enum { MOST_ENTITIES = 30 };

static void require(acq_status status)
{
    if (status != ACQ_OK)
        abort();
}

static float draw_score(acq_random *random, bool is_scored)
{
    float score = (float)(1 + acq_random_below(random, 20)) / 20.0F;
    return is_scored ? score : 1.0F;
}

static void draw_relation(test_case *c, acq_rel r, acq_random *random)
{
    double density = 0.02 + 0.4 * acq_random_unit(random) * acq_random_unit(random);
    for (uint32_t h = 0; h < c->n_entities; h++)
        for (uint32_t t = 0; t < c->n_entities; t++) {
            bool has = acq_random_unit(random) < density;
            c->table[r][h][t] = has ? draw_score(random, c->features[CASE_SCORED]) : 0.0F;
            c->table[r + 1][t][h] = c->table[r][h][t];
        }
}

static void make_links(test_case *c, acq_rel r)
{
    static acq_link list[CASE_MOST_ENTITIES * CASE_MOST_ENTITIES];
    size_t n = 0;
    for (uint32_t h = 0; h < c->n_entities; h++)
        for (uint32_t t = 0; t < c->n_entities; t++)
            if (c->table[r][h][t] > 0)
                list[n++] = (acq_link){.head = h, .tail = t, .score = c->table[r][h][t]};
    acq_links_free(c->links[r]);
    require(acq_links_new(list, n, c->n_entities, c->features[CASE_SCORED], &c->links[r]));
}

/* Constants keep their ids: the graph only grows. */
static void enlarge(test_case *c, acq_random *random)
{
    c->n_entities += (uint32_t)acq_random_below(random, MOST_ENTITIES - c->n_entities + 1);
    for (acq_rel r = 0; r < c->n_relations; r += 2) {
        draw_relation(c, r, random);
        make_links(c, r);
        make_links(c, r + 1);
    }
}

static void add_names(const test_case *c, acq_graph_builder *builder)
{
    char name[16];
    uint32_t id;
    for (uint32_t e = 0; e < c->n_entities; e++) {
        int length = snprintf(name, sizeof name, "e%u", e);
        require(acq_graph_builder_add_entity(builder, name, (size_t)length, &id));
    }
    for (uint32_t r = 0; r < c->n_relations; r += 2) {
        int length = snprintf(name, sizeof name, "r%u", r);
        require(acq_graph_builder_add_relation(builder, name, (size_t)length, &id));
    }
}

/* About half of the predictor's links, and a few that it does not know. */
static void observe(label_case *c, acq_random *random)
{
    test_case *base = &c->base;
    acq_graph_builder *builder = acq_graph_builder_new();
    add_names(base, builder);
    for (acq_rel r = 0; r < base->n_relations; r += 2)
        for (acq_ent h = 0; h < base->n_entities; h++)
            for (acq_ent t = 0; t < base->n_entities; t++) {
                uint64_t most = base->table[r][h][t] > 0 ? 2 : 40;
                c->observed[r][h][t] = acq_random_below(random, most) == 0;
                c->observed[r + 1][t][h] = c->observed[r][h][t];
                if (c->observed[r][h][t])
                    require(acq_graph_builder_add_fact(builder, h, r, t));
            }
    require(acq_graph_builder_finish(builder, &c->graph, NULL));
    acq_graph_builder_free(builder);
    base->predictor.graph = c->graph;
}

static void make_problem(label_case *c, acq_random *random)
{
    acq_ent values[CASE_MOST_VARIABLES];
    bool is_fixed = acq_random_below(random, 4) == 0;
    for (uint32_t i = 0; i < CASE_MOST_VARIABLES; i++)
        values[i] = (acq_ent)acq_random_below(random, c->base.n_entities);
    require(acq_problem_new_fixed(c->base.query, c->base.n_entities, is_fixed ? values : NULL,
                                  &c->problem, NULL));
}

void label_case_init(label_case *c, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 77);
    *c = (label_case){0};
    case_init(&c->base, seed);
    if (c->base.n_entities < MOST_ENTITIES && acq_random_below(&random, 3) > 0)
        enlarge(&c->base, &random);
    observe(c, &random);
    make_problem(c, &random);
}

void label_case_deinit(label_case *c)
{
    acq_problem_free(c->problem);
    acq_graph_free(c->graph);
    case_deinit(&c->base);
}

uint64_t label_case_count(uint64_t usual)
{
    const char *text = getenv("ACQ_CASES");
    return text == NULL ? usual : strtoull(text, NULL, 10);
}

/* predict/predictor.h, word for word. */
static bool lets_hold(const acq_scoring *scoring, bool is_negated, double link)
{
    double score = scoring->binarize > 0 ? link >= scoring->binarize : link;
    volatile float complement = (float)(1 - score);
    if (is_negated && scoring->negation_threshold > 0)
        score = score < scoring->negation_threshold;
    else if (is_negated)
        score = (double)complement;
    return score >= scoring->threshold;
}

bool label_case_holds(const label_case *c, const acq_literal *literal, acq_ent left, acq_ent right)
{
    if (literal->is_equality)
        return (left == right) != literal->is_negated;
    return lets_hold(&c->base.scoring, literal->is_negated,
                     (double)c->base.table[literal->relation][left][right]);
}

static bool is_place(acq_place a, acq_place b)
{
    return a.is_variable == b.is_variable && a.id == b.id;
}

bool label_case_mentions(const acq_branch *node, acq_place z)
{
    if (node->kind == ACQ_BRANCH_LITERAL)
        return is_place(node->literal.left, z) || is_place(node->literal.right, z);
    for (uint32_t i = 0; i < node->n_children; i++)
        if (label_case_mentions(node->children[i], z))
            return true;
    return false;
}

static acq_ent value_at(acq_place place, acq_place z, acq_ent a, const acq_ent *values)
{
    if (is_place(place, z))
        return a;
    return place.is_variable ? values[place.id] : place.id;
}

bool label_case_is_light(const label_case *c, const acq_branch *node, acq_place z, acq_ent a,
                         const acq_ent *values)
{
    if (node->kind == ACQ_BRANCH_LITERAL)
        return label_case_holds(c, &node->literal, value_at(node->literal.left, z, a, values),
                                value_at(node->literal.right, z, a, values));
    bool is_or = node->kind == ACQ_BRANCH_OR;
    for (uint32_t i = 0; i < node->n_children; i++)
        if (label_case_is_light(c, node->children[i], z, a, values) == is_or)
            return is_or;
    return !is_or;
}

static bool is_link(const label_case *c, acq_pe pe, acq_rel relation, acq_ent h, acq_ent t)
{
    double score = pe == ACQ_PE_EXACT ? (double)c->base.table[relation][h][t]
                                      : (double)c->observed[relation][h][t];
    return lets_hold(&c->base.scoring, false, score);
}

/* Is there a link whose ends that are z have the value a? */
static bool is_literal_potential(const label_case *c, acq_pe pe, const acq_literal *literal,
                                 acq_place z, acq_ent a)
{
    bool at_left = is_place(literal->left, z), at_right = is_place(literal->right, z);
    if (literal->is_negated || literal->is_equality)
        return true;
    for (acq_ent h = 0; h < c->base.n_entities; h++)
        for (acq_ent t = 0; t < c->base.n_entities; t++)
            if ((!at_left || h == a) && (!at_right || t == a) &&
                is_link(c, pe, literal->relation, h, t))
                return true;
    return false;
}

static bool is_branch_potential(const label_case *c, acq_pe pe, const acq_branch *node, acq_place z,
                                acq_ent a)
{
    if (node->kind == ACQ_BRANCH_LITERAL)
        return is_literal_potential(c, pe, &node->literal, z, a);
    bool is_or = node->kind == ACQ_BRANCH_OR;
    for (uint32_t i = 0; i < node->n_children; i++)
        if (is_branch_potential(c, pe, node->children[i], z, a) == is_or)
            return is_or;
    return !is_or;
}

bool label_case_is_potential(const label_case *c, acq_pe pe, const acq_branch *node, acq_place z,
                             acq_ent a)
{
    return pe != ACQ_PE_NONE && is_branch_potential(c, pe, node, z, a);
}

acq_place label_case_get_place(const acq_board *board, uint32_t term)
{
    const acq_board_term *t = &board->terms[term];
    bool is_variable = t->variable != ACQ_NO_ID;
    return (acq_place){.is_variable = is_variable, .id = is_variable ? t->variable : t->value};
}

acq_branch label_case_get_branch(const acq_board *board, uint32_t node)
{
    const acq_board_node *n = &board->nodes[node];
    return n->tree != NULL ? *n->tree
                           : (acq_branch){.kind = ACQ_BRANCH_LITERAL,
                                          .literal = board->literals[n->literal].literal};
}

acq_board *label_case_new_board(const label_case *c, acq_pe pe)
{
    acq_board *board = NULL;
    require(acq_board_new(c->problem, &c->base.predictor, &c->base.scoring, pe, &board, NULL));
    return board;
}
