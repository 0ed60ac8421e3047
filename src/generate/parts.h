/* parts.h - the steps of making a benchmark, each a file of its own. First, a query while it is
 * being made: literals over variables and entities, its variables free, existential or turned into
 * constants as the benchmark needs them.
 *
 *   literals   (r, v1, v0) (r', c, v1) ...     variables 0 .. n_free - 1 are free
 *   answer     [ e0 e1 ... ]                   the assignment that it was read off, by variable
 *
 * All literals are joined by "and", but those in [or_begin, or_end), which are joined by "or". */
#ifndef ACQ_GENERATE_PARTS_H
#define ACQ_GENERATE_PARTS_H

#include "base/hash.h"
#include "base/text.h"
#include "engine/engine.h"
#include "query/problem.h"
#include "query/sample/sampler.h"

typedef struct acq_draft {
    acq_literal *literals;
    uint32_t n_literals;
    uint32_t n_variables, n_free;
    uint32_t or_begin, or_end; /* equal: no "or" */
    acq_ent *answer;           /* n_variables; NULL: it was read off nothing */
} acq_draft;

void acq_draft_deinit(acq_draft *draft);
acq_status acq_draft_copy(const acq_draft *from, acq_draft *out, acq_error *error);

/* Copies of the literals, with room for n_variables values in answer. */
acq_status acq_draft_init(acq_draft *draft, const acq_literal *literals, uint32_t n_literals,
                          uint32_t n_variables, acq_error *error);

/* One more free variable: the existential one `variable` changes places with the first of them. */
void acq_draft_free_variable(acq_draft *draft, uint32_t variable);

/* The free variable 0 becomes the constant `value`, and the variables behind it move up. */
void acq_draft_fix(acq_draft *draft, acq_ent value);

/* Draws one atom for each pair of terms; those left out are gone. */
acq_status acq_draft_thin(acq_draft *draft, acq_random *random, acq_error *error);

/* In the benchmark's syntax: relations r1 .., constants s1 .., variables f1 .. and e1 .., and the
 * grounding beside it as a JSON object. */
void acq_draft_print(const acq_draft *draft, acq_text *formula, acq_text *grounding);

/* The query as an evaluation reads it; its ids are those of `graph`. */
acq_status acq_draft_make_query(const acq_draft *draft, acq_query **out, acq_error *error);

/* Gives the query's constants and relations their names in the graph, for printing. */
void acq_draft_name_query(acq_query *query, const acq_graph *graph);

/* ---- base ----
 *
 * Base queries: the paper's "Base large query generation", step by step.
 *
 *   1. an entity v, uniformly (or, as the published scripts do, at an end of an unobserved fact)
 *   2. n_hub hubs, uniformly from the entities at most two steps from v
 *   3. D: v, the hubs and all their neighbours
 *   4. a leaf of D (one neighbour within D) leaves it with probability p_out
 *   5. D': n_min entities of D, uniformly among the choices that make D', hubs and v connected. All
 *      facts among these must not be observed already
 *   6. an entity of D' other than v and the hubs becomes a constant with p_const / degree^2
 *   7. each fact among them is an atom, v the free variable
 *
 * Step 5 draws sets until one is connected, a number of times, and then begins anew at step 1.
 * query/sample/hub.c draws alike for training, in bounded time at any degree; here the procedure is
 * the published one. Cost of a try: the facts within two steps of v. */

typedef struct acq_base_params {
    uint32_t n_hubs; /* besides v */
    uint32_t n_min;  /* entities of D' */
    double p_const, p_out;
    bool from_unobserved; /* v is an end of a fact that is not observed */
    bool one_per_pair;    /* of the atoms between two terms only one */
} acq_base_params;

/* What a thread needs for drawing. */
typedef struct acq_base_room acq_base_room;

acq_status acq_base_room_new(const acq_sampler *complete, const acq_graph *observed,
                             acq_base_room **out, acq_error *error);
void acq_base_room_free(acq_base_room *room);

/* One try. *is_drawn false: the place that was drawn does not fit; else *out is to be deinited. The
 * random numbers alone decide. */
acq_status acq_base_draw(acq_base_room *room, const acq_base_params *params, acq_random *random,
                         bool *is_drawn, acq_draft *out, acq_error *error);

/* ---- labels ----
 *
 * The answers of a drafted query, easy and hard, and the tuples that are none.
 *
 * Easy answers hold in the observed graph, hard ones only in the complete one. All come from exact
 * search, whose every answer the verifier has scored again; a list that the search could not finish
 * within its work is of no use, so work is counted and not time: a seed gives one benchmark. */

/* Both worlds, in the ids of the observed graph. */
typedef struct acq_worlds_pair {
    const acq_graph *observed_graph;
    const acq_predictor *observed, *complete; /* 1 for a fact, else 0 */
    uint64_t work;                            /* of a search */
} acq_worlds_pair;

/* Tuples of n_free values each. */
typedef struct acq_tuples {
    acq_ent *values;
    size_t n, capacity; /* capacity in values */
    uint32_t n_free;
    bool is_whole; /* all there are */
} acq_tuples;

void acq_tuples_deinit(acq_tuples *tuples);
acq_status acq_tuples_add(acq_tuples *tuples, const acq_ent *tuple);
bool acq_tuples_has(const acq_tuples *tuples, const acq_ent *tuple);

/* The answers in one world, `limit` of them at most (0: all). */
acq_status acq_labels_list(const acq_worlds_pair *worlds, const acq_predictor *world,
                           const acq_query *query, uint64_t limit, acq_tuples *out,
                           acq_error *error);

/* Does the tuple answer the query in this world? Undecided within the work: *is_sure is false. */
acq_status acq_labels_check(const acq_worlds_pair *worlds, const acq_predictor *world,
                            const acq_query *query, const acq_ent *tuple, bool *holds,
                            bool *is_sure, acq_error *error);

/* A candidate set for classification. */
typedef struct acq_candidate_set {
    acq_tuples correct, wrong;
    size_t n_easy;   /* of the correct ones */
    size_t n_unseen; /* of the correct ones: not seen at the place of the free variable */
} acq_candidate_set;

void acq_candidate_set_deinit(acq_candidate_set *set);

/* |C| = |W| = the number of answers clipped to [5, 10], as far as there are so many; the published
 * large sets stop at `most` = 5. A hard answer
 * is twice as likely to be drawn as an easy one. Wrong candidates are uniform among the entities
 * seen at the free variable's end of every positive atom that are no answers. matched: correct ones
 * are seen there too, so that nothing but the answer itself tells the two apart. A set that
 * cannot be made is empty. */
acq_status acq_candidate_set_draw(const acq_worlds_pair *worlds, const acq_query *query,
                                  const acq_tuples *easy, const acq_tuples *all, size_t most,
                                  bool matched, acq_random *random, acq_candidate_set *out,
                                  acq_error *error);

/* An entity for the free variable of a query with one, such that the query does not hold: seen at
 * its end of every positive atom, or, near, one that satisfies all atoms but one. ACQ_NO_ID: none
 * was found. */
acq_status acq_labels_draw_wrong(const acq_worlds_pair *worlds, const acq_draft *draft, bool near,
                                 acq_random *random, acq_ent *out, acq_error *error);

/* ---- shapes ----
 *
 * The fourteen small types of the literature, drawn from the complete graph.
 *
 *   1p 2p 3p 2i 3i ip pi           conjunctions
 *   2in 3in inp pin pni            with a negated atom
 *   2u up                          with a union
 *
 * Eleven are drawn as training draws them (query/sample/sampler.h); pni, 2u and up here, from
 * the same facts. */

enum { ACQ_N_SMALL_TYPES = 14 };

const char *acq_small_type_get_name(unsigned type);
unsigned acq_small_type_find(const char *name); /* ACQ_N_SMALL_TYPES: unknown */

/* A query of this type; variable 0 is the free one. *is_drawn false: the place does not fit. */
acq_status acq_small_draw(const acq_sampler *complete, unsigned type, acq_random *random,
                          bool *is_drawn, acq_draft *out, acq_error *error);

/* The query as BetaE nests it: [anchor, [relation, ...]], lists of these for intersections, -1 for
 * a union and -2 for a negation. */
void acq_small_print_nested(unsigned type, const acq_draft *draft, acq_text *out);

/* pni only, where BetaE means something else than the formula: the answers of r3(s2, f) that no
 * e1 with r1(s1, e1) leads to by r2. The drafts of these two sets. */
acq_status acq_small_split_pni(const acq_draft *draft, acq_draft *kept, acq_draft *taken_out,
                               acq_error *error);
bool acq_small_is_pni(unsigned type);

/* ---- item ----
 *
 * Inside generate: one try, and what becomes of it. */

typedef enum acq_generate_kind {
    ACQ_GENERATE_QAC,
    ACQ_GENERATE_QAR,
    ACQ_GENERATE_SMALL,
    ACQ_GENERATE_CQA,
} acq_generate_kind;

typedef enum acq_item_fate {
    ACQ_ITEM_GOOD,
    ACQ_ITEM_UNFIT,     /* no query at the place that was drawn */
    ACQ_ITEM_EASY_ONLY, /* no hard answer */
    ACQ_ITEM_COSTLY,    /* not all answers could be listed */
    ACQ_ITEM_NO_SET,    /* no candidates to choose from */
} acq_item_fate;

/* A query with its labels, ready to be written. */
typedef struct acq_item {
    acq_item_fate fate;
    acq_text formula; /* the key of the benchmark's file; cqa: the type */
    acq_text body;    /* the instance, or with names a line for the query and one for each label */
    acq_generate_report counts; /* of this query alone */
} acq_item;

void acq_item_deinit(acq_item *item);

typedef struct acq_item_source {
    const acq_generate_params *params; /* settled */
    acq_generate_kind kind;
    acq_base_params base;
    acq_worlds_pair worlds;
    const acq_sampler *sampler; /* of the complete graph */
} acq_item_source;

/* Try number `number`: type is that of small and cqa, is_negative that of qar. */
typedef struct acq_item_wish {
    uint64_t number;
    unsigned type;
    bool is_negative;
} acq_item_wish;

acq_status acq_item_make(const acq_item_source *source, acq_base_room *room, acq_item_wish wish,
                         acq_item *out, acq_error *error);

#endif
