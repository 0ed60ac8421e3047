/* supports.c - coordinate ascent over the existential variables, with a count of the values met.
 *
 * The used literals of an answer make it true on their own, so only they are looked at:
 *
 *   literals   [ r(c, y) | s(y, x) | !t(y, z) | ... ]
 *   touching   y: 0 1 2     z: 2 ...                   CSR, existential variables only
 *
 * Values of a variable come from the shortest row of its positive atoms, the other end being where
 * it is; the rest of its literals are then looked up, until one fails. The chance of a value is the
 * product over its literals of the link score, or 1 minus it where negated.
 *
 * A pass goes through all variables and exchanges values; passes follow until nothing changes,
 * at most MOST_PASSES. What is reported is counted in the last one. */
#include "calibrate/answer.h"

#include <math.h>
#include <string.h>

#include "answer/answer.h"

enum {
    MOST_PASSES = 3,
    MOST_LOOKUPS = 4000,          /* in a pass */
    MOST_VARIABLE_LOOKUPS = 400,  /* for a variable */
    MOST_VARIABLE_VALUES = 16384, /* of a row, looked at without a look-up */
};

static const double LEAST_CHANCE = 1e-6;    /* of a literal */
static const double LEAST_PRODUCT = 1e-200; /* of all of them: never 0 */

typedef struct literal {
    const acq_links *forward, *backward; /* of the relation and its inverse; NULL: an equality */
    acq_term left, right;
    acq_ent left_id, right_id; /* of constants */
    bool is_negated;
} literal;

typedef struct work {
    const acq_query *query;
    const acq_scoring *scoring;
    literal *literals;
    uint32_t n_literals;
    uint32_t *offsets;  /* of existential variable i: touching[offsets[i] .. offsets[i + 1]) */
    uint32_t *touching; /* literals */
    acq_ent *values;
    double least; /* score of the answer */
    int64_t lookups_left;
} work;

/* What the literals of a variable say of one of its values. */
typedef struct worth {
    double least;  /* score */
    double chance; /* product */
} worth;

static acq_ent value_of(const work *w, acq_term term, acq_ent id)
{
    return term.is_variable ? w->values[term.id] : id;
}

static bool is_variable(acq_term term, uint32_t variable)
{
    return term.is_variable && term.id == variable;
}

static double clip_chance(double chance)
{
    return chance > LEAST_CHANCE ? chance : LEAST_CHANCE;
}

/* Takes one literal into account whose atom's score is `link`. */
static void weigh(const work *w, const literal *l, double link, worth *sum)
{
    double score = acq_verify_score_literal(w->scoring, l->is_negated, link);
    sum->least = score < sum->least ? score : sum->least;
    sum->chance = fmax(sum->chance * clip_chance(l->is_negated ? 1.0 - link : link), LEAST_PRODUCT);
}

static double get_link(const work *w, const literal *l)
{
    acq_ent left = value_of(w, l->left, l->left_id), right = value_of(w, l->right, l->right_id);
    if (l->forward == NULL)
        return left == right ? 1.0 : 0.0;
    return (double)acq_links_get_score(l->forward, left, right);
}

/* The worth of the value that the variable has now; stops below `bar`. `known`: a literal whose
 * link score is known_link already; ACQ_NO_ID: none. */
static worth weigh_value(work *w, uint32_t variable, uint32_t known, double known_link, double bar)
{
    worth sum = {.least = 1.0, .chance = 1.0};
    uint32_t i_variable = variable - w->query->n_free;
    if (known != ACQ_NO_ID)
        weigh(w, &w->literals[known], known_link, &sum);
    for (uint32_t i = w->offsets[i_variable]; i < w->offsets[i_variable + 1] && sum.least >= bar;
         i++) {
        if (w->touching[i] == known)
            continue;
        const literal *l = &w->literals[w->touching[i]];
        weigh(w, l, get_link(w, l), &sum);
        w->lookups_left--;
    }
    return sum;
}

/* The row of the values that make this literal true, where it has one. */
static bool get_row(const work *w, const literal *l, uint32_t variable, acq_row *out)
{
    bool is_left = is_variable(l->left, variable), is_right = is_variable(l->right, variable);
    if (l->forward == NULL || l->is_negated || is_left == is_right)
        return false;
    *out = is_left ? acq_links_get_row(l->backward, value_of(w, l->right, l->right_id))
                   : acq_links_get_row(l->forward, value_of(w, l->left, l->left_id));
    return true;
}

/* The literal with the shortest row, or ACQ_NO_ID. */
static uint32_t find_shortest(const work *w, uint32_t variable, acq_row *out)
{
    uint32_t best = ACQ_NO_ID, i_variable = variable - w->query->n_free;
    for (uint32_t i = w->offsets[i_variable]; i < w->offsets[i_variable + 1]; i++) {
        acq_row row;
        if (get_row(w, &w->literals[w->touching[i]], variable, &row) &&
            (best == ACQ_NO_ID || row.n < out->n)) {
            best = w->touching[i];
            *out = row;
        }
    }
    return best;
}

typedef struct choice {
    acq_ent value;
    double chance;
} choice;

/* Another value: counted if it does, chosen if it is likelier and as good. */
static void consider(const work *w, acq_ent value, worth one, double bar, acq_supports *sum,
                     double *some, choice *best)
{
    if (one.least < bar)
        return;
    sum->n++;
    sum->least_sum += one.least;
    *some += one.chance * (1.0 - *some);
    if (one.least >= w->least && one.chance > best->chance * (1.0 + 1e-6))
        *best = (choice){value, one.chance};
}

/* Looks at the other values of one variable, which then has the best one. */
static bool try_values(work *w, uint32_t variable, acq_supports *sum)
{
    acq_row row = {0};
    acq_ent old = w->values[variable];
    uint32_t known = find_shortest(w, variable, &row);
    if (known == ACQ_NO_ID || w->lookups_left <= 0)
        return false;
    double bar = w->least / 2;
    worth now = weigh_value(w, variable, ACQ_NO_ID, 0.0, -1.0);
    double some = now.chance;
    choice best = {old, now.chance};
    size_t n = row.n < MOST_VARIABLE_VALUES ? row.n : MOST_VARIABLE_VALUES;
    int64_t end = w->lookups_left - MOST_VARIABLE_LOOKUPS;
    for (size_t i = 0; i < n && w->lookups_left > end && w->lookups_left > 0; i++) {
        double link = row.scores == NULL ? 1.0 : (double)row.scores[i];
        if (row.tails[i] == old || acq_verify_score_literal(w->scoring, false, link) < bar)
            continue;
        w->values[variable] = row.tails[i];
        worth one = weigh_value(w, variable, known, link, bar);
        consider(w, row.tails[i], one, bar, sum, &some, &best);
    }
    w->values[variable] = best.value;
    sum->gain += log(some / now.chance);
    return best.value != old;
}

static bool run_pass(work *w, acq_supports *out)
{
    bool changed = false;
    *out = (acq_supports){0};
    w->lookups_left = MOST_LOOKUPS;
    for (uint32_t v = w->query->n_free; v < w->query->n_variables; v++)
        changed = try_values(w, v, out) || changed;
    return changed;
}

static acq_status take_literal(work *w, const acq_predictor *predictor,
                               const acq_evidence *evidence, acq_error *error)
{
    const acq_node *node = evidence->node;
    literal *l = &w->literals[w->n_literals++];
    *l = (literal){.left = node->left,
                   .right = node->right,
                   .left_id = evidence->left,
                   .right_id = evidence->right,
                   .is_negated = evidence->is_negated};
    if (node->kind == ACQ_NODE_EQUAL)
        return ACQ_OK;
    acq_rel relation = w->query->relations[node->relation].id;
    acq_status status = acq_predictor_open_links(predictor, relation, &l->forward, error);
    return status == ACQ_OK
               ? acq_predictor_open_links(predictor, acq_inverse(relation), &l->backward, error)
               : status;
}

static bool is_existential(const work *w, acq_term term)
{
    return term.is_variable && term.id >= w->query->n_free;
}

/* Enters literal i with one of its terms; counts only while touching is NULL. */
static void enter(work *w, acq_term term, uint32_t i)
{
    if (!is_existential(w, term))
        return;
    uint32_t *end = &w->offsets[term.id - w->query->n_free + 1];
    if (w->touching != NULL)
        w->touching[*end] = i;
    ++*end;
}

static void enter_all(work *w)
{
    for (uint32_t i = 0; i < w->n_literals; i++) {
        const literal *l = &w->literals[i];
        enter(w, l->left, i);
        if (!(l->left.is_variable && is_variable(l->right, l->left.id)))
            enter(w, l->right, i);
    }
}

/* Counting sort: counts, then starts, then each list's end moves up to the next one's start. */
static acq_status sort_by_variable(work *w, acq_arena *arena, acq_error *error)
{
    uint32_t n = w->query->n_variables - w->query->n_free;
    w->offsets = acq_arena_zalloc(arena, (size_t)n + 2, sizeof *w->offsets);
    if (w->offsets == NULL)
        return acq_fail_memory(error);
    enter_all(w);
    uint32_t *touching = acq_arena_alloc(arena, 2 * (size_t)w->n_literals, sizeof *touching);
    if (touching == NULL)
        return acq_fail_memory(error);
    uint32_t start = 0;
    for (uint32_t i = 1; i <= n; i++) {
        uint32_t count = w->offsets[i];
        w->offsets[i] = start;
        start += count;
    }
    w->touching = touching;
    enter_all(w);
    return ACQ_OK;
}

static acq_status prepare(work *w, const acq_predictor *predictor, const acq_evidence *evidence,
                          size_t n, acq_arena *arena, acq_error *error)
{
    acq_status status = ACQ_OK;
    w->least = 1.0;
    w->literals = acq_arena_alloc(arena, n, sizeof *w->literals);
    if (w->literals == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++) {
        if (!evidence[i].used)
            continue;
        w->least = evidence[i].score < w->least ? evidence[i].score : w->least;
        status = take_literal(w, predictor, &evidence[i], error);
    }
    return status == ACQ_OK ? sort_by_variable(w, arena, error) : status;
}

acq_status acq_supports_find(const acq_query *query, const acq_predictor *predictor,
                             const acq_scoring *scoring, const acq_evidence *evidence, size_t n,
                             acq_ent *values, acq_arena *arena, acq_supports *out, bool *changed,
                             acq_error *error)
{
    work w = {.query = query, .scoring = scoring, .values = values};
    *out = (acq_supports){0};
    *changed = false;
    if (query->n_variables == query->n_free)
        return ACQ_OK;
    acq_status status = prepare(&w, predictor, evidence, n, arena, error);
    for (int i = 0; i < MOST_PASSES && status == ACQ_OK; i++) {
        bool is_new = run_pass(&w, out);
        *changed = *changed || is_new;
        if (!is_new)
            break;
    }
    return status;
}
