/* plan.c - see sparql_plan.h. Cost: linear in the query, times the nesting of ORs. */
#include "query/sparql/plan.h"

#include "base/memory.h"
#include "query/input.h"

typedef struct mark {
    uint32_t round, count;
} mark;

typedef struct planner {
    acq_sparql_plan *plan;
    uint32_t *bound; /* variables that the current group binds, from its mark up */
    size_t n_bound, bound_capacity;
    uint32_t *used; /* variables that its filters need */
    size_t n_used, used_capacity;
    mark *marks; /* by variable */
    uint32_t round;
    uint32_t unbound; /* a variable that a filter needed in vain */
    acq_error *error;
} planner;

acq_node *const *acq_sparql_group_nodes(acq_node *const *node, uint32_t *n)
{
    bool is_and = (*node)->kind == ACQ_NODE_AND;
    *n = is_and ? (*node)->n_children : 1;
    return is_and ? (*node)->children : node;
}

acq_node *const *acq_sparql_values_rows(acq_node *const *node, uint32_t *n)
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
    acq_node *const *values = acq_sparql_group_nodes(row, &n);
    acq_node *const *firsts = acq_sparql_group_nodes(first, &n_first);
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
    acq_node *const *rows = acq_sparql_values_rows(node, &n);
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
    acq_node *const *rows = acq_sparql_values_rows(node, &n_rows);
    acq_node *const *values = acq_sparql_group_nodes(&rows[0], &n);
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
    acq_sparql_plan *plan = p->plan;
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
    acq_node *const *nodes = acq_sparql_group_nodes(node, &n);
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

acq_status acq_sparql_plan_init(acq_sparql_plan *plan, const acq_query *query, acq_error *error)
{
    *plan = (acq_sparql_plan){0};
    planner p = {.plan = plan, .error = error};
    p.marks = acq_zalloc(query->n_variables, sizeof *p.marks);
    acq_status status = p.marks == NULL ? acq_fail_memory(error) : plan_query(&p, query);
    acq_free(p.marks);
    acq_free(p.bound);
    acq_free(p.used);
    if (status != ACQ_OK)
        acq_sparql_plan_deinit(plan);
    return status;
}

void acq_sparql_plan_deinit(acq_sparql_plan *plan)
{
    acq_free(plan->unions);
    *plan = (acq_sparql_plan){0};
}

acq_sparql_part acq_sparql_plan_next(acq_sparql_plan *plan, const acq_node *node)
{
    acq_node *const self = (acq_node *)node;
    if (node->kind == ACQ_NODE_ATOM)
        return ACQ_PART_TRIPLE;
    if (is_values(&self))
        return ACQ_PART_VALUES;
    if (node->kind != ACQ_NODE_OR)
        return ACQ_PART_FILTER;
    return plan->unions[plan->next++] ? ACQ_PART_UNION : ACQ_PART_FILTER;
}
