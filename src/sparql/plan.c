/* plan.c - from the tree of a query to steps in the order in which they cost least.
 *
 * Within a group the order of triples, values and groups is free, except across a MINUS. The next
 * step is always the one that is expected to give the fewest rows, given what is bound by then. A
 * filter stands right behind the step that binds its last variable for certain, else at the end. */
#include <float.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "graph/text/rdf.h"
#include "query/query.h"
#include "sparql/machine.h"

/* ---- the terms of an evaluation: see evaluate.h ---- */

acq_status acq_terms_init(acq_terms *terms, const acq_graph *graph)
{
    size_t n = acq_graph_get_n_relations(graph);
    *terms = (acq_terms){.graph = graph,
                         .n_entities = acq_graph_get_n_entities(graph),
                         .is_plain = !acq_graph_is_rdf(graph),
                         .relations = acq_alloc(n, sizeof *terms->relations)};
    acq_names_init(&terms->extra);
    if (terms->relations == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < n; i++)
        terms->relations[i] = ACQ_NO_ID;
    return ACQ_OK;
}

void acq_terms_deinit(acq_terms *terms)
{
    acq_names_deinit(&terms->extra);
    acq_free(terms->relations);
    *terms = (acq_terms){0};
}

acq_status acq_terms_add(acq_terms *terms, const char *key, size_t length, bool is_literal,
                         uint32_t *out)
{
    acq_ent entity = ACQ_NO_ID;
    acq_status status = ACQ_OK;
    uint32_t id;
    if (!terms->is_plain || !is_literal)
        entity = acq_query_find_key(terms->graph, key, length);
    if (status == ACQ_OK && entity == ACQ_NO_ID) {
        id = acq_names_find(&terms->extra, key, length);
        if (id == ACQ_NO_ID)
            status = acq_names_add(&terms->extra, key, length, 1, &id);
        if (status == ACQ_OK && id >= ACQ_NO_ID - terms->n_entities)
            status = ACQ_ERR_LIMIT;
        entity = status == ACQ_OK ? terms->n_entities + id : ACQ_NO_ID;
    }
    *out = entity;
    return status;
}

acq_status acq_terms_add_relation(acq_terms *terms, acq_rel relation, uint32_t *out)
{
    acq_status status = ACQ_OK;
    if (terms->relations[relation] == ACQ_NO_ID) {
        const char *key = acq_graph_get_relation_key(terms->graph, relation);
        status = acq_terms_add(terms, key, strlen(key), false, &terms->relations[relation]);
    }
    *out = terms->relations[relation];
    return status;
}

acq_rel acq_terms_get_relation(const acq_terms *terms, uint32_t term)
{
    const char *key = acq_terms_get_key(terms, term);
    acq_rel relation = acq_query_find_relation_key(terms->graph, key, strlen(key));
    return relation != ACQ_NO_ID && acq_graph_is_named(terms->graph, relation) ? relation
                                                                               : ACQ_NO_ID;
}

const char *acq_terms_get_key(const acq_terms *terms, uint32_t term)
{
    if (term < terms->n_entities)
        return acq_graph_get_entity_key(terms->graph, term);
    return acq_names_get(&terms->extra, term - terms->n_entities);
}

acq_value acq_terms_get_value(const acq_terms *terms, acq_value_room *room, uint32_t term)
{
    return acq_value_of_key(room, acq_terms_get_key(terms, term),
                            terms->is_plain && term < terms->n_entities);
}

/* ---- the plan ---- */

typedef acq_sparql_element element;

static acq_status plan_group(acq_machine *m, const acq_sparql_group *group, const uint64_t *bound,
                             acq_plan_group **out);

static void list_columns(acq_machine *m, acq_plan_group *group);

static void *allocate(acq_machine *m, size_t n, size_t size)
{
    void *memory = acq_arena_zalloc(&m->arena, n, size);
    if (memory == NULL)
        m->status = acq_fail_memory(m->error);
    return memory;
}

static uint64_t *new_bits(acq_machine *m)
{
    return allocate(m, m->n_words, sizeof(uint64_t));
}

/* ---- which variables are bound ---- */

static void bind_term(const acq_sparql_term *term, uint64_t *bits)
{
    if (term->is_variable)
        acq_bits_set(bits, term->variable);
}

static void collect_group(acq_machine *m, const acq_sparql_group *group, uint64_t *certain,
                          uint64_t *possible);

static void collect_groups(acq_machine *m, const element *e, uint64_t *certain, uint64_t *possible)
{
    acq_arena_mark mark = acq_arena_get_mark(&m->arena);
    uint64_t *all = new_bits(m), *one = new_bits(m);
    bool is_first = true;
    for (const acq_sparql_group *g = e->groups; m->status == ACQ_OK && g != NULL; g = g->next) {
        memset(one, 0, m->n_words * sizeof *one);
        collect_group(m, g, one, possible);
        for (uint32_t w = 0; w < m->n_words; w++)
            all[w] = is_first ? one[w] : all[w] & one[w];
        is_first = false;
    }
    for (uint32_t w = 0; m->status == ACQ_OK && w < m->n_words; w++)
        certain[w] |= all[w];
    acq_arena_reset(&m->arena, mark);
}

static void collect_element(acq_machine *m, const element *e, uint64_t *certain, uint64_t *possible)
{
    switch (e->kind) {
    case ACQ_ELEMENT_TRIPLE:
        for (int i = 0; i < 2; i++) {
            uint64_t *bits = i == 0 ? certain : possible;
            bind_term(&e->subject, bits);
            bind_term(&e->object, bits);
            if (e->path->kind == ACQ_PATH_VARIABLE)
                bind_term(&e->path->term, bits);
        }
        break;
    case ACQ_ELEMENT_VALUES:
        for (const acq_sparql_term *v = e->variables; v != NULL; v = v->next) {
            bind_term(v, possible);
            if (!v->is_undef)
                bind_term(v, certain);
        }
        break;
    case ACQ_ELEMENT_GRAPH:
        bind_term(&e->subject, certain);
        bind_term(&e->subject, possible);
        collect_groups(m, e, certain, possible);
        break;
    case ACQ_ELEMENT_GROUP:
    case ACQ_ELEMENT_UNION:
        collect_groups(m, e, certain, possible);
        break;
    case ACQ_ELEMENT_MINUS:
    case ACQ_ELEMENT_FILTER:
        break;
    }
}

static void collect_group(acq_machine *m, const acq_sparql_group *group, uint64_t *certain,
                          uint64_t *possible)
{
    for (const element *e = group->elements; m->status == ACQ_OK && e != NULL; e = e->next)
        collect_element(m, e, certain, possible);
}

/* All variables that an expression or a group mentions, wherever. */
static void mention_group(const acq_sparql_group *group, uint64_t *bits);

static void mention_expression(const acq_sparql_expression *e, uint64_t *bits)
{
    if (e->op == ACQ_SPARQL_OP_TERM)
        bind_term(&e->term, bits);
    if (e->group != NULL)
        mention_group(e->group, bits);
    for (const acq_sparql_expression *child = e->children; child != NULL; child = child->next)
        mention_expression(child, bits);
}

static void mention_group(const acq_sparql_group *group, uint64_t *bits)
{
    for (const element *e = group->elements; e != NULL; e = e->next) {
        if (e->kind == ACQ_ELEMENT_TRIPLE) {
            bind_term(&e->subject, bits);
            bind_term(&e->object, bits);
            if (e->path->kind == ACQ_PATH_VARIABLE)
                bind_term(&e->path->term, bits);
        }
        if (e->kind == ACQ_ELEMENT_GRAPH)
            bind_term(&e->subject, bits);
        for (const acq_sparql_term *v = e->variables; v != NULL; v = v->next)
            bind_term(v, bits);
        if (e->expression != NULL)
            mention_expression(e->expression, bits);
        for (const acq_sparql_group *g = e->groups; g != NULL; g = g->next)
            mention_group(g, bits);
    }
}

static bool is_within(const acq_machine *m, const uint64_t *bits, const uint64_t *of)
{
    for (uint32_t w = 0; w < m->n_words; w++) {
        if (bits[w] & ~of[w])
            return false;
    }
    return true;
}

/* May rows of the outside go through the group, one by one? Then its filters see the variables of
 * the outside: they must not mention any that the group does not bind itself. */
static bool is_pushable(acq_machine *m, const acq_sparql_group *group)
{
    acq_arena_mark mark = acq_arena_get_mark(&m->arena);
    uint64_t *certain = new_bits(m), *possible = new_bits(m), *used = new_bits(m);
    bool is_good = m->status == ACQ_OK;
    for (const element *e = group->elements; is_good && e != NULL; e = e->next) {
        if (e->kind == ACQ_ELEMENT_FILTER)
            mention_expression(e->expression, used);
        is_good = e->kind != ACQ_ELEMENT_MINUS;
        for (const acq_sparql_group *g = e->groups; is_good && g != NULL; g = g->next)
            is_good = is_pushable(m, g);
    }
    if (is_good)
        collect_group(m, group, certain, possible);
    is_good = is_good && is_within(m, used, certain);
    acq_arena_reset(&m->arena, mark);
    return is_good;
}

/* ---- terms and paths ---- */

/* The IRI of what is called nearly so; NULL: nothing is that has one. */
static const char *suggest_key(const acq_graph *graph, const acq_sparql_term *term,
                               bool is_relation)
{
    const char *near = is_relation ? acq_graph_suggest_relation(graph, term->key, term->length)
                                   : acq_graph_suggest_entity(graph, term->key, term->length);
    if (near == NULL)
        return NULL;
    size_t length = strlen(near);
    const char *key =
        is_relation
            ? acq_graph_get_relation_key(graph, acq_graph_find_relation(graph, near, length))
            : acq_graph_get_entity_key(graph, acq_graph_find_entity(graph, near, length));
    bool is_iri = key[0] != '\0' && key[0] != '"' && strncmp(key, "_:", 2) != 0;
    return is_iri ? key : NULL;
}

/* Warns of the first name that the graph does not have. */
static void warn_unknown(acq_machine *m, const acq_sparql_term *term, bool is_relation)
{
    if (m->warning == NULL || m->warning->length > 0 || term->is_literal)
        return;
    const char *near = suggest_key(m->graph, term, is_relation);
    acq_text_format(m->warning, "the graph has no %s <%s>", is_relation ? "relation" : "entity",
                    acq_input_show(term->key, term->length).text);
    if (near != NULL)
        acq_text_format(m->warning, "; did you mean <%s>?",
                        acq_input_show(near, strlen(near)).text);
}

static void plan_end(acq_machine *m, const acq_sparql_term *term, acq_plan_end *out)
{
    out->is_variable = term->is_variable;
    out->id = term->variable;
    if (term->is_variable)
        return;
    if (acq_terms_add(m->terms, term->key, term->length, term->is_literal, &out->id) != ACQ_OK)
        m->status = acq_fail_memory(m->error);
    else if (out->id >= m->terms->n_entities)
        warn_unknown(m, term, false);
}

static acq_plan_path *plan_path(acq_machine *m, const acq_sparql_path *path)
{
    acq_plan_path *plan = allocate(m, 1, sizeof *plan), **end;
    if (plan == NULL)
        return NULL;
    plan->kind = path->kind;
    plan->relation = ACQ_NO_ID;
    if (path->kind == ACQ_PATH_LINK) {
        plan->relation = acq_query_find_relation_key(m->graph, path->term.key, path->term.length);
        if (plan->relation == ACQ_NO_ID)
            warn_unknown(m, &path->term, true);
    }
    if (path->kind == ACQ_PATH_VARIABLE)
        plan_end(m, &path->term, &plan->variable);
    end = &plan->children;
    for (const acq_sparql_path *c = path->children; m->status == ACQ_OK && c != NULL; c = c->next) {
        acq_plan_path *child = plan_path(m, c);
        if (child == NULL)
            return NULL;
        child->previous = plan->last;
        plan->last = child;
        *end = child;
        end = &child->next;
    }
    return plan;
}

/* ---- costs ---- */

static const acq_links *open_links(acq_machine *m, acq_rel relation)
{
    const acq_links *links = NULL;
    if (m->status == ACQ_OK && relation != ACQ_NO_ID)
        m->status = acq_graph_open_links(m->graph, relation, &links, m->error);
    return m->status == ACQ_OK ? links : NULL;
}

static bool is_bound(const acq_sparql_term *term, const uint64_t *bound)
{
    return !term->is_variable || acq_bits_has(bound, term->variable);
}

/* How many rows a triple is expected to give for one. */
static double guess_triple(acq_machine *m, const element *e, const uint64_t *bound)
{
    bool head = is_bound(&e->subject, bound), tail = is_bound(&e->object, bound);
    const acq_sparql_path *path = e->path;
    bool is_inverse = path->kind == ACQ_PATH_INVERSE;
    path = is_inverse ? path->children : path;
    double n_facts = (double)acq_graph_get_n_facts(m->graph) + 1;
    if (path->kind == ACQ_PATH_VARIABLE && is_bound(&path->term, bound))
        n_facts /= 2 + acq_graph_get_n_relations(m->graph);
    if (path->kind != ACQ_PATH_LINK) {
        double n = path->kind == ACQ_PATH_VARIABLE ? n_facts : n_facts * n_facts;
        return head && tail ? 0.5 : head || tail ? n / (1 + m->terms->n_entities) + 100 : n;
    }
    acq_rel relation = acq_query_find_relation_key(m->graph, path->term.key, path->term.length);
    if (relation == ACQ_NO_ID)
        return 0; /* nothing: the sooner the better */
    const acq_links *links = open_links(m, is_inverse ? acq_inverse(relation) : relation);
    const acq_links *back = open_links(m, is_inverse ? relation : acq_inverse(relation));
    if (links == NULL || back == NULL || links->n_links == 0)
        return 0;
    if (head && tail)
        return 0.1;
    if (head)
        return (double)links->n_links / links->n_heads;
    return tail ? (double)links->n_links / back->n_heads : links->n_links;
}

static double guess_element(acq_machine *m, const element *e, const uint64_t *bound)
{
    double n = 0;
    if (e->kind == ACQ_ELEMENT_TRIPLE)
        return guess_triple(m, e, bound);
    if (e->kind == ACQ_ELEMENT_VALUES) {
        for (const acq_sparql_row *row = e->rows; row != NULL; row = row->next)
            n++;
        return n;
    }
    return 1e9;
}

/* ---- steps ---- */

static acq_plan_step *new_step(acq_machine *m, const element *e)
{
    if (++m->n_steps > ACQ_PLAN_MOST_STEPS && m->status == ACQ_OK)
        m->status = acq_fail_at(m->error, ACQ_ERR_LIMIT, e->place.line, e->place.column,
                                "more than %d triples and conditions are not evaluated over facts; "
                                "split the query",
                                (int)ACQ_PLAN_MOST_STEPS);
    acq_plan_step *step = m->status == ACQ_OK ? allocate(m, 1, sizeof *step) : NULL;
    if (step != NULL)
        step->kind = e->kind;
    return step;
}

static void plan_values(acq_machine *m, const element *e, acq_plan_step *step)
{
    size_t n = 0, cell = 0;
    for (const acq_sparql_term *v = e->variables; v != NULL; v = v->next)
        step->n_columns++;
    for (const acq_sparql_row *row = e->rows; row != NULL; row = row->next)
        n++;
    step->columns = allocate(m, step->n_columns, sizeof *step->columns);
    step->rows.cells = allocate(m, n * step->n_columns, sizeof *step->rows.cells);
    step->rows.n = n;
    if (m->status != ACQ_OK)
        return;
    for (const acq_sparql_term *v = e->variables; v != NULL; v = v->next)
        step->columns[cell++] = v->variable;
    cell = 0;
    for (const acq_sparql_row *row = e->rows; row != NULL; row = row->next) {
        for (const acq_sparql_term *v = row->values; v != NULL; v = v->next) {
            acq_plan_end value = {.id = ACQ_NO_ID};
            if (!v->is_undef)
                plan_end(m, v, &value);
            step->rows.cells[cell++] = value.id;
        }
    }
}

static bool has_minus(const acq_sparql_group *group);

static bool expression_has_minus(const acq_sparql_expression *e)
{
    bool found = e->group != NULL && has_minus(e->group);
    for (const acq_sparql_expression *c = e->children; !found && c != NULL; c = c->next)
        found = expression_has_minus(c);
    return found;
}

static bool has_minus(const acq_sparql_group *group)
{
    for (const element *e = group->elements; e != NULL; e = e->next) {
        if (e->kind == ACQ_ELEMENT_MINUS ||
            (e->expression != NULL && expression_has_minus(e->expression)))
            return true;
        for (const acq_sparql_group *g = e->groups; g != NULL; g = g->next) {
            if (has_minus(g))
                return true;
        }
    }
    return false;
}

/* The patterns of EXISTS in an expression, planned for the variables that are bound there. */
static void plan_expression(acq_machine *m, const acq_sparql_expression *e, const uint64_t *bound)
{
    if (e->op == ACQ_SPARQL_OP_TERM && !e->term.is_variable)
        return;
    if (e->group != NULL && has_minus(e->group)) {
        m->status = acq_fail_at(m->error, ACQ_ERR_PARSE, e->place.line, e->place.column,
                                "MINUS inside EXISTS is not supported: SPARQL leaves open what it "
                                "means; use FILTER NOT EXISTS");
        return;
    }
    if (e->group != NULL) {
        acq_plan_group *group = NULL;
        bool was_in_pushed = m->in_pushed;
        m->in_pushed = false;
        m->status = plan_group(m, e->group, bound, &group);
        m->in_pushed = was_in_pushed;
        if (m->status != ACQ_OK)
            return;
        group->expression = e;
        group->base = allocate(m, m->n_variables, sizeof *group->base);
        group->next = m->exists;
        m->exists = group;
    }
    const acq_sparql_expression *child = e->children;
    for (; m->status == ACQ_OK && child != NULL; child = child->next)
        plan_expression(m, child, bound);
}

static void warn_of_graph(acq_machine *m, const acq_sparql_term *name)
{
    if (m->warning != NULL && m->warning->length == 0)
        acq_text_format(m->warning, "there is no graph <%s>",
                        acq_input_show(name->key, name->length).text);
}

/* The name of a graph; its group's kept rows have it as well. */
static void plan_graph(acq_machine *m, const element *e, acq_plan_step *step)
{
    acq_plan_group *group = step->groups;
    const acq_sparql_term *name = &e->subject;
    bool is_known =
        name->is_variable || acq_machine_find_graph(m, name->key, name->length) != ACQ_NO_ID;
    step->subject = (acq_plan_end){.is_variable = name->is_variable, .id = name->variable};
    if (!name->is_variable &&
        acq_terms_add(m->terms, name->key, name->length, false, &step->subject.id) != ACQ_OK)
        m->status = acq_fail_memory(m->error);
    if (!is_known)
        warn_of_graph(m, name);
    group->graph = &step->subject;
    bind_term(name, group->certain);
    bind_term(name, group->possible);
    if (m->status == ACQ_OK)
        list_columns(m, group);
}

/* Groups of a GROUP, UNION, MINUS or GRAPH. */
static void plan_inner(acq_machine *m, const element *e, const uint64_t *bound, acq_plan_step *step)
{
    acq_plan_group **end = &step->groups;
    bool is_known = m->in_pushed;
    step->is_pushed = e->kind != ACQ_ELEMENT_MINUS;
    for (const acq_sparql_group *g = is_known ? NULL : e->groups; step->is_pushed && g != NULL;
         g = g->next)
        step->is_pushed = is_pushable(m, g);
    m->in_pushed = step->is_pushed;
    const uint64_t *nothing = new_bits(m);
    for (const acq_sparql_group *g = e->groups; m->status == ACQ_OK && g != NULL; g = g->next) {
        m->status = plan_group(m, g, step->is_pushed ? bound : nothing, end);
        if (m->status == ACQ_OK)
            end = &(*end)->next;
    }
    m->in_pushed = is_known;
    if (m->status == ACQ_OK && e->kind == ACQ_ELEMENT_GRAPH)
        plan_graph(m, e, step);
}

static acq_plan_step *plan_element(acq_machine *m, const element *e, const uint64_t *bound)
{
    acq_plan_step *step = new_step(m, e);
    if (step == NULL)
        return NULL;
    switch (e->kind) {
    case ACQ_ELEMENT_TRIPLE:
        plan_end(m, &e->subject, &step->subject);
        plan_end(m, &e->object, &step->object);
        if (m->status == ACQ_OK)
            step->path = plan_path(m, e->path);
        break;
    case ACQ_ELEMENT_VALUES:
        plan_values(m, e, step);
        break;
    case ACQ_ELEMENT_FILTER:
        step->expression = e->expression;
        plan_expression(m, e->expression, bound);
        break;
    default:
        plan_inner(m, e, bound, step);
    }
    return m->status == ACQ_OK ? step : NULL;
}

/* ---- the order of a group ---- */

typedef struct orderer {
    acq_machine *m;
    const element **elements; /* that are left; NULL: done */
    size_t n;
    uint64_t *bound;   /* from outside and by the steps so far: for guesses */
    uint64_t *certain; /* by the steps so far */
    acq_plan_step **end;
} orderer;

static void append(orderer *o, size_t i)
{
    const element *e = o->elements[i];
    acq_plan_step *step = plan_element(o->m, e, o->bound);
    o->elements[i] = NULL;
    if (step == NULL)
        return;
    *o->end = step;
    o->end = &step->next;
    collect_element(o->m, e, o->certain, o->bound);
}

/* Filters whose variables are all there; at the end all of them. */
static void append_filters(orderer *o, bool is_end)
{
    acq_machine *m = o->m;
    for (size_t i = 0; m->status == ACQ_OK && i < o->n; i++) {
        if (o->elements[i] == NULL || o->elements[i]->kind != ACQ_ELEMENT_FILTER)
            continue;
        acq_arena_mark mark = acq_arena_get_mark(&m->arena);
        uint64_t *used = new_bits(m);
        if (used == NULL)
            return;
        mention_expression(o->elements[i]->expression, used);
        bool is_ready = is_end || is_within(m, used, o->certain);
        acq_arena_reset(&m->arena, mark);
        if (is_ready)
            append(o, i);
    }
}

/* The elements from..to, which hold no MINUS, the cheapest next one first. */
static void order_segment(orderer *o, size_t from, size_t to)
{
    acq_machine *m = o->m;
    for (;;) {
        size_t best = to;
        double least = DBL_MAX;
        for (size_t i = from; m->status == ACQ_OK && i < to; i++) {
            if (o->elements[i] == NULL || o->elements[i]->kind == ACQ_ELEMENT_FILTER)
                continue;
            double cost = guess_element(m, o->elements[i], o->bound);
            if (cost < least) {
                least = cost;
                best = i;
            }
        }
        if (best == to || m->status != ACQ_OK)
            return;
        append(o, best);
        append_filters(o, false);
    }
}

static void order_group(orderer *o)
{
    size_t from = 0;
    append_filters(o, false);
    for (size_t i = 0; o->m->status == ACQ_OK && i <= o->n; i++) {
        bool is_minus =
            i < o->n && o->elements[i] != NULL && o->elements[i]->kind == ACQ_ELEMENT_MINUS;
        if (i < o->n && !is_minus)
            continue;
        order_segment(o, from, i);
        from = i + 1;
        if (is_minus && o->m->status == ACQ_OK)
            append(o, i);
    }
    append_filters(o, true);
}

/* The columns are those of `possible`. */
static void list_columns(acq_machine *m, acq_plan_group *group)
{
    uint32_t n = 0;
    group->n_columns = 0;
    for (uint32_t v = 0; v < m->n_variables; v++)
        n += acq_bits_has(group->possible, v);
    group->columns = allocate(m, n, sizeof *group->columns);
    for (uint32_t v = 0; group->columns != NULL && v < m->n_variables; v++) {
        if (acq_bits_has(group->possible, v))
            group->columns[group->n_columns++] = v;
    }
}

static acq_status plan_group(acq_machine *m, const acq_sparql_group *group, const uint64_t *bound,
                             acq_plan_group **out)
{
    acq_plan_group *plan = allocate(m, 1, sizeof *plan);
    orderer o = {.m = m, .bound = new_bits(m), .certain = new_bits(m)};
    for (const element *e = group->elements; e != NULL; e = e->next)
        o.n++;
    o.elements = allocate(m, o.n, sizeof *o.elements);
    if (m->status != ACQ_OK)
        return m->status;
    plan->certain = new_bits(m);
    plan->possible = new_bits(m);
    if (m->status == ACQ_OK)
        collect_group(m, group, plan->certain, plan->possible);
    if (m->status == ACQ_OK)
        list_columns(m, plan);
    if (m->status != ACQ_OK || o.bound == NULL || o.elements == NULL)
        return m->status;
    memcpy(o.bound, bound, m->n_words * sizeof *bound);
    size_t i = 0;
    for (const element *e = group->elements; e != NULL; e = e->next)
        o.elements[i++] = e;
    o.end = &plan->steps;
    order_group(&o);
    *out = plan;
    return m->status;
}

/* ---- which graphs ---- */

uint32_t acq_machine_find_graph(const acq_machine *m, const char *key, size_t length)
{
    uint32_t found = acq_names_find(&m->quads->names, key, length);
    acq_text name;
    if (found != ACQ_NO_ID || !acq_iri_is_plain_name(key, length))
        return found;
    acq_text_init(&name);
    if (acq_iri_decode_plain_name(&name, key, length) && !name.failed && name.length > 0)
        found = acq_names_find(&m->quads->names, name.bytes, name.length);
    acq_text_deinit(&name);
    return found;
}

/* The graphs of FROM, or of FROM NAMED, that there are, each once. */
static void choose_graphs(acq_machine *m, bool is_named, acq_active *out)
{
    size_t n = 0;
    for (const acq_sparql_source *s = m->query->sources; s != NULL; s = s->next)
        n++;
    uint32_t *graphs = allocate(m, n + 1, sizeof *graphs);
    *out = (acq_active){.graphs = graphs};
    for (const acq_sparql_source *s = m->query->sources; graphs != NULL && s != NULL; s = s->next) {
        uint32_t graph = acq_machine_find_graph(m, s->graph.key, s->graph.length);
        bool is_new = s->is_named == is_named && graph != ACQ_NO_ID;
        if (graph == ACQ_NO_ID)
            warn_of_graph(m, &s->graph);
        for (size_t i = 0; is_new && i < out->n; i++)
            is_new = graphs[i] != graph;
        if (is_new)
            graphs[out->n++] = graph;
    }
}

/* Without FROM patterns are matched with all facts, and GRAPH ranges over all graphs. */
static void plan_graphs(acq_machine *m)
{
    m->active.is_all = true;
    if (!m->query->has_graphs)
        return;
    m->status = acq_graph_open_quads(m->graph, &m->quads, m->error);
    if (m->status == ACQ_OK && m->quads == NULL)
        m->status = acq_fail_at(m->error, ACQ_ERR_PARSE, m->query->graphs_place.line,
                                m->query->graphs_place.column,
                                "GRAPH and FROM need the names of graphs, which were not kept: "
                                "read or import the graph with --named-graphs");
    if (m->status != ACQ_OK)
        return;
    if (m->query->sources != NULL) {
        choose_graphs(m, false, &m->active);
        choose_graphs(m, true, &m->named);
        return;
    }
    uint32_t *all = allocate(m, m->quads->names.n_ids + 1, sizeof *all);
    m->named = (acq_active){.graphs = all, .n = all == NULL ? 0 : m->quads->names.n_ids};
    for (size_t i = 0; i < m->named.n; i++)
        all[i] = (uint32_t)i;
}

acq_status acq_plan_make(acq_machine *m)
{
    m->n_words = m->n_variables / 64 + 1;
    uint64_t *nothing = new_bits(m);
    if (m->status == ACQ_OK)
        plan_graphs(m);
    return m->status != ACQ_OK ? m->status : plan_group(m, m->query->where, nothing, &m->where);
}

static void free_group(acq_plan_group *group)
{
    acq_free(group->rows.cells);
    for (acq_plan_step *step = group->steps; step != NULL; step = step->next) {
        for (acq_plan_group *g = step->groups; g != NULL; g = g->next)
            free_group(g);
    }
}

void acq_plan_deinit(acq_machine *m)
{
    if (m->where != NULL)
        free_group(m->where);
    for (acq_plan_group *g = m->exists; g != NULL; g = g->next)
        free_group(g);
}
