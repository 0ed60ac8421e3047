/* print.c - SELECT DISTINCT ?x WHERE { ?x <r> ?y . FILTER NOT EXISTS { ?y <s> <name> . } }
 *
 * Patterns and unions are written as sparql_plan.h decides; the rest goes into FILTER, with
 * EXISTS around the atoms. */
#include "query/printers.h"
#include "query/sparql/plan.h"

#include <string.h>

typedef struct sparql {
    acq_printer *printer;
    acq_sparql_plan plan;
} sparql;

static void add(sparql *s, const char *piece)
{
    acq_text_add(s->printer->out, piece);
}

static void open_level(sparql *s, const char *piece)
{
    acq_printer_enter(s->printer);
    add(s, piece);
}

static void close_level(sparql *s, const char *piece)
{
    add(s, piece);
    acq_printer_leave(s->printer);
}

/* <...>, with \uXXXX for what cannot stand there (or, in front, would look like "less than"). */
static void print_name(acq_text *out, const acq_query_name *name)
{
    acq_text_add_char(out, '<');
    for (size_t i = 0; i < name->length; i++) {
        unsigned char c = (unsigned char)name->text[i];
        if (c < 0x20 || c == 0x7F || memchr("<>\\", c, 3) != NULL ||
            (i == 0 && memchr(" =?$", c, 4) != NULL))
            acq_text_format(out, "\\u%04X", c);
        else
            acq_text_add_char(out, (char)c);
    }
    acq_text_add_char(out, '>');
}

static void print_variable(sparql *s, uint32_t variable)
{
    acq_text_add_char(s->printer->out, '?');
    add(s, s->printer->query->variables[variable].text);
}

static void print_term(sparql *s, acq_term term)
{
    if (term.is_variable)
        print_variable(s, term.id);
    else
        print_name(s->printer->out, &s->printer->query->constants[term.id]);
}

static void print_triple(sparql *s, const acq_node *node)
{
    const acq_query_name *relation = &s->printer->query->relations[node->relation];
    print_term(s, node->left);
    add(s, relation->is_inverse ? " ^" : " ");
    print_name(s->printer->out, relation);
    add(s, " ");
    print_term(s, node->right);
    add(s, " . ");
}

static void print_values(sparql *s, acq_node *const *node)
{
    uint32_t n_rows, n;
    acq_node *const *rows = acq_sparql_values_rows(node, &n_rows);
    acq_node *const *first = acq_sparql_group_nodes(&rows[0], &n);
    const char *open = n > 1 ? "(" : "", *close = n > 1 ? ") " : " ";
    add(s, "VALUES ");
    add(s, open);
    for (uint32_t i = 0; i < n; i++) {
        add(s, i > 0 ? " " : "");
        print_variable(s, first[i]->left.id);
    }
    add(s, close);
    add(s, "{ ");
    for (uint32_t row = 0; row < n_rows; row++) {
        acq_node *const *values = acq_sparql_group_nodes(&rows[row], &n);
        add(s, open);
        for (uint32_t i = 0; i < n; i++) {
            add(s, i > 0 ? " " : "");
            print_term(s, values[i]->right);
        }
        add(s, close);
    }
    add(s, "} ");
}

static bool is_pattern(const acq_node *node)
{
    if (node->kind == ACQ_NODE_ATOM)
        return true;
    for (uint32_t i = 0; i < node->n_children; i++) {
        if (node->children[i]->kind != ACQ_NODE_ATOM)
            return false;
    }
    return node->kind == ACQ_NODE_AND;
}

/* EXISTS { triples } */
static void print_exists(sparql *s, const acq_node *node)
{
    open_level(s, "EXISTS { ");
    if (node->kind == ACQ_NODE_ATOM)
        print_triple(s, node);
    for (uint32_t i = 0; i < node->n_children; i++)
        print_triple(s, node->children[i]);
    close_level(s, "}");
}

static void print_comparison(sparql *s, const acq_node *node, const char *sign)
{
    print_term(s, node->left);
    add(s, sign);
    print_term(s, node->right);
}

static void print_expression(sparql *s, const acq_node *node, bool in_and);

static void print_bracketed(sparql *s, const acq_node *node)
{
    open_level(s, "(");
    print_expression(s, node, false);
    close_level(s, ")");
}

static void print_not(sparql *s, const acq_node *child)
{
    if (child->kind == ACQ_NODE_EQUAL) {
        print_comparison(s, child, " != ");
        return;
    }
    bool is_exists = is_pattern(child);
    open_level(s, is_exists ? "NOT " : "!");
    if (is_exists)
        print_exists(s, child);
    else if (child->kind == ACQ_NODE_NOT && child->children[0]->kind != ACQ_NODE_EQUAL)
        print_not(s, child->children[0]);
    else
        print_bracketed(s, child);
    close_level(s, "");
}

/* in_and: the node is an operand of &&. */
static void print_expression(sparql *s, const acq_node *node, bool in_and)
{
    if (is_pattern(node)) {
        print_exists(s, node);
    } else if (node->kind == ACQ_NODE_EQUAL) {
        print_comparison(s, node, " = ");
    } else if (node->kind == ACQ_NODE_NOT) {
        print_not(s, node->children[0]);
    } else if (in_and) {
        print_bracketed(s, node);
    } else {
        for (uint32_t i = 0; i < node->n_children; i++) {
            if (i > 0)
                add(s, node->kind == ACQ_NODE_AND ? " && " : " || ");
            print_expression(s, node->children[i], node->kind == ACQ_NODE_AND);
        }
    }
}

static void print_filter(sparql *s, const acq_node *node)
{
    add(s, "FILTER ");
    if (node->kind == ACQ_NODE_NOT && is_pattern(node->children[0]))
        print_not(s, node->children[0]);
    else
        print_bracketed(s, node);
    add(s, " ");
}

static void print_group(sparql *s, acq_node *const *node);

static void print_part(sparql *s, acq_node *const *node)
{
    switch (acq_sparql_plan_next(&s->plan, *node)) {
    case ACQ_PART_TRIPLE:
        print_triple(s, *node);
        break;
    case ACQ_PART_VALUES:
        print_values(s, node);
        break;
    case ACQ_PART_FILTER:
        print_filter(s, *node);
        break;
    case ACQ_PART_UNION:
        for (uint32_t i = 0; i < (*node)->n_children; i++) {
            add(s, i > 0 ? " UNION " : "");
            print_group(s, &(*node)->children[i]);
        }
        add(s, " ");
        break;
    }
}

static void print_group(sparql *s, acq_node *const *node)
{
    uint32_t n;
    acq_node *const *nodes = acq_sparql_group_nodes(node, &n);
    open_level(s, "{ ");
    for (uint32_t i = 0; i < n; i++)
        print_part(s, &nodes[i]);
    close_level(s, "}");
}

acq_status acq_query_print_sparql(acq_printer *printer)
{
    const acq_query *query = printer->query;
    sparql s = {.printer = printer};
    acq_status status = acq_sparql_plan_init(&s.plan, query, printer->error);
    if (status != ACQ_OK)
        return status;
    add(&s, query->n_free == 0 ? "ASK " : "SELECT DISTINCT ");
    for (uint32_t i = 0; i < query->n_free; i++) {
        print_variable(&s, i);
        add(&s, " ");
    }
    add(&s, "WHERE ");
    print_group(&s, &query->root);
    if (query->limit != 0)
        acq_text_format(printer->out, " LIMIT %llu", (unsigned long long)query->limit);
    acq_sparql_plan_deinit(&s.plan);
    return ACQ_OK;
}
