/* questions.c - see questions.h. A drawn problem is a conjunction of literals over variables;
 * here it becomes a query's tree, one to three of its variables free. */
#include "fit/questions.h"

#include "base/memory.h"
#include "query/problem.h"
#include "query/reading.h"

enum { TRIES = 60, MOST_TERMS = 24 };

/* ---- from literals to a tree ---- */

typedef struct query_tree {
    acq_query *query;
    const acq_problem *problem;
    uint32_t *numbers; /* of the problem's variables in the query */
} query_tree;

static void name_id(acq_query_name *name, const char *text, uint32_t id)
{
    *name = (acq_query_name){.text = text, .length = 1, .is_id = true, .id = id};
}

static acq_term add_term(query_tree *tree, acq_place place)
{
    if (place.is_variable)
        return (acq_term){true, tree->numbers[place.id]};
    acq_query *query = tree->query;
    for (uint32_t i = 0; i < query->n_constants; i++)
        if (query->constants[i].id == place.id)
            return (acq_term){false, i};
    name_id(&query->constants[query->n_constants], "c", place.id);
    return (acq_term){false, query->n_constants++};
}

static acq_node *add_literal(query_tree *tree, const acq_literal *literal)
{
    acq_query *query = tree->query;
    acq_node *atom = acq_arena_zalloc(&query->arena, 1, sizeof *atom);
    if (atom == NULL)
        return NULL;
    name_id(&query->relations[query->n_relations], "r", literal->relation);
    atom->kind = ACQ_NODE_ATOM;
    atom->relation = query->n_relations++;
    atom->left = add_term(tree, literal->left);
    atom->right = add_term(tree, literal->right);
    query->n_atoms++;
    if (!literal->is_negated)
        return atom;
    acq_node *negation = acq_arena_zalloc(&query->arena, 1, sizeof *negation);
    acq_node **child = acq_arena_alloc(&query->arena, 1, sizeof *child);
    if (negation == NULL || child == NULL)
        return NULL;
    *child = atom;
    *negation = (acq_node){.kind = ACQ_NODE_NOT, .children = child, .n_children = 1};
    return negation;
}

static acq_status allocate(acq_query *query, const acq_problem *problem)
{
    acq_arena *arena = &query->arena;
    query->variables = acq_arena_zalloc(arena, problem->n_variables, sizeof *query->variables);
    query->constants =
        acq_arena_zalloc(arena, 2 * (size_t)problem->n_literals, sizeof *query->constants);
    query->relations = acq_arena_zalloc(arena, problem->n_literals, sizeof *query->relations);
    query->root = acq_arena_zalloc(arena, 1, sizeof *query->root);
    if (query->root == NULL || query->variables == NULL || query->constants == NULL ||
        query->relations == NULL)
        return ACQ_ERR_MEMORY;
    query->root->kind = ACQ_NODE_AND;
    query->root->children = acq_arena_alloc(arena, problem->n_literals, sizeof(acq_node *));
    return query->root->children == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

/* numbers: the free variables have 0 .. n_free - 1. */
static acq_status make_query(const acq_problem *problem, uint32_t *numbers, uint32_t n_free,
                             acq_query **out)
{
    acq_query *query = acq_zalloc(1, sizeof *query);
    if (query == NULL)
        return ACQ_ERR_MEMORY;
    acq_arena_init(&query->arena);
    query->name = "Q";
    query->n_variables = problem->n_variables;
    query->n_free = n_free;
    acq_status status = allocate(query, problem);
    query_tree tree = {query, problem, numbers};
    for (uint32_t i = 0; i < problem->n_variables && status == ACQ_OK; i++)
        query->variables[i] = (acq_query_name){.text = "v", .length = 1};
    for (uint32_t i = 0; i < problem->n_literals && status == ACQ_OK; i++) {
        acq_node *node = add_literal(&tree, &problem->literals[i]);
        query->root->children[query->root->n_children++] = node;
        status = node == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
    }
    if (status == ACQ_OK)
        *out = query;
    else
        acq_query_free(query);
    return status;
}

/* ---- drawing ---- */

static acq_ent value_of(acq_place place, const acq_ent *answer)
{
    return place.is_variable ? answer[place.id] : place.id;
}

/* Does the rest lack a fact that the problem was read off? */
static bool needs_held(const acq_problem *problem, const acq_ent *answer, const acq_graph *rest)
{
    for (uint32_t i = 0; i < problem->n_literals; i++) {
        const acq_literal *literal = &problem->literals[i];
        if (!literal->is_negated &&
            !acq_graph_has_fact(rest, value_of(literal->left, answer), literal->relation,
                                value_of(literal->right, answer)))
            return true;
    }
    return false;
}

/* Numbers the variables so that the free ones come first: the one that the drawing began with, as
 * in the paper, and others at random. */
static void number_variables(uint32_t n, uint32_t n_free, acq_random *random, uint32_t *numbers)
{
    uint32_t order[MOST_TERMS];
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = 1; i < n_free; i++) {
        uint32_t j = i + (uint32_t)acq_random_below(random, n - i), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (uint32_t i = 0; i < n; i++)
        numbers[order[i]] = i;
}

/* The small shapes that the paper classifies answers of, and single links. */
static const acq_shape_id classified[] = {ACQ_SHAPE_1p, ACQ_SHAPE_2p,  ACQ_SHAPE_3p, ACQ_SHAPE_pi,
                                          ACQ_SHAPE_ip, ACQ_SHAPE_inp, ACQ_SHAPE_pin};

static acq_shape_id draw_shape(bool is_open, acq_random *random)
{
    return is_open ? (acq_shape_id)acq_random_below(random, ACQ_N_SHAPES)
                   : classified[acq_random_below(random, sizeof classified / sizeof *classified)];
}

static acq_status draw_problem(const acq_sampler *sampler, bool is_hub, bool is_open,
                               acq_random *random, acq_problem **out, acq_ent *answer,
                               acq_error *error)
{
    acq_hub_params hub = ACQ_HUB_DEFAULT;
    hub.most_terms = 20;
    return is_hub ? acq_sampler_draw_hub(sampler, &hub, random, out, answer, error)
                  : acq_sampler_draw_shape(sampler, draw_shape(is_open, random), random, out,
                                           answer, error);
}

static acq_status apply_pair_reading(acq_query **query, acq_error *error)
{
    acq_query *read;
    acq_status status = acq_query_apply_reading(*query, ACQ_ATOMS_PAIR, &read, error);
    if (status != ACQ_OK)
        return status;
    acq_query_free(*query);
    *query = read;
    return ACQ_OK;
}

acq_status acq_question_draw(const acq_sampler *sampler, const acq_graph *rest, bool is_hub,
                             bool is_open, uint64_t seed, uint64_t key, acq_query **out,
                             acq_error *error)
{
    acq_random random = acq_random_start(seed, key);
    *out = NULL;
    for (int i = 0; i < TRIES; i++) {
        acq_problem *problem;
        acq_ent answer[MOST_TERMS];
        uint32_t numbers[MOST_TERMS], n_free = 1;
        acq_status status =
            draw_problem(sampler, is_hub, is_open, &random, &problem, answer, error);
        if (status != ACQ_OK)
            return status;
        if ((is_open && !needs_held(problem, answer, rest)) || problem->n_variables == 0) {
            acq_problem_free(problem);
            continue;
        }
        if (is_hub && acq_random_below(&random, 3) == 0)
            n_free += (uint32_t)acq_random_below(&random, 3);
        n_free = n_free < problem->n_variables ? n_free : problem->n_variables;
        number_variables(problem->n_variables, n_free, &random, numbers);
        status = make_query(problem, numbers, n_free, out);
        acq_problem_free(problem);
        if (status != ACQ_OK)
            return acq_fail_memory(error);
        return is_hub && acq_random_below(&random, 2) == 0 ? apply_pair_reading(out, error)
                                                           : ACQ_OK;
    }
    return ACQ_OK;
}
