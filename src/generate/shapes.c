/* shapes.c - see parts.h. A literal of a draft is relation(left, right) with the variable that is
 * nearer to the answer on the left; BetaE's relations lead from the anchor to the answer, so they
 * are the inverses. In the nested forms below, s1 is the constant of literal 1 and r1 its relation
 * read from right to left. */
#include "generate/parts.h"

#include <stdlib.h>
#include <string.h>

#include "query/sample/parts.h"

typedef struct small_type {
    const char *name, *nested;
    int shape; /* of the sampler; -1: drawn here */
} small_type;

static const small_type types[ACQ_N_SMALL_TYPES] = {
    {"1p", "[s0,[r0]]", ACQ_SHAPE_1p},
    {"2p", "[s1,[r1,r0]]", ACQ_SHAPE_2p},
    {"3p", "[s2,[r2,r1,r0]]", ACQ_SHAPE_3p},
    {"2i", "[[s0,[r0]],[s1,[r1]]]", ACQ_SHAPE_2i},
    {"3i", "[[s0,[r0]],[s1,[r1]],[s2,[r2]]]", ACQ_SHAPE_3i},
    {"ip", "[[[s1,[r1]],[s2,[r2]]],[r0]]", ACQ_SHAPE_ip},
    {"pi", "[[s1,[r1,r0]],[s2,[r2]]]", ACQ_SHAPE_pi},
    {"2in", "[[s0,[r0]],[s1,[r1,-2]]]", ACQ_SHAPE_2in},
    {"3in", "[[s0,[r0]],[s1,[r1]],[s2,[r2,-2]]]", ACQ_SHAPE_3in},
    {"inp", "[[[s1,[r1]],[s2,[r2,-2]]],[r0]]", ACQ_SHAPE_inp},
    {"pin", "[[s1,[r1,r0]],[s2,[r2,-2]]]", ACQ_SHAPE_pin},
    {"pni", "[[s1,[r1,r0,-2]],[s2,[r2]]]", -1},
    {"2u", "[[s0,[r0]],[s1,[r1]],[-1]]", -1},
    {"up", "[[[s1,[r1]],[s2,[r2]],[-1]],[r0]]", -1},
};

enum { PNI = 11, UNION = 12, UNION_PROJECTED = 13, TRIES = 32, MOST_VARIABLES = 4 };

const char *acq_small_type_get_name(unsigned type)
{
    return type < ACQ_N_SMALL_TYPES ? types[type].name : "unknown";
}

unsigned acq_small_type_find(const char *name)
{
    unsigned i = 0;
    while (i < ACQ_N_SMALL_TYPES && strcmp(types[i].name, name) != 0)
        i++;
    return i;
}

bool acq_small_is_pni(unsigned type)
{
    return type == PNI;
}

static acq_place variable(uint32_t id)
{
    return (acq_place){.is_variable = true, .id = id};
}

static acq_place constant(acq_ent id)
{
    return (acq_place){.is_variable = false, .id = id};
}

static acq_literal to_constant(uint32_t left, acq_sampler_step step)
{
    return (acq_literal){
        .relation = step.relation, .left = variable(left), .right = constant(step.to)};
}

/* not r2(e1, f) & r1(s1, e1) & r3(s2, f): e1 leads by r2 to others than f. */
static bool draw_pni(const acq_sampler *s, acq_random *random, acq_literal *out, acq_ent *answer)
{
    for (uint32_t i = 0; i < TRIES; i++) {
        answer[0] = acq_sampler_draw_entity(s, random);
        acq_sampler_step kept = acq_sampler_draw_step(s, answer[0], random);
        const acq_links *back = s->links[acq_inverse(kept.relation)];
        acq_ent rival = acq_row_draw(acq_links_get_row(back, kept.to), random);
        acq_sampler_step denied = acq_sampler_draw_step(s, rival, random);
        answer[1] = denied.to;
        acq_sampler_step anchor = acq_sampler_draw_step(s, answer[1], random);
        if (rival == answer[0] ||
            acq_sampler_has_fact(s, (acq_sampler_step){answer[0], denied.relation, answer[1]}))
            continue;
        out[0] = (acq_literal){.is_negated = true,
                               .relation = denied.relation,
                               .left = variable(0),
                               .right = variable(1)};
        out[1] = to_constant(1, anchor);
        out[2] = to_constant(0, kept);
        return true;
    }
    return false;
}

/* Two branches that lead to different entities; the answer is that of the first. */
static bool draw_union(const acq_sampler *s, bool is_projected, acq_random *random,
                       acq_literal *out, acq_ent *answer)
{
    uint32_t middle = is_projected ? 1 : 0, first = is_projected ? 1 : 0;
    answer[0] = acq_sampler_draw_entity(s, random);
    acq_sampler_step projection = acq_sampler_draw_step(s, answer[0], random);
    if (is_projected) {
        answer[1] = projection.to;
        out[0] = (acq_literal){
            .relation = projection.relation, .left = variable(0), .right = variable(1)};
    }
    acq_ent other = acq_sampler_draw_entity(s, random);
    acq_sampler_step one = acq_sampler_draw_step(s, answer[middle], random);
    acq_sampler_step two = acq_sampler_draw_step(s, other, random);
    out[first] = to_constant(middle, one);
    out[first + 1] = to_constant(middle, two);
    return one.relation != two.relation || one.to != two.to;
}

static acq_status draw_here(const acq_sampler *s, unsigned type, acq_random *random, bool *is_drawn,
                            acq_draft *out, acq_error *error)
{
    acq_literal literals[3];
    acq_ent answer[2] = {0};
    bool is_union = type == UNION, is_projected = type == UNION_PROJECTED;
    *is_drawn = type == PNI ? draw_pni(s, random, literals, answer)
                            : draw_union(s, is_projected, random, literals, answer);
    if (!*is_drawn)
        return ACQ_OK;
    acq_status status = acq_draft_init(out, literals, is_union ? 2 : 3, is_union ? 1 : 2, error);
    if (status != ACQ_OK)
        return status;
    memcpy(out->answer, answer, out->n_variables * sizeof *answer);
    if (type != PNI) {
        out->or_begin = is_projected ? 1 : 0;
        out->or_end = out->or_begin + 2;
    }
    return ACQ_OK;
}

/* The sampler gives a smaller shape where the wanted one does not fit. */
static uint32_t count_literals(unsigned type)
{
    uint32_t n = 0;
    for (const char *at = types[type].nested; *at != '\0'; at++)
        n += *at == 'r';
    return n;
}

acq_status acq_small_draw(const acq_sampler *complete, unsigned type, acq_random *random,
                          bool *is_drawn, acq_draft *out, acq_error *error)
{
    acq_problem *problem;
    acq_ent answer[MOST_VARIABLES];
    if (types[type].shape < 0)
        return draw_here(complete, type, random, is_drawn, out, error);
    acq_status status = acq_sampler_draw_shape(complete, (acq_shape_id)types[type].shape, random,
                                               &problem, answer, error);
    if (status != ACQ_OK)
        return status;
    *is_drawn = problem->n_literals == count_literals(type);
    if (*is_drawn)
        status = acq_draft_init(out, problem->literals, problem->n_literals, problem->n_variables,
                                error);
    if (*is_drawn && status == ACQ_OK)
        memcpy(out->answer, answer, out->n_variables * sizeof *answer);
    acq_problem_free(problem);
    return status;
}

void acq_small_print_nested(unsigned type, const acq_draft *draft, acq_text *out)
{
    for (const char *at = types[type].nested; *at != '\0'; at++) {
        if (*at != 's' && *at != 'r') {
            acq_text_add_char(out, *at);
            continue;
        }
        const acq_literal *literal = &draft->literals[at[1] - '0'];
        acq_text_format(out, "%u", *at == 's' ? literal->right.id : acq_inverse(literal->relation));
        at++;
    }
}

acq_status acq_small_split_pni(const acq_draft *draft, acq_draft *kept, acq_draft *taken_out,
                               acq_error *error)
{
    acq_literal chain[] = {draft->literals[0], draft->literals[1]};
    chain[0].is_negated = false;
    acq_status status = acq_draft_init(kept, &draft->literals[2], 1, 1, error);
    if (status != ACQ_OK)
        return status;
    status = acq_draft_init(taken_out, chain, 2, 2, error);
    if (status != ACQ_OK)
        acq_draft_deinit(kept);
    return status;
}
