/* finish.c - the last step of every parser: symbols become the query's tables.
 *
 * One walk over the tree numbers constants, relations and existential variables by first
 * occurrence, so equal queries get equal tables in every syntax. Expected cost O(nodes +
 * symbols), plus sorting the free variables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "query/builder.h"

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
