/* worlds.c - see worlds.h. A depth-first walk over values that carries a set of worlds:
 *
 *   solve    literals without variables cut the set down; the rest falls into parts that share no
 *            variable, and each part cuts down what the one before it left
 *   branch   a part holds where one of the values of a variable, or one of the disjuncts of a
 *            clause, makes it hold: only worlds that no earlier one has given are asked of the next
 *
 * The variable with the fewest values goes first: those of the shortest row that leads to it. */
#include "calibrate/worlds.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

enum {
    WORDS = ACQ_N_WORLDS / 64,
    N_KEPT = 1024,
    MOST_DEPTH = 100, /* values and disjuncts chosen at a time: more would need a large stack */
};

typedef struct world_set {
    uint64_t words[WORDS];
} world_set;

/* The worlds of a link that was met lately. */
typedef struct kept_set {
    uint64_t key; /* 0: none */
    world_set set;
} kept_set;

struct acq_worlds {
    const acq_predictor *predictor;
    uint32_t n_joint;
    kept_set *kept;
    acq_arena arena;
    /* Of one measurement. */
    acq_ent *values; /* ACQ_NO_ID: none yet */
    uint32_t n_variables, n_entities;
    acq_budget *budget;
    bool has_memory;
    unsigned depth;
};

/* ---- sets ---- */

static void set_fill(world_set *set)
{
    memset(set, 0xff, sizeof *set);
}

static bool set_is_empty(const world_set *set)
{
    uint64_t any = 0;
    for (int i = 0; i < WORDS; i++)
        any |= set->words[i];
    return any == 0;
}

/* Has it no world but the first? */
static bool set_is_first(const world_set *set)
{
    uint64_t any = set->words[0] & ~(uint64_t)1;
    for (int i = 1; i < WORDS; i++)
        any |= set->words[i];
    return any == 0;
}

static void set_cut(world_set *set, const world_set *by, bool is_negated)
{
    uint64_t flip = is_negated ? ~(uint64_t)0 : 0;
    for (int i = 0; i < WORDS; i++)
        set->words[i] &= by->words[i] ^ flip;
}

static void set_join(world_set *set, const world_set *other)
{
    for (int i = 0; i < WORDS; i++)
        set->words[i] |= other->words[i];
}

static void set_add(world_set *set, uint32_t world)
{
    set->words[world / 64] |= (uint64_t)1 << (world % 64);
}

static uint32_t set_count(const world_set *set)
{
    uint32_t n = 0;
    for (int i = 0; i < WORDS; i++)
        n += acq_count_bits(set->words[i]);
    return n;
}

/* ---- worlds of a link ---- */

static uint32_t count_worlds(double score)
{
    double n = round(score * ACQ_N_WORLDS);
    return n < 1 ? 1 : n > ACQ_N_WORLDS - 1 ? ACQ_N_WORLDS - 1 : (uint32_t)n;
}

double acq_worlds_get_link_p(double score)
{
    return score >= 1 ? 1 : (double)count_worlds(score) / ACQ_N_WORLDS;
}

/* A permutation of the worlds: each step is one. */
static uint32_t permute(uint64_t key, uint32_t i)
{
    const uint32_t mask = ACQ_N_WORLDS - 1;
    i = (i * ((uint32_t)key | 1) + (uint32_t)(key >> 11)) & mask;
    i ^= i >> 6;
    i = (i * ((uint32_t)(key >> 22) | 1) + (uint32_t)(key >> 33)) & mask;
    i ^= i >> 5;
    return (i * ((uint32_t)(key >> 44) | 1) + (uint32_t)(key >> 53)) & mask;
}

/* n worlds, of which the joint ones are the first. */
static void draw_set(const acq_worlds *w, uint64_t key, uint32_t n, world_set *out)
{
    uint32_t n_joint = (uint32_t)lround((double)n * w->n_joint / ACQ_N_WORLDS);
    n_joint = n_joint < 1 ? 1 : n_joint;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < n_joint; i++)
        set_add(out, i);
    for (uint32_t i = 0, left = n - n_joint; left > 0; i++) {
        uint32_t world = permute(key, i);
        if (world < w->n_joint)
            continue;
        set_add(out, world);
        left--;
    }
}

static const world_set *get_link_set(acq_worlds *w, acq_ent head, acq_rel relation, acq_ent tail,
                                     float score)
{
    bool is_turned = relation % 2 == 1;
    uint64_t ends = is_turned ? (uint64_t)tail << 32 | head : (uint64_t)head << 32 | tail;
    uint32_t n = count_worlds((double)score);
    uint64_t key = acq_random_mix(acq_random_mix(ends) ^ (relation / 2)) | 1;
    kept_set *place = &w->kept[(key >> 20) % N_KEPT];
    if (place->key != key) {
        draw_set(w, key, n, &place->set);
        place->key = key;
        (void)acq_budget_tick(w->budget, n / 8);
    }
    return &place->set;
}

/* ---- literals ---- */

static acq_ent get_value(const acq_worlds *w, acq_place place)
{
    return place.is_variable ? w->values[place.id] : place.id;
}

static bool is_ground(const acq_worlds *w, const acq_literal *literal)
{
    return get_value(w, literal->left) != ACQ_NO_ID && get_value(w, literal->right) != ACQ_NO_ID;
}

/* Leaves the worlds in which the literal holds. */
static void cut_by_literal(acq_worlds *w, const acq_literal *literal, world_set *limit)
{
    acq_ent head = get_value(w, literal->left), tail = get_value(w, literal->right);
    float score = literal->is_equality
                      ? (float)(head == tail)
                      : acq_predictor_get_score(w->predictor, head, literal->relation, tail);
    if (literal->is_equality || score >= 1.0F) {
        if ((score >= 1.0F) == literal->is_negated)
            memset(limit, 0, sizeof *limit);
        return;
    }
    if (score > 0)
        set_cut(limit, get_link_set(w, head, literal->relation, tail, score), literal->is_negated);
    else if (literal->is_negated)
        limit->words[0] &= ~(uint64_t)1;
    else {
        uint64_t first = limit->words[0] & 1;
        memset(limit, 0, sizeof *limit);
        limit->words[0] = first;
    }
}

bool acq_worlds_has(acq_worlds *w, acq_ent head, acq_rel relation, acq_ent tail, uint32_t world)
{
    const acq_place ends[2] = {{.id = head}, {.id = tail}};
    const acq_literal literal = {.relation = relation, .left = ends[0], .right = ends[1]};
    acq_budget unlimited;
    world_set set;
    acq_budget_init(&unlimited, 0, 0);
    w->budget = &unlimited;
    set_fill(&set);
    cut_by_literal(w, &literal, &set);
    return (set.words[world / 64] >> (world % 64) & 1) == 1;
}

/* ---- clauses ---- */

static bool is_ground_branch(const acq_worlds *w, const acq_branch *branch)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        return is_ground(w, &branch->literal);
    for (uint32_t i = 0; i < branch->n_children; i++)
        if (!is_ground_branch(w, branch->children[i]))
            return false;
    return true;
}

/* Sets on the way; they do not lie on the stack, for trees and walks may be deep. */
typedef struct union_sets {
    world_set found, left, one;
} union_sets;

static union_sets *begin_union(acq_worlds *w, const world_set *limit)
{
    union_sets *sets = acq_arena_zalloc(&w->arena, 1, sizeof *sets);
    if (sets != NULL)
        sets->left = *limit;
    w->has_memory = w->has_memory && sets != NULL;
    return sets;
}

static void add_to_union(union_sets *sets)
{
    set_join(&sets->found, &sets->one);
    set_cut(&sets->left, &sets->one, true);
}

static void cut_by_branch(acq_worlds *w, const acq_branch *branch, world_set *limit);

static void cut_by_any(acq_worlds *w, const acq_branch *branch, world_set *limit)
{
    acq_arena_mark mark = acq_arena_get_mark(&w->arena);
    union_sets *sets = begin_union(w, limit);
    for (uint32_t i = 0; i < branch->n_children && w->has_memory && !set_is_empty(&sets->left);
         i++) {
        sets->one = sets->left;
        cut_by_branch(w, branch->children[i], &sets->one);
        add_to_union(sets);
    }
    if (w->has_memory)
        *limit = sets->found;
    acq_arena_reset(&w->arena, mark);
}

static void cut_by_branch(acq_worlds *w, const acq_branch *branch, world_set *limit)
{
    (void)acq_budget_tick(w->budget, 1);
    if (branch->kind == ACQ_BRANCH_LITERAL)
        cut_by_literal(w, &branch->literal, limit);
    else if (branch->kind == ACQ_BRANCH_OR)
        cut_by_any(w, branch, limit);
    for (uint32_t i = 0; i < branch->n_children && branch->kind == ACQ_BRANCH_AND; i++)
        cut_by_branch(w, branch->children[i], limit);
}

/* ---- parts ---- */

/* A conjunction. */
typedef struct part {
    const acq_literal **literals;
    const acq_branch **clauses;
    uint32_t n_literals, n_clauses;
} part;

static bool part_init(acq_worlds *w, part *out, size_t n_literals, size_t n_clauses)
{
    *out = (part){.literals = acq_arena_alloc(&w->arena, n_literals, sizeof *out->literals),
                  .clauses = acq_arena_alloc(&w->arena, n_clauses, sizeof *out->clauses)};
    w->has_memory = w->has_memory && out->literals != NULL && out->clauses != NULL;
    return w->has_memory;
}

static void part_add(part *to, const acq_branch *branch)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        to->literals[to->n_literals++] = &branch->literal;
    else
        to->clauses[to->n_clauses++] = branch;
}

static void solve(acq_worlds *w, const part *all, world_set *limit);

/* ---- branching ---- */

/* How a part is taken apart. */
typedef struct choice {
    uint32_t variable;    /* ACQ_NO_ID: by a clause */
    size_t n;             /* values */
    acq_row row;          /* values with scores; tails NULL: not a row */
    const acq_ent *heads; /* values; NULL: all entities, from `first` on */
    acq_ent first;
    const acq_branch *clause;
    uint32_t i_clause;
} choice;

typedef struct branching {
    const part *of;
    union_sets *sets;
} branching;

static bool is_over(const acq_worlds *w, const branching *b)
{
    return w->budget->spent != ACQ_SPENT_NOTHING || !w->has_memory || set_is_empty(&b->sets->left);
}

static void take(acq_worlds *w, branching *b, const part *one)
{
    b->sets->one = b->sets->left;
    solve(w, one, &b->sets->one);
    add_to_union(b->sets);
}

static void try_value(acq_worlds *w, branching *b, uint32_t variable, acq_ent value)
{
    if (!acq_budget_tick(w->budget, 4 + b->of->n_literals + b->of->n_clauses))
        return;
    w->values[variable] = value;
    take(w, b, b->of);
    w->values[variable] = ACQ_NO_ID;
}

/* Facts first: they leave least to the others. */
static void try_row(acq_worlds *w, branching *b, const choice *by)
{
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < by->row.n && !is_over(w, b); i++) {
            bool is_fact = by->row.scores == NULL || by->row.scores[i] >= 1.0F;
            if (is_fact == (pass == 0))
                try_value(w, b, by->variable, by->row.tails[i]);
        }
}

/* Only negated literals are left, or equalities: any entity that has none of these links does as
 * well as one can, but for world 0. */
static void try_entities(acq_worlds *w, branching *b, const choice *by)
{
    for (size_t i = 0; i < by->n && !is_over(w, b); i++) {
        try_value(w, b, by->variable, by->heads == NULL ? by->first + (acq_ent)i : by->heads[i]);
        if (by->heads == NULL && by->n > 1 && set_is_first(&b->sets->left))
            return;
    }
}

static void try_clause(acq_worlds *w, branching *b, const choice *by)
{
    const part *of = b->of;
    for (uint32_t i = 0; i < by->clause->n_children && !is_over(w, b); i++) {
        const acq_branch *child = by->clause->children[i];
        uint32_t n = child->kind == ACQ_BRANCH_AND ? child->n_children : 1;
        acq_arena_mark mark = acq_arena_get_mark(&w->arena);
        part one;
        if (!acq_budget_tick(w->budget, 4 + of->n_literals + of->n_clauses) ||
            !part_init(w, &one, of->n_literals + n, of->n_clauses + n))
            return;
        memcpy(one.literals, of->literals, of->n_literals * sizeof *one.literals);
        one.n_literals = of->n_literals;
        for (uint32_t j = 0; j < of->n_clauses; j++)
            if (j != by->i_clause)
                one.clauses[one.n_clauses++] = of->clauses[j];
        for (uint32_t j = 0; j < n; j++)
            part_add(&one, child->kind == ACQ_BRANCH_AND ? child->children[j] : child);
        take(w, b, &one);
        acq_arena_reset(&w->arena, mark);
    }
}

/* ---- choosing ---- */

static void keep_shorter(choice *best, choice other)
{
    if (other.n < best->n)
        *best = other;
}

/* Values that a positive literal gives a variable, its other end having one. */
static void look_at_literal(const acq_worlds *w, const acq_literal *literal, choice *best)
{
    acq_ent ends[2] = {get_value(w, literal->left), get_value(w, literal->right)};
    bool is_left = ends[0] == ACQ_NO_ID;
    if (literal->is_negated || is_left == (ends[1] == ACQ_NO_ID))
        return;
    uint32_t variable = is_left ? literal->left.id : literal->right.id;
    acq_ent other = is_left ? ends[1] : ends[0];
    if (literal->is_equality) {
        keep_shorter(best, (choice){.variable = variable, .n = 1, .first = other});
        return;
    }
    acq_rel relation = is_left ? acq_inverse(literal->relation) : literal->relation;
    acq_row row = acq_predictor_get_row(w->predictor, other, relation);
    keep_shorter(best, (choice){.variable = variable, .n = row.n, .row = row});
}

/* Nothing leads to any variable: the heads of a relation, or all entities. */
static void look_at_open(const acq_worlds *w, const acq_literal *literal, choice *best)
{
    const acq_links *links = NULL;
    bool is_left = literal->left.is_variable && w->values[literal->left.id] == ACQ_NO_ID;
    uint32_t variable = is_left ? literal->left.id : literal->right.id;
    if (literal->is_negated || literal->is_equality)
        keep_shorter(best, (choice){.variable = variable, .n = w->n_entities});
    else if (acq_predictor_open_links(w->predictor, literal->relation, &links, NULL) == ACQ_OK)
        keep_shorter(
            best,
            (choice){.variable = literal->left.id, .n = links->n_heads, .heads = links->heads});
}

static choice choose(const acq_worlds *w, const part *of)
{
    choice best = {.variable = ACQ_NO_ID, .n = SIZE_MAX};
    for (uint32_t i = 0; i < of->n_literals; i++)
        look_at_literal(w, of->literals[i], &best);
    if (best.n != SIZE_MAX)
        return best;
    for (uint32_t i = 0; i < of->n_clauses; i++)
        keep_shorter(&best, (choice){.variable = ACQ_NO_ID,
                                     .n = of->clauses[i]->n_children,
                                     .clause = of->clauses[i],
                                     .i_clause = i});
    for (uint32_t i = 0; i < of->n_literals && of->n_clauses == 0; i++)
        look_at_open(w, of->literals[i], &best);
    return best;
}

/* Leaves the worlds in which the part, whose literals hang together by variables, holds. */
static void branch(acq_worlds *w, const part *of, world_set *limit)
{
    branching b = {.of = of, .sets = begin_union(w, limit)};
    choice by = choose(w, of);
    if (!w->has_memory)
        return;
    if (++w->depth > MOST_DEPTH)
        w->budget->spent = ACQ_SPENT_STEPS;
    else if (by.clause != NULL)
        try_clause(w, &b, &by);
    else if (by.row.tails != NULL)
        try_row(w, &b, &by);
    else if (by.n != SIZE_MAX)
        try_entities(w, &b, &by);
    w->depth--;
    *limit = b.sets->found;
}

/* ---- parts that share no variable ---- */

/* Joins the variables of a literal without value; *first is one of them, or ACQ_NO_ID. */
static void join_literal(const acq_worlds *w, const acq_literal *literal, uint32_t *parents,
                         uint32_t *first)
{
    const acq_place ends[2] = {literal->left, literal->right};
    for (int i = 0; i < 2; i++) {
        if (get_value(w, ends[i]) != ACQ_NO_ID)
            continue;
        if (*first == ACQ_NO_ID)
            *first = ends[i].id;
        parents[acq_first_find_root(parents, ends[i].id)] = acq_first_find_root(parents, *first);
    }
}

static void join_branch(const acq_worlds *w, const acq_branch *branch, uint32_t *parents,
                        uint32_t *first)
{
    if (branch->kind == ACQ_BRANCH_LITERAL)
        join_literal(w, &branch->literal, parents, first);
    for (uint32_t i = 0; i < branch->n_children; i++)
        join_branch(w, branch->children[i], parents, first);
}

typedef struct labelled {
    uint32_t *parents;
    uint32_t *literals, *clauses; /* a variable of each */
} labelled;

static bool label(acq_worlds *w, const part *open, labelled *out)
{
    uint32_t n_variables = w->n_variables;
    *out =
        (labelled){.parents = acq_arena_alloc(&w->arena, n_variables, sizeof *out->parents),
                   .literals = acq_arena_alloc(&w->arena, open->n_literals, sizeof *out->literals),
                   .clauses = acq_arena_alloc(&w->arena, open->n_clauses, sizeof *out->clauses)};
    w->has_memory = out->parents != NULL && out->literals != NULL && out->clauses != NULL;
    for (uint32_t i = 0; i < n_variables && w->has_memory; i++)
        out->parents[i] = i;
    for (uint32_t i = 0; i < open->n_literals && w->has_memory; i++) {
        out->literals[i] = ACQ_NO_ID;
        join_literal(w, open->literals[i], out->parents, &out->literals[i]);
    }
    for (uint32_t i = 0; i < open->n_clauses && w->has_memory; i++) {
        out->clauses[i] = ACQ_NO_ID;
        join_branch(w, open->clauses[i], out->parents, &out->clauses[i]);
    }
    return w->has_memory;
}

/* The literals and clauses that hang together with variable `root`. */
static bool gather(acq_worlds *w, const part *open, const labelled *labels, uint32_t root,
                   part *out)
{
    if (!part_init(w, out, open->n_literals, open->n_clauses))
        return false;
    for (uint32_t i = 0; i < open->n_literals; i++)
        if (acq_first_find_root(labels->parents, labels->literals[i]) == root)
            out->literals[out->n_literals++] = open->literals[i];
    for (uint32_t i = 0; i < open->n_clauses; i++)
        if (acq_first_find_root(labels->parents, labels->clauses[i]) == root)
            out->clauses[out->n_clauses++] = open->clauses[i];
    return true;
}

static void solve_parts(acq_worlds *w, const part *open, world_set *limit)
{
    labelled labels;
    if (!label(w, open, &labels))
        return;
    for (uint32_t v = 0; v < w->n_variables && !set_is_empty(limit); v++) {
        part one;
        if (labels.parents[v] != v || w->values[v] != ACQ_NO_ID)
            continue;
        acq_arena_mark mark = acq_arena_get_mark(&w->arena);
        if (!gather(w, open, &labels, v, &one))
            return;
        if (one.n_literals + one.n_clauses > 0)
            branch(w, &one, limit);
        acq_arena_reset(&w->arena, mark);
    }
}

/* Leaves the worlds in which some values satisfy the conjunction. */
static void solve(acq_worlds *w, const part *all, world_set *limit)
{
    acq_arena_mark mark = acq_arena_get_mark(&w->arena);
    part open;
    if (!part_init(w, &open, all->n_literals, all->n_clauses))
        return;
    for (uint32_t i = 0; i < all->n_literals; i++) {
        if (is_ground(w, all->literals[i]))
            cut_by_literal(w, all->literals[i], limit);
        else
            open.literals[open.n_literals++] = all->literals[i];
    }
    for (uint32_t i = 0; i < all->n_clauses; i++) {
        if (is_ground_branch(w, all->clauses[i]))
            cut_by_branch(w, all->clauses[i], limit);
        else
            open.clauses[open.n_clauses++] = all->clauses[i];
    }
    if (open.n_literals + open.n_clauses > 0 && !set_is_empty(limit))
        solve_parts(w, &open, limit);
    acq_arena_reset(&w->arena, mark);
}

/* ---- measuring ---- */

static void set_values(acq_worlds *w, const acq_ent *known)
{
    for (uint32_t v = 0; v < w->n_variables; v++)
        w->values[v] = known == NULL ? ACQ_NO_ID : known[v];
}

/* Worlds by the values that are known, then by the walk for the others. */
static void measure(acq_worlds *w, const acq_problem *problem, const acq_ent *known, world_set *out)
{
    part all;
    union_sets *sets;
    set_fill(out);
    if (!part_init(w, &all, problem->n_literals, problem->n_clauses))
        return;
    for (uint32_t i = 0; i < problem->n_literals; i++)
        all.literals[all.n_literals++] = &problem->literals[i];
    for (uint32_t i = 0; i < problem->n_clauses; i++)
        all.clauses[all.n_clauses++] = problem->clauses[i];
    sets = begin_union(w, out);
    for (int pass = known == NULL ? 1 : 0; pass < 2 && w->has_memory; pass++) {
        set_values(w, pass == 0 ? known : NULL);
        sets->one = sets->left;
        if (!set_is_empty(&sets->left))
            solve(w, &all, &sets->one);
        add_to_union(sets);
    }
    if (w->has_memory && acq_first_holds(problem, &w->arena, w->budget, &w->has_memory))
        set_add(&sets->found, 0);
    if (w->has_memory)
        *out = sets->found;
}

acq_status acq_worlds_measure(acq_worlds *w, const acq_problem *problem, const acq_ent *known,
                              acq_budget *budget, double *p, acq_error *error)
{
    world_set found = {{0}};
    acq_arena_mark mark = acq_arena_get_mark(&w->arena);
    w->values = acq_arena_alloc(&w->arena, problem->n_variables, sizeof *w->values);
    w->has_memory = w->values != NULL;
    w->n_variables = problem->n_variables;
    w->n_entities = problem->n_entities;
    w->budget = budget;
    w->depth = 0;
    if (w->has_memory)
        measure(w, problem, known, &found);
    acq_arena_reset(&w->arena, mark);
    if (!w->has_memory)
        return acq_fail_memory(error);
    *p = (double)set_count(&found) / ACQ_N_WORLDS;
    return ACQ_OK;
}

acq_status acq_worlds_new(const acq_predictor *predictor, double joint, acq_worlds **out,
                          acq_error *error)
{
    acq_worlds *w = acq_zalloc(1, sizeof *w);
    kept_set *kept = acq_zalloc(N_KEPT, sizeof *kept);
    if (w == NULL || kept == NULL) {
        acq_free(w);
        acq_free(kept);
        return acq_fail_memory(error);
    }
    uint32_t n_joint = (uint32_t)lround(joint * ACQ_N_WORLDS);
    *w = (acq_worlds){.predictor = predictor, .kept = kept};
    w->n_joint = n_joint < 1 ? 1 : n_joint;
    acq_arena_init(&w->arena);
    *out = w;
    return ACQ_OK;
}

void acq_worlds_free(acq_worlds *worlds)
{
    if (worlds == NULL)
        return;
    acq_arena_deinit(&worlds->arena);
    acq_free(worlds->kept);
    acq_free(worlds);
}
