/* model.c - compiling a problem; see model.h. Cost: O(literals log literals). */
#include "search/exact/state.h"

#include <stdlib.h>
#include <string.h>

/* A binary literal between two different nodes, before grouping. */
typedef struct draft {
    uint32_t x, y;
    uint8_t order;    /* 0 positive, 1 negated, 2 differ */
    acq_rel relation; /* as seen from x */
    model_atom atom;
} draft;

typedef struct compiler {
    const acq_problem *problem;
    const acq_predictor *predictor;
    acq_arena *arena;
    acq_error *error;
    model *m;
    uint32_t *parent;  /* union-find over variables */
    acq_ent *constant; /* value of a class, ACQ_NO_ID: none */
    draft *drafts;
    uint32_t n_drafts;
} compiler;

static uint32_t find_class(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

static void give_value(compiler *c, uint32_t class, acq_ent value)
{
    if (c->constant[class] == ACQ_NO_ID)
        c->constant[class] = value;
    else if (c->constant[class] != value)
        c->m->is_false = true;
}

static void merge(compiler *c, acq_place left, acq_place right)
{
    if (left.is_variable && right.is_variable) {
        uint32_t a = find_class(c->parent, left.id), b = find_class(c->parent, right.id);
        uint32_t low = a < b ? a : b, high = a < b ? b : a;
        c->parent[high] = low;
        if (high != low && c->constant[high] != ACQ_NO_ID)
            give_value(c, low, c->constant[high]);
    } else {
        acq_place variable = left.is_variable ? left : right;
        acq_place value = left.is_variable ? right : left;
        give_value(c, find_class(c->parent, variable.id), value.id);
    }
}

/* Solves unit equalities and numbers the nodes that remain. */
static acq_status number_nodes(compiler *c)
{
    const acq_problem *p = c->problem;
    c->parent = acq_arena_alloc(c->arena, p->n_variables, sizeof *c->parent);
    c->constant = acq_arena_alloc(c->arena, p->n_variables, sizeof *c->constant);
    c->m->places = acq_arena_alloc(c->arena, p->n_variables, sizeof *c->m->places);
    if (c->parent == NULL || c->constant == NULL || c->m->places == NULL)
        return ACQ_ERR_MEMORY;
    for (uint32_t v = 0; v < p->n_variables; v++) {
        c->parent[v] = v;
        c->constant[v] = ACQ_NO_ID;
    }
    for (uint32_t i = 0; i < p->n_literals; i++)
        if (p->literals[i].is_equality && !p->literals[i].is_negated)
            merge(c, p->literals[i].left, p->literals[i].right);
    for (uint32_t v = 0; v < p->n_variables; v++) {
        uint32_t class = find_class(c->parent, v);
        if (v < p->n_fixed)
            c->m->places[v] = (acq_place){.is_variable = false, .id = ACQ_NO_ID};
        else if (c->constant[class] != ACQ_NO_ID)
            c->m->places[v] = (acq_place){.is_variable = false, .id = c->constant[class]};
        else if (class == v)
            c->m->places[v] = (acq_place){.is_variable = true, .id = c->m->n_nodes++};
        else
            c->m->places[v] = c->m->places[class];
    }
    return ACQ_OK;
}

static acq_place place_of(const compiler *c, acq_place place)
{
    return place.is_variable ? c->m->places[place.id] : place;
}

static acq_status open_both(compiler *c, acq_rel relation, const acq_links **forward,
                            const acq_links **backward)
{
    acq_status status = acq_predictor_open_links(c->predictor, relation, forward, c->error);
    if (status == ACQ_OK)
        status = acq_predictor_open_links(c->predictor, acq_inverse(relation), backward, c->error);
    if (status == ACQ_OK && (*forward)->scores != NULL)
        c->m->is_binary = false;
    return status;
}

static acq_status compile_literal(compiler *c, const acq_literal *from, model_literal *to)
{
    *to = (model_literal){.is_equality = from->is_equality,
                          .is_negated = from->is_negated,
                          .relation = from->relation,
                          .left = place_of(c, from->left),
                          .right = place_of(c, from->right)};
    return from->is_equality ? ACQ_OK : open_both(c, from->relation, &to->forward, &to->backward);
}

static acq_status add_unary(compiler *c, uint32_t node, model_unary unary)
{
    model_unary *copy = acq_arena_alloc(c->arena, 1, sizeof *copy);
    if (copy == NULL)
        return ACQ_ERR_MEMORY;
    unary.next = c->m->nodes[node].unaries;
    *copy = unary;
    c->m->nodes[node].unaries = copy;
    return ACQ_OK;
}

static acq_status add_one_sided(compiler *c, const model_literal *l)
{
    bool left = l->left.is_variable;
    uint32_t node = left ? l->left.id : l->right.id;
    acq_ent value = left ? l->right.id : l->left.id;
    if (l->is_equality)
        return add_unary(c, node, (model_unary){.kind = UNARY_NOT_VALUE, .value = value});
    acq_row row = acq_links_get_row(left ? l->backward : l->forward, value);
    return add_unary(c, node,
                     (model_unary){.kind = l->is_negated ? UNARY_NOT_ROW : UNARY_ROW, .row = row});
}

static acq_status add_loop(compiler *c, const model_literal *l)
{
    if (l->is_equality) { /* x != x after merging */
        c->m->is_false = true;
        return ACQ_OK;
    }
    unary_kind kind = l->is_negated ? UNARY_NOT_LOOP : UNARY_LOOP;
    return add_unary(c, l->left.id, (model_unary){.kind = kind, .links = l->forward});
}

static void add_draft(compiler *c, const model_literal *l)
{
    bool swap = l->left.id > l->right.id;
    c->drafts[c->n_drafts++] = (draft){
        .x = swap ? l->right.id : l->left.id,
        .y = swap ? l->left.id : l->right.id,
        .order = l->is_equality  ? 2
                 : l->is_negated ? 1
                                 : 0,
        .relation = swap ? acq_inverse(l->relation) : l->relation,
        .atom = {.xy = swap ? l->backward : l->forward, .yx = swap ? l->forward : l->backward},
    };
}

static acq_status sort_out(compiler *c, const model_literal *l)
{
    if (!l->left.is_variable && !l->right.is_variable) {
        c->m->ground[c->m->n_ground++] = *l;
        return ACQ_OK;
    }
    if (!l->left.is_variable || !l->right.is_variable)
        return add_one_sided(c, l);
    if (l->left.id == l->right.id)
        return add_loop(c, l);
    add_draft(c, l);
    return ACQ_OK;
}

static acq_status compile_units(compiler *c)
{
    const acq_problem *p = c->problem;
    c->drafts = acq_arena_alloc(c->arena, p->n_literals, sizeof *c->drafts);
    c->m->ground = acq_arena_alloc(c->arena, p->n_literals, sizeof *c->m->ground);
    c->m->nodes = acq_arena_zalloc(c->arena, c->m->n_nodes, sizeof *c->m->nodes);
    if (c->drafts == NULL || c->m->ground == NULL || c->m->nodes == NULL)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < p->n_literals; i++) {
        model_literal literal;
        if (p->literals[i].is_equality && !p->literals[i].is_negated)
            continue;
        acq_status status = compile_literal(c, &p->literals[i], &literal);
        if (status == ACQ_OK)
            status = sort_out(c, &literal);
        if (status != ACQ_OK)
            return status;
    }
    for (uint32_t v = 0; v < p->n_free; v++)
        if (c->m->places[v].is_variable)
            c->m->nodes[c->m->places[v].id].is_free = true;
    return ACQ_OK;
}

static int compare_drafts(const void *left, const void *right)
{
    const draft *a = left, *b = right;
    if (a->x != b->x)
        return a->x < b->x ? -1 : 1;
    if (a->y != b->y)
        return a->y < b->y ? -1 : 1;
    if (a->order != b->order)
        return a->order < b->order ? -1 : 1;
    return a->relation == b->relation ? 0 : a->relation < b->relation ? -1 : 1;
}

static bool same_edge(const draft *a, const draft *b)
{
    return a->x == b->x && a->y == b->y;
}

/* Drafts [begin, end) share their two nodes and are sorted; atoms go to `atoms`. */
static void fill_edge(const draft *begin, const draft *end, model_atom *atoms, model_edge *edge)
{
    *edge = (model_edge){.x = begin->x, .y = begin->y, .atoms = atoms};
    for (const draft *d = begin; d < end; d++) {
        if (d->order == 2) {
            edge->differ = true;
            continue;
        }
        if (d > begin && compare_drafts(d, d - 1) == 0)
            continue;
        atoms[edge->n_positive + edge->n_negated] = d->atom;
        if (d->order == 0)
            edge->n_positive++;
        else
            edge->n_negated++;
    }
}

static acq_status compile_edges(compiler *c)
{
    model *m = c->m;
    model_atom *atoms = acq_arena_alloc(c->arena, c->n_drafts, sizeof *atoms);
    m->edges = acq_arena_alloc(c->arena, c->n_drafts, sizeof *m->edges);
    if (atoms == NULL || m->edges == NULL)
        return ACQ_ERR_MEMORY;
    if (c->n_drafts > 1)
        qsort(c->drafts, c->n_drafts, sizeof *c->drafts, compare_drafts);
    for (uint32_t i = 0, end; i < c->n_drafts; i = end) {
        for (end = i + 1; end < c->n_drafts && same_edge(&c->drafts[i], &c->drafts[end]);)
            end++;
        fill_edge(c->drafts + i, c->drafts + end, atoms + i, &m->edges[m->n_edges++]);
    }
    return ACQ_OK;
}

static acq_status link_edges(compiler *c)
{
    model *m = c->m;
    for (uint32_t i = 0; i < m->n_edges; i++) {
        m->nodes[m->edges[i].x].n_edges++;
        m->nodes[m->edges[i].y].n_edges++;
    }
    for (uint32_t n = 0; n < m->n_nodes; n++) {
        model_node *node = &m->nodes[n];
        node->edges = acq_arena_alloc(c->arena, node->n_edges, sizeof *node->edges);
        if (node->edges == NULL)
            return ACQ_ERR_MEMORY;
        node->n_edges = 0;
    }
    for (uint32_t i = 0; i < m->n_edges; i++) {
        model_node *x = &m->nodes[m->edges[i].x], *y = &m->nodes[m->edges[i].y];
        x->edges[x->n_edges++] = &m->edges[i];
        y->edges[y->n_edges++] = &m->edges[i];
    }
    return ACQ_OK;
}

static model_branch *compile_branch(compiler *c, const acq_branch *from, acq_status *status)
{
    model_branch *to = acq_arena_zalloc(c->arena, 1, sizeof *to);
    if (to == NULL) {
        *status = ACQ_ERR_MEMORY;
        return NULL;
    }
    to->kind = from->kind;
    if (from->kind == ACQ_BRANCH_LITERAL) {
        *status = compile_literal(c, &from->literal, &to->literal);
        return to;
    }
    to->children = acq_arena_alloc(c->arena, from->n_children, sizeof *to->children);
    if (to->children == NULL)
        *status = ACQ_ERR_MEMORY;
    for (uint32_t i = 0; *status == ACQ_OK && i < from->n_children; i++) {
        to->children[i] = compile_branch(c, from->children[i], status);
        to->n_children = i + 1;
    }
    return to;
}

static uint32_t count_literals(const model_branch *branch)
{
    uint32_t n = branch->kind == ACQ_BRANCH_LITERAL;
    for (uint32_t i = 0; i < branch->n_children; i++)
        n += count_literals(branch->children[i]);
    return n;
}

/* Appends the nodes of a branch to list[*n], each once: seen[node] == mark means listed. */
static void collect_nodes(const model_branch *branch, uint32_t *seen, uint32_t mark, uint32_t *list,
                          uint32_t *n)
{
    if (branch->kind == ACQ_BRANCH_LITERAL) {
        const acq_place places[] = {branch->literal.left, branch->literal.right};
        for (int i = 0; i < 2; i++) {
            if (places[i].is_variable && seen[places[i].id] != mark) {
                seen[places[i].id] = mark;
                list[(*n)++] = places[i].id;
            }
        }
        return;
    }
    for (uint32_t i = 0; i < branch->n_children; i++)
        collect_nodes(branch->children[i], seen, mark, list, n);
}

static acq_status compile_clause(compiler *c, const acq_branch *from, uint32_t index,
                                 uint32_t *seen, uint32_t *list)
{
    acq_status status = ACQ_OK;
    model_clause *clause = &c->m->clauses[index];
    uint32_t n = 0;
    *clause = (model_clause){.root = compile_branch(c, from, &status)};
    if (status != ACQ_OK)
        return status;
    clause->n_literals = count_literals(clause->root);
    collect_nodes(clause->root, seen, index + 1, list, &n);
    clause->nodes = acq_arena_alloc(c->arena, n, sizeof *list);
    if (clause->nodes == NULL)
        return ACQ_ERR_MEMORY;
    memcpy(clause->nodes, list, n * sizeof *list);
    clause->n_nodes = n;
    for (uint32_t i = 0; i < n; i++)
        c->m->nodes[list[i]].n_clauses++;
    return ACQ_OK;
}

static acq_status compile_clauses(compiler *c)
{
    model *m = c->m;
    const acq_problem *p = c->problem;
    uint32_t *seen = acq_arena_zalloc(c->arena, m->n_nodes, sizeof *seen);
    uint32_t *list = acq_arena_alloc(c->arena, m->n_nodes, sizeof *list);
    m->clauses = acq_arena_alloc(c->arena, p->n_clauses, sizeof *m->clauses);
    if (seen == NULL || list == NULL || m->clauses == NULL)
        return ACQ_ERR_MEMORY;
    for (uint32_t i = 0; i < p->n_clauses; i++) {
        acq_status status = compile_clause(c, p->clauses[i], i, seen, list);
        if (status != ACQ_OK)
            return status;
        m->n_clauses = i + 1;
    }
    for (uint32_t n = 0; n < m->n_nodes && p->n_clauses > 0; n++) {
        model_node *node = &m->nodes[n];
        node->clauses = acq_arena_alloc(c->arena, node->n_clauses, sizeof *node->clauses);
        if (node->clauses == NULL)
            return ACQ_ERR_MEMORY;
        node->n_clauses = 0;
    }
    for (uint32_t i = 0; i < m->n_clauses; i++)
        for (uint32_t j = 0; j < m->clauses[i].n_nodes; j++) {
            model_node *node = &m->nodes[m->clauses[i].nodes[j]];
            node->clauses[node->n_clauses++] = i;
        }
    return ACQ_OK;
}

/* Two nodes that hang on each other alone: only the second is a leaf. */
static void mark_leaves(model *m, bool keep_free)
{
    for (uint32_t n = m->n_nodes; n-- > 0;) {
        model_node *node = &m->nodes[n];
        if (node->n_edges != 1 || node->unaries != NULL || node->n_clauses != 0 ||
            (keep_free && node->is_free))
            continue;
        const model_edge *edge = node->edges[0];
        const model_node *other = &m->nodes[edge->x == n ? edge->y : edge->x];
        node->is_leaf =
            edge->n_positive == 1 && edge->n_negated == 0 && !edge->differ && !other->is_leaf;
    }
}

acq_status acq_exact_model_build(const acq_problem *problem, const acq_predictor *predictor,
                                 bool keep_free, acq_arena *arena, model *out, acq_error *error)
{
    compiler c = {
        .problem = problem, .predictor = predictor, .arena = arena, .error = error, .m = out};
    *out = (model){.n_entities = problem->n_entities, .is_binary = true};
    acq_status (*const passes[])(compiler *) = {number_nodes, compile_units, compile_edges,
                                                link_edges, compile_clauses};
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
        acq_status status = passes[i](&c);
        if (status != ACQ_OK)
            return status == ACQ_ERR_MEMORY ? acq_fail_memory(error) : status;
    }
    mark_leaves(out, keep_free);
    return ACQ_OK;
}
