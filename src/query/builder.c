/* builder.c - symbols, runs of nodes, limits; see builder.h.
 *
 * The last step of every parser makes symbols the query's tables: one walk over the tree numbers
 * constants, relations and existential variables by first occurrence, so equal queries get equal
 * tables in every syntax. Expected cost O(nodes + symbols), plus sorting the free variables. */
#include "query/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

acq_status acq_builder_init(acq_builder *builder, acq_error *error)
{
    *builder = (acq_builder){.error = error};
    builder->query = acq_zalloc(1, sizeof *builder->query);
    if (builder->query == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&builder->query->arena);
    builder->query->name = "Q";
    return ACQ_OK;
}

void acq_builder_deinit(acq_builder *builder)
{
    acq_query_free(builder->query);
    acq_free(builder->symbols);
    acq_free(builder->buckets);
    acq_free(builder->stack);
    *builder = (acq_builder){0};
}

/* FNV-1a over kind and text. */
static uint64_t hash_symbol(acq_symbol_kind kind, const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325ULL ^ (uint64_t)kind;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ULL;
    return acq_random_mix(hash); /* FNV alone is weak in the low bits, which choose the bucket */
}

static acq_status grow_buckets(acq_builder *builder)
{
    size_t n = builder->n_buckets == 0 ? 64 : builder->n_buckets * 2;
    uint32_t *buckets = acq_alloc(n, sizeof *buckets);
    if (buckets == NULL)
        return acq_fail_memory(builder->error);
    memset(buckets, 0xFF, n * sizeof *buckets);
    for (size_t i = 0; i < builder->n_symbols; i++) {
        acq_symbol *symbol = &builder->symbols[i];
        if (symbol->kind >= ACQ_SYMBOL_FREE)
            continue;
        symbol->next = buckets[symbol->hash & (n - 1)];
        buckets[symbol->hash & (n - 1)] = (uint32_t)i;
    }
    acq_free(builder->buckets);
    builder->buckets = buckets;
    builder->n_buckets = n;
    return ACQ_OK;
}

static acq_status add_symbol(acq_builder *builder, acq_symbol_kind kind, const char *text,
                             size_t length, acq_input_place place, uint32_t *out)
{
    if (ACQ_RESERVE(builder->symbols, builder->symbols_capacity, builder->n_symbols + 1) != ACQ_OK)
        return acq_fail_memory(builder->error);
    char *copy = acq_arena_copy_string(&builder->query->arena, text, length);
    if (copy == NULL)
        return acq_fail_memory(builder->error);
    *out = (uint32_t)builder->n_symbols;
    builder->symbols[builder->n_symbols++] = (acq_symbol){.kind = kind,
                                                          .text = copy,
                                                          .length = length,
                                                          .place = place,
                                                          .next = ACQ_NO_ID,
                                                          .binding = ACQ_NO_ID,
                                                          .number = ACQ_NO_ID,
                                                          .id = ACQ_NO_ID};
    return ACQ_OK;
}

static uint32_t find_symbol(const acq_builder *builder, acq_symbol_kind kind, const char *text,
                            size_t length, uint64_t hash)
{
    uint32_t i = builder->buckets[hash & (builder->n_buckets - 1)];
    while (i != ACQ_NO_ID) {
        const acq_symbol *symbol = &builder->symbols[i];
        if (symbol->hash == hash && symbol->kind == kind && symbol->length == length &&
            memcmp(symbol->text, text, length) == 0)
            break;
        i = symbol->next;
    }
    return i;
}

acq_status acq_builder_intern(acq_builder *builder, acq_symbol_kind kind, const char *text,
                              size_t length, acq_input_place place, uint32_t *out)
{
    if (builder->n_symbols >= builder->n_buckets && grow_buckets(builder) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    uint64_t hash = hash_symbol(kind, text, length);
    *out = find_symbol(builder, kind, text, length, hash);
    if (*out != ACQ_NO_ID)
        return ACQ_OK;
    if (add_symbol(builder, kind, text, length, place, out) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_symbol *symbol = &builder->symbols[*out];
    symbol->hash = hash;
    symbol->next = builder->buckets[hash & (builder->n_buckets - 1)];
    builder->buckets[hash & (builder->n_buckets - 1)] = *out;
    return ACQ_OK;
}

acq_status acq_builder_add_variable(acq_builder *builder, acq_symbol_kind kind, const char *text,
                                    size_t length, acq_input_place place, uint32_t *out)
{
    return add_symbol(builder, kind, text, length, place, out);
}

acq_status acq_builder_enter(acq_builder *builder, acq_input_place place)
{
    if (builder->depth == ACQ_MOST_NESTING)
        return acq_fail_at(builder->error, ACQ_ERR_LIMIT, place.line, place.column,
                           "nested deeper than %d levels; flatten the formula",
                           (int)ACQ_MOST_NESTING);
    builder->depth++;
    return ACQ_OK;
}

void acq_builder_leave(acq_builder *builder, uint32_t levels)
{
    builder->depth -= levels;
}

static acq_status push(acq_builder *builder, acq_node *node)
{
    if (ACQ_RESERVE(builder->stack, builder->stack_capacity, builder->n_stack + 1) != ACQ_OK)
        return acq_fail_memory(builder->error);
    builder->stack[builder->n_stack++] = node;
    return ACQ_OK;
}

static acq_node *new_node(acq_builder *builder, acq_node_kind kind, acq_input_place place)
{
    acq_node *node = acq_arena_zalloc(&builder->query->arena, 1, sizeof *node);
    if (node == NULL) {
        acq_fail_memory(builder->error);
        return NULL;
    }
    node->kind = kind;
    node->line = place.line;
    node->column = place.column;
    return node;
}

acq_status acq_builder_push_atom(acq_builder *builder, acq_node_kind kind, uint32_t relation,
                                 acq_term left, acq_term right, acq_input_place place)
{
    if (builder->n_atoms == ACQ_MOST_ATOMS)
        return acq_fail_at(builder->error, ACQ_ERR_LIMIT, place.line, place.column,
                           "more than %d atoms; split the query", (int)ACQ_MOST_ATOMS);
    builder->n_atoms++;
    acq_node *node = new_node(builder, kind, place);
    if (node == NULL)
        return ACQ_ERR_MEMORY;
    node->relation = relation;
    node->left = left;
    node->right = right;
    return push(builder, node);
}

/* The run becomes one node on the stack. */
static acq_status fold(acq_builder *builder, acq_run run)
{
    size_t n = builder->n_stack - run.mark;
    if (n == 1)
        return ACQ_OK;
    acq_node **children = builder->stack + run.mark;
    acq_node *node =
        new_node(builder, run.kind, (acq_input_place){children[0]->line, children[0]->column});
    if (node == NULL)
        return ACQ_ERR_MEMORY;
    node->children = acq_arena_alloc(&builder->query->arena, n, sizeof *children);
    if (node->children == NULL)
        return acq_fail_memory(builder->error);
    memcpy(node->children, children, n * sizeof *children);
    node->n_children = (uint32_t)n;
    builder->n_stack = run.mark;
    return push(builder, node);
}

acq_status acq_builder_absorb(acq_builder *builder, acq_run run, acq_node_kind kind)
{
    return run.kind == kind ? ACQ_OK : fold(builder, run);
}

acq_status acq_builder_chain(acq_builder *builder, const acq_chain *chain, acq_run *run)
{
    size_t mark = builder->n_stack;
    acq_status status = chain->parse_operand(chain->parser, run);
    if (status != ACQ_OK || !chain->take_separator(chain->parser, chain->node))
        return status;
    status = acq_builder_absorb(builder, *run, chain->node);
    do {
        if (status == ACQ_OK)
            status = chain->parse_operand(chain->parser, run);
        if (status == ACQ_OK)
            status = acq_builder_absorb(builder, *run, chain->node);
    } while (status == ACQ_OK && chain->take_separator(chain->parser, chain->node));
    *run = (acq_run){.kind = chain->node, .mark = mark};
    return status;
}

acq_status acq_builder_negate(acq_builder *builder, acq_run run, acq_input_place place)
{
    if (fold(builder, run) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_node *node = new_node(builder, ACQ_NODE_NOT, place);
    if (node == NULL)
        return ACQ_ERR_MEMORY;
    node->children = acq_arena_alloc(&builder->query->arena, 1, sizeof *node->children);
    if (node->children == NULL)
        return acq_fail_memory(builder->error);
    node->children[0] = builder->stack[run.mark];
    node->n_children = 1;
    builder->stack[run.mark] = node;
    return ACQ_OK;
}

/* ---- the end: symbols become tables ---- */

typedef struct acq_numbering {
    acq_builder *builder;
    acq_symbol_kind words_are;
    uint32_t n_exists, n_constants, n_relations;
} acq_numbering;

static uint32_t number_symbol(acq_symbol *symbol, uint32_t *n)
{
    if (symbol->number == ACQ_NO_ID)
        symbol->number = (*n)++;
    return symbol->number;
}

/* A word that no variable in scope claimed. */
static acq_status settle_word(acq_numbering *numbering, uint32_t *id)
{
    acq_builder *builder = numbering->builder;
    acq_symbol *word = &builder->symbols[*id];
    if (numbering->words_are != ACQ_SYMBOL_CONSTANT) {
        word->kind = numbering->words_are;
        word->is_bare = true;
        return ACQ_OK;
    }
    acq_symbol copy = *word;
    acq_status status =
        acq_builder_intern(builder, ACQ_SYMBOL_CONSTANT, copy.text, copy.length, copy.place, id);
    if (status == ACQ_OK && builder->symbols[*id].number == ACQ_NO_ID)
        builder->symbols[*id].is_bare = true;
    return status;
}

/* Free variables get their final number later: here only the fact that they occur. */
static acq_status number_term(acq_numbering *numbering, acq_term *term)
{
    acq_builder *builder = numbering->builder;
    if (builder->symbols[term->id].kind == ACQ_SYMBOL_WORD &&
        settle_word(numbering, &term->id) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_symbol *symbol = &builder->symbols[term->id];
    term->is_variable = symbol->kind != ACQ_SYMBOL_CONSTANT;
    if (symbol->kind == ACQ_SYMBOL_FREE)
        symbol->number = 0;
    else if (symbol->kind == ACQ_SYMBOL_EXISTS)
        number_symbol(symbol, &numbering->n_exists);
    else
        number_symbol(symbol, &numbering->n_constants);
    return ACQ_OK;
}

static acq_status number_node(acq_numbering *numbering, acq_node *node)
{
    for (uint32_t i = 0; i < node->n_children; i++) {
        if (number_node(numbering, node->children[i]) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    }
    if (node->kind != ACQ_NODE_ATOM && node->kind != ACQ_NODE_EQUAL)
        return ACQ_OK;
    if (node->kind == ACQ_NODE_ATOM)
        number_symbol(&numbering->builder->symbols[node->relation], &numbering->n_relations);
    if (number_term(numbering, &node->left) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    return number_term(numbering, &node->right);
}

static bool is_variable(const acq_symbol *symbol)
{
    return symbol->kind == ACQ_SYMBOL_FREE || symbol->kind == ACQ_SYMBOL_EXISTS;
}

static acq_status check_used(const acq_builder *builder)
{
    for (size_t i = 0; i < builder->n_symbols; i++) {
        const acq_symbol *symbol = &builder->symbols[i];
        if (!is_variable(symbol) || symbol->number != ACQ_NO_ID)
            continue;
        bool is_free = symbol->kind == ACQ_SYMBOL_FREE;
        return acq_fail_at(builder->error, ACQ_ERR_PARSE, symbol->place.line, symbol->place.column,
                           "%s lists '%s', but the formula does not use it; remove it from the "
                           "list or use it in an atom",
                           is_free ? "the head" : "exists",
                           acq_input_show(symbol->text, symbol->length).text);
    }
    return ACQ_OK;
}

static int compare_ranks(const void *left, const void *right, void *symbols)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    uint32_t rank_a = ((acq_symbol *)symbols)[a].rank, rank_b = ((acq_symbol *)symbols)[b].rank;
    return rank_a != rank_b ? (rank_a < rank_b ? -1 : 1) : (a < b ? -1 : a > b);
}

/* Free variables by rank; the others keep the number of the walk, moved behind them. */
static acq_status number_variables(acq_builder *builder, uint32_t *n_free)
{
    uint32_t *free_ones = acq_alloc(builder->n_symbols, sizeof *free_ones);
    if (free_ones == NULL)
        return acq_fail_memory(builder->error);
    uint32_t n = 0;
    for (uint32_t i = 0; i < builder->n_symbols; i++) {
        if (builder->symbols[i].kind == ACQ_SYMBOL_FREE)
            free_ones[n++] = i;
    }
    qsort_r(free_ones, n, sizeof *free_ones, compare_ranks, builder->symbols);
    for (uint32_t i = 0; i < n; i++)
        builder->symbols[free_ones[i]].number = i;
    for (size_t i = 0; i < builder->n_symbols; i++) {
        if (builder->symbols[i].kind == ACQ_SYMBOL_EXISTS)
            builder->symbols[i].number += n;
    }
    acq_free(free_ones);
    *n_free = n;
    return ACQ_OK;
}

static acq_query_name *table_of(const acq_query *query, acq_symbol_kind kind)
{
    switch (kind) {
    case ACQ_SYMBOL_CONSTANT:
        return query->constants;
    case ACQ_SYMBOL_RELATION:
    case ACQ_SYMBOL_INVERSE:
        return query->relations;
    case ACQ_SYMBOL_FREE:
    case ACQ_SYMBOL_EXISTS:
        return query->variables;
    case ACQ_SYMBOL_WORD:
        break;
    }
    return NULL;
}

static void fill_tables(const acq_builder *builder)
{
    for (size_t i = 0; i < builder->n_symbols; i++) {
        const acq_symbol *symbol = &builder->symbols[i];
        acq_query_name *table = table_of(builder->query, symbol->kind);
        if (table == NULL || symbol->number == ACQ_NO_ID)
            continue;
        table[symbol->number] = (acq_query_name){.text = symbol->text,
                                                 .length = symbol->length,
                                                 .line = symbol->place.line,
                                                 .column = symbol->place.column,
                                                 .is_inverse = symbol->kind == ACQ_SYMBOL_INVERSE,
                                                 .is_bare = symbol->is_bare,
                                                 .is_id = symbol->is_id,
                                                 .id = symbol->id};
    }
}

static acq_status make_tables(const acq_numbering *numbering, uint32_t n_free)
{
    acq_builder *builder = numbering->builder;
    acq_query *query = builder->query;
    query->n_free = n_free;
    query->n_variables = n_free + numbering->n_exists;
    query->n_constants = numbering->n_constants;
    query->n_relations = numbering->n_relations;
    size_t size = sizeof(acq_query_name);
    query->variables = acq_arena_zalloc(&query->arena, query->n_variables, size);
    query->constants = acq_arena_zalloc(&query->arena, query->n_constants, size);
    query->relations = acq_arena_zalloc(&query->arena, query->n_relations, size);
    if (query->variables == NULL || query->constants == NULL || query->relations == NULL)
        return acq_fail_memory(builder->error);
    fill_tables(builder);
    return ACQ_OK;
}

/* Symbol numbers in the nodes become table indices. */
static uint32_t translate(const acq_builder *builder, acq_node *node)
{
    uint32_t atoms = 0;
    for (uint32_t i = 0; i < node->n_children; i++)
        atoms += translate(builder, node->children[i]);
    if (node->kind != ACQ_NODE_ATOM && node->kind != ACQ_NODE_EQUAL)
        return atoms;
    if (node->kind == ACQ_NODE_ATOM)
        node->relation = builder->symbols[node->relation].number;
    node->left.id = builder->symbols[node->left.id].number;
    node->right.id = builder->symbols[node->right.id].number;
    return 1;
}

/* The word symbol that stands for a variable's name while names are told apart. */
static acq_status find_word(acq_builder *builder, const char *text, size_t length, uint32_t *out)
{
    return acq_builder_intern(builder, ACQ_SYMBOL_WORD, text, length, (acq_input_place){0}, out);
}

/* y, y, y become y, y_2, y_3, with numbers that no other variable uses. */
static acq_status rename_variable(acq_builder *builder, acq_query_name *variable, uint32_t word)
{
    size_t room = variable->length + 16;
    char *name = acq_arena_alloc(&builder->query->arena, room, 1);
    if (name == NULL)
        return acq_fail_memory(builder->error);
    uint32_t found;
    int length;
    do {
        length = snprintf(name, room, "%s_%u", variable->text, ++builder->symbols[word].suffix);
        if (find_word(builder, name, (size_t)length, &found) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    } while (builder->symbols[found].suffix != 0);
    builder->symbols[found].suffix = 1;
    variable->text = name;
    variable->length = (size_t)length;
    return ACQ_OK;
}

/* First pass: the first variable of each name keeps it. Second pass: the others change. */
static acq_status make_names_unique(acq_builder *builder)
{
    acq_query *query = builder->query;
    uint32_t *words = acq_alloc(query->n_variables, sizeof *words);
    if (words == NULL)
        return acq_fail_memory(builder->error);
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < query->n_variables && status == ACQ_OK; i++) {
        acq_query_name *variable = &query->variables[i];
        status = find_word(builder, variable->text, variable->length, &words[i]);
        if (status == ACQ_OK && builder->symbols[words[i]].suffix == 0) {
            builder->symbols[words[i]].suffix = 1;
            words[i] = ACQ_NO_ID;
        }
    }
    for (uint32_t i = 0; i < query->n_variables && status == ACQ_OK; i++) {
        if (words[i] != ACQ_NO_ID)
            status = rename_variable(builder, &query->variables[i], words[i]);
    }
    acq_free(words);
    return status;
}

acq_status acq_builder_finish(acq_builder *builder, acq_run run, acq_symbol_kind words_are,
                              acq_query **out)
{
    acq_numbering numbering = {.builder = builder, .words_are = words_are};
    uint32_t n_free = 0;
    acq_status status = acq_builder_absorb(builder, run, ACQ_NODE_NOT); /* into one node */
    acq_node *root = status == ACQ_OK ? builder->stack[run.mark] : NULL;
    if (status == ACQ_OK)
        status = number_node(&numbering, root);
    if (status == ACQ_OK)
        status = check_used(builder);
    if (status == ACQ_OK)
        status = number_variables(builder, &n_free);
    if (status == ACQ_OK)
        status = make_tables(&numbering, n_free);
    if (status == ACQ_OK)
        status = make_names_unique(builder);
    if (status != ACQ_OK)
        return status;
    builder->query->root = root;
    builder->query->n_atoms = translate(builder, root);
    *out = builder->query;
    builder->query = NULL;
    return ACQ_OK;
}
