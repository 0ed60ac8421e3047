/* sampler.c - the facts of each entity, and small queries drawn from them; large ones: hub.c.
 *
 * Collects for each entity the rows in which it is the head: counts them, makes room,
 * fills them in. Two passes over the heads of all relations; the facts are not touched. */
#include "query/sample/sampler.h"

#include "base/memory.h"
#include "base/search.h"
#include "query/sample/parts.h"

const char *acq_shape_get_name(acq_shape_id shape)
{
    static const char *const names[] = {
#define ACQ_SHAPE_NAME(name, n_positive, n_negated) #name,
        ACQ_SHAPES(ACQ_SHAPE_NAME)
#undef ACQ_SHAPE_NAME
    };
    return names[shape];
}

acq_shape_id acq_shape_draw(acq_shape_mix mix, acq_random *random)
{
    enum { POSITIVE = ACQ_SHAPE_3i + 1, NEGATED = ACQ_N_TRAINING_SHAPES - POSITIVE, TIMES = 10 };
    if (mix == ACQ_MIX_EVEN)
        return (acq_shape_id)acq_random_below(random, ACQ_N_TRAINING_SHAPES);
    uint64_t i = acq_random_below(random, TIMES * POSITIVE + NEGATED);
    return (acq_shape_id)(i < TIMES * POSITIVE ? i / TIMES : POSITIVE + i - TIMES * POSITIVE);
}

void acq_sampler_free(acq_sampler *sampler)
{
    if (sampler == NULL)
        return;
    acq_free(sampler->links);
    acq_free(sampler->runs);
    acq_free(sampler->first_run);
    acq_free(sampler->entities);
    acq_free(sampler);
}

static acq_status open_links(acq_sampler *sampler, const acq_graph *graph, acq_error *error)
{
    sampler->n_relations = acq_graph_get_n_relations(graph);
    sampler->links = acq_zalloc(sampler->n_relations, sizeof *sampler->links);
    if (sampler->links == NULL)
        return acq_fail_memory(error);
    for (acq_rel r = 0; r < sampler->n_relations; r++) {
        acq_status status = acq_graph_open_links(graph, r, &sampler->links[r], error);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

/* first_run[e + 1] becomes the number of runs up to and with those of e. */
static acq_status count_runs(acq_sampler *sampler, acq_error *error)
{
    uint64_t n_runs = 0;
    for (acq_rel r = 0; r < sampler->n_relations; r++) {
        const acq_links *links = sampler->links[r];
        n_runs += links->n_heads;
        for (uint32_t i = 0; i < links->n_heads; i++)
            sampler->first_run[links->heads[i] + 1]++;
    }
    if (n_runs == 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the graph has no facts to read queries off; train on one that has");
    if (n_runs > UINT32_MAX)
        return acq_fail(error, ACQ_ERR_LIMIT,
                        "the graph is too large to train on; take a part of its facts");
    for (uint32_t e = 0; e < sampler->n_entities; e++) {
        sampler->n_with_facts += sampler->first_run[e + 1] > 0;
        sampler->first_run[e + 1] += sampler->first_run[e];
    }
    return ACQ_OK;
}

/* Uses first_run[e] as the place of the next run of e, then moves the array back by one entity. */
static void fill_runs(acq_sampler *sampler)
{
    uint32_t *next = sampler->first_run;
    for (acq_rel r = 0; r < sampler->n_relations; r++) {
        const acq_links *links = sampler->links[r];
        for (uint32_t i = 0; i < links->n_heads; i++)
            sampler->runs[next[links->heads[i]]++] = (acq_sample_run){.relation = r, .row = i};
    }
    for (uint32_t e = sampler->n_entities; e > 0; e--)
        next[e] = next[e - 1];
    next[0] = 0;
}

static void count_facts(acq_sampler *sampler)
{
    uint32_t n = 0;
    for (acq_ent e = 0; e < sampler->n_entities; e++) {
        uint32_t before = 0;
        if (sampler->first_run[e] < sampler->first_run[e + 1])
            sampler->entities[n++] = e;
        for (uint32_t i = sampler->first_run[e]; i < sampler->first_run[e + 1]; i++) {
            sampler->runs[i].before = before;
            before += (uint32_t)acq_sampler_get_row(sampler, &sampler->runs[i]).n;
        }
    }
}

static acq_status build(acq_sampler *sampler, const acq_graph *graph, acq_error *error)
{
    sampler->n_entities = acq_graph_get_n_entities(graph);
    sampler->first_run = acq_zalloc((size_t)sampler->n_entities + 1, sizeof(uint32_t));
    if (sampler->first_run == NULL)
        return acq_fail_memory(error);
    acq_status status = open_links(sampler, graph, error);
    if (status == ACQ_OK)
        status = count_runs(sampler, error);
    if (status != ACQ_OK)
        return status;
    sampler->runs = acq_alloc(sampler->first_run[sampler->n_entities], sizeof(acq_sample_run));
    sampler->entities = acq_alloc(sampler->n_with_facts, sizeof(acq_ent));
    if (sampler->runs == NULL || sampler->entities == NULL)
        return acq_fail_memory(error);
    fill_runs(sampler);
    count_facts(sampler);
    return ACQ_OK;
}

acq_status acq_sampler_new(const acq_graph *graph, acq_sampler **out, acq_error *error)
{
    acq_sampler *sampler = acq_zalloc(1, sizeof *sampler);
    if (sampler == NULL)
        return acq_fail_memory(error);
    acq_status status = build(sampler, graph, error);
    if (status != ACQ_OK) {
        acq_sampler_free(sampler);
        return status;
    }
    *out = sampler;
    return ACQ_OK;
}

acq_sampler_step acq_sampler_get_fact(const acq_sampler *sampler, acq_ent entity, uint32_t i)
{
    const acq_sample_run *first = sampler->runs + sampler->first_run[entity];
    const acq_sample_run *end = sampler->runs + sampler->first_run[entity + 1], *run;
    ACQ_SEARCH(run, first + 1, end, run->before <= i);
    run--;
    acq_ent to = acq_sampler_get_row(sampler, run).tails[i - run->before];
    return (acq_sampler_step){.from = entity, .relation = run->relation, .to = to};
}

/* ---- small queries, one table row per atom ----
 *
 * An answer is drawn among all entities, then every positive atom is a step along a fact from a
 * variable that has its value already: first a relation, then a neighbour, so that frequent
 * relations do not drown the rest (as in the BetaE data sets, whose shapes these are). No fact is
 * used twice, in either direction.
 *
 * A negated atom is a fact of a rival: another value that the positive atoms allow in the same
 * place, found by walking back from the constant. So it excludes a candidate and keeps the answer.
 * Where there is no rival, a relation of the answer with a tail that other entities have. */

enum {
    MOST_ATOMS = 3,
    MOST_VARIABLES = 3,
    CONSTANT = MOST_VARIABLES, /* instead of a variable */
    PLACES = 64,               /* answers to try before a smaller shape */
    RIVALS = 16,
};

typedef struct atom_form {
    uint8_t left, right;
    bool is_negated;
} atom_form;

typedef struct shape_form {
    uint32_t n_variables, n_atoms;
    atom_form atoms[MOST_ATOMS]; /* negated ones last */
    acq_shape_id smaller;        /* to fall back to; 1p always fits */
} shape_form;

#define TO_VARIABLE(left, right)                                                                   \
    {                                                                                              \
        left, right, false                                                                         \
    }
#define TO_CONSTANT(left)                                                                          \
    {                                                                                              \
        left, CONSTANT, false                                                                      \
    }
#define NOT_TO_CONSTANT(left)                                                                      \
    {                                                                                              \
        left, CONSTANT, true                                                                       \
    }

static const shape_form forms[ACQ_N_SHAPES] = {
    [ACQ_SHAPE_1p] = {1, 1, {TO_CONSTANT(0)}, ACQ_SHAPE_1p},
    [ACQ_SHAPE_2p] = {2, 2, {TO_VARIABLE(0, 1), TO_CONSTANT(1)}, ACQ_SHAPE_1p},
    [ACQ_SHAPE_3p] = {3, 3, {TO_VARIABLE(0, 1), TO_VARIABLE(1, 2), TO_CONSTANT(2)}, ACQ_SHAPE_2p},
    [ACQ_SHAPE_2i] = {1, 2, {TO_CONSTANT(0), TO_CONSTANT(0)}, ACQ_SHAPE_1p},
    [ACQ_SHAPE_3i] = {1, 3, {TO_CONSTANT(0), TO_CONSTANT(0), TO_CONSTANT(0)}, ACQ_SHAPE_2i},
    [ACQ_SHAPE_2in] = {1, 2, {TO_CONSTANT(0), NOT_TO_CONSTANT(0)}, ACQ_SHAPE_1p},
    [ACQ_SHAPE_3in] = {1, 3, {TO_CONSTANT(0), TO_CONSTANT(0), NOT_TO_CONSTANT(0)}, ACQ_SHAPE_2in},
    [ACQ_SHAPE_inp] = {2, 3, {TO_VARIABLE(0, 1), TO_CONSTANT(1), NOT_TO_CONSTANT(1)}, ACQ_SHAPE_2p},
    [ACQ_SHAPE_pin] = {2, 3, {TO_VARIABLE(0, 1), TO_CONSTANT(1), NOT_TO_CONSTANT(0)}, ACQ_SHAPE_2p},
    [ACQ_SHAPE_pi] = {2, 3, {TO_VARIABLE(0, 1), TO_CONSTANT(1), TO_CONSTANT(0)}, ACQ_SHAPE_2p},
    [ACQ_SHAPE_ip] = {2, 3, {TO_VARIABLE(0, 1), TO_CONSTANT(1), TO_CONSTANT(1)}, ACQ_SHAPE_2p},
};

typedef struct draft {
    const acq_sampler *sampler;
    acq_random *random;
    const shape_form *form;
    acq_ent values[MOST_VARIABLES];
    acq_sampler_step atoms[MOST_ATOMS];
} draft;

static bool is_same_fact(acq_sampler_step a, acq_sampler_step b)
{
    return (a.relation == b.relation && a.from == b.from && a.to == b.to) ||
           (a.relation == acq_inverse(b.relation) && a.from == b.to && a.to == b.from);
}

static bool draw_positive(draft *d, uint32_t i_atom)
{
    atom_form form = d->form->atoms[i_atom];
    acq_sampler_step step = acq_sampler_draw_step(d->sampler, d->values[form.left], d->random);
    for (uint32_t i = 0; i < i_atom; i++) {
        if (is_same_fact(d->atoms[i], step))
            return false;
    }
    d->atoms[i_atom] = step;
    if (form.right != CONSTANT)
        d->values[form.right] = step.to;
    return true;
}

/* Some value of the variable that satisfies the first atom it is the left of, or ACQ_NO_ID. The
 * variables further on keep their values (near) or take others. */
static acq_ent draw_candidate(const draft *d, uint8_t variable, bool near)
{
    uint32_t i = 0;
    while (d->form->atoms[i].left != variable)
        i++;
    uint8_t right = d->form->atoms[i].right;
    acq_ent to = d->atoms[i].to;
    if (right != CONSTANT && !near)
        to = draw_candidate(d, right, near);
    const acq_links *back = d->sampler->links[acq_inverse(d->atoms[i].relation)];
    acq_row row = acq_links_get_row(back, to);
    return row.n == 0 ? ACQ_NO_ID : acq_row_draw(row, d->random);
}

/* Does `value` satisfy every atom between the variable and a constant, up to atom n? */
static bool is_candidate(const draft *d, uint8_t variable, acq_ent value, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        atom_form form = d->form->atoms[i];
        acq_sampler_step fact = {value, d->atoms[i].relation, d->atoms[i].to};
        if (form.left == variable && form.right == CONSTANT &&
            !acq_sampler_has_fact(d->sampler, fact))
            return false;
    }
    return true;
}

/* The second half of the tries asks less of a rival: it stays near and satisfies one atom. */
static bool draw_from_rival(draft *d, uint32_t i_atom)
{
    uint8_t variable = d->form->atoms[i_atom].left;
    acq_ent value = d->values[variable];
    for (uint32_t i = 0; i < RIVALS; i++) {
        bool easy = i >= RIVALS / 2;
        acq_ent rival = draw_candidate(d, variable, easy);
        if (rival == value || rival == ACQ_NO_ID ||
            (!easy && !is_candidate(d, variable, rival, i_atom)))
            continue;
        acq_sampler_step step = acq_sampler_draw_step(d->sampler, rival, d->random);
        step.from = value;
        d->atoms[i_atom] = step;
        if (!acq_sampler_has_fact(d->sampler, step))
            return true;
    }
    return false;
}

static bool draw_from_relation(draft *d, uint32_t i_atom)
{
    acq_ent value = d->values[d->form->atoms[i_atom].left];
    for (uint32_t i = 0; i < RIVALS; i++) {
        acq_sampler_step step = acq_sampler_draw_step(d->sampler, value, d->random);
        const acq_links *links = d->sampler->links[step.relation];
        step.to = links->tails[acq_random_below(d->random, links->n_links)];
        d->atoms[i_atom] = step;
        if (!acq_sampler_has_fact(d->sampler, step))
            return true;
    }
    return false;
}

static bool draw_place(draft *d)
{
    d->values[0] = acq_sampler_draw_entity(d->sampler, d->random);
    for (uint32_t i = 0; i < d->form->n_atoms; i++) {
        bool fits = d->form->atoms[i].is_negated ? draw_from_rival(d, i) || draw_from_relation(d, i)
                                                 : draw_positive(d, i);
        if (!fits)
            return false;
    }
    return true;
}

/* 1p fits everywhere, so this ends. */
static void draw(draft *d, acq_shape_id shape)
{
    d->form = &forms[shape];
    for (uint32_t i = 0; !draw_place(d); i++) {
        if (i == PLACES) {
            d->form = &forms[d->form->smaller];
            i = 0;
        }
    }
}

static acq_literal make_literal(const draft *d, uint32_t i_atom)
{
    atom_form form = d->form->atoms[i_atom];
    bool to_constant = form.right == CONSTANT;
    return (acq_literal){
        .is_negated = form.is_negated,
        .relation = d->atoms[i_atom].relation,
        .left = {.is_variable = true, .id = form.left},
        .right = {.is_variable = !to_constant,
                  .id = to_constant ? d->atoms[i_atom].to : form.right},
    };
}

acq_status acq_sampler_draw_shape(const acq_sampler *sampler, acq_shape_id shape,
                                  acq_random *random, acq_problem **out, acq_ent *answer,
                                  acq_error *error)
{
    draft d = {.sampler = sampler, .random = random};
    acq_literal literals[MOST_ATOMS];
    draw(&d, shape);
    for (uint32_t i = 0; i < d.form->n_atoms; i++)
        literals[i] = make_literal(&d, i);
    acq_status status = acq_problem_new_literals(d.form->n_variables, sampler->n_entities, literals,
                                                 d.form->n_atoms, out, error);
    for (uint32_t i = 0; status == ACQ_OK && answer != NULL && i < d.form->n_variables; i++)
        answer[i] = d.values[i];
    return status;
}
