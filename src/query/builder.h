/* builder.h - how parsers make a query: symbols while reading, numbers at the end.
 *
 *   symbols    every variable, name and relation met so far, found by (kind, text) in a hash
 *   stack      nodes that are not part of a parent yet
 *
 * A parse function leaves a run on the stack: nodes from `mark` up, joined by `kind`. A parent of
 * the same kind takes the run over as it is, so `(a & b) & c` becomes one AND of three children
 * and every node is copied once, however deep the parentheses. While reading, the id of a term
 * and the relation of an atom are symbol numbers; acq_builder_finish replaces them by indices of
 * the query's tables, in the order of first occurrence, and drops what no node uses. */
#ifndef ACQ_QUERY_BUILDER_H
#define ACQ_QUERY_BUILDER_H

#include "query/input.h"
#include "query/query.h"

typedef enum acq_symbol_kind {
    ACQ_SYMBOL_WORD,     /* a bare word; `binding` says which variable it means, if any */
    ACQ_SYMBOL_CONSTANT, /* */
    ACQ_SYMBOL_RELATION, /* */
    ACQ_SYMBOL_INVERSE,  /* inverse(relation) */
    ACQ_SYMBOL_FREE,     /* a free variable */
    ACQ_SYMBOL_EXISTS,   /* an existential variable */
} acq_symbol_kind;

typedef struct acq_symbol {
    acq_symbol_kind kind;
    const char *text; /* in the query's arena */
    size_t length;
    acq_input_place place;
    uint64_t hash;
    uint32_t next;    /* in its bucket */
    uint32_t binding; /* WORD: the variable in scope, or ACQ_NO_ID */
    uint32_t number;  /* index in the query's table, ACQ_NO_ID while no node uses it */
    uint32_t rank;    /* FREE: order in the head; equal ranks as they were added */
    uint32_t suffix;  /* WORD: variables of this name so far, while telling them apart */
    bool is_bare;     /* CONSTANT: as in acq_query_name, like is_id and id */
    bool is_id;
    uint32_t id;
} acq_symbol;

typedef struct acq_run {
    acq_node_kind kind; /* AND or OR of the nodes; anything else: one node */
    size_t mark;
} acq_run;

typedef struct acq_builder {
    acq_query *query; /* its arena holds texts and nodes */
    acq_symbol *symbols;
    size_t n_symbols, symbols_capacity;
    uint32_t *buckets; /* a power of two; NULL at first */
    size_t n_buckets;
    acq_node **stack;
    size_t n_stack, stack_capacity;
    uint32_t n_atoms, depth;
    acq_error *error;
} acq_builder;

acq_status acq_builder_init(acq_builder *builder, acq_error *error);
void acq_builder_deinit(acq_builder *builder); /* frees the query too unless finish took it */

/* The symbol with this kind and text, new or known. */
acq_status acq_builder_intern(acq_builder *builder, acq_symbol_kind kind, const char *text,
                              size_t length, acq_input_place place, uint32_t *out);

/* A symbol of its own, never found by intern: a variable that may share its name. */
acq_status acq_builder_add_variable(acq_builder *builder, acq_symbol_kind kind, const char *text,
                                    size_t length, acq_input_place place, uint32_t *out);

/* Counts parentheses, negations and groups against ACQ_MOST_NESTING. */
acq_status acq_builder_enter(acq_builder *builder, acq_input_place place);
void acq_builder_leave(acq_builder *builder, uint32_t levels);

/* Pushes ATOM (relation is a symbol) or EQUAL (relation is ignored). */
acq_status acq_builder_push_atom(acq_builder *builder, acq_node_kind kind, uint32_t relation,
                                 acq_term left, acq_term right, acq_input_place place);

/* Makes the run since `mark` an operand of a node of `kind`: what has that kind is left as it is.
 */
acq_status acq_builder_absorb(acq_builder *builder, acq_run run, acq_node_kind kind);

/* operand {separator operand}: one flat AND or OR, or the operand itself when it stands alone.
 * take_separator moves past a separator of the node's kind, if one is there. */
typedef struct acq_chain {
    void *parser;
    acq_node_kind node;
    acq_status (*parse_operand)(void *parser, acq_run *run);
    bool (*take_separator)(void *parser, acq_node_kind node);
} acq_chain;

acq_status acq_builder_chain(acq_builder *builder, const acq_chain *chain, acq_run *run);

/* Folds the run into one node and negates it. */
acq_status acq_builder_negate(acq_builder *builder, acq_run run, acq_input_place place);

/* Folds the run into the root, numbers everything, and hands the query over.
 * Words without a binding become constants, or variables (`words_are`). A variable that does not
 * occur is an error at its place; equal names of two variables are told apart by a suffix. */
acq_status acq_builder_finish(acq_builder *builder, acq_run run, acq_symbol_kind words_are,
                              acq_query **out);

/* One run, one node on the stack. */
static inline acq_run acq_run_single(size_t mark)
{
    return (acq_run){.kind = ACQ_NODE_ATOM, .mark = mark};
}

/* The parsers that acq_query_parse chooses from; text has passed acq_input_check. Linear in the
 * text. What is supported of SPARQL and what it means: docs/grammar.md. */
acq_status acq_query_parse_text(const char *text, size_t length, acq_query **out, acq_error *error);
acq_status acq_query_parse_sparql(const char *text, size_t length, acq_query **out,
                                  acq_error *error);

#endif
