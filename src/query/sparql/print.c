/* print.c - SELECT DISTINCT ?x WHERE { ?x <r> ?y . FILTER NOT EXISTS { ?y <s> <name> . } }
 *
 * First a plan: which parts of the query become patterns, and which become filters. Atoms and
 * VALUES bind their variables. A disjunction becomes UNION when each branch binds all variables
 * that its own filters need; else it is a filter, like every negation, with EXISTS around the
 * atoms, and the group around it must bind its variables. The plan mirrors what the SPARQL parser
 * accepts. Its cost: linear in the query, times the nesting of ORs. */
#include "query/print.h"

#include <string.h>

#include "base/memory.h"
#include "query/input.h"

typedef enum sparql_part {
    PART_TRIPLE,
    PART_VALUES,
    PART_UNION,
    PART_FILTER,
} sparql_part;

typedef struct sparql_plan {
    bool *unions; /* for each OR that might be a UNION, in the order they are met: is it? */
    size_t n_unions, unions_capacity;
    size_t next; /* the printer's place in unions */
} sparql_plan;

typedef struct mark {
    uint32_t round, count;
} mark;

typedef struct planner {
    sparql_plan *plan;
    uint32_t *bound; /* variables that the current group binds, from its mark up */
    size_t n_bound, bound_capacity;
    uint32_t *used; /* variables that its filters need */
    size_t n_used, used_capacity;
    mark *marks; /* by variable */
    uint32_t round;
    uint32_t unbound; /* a variable that a filter needed in vain */
    acq_error *error;
} planner;

/* Nodes of a group: the children of an AND, or the node itself. */
static acq_node *const *group_nodes(acq_node *const *node, uint32_t *n)
{
    bool is_and = (*node)->kind == ACQ_NODE_AND;
    *n = is_and ? (*node)->n_children : 1;
    return is_and ? (*node)->children : node;
}

/* VALUES: variables of one row (the row's nodes), rows of the node. */
static acq_node *const *values_rows(acq_node *const *node, uint32_t *n)
{
    bool is_or = (*node)->kind == ACQ_NODE_OR;
    *n = is_or ? (*node)->n_children : 1;
    return is_or ? (*node)->children : node;
}

static bool is_value(const acq_node *node)
{
    return node->kind == ACQ_NODE_EQUAL && node->left.is_variable && !node->right.is_variable;
}

/* A row binds different variables, the same ones in the same order as the first row. */
static bool is_row(acq_node *const *row, acq_node *const *first)
{
    enum { MOST_COLUMNS = 8 }; /* wider rows are left to UNION */
    uint32_t n, n_first;
    acq_node *const *values = group_nodes(row, &n);
    acq_node *const *firsts = group_nodes(first, &n_first);
    if (n != n_first || n > MOST_COLUMNS)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!is_value(values[i]) || values[i]->left.id != firsts[i]->left.id)
            return false;
        for (uint32_t j = 0; j < i; j++) {
            if (values[j]->left.id == values[i]->left.id)
                return false;
        }
    }
    return true;
}

static bool is_values(acq_node *const *node)
{
    uint32_t n;
    acq_node *const *rows = values_rows(node, &n);
    for (uint32_t i = 0; i < n; i++) {
        if (!is_row(&rows[i], &rows[0]))
            return false;
    }
    return true;
}

static acq_status add_number(planner *p, uint32_t **list, size_t *n, size_t *capacity,
                             uint32_t value)
{
    if (ACQ_RESERVE(*list, *capacity, *n + 1) != ACQ_OK)
        return acq_fail_memory(p->error);
    (*list)[(*n)++] = value;
    return ACQ_OK;
}

static acq_status bind(planner *p, acq_term term)
{
    return term.is_variable ? add_number(p, &p->bound, &p->n_bound, &p->bound_capacity, term.id)
                            : ACQ_OK;
}

static acq_status use(planner *p, acq_term term)
{
    return term.is_variable ? add_number(p, &p->used, &p->n_used, &p->used_capacity, term.id)
                            : ACQ_OK;
}

static acq_status use_all(planner *p, const acq_node *node)
{
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; status == ACQ_OK && i < node->n_children; i++)
        status = use_all(p, node->children[i]);
    if (node->kind != ACQ_NODE_ATOM && node->kind != ACQ_NODE_EQUAL)
        return status;
    status = use(p, node->left);
    return status == ACQ_OK ? use(p, node->right) : status;
}

static acq_status bind_values(planner *p, acq_node *const *node)
{
    uint32_t n_rows, n;
    acq_node *const *rows = values_rows(node, &n_rows);
    acq_node *const *values = group_nodes(&rows[0], &n);
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; status == ACQ_OK && i < n; i++)
        status = bind(p, values[i]->left);
    return status;
}

static acq_status plan_group(planner *p, acq_node *const *node, bool *is_closed);

/* Keeps, from `from` up, what all branches bind: branch i adds to variables that count i. */
static void count_branch(planner *p, size_t from, uint32_t branch)
{
    for (size_t i = from; i < p->n_bound; i++) {
        mark *m = &p->marks[p->bound[i]];
        if (branch == 0)
            *m = (mark){.round = p->round, .count = 1};
        else if (m->round == p->round && m->count == branch)
            m->count++;
    }
}

static void keep_common(planner *p, size_t from, size_t first_end, uint32_t n_branches)
{
    size_t kept = from;
    for (size_t i = from; i < first_end; i++) {
        mark *m = &p->marks[p->bound[i]];
        if (m->count == n_branches)
            p->bound[kept++] = p->bound[i];
        m->count = 0;
    }
    p->n_bound = kept;
}

/* Leaves what the union binds, or nothing when a branch is not closed. */
static acq_status plan_union(planner *p, const acq_node *node, bool *is_union)
{
    size_t from = p->n_bound, decision = p->plan->n_unions;
    sparql_plan *plan = p->plan;
    if (ACQ_RESERVE(plan->unions, plan->unions_capacity, decision + 1) != ACQ_OK)
        return acq_fail_memory(p->error);
    plan->unions[plan->n_unions++] = true;
    size_t *ends = acq_alloc(node->n_children, sizeof *ends);
    if (ends == NULL)
        return acq_fail_memory(p->error);
    acq_status status = ACQ_OK;
    *is_union = true;
    for (uint32_t i = 0; status == ACQ_OK && *is_union && i < node->n_children; i++) {
        status = plan_group(p, &node->children[i], is_union);
        ends[i] = p->n_bound;
    }
    if (status == ACQ_OK && *is_union) {
        p->round++;
        for (uint32_t i = 0; i < node->n_children; i++) {
            p->n_bound = ends[i];
            count_branch(p, i == 0 ? from : ends[i - 1], i);
        }
        keep_common(p, from, ends[0], node->n_children);
    } else if (status == ACQ_OK) {
        p->n_bound = from;
        plan->unions[decision] = false;
        plan->n_unions = decision + 1;
    }
    acq_free(ends);
    return status;
}

static acq_status plan_node(planner *p, acq_node *const *node)
{
    bool is_union = false;
    if ((*node)->kind == ACQ_NODE_ATOM) {
        acq_status status = bind(p, (*node)->left);
        return status == ACQ_OK ? bind(p, (*node)->right) : status;
    }
    if (is_values(node))
        return bind_values(p, node);
    if ((*node)->kind != ACQ_NODE_OR)
        return use_all(p, *node);
    acq_status status = plan_union(p, *node, &is_union);
    return status == ACQ_OK && !is_union ? use_all(p, *node) : status;
}

/* A group is closed when it binds all that its filters use. */
static acq_status plan_group(planner *p, acq_node *const *node, bool *is_closed)
{
    size_t bound_from = p->n_bound, used_from = p->n_used;
    uint32_t n;
    acq_node *const *nodes = group_nodes(node, &n);
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; status == ACQ_OK && i < n; i++)
        status = plan_node(p, &nodes[i]);
    *is_closed = true;
    p->round++;
    for (size_t i = bound_from; i < p->n_bound; i++)
        p->marks[p->bound[i]].round = p->round;
    for (size_t i = used_from; *is_closed && i < p->n_used; i++) {
        if (p->marks[p->used[i]].round != p->round) {
            *is_closed = false;
            p->unbound = p->used[i];
        }
    }
    p->n_used = used_from;
    return status;
}

static acq_status plan_query(planner *p, const acq_query *query)
{
    bool is_closed;
    acq_status status = plan_group(p, &query->root, &is_closed);
    if (status != ACQ_OK)
        return status;
    for (uint32_t i = 0; is_closed && i < query->n_free; i++) {
        if (p->marks[i].round != p->round) {
            is_closed = false;
            p->unbound = i;
        }
    }
    if (is_closed)
        return ACQ_OK;
    const acq_query_name *name = &query->variables[p->unbound];
    return acq_fail_at(p->error, ACQ_ERR_INPUT, name->line, name->column,
                       "SPARQL cannot say this query: no positive atom binds '%s' in every case; "
                       "use another syntax or add an atom",
                       acq_input_show(name->text, name->length).text);
}

static void plan_deinit(sparql_plan *plan)
{
    acq_free(plan->unions);
    *plan = (sparql_plan){0};
}

/* ACQ_ERR_INPUT names a variable that nothing binds. */
static acq_status plan_init(sparql_plan *plan, const acq_query *query, acq_error *error)
{
    *plan = (sparql_plan){0};
    planner p = {.plan = plan, .error = error};
    p.marks = acq_zalloc(query->n_variables, sizeof *p.marks);
    acq_status status = p.marks == NULL ? acq_fail_memory(error) : plan_query(&p, query);
    acq_free(p.marks);
    acq_free(p.bound);
    acq_free(p.used);
    if (status != ACQ_OK)
        plan_deinit(plan);
    return status;
}

/* What a child of a group becomes. The printer asks once for each, in order, and goes into the
 * branches of a UNION right after it. */
static sparql_part plan_next(sparql_plan *plan, const acq_node *node)
{
    acq_node *const self = (acq_node *)node;
    if (node->kind == ACQ_NODE_ATOM)
        return PART_TRIPLE;
    if (is_values(&self))
        return PART_VALUES;
    if (node->kind != ACQ_NODE_OR)
        return PART_FILTER;
    return plan->unions[plan->next++] ? PART_UNION : PART_FILTER;
}

/* ---- the printer ---- */

typedef struct sparql {
    acq_printer *printer;
    sparql_plan plan;
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
    acq_node *const *rows = values_rows(node, &n_rows);
    acq_node *const *first = group_nodes(&rows[0], &n);
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
        acq_node *const *values = group_nodes(&rows[row], &n);
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
    switch (plan_next(&s->plan, *node)) {
    case PART_TRIPLE:
        print_triple(s, *node);
        break;
    case PART_VALUES:
        print_values(s, node);
        break;
    case PART_FILTER:
        print_filter(s, *node);
        break;
    case PART_UNION:
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
    acq_node *const *nodes = group_nodes(node, &n);
    open_level(s, "{ ");
    for (uint32_t i = 0; i < n; i++)
        print_part(s, &nodes[i]);
    close_level(s, "}");
}

acq_status acq_query_print_sparql(acq_printer *printer)
{
    const acq_query *query = printer->query;
    sparql s = {.printer = printer};
    acq_status status = plan_init(&s.plan, query, printer->error);
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
    plan_deinit(&s.plan);
    return ACQ_OK;
}
