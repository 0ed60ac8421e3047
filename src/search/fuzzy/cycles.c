/* cycles.c - see fuzzy.h: what is left after cycles_start.c is solved. */
#include "search/fuzzy/cycles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- literals ---- */

static bool joins(const acq_literal *l, uint32_t a, uint32_t b)
{
    return (acq_cycles_is_at(l->left, a) && acq_cycles_is_at(l->right, b)) ||
           (acq_cycles_is_at(l->left, b) && acq_cycles_is_at(l->right, a));
}

double acq_cycles_judge(const acq_fuzzy_cycles *c, const acq_literal *l, acq_ent left,
                        acq_ent right)
{
    double link = (double)acq_predictor_get_score(c->predictor, left, l->relation, right);
    return l->is_negated ? acq_fuzzy_negate(&c->params, link) : link;
}

/* What all literals between two variables but one say of two values. */
static double judge_pair(const acq_fuzzy_cycles *c, uint32_t u, acq_ent a, uint32_t v, acq_ent b,
                         const acq_literal *but)
{
    double degree = 1;
    for (uint32_t i = 0; i < c->problem->n_literals; i++) {
        const acq_literal *l = &c->problem->literals[i];
        if (l == but || !joins(l, u, v))
            continue;
        bool is_on = acq_cycles_is_at(l->left, u);
        degree = acq_fuzzy_join(&c->params, true, degree,
                                acq_cycles_judge(c, l, is_on ? a : b, is_on ? b : a));
    }
    return degree;
}

/* A positive literal between the two, or NULL. */
static const acq_literal *find_positive(const acq_fuzzy_cycles *c, uint32_t u, uint32_t v)
{
    for (uint32_t i = 0; i < c->problem->n_literals; i++)
        if (!c->problem->literals[i].is_negated && joins(&c->problem->literals[i], u, v))
            return &c->problem->literals[i];
    return NULL;
}

static bool are_neighbours(const acq_fuzzy_cycles *c, uint32_t u, uint32_t v)
{
    for (uint32_t i = 0; u != v && i < c->problem->n_literals; i++)
        if (joins(&c->problem->literals[i], u, v))
            return true;
    return false;
}

static uint32_t count_neighbours(const acq_fuzzy_cycles *c, const bool *is_open, uint32_t variable,
                                 uint32_t *one)
{
    uint32_t n = 0;
    for (uint32_t v = 0; v < c->n_variables; v++)
        if (is_open[v] && are_neighbours(c, variable, v)) {
            *one = v;
            n++;
        }
    return n;
}

/* ---- sets ---- */

bool acq_cycles_must_end(const acq_fuzzy_cycles *c)
{
    return acq_stop_is_wanted(c->params.stop) ||
           (c->params.deadline_ns > 0 && acq_clock_ns() >= c->params.deadline_ns);
}

void acq_cycles_touch(acq_fuzzy_cycles *c, acq_ent entity, double degree)
{
    if (degree <= c->best[entity])
        return;
    if (c->best[entity] == 0)
        c->touched[c->n_touched++] = entity;
    c->best[entity] = degree;
}

static int compare_entities(const void *a, const void *b)
{
    acq_ent left = *(const acq_ent *)a, right = *(const acq_ent *)b;
    return (left > right) - (left < right);
}

acq_status acq_cycles_gather(acq_fuzzy_cycles *c, acq_fuzzy_set *out)
{
    acq_status status = acq_fuzzy_set_init(out, c->n_touched);
    if (c->n_touched > 0)
        qsort(c->touched, c->n_touched, sizeof *c->touched, compare_entities);
    for (uint32_t i = 0; i < c->n_touched; i++) {
        acq_ent entity = c->touched[i];
        if (status == ACQ_OK) {
            out->entities[out->n] = entity;
            out->degrees[out->n++] = c->best[entity];
        }
        c->best[entity] = 0;
    }
    c->n_touched = 0;
    return status;
}

acq_status acq_cycles_join(const acq_fuzzy_cycles *c, acq_fuzzy_set *to, acq_fuzzy_set *from)
{
    acq_fuzzy_set joined;
    acq_status status = acq_fuzzy_set_join(&c->params, true, to, from, &joined);
    acq_fuzzy_set_deinit(from);
    if (status != ACQ_OK)
        return status;
    acq_fuzzy_set_deinit(to);
    *to = joined;
    return ACQ_OK;
}

static double get_largest(const acq_fuzzy_cycles *c, const acq_fuzzy_set *set)
{
    double best = set->n < c->n_entities ? set->rest : 0;
    for (uint32_t i = 0; i < set->n; i++)
        best = fmax(best, set->degrees[i]);
    return best;
}

static void scale_set(const acq_fuzzy_cycles *c, acq_fuzzy_set *set, double factor)
{
    set->rest = acq_fuzzy_join(&c->params, true, set->rest, factor);
    for (uint32_t i = 0; i < set->n; i++)
        set->degrees[i] = acq_fuzzy_join(&c->params, true, set->degrees[i], factor);
}

acq_status acq_cycles_make_row(const acq_fuzzy_cycles *c, acq_ent head, acq_rel relation,
                               bool is_negated, acq_fuzzy_set *out)
{
    acq_row row = acq_predictor_get_row(c->predictor, head, relation);
    if (acq_fuzzy_set_init(out, (uint32_t)row.n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    out->rest = is_negated ? 1 : 0;
    for (size_t i = 0; i < row.n; i++) {
        double link = row.scores == NULL ? 1.0 : (double)row.scores[i];
        out->entities[out->n] = row.tails[i];
        out->degrees[out->n++] = is_negated ? acq_fuzzy_negate(&c->params, link) : link;
    }
    return ACQ_OK;
}

/* The variable takes a value: its literals change its neighbours' sets. */
static acq_status fix(const acq_fuzzy_cycles *c, acq_cycles_state *s, uint32_t variable,
                      acq_ent value)
{
    acq_status status = ACQ_OK;
    s->is_open[variable] = false;
    for (uint32_t i = 0; i < c->problem->n_literals && status == ACQ_OK; i++) {
        const acq_literal *l = &c->problem->literals[i];
        acq_place other = acq_cycles_is_at(l->left, variable) ? l->right : l->left;
        acq_fuzzy_set row;
        if (!(acq_cycles_is_at(l->left, variable) || acq_cycles_is_at(l->right, variable)) ||
            !other.is_variable || !s->is_open[other.id])
            continue;
        status =
            acq_cycles_make_row(c, value, acq_cycles_lead_from(l, variable), l->is_negated, &row);
        if (status == ACQ_OK)
            status = acq_cycles_join(c, &s->sets[other.id], &row);
    }
    return status;
}

/* ---- carrying a set over to a neighbour ---- */

typedef struct member {
    acq_ent entity;
    double degree;
} member;

static int compare_members(const void *a, const void *b)
{
    const member *left = a, *right = b;
    return (left->degree < right->degree) - (left->degree > right->degree);
}

static acq_status list_members(const acq_fuzzy_cycles *c, const acq_fuzzy_set *set, member **out,
                               uint32_t *n)
{
    bool is_all = set->rest > 0;
    uint32_t end = is_all ? c->n_entities : set->n;
    *out = acq_alloc(end, sizeof **out);
    *n = 0;
    for (uint32_t i = 0; *out != NULL && i < end; i++) {
        member one = {is_all ? i : set->entities[i],
                      is_all ? acq_fuzzy_set_get(set, i) : set->degrees[i]};
        if (one.degree > 0)
            (*out)[(*n)++] = one;
    }
    return *out == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
}

static acq_status carry_links(acq_fuzzy_cycles *c, uint32_t u, const member *members, uint32_t n,
                              uint32_t v, const acq_literal *by)
{
    for (uint32_t i = 0; i < n; i++) {
        acq_row row =
            acq_predictor_get_row(c->predictor, members[i].entity, acq_cycles_lead_from(by, u));
        for (size_t j = 0; j < row.n; j++) {
            double link = row.scores == NULL ? 1.0 : (double)row.scores[j];
            if (link <= c->best[row.tails[j]]) /* no more than the link comes of it */
                continue;
            double pair = acq_fuzzy_join(&c->params, true, link,
                                         judge_pair(c, u, members[i].entity, v, row.tails[j], by));
            acq_cycles_touch(c, row.tails[j], acq_fuzzy_carry(&c->params, members[i].degree, pair));
        }
        if (i % 64 == 0 && acq_cycles_must_end(c))
            return ACQ_CYCLES_SPENT;
    }
    return ACQ_OK;
}

/* All literals between them are negated: members in the order of their degrees, until none can be
 * better. */
static acq_status carry_negated(acq_fuzzy_cycles *c, uint32_t u, member *members, uint32_t n,
                                uint32_t v, const acq_fuzzy_set *to)
{
    bool is_all = to->rest > 0;
    uint32_t end = is_all ? c->n_entities : to->n;
    if (n > 0)
        qsort(members, n, sizeof *members, compare_members);
    for (uint32_t i = 0; i < end; i++) {
        acq_ent entity = is_all ? i : to->entities[i];
        double best = 0;
        for (uint32_t j = 0; j < n && members[j].degree > best; j++)
            best =
                fmax(best, acq_fuzzy_carry(&c->params, members[j].degree,
                                           judge_pair(c, u, members[j].entity, v, entity, NULL)));
        acq_cycles_touch(c, entity, best);
        if (i % 64 == 0 && acq_cycles_must_end(c))
            return ACQ_CYCLES_SPENT;
    }
    return ACQ_OK;
}

/* to = to and what comes from `from`, a set of u, along the literals between u and v. */
static acq_status carry(acq_fuzzy_cycles *c, uint32_t u, const acq_fuzzy_set *from, uint32_t v,
                        acq_fuzzy_set *to)
{
    const acq_literal *by = find_positive(c, u, v);
    member *members;
    uint32_t n;
    acq_fuzzy_set carried = {0};
    acq_status status = list_members(c, from, &members, &n);
    if (status == ACQ_OK)
        status = by != NULL ? carry_links(c, u, members, n, v, by)
                            : carry_negated(c, u, members, n, v, to);
    acq_free(members);
    acq_status gathered = acq_cycles_gather(c, &carried);
    if (status == ACQ_OK)
        status = gathered;
    if (status != ACQ_OK) {
        acq_fuzzy_set_deinit(&carried);
        return status;
    }
    return acq_cycles_join(c, to, &carried);
}

/* ---- solving ---- */

static void free_state(const acq_fuzzy_cycles *c, acq_cycles_state *s)
{
    for (uint32_t v = 0; s->sets != NULL && v < c->n_variables; v++)
        acq_fuzzy_set_deinit(&s->sets[v]);
    acq_free(s->sets);
    acq_free(s->is_open);
    *s = (acq_cycles_state){0};
}

static acq_status copy_state(const acq_fuzzy_cycles *c, const acq_cycles_state *from,
                             acq_cycles_state *out)
{
    *out = (acq_cycles_state){.sets = acq_zalloc(c->n_variables, sizeof *out->sets),
                              .is_open = acq_zalloc(c->n_variables, sizeof *out->is_open),
                              .factor = from->factor};
    acq_status status = out->sets == NULL || out->is_open == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
    for (uint32_t v = 0; v < c->n_variables && status == ACQ_OK; v++) {
        out->is_open[v] = from->is_open[v];
        if (from->is_open[v])
            status = acq_fuzzy_set_copy(&from->sets[v], &out->sets[v]);
    }
    if (status != ACQ_OK)
        free_state(c, out);
    return status;
}

static acq_status solve(acq_fuzzy_cycles *c, acq_cycles_state *s, uint32_t root,
                        acq_fuzzy_set *out);

/* Leaves and variables that hang together with nothing, until there are none. */
static acq_status strip(acq_fuzzy_cycles *c, acq_cycles_state *s, uint32_t root)
{
    acq_status status = ACQ_OK;
    bool goes_on = true;
    while (goes_on && status == ACQ_OK) {
        goes_on = false;
        for (uint32_t v = 0; v < c->n_variables && status == ACQ_OK; v++) {
            uint32_t to = 0,
                     n = s->is_open[v] && v != root ? count_neighbours(c, s->is_open, v, &to) : 2;
            if (n > 1)
                continue;
            s->is_open[v] = false;
            goes_on = true;
            if (n == 1)
                status = carry(c, v, &s->sets[v], to, &s->sets[to]);
            else
                s->factor =
                    acq_fuzzy_join(&c->params, true, s->factor, get_largest(c, &s->sets[v]));
        }
    }
    return status;
}

static void mark_part(const acq_fuzzy_cycles *c, const bool *is_open, uint32_t variable, bool *part)
{
    part[variable] = true;
    for (uint32_t v = 0; v < c->n_variables; v++)
        if (is_open[v] && !part[v] && are_neighbours(c, variable, v))
            mark_part(c, is_open, v, part);
}

/* A part without the root, solved for any of its variables: how well it can be satisfied. */
static acq_status solve_part(acq_fuzzy_cycles *c, acq_cycles_state *s, uint32_t variable)
{
    acq_cycles_state part;
    acq_fuzzy_set set = {0};
    bool *is_in = acq_zalloc(c->n_variables, sizeof *is_in);
    acq_status status = is_in == NULL ? ACQ_ERR_MEMORY : copy_state(c, s, &part);
    if (status == ACQ_OK) {
        mark_part(c, s->is_open, variable, is_in);
        part.factor = 1;
        for (uint32_t v = 0; v < c->n_variables; v++) {
            part.is_open[v] = s->is_open[v] && is_in[v];
            s->is_open[v] = s->is_open[v] && !is_in[v];
        }
        status = solve(c, &part, variable, &set);
        free_state(c, &part);
    }
    if (status == ACQ_OK)
        s->factor = acq_fuzzy_join(&c->params, true, s->factor, get_largest(c, &set));
    acq_fuzzy_set_deinit(&set);
    acq_free(is_in);
    return status;
}

static acq_status solve_other_parts(acq_fuzzy_cycles *c, acq_cycles_state *s, uint32_t root)
{
    acq_status status = ACQ_OK;
    for (uint32_t v = 0; v < c->n_variables && status == ACQ_OK; v++) {
        bool *is_in = s->is_open[v] ? acq_zalloc(c->n_variables, sizeof *is_in) : NULL;
        if (!s->is_open[v])
            continue;
        if (is_in == NULL)
            return ACQ_ERR_MEMORY;
        if (root != ACQ_NO_ID)
            mark_part(c, s->is_open, root, is_in);
        if (!is_in[v])
            status = solve_part(c, s, v);
        acq_free(is_in);
    }
    return status;
}

/* The variable on a cycle with the fewest candidates; on one only means two neighbours. */
static uint32_t choose_cut(const acq_fuzzy_cycles *c, const bool *is_open)
{
    uint32_t best = ACQ_NO_ID, one;
    for (uint32_t v = 0; v < c->n_variables; v++)
        if (is_open[v] && count_neighbours(c, is_open, v, &one) > 1 &&
            (best == ACQ_NO_ID || c->sizes[v] < c->sizes[best]))
            best = v;
    return best;
}

static acq_status try_value(acq_fuzzy_cycles *c, const acq_cycles_state *s, uint32_t cut,
                            member value, uint32_t root, acq_fuzzy_set *out)
{
    acq_cycles_state rest;
    acq_fuzzy_set set = {0}, merged;
    acq_status status = copy_state(c, s, &rest);
    if (status != ACQ_OK)
        return status;
    status = fix(c, &rest, cut, value.entity);
    if (status == ACQ_OK)
        status = solve(c, &rest, root, &set);
    free_state(c, &rest);
    if (status == ACQ_OK) {
        scale_set(c, &set, value.degree);
        acq_fuzzy_params maximum = {.is_minimum = true};
        status = acq_fuzzy_set_join(&maximum, false, out, &set, &merged);
    }
    acq_fuzzy_set_deinit(&set);
    if (status != ACQ_OK)
        return status;
    acq_fuzzy_set_deinit(out);
    *out = merged;
    return ACQ_OK;
}

/* Every value of the root itself: the rest only has to be satisfied. */
static acq_status cut_root(acq_fuzzy_cycles *c, const acq_cycles_state *s, uint32_t root,
                           const member *members, uint32_t n, acq_fuzzy_set *out)
{
    acq_status status = acq_fuzzy_set_init(out, n);
    for (uint32_t i = 0; i < n && status == ACQ_OK; i++) {
        acq_cycles_state rest;
        status = acq_cycles_must_end(c) ? ACQ_CYCLES_SPENT : copy_state(c, s, &rest);
        if (status != ACQ_OK)
            break;
        status = fix(c, &rest, root, members[i].entity);
        if (status == ACQ_OK)
            status = solve_other_parts(c, &rest, ACQ_NO_ID);
        double degree = acq_fuzzy_join(&c->params, true, members[i].degree, rest.factor);
        free_state(c, &rest);
        if (status == ACQ_OK && degree > 0) {
            out->entities[out->n] = members[i].entity;
            out->degrees[out->n++] = degree;
        }
    }
    return status;
}

static acq_status cut_other(acq_fuzzy_cycles *c, const acq_cycles_state *s, uint32_t cut,
                            const member *members, uint32_t n, uint32_t root, acq_fuzzy_set *out)
{
    acq_status status = acq_fuzzy_set_init(out, 0);
    for (uint32_t i = 0; i < n && status == ACQ_OK; i++)
        status =
            acq_cycles_must_end(c) ? ACQ_CYCLES_SPENT : try_value(c, s, cut, members[i], root, out);
    return status;
}

static acq_status cut_cycle(acq_fuzzy_cycles *c, acq_cycles_state *s, uint32_t root,
                            acq_fuzzy_set *out)
{
    uint32_t cut = choose_cut(c, s->is_open), n;
    member *members;
    acq_status status = list_members(c, &s->sets[cut], &members, &n);
    if (status == ACQ_OK)
        status = cut == root ? cut_root(c, s, root, members, n, out)
                             : cut_other(c, s, cut, members, n, root, out);
    acq_free(members);
    return status;
}

/* The set of the root over all that is open; the state is used up, its sets stay to be
 * freed. */
static acq_status solve(acq_fuzzy_cycles *c, acq_cycles_state *s, uint32_t root, acq_fuzzy_set *out)
{
    uint32_t one = 0;
    acq_status status = strip(c, s, root);
    if (status == ACQ_OK)
        status = solve_other_parts(c, s, root);
    if (status != ACQ_OK)
        return status;
    uint32_t n = count_neighbours(c, s->is_open, root, &one);
    double factor = s->factor;
    if (n < 2) {
        *out = s->sets[root];
        s->sets[root] = (acq_fuzzy_set){0};
        s->is_open[root] = false;
    }
    s->factor = 1;
    if (n == 1) {
        acq_fuzzy_set inner = {0};
        status = solve(c, s, one, &inner);
        if (status == ACQ_OK)
            status = carry(c, one, &inner, root, out);
        acq_fuzzy_set_deinit(&inner);
    }
    if (n > 1)
        status = cut_cycle(c, s, root, out);
    if (status == ACQ_OK)
        scale_set(c, out, factor);
    return status;
}

/* ---- the bound ---- */

/* The assignments that solve tries, in its own order: is_open is used up. */
static double count_tries(const acq_fuzzy_cycles *c, bool *is_open)
{
    uint32_t one;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (uint32_t v = 0; v < c->n_variables; v++)
            if (is_open[v] && count_neighbours(c, is_open, v, &one) < 2) {
                is_open[v] = false;
                goes_on = true;
            }
    }
    uint32_t cut = choose_cut(c, is_open);
    if (cut == ACQ_NO_ID)
        return 1;
    is_open[cut] = false;
    return c->sizes[cut] * count_tries(c, is_open);
}

acq_status acq_cycles_measure(acq_fuzzy_cycles *c)
{
    bool *is_open = acq_alloc(c->n_variables, sizeof *is_open);
    if (is_open == NULL)
        return ACQ_ERR_MEMORY;
    memcpy(is_open, c->start.is_open, c->n_variables * sizeof *is_open);
    for (uint32_t v = 0; v < c->n_variables; v++) {
        const acq_fuzzy_set *set = &c->start.sets[v];
        c->sizes[v] = set->rest > 0 ? c->n_entities : fmax(set->n, 1);
    }
    c->bound = count_tries(c, is_open);
    acq_free(is_open);
    return ACQ_OK;
}

/* ---- what others call ---- */

acq_status acq_cycles_settle(acq_status status, bool *is_done, acq_error *error)
{
    *is_done = status == ACQ_OK;
    if (status == ACQ_CYCLES_SPENT) {
        return ACQ_OK;
    }
    return status == ACQ_ERR_MEMORY ? acq_fail_memory(error) : status;
}

void acq_fuzzy_cycles_free(acq_fuzzy_cycles *c)
{
    if (c == NULL)
        return;
    free_state(c, &c->start);
    acq_fuzzy_set_deinit(&c->root);
    acq_free(c->occurs);
    acq_free(c->sizes);
    acq_free(c->best);
    acq_free(c->touched);
    acq_free(c);
}

double acq_fuzzy_cycles_get_bound(const acq_fuzzy_cycles *cycles)
{
    return cycles->bound;
}

acq_status acq_fuzzy_cycles_run(acq_fuzzy_cycles *c, bool *is_done, acq_error *error)
{
    acq_cycles_state s;
    acq_status status = copy_state(c, &c->start, &s);
    if (status == ACQ_OK) {
        status = solve(c, &s, 0, &c->root);
        free_state(c, &s);
    }
    return acq_cycles_settle(status, is_done, error);
}

const acq_fuzzy_set *acq_fuzzy_cycles_get_root(const acq_fuzzy_cycles *cycles)
{
    return &cycles->root;
}

static acq_ent find_best(const acq_fuzzy_cycles *c, const acq_fuzzy_set *set)
{
    acq_ent found = 0;
    bool is_all = set->n == c->n_entities;
    double best = is_all ? -1 : set->rest;
    for (uint32_t i = 0; i < set->n; i++)
        if (set->degrees[i] > best) {
            best = set->degrees[i];
            found = set->entities[i];
        }
    if (is_all || best > set->rest)
        return found;
    for (found = 0; found < set->n && set->entities[found] == found;)
        found++; /* the first that is not listed */
    return found;
}

acq_status acq_fuzzy_cycles_trace(acq_fuzzy_cycles *c, acq_ent *values, bool *is_done,
                                  acq_error *error)
{
    acq_cycles_state all;
    acq_status status = copy_state(c, &c->start, &all);
    if (status != ACQ_OK)
        return acq_cycles_settle(status, is_done, error);
    status = fix(c, &all, 0, values[0]);
    for (uint32_t v = 1; v < c->n_variables && status == ACQ_OK; v++) {
        acq_cycles_state s;
        acq_fuzzy_set set = {0};
        if (!all.is_open[v])
            continue;
        status = copy_state(c, &all, &s);
        if (status != ACQ_OK)
            break;
        status = solve(c, &s, v, &set);
        free_state(c, &s);
        if (status == ACQ_OK) {
            values[v] = find_best(c, &set);
            status = fix(c, &all, v, values[v]);
        }
        acq_fuzzy_set_deinit(&set);
    }
    free_state(c, &all);
    return acq_cycles_settle(status, is_done, error);
}
