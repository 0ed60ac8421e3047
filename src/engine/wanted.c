/* wanted.c - see run.h. A round walks all terms in their order; rows and candidates
 * are few beside what making one more row costs. */
#include "engine/run.h"

#include <stdlib.h>

#include "base/memory.h"
#include "search/literal.h"

/* A variable or a constant. */
typedef struct term {
    bool is_variable;
    bool is_root;   /* starts from the entities seen in its place */
    uint32_t id;    /* of the variable or entity */
    uint32_t order; /* ACQ_NO_ID: not reached yet */
} term;

/* An atom between two terms, or an equality: relation ACQ_NO_ID. */
typedef struct step {
    acq_rel relation; /* from `from` to `to` */
    uint32_t from, to;
    bool is_required; /* every answer has it; otherwise it is part of a clause */
} step;

struct acq_wanted_plan {
    const acq_problem *problem;
    const acq_graph *graph;
    acq_scoring scoring;
    term *terms;
    size_t n_terms, terms_capacity;
    step *steps;
    size_t n_steps, steps_capacity;
    acq_literal *negated; /* atoms */
    size_t n_negated, negated_capacity;
    uint32_t *by_order; /* terms */
};

/* ---- terms and steps ---- */

static acq_status find_term(acq_wanted_plan *plan, acq_place place, uint32_t *out)
{
    for (size_t i = 0; i < plan->n_terms; i++) {
        const term *t = &plan->terms[i];
        if (t->is_variable == place.is_variable && t->id == place.id) {
            *out = (uint32_t)i;
            return ACQ_OK;
        }
    }
    acq_status status = ACQ_RESERVE(plan->terms, plan->terms_capacity, plan->n_terms + 1);
    if (status != ACQ_OK)
        return status;
    *out = (uint32_t)plan->n_terms;
    plan->terms[plan->n_terms++] =
        (term){.is_variable = place.is_variable, .id = place.id, .order = ACQ_NO_ID};
    return ACQ_OK;
}

static acq_status add_negated(acq_wanted_plan *plan, const acq_literal *literal)
{
    acq_status status = ACQ_RESERVE(plan->negated, plan->negated_capacity, plan->n_negated + 1);
    if (status == ACQ_OK)
        plan->negated[plan->n_negated++] = *literal;
    return status;
}

static acq_status add_literal(acq_wanted_plan *plan, const acq_literal *literal, bool is_required)
{
    if (literal->is_negated)
        return literal->is_equality ? ACQ_OK : add_negated(plan, literal);
    step made = {.relation = literal->is_equality ? ACQ_NO_ID : literal->relation,
                 .is_required = is_required};
    acq_status status = find_term(plan, literal->left, &made.from);
    if (status == ACQ_OK)
        status = find_term(plan, literal->right, &made.to);
    if (status == ACQ_OK)
        status = ACQ_RESERVE(plan->steps, plan->steps_capacity, plan->n_steps + 1);
    if (status == ACQ_OK)
        plan->steps[plan->n_steps++] = made;
    return status;
}

/* Clauses may nest deeper than the stack: an explicit list of branches that are open. */
static acq_status add_clause(acq_wanted_plan *plan, const acq_branch *clause)
{
    const acq_branch **open = NULL;
    size_t n = 0, capacity = 0;
    acq_status status = ACQ_RESERVE(open, capacity, 1);
    if (status == ACQ_OK)
        open[n++] = clause;
    while (n > 0 && status == ACQ_OK) {
        const acq_branch *branch = open[--n];
        if (branch->kind == ACQ_BRANCH_LITERAL) {
            status = add_literal(plan, &branch->literal, false);
            continue;
        }
        status = ACQ_RESERVE(open, capacity, n + branch->n_children);
        for (uint32_t i = 0; i < branch->n_children && status == ACQ_OK; i++)
            open[n++] = branch->children[i];
    }
    acq_free(open);
    return status;
}

static acq_status add_all(acq_wanted_plan *plan)
{
    const acq_problem *problem = plan->problem;
    acq_status status = ACQ_OK;
    for (uint32_t i = 0; i < problem->n_literals && status == ACQ_OK; i++)
        status = add_literal(plan, &problem->literals[i], true);
    for (uint32_t i = 0; i < problem->n_clauses && status == ACQ_OK; i++)
        status = add_clause(plan, problem->clauses[i]);
    return status;
}

/* ---- order ---- */

static void number(acq_wanted_plan *plan, uint32_t t, uint32_t *n)
{
    if (plan->terms[t].order != ACQ_NO_ID)
        return;
    plan->terms[t].order = *n;
    plan->by_order[(*n)++] = t;
}

/* Numbers everything that hangs on the terms from `done` on. */
static void spread(acq_wanted_plan *plan, uint32_t *done, uint32_t *n)
{
    for (; *done < *n; (*done)++) {
        uint32_t t = plan->by_order[*done];
        for (size_t i = 0; i < plan->n_steps; i++) {
            if (plan->steps[i].from == t)
                number(plan, plan->steps[i].to, n);
            else if (plan->steps[i].to == t)
                number(plan, plan->steps[i].from, n);
        }
    }
}

static uint32_t count_heads(const acq_wanted_plan *plan, acq_rel relation)
{
    const acq_links *links = NULL;
    if (relation == ACQ_NO_ID ||
        acq_graph_open_links(plan->graph, relation, &links, NULL) != ACQ_OK)
        return UINT32_MAX;
    return links->n_heads;
}

/* The term to start at where there is no constant: the fewest entities seen in its place. */
static uint32_t choose_root(const acq_wanted_plan *plan)
{
    uint32_t best = ACQ_NO_ID, fewest = UINT32_MAX;
    for (size_t i = 0; i < plan->n_steps; i++) {
        const step *s = &plan->steps[i];
        if (plan->terms[s->from].order != ACQ_NO_ID)
            continue;
        uint32_t on = count_heads(plan, s->relation);
        uint32_t back = s->relation == ACQ_NO_ID ? on : count_heads(plan, acq_inverse(s->relation));
        if (best == ACQ_NO_ID || on < fewest || back < fewest) {
            best = on <= back ? s->from : s->to;
            fewest = on <= back ? on : back;
        }
    }
    return best;
}

static void order_terms(acq_wanted_plan *plan)
{
    uint32_t n = 0, done = 0;
    for (uint32_t t = 0; t < plan->n_terms; t++) {
        if (!plan->terms[t].is_variable)
            number(plan, t, &n);
    }
    spread(plan, &done, &n);
    while (n < plan->n_terms) {
        uint32_t root = choose_root(plan);
        plan->terms[root].is_root = true;
        number(plan, root, &n);
        spread(plan, &done, &n);
    }
}

/* From the term that comes first. */
static void direct_steps(acq_wanted_plan *plan)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        step *s = &plan->steps[i];
        if (plan->terms[s->from].order <= plan->terms[s->to].order)
            continue;
        uint32_t from = s->from;
        s->from = s->to;
        s->to = from;
        s->relation = s->relation == ACQ_NO_ID ? ACQ_NO_ID : acq_inverse(s->relation);
    }
}

acq_status acq_wanted_plan_new(const acq_problem *problem, const acq_graph *graph,
                               const acq_scoring *scoring, acq_wanted_plan **out, acq_error *error)
{
    acq_wanted_plan *plan = acq_zalloc(1, sizeof *plan);
    if (plan == NULL)
        return acq_fail_memory(error);
    plan->problem = problem;
    plan->graph = graph;
    plan->scoring = *scoring;
    acq_status status = add_all(plan);
    if (status == ACQ_OK)
        plan->by_order = acq_alloc(plan->n_terms, sizeof *plan->by_order);
    if (status != ACQ_OK || plan->by_order == NULL) {
        acq_wanted_plan_free(plan);
        return acq_fail_memory(error);
    }
    order_terms(plan);
    direct_steps(plan);
    *out = plan;
    return ACQ_OK;
}

void acq_wanted_plan_free(acq_wanted_plan *plan)
{
    if (plan == NULL)
        return;
    acq_free(plan->terms);
    acq_free(plan->steps);
    acq_free(plan->negated);
    acq_free(plan->by_order);
    acq_free(plan);
}

static bool is_led_to(const acq_wanted_plan *plan, uint32_t t)
{
    for (size_t i = 0; i < plan->n_steps; i++) {
        const step *s = &plan->steps[i];
        if (s->is_required && s->to == t && s->from != t)
            return true;
    }
    return false;
}

bool acq_wanted_is_open(const acq_wanted_plan *plan)
{
    for (uint32_t t = 0; t < plan->n_terms; t++) {
        if (plan->terms[t].is_variable && !is_led_to(plan, t))
            return true;
    }
    return false;
}

/* ---- candidates ---- */

typedef struct candidate {
    acq_ent entity;
    double bound;
} candidate;

typedef struct candidate_list {
    candidate *all; /* sorted by entity */
    size_t n, capacity;
} candidate_list;

typedef struct round_state {
    const acq_wanted_plan *plan;
    const acq_row_view *view;
    candidate_list *lists; /* by term */
    candidate_list reached;
} round_state;

static acq_status add_candidate(candidate_list *list, acq_ent entity, double bound)
{
    acq_status status = ACQ_RESERVE(list->all, list->capacity, list->n + 1);
    if (status == ACQ_OK)
        list->all[list->n++] = (candidate){.entity = entity, .bound = bound};
    return status;
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->entity != y->entity)
        return x->entity < y->entity ? -1 : 1;
    return (x->bound < y->bound) - (x->bound > y->bound);
}

/* By entity, each with its largest bound. */
static void tidy(candidate_list *list)
{
    size_t n = 0;
    if (list->n > 0)
        qsort(list->all, list->n, sizeof *list->all, compare_candidates);
    for (size_t i = 0; i < list->n; i++) {
        if (n == 0 || list->all[n - 1].entity != list->all[i].entity)
            list->all[n++] = list->all[i];
    }
    list->n = n;
}

static acq_status reach_row(round_state *round, const candidate *from, acq_row row)
{
    const acq_scoring *scoring = &round->plan->scoring;
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < row.n && status == ACQ_OK; i++) {
        double link = row.scores == NULL ? 1.0 : (double)row.scores[i];
        double value = acq_search_score_link(scoring, false, link);
        double bound = from->bound < value ? from->bound : value;
        if (bound >= scoring->threshold)
            status = add_candidate(&round->reached, row.tails[i], bound);
    }
    return status;
}

/* What a step reaches from the candidates of its source whose rows are there. */
static acq_status reach(round_state *round, const step *s)
{
    const candidate_list *from = &round->lists[s->from];
    acq_status status = ACQ_OK;
    round->reached.n = 0;
    for (size_t i = 0; i < from->n && status == ACQ_OK; i++) {
        if (s->relation == ACQ_NO_ID)
            status = add_candidate(&round->reached, from->all[i].entity, from->all[i].bound);
        else
            status = reach_row(round, &from->all[i],
                               acq_row_view_get(round->view, s->relation, from->all[i].entity));
    }
    tidy(&round->reached);
    return status;
}

/* Keeps what both have, with the smaller bound. */
static void intersect(candidate_list *list, const candidate_list *other)
{
    size_t n = 0, j = 0;
    for (size_t i = 0; i < list->n; i++) {
        while (j < other->n && other->all[j].entity < list->all[i].entity)
            j++;
        if (j == other->n)
            break;
        if (other->all[j].entity != list->all[i].entity)
            continue;
        candidate kept = list->all[i];
        kept.bound = kept.bound < other->all[j].bound ? kept.bound : other->all[j].bound;
        list->all[n++] = kept;
    }
    list->n = n;
}

static acq_status unite(candidate_list *list, const candidate_list *other)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < other->n && status == ACQ_OK; i++)
        status = add_candidate(list, other->all[i].entity, other->all[i].bound);
    tidy(list);
    return status;
}

/* The step whose source `t` is seen as by the fewest entities. */
static const step *find_first_step(const acq_wanted_plan *plan, uint32_t t)
{
    const step *best = NULL;
    for (size_t i = 0; i < plan->n_steps; i++) {
        const step *s = &plan->steps[i];
        if (s->relation != ACQ_NO_ID && s->from == t &&
            (best == NULL || count_heads(plan, s->relation) < count_heads(plan, best->relation)))
            best = s;
    }
    return best;
}

static acq_status start_root(round_state *round, uint32_t t, acq_error *error)
{
    const step *first = find_first_step(round->plan, t);
    const acq_links *links = NULL;
    if (first == NULL)
        return ACQ_OK;
    acq_status status = acq_graph_open_links(round->plan->graph, first->relation, &links, error);
    for (uint32_t i = 0; status == ACQ_OK && i < links->n_heads; i++) {
        if (add_candidate(&round->lists[t], links->heads[i], 1.0) != ACQ_OK)
            status = acq_fail_memory(error);
    }
    return status;
}

/* Required steps narrow each other down; where there are none, any step will do. */
static acq_status fill_variable(round_state *round, uint32_t t, acq_error *error)
{
    const acq_wanted_plan *plan = round->plan;
    candidate_list *list = &round->lists[t];
    bool has_required = false;
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < plan->n_steps && status == ACQ_OK; i++) {
        const step *s = &plan->steps[i];
        if (s->to != t || s->from == t || (has_required && !s->is_required))
            continue;
        status = reach(round, s);
        if (status == ACQ_OK && has_required) {
            intersect(list, &round->reached);
        } else if (status == ACQ_OK) {
            list->n = s->is_required ? 0 : list->n;
            status = unite(list, &round->reached);
        }
        has_required = has_required || s->is_required;
    }
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

static acq_status fill_term(round_state *round, uint32_t t, acq_error *error)
{
    const term *at = &round->plan->terms[t];
    if (at->is_root)
        return start_root(round, t, error);
    if (at->is_variable)
        return fill_variable(round, t, error);
    return add_candidate(&round->lists[t], at->id, 1.0) == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

/* ---- wanted rows ---- */

static acq_status add_wanted(acq_wanted_rows *out, acq_wanted_row row)
{
    acq_status status = ACQ_RESERVE(out->rows, out->capacity, out->n + 1);
    if (status == ACQ_OK)
        out->rows[out->n++] = row;
    return status;
}

static acq_status want_step(round_state *round, const step *s, acq_wanted_rows *out,
                            acq_error *error)
{
    const candidate_list *from = &round->lists[s->from];
    const acq_links *links = NULL;
    acq_status status = acq_graph_open_links(round->plan->graph, s->relation, &links, error);
    for (size_t i = 0; i < from->n && status == ACQ_OK; i++) {
        acq_ent head = from->all[i].entity;
        if (acq_row_view_has(round->view, s->relation, head))
            continue;
        acq_wanted_row row = {.relation = s->relation,
                              .head = head,
                              .bound = from->all[i].bound,
                              .is_seen = acq_links_find(links, head) != ACQ_NO_ID};
        if (add_wanted(out, row) != ACQ_OK)
            status = acq_fail_memory(error);
    }
    return status;
}

static int compare_wanted(const void *a, const void *b)
{
    const acq_wanted_row *x = a, *y = b;
    if (x->bound != y->bound)
        return x->bound < y->bound ? 1 : -1;
    if (x->is_seen != y->is_seen)
        return x->is_seen ? -1 : 1;
    if (x->relation != y->relation)
        return x->relation < y->relation ? -1 : 1;
    return (x->head > y->head) - (x->head < y->head);
}

static acq_status run_round(round_state *round, acq_wanted_rows *out, acq_error *error)
{
    const acq_wanted_plan *plan = round->plan;
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < plan->n_terms && status == ACQ_OK; i++)
        status = fill_term(round, plan->by_order[i], error);
    for (size_t i = 0; i < plan->n_steps && status == ACQ_OK; i++) {
        if (plan->steps[i].relation != ACQ_NO_ID)
            status = want_step(round, &plan->steps[i], out, error);
    }
    return status;
}

acq_status acq_wanted_find(const acq_wanted_plan *plan, const acq_row_view *view,
                           acq_wanted_rows *out, acq_error *error)
{
    round_state round = {.plan = plan, .view = view};
    round.lists = acq_zalloc(plan->n_terms, sizeof *round.lists);
    if (round.lists == NULL)
        return acq_fail_memory(error);
    out->n = 0;
    acq_status status = run_round(&round, out, error);
    for (size_t i = 0; i < plan->n_terms; i++)
        acq_free(round.lists[i].all);
    acq_free(round.lists);
    acq_free(round.reached.all);
    if (status == ACQ_OK && out->n > 0)
        qsort(out->rows, out->n, sizeof *out->rows, compare_wanted);
    return status;
}

static acq_ent get_entity(acq_place place, const acq_ent *values)
{
    return place.is_variable ? values[place.id] : place.id;
}

acq_status acq_wanted_find_negated(const acq_wanted_plan *plan, const acq_row_view *view,
                                   const acq_ent *values, acq_wanted_rows *out, acq_error *error)
{
    for (size_t i = 0; i < plan->n_negated; i++) {
        const acq_literal *atom = &plan->negated[i];
        acq_ent head = get_entity(atom->left, values), tail = get_entity(atom->right, values);
        acq_rel back = acq_inverse(atom->relation);
        if (head == ACQ_NO_ID || tail == ACQ_NO_ID ||
            acq_row_view_has(view, atom->relation, head) || acq_row_view_has(view, back, tail) ||
            acq_graph_has_fact(plan->graph, head, atom->relation, tail))
            continue;
        bool is_back = atom->left.is_variable && !atom->right.is_variable;
        acq_wanted_row row = {.relation = is_back ? back : atom->relation,
                              .head = is_back ? tail : head,
                              .bound = 1.0};
        if (add_wanted(out, row) != ACQ_OK)
            return acq_fail_memory(error);
    }
    return ACQ_OK;
}
