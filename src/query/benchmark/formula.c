/* formula.c - the benchmark's formulas and their groundings, read and printed; see query.h.
 *
 * The tokens are those of the text syntax; everything but words, parentheses, "&", "|", "!" and
 * the comma between two arguments is refused.
 *
 * Printing: a kind of names (relations, constants, existentials, free variables) that is in the
 * form of the benchmark already keeps its names, provided free variables stand in the order of
 * their numbers; else the kind is numbered from 1 in the order of its table. */
#include "query/query.h"

#include <stdlib.h>

#include <string.h>

#include "query/builder.h"
#include "query/print.h"
#include "query/text/lexer.h"

typedef struct parser {
    acq_lexer lexer;
    acq_builder builder;
} parser;

static acq_token_kind kind_of(const parser *p)
{
    return p->lexer.token.kind;
}

static acq_status fail_expected(parser *p, const char *expected)
{
    const acq_token *token = &p->lexer.token;
    if (token->kind == ACQ_TOKEN_BAD)
        return acq_scan_fail(&p->lexer.in, p->builder.error);
    return acq_fail_at(p->builder.error, ACQ_ERR_PARSE, token->place.line, token->place.column,
                       "expected %s, found %s", expected, acq_lexer_show(&p->lexer).text);
}

static acq_status expect(parser *p, acq_token_kind kind, const char *expected)
{
    if (kind_of(p) != kind)
        return fail_expected(p, expected);
    acq_lexer_next(&p->lexer);
    return ACQ_OK;
}

/* The number behind the letter; false when it is none or beyond 9 digits. */
static bool read_number(const acq_token *token, uint32_t *out)
{
    uint32_t number = 0;
    if (token->kind != ACQ_TOKEN_WORD || token->length < 2 || token->length > 10)
        return false;
    for (size_t i = 1; i < token->length; i++) {
        if (token->text[i] < '0' || token->text[i] > '9')
            return false;
        number = number * 10 + (uint32_t)(token->text[i] - '0');
    }
    *out = number;
    return true;
}

static acq_status intern_token(parser *p, acq_symbol_kind kind, uint32_t *out)
{
    const acq_token *token = &p->lexer.token;
    return acq_builder_intern(&p->builder, kind, token->text, token->length, token->place, out);
}

/* A variable: one word symbol, bound to one variable symbol at its first occurrence. */
static acq_status intern_variable(parser *p, acq_symbol_kind kind, uint32_t rank, uint32_t *out)
{
    uint32_t word;
    const acq_token *token = &p->lexer.token;
    acq_status status = intern_token(p, ACQ_SYMBOL_WORD, &word);
    if (status != ACQ_OK)
        return status;
    *out = p->builder.symbols[word].binding;
    if (*out != ACQ_NO_ID)
        return ACQ_OK;
    status =
        acq_builder_add_variable(&p->builder, kind, token->text, token->length, token->place, out);
    if (status != ACQ_OK)
        return status;
    p->builder.symbols[word].binding = *out;
    p->builder.symbols[*out].rank = rank;
    return ACQ_OK;
}

/* term = ("s" | "e" | "f") digits */
static acq_status parse_term(parser *p, acq_term *out)
{
    uint32_t number;
    char letter = read_number(&p->lexer.token, &number) ? p->lexer.token.text[0] : '\0';
    acq_status status;
    if (letter == 's')
        status = intern_token(p, ACQ_SYMBOL_CONSTANT, &out->id);
    else if (letter == 'e')
        status = intern_variable(p, ACQ_SYMBOL_EXISTS, 0, &out->id);
    else if (letter == 'f')
        status = intern_variable(p, ACQ_SYMBOL_FREE, number, &out->id);
    else
        return fail_expected(p, "a term: s1 (constant), e1 (existential) or f1 (free)");
    acq_lexer_next(&p->lexer);
    return status;
}

/* atom = "r" digits "(" term "," term ")" */
static acq_status parse_atom(parser *p)
{
    uint32_t number, relation;
    acq_term left = {0}, right = {0};
    acq_input_place place = p->lexer.token.place;
    if (!read_number(&p->lexer.token, &number) || p->lexer.token.text[0] != 'r')
        return fail_expected(p, "an atom like r1(s1,f1), '!' or '('");
    acq_status status = intern_token(p, ACQ_SYMBOL_RELATION, &relation);
    acq_lexer_next(&p->lexer);
    if (status == ACQ_OK)
        status = expect(p, ACQ_TOKEN_OPEN, "'(' after the relation");
    if (status == ACQ_OK)
        status = parse_term(p, &left);
    if (status == ACQ_OK)
        status = expect(p, ACQ_TOKEN_COMMA, "',' after the first term");
    if (status == ACQ_OK)
        status = parse_term(p, &right);
    if (status == ACQ_OK)
        status = expect(p, ACQ_TOKEN_CLOSE, "')' after the second term");
    if (status != ACQ_OK)
        return status;
    return acq_builder_push_atom(&p->builder, ACQ_NODE_ATOM, relation, left, right, place);
}

static acq_status parse_formula(parser *p, acq_run *run);

/* operand = "!" operand | "(" formula ")" | atom */
static acq_status parse_operand(parser *p, acq_run *run)
{
    acq_input_place place = p->lexer.token.place;
    acq_token_kind kind = kind_of(p);
    *run = acq_run_single(p->builder.n_stack);
    if (kind != ACQ_TOKEN_NOT && kind != ACQ_TOKEN_OPEN)
        return parse_atom(p);
    acq_status status = acq_builder_enter(&p->builder, place);
    if (status != ACQ_OK)
        return status;
    acq_lexer_next(&p->lexer);
    status = kind == ACQ_TOKEN_NOT ? parse_operand(p, run) : parse_formula(p, run);
    acq_builder_leave(&p->builder, 1);
    if (status != ACQ_OK)
        return status;
    if (kind == ACQ_TOKEN_OPEN)
        return expect(p, ACQ_TOKEN_CLOSE, "'&', '|' or ')'");
    status = acq_builder_negate(&p->builder, *run, place);
    *run = acq_run_single(run->mark);
    return status;
}

static acq_status take_operand(void *p, acq_run *run)
{
    return parse_operand(p, run);
}

static bool take_separator(void *parser_, acq_node_kind node)
{
    parser *p = parser_;
    bool is_and = kind_of(p) == ACQ_TOKEN_AND;
    if (node == ACQ_NODE_AND ? !is_and : kind_of(p) != ACQ_TOKEN_OR)
        return false;
    acq_lexer_next(&p->lexer);
    return true;
}

/* conjunction = operand {"&" operand} */
static acq_status parse_conjunction(void *p, acq_run *run)
{
    acq_chain chain = {p, ACQ_NODE_AND, take_operand, take_separator};
    return acq_builder_chain(&((parser *)p)->builder, &chain, run);
}

/* formula = conjunction {"|" conjunction} */
static acq_status parse_formula(parser *p, acq_run *run)
{
    acq_chain chain = {p, ACQ_NODE_OR, parse_conjunction, take_separator};
    return acq_builder_chain(&p->builder, &chain, run);
}

acq_status acq_query_parse_benchmark(const char *formula, size_t length, acq_query **out,
                                     acq_error *error)
{
    parser p = {0};
    acq_run run = {0};
    acq_status status = acq_input_check(formula, length, error);
    if (status == ACQ_OK)
        status = acq_builder_init(&p.builder, error);
    if (status != ACQ_OK)
        return status;
    acq_lexer_init(&p.lexer, formula, length);
    status = parse_formula(&p, &run);
    if (status == ACQ_OK && kind_of(&p) != ACQ_TOKEN_END)
        status = fail_expected(&p, "'&', '|' or the end of the formula");
    if (status == ACQ_OK)
        status = acq_builder_finish(&p.builder, run, ACQ_SYMBOL_CONSTANT, out);
    acq_lexer_deinit(&p.lexer);
    acq_builder_deinit(&p.builder);
    return status;
}

typedef struct grounding {
    const char *const *names;
    const uint32_t *ids;
    size_t n;
} grounding;

static bool find_id(const grounding *g, const char *name, uint32_t *id)
{
    for (size_t i = 0; i < g->n; i++) {
        if (strcmp(g->names[i], name) == 0) {
            *id = g->ids[i];
            return true;
        }
    }
    return false;
}

/* One pass that only looks, so that a missing name leaves the query as it was. */
static acq_status check_names(const acq_query_name *names, uint32_t n, const grounding *g,
                              acq_error *error)
{
    uint32_t id;
    for (uint32_t i = 0; i < n; i++) {
        if (!find_id(g, names[i].text, &id))
            return acq_fail_at(error, ACQ_ERR_NAME, names[i].line, names[i].column,
                               "the grounding has no id for '%s'; add one",
                               acq_input_show(names[i].text, names[i].length).text);
    }
    return ACQ_OK;
}

static void ground_names(acq_query_name *names, uint32_t n, const grounding *g)
{
    for (uint32_t i = 0; i < n; i++)
        names[i].is_id = find_id(g, names[i].text, &names[i].id);
}

acq_status acq_query_ground_pairs(acq_query *query, const char *const *names, const uint32_t *ids,
                                  size_t n, acq_error *error)
{
    grounding g = {.names = names, .ids = ids, .n = n};
    acq_status status = check_names(query->relations, query->n_relations, &g, error);
    if (status == ACQ_OK)
        status = check_names(query->constants, query->n_constants, &g, error);
    if (status != ACQ_OK)
        return status;
    ground_names(query->relations, query->n_relations, &g);
    ground_names(query->constants, query->n_constants, &g);
    return ACQ_OK;
}

/* ---- printing ---- */

typedef struct labels {
    acq_printer *printer;
    bool keep_relations, keep_constants, keep_free, keep_exists;
} labels;

/* letter digits{1,9}, as the parser reads it */
static bool is_label(const acq_query_name *name, char letter, uint32_t *number)
{
    if (name->length < 2 || name->length > 10 || name->text[0] != letter)
        return false;
    for (size_t i = 1; i < name->length; i++) {
        if (name->text[i] < '0' || name->text[i] > '9')
            return false;
    }
    *number = (uint32_t)strtoul(name->text + 1, NULL, 10);
    return true;
}

static bool can_keep(const acq_query_name *names, uint32_t n, char letter)
{
    uint32_t number, last = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_label(&names[i], letter, &number) || names[i].is_inverse)
            return false;
        if (letter == 'f' && i > 0 && number <= last)
            return false;
        last = number;
    }
    return true;
}

static void print_label(acq_text *out, const acq_query_name *name, bool keep, char letter,
                        uint32_t index)
{
    if (keep)
        acq_text_add(out, name->text);
    else
        acq_text_format(out, "%c%u", letter, index + 1);
}

static void print_term(const labels *all, acq_term term)
{
    const acq_query *query = all->printer->query;
    acq_text *out = all->printer->out;
    if (!term.is_variable)
        print_label(out, &query->constants[term.id], all->keep_constants, 's', term.id);
    else if (term.id < query->n_free)
        print_label(out, &query->variables[term.id], all->keep_free, 'f', term.id);
    else
        print_label(out, &query->variables[term.id], all->keep_exists, 'e',
                    term.id - query->n_free);
}

static void print_atom(const labels *all, const acq_node *node)
{
    const acq_query *query = all->printer->query;
    print_label(all->printer->out, &query->relations[node->relation], all->keep_relations, 'r',
                node->relation);
    acq_text_add_char(all->printer->out, '(');
    print_term(all, node->left);
    acq_text_add_char(all->printer->out, ',');
    print_term(all, node->right);
    acq_text_add_char(all->printer->out, ')');
}

static acq_status print_node(const labels *all, const acq_node *node);

static acq_status print_group(const labels *all, const acq_node *node)
{
    acq_printer_enter(all->printer);
    acq_text_add_char(all->printer->out, '(');
    acq_status status = print_node(all, node);
    acq_text_add_char(all->printer->out, ')');
    acq_printer_leave(all->printer);
    return status;
}

static acq_status print_not(const labels *all, const acq_node *node)
{
    acq_printer_enter(all->printer);
    acq_text_add_char(all->printer->out, '!');
    acq_status status = print_group(all, node->children[0]);
    acq_printer_leave(all->printer);
    return status;
}

static acq_status print_node(const labels *all, const acq_node *node)
{
    if (node->kind == ACQ_NODE_EQUAL)
        return acq_fail_at(all->printer->error, ACQ_ERR_INPUT, node->line, node->column,
                           "the benchmark syntax has no equality; use another syntax");
    if (node->kind == ACQ_NODE_ATOM) {
        print_atom(all, node);
        return ACQ_OK;
    }
    if (node->kind == ACQ_NODE_NOT)
        return print_not(all, node);
    for (uint32_t i = 0; i < node->n_children; i++) {
        if (i > 0)
            acq_text_add_char(all->printer->out, node->kind == ACQ_NODE_AND ? '&' : '|');
        acq_status status = print_group(all, node->children[i]);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

acq_status acq_query_print_benchmark(acq_printer *printer)
{
    const acq_query *query = printer->query;
    const acq_query_name *exists = query->variables + query->n_free;
    if (query->limit != 0)
        return acq_fail(printer->error, ACQ_ERR_INPUT,
                        "the benchmark syntax has no LIMIT; print the query as SPARQL, or drop "
                        "the limit");
    labels all = {.printer = printer,
                  .keep_relations = can_keep(query->relations, query->n_relations, 'r'),
                  .keep_constants = can_keep(query->constants, query->n_constants, 's'),
                  .keep_free = can_keep(query->variables, query->n_free, 'f'),
                  .keep_exists = can_keep(exists, query->n_variables - query->n_free, 'e')};
    return print_node(&all, query->root);
}
