/* reading.c - see query.h. The last atom of each pair is found by one pass over a hash of pairs
 * from the end; the rest is copied through a builder. */
#include "query/query.h"

#include <string.h>

#include "base/memory.h"
#include "query/builder.h"

static const char *const NAMES[] = {"written", "pair", "ordered-pair"};

acq_atoms_reading acq_atoms_reading_find(const char *name)
{
    unsigned reading = 0;
    while (reading < ACQ_N_ATOMS_READINGS && strcmp(NAMES[reading], name) != 0)
        reading++;
    return (acq_atoms_reading)reading;
}

const char *acq_atoms_reading_get_name(acq_atoms_reading reading)
{
    return reading < ACQ_N_ATOMS_READINGS ? NAMES[reading] : "unknown";
}

/* Open addressing; a key is two terms of 33 bits folded into 64 + 2 bits, empty when unused. */
typedef struct pair_set {
    struct {
        acq_term left, right;
        bool used;
    } * slots;
    size_t n_slots; /* a power of two, at least twice the atoms */
} pair_set;

static bool is_same_term(acq_term a, acq_term b)
{
    return a.is_variable == b.is_variable && a.id == b.id;
}

static bool is_greater(acq_term a, acq_term b)
{
    return a.is_variable != b.is_variable ? a.is_variable : a.id > b.id;
}

static size_t hash_pair(acq_term left, acq_term right)
{
    uint64_t a = (uint64_t)left.id * 2 + left.is_variable;
    uint64_t b = (uint64_t)right.id * 2 + right.is_variable;
    uint64_t hash = (a * 0x9e3779b97f4a7c15ULL) ^ (b + 0x7f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
    return (size_t)(hash ^ (hash >> 31));
}

/* True when the pair was not there before. */
static bool add_pair(pair_set *set, acq_term left, acq_term right)
{
    size_t i = hash_pair(left, right) & (set->n_slots - 1);
    while (set->slots[i].used) {
        if (is_same_term(set->slots[i].left, left) && is_same_term(set->slots[i].right, right))
            return false;
        i = (i + 1) & (set->n_slots - 1);
    }
    set->slots[i].left = left;
    set->slots[i].right = right;
    set->slots[i].used = true;
    return true;
}

/* The atom of a literal, NULL when the node is none. */
static const acq_node *get_atom(const acq_node *node)
{
    if (node->kind == ACQ_NODE_NOT)
        node = node->children[0];
    return node->kind == ACQ_NODE_ATOM || node->kind == ACQ_NODE_EQUAL ? node : NULL;
}

/* The literals of a conjunction: the root itself when it is a single one. */
static acq_node *const *get_literals(acq_node *const *root, uint32_t *n)
{
    if ((*root)->kind != ACQ_NODE_AND) {
        *n = 1;
        return root;
    }
    *n = (*root)->n_children;
    return (*root)->children;
}

acq_status acq_query_check_reading(const acq_query *query, acq_atoms_reading reading,
                                   acq_error *error)
{
    uint32_t n;
    if (reading == ACQ_ATOMS_WRITTEN)
        return ACQ_OK;
    acq_node *const *literals = get_literals(&query->root, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (get_atom(literals[i]) == NULL)
            return acq_fail_at(error, ACQ_ERR_INPUT, literals[i]->line, literals[i]->column,
                               "the reading '%s' is defined for conjunctions of atoms and negated "
                               "atoms only; use 'written'",
                               acq_atoms_reading_get_name(reading));
    }
    return ACQ_OK;
}

/* keep[i]: is literal i the last of its pair? */
static acq_status choose(const acq_query *query, acq_atoms_reading reading, bool *keep,
                         acq_error *error)
{
    uint32_t n;
    acq_node *const *literals = get_literals(&query->root, &n);
    pair_set set = {.n_slots = 4};
    while (set.n_slots < (size_t)n * 2)
        set.n_slots *= 2;
    set.slots = acq_zalloc(set.n_slots, sizeof *set.slots);
    if (set.slots == NULL)
        return acq_fail_memory(error);
    for (uint32_t i = n; i-- > 0;) {
        const acq_node *atom = get_atom(literals[i]);
        bool swap = reading == ACQ_ATOMS_PAIR && is_greater(atom->left, atom->right);
        keep[i] = atom->kind == ACQ_NODE_EQUAL ||
                  add_pair(&set, swap ? atom->right : atom->left, swap ? atom->left : atom->right);
    }
    acq_free(set.slots);
    return ACQ_OK;
}

/* Symbols 0.. of the copy are the variables, then the constants, then the relations. */
static acq_status copy_symbols(acq_builder *builder, const acq_query_name *names, uint32_t n,
                               acq_symbol_kind kind, uint32_t n_free)
{
    for (uint32_t i = 0; i < n; i++) {
        const acq_query_name *name = &names[i];
        acq_symbol_kind own = name->is_inverse ? ACQ_SYMBOL_INVERSE : kind;
        uint32_t symbol;
        if (i < n_free)
            own = ACQ_SYMBOL_FREE;
        acq_input_place place = {name->line, name->column};
        acq_status status =
            acq_builder_add_variable(builder, own, name->text, name->length, place, &symbol);
        if (status != ACQ_OK)
            return status;
        builder->symbols[symbol].is_bare = name->is_bare;
        builder->symbols[symbol].is_id = name->is_id;
        builder->symbols[symbol].id = name->id;
    }
    return ACQ_OK;
}

static acq_term copy_term(const acq_query *query, acq_term term)
{
    return (acq_term){.id = term.is_variable ? term.id : query->n_variables + term.id};
}

static acq_status copy_node(acq_builder *builder, const acq_query *query, const acq_node *node);

static acq_status copy_children(acq_builder *builder, const acq_query *query, const acq_node *node,
                                const bool *keep)
{
    acq_run run = {.kind = node->kind, .mark = builder->n_stack};
    acq_input_place place = {node->line, node->column};
    for (uint32_t i = 0; i < node->n_children; i++) {
        if (keep != NULL && !keep[i])
            continue;
        acq_status status = copy_node(builder, query, node->children[i]);
        if (status != ACQ_OK)
            return status;
    }
    if (node->kind == ACQ_NODE_NOT)
        return acq_builder_negate(builder, acq_run_single(run.mark), place);
    return acq_builder_absorb(builder, run, ACQ_NODE_NOT); /* into one node */
}

/* Leaves one node on the stack. */
static acq_status copy_node(acq_builder *builder, const acq_query *query, const acq_node *node)
{
    if (node->kind != ACQ_NODE_ATOM && node->kind != ACQ_NODE_EQUAL)
        return copy_children(builder, query, node, NULL);
    uint32_t relation = query->n_variables + query->n_constants + node->relation;
    return acq_builder_push_atom(builder, node->kind, relation, copy_term(query, node->left),
                                 copy_term(query, node->right),
                                 (acq_input_place){node->line, node->column});
}

static acq_status copy_query(const acq_query *query, const bool *keep, acq_builder *builder,
                             acq_query **out)
{
    acq_status status = copy_symbols(builder, query->variables, query->n_variables,
                                     ACQ_SYMBOL_EXISTS, query->n_free);
    if (status == ACQ_OK)
        status =
            copy_symbols(builder, query->constants, query->n_constants, ACQ_SYMBOL_CONSTANT, 0);
    if (status == ACQ_OK)
        status =
            copy_symbols(builder, query->relations, query->n_relations, ACQ_SYMBOL_RELATION, 0);
    if (status == ACQ_OK && query->root->kind == ACQ_NODE_AND)
        status = copy_children(builder, query, query->root, keep);
    else if (status == ACQ_OK)
        status = copy_node(builder, query, query->root);
    builder->query->limit = query->limit;
    builder->query->name =
        acq_arena_copy_string(&builder->query->arena, query->name, strlen(query->name));
    if (builder->query->name == NULL)
        return acq_fail_memory(builder->error);
    if (status != ACQ_OK)
        return status;
    return acq_builder_finish(builder, acq_run_single(0), ACQ_SYMBOL_CONSTANT, out);
}

acq_status acq_query_apply_reading(const acq_query *query, acq_atoms_reading reading,
                                   acq_query **out, acq_error *error)
{
    uint32_t n;
    get_literals(&query->root, &n);
    bool *keep = NULL;
    acq_status status = ACQ_OK;
    if (reading != ACQ_ATOMS_WRITTEN) {
        status = acq_query_check_reading(query, reading, error);
        if (status != ACQ_OK)
            return status;
        keep = acq_alloc(n, sizeof *keep);
        if (keep == NULL)
            return acq_fail_memory(error);
        status = choose(query, reading, keep, error);
    }
    acq_builder builder = {0};
    if (status == ACQ_OK)
        status = acq_builder_init(&builder, error);
    if (status == ACQ_OK)
        status = copy_query(query, keep, &builder, out);
    acq_builder_deinit(&builder);
    acq_free(keep);
    return status;
}
