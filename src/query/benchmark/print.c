/* print.c - the benchmark's formulas: (r1(s1,e1))&((r2(e1,f1))|(!(r3(s2,f1))))
 *
 * A kind of names (relations, constants, existentials, free variables) that is in the form of the
 * benchmark already keeps its names, provided free variables stand in the order of their numbers;
 * else the kind is numbered from 1 in the order of its table. */
#include "query/printers.h"

#include <stdlib.h>

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
