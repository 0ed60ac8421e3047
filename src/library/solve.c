/* solve.c - SPARQL: facts by the algebra (sparql/), predictions by the engine.
 *
 *   a query with a formula, whose answers are SPARQL's solutions, and which negates or is
 *   large                                    the engine alone: p of a denial is the engine's
 *   any other query with a formula           rows of facts by the algebra, as often as SPARQL gives
 *                                            them; then predicted rows by the engine, each once
 *   a query without a formula                the algebra alone */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "library/solutions.h"
#include "query/sparql/syntax.h"

enum { LARGE = 8 }; /* atoms from which on exact search is quicker than joins */

void acq_solve_params_init_sized(acq_solve_params *params, size_t size)
{
    acq_solve_params own = {0};
    acq_sized_init(params, size, &own, sizeof own);
}

bool acq_is_sparql(const char *text)
{
    return text != NULL && acq_query_is_sparql(text, strlen(text));
}

typedef struct solver {
    acq_solutions *s;
    acq_ask_params ask;
    uint64_t most;
    int64_t deadline_ns;
    acq_formula_traits traits;
    acq_error *error;
} solver;

static bool is_stopped(void *context)
{
    const acq_ask_params *ask = context;
    acq_progress now = {.phase = "searching"};
    return ask->progress != NULL && !ask->progress(ask->context, &now);
}

static double seconds_left(const solver *v)
{
    if (v->deadline_ns == INT64_MAX)
        return 0;
    double left = (double)(v->deadline_ns - acq_clock_ns()) * 1e-9;
    return left > 1e-3 ? left : 1e-3;
}

static bool is_observed(const acq_predictor *predictor)
{
    return predictor == NULL || strcmp(acq_predictor_get_name(predictor), "observed") == 0;
}

/* ---- the formula ---- */

/* ORDER BY may use selected variables only: predicted rows have no others. */
static bool orders_by(const acq_sparql_expression *e, const acq_sparql_term *selected)
{
    if (e->op == ACQ_SPARQL_OP_TERM && e->term.is_variable) {
        for (; selected != NULL; selected = selected->next) {
            if (selected->variable == e->term.variable)
                return true;
        }
        return false;
    }
    for (const acq_sparql_expression *c = e->children; c != NULL; c = c->next) {
        if (!orders_by(c, selected))
            return false;
    }
    return e->group == NULL;
}

static acq_status find_formula(solver *v, acq_error *why)
{
    acq_solutions *s = v->s;
    acq_status status = acq_sparql_make_formula(s->sparql, &s->formula, &v->traits, why);
    if (status == ACQ_OK)
        status = acq_query_bind(s->formula, s->graph, NULL, 0, why);
    if (status == ACQ_OK)
        status = acq_library_check_values(s->formula, s->graph, why);
    for (const acq_sparql_order *o = s->sparql->order; status == ACQ_OK && o != NULL; o = o->next) {
        if (!orders_by(o->expression, s->sparql->selected))
            status = acq_fail(why, ACQ_ERR_PARSE, "ORDER BY uses more than selected variables");
    }
    if (status == ACQ_OK && v->traits.is_negated && v->traits.may_repeat &&
        !is_observed(s->predictor))
        status = acq_fail(why, ACQ_ERR_PARSE, "it has a negation and may repeat solutions; add "
                                              "DISTINCT");
    return status;
}

/* Leaves s->formula NULL, with a note why, for a query that has none. */
static acq_status make_formula(solver *v)
{
    acq_solutions *s = v->s;
    acq_error why = {0};
    if (s->predictor == NULL)
        return ACQ_OK;
    acq_status status = find_formula(v, &why);
    if (status == ACQ_OK || status == ACQ_ERR_MEMORY || status == ACQ_ERR_IO)
        return status == ACQ_OK ? ACQ_OK : acq_fail(v->error, status, "%s", why.message);
    acq_query_free(s->formula);
    s->formula = NULL;
    if (!is_observed(s->predictor) && status != ACQ_ERR_NAME)
        acq_text_format(&s->note, "answered from observed facts only: %s", why.message);
    return acq_text_finish(&s->note, v->error);
}

/* ---- rows ---- */

acq_status acq_solutions_add_row(acq_solutions *s, const uint32_t *cells, size_t answer,
                                 acq_error *error)
{
    size_t width = s->rows.width, room = s->rows.n;
    if (ACQ_RESERVE(s->rows.cells, s->rows.capacity, (s->rows.n + 1) * width + 1) != ACQ_OK)
        return acq_fail_memory(error);
    (void)room;
    if (width > 0)
        memcpy(s->rows.cells + s->rows.n * width, cells, width * sizeof *cells);
    s->answers[s->rows.n++] = answer;
    return ACQ_OK;
}

/* A set of the rows of facts, to tell which predicted ones are new. */
typedef struct row_set {
    const acq_solution_rows *rows;
    size_t *slots, n_slots;
} row_set;

static size_t find_slot(const row_set *set, const uint32_t *cells)
{
    size_t width = set->rows->width, bytes = width * sizeof *cells;
    size_t at = acq_hash_bytes((const char *)cells, bytes, 0) & (set->n_slots - 1);
    while (set->slots[at] != 0 &&
           memcmp(set->rows->cells + (set->slots[at] - 1) * width, cells, bytes) != 0)
        at = (at + 1) & (set->n_slots - 1);
    return at;
}

static acq_status row_set_init(row_set *set, const acq_solution_rows *rows, acq_error *error)
{
    *set = (row_set){.rows = rows, .n_slots = 64};
    while (set->n_slots < rows->n * 2)
        set->n_slots *= 2;
    set->slots = acq_zalloc(set->n_slots, sizeof *set->slots);
    if (set->slots == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < rows->n; i++) {
        size_t slot = find_slot(set, rows->cells + i * rows->width);
        set->slots[slot] = set->slots[slot] == 0 ? i + 1 : set->slots[slot];
    }
    return ACQ_OK;
}

/* Rows of the engine's answers that are not among those of facts. */
static acq_status add_answers(solver *v)
{
    acq_solutions *s = v->s;
    size_t n = acq_result_get_n_answers(s->result), n_facts = s->rows.n, width = s->rows.width;
    acq_solution_rows facts = {.cells = NULL, .width = s->rows.width, .n = n_facts};
    uint32_t *cells = acq_alloc(width + 1, sizeof *cells);
    row_set known = {0};
    s->answers = acq_zalloc(n_facts + n + 1, sizeof *s->answers);
    if (cells == NULL || s->answers == NULL) {
        acq_free(cells);
        return acq_fail_memory(v->error);
    }
    facts.cells = acq_alloc(n_facts * width + 1, sizeof *facts.cells);
    acq_status status = facts.cells == NULL ? acq_fail_memory(v->error) : ACQ_OK;
    if (status == ACQ_OK && n_facts * width > 0)
        memcpy(facts.cells, s->rows.cells, n_facts * width * sizeof *facts.cells);
    if (status == ACQ_OK)
        status = row_set_init(&known, &facts, v->error);
    for (size_t i = 0; status == ACQ_OK && i < n; i++) {
        for (size_t j = 0; j < width; j++)
            cells[j] = acq_result_get_entity(s->result, i, j);
        if (known.slots[find_slot(&known, cells)] == 0)
            status = acq_solutions_add_row(s, cells, i + 1, v->error);
    }
    acq_free(facts.cells);
    acq_free(known.slots);
    acq_free(cells);
    return status;
}

/* ---- the parts ---- */

static acq_status evaluate(solver *v, bool is_raw, uint64_t most)
{
    acq_solutions *s = v->s;
    acq_evaluate_limits limits = {.seconds = seconds_left(v),
                                  .memory_bytes = v->ask.memory_bytes,
                                  .most_rows = most,
                                  .stop = {is_stopped, &v->ask}};
    acq_sparql_query query = *s->sparql;
    if (is_raw) {
        query.order = NULL;
        query.has_limit = false;
        query.offset = 0;
    }
    acq_status status =
        acq_sparql_evaluate(&query, &s->terms, &limits, &s->rows, &s->warning, v->error);
    if (status != ACQ_OK)
        return status;
    if (s->rows.spent != ACQ_SPENT_NOTHING)
        s->spent = acq_spent_name(s->rows.spent);
    else if (s->rows.has_more)
        s->spent = "most";
    return acq_text_finish(&s->warning, v->error);
}

/* How many rows are needed before order, offset and limit; 0: all. */
static uint64_t count_needed(const solver *v)
{
    const acq_sparql_query *q = v->s->sparql;
    uint64_t needed = 0;
    if (q->form == ACQ_FORM_ASK)
        return 1;
    if (q->order == NULL && q->has_limit && __builtin_add_overflow(q->limit, q->offset, &needed))
        needed = 0;
    return needed;
}

static acq_status ask_engine(solver *v, bool is_new)
{
    acq_solutions *s = v->s;
    acq_ask_params ask = v->ask;
    uint64_t needed = count_needed(v);
    ask.seconds = seconds_left(v);
    ask.limit = needed;
    ask.new_only = is_new && strcmp(ask.engine, "exact") == 0;
    acq_status status = acq_ask(s->formula, s->predictor, &ask, &s->result, v->error);
    if (status != ACQ_OK)
        return status;
    s->has_p = acq_result_has_probabilities(s->result);
    bool is_undecided = acq_result_get_outcome(s->result) == ACQ_RESULT_UNDECIDED;
    const char *spent = acq_result_get_spent(s->result);
    if (spent[0] != '\0' && (is_undecided || !acq_result_is_complete(s->result)))
        s->spent = spent;
    return add_answers(v);
}

/* Sorts all rows, and takes OFFSET and LIMIT off. */
static acq_status arrange(solver *v)
{
    acq_solutions *s = v->s;
    const acq_sparql_query *q = s->sparql;
    size_t n = s->rows.n, width = s->rows.width;
    uint64_t offset = q->offset < n ? q->offset : n, kept = n - offset;
    kept = q->has_limit && q->limit < kept ? q->limit : kept;
    if (v->most > 0 && kept > v->most) {
        kept = v->most;
        s->spent = "most";
    }
    size_t *order = acq_alloc(n + 1, sizeof *order);
    uint32_t *cells = acq_alloc(kept * width + 1, sizeof *cells);
    size_t *answers = acq_alloc(kept + 1, sizeof *answers);
    acq_status status =
        order == NULL || cells == NULL || answers == NULL ? acq_fail_memory(v->error) : ACQ_OK;
    for (size_t i = 0; status == ACQ_OK && i < n; i++)
        order[i] = i;
    if (status == ACQ_OK && q->order != NULL)
        status = acq_sparql_sort(q, &s->terms, &s->rows, order, v->error);
    for (size_t i = 0; status == ACQ_OK && i < kept; i++) {
        size_t from = order[offset + i];
        if (width > 0)
            memcpy(cells + i * width, s->rows.cells + from * width, width * sizeof *cells);
        answers[i] = s->answers == NULL ? 0 : s->answers[from];
    }
    acq_free(order);
    if (status != ACQ_OK) {
        acq_free(cells);
        acq_free(answers);
        return status;
    }
    acq_free(s->rows.cells);
    acq_free(s->answers);
    s->rows.cells = cells;
    s->rows.n = kept;
    s->answers = answers;
    return ACQ_OK;
}

static acq_status solve(solver *v)
{
    acq_solutions *s = v->s;
    acq_status status = make_formula(v);
    if (status != ACQ_OK)
        return status;
    bool predicts = s->formula != NULL && !is_observed(s->predictor);
    bool is_alone = s->formula != NULL && !v->traits.may_repeat &&
                    ((predicts && v->traits.is_negated) || s->formula->n_atoms >= LARGE);
    if (is_alone) {
        s->rows.width = s->formula->n_free;
        status = ask_engine(v, false);
        return status == ACQ_OK ? arrange(v) : status;
    }
    s->has_p = s->predictor != NULL && acq_predictor_is_calibrated(s->predictor);
    if (!predicts)
        return evaluate(v, false, v->most);
    status = evaluate(v, true, count_needed(v));
    if (status == ACQ_OK && strcmp(s->spent, "most") == 0)
        s->spent = ""; /* as many as the query wants: the limit is its own */
    bool is_enough = count_needed(v) > 0 && s->rows.n >= count_needed(v);
    if (status == ACQ_OK && s->spent[0] == '\0' && !is_enough)
        status = ask_engine(v, true);
    return status == ACQ_OK ? arrange(v) : status;
}

/* ---- graphs ---- */

static acq_status add_sources(acq_sparql_query *query, const char *const *graphs, size_t n,
                              bool is_named, acq_error *error)
{
    for (size_t i = 0; i < n; i++) {
        acq_sparql_source *source = acq_arena_zalloc(&query->arena, 1, sizeof *source);
        if (source == NULL)
            return acq_fail_memory(error);
        ACQ_REQUIRE(graphs[i], error);
        source->is_named = is_named;
        source->graph = (acq_sparql_term){.length = strlen(graphs[i])};
        source->graph.key = acq_arena_copy_string(&query->arena, graphs[i], source->graph.length);
        if (source->graph.key == NULL)
            return acq_fail_memory(error);
        source->next = query->sources;
        query->sources = source;
    }
    return ACQ_OK;
}

/* The graphs that the params name take the place of FROM. */
static acq_status choose_graphs(acq_sparql_query *query, const acq_solve_params *params,
                                acq_error *error)
{
    if (params->n_default_graphs + params->n_named_graphs == 0)
        return ACQ_OK;
    query->sources = NULL;
    query->has_graphs = true;
    acq_status status =
        add_sources(query, params->default_graphs, params->n_default_graphs, false, error);
    return status == ACQ_OK
               ? add_sources(query, params->named_graphs, params->n_named_graphs, true, error)
               : status;
}

static acq_status start(const acq_graph *graph, const char *text, acq_solutions **out,
                        acq_error *error)
{
    size_t length = strlen(text);
    acq_solutions *s = acq_zalloc(1, sizeof *s);
    if (s == NULL)
        return acq_fail_memory(error);
    s->graph = graph;
    s->spent = "";
    pthread_mutex_init(&s->lock, NULL);
    acq_arena_init(&s->texts);
    acq_status status = acq_terms_init(&s->terms, graph);
    if (status != ACQ_OK)
        acq_fail_memory(error);
    if (status == ACQ_OK)
        status = acq_input_check(text, length, error);
    if (status == ACQ_OK)
        status = acq_sparql_parse(text, length, &s->sparql, error);
    if (status != ACQ_OK) {
        acq_solutions_free(s);
        return status;
    }
    *out = s;
    return ACQ_OK;
}

acq_status acq_solve(const acq_graph *graph, const char *sparql, const acq_predictor *predictor,
                     const acq_solve_params *given, acq_solutions **out, acq_error *error)
{
    ACQ_REQUIRE(graph, error);
    ACQ_REQUIRE(sparql, error);
    ACQ_REQUIRE(out, error);
    acq_solve_params params = {0};
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    solver v = {.most = params.most, .error = error};
    acq_ask_params_init(&v.ask);
    if (status == ACQ_OK)
        status = acq_sized_read(__func__, params.ask, &v.ask, sizeof v.ask, error);
    if (status == ACQ_OK && predictor != NULL && predictor->graph != graph)
        status = acq_fail(error, ACQ_ERR_USAGE,
                          "%s: the predictor is of another graph; make it with this one", __func__);
    if (status == ACQ_OK)
        status = start(graph, sparql, &v.s, error);
    if (status != ACQ_OK)
        return status;
    status = choose_graphs(v.s->sparql, &params, error);
    v.s->predictor = params.facts_only ? NULL : predictor;
    if (params.default_limit > 0 && params.most == 0 && !v.s->sparql->has_limit &&
        v.s->sparql->form == ACQ_FORM_SELECT) {
        v.s->sparql->has_limit = true;
        v.s->sparql->limit = params.default_limit;
    }
    v.deadline_ns = acq_clock_get_deadline(v.ask.seconds);
    if (status == ACQ_OK)
        status = solve(&v);
    if (status == ACQ_OK)
        *out = v.s;
    else
        acq_solutions_free(v.s);
    return status;
}
