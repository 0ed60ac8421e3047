/* formula.c - see syntax.h. The account of variables:
 *
 *   bindings   one entry per occurrence in a pattern, the current group's from its mark up; a
 *              UNION merges its branches: certain only if certain in all of them
 *   uses       occurrences in FILTER and NOT EXISTS, checked at the end of the group they belong
 *              to (the group outside of all NOT EXISTS), since a filter may stand before patterns
 *
 * Marking costs one step per binding of the group, and happens once per UNION, per MINUS and per
 * group with a filter. */
#include "query/sparql/syntax.h"

#include <string.h>

#include "base/memory.h"
#include "query/builder.h"

typedef struct binding {
    uint32_t variable;
    bool is_certain;
} binding;

typedef struct use {
    uint32_t variable;
    acq_input_place place;
    bool in_exists;
} use;

/* What the last marking found about a variable: valid where `round` is the current one. */
typedef struct mark {
    uint32_t round;
    uint32_t count; /* branches that bind it for certain */
    bool is_certain;
} mark;

typedef struct maker {
    const acq_sparql_query *sparql;
    acq_builder builder;
    acq_formula_traits traits;
    uint32_t *symbols; /* by variable; ACQ_NO_ID: not met yet */
    mark *marks;       /* by variable */
    uint32_t round;
    binding *bindings;
    size_t n_bindings, bindings_capacity;
    use *uses;
    size_t n_uses, uses_capacity;
    bool in_exists; /* inside a pattern of EXISTS or NOT EXISTS */
} maker;

#define FAIL(m, place, ...)                                                                        \
    acq_fail_at((m)->builder.error, ACQ_ERR_PARSE, (place).line, (place).column, __VA_ARGS__)

static acq_status make_group(maker *m, const acq_sparql_group *group, acq_run *run);

/* ---- variables ---- */

static acq_shown show_variable(const maker *m, uint32_t variable)
{
    const acq_sparql_name *name = &m->sparql->names[variable];
    return acq_input_show(name->text, name->length);
}

static bool is_word(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
              (c >= '0' && c <= '9') || (unsigned char)c >= 0x80))
            return false;
    }
    return length > 0;
}

static acq_status add_variable(maker *m, acq_symbol_kind kind, uint32_t variable)
{
    const acq_sparql_name *name = &m->sparql->names[variable];
    bool is_good = is_word(name->text, name->length);
    return acq_builder_add_variable(&m->builder, kind, is_good ? name->text : "b",
                                    is_good ? name->length : 1, name->place,
                                    &m->symbols[variable]);
}

static acq_status use_variable(maker *m, uint32_t variable, acq_input_place place)
{
    if (ACQ_RESERVE(m->uses, m->uses_capacity, m->n_uses + 1) != ACQ_OK)
        return acq_fail_memory(m->builder.error);
    m->uses[m->n_uses++] =
        (use){.variable = variable, .place = place, .in_exists = m->in_exists};
    return ACQ_OK;
}

/* Inside NOT EXISTS a pattern binds nothing that the outside could see: it also uses. */
static acq_status bind_variable(maker *m, uint32_t variable, acq_input_place place)
{
    if (ACQ_RESERVE(m->bindings, m->bindings_capacity, m->n_bindings + 1) != ACQ_OK)
        return acq_fail_memory(m->builder.error);
    m->bindings[m->n_bindings++] = (binding){.variable = variable, .is_certain = true};
    return m->in_exists ? use_variable(m, variable, place) : ACQ_OK;
}

static mark *touch(maker *m, uint32_t variable)
{
    mark *at = &m->marks[variable];
    if (at->round != m->round)
        *at = (mark){.round = m->round};
    return at;
}

static void mark_bindings(maker *m, size_t from, size_t to)
{
    m->round++;
    for (size_t i = from; i < to; i++)
        touch(m, m->bindings[i].variable)->is_certain |= m->bindings[i].is_certain;
}

/* NULL: the last marking did not meet it. */
static const mark *get_mark(const maker *m, uint32_t variable)
{
    return m->marks[variable].round == m->round ? &m->marks[variable] : NULL;
}

/* Branch i of a UNION has the bindings starts[i] to starts[i + 1]. */
static void merge_branches(maker *m, const size_t *starts, size_t n)
{
    m->round++;
    for (size_t branch = 0; branch < n; branch++) {
        for (size_t i = starts[branch]; i < starts[branch + 1]; i++) {
            mark *at = touch(m, m->bindings[i].variable);
            if (m->bindings[i].is_certain && at->count == branch)
                at->count++;
        }
    }
    size_t kept = starts[0];
    for (size_t i = starts[0]; i < starts[n]; i++) {
        mark *at = &m->marks[m->bindings[i].variable];
        if (at->round != m->round)
            continue;
        m->bindings[kept++] =
            (binding){.variable = m->bindings[i].variable, .is_certain = at->count == n};
        at->round = 0; /* once is enough */
    }
    m->n_bindings = kept;
}

static acq_status fail_use(maker *m, const use *of, bool is_possible)
{
    acq_shown shown = show_variable(m, of->variable);
    if (is_possible)
        return FAIL(m, of->place,
                    "?%s is not bound in every branch of the UNION; bind it outside of the UNION "
                    "or in all branches",
                    shown.text);
    if (of->in_exists)
        return FAIL(m, of->place,
                    "?%s occurs in EXISTS or NOT EXISTS only: universal quantification is not "
                    "supported; bind it in a pattern of the group outside",
                    shown.text);
    return FAIL(m, of->place,
                "no pattern of this group binds ?%s; add a triple or VALUES with it", shown.text);
}

static acq_status check_uses(maker *m, size_t uses_from, size_t bindings_from)
{
    acq_status status = ACQ_OK;
    if (uses_from == m->n_uses)
        return ACQ_OK;
    mark_bindings(m, bindings_from, m->n_bindings);
    for (size_t i = uses_from; status == ACQ_OK && i < m->n_uses; i++) {
        const mark *found = get_mark(m, m->uses[i].variable);
        if (found == NULL || !found->is_certain)
            status = fail_use(m, &m->uses[i], found != NULL);
    }
    m->n_uses = uses_from;
    return status;
}

/* ---- terms and triples ---- */

/* The term of a formula; a variable is met for the first time here, or known. */
static acq_status get_term(maker *m, const acq_sparql_term *term, acq_term *out)
{
    acq_status status = ACQ_OK;
    *out = (acq_term){.is_variable = term->is_variable};
    if (!term->is_variable)
        return acq_builder_intern(&m->builder, ACQ_SYMBOL_CONSTANT, term->key, term->length,
                                  term->place, &out->id);
    if (m->symbols[term->variable] == ACQ_NO_ID)
        status = add_variable(m, ACQ_SYMBOL_EXISTS, term->variable);
    out->id = m->symbols[term->variable];
    return status;
}

static acq_status bind_term(maker *m, const acq_sparql_term *term, acq_term *out)
{
    acq_status status = term->is_variable ? bind_variable(m, term->variable, term->place) : ACQ_OK;
    return status == ACQ_OK ? get_term(m, term, out) : status;
}

/* A node between two steps of a path. */
static acq_status add_middle(maker *m, acq_input_place place, acq_term *out)
{
    if (m->in_exists)
        return FAIL(m, place,
                    "a path of several steps in EXISTS needs \"for all\", which is not supported; "
                    "bind its middle in a pattern of the group outside");
    m->traits.may_repeat = true;
    out->is_variable = true;
    return acq_builder_add_variable(&m->builder, ACQ_SYMBOL_EXISTS, "b", 1, place, &out->id);
}

static const char *path_name(acq_path_kind kind)
{
    return kind == ACQ_PATH_VARIABLE   ? "a variable as a relation"
           : kind == ACQ_PATH_OPTIONAL ? "the path ?"
           : kind == ACQ_PATH_ANY      ? "the path *"
           : kind == ACQ_PATH_SOME     ? "the path +"
                                       : "a negated property set";
}

static acq_status make_path(maker *m, const acq_sparql_path *path, acq_term from, acq_term to,
                            acq_run *run);

static acq_status make_link(maker *m, const acq_sparql_path *path, bool is_inverse, acq_term from,
                            acq_term to)
{
    uint32_t relation;
    acq_status status = acq_builder_intern(
        &m->builder, is_inverse ? ACQ_SYMBOL_INVERSE : ACQ_SYMBOL_RELATION, path->term.key,
        path->term.length, path->term.place, &relation);
    return status == ACQ_OK ? acq_builder_push_atom(&m->builder, ACQ_NODE_ATOM, relation, from, to,
                                                    path->place)
                            : status;
}

static acq_status make_steps(maker *m, const acq_sparql_path *path, acq_term from, acq_term to)
{
    acq_status status = ACQ_OK;
    for (const acq_sparql_path *step = path->children; status == ACQ_OK && step != NULL;
         step = step->next) {
        acq_term next = to;
        acq_run run;
        if (step->next != NULL)
            status = add_middle(m, path->place, &next);
        if (status == ACQ_OK)
            status = make_path(m, step, from, next, &run);
        if (status == ACQ_OK)
            status = acq_builder_absorb(&m->builder, run, ACQ_NODE_AND);
        from = next;
    }
    return status;
}

static acq_status make_alternatives(maker *m, const acq_sparql_path *path, acq_term from,
                                    acq_term to)
{
    acq_status status = ACQ_OK;
    m->traits.may_repeat = true;
    for (const acq_sparql_path *one = path->children; status == ACQ_OK && one != NULL;
         one = one->next) {
        acq_run run;
        status = make_path(m, one, from, to, &run);
        if (status == ACQ_OK)
            status = acq_builder_absorb(&m->builder, run, ACQ_NODE_OR);
    }
    return status;
}

static acq_status make_path(maker *m, const acq_sparql_path *path, acq_term from, acq_term to,
                            acq_run *run)
{
    *run = acq_run_single(m->builder.n_stack);
    switch (path->kind) {
    case ACQ_PATH_LINK:
        return make_link(m, path, false, from, to);
    case ACQ_PATH_INVERSE:
        if (path->children->kind == ACQ_PATH_LINK)
            return make_link(m, path->children, true, from, to);
        return make_path(m, path->children, to, from, run);
    case ACQ_PATH_SEQUENCE:
        run->kind = ACQ_NODE_AND;
        return make_steps(m, path, from, to);
    case ACQ_PATH_ALTERNATIVE:
        run->kind = ACQ_NODE_OR;
        return make_alternatives(m, path, from, to);
    default:
        return FAIL(m, path->place, "%s has no formula",
                    path_name(path->kind));
    }
}

static acq_status make_triple(maker *m, const acq_sparql_element *triple, acq_run *run)
{
    acq_term from = {0}, to = {0};
    acq_status status = bind_term(m, &triple->subject, &from);
    if (status == ACQ_OK)
        status = bind_term(m, &triple->object, &to);
    return status == ACQ_OK ? make_path(m, triple->path, from, to, run) : status;
}

/* ---- filters ---- */

static acq_status make_expression(maker *m, const acq_sparql_expression *e, acq_run *run);

static acq_status fail_filter(maker *m, acq_input_place place)
{
    return FAIL(m, place,
                "this condition has no formula, which knows =, !=, IN, sameTerm, !, &&, ||, EXISTS "
                "and NOT EXISTS");
}

/* side = variable | iri */
static acq_status make_side(maker *m, const acq_sparql_expression *e, acq_term *out)
{
    if (e->op != ACQ_SPARQL_OP_TERM || e->term.is_literal)
        return fail_filter(m, e->place);
    acq_status status =
        e->term.is_variable ? use_variable(m, e->term.variable, e->term.place) : ACQ_OK;
    return status == ACQ_OK ? get_term(m, &e->term, out) : status;
}

/* left = right, or one of several rights: OR */
static acq_status make_equal(maker *m, const acq_sparql_expression *e, acq_run *run)
{
    const acq_sparql_expression *left = e->children, *right = left->next;
    bool is_identity = e->op == ACQ_SPARQL_OP_SAMETERM;
    acq_term a = {0}, b = {0};
    if (right == NULL)
        return FAIL(m, e->place, "IN without a value holds for nothing; add one");
    acq_status status = make_side(m, left, &a);
    if (right->next != NULL)
        run->kind = ACQ_NODE_OR;
    for (; status == ACQ_OK && right != NULL; right = right->next) {
        status = make_side(m, right, &b);
        m->traits.is_compared |= a.is_variable && b.is_variable && !is_identity;
        if (status == ACQ_OK)
            status =
                acq_builder_push_atom(&m->builder, ACQ_NODE_EQUAL, 0, a, b, left->term.place);
    }
    return status;
}

static acq_status make_exists(maker *m, const acq_sparql_group *group, acq_run *run)
{
    size_t from = m->n_bindings;
    bool outer = m->in_exists, may_repeat = m->traits.may_repeat;
    m->in_exists = true;
    acq_status status = make_group(m, group, run);
    m->in_exists = outer;
    m->n_bindings = from;
    m->traits.may_repeat = may_repeat;
    return status;
}

static acq_status make_chain(maker *m, const acq_sparql_expression *e, acq_run *run)
{
    acq_status status = ACQ_OK;
    run->kind = e->op == ACQ_SPARQL_OP_AND ? ACQ_NODE_AND : ACQ_NODE_OR;
    const acq_sparql_expression *child = e->children;
    for (; status == ACQ_OK && child != NULL; child = child->next) {
        acq_run part;
        status = make_expression(m, child, &part);
        if (status == ACQ_OK)
            status = acq_builder_absorb(&m->builder, part, run->kind);
    }
    return status;
}

/* What is negated, of an operator that negates. */
static acq_status make_positive(maker *m, const acq_sparql_expression *e, acq_run *run)
{
    switch (e->op) {
    case ACQ_SPARQL_OP_NOT:
        return make_expression(m, e->children, run);
    case ACQ_SPARQL_OP_NOT_EXISTS:
        return make_exists(m, e->group, run);
    default:
        return make_equal(m, e, run);
    }
}

static acq_status make_negated(maker *m, const acq_sparql_expression *e, acq_run *run)
{
    m->traits.is_negated = true;
    acq_status status = acq_builder_enter(&m->builder, e->place);
    if (status == ACQ_OK)
        status = make_positive(m, e, run);
    if (status != ACQ_OK)
        return status;
    acq_builder_leave(&m->builder, 1);
    status = acq_builder_negate(&m->builder, *run, e->place);
    *run = acq_run_single(run->mark);
    return status;
}

static acq_status make_expression(maker *m, const acq_sparql_expression *e, acq_run *run)
{
    *run = acq_run_single(m->builder.n_stack);
    switch (e->op) {
    case ACQ_SPARQL_OP_AND:
    case ACQ_SPARQL_OP_OR:
        return make_chain(m, e, run);
    case ACQ_SPARQL_OP_EQUAL:
    case ACQ_SPARQL_OP_IN:
    case ACQ_SPARQL_OP_SAMETERM:
        return make_equal(m, e, run);
    case ACQ_SPARQL_OP_EXISTS:
        return make_exists(m, e->group, run);
    case ACQ_SPARQL_OP_NOT:
    case ACQ_SPARQL_OP_DIFFER:
    case ACQ_SPARQL_OP_NOT_IN:
    case ACQ_SPARQL_OP_NOT_EXISTS:
        return make_negated(m, e, run);
    default:
        return fail_filter(m, e->place);
    }
}

/* ---- VALUES, UNION, MINUS ---- */

/* One row: variable = value for each column. */
static acq_status make_row(maker *m, const acq_sparql_element *values, const acq_sparql_row *row,
                           acq_run *run)
{
    acq_status status = ACQ_OK;
    const acq_sparql_term *value = row->values, *column = values->variables;
    *run = (acq_run){.kind = ACQ_NODE_AND, .mark = m->builder.n_stack};
    for (; status == ACQ_OK && column != NULL; column = column->next, value = value->next) {
        acq_term left = {0}, right = {0};
        if (value->is_undef)
            return FAIL(m, value->place, "UNDEF has no formula; use UNION");
        status = get_term(m, column, &left);
        if (status == ACQ_OK)
            status = get_term(m, value, &right);
        if (status == ACQ_OK)
            status =
                acq_builder_push_atom(&m->builder, ACQ_NODE_EQUAL, 0, left, right, value->place);
    }
    return status;
}

static acq_status make_values(maker *m, const acq_sparql_element *values, acq_run *run)
{
    acq_status status = ACQ_OK;
    if (values->rows == NULL || values->variables == NULL)
        return FAIL(m, values->place, "VALUES without a value has no formula; add one");
    for (const acq_sparql_term *v = values->variables; status == ACQ_OK && v != NULL; v = v->next)
        status = bind_variable(m, v->variable, v->place);
    if (status == ACQ_OK && values->rows->next == NULL)
        return make_row(m, values, values->rows, run); /* a single row stays a conjunction */
    m->traits.may_repeat = true;
    *run = (acq_run){.kind = ACQ_NODE_OR, .mark = m->builder.n_stack};
    for (const acq_sparql_row *row = values->rows; status == ACQ_OK && row != NULL;
         row = row->next) {
        acq_run part;
        status = make_row(m, values, row, &part);
        if (status == ACQ_OK)
            status = acq_builder_absorb(&m->builder, part, ACQ_NODE_OR);
    }
    return status;
}

static acq_status make_branches(maker *m, const acq_sparql_element *of, size_t *starts, size_t n)
{
    acq_status status = ACQ_OK;
    size_t i = 0;
    for (const acq_sparql_group *g = of->groups; status == ACQ_OK && g != NULL; g = g->next) {
        acq_run run;
        starts[i++] = m->n_bindings;
        status = make_group(m, g, &run);
        if (status == ACQ_OK)
            status = acq_builder_absorb(&m->builder, run, ACQ_NODE_OR);
    }
    starts[i] = m->n_bindings;
    if (status == ACQ_OK)
        merge_branches(m, starts, n);
    return status;
}

static acq_status make_union(maker *m, const acq_sparql_element *of, acq_run *run)
{
    size_t n = 0, mark_at = m->builder.n_stack;
    for (const acq_sparql_group *group = of->groups; group != NULL; group = group->next)
        n++;
    size_t *starts = acq_alloc(n + 1, sizeof *starts);
    if (starts == NULL)
        return acq_fail_memory(m->builder.error);
    m->traits.may_repeat = true;
    acq_status status = make_branches(m, of, starts, n);
    *run = (acq_run){.kind = ACQ_NODE_OR, .mark = mark_at};
    acq_free(starts);
    return status;
}

/* What MINUS does to the solutions before it depends on the variables it shares with them. */
typedef enum minus_effect {
    MINUS_NOTHING,
    MINUS_NEGATES,
    MINUS_UNBOUND, /* shares some variables, and has others */
    MINUS_BRANCHES /* its UNION has no variable in common: each branch would need its own rule */
} minus_effect;

/* The marks are those of the patterns before MINUS; from.. are the bindings of its own pattern. */
static minus_effect judge_minus(const maker *m, size_t from)
{
    bool shares = false, all_bound = true, some_certain = false;
    for (size_t i = from; i < m->n_bindings; i++) {
        const mark *found = get_mark(m, m->bindings[i].variable);
        shares |= found != NULL;
        all_bound &= found != NULL && found->is_certain;
        some_certain |= m->bindings[i].is_certain;
    }
    if (!shares)
        return MINUS_NOTHING;
    if (!all_bound)
        return MINUS_UNBOUND;
    return some_certain ? MINUS_NEGATES : MINUS_BRANCHES;
}

/* Takes a pattern back that changes nothing, with the variables that only it has. */
static void drop(maker *m, size_t n_symbols, size_t n_stack)
{
    m->builder.n_stack = n_stack;
    for (size_t i = n_symbols; i < m->builder.n_symbols; i++) {
        if (m->builder.symbols[i].kind == ACQ_SYMBOL_EXISTS)
            m->builder.symbols[i].kind = ACQ_SYMBOL_WORD;
    }
    for (uint32_t v = 0; v < m->sparql->n_variables; v++) {
        if (m->symbols[v] != ACQ_NO_ID && m->symbols[v] >= n_symbols)
            m->symbols[v] = ACQ_NO_ID;
    }
}

/* Leaves one node, or none when the pattern changes nothing. Paths of several steps inside would
 * need "for all" too. */
static acq_status make_minus(maker *m, const acq_sparql_element *of, size_t group_from,
                             acq_run *run)
{
    size_t from = m->n_bindings, n_symbols = m->builder.n_symbols;
    bool outer = m->in_exists, may_repeat = m->traits.may_repeat;
    acq_status status = acq_builder_enter(&m->builder, of->place);
    if (status != ACQ_OK)
        return status;
    m->in_exists = false;
    m->traits.may_repeat = false;
    status = make_group(m, of->groups, run);
    bool has_middle = m->traits.may_repeat && n_symbols < m->builder.n_symbols;
    m->in_exists = outer;
    m->traits.may_repeat = may_repeat;
    m->traits.is_negated = true;
    acq_builder_leave(&m->builder, 1);
    if (status != ACQ_OK)
        return status;
    mark_bindings(m, group_from, from);
    minus_effect effect = judge_minus(m, from);
    m->n_bindings = from;
    if (effect == MINUS_BRANCHES)
        return FAIL(m, of->place,
                    "the branches of this MINUS have no variable in common; use FILTER NOT EXISTS");
    bool has_path = false;
    for (size_t i = n_symbols; has_middle && i < m->builder.n_symbols; i++)
        has_path |= m->builder.symbols[i].kind == ACQ_SYMBOL_EXISTS;
    if (effect == MINUS_UNBOUND || (effect == MINUS_NEGATES && has_path))
        return FAIL(m, of->place,
                    "MINUS with a variable that no pattern before it binds needs \"for all\", "
                    "which is not supported; bind it before");
    if (effect == MINUS_NEGATES)
        return acq_builder_negate(&m->builder, *run, of->place);
    drop(m, n_symbols, run->mark);
    return ACQ_OK;
}

/* ---- groups ---- */

/* The parts of a group so far. A single part stays as it is, so that a group around a UNION
 * melts into a UNION around it. */
typedef struct parts {
    size_t n, from; /* from: first binding of the group */
    acq_run first;
} parts;

static acq_status make_element(maker *m, const acq_sparql_element *e, acq_run *run)
{
    switch (e->kind) {
    case ACQ_ELEMENT_TRIPLE:
        return make_triple(m, e, run);
    case ACQ_ELEMENT_GROUP:
        return make_group(m, e->groups, run);
    case ACQ_ELEMENT_UNION:
        return make_union(m, e, run);
    case ACQ_ELEMENT_FILTER:
        return make_expression(m, e->expression, run);
    case ACQ_ELEMENT_VALUES:
        return make_values(m, e, run);
    case ACQ_ELEMENT_GRAPH: /* acq_sparql_make_formula refuses it */
    case ACQ_ELEMENT_MINUS:
        break;
    }
    return ACQ_ERR_INTERNAL; /* add_minus has it */
}

/* What negates shares a variable with a part before it, so there is one. */
static acq_status add_minus(maker *m, const acq_sparql_element *e, parts *all)
{
    acq_run run;
    acq_status status = make_minus(m, e, all->from, &run);
    if (status != ACQ_OK || m->builder.n_stack == run.mark)
        return status;
    acq_node *negation = m->builder.stack[--m->builder.n_stack];
    if (all->n == 1)
        status = acq_builder_absorb(&m->builder, all->first, ACQ_NODE_AND);
    if (status != ACQ_OK)
        return status;
    m->builder.stack[m->builder.n_stack++] = negation; /* there was room for it */
    all->n++;
    return ACQ_OK;
}

static acq_status add_element(maker *m, const acq_sparql_element *e, parts *all)
{
    acq_run run = {0};
    acq_status status = ACQ_OK;
    if (e->kind == ACQ_ELEMENT_MINUS)
        return add_minus(m, e, all);
    if (all->n == 1)
        status = acq_builder_absorb(&m->builder, all->first, ACQ_NODE_AND);
    if (status == ACQ_OK)
        status = make_element(m, e, &run);
    if (status != ACQ_OK)
        return status;
    if (all->n++ == 0) {
        all->first = run;
        return ACQ_OK;
    }
    return acq_builder_absorb(&m->builder, run, ACQ_NODE_AND);
}

static acq_status make_group(maker *m, const acq_sparql_group *group, acq_run *run)
{
    size_t mark_at = m->builder.n_stack, uses_from = m->n_uses;
    parts all = {.from = m->n_bindings};
    if (group->elements == NULL)
        return FAIL(m, group->place, "this group is empty; write a triple between { and }");
    acq_status status = acq_builder_enter(&m->builder, group->place);
    for (const acq_sparql_element *e = group->elements; status == ACQ_OK && e != NULL; e = e->next)
        status = add_element(m, e, &all);
    if (status == ACQ_OK && all.n == 0)
        return FAIL(m, group->place, "nothing in this group finds anything; write a triple in it");
    if (status != ACQ_OK)
        return status;
    acq_builder_leave(&m->builder, 1);
    *run = all.n == 1 ? all.first : (acq_run){.kind = ACQ_NODE_AND, .mark = mark_at};
    return m->in_exists ? ACQ_OK : check_uses(m, uses_from, all.from);
}

/* ---- the whole ---- */

static acq_status add_selected(maker *m)
{
    acq_status status = ACQ_OK;
    const acq_sparql_term *term = m->sparql->selected;
    if (m->sparql->form == ACQ_FORM_SELECT && term == NULL)
        return FAIL(m, m->sparql->place, "SELECT * finds no variable; use ASK");
    for (; status == ACQ_OK && term != NULL; term = term->next)
        status = add_variable(m, ACQ_SYMBOL_FREE, term->variable);
    return status;
}

/* Every selected variable must be bound in every solution. */
static acq_status check_selected(maker *m)
{
    mark_bindings(m, 0, m->n_bindings);
    for (const acq_sparql_term *term = m->sparql->selected; term != NULL; term = term->next) {
        const mark *found = get_mark(m, term->variable);
        acq_shown shown = show_variable(m, term->variable);
        if (found == NULL)
            return FAIL(m, term->place,
                        "?%s is selected, but no pattern binds it; add a triple with it",
                        shown.text);
        if (!found->is_certain)
            return FAIL(m, term->place,
                        "?%s is selected, but not bound in every branch of the UNION; bind it in "
                        "all branches or select other variables",
                        shown.text);
    }
    return ACQ_OK;
}

static acq_status make_formula(maker *m, acq_query **out)
{
    acq_run run = {0};
    if (m->sparql->form == ACQ_FORM_CONSTRUCT)
        return FAIL(m, m->sparql->place,
                    "CONSTRUCT has no formula; queries begin with SELECT or ASK here");
    acq_status status = add_selected(m);
    if (status == ACQ_OK)
        status = make_group(m, m->sparql->where, &run);
    if (status == ACQ_OK)
        status = check_selected(m);
    if (status == ACQ_OK)
        status = acq_builder_finish(&m->builder, run, ACQ_SYMBOL_EXISTS, out);
    if (status != ACQ_OK)
        return status;
    (*out)->is_by_key = true;
    bool is_set = m->sparql->form == ACQ_FORM_ASK || m->sparql->is_distinct;
    m->traits.may_repeat |= (*out)->n_variables > (*out)->n_free;
    m->traits.may_repeat &= !is_set;
    (*out)->may_repeat = m->traits.may_repeat;
    (*out)->is_compared = m->traits.is_compared;
    return ACQ_OK;
}

acq_status acq_sparql_make_formula(const acq_sparql_query *query, acq_query **out,
                                   acq_formula_traits *traits, acq_error *error)
{
    size_t n = (size_t)query->n_variables + 1;
    maker m = {.sparql = query};
    if (query->has_graphs)
        return acq_fail_at(error, ACQ_ERR_PARSE, query->graphs_place.line,
                           query->graphs_place.column,
                           "GRAPH and FROM choose among observed facts and have no formula");
    if (acq_builder_init(&m.builder, error) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    m.symbols = acq_alloc(n, sizeof *m.symbols);
    m.marks = acq_zalloc(n, sizeof *m.marks);
    acq_status status = m.symbols == NULL || m.marks == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (size_t i = 0; status == ACQ_OK && i < n; i++)
        m.symbols[i] = ACQ_NO_ID;
    if (status == ACQ_OK)
        status = make_formula(&m, out);
    if (status == ACQ_OK && traits != NULL)
        *traits = m.traits;
    acq_builder_deinit(&m.builder);
    acq_free(m.symbols);
    acq_free(m.marks);
    acq_free(m.bindings);
    acq_free(m.uses);
    return status;
}

/* ---- query text ---- */

static acq_status check_modifiers(const acq_sparql_query *query, acq_error *error)
{
    acq_input_place place = query->place;
    const char *what = query->order != NULL  ? "ORDER BY"
                       : query->offset > 0   ? "OFFSET"
                       : query->has_limit && query->limit == 0 ? "LIMIT 0"
                                             : NULL;
    if (what == NULL)
        return ACQ_OK;
    return acq_fail_at(error, ACQ_ERR_PARSE, place.line, place.column,
                       "%s has no formula; answers come best first, as many as are asked for",
                       what);
}

acq_status acq_query_parse_sparql(const char *text, size_t length, acq_query **out,
                                  acq_error *error)
{
    acq_sparql_query *sparql;
    acq_status status = acq_sparql_parse(text, length, &sparql, error);
    if (status != ACQ_OK)
        return status;
    status = check_modifiers(sparql, error);
    if (status == ACQ_OK)
        status = acq_sparql_make_formula(sparql, out, NULL, error);
    if (status == ACQ_OK)
        (*out)->limit = sparql->has_limit ? sparql->limit : 0;
    acq_sparql_query_free(sparql);
    return status;
}
