/* evaluate.c - see evaluate.h and machine.h: runs a plan, and what SPARQL does to its solutions. */
#include "sparql/evaluate.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "sparql/machine.h"

bool acq_machine_fail(acq_machine *m, acq_status status)
{
    if (m->status == ACQ_OK)
        m->status = status;
    return false;
}

/* ---- expressions ---- */

static acq_value get_term(void *context, const acq_sparql_term *term)
{
    acq_machine *m = context;
    uint32_t id = term->is_variable ? m->row[term->variable] : ACQ_NO_ID;
    if (term->is_variable)
        return id == ACQ_NO_ID ? acq_value_error()
                               : acq_terms_get_value(m->terms, &m->scope.room, id);
    return acq_value_of_key(&m->scope.room, term->key, !term->is_literal);
}

static bool stop_at_first(void *context)
{
    *(bool *)context = true;
    return false;
}

static bool exists(void *context, const acq_sparql_expression *e)
{
    acq_machine *m = context;
    acq_plan_group *group = m->exists;
    uint32_t *outer = m->base;
    uint64_t epoch = m->epoch;
    bool is_found = false;
    while (group != NULL && group->expression != e)
        group = group->next;
    if (group == NULL)
        return acq_machine_fail(m, acq_fail(m->error, ACQ_ERR_INTERNAL, "EXISTS has no plan"));
    memcpy(group->base, m->row, m->n_variables * sizeof *m->row);
    m->base = group->base;
    m->epoch = ++m->n_epochs;
    acq_plan_after after = {.sink = stop_at_first, .context = &is_found};
    acq_machine_run(m, group->steps, &after);
    m->base = outer;
    m->epoch = epoch;
    return is_found;
}

/* True, false or error: only true lets a solution pass. */
static bool passes(acq_machine *m, const acq_sparql_expression *e)
{
    acq_arena_mark mark = acq_arena_get_mark(&m->scratch);
    acq_value value = acq_expression_evaluate(&m->scope, e);
    int test = acq_value_test(&value);
    acq_arena_reset(&m->scratch, mark);
    if (m->scope.room.failed != ACQ_OK)
        return acq_machine_fail(m, acq_fail(m->error, m->scope.room.failed, "%s",
                                            m->scope.room.reason));
    return test == 1;
}

/* ---- groups that are kept ---- */

typedef struct keeper {
    acq_machine *m;
    acq_plan_group *group;
    uint32_t name; /* GRAPH: the term of the graph at hand */
} keeper;

/* Can the row's variable be the name of the graph at hand? It binds only now: the group inside does
 * not see it. */
static bool name_graph(const keeper *k)
{
    acq_plan_end name = *k->group->graph;
    uint32_t now = name.is_variable ? k->m->row[name.id] : ACQ_NO_ID;
    return now == ACQ_NO_ID || now == k->name;
}

static bool keep_row(void *context)
{
    keeper *k = context;
    acq_machine *m = k->m;
    acq_plan_group *group = k->group;
    acq_plan_rows *rows = &group->rows;
    size_t width = group->n_columns, before = rows->capacity;
    if (group->graph != NULL && !name_graph(k))
        return true;
    if (ACQ_RESERVE(rows->cells, rows->capacity, (rows->n + 1) * width + 1) != ACQ_OK)
        return acq_machine_fail(m, acq_fail_memory(m->error));
    m->kept_bytes += (rows->capacity - before) * sizeof *rows->cells;
    for (size_t i = 0; i < width; i++) {
        bool is_name = group->graph != NULL && group->graph->is_variable &&
                       group->columns[i] == group->graph->id;
        rows->cells[rows->n * width + i] = is_name ? k->name : m->row[group->columns[i]];
    }
    rows->n++;
    return acq_budget_check_memory(&m->budget, m->kept_bytes);
}

/* ---- graphs ---- */

/* Makes a graph the active one; what was kept for another one is made again. */
static void enter(acq_machine *m, acq_active active)
{
    m->active = active;
    m->epoch = ++m->n_epochs;
}

static bool get_graph_term(acq_machine *m, uint32_t graph, uint32_t *out)
{
    const char *key = acq_names_get(&m->quads->names, graph);
    return acq_terms_add(m->terms, key, strlen(key), false, out) == ACQ_OK ||
           acq_machine_fail(m, acq_fail_memory(m->error));
}

/* The graphs that the name at hand leaves: the one that it is, or all. */
static acq_active choose_graphs(const acq_machine *m, acq_plan_end name, uint32_t *one)
{
    uint32_t term = name.is_variable ? m->row[name.id] : name.id;
    if (term == ACQ_NO_ID)
        return m->named;
    const char *key = acq_terms_get_key(m->terms, term);
    *one = acq_machine_find_graph(m, key, strlen(key));
    for (size_t i = 0; i < m->named.n; i++) {
        if (m->named.graphs[i] == *one)
            return (acq_active){.graphs = m->named.graphs + i, .n = 1};
    }
    return (acq_active){0};
}

/* The solutions of a GRAPH's group in each graph. */
static bool keep_graphs(keeper *k, const acq_plan_after *after)
{
    acq_machine *m = k->m;
    acq_active outer = m->active;
    uint64_t epoch = m->epoch;
    uint32_t one;
    acq_active graphs = choose_graphs(m, *k->group->graph, &one);
    bool goes_on = true;
    for (size_t i = 0; goes_on && i < graphs.n; i++) {
        enter(m, (acq_active){.graphs = graphs.graphs + i, .n = 1});
        goes_on = get_graph_term(m, graphs.graphs[i], &k->name) &&
                  acq_machine_run(m, k->group->steps, after);
    }
    m->active = outer;
    m->epoch = epoch;
    return goes_on;
}

/* Rows go through a GRAPH's group, in each graph. */
static bool run_graph(acq_machine *m, const acq_plan_step *step, const acq_plan_after *after)
{
    acq_active outer = m->active;
    uint64_t epoch = m->epoch;
    uint32_t one, term;
    acq_plan_end name = step->subject;
    acq_active graphs = choose_graphs(m, name, &one);
    bool goes_on = true, is_new = name.is_variable && m->row[name.id] == ACQ_NO_ID;
    acq_plan_after back = {.step = step->next, .outer = after, .active = &outer, .epoch = epoch};
    for (size_t i = 0; goes_on && i < graphs.n; i++) {
        if (!acq_budget_tick(&m->budget, 64) || !get_graph_term(m, graphs.graphs[i], &term))
            return false;
        if (is_new)
            m->row[name.id] = term;
        enter(m, (acq_active){.graphs = graphs.graphs + i, .n = 1});
        goes_on = acq_machine_run(m, step->groups->steps, &back);
    }
    if (is_new)
        m->row[name.id] = ACQ_NO_ID;
    m->active = outer;
    m->epoch = epoch;
    return goes_on;
}

/* Behind a GRAPH: goes on with what was active before it. */
static bool leave_graph(acq_machine *m, const acq_plan_after *after)
{
    acq_active inner = m->active;
    uint64_t epoch = m->epoch;
    m->active = *after->active;
    m->epoch = after->epoch;
    bool goes_on = acq_machine_run(m, after->step, after->outer);
    m->active = inner;
    m->epoch = epoch;
    return goes_on;
}

/* The solutions of a group alone, from the base. */
static bool keep_group(acq_machine *m, acq_plan_group *group)
{
    size_t bytes = m->n_variables * sizeof *m->row;
    keeper k = {.m = m, .group = group};
    acq_plan_after after = {.sink = keep_row, .context = &k};
    if (group->rows.epoch == m->epoch)
        return true;
    uint32_t *outer = acq_alloc(m->n_variables, sizeof *outer);
    if (outer == NULL)
        return acq_machine_fail(m, acq_fail_memory(m->error));
    memcpy(outer, m->row, bytes);
    memcpy(m->row, m->base, bytes);
    group->rows.n = 0;
    bool goes_on = group->graph != NULL ? keep_graphs(&k, &after)
                                        : acq_machine_run(m, group->steps, &after);
    memcpy(m->row, outer, bytes);
    acq_free(outer);
    group->rows.epoch = m->epoch;
    return goes_on;
}

/* Binds what a kept row adds, if it fits; the new ones are marked in the row's place by `set`. */
static bool fits(const acq_machine *m, const uint32_t *columns, const uint32_t *cells, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t now = m->row[columns[i]];
        if (now != ACQ_NO_ID && cells[i] != ACQ_NO_ID && now != cells[i])
            return false;
    }
    return true;
}

/* Goes on with the row and a kept one joined. */
static bool join_row(acq_machine *m, const uint32_t *columns, const uint32_t *cells, size_t n,
                     const acq_plan_step *step, const acq_plan_after *after)
{
    if (!acq_budget_tick(&m->budget, 16 + n))
        return false;
    if (!fits(m, columns, cells, n))
        return true;
    acq_arena_mark mark = acq_arena_get_mark(&m->scratch);
    uint32_t *before = acq_arena_alloc(&m->scratch, n, sizeof *before);
    if (before == NULL)
        return acq_machine_fail(m, acq_fail_memory(m->error));
    for (size_t i = 0; i < n; i++) {
        before[i] = m->row[columns[i]];
        if (cells[i] != ACQ_NO_ID)
            m->row[columns[i]] = cells[i];
    }
    bool goes_on = acq_machine_run(m, step->next, after);
    for (size_t i = 0; i < n; i++)
        m->row[columns[i]] = before[i];
    acq_arena_reset(&m->scratch, mark);
    return goes_on;
}

static bool run_kept(acq_machine *m, const acq_plan_step *step, const acq_plan_after *after)
{
    bool goes_on = true;
    for (acq_plan_group *g = step->groups; goes_on && g != NULL; g = g->next) {
        goes_on = keep_group(m, g);
        for (size_t i = 0; goes_on && i < g->rows.n; i++)
            goes_on = join_row(m, g->columns, g->rows.cells + i * g->n_columns, g->n_columns, step,
                               after);
    }
    return goes_on;
}

static bool run_pushed(acq_machine *m, const acq_plan_step *step, const acq_plan_after *after)
{
    bool goes_on = true;
    acq_plan_after back = {.step = step->next, .outer = after};
    for (const acq_plan_group *g = step->groups; goes_on && g != NULL; g = g->next)
        goes_on = acq_machine_run(m, g->steps, &back);
    return goes_on;
}

static bool run_values(acq_machine *m, const acq_plan_step *step, const acq_plan_after *after)
{
    bool goes_on = true;
    size_t n = step->n_columns;
    for (size_t i = 0; goes_on && i < step->rows.n; i++)
        goes_on = join_row(m, step->columns, step->rows.cells + i * n, n, step, after);
    return goes_on;
}

/* Does a kept row of MINUS share a variable with the row, and fit? */
static bool removes(const acq_machine *m, const acq_plan_group *group, const uint32_t *cells)
{
    bool shares = false;
    for (size_t i = 0; i < group->n_columns; i++)
        shares |= cells[i] != ACQ_NO_ID && m->row[group->columns[i]] != ACQ_NO_ID;
    return shares && fits(m, group->columns, cells, group->n_columns);
}

static bool run_minus(acq_machine *m, const acq_plan_step *step, const acq_plan_after *after)
{
    acq_plan_group *group = step->groups;
    if (!keep_group(m, group))
        return false;
    for (size_t i = 0; i < group->rows.n; i++) {
        if (!acq_budget_tick(&m->budget, 8 + group->n_columns))
            return false;
        if (removes(m, group, group->rows.cells + i * group->n_columns))
            return true;
    }
    return acq_machine_run(m, step->next, after);
}

bool acq_machine_run(acq_machine *m, const acq_plan_step *step, const acq_plan_after *after)
{
    for (; step == NULL; step = after->step, after = after->outer) {
        if (after->sink != NULL)
            return after->sink(after->context);
        if (after->active != NULL)
            return leave_graph(m, after);
    }
    switch (step->kind) {
    case ACQ_ELEMENT_TRIPLE:
        return acq_machine_match(m, step, after);
    case ACQ_ELEMENT_FILTER: {
        bool is_good = passes(m, step->expression);
        if (m->status != ACQ_OK || m->budget.spent != ACQ_SPENT_NOTHING)
            return false;
        return !is_good || acq_machine_run(m, step->next, after);
    }
    case ACQ_ELEMENT_VALUES:
        return run_values(m, step, after);
    case ACQ_ELEMENT_MINUS:
        return run_minus(m, step, after);
    case ACQ_ELEMENT_GRAPH:
        return step->is_pushed ? run_graph(m, step, after) : run_kept(m, step, after);
    case ACQ_ELEMENT_GROUP:
    case ACQ_ELEMENT_UNION:
        break;
    }
    return step->is_pushed ? run_pushed(m, step, after) : run_kept(m, step, after);
}

/* ---- solutions ---- */

typedef struct sort_key {
    size_t i; /* row */
    const acq_value *values;
} sort_key;

typedef struct taker {
    acq_machine *m;
    acq_solution_rows *out;
    const uint32_t *columns; /* of the row that are kept */
    uint64_t enough;         /* rows; then the work may end */
    uint64_t most;           /* rows; then it must */
    bool is_distinct;
    size_t *slots; /* of distinct rows: index + 1 */
    size_t n_slots;
} taker;

static uint64_t hash_row(const uint32_t *cells, size_t width)
{
    return acq_hash_bytes((const char *)cells, width * sizeof *cells, 0);
}

static size_t find_slot(const taker *t, const uint32_t *cells)
{
    size_t width = t->out->width, at = hash_row(cells, width) & (t->n_slots - 1);
    while (t->slots[at] != 0 && memcmp(t->out->cells + (t->slots[at] - 1) * width, cells,
                                       width * sizeof *cells) != 0)
        at = (at + 1) & (t->n_slots - 1);
    return at;
}

static bool grow_slots(taker *t)
{
    size_t n = t->n_slots == 0 ? 64 : t->n_slots * 2;
    size_t *slots = acq_zalloc(n, sizeof *slots);
    if (slots == NULL)
        return false;
    acq_free(t->slots);
    t->slots = slots;
    t->n_slots = n;
    for (size_t i = 0; i < t->out->n; i++)
        slots[find_slot(t, t->out->cells + i * t->out->width)] = i + 1;
    return true;
}

/* Appends cells to the rows; of distinct ones, if it is new. */
static bool add_row(taker *t, const uint32_t *cells)
{
    acq_machine *m = t->m;
    acq_solution_rows *out = t->out;
    size_t width = out->width;
    if (t->is_distinct && out->n * 2 >= t->n_slots && !grow_slots(t))
        return acq_machine_fail(m, acq_fail_memory(m->error));
    if (t->is_distinct && t->slots[find_slot(t, cells)] != 0)
        return true;
    if (out->n == t->most) {
        out->has_more = true;
        return false;
    }
    if (ACQ_RESERVE(out->cells, out->capacity, (out->n + 1) * width + 1) != ACQ_OK)
        return acq_machine_fail(m, acq_fail_memory(m->error));
    size_t slot = t->is_distinct ? find_slot(t, cells) : 0;
    if (width > 0)
        memcpy(out->cells + out->n * width, cells, width * sizeof *cells);
    out->n++;
    if (t->is_distinct)
        t->slots[slot] = out->n;
    return out->n < t->enough &&
           acq_budget_check_memory(&m->budget, m->kept_bytes + out->capacity * sizeof *cells);
}

static bool take_row(void *context)
{
    taker *t = context;
    uint32_t cells[64] = {0}, *wide = cells;
    size_t width = t->out->width;
    if (width > 64)
        wide = acq_alloc(width, sizeof *wide);
    if (wide == NULL)
        return acq_machine_fail(t->m, acq_fail_memory(t->m->error));
    for (size_t i = 0; i < width; i++)
        wide[i] = t->m->row[t->columns[i]];
    bool goes_on = add_row(t, wide);
    if (wide != cells)
        acq_free(wide);
    return goes_on;
}

/* ---- ORDER BY ---- */

static const acq_value *make_key(acq_machine *m, const uint32_t *row, size_t n)
{
    acq_value *values = acq_arena_alloc(&m->arena, n, sizeof *values);
    if (values == NULL)
        return NULL;
    memcpy(m->row, row, m->n_variables * sizeof *row);
    m->scope.room.arena = &m->arena; /* the key stays */
    const acq_sparql_order *order = m->query->order;
    for (size_t i = 0; i < n; i++, order = order->next)
        values[i] = acq_expression_evaluate(&m->scope, order->expression);
    m->scope.room.arena = &m->scratch;
    return values;
}

static int compare_keys(const void *left, const void *right, void *query)
{
    const sort_key *a = left, *b = right;
    const acq_sparql_order *order = ((const acq_sparql_query *)query)->order;
    for (size_t i = 0; order != NULL; order = order->next, i++) {
        int by = acq_value_compare(&a->values[i], &b->values[i]);
        if (by != 0)
            return order->is_descending ? -by : by;
    }
    return a->i < b->i ? -1 : a->i > b->i;
}

static bool make_keys(acq_machine *m, const acq_solution_rows *all, sort_key *keys)
{
    size_t n = 0;
    for (const acq_sparql_order *order = m->query->order; order != NULL; order = order->next)
        n++;
    for (size_t i = 0; i < all->n; i++) {
        if (!acq_budget_tick(&m->budget, 64))
            return false;
        keys[i] = (sort_key){.i = i, .values = make_key(m, all->cells + i * all->width, n)};
        if (keys[i].values == NULL)
            return acq_machine_fail(m, acq_fail_memory(m->error));
        if (m->scope.room.failed != ACQ_OK)
            return acq_machine_fail(m, acq_fail(m->error, m->scope.room.failed, "%s",
                                                m->scope.room.reason));
        if (m->status != ACQ_OK)
            return false;
    }
    return true;
}

/* Whole rows in their order, then what is selected of them. */
static void sort_rows(taker *t, const acq_solution_rows *all)
{
    acq_machine *m = t->m;
    sort_key *keys = acq_alloc(all->n, sizeof *keys);
    if (keys == NULL) {
        acq_machine_fail(m, acq_fail_memory(m->error));
        return;
    }
    if (make_keys(m, all, keys)) {
        qsort_r(keys, all->n, sizeof *keys, compare_keys, (void *)m->query);
        bool goes_on = true;
        for (size_t i = 0; goes_on && i < all->n; i++) {
            memcpy(m->row, all->cells + keys[i].i * all->width, all->width * sizeof *m->row);
            goes_on = take_row(t);
        }
    }
    acq_free(keys);
}

static bool run_where(acq_machine *m, taker *t)
{
    acq_plan_after after = {.sink = take_row, .context = t};
    return acq_machine_run(m, m->where->steps, &after);
}

static void run_ordered(acq_machine *m, taker *t)
{
    acq_solution_rows all = {.width = m->n_variables};
    uint32_t *columns = acq_arena_alloc(&m->arena, m->n_variables, sizeof *columns);
    if (columns == NULL) {
        acq_machine_fail(m, acq_fail_memory(m->error));
        return;
    }
    for (uint32_t v = 0; v < m->n_variables; v++)
        columns[v] = v;
    taker whole = {
        .m = m, .out = &all, .columns = columns, .enough = UINT64_MAX, .most = UINT64_MAX};
    run_where(m, &whole);
    if (m->status == ACQ_OK)
        sort_rows(t, &all);
    acq_free(all.cells);
}

/* ---- CONSTRUCT ---- */

/* The term of a template for the row at hand; a blank node is new for each solution. */
static uint32_t instantiate(acq_machine *m, const acq_sparql_term *term, size_t solution)
{
    uint32_t id = ACQ_NO_ID;
    char key[64];
    if (term->is_variable && !m->query->names[term->variable].is_blank)
        return m->row[term->variable];
    acq_status status;
    if (term->is_variable) {
        int n = acq_format(key, sizeof key, "_:c%zu_%u", solution, term->variable);
        status = acq_terms_add(m->terms, key, (size_t)n, false, &id);
    } else {
        status = acq_terms_add(m->terms, term->key, term->length, term->is_literal, &id);
    }
    if (status != ACQ_OK)
        acq_machine_fail(m, acq_fail_memory(m->error));
    return id;
}

static bool is_kind(acq_machine *m, uint32_t term, bool takes_blank)
{
    acq_arena_mark mark = acq_arena_get_mark(&m->scratch);
    acq_value value = acq_terms_get_value(m->terms, &m->scope.room, term);
    acq_arena_reset(&m->scratch, mark);
    return value.kind == ACQ_VALUE_IRI || (takes_blank && value.kind == ACQ_VALUE_BLANK);
}

typedef struct builder {
    taker statements; /* distinct rows of three terms */
    uint64_t offset, limit, n;
} builder;

/* A statement with an unbound term, or a literal where none may be, is left out. */
static bool construct(void *context)
{
    builder *b = context;
    acq_machine *m = b->statements.m;
    bool goes_on = true;
    size_t solution = b->n++;
    if (solution < b->offset)
        return true;
    for (const acq_sparql_element *e = m->query->construct; goes_on && e != NULL; e = e->next) {
        uint32_t cells[3] = {instantiate(m, &e->subject, solution),
                             instantiate(m, &e->path->term, solution),
                             instantiate(m, &e->object, solution)};
        if (m->status != ACQ_OK)
            return false;
        if (cells[0] == ACQ_NO_ID || cells[1] == ACQ_NO_ID || cells[2] == ACQ_NO_ID ||
            !is_kind(m, cells[0], true) || !is_kind(m, cells[1], false))
            continue;
        goes_on = add_row(&b->statements, cells);
    }
    return goes_on && b->n - b->offset < b->limit;
}

static void run_construct(acq_machine *m, taker *t)
{
    builder b = {.statements = *t,
                 .offset = m->query->offset,
                 .limit = m->query->has_limit ? m->query->limit : UINT64_MAX};
    acq_plan_after after = {.sink = construct, .context = &b};
    if (m->query->order != NULL && (m->query->has_limit || m->query->offset > 0)) {
        acq_machine_fail(m, acq_fail_at(m->error, ACQ_ERR_PARSE, m->query->place.line,
                                        m->query->place.column,
                                        "ORDER BY with LIMIT or OFFSET is not supported in "
                                        "CONSTRUCT; use SELECT"));
        return;
    }
    b.statements.is_distinct = true;
    b.statements.enough = UINT64_MAX;
    if (b.limit > 0)
        acq_machine_run(m, m->where->steps, &after);
    t->slots = b.statements.slots;
    t->n_slots = b.statements.n_slots;
}

/* ---- the whole ---- */

static acq_status init(acq_machine *m, const acq_evaluate_limits *limits)
{
    acq_arena_init(&m->arena);
    acq_arena_init(&m->scratch);
    acq_budget_init(&m->budget, limits->seconds, limits->memory_bytes);
    m->budget.stop = limits->stop;
    m->n_variables = m->query->n_variables;
    m->epoch = m->n_epochs = 1;
    m->scope = (acq_expression_scope){
        .room.arena = &m->scratch, .get_term = get_term, .exists = exists, .context = m};
    m->row = acq_arena_alloc(&m->arena, (size_t)m->n_variables + 1, sizeof *m->row);
    m->base = acq_arena_alloc(&m->arena, (size_t)m->n_variables + 1, sizeof *m->base);
    if (m->row == NULL || m->base == NULL)
        return acq_fail_memory(m->error);
    memset(m->row, 0xFF, m->n_variables * sizeof *m->row);
    memset(m->base, 0xFF, m->n_variables * sizeof *m->base);
    return acq_plan_make(m);
}

static void deinit(acq_machine *m)
{
    acq_plan_deinit(m);
    acq_expression_scope_deinit(&m->scope);
    acq_arena_deinit(&m->arena);
    acq_arena_deinit(&m->scratch);
    acq_free(m->nodes);
}

static uint32_t *list_selected(acq_machine *m, uint32_t *n)
{
    *n = 0;
    for (const acq_sparql_term *term = m->query->selected; term != NULL; term = term->next)
        ++*n;
    uint32_t *columns = acq_arena_alloc(&m->arena, (size_t)*n + 1, sizeof *columns), i = 0;
    for (const acq_sparql_term *t = m->query->selected; columns != NULL && t != NULL; t = t->next)
        columns[i++] = t->variable;
    return columns;
}

/* Takes OFFSET off the front. */
static void skip_rows(acq_solution_rows *out, uint64_t offset)
{
    size_t skipped = offset < out->n ? (size_t)offset : out->n;
    out->n -= skipped;
    if (out->n > 0 && skipped > 0 && out->width > 0)
        memmove(out->cells, out->cells + skipped * out->width,
                out->n * out->width * sizeof *out->cells);
}

static void run_select(acq_machine *m, taker *t)
{
    const acq_sparql_query *query = m->query;
    bool is_ask = query->form == ACQ_FORM_ASK;
    uint64_t enough = UINT64_MAX;
    if (query->has_limit && __builtin_add_overflow(query->limit, query->offset, &enough))
        enough = UINT64_MAX;
    t->is_distinct = query->is_distinct;
    t->enough = is_ask ? 1 : enough;
    if (t->enough == 0)
        return;
    if (query->order != NULL && !is_ask)
        run_ordered(m, t);
    else
        run_where(m, t);
    if (!is_ask)
        skip_rows(t->out, query->offset);
}

acq_status acq_sparql_evaluate(const acq_sparql_query *query, acq_terms *terms,
                               const acq_evaluate_limits *limits, acq_solution_rows *out,
                               acq_text *warning, acq_error *error)
{
    acq_machine m = {
        .query = query, .graph = terms->graph, .terms = terms, .error = error, .warning = warning};
    *out = (acq_solution_rows){0};
    m.status = init(&m, limits);
    taker t = {.m = &m, .out = out, .most = limits->most_rows == 0 ? UINT64_MAX : limits->most_rows};
    if (m.status == ACQ_OK) {
        t.columns = list_selected(&m, &out->width);
        if (t.columns == NULL)
            m.status = acq_fail_memory(error);
    }
    if (query->form == ACQ_FORM_CONSTRUCT)
        out->width = 3;
    if (m.status == ACQ_OK && query->form == ACQ_FORM_CONSTRUCT)
        run_construct(&m, &t);
    else if (m.status == ACQ_OK)
        run_select(&m, &t);
    out->spent = m.budget.spent;
    deinit(&m);
    acq_free(t.slots);
    if (m.status != ACQ_OK)
        acq_solution_rows_deinit(out);
    return m.status;
}

/* Whole rows, in which what is not selected is unbound. */
static bool widen(acq_machine *m, const acq_solution_rows *rows, acq_solution_rows *out)
{
    uint32_t width = 0, *columns = list_selected(m, &width);
    out->width = m->n_variables;
    out->n = rows->n;
    out->cells = acq_alloc(rows->n * m->n_variables + 1, sizeof *out->cells);
    if (columns == NULL || out->cells == NULL || width != rows->width)
        return acq_machine_fail(m, acq_fail_memory(m->error));
    memset(out->cells, 0xFF, rows->n * m->n_variables * sizeof *out->cells);
    for (size_t i = 0; i < rows->n; i++) {
        for (uint32_t j = 0; j < width; j++)
            out->cells[i * m->n_variables + columns[j]] = rows->cells[i * width + j];
    }
    return true;
}

acq_status acq_sparql_sort(const acq_sparql_query *query, acq_terms *terms,
                           const acq_solution_rows *rows, size_t *order, acq_error *error)
{
    acq_machine m = {.query = query, .graph = terms->graph, .terms = terms, .error = error};
    acq_solution_rows whole = {0};
    sort_key *keys = acq_alloc(rows->n + 1, sizeof *keys);
    m.status = keys == NULL ? acq_fail_memory(error) : init(&m, &(acq_evaluate_limits){0});
    if (m.status == ACQ_OK && widen(&m, rows, &whole) && make_keys(&m, &whole, keys)) {
        qsort_r(keys, rows->n, sizeof *keys, compare_keys, (void *)query);
        for (size_t i = 0; i < rows->n; i++)
            order[i] = keys[i].i;
    }
    acq_free(whole.cells);
    acq_free(keys);
    deinit(&m);
    return m.status;
}

void acq_solution_rows_deinit(acq_solution_rows *rows)
{
    acq_free(rows->cells);
    *rows = (acq_solution_rows){0};
}
