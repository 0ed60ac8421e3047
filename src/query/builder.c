/* builder.c - symbols, runs of nodes, limits; see builder.h. finish.c does the numbering. */
#include "query/builder.h"

#include <string.h>

#include "base/memory.h"
#include "base/random.h"

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
