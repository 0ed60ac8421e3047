/* print.c - checks what the printers promise together; and the text syntax:
 *
 *   Q(x) := exists y. r(x, y) & !s(y, "name")
 *
 * Names are always quoted, so a list of existentials never turns a name into a variable. A query
 * without existentials that has names in it needs no list either. */
#include "query/print.h"

#include <string.h>

#include "query/text/lexer.h"

const char *acq_syntax_get_name(acq_syntax syntax)
{
    static const char *const NAMES[] = {"text", "benchmark", "sparql"};
    return syntax < ACQ_N_SYNTAXES ? NAMES[syntax] : "unknown";
}

void acq_printer_enter(acq_printer *printer)
{
    if (++printer->depth > printer->deepest)
        printer->deepest = printer->depth;
}

void acq_printer_leave(acq_printer *printer)
{
    printer->depth--;
}

void acq_printer_cut(acq_text *out, size_t length)
{
    out->length = length;
    out->failed = false;
    if (out->bytes != NULL)
        out->bytes[length] = '\0';
}

static acq_status print(acq_printer *printer, acq_syntax syntax)
{
    switch (syntax) {
    case ACQ_SYNTAX_TEXT:
        return acq_query_print_text(printer);
    case ACQ_SYNTAX_BENCHMARK:
        return acq_query_print_benchmark(printer);
    case ACQ_SYNTAX_SPARQL:
        return acq_query_print_sparql(printer);
    case ACQ_N_SYNTAXES:
        break;
    }
    return acq_fail(printer->error, ACQ_ERR_USAGE, "unknown query syntax");
}

/* What is written must be readable again: within the limits of the parsers. */
static acq_status check_limits(const acq_printer *printer, size_t length, acq_syntax syntax)
{
    if (printer->deepest > ACQ_MOST_NESTING)
        return acq_fail(printer->error, ACQ_ERR_LIMIT,
                        "in the %s syntax the query would be nested %u levels deep, the limit is "
                        "%d; use another syntax",
                        acq_syntax_get_name(syntax), printer->deepest, (int)ACQ_MOST_NESTING);
    if (length > ACQ_MOST_TEXT)
        return acq_fail(printer->error, ACQ_ERR_LIMIT,
                        "in the %s syntax the query would have %zu bytes, the limit is %d",
                        acq_syntax_get_name(syntax), length, (int)ACQ_MOST_TEXT);
    return ACQ_OK;
}

acq_status acq_query_print(const acq_query *query, acq_syntax syntax, acq_text *out,
                           acq_error *error)
{
    acq_printer printer = {.query = query, .out = out, .error = error};
    size_t before = out->length;
    acq_status status = print(&printer, syntax);
    if (status == ACQ_OK)
        status = acq_text_finish(out, error);
    if (status == ACQ_OK)
        status = check_limits(&printer, out->length - before, syntax);
    if (status != ACQ_OK)
        acq_printer_cut(out, before);
    return status;
}

/* ---- the text syntax ---- */

static void print_relation(acq_text *out, const acq_query_name *name)
{
    if (name->is_inverse)
        acq_text_add(out, "inverse(");
    if (acq_lexer_is_word(name->text, name->length))
        acq_text_add_bytes(out, name->text, name->length);
    else
        acq_text_add_quoted(out, name->text, name->length);
    if (name->is_inverse)
        acq_text_add_char(out, ')');
}

void acq_query_print_fact(acq_text *out, const char *relation, bool is_inverse, const char *head,
                          const char *tail)
{
    acq_query_name name = {
        .text = relation, .length = strlen(relation), .is_inverse = is_inverse};
    print_relation(out, &name);
    acq_text_add_char(out, '(');
    acq_text_add_quoted(out, head, strlen(head));
    acq_text_add(out, ", ");
    acq_text_add_quoted(out, tail, strlen(tail));
    acq_text_add_char(out, ')');
}

static void print_term(const acq_printer *printer, acq_term term)
{
    const acq_query *query = printer->query;
    if (term.is_variable)
        acq_text_add(printer->out, query->variables[term.id].text);
    else
        acq_text_add_quoted(printer->out, query->constants[term.id].text,
                            query->constants[term.id].length);
}

static void print_atom(const acq_printer *printer, const acq_node *node)
{
    print_relation(printer->out, &printer->query->relations[node->relation]);
    acq_text_add_char(printer->out, '(');
    print_term(printer, node->left);
    acq_text_add(printer->out, ", ");
    print_term(printer, node->right);
    acq_text_add_char(printer->out, ')');
}

static void print_comparison(const acq_printer *printer, const acq_node *node, const char *sign)
{
    print_term(printer, node->left);
    acq_text_add(printer->out, sign);
    print_term(printer, node->right);
}

static void print_node(acq_printer *printer, const acq_node *node, bool in_and);

static void print_group(acq_printer *printer, const acq_node *node)
{
    acq_printer_enter(printer);
    acq_text_add_char(printer->out, '(');
    print_node(printer, node, false);
    acq_text_add_char(printer->out, ')');
    acq_printer_leave(printer);
}

static void print_not(acq_printer *printer, const acq_node *child)
{
    if (child->kind == ACQ_NODE_EQUAL) {
        print_comparison(printer, child, " != ");
        return;
    }
    acq_printer_enter(printer);
    acq_text_add_char(printer->out, '!');
    bool is_comparison = child->kind == ACQ_NODE_NOT && child->children[0]->kind == ACQ_NODE_EQUAL;
    if (child->kind == ACQ_NODE_ATOM || (child->kind == ACQ_NODE_NOT && !is_comparison))
        print_node(printer, child, true);
    else
        print_group(printer, child);
    acq_printer_leave(printer);
}

/* Children of AND that are OR need parentheses; an AND inside an OR does not. */
static void print_node(acq_printer *printer, const acq_node *node, bool in_and)
{
    if (node->kind == ACQ_NODE_ATOM) {
        print_atom(printer, node);
    } else if (node->kind == ACQ_NODE_EQUAL) {
        print_comparison(printer, node, " = ");
    } else if (node->kind == ACQ_NODE_NOT) {
        print_not(printer, node->children[0]);
    } else if (in_and) {
        print_group(printer, node);
    } else {
        for (uint32_t i = 0; i < node->n_children; i++) {
            if (i > 0)
                acq_text_add(printer->out, node->kind == ACQ_NODE_AND ? " & " : " | ");
            print_node(printer, node->children[i], node->kind == ACQ_NODE_AND);
        }
    }
}

static void print_variables(const acq_printer *printer, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        if (i > from)
            acq_text_add(printer->out, ", ");
        acq_text_add(printer->out, printer->query->variables[i].text);
    }
}

static acq_status check(const acq_printer *printer)
{
    const acq_query *query = printer->query;
    if (query->limit != 0)
        return acq_fail(printer->error, ACQ_ERR_INPUT,
                        "the text syntax has no LIMIT; print the query as SPARQL, or drop the "
                        "limit");
    for (uint32_t i = 0; i < query->n_variables; i++) {
        const acq_query_name *name = &query->variables[i];
        if (!acq_lexer_is_word(name->text, name->length))
            return acq_fail(printer->error, ACQ_ERR_INPUT,
                            "the text syntax has no variable called '%s'; rename it",
                            acq_input_show(name->text, name->length).text);
    }
    return ACQ_OK;
}

acq_status acq_query_print_text(acq_printer *printer)
{
    const acq_query *query = printer->query;
    acq_status status = check(printer);
    if (status != ACQ_OK)
        return status;
    acq_text_add(printer->out, query->name);
    acq_text_add_char(printer->out, '(');
    print_variables(printer, 0, query->n_free);
    acq_text_add(printer->out, ") := ");
    if (query->n_variables > query->n_free) {
        acq_text_add(printer->out, "exists ");
        print_variables(printer, query->n_free, query->n_variables);
        acq_text_add(printer->out, ". ");
    }
    print_node(printer, query->root, false);
    return ACQ_OK;
}

void acq_query_print_node(const acq_query *query, const acq_node *node, acq_text *out)
{
    acq_printer printer = {.query = query, .out = out};
    print_node(&printer, node, true);
}
