/* engine.h - one query in, a verified three-valued result out: prepare, search, verify, judge. The
 * public library, evaluation and fits all go through here. */
#ifndef ACQ_ENGINE_ENGINE_H
#define ACQ_ENGINE_ENGINE_H

#include "calibrate/answer.h"
#include "search/search.h"
#include "search/fuzzy/fuzzy.h"

/* name, search function (NULL: by fuzzy sets, fuzzy.h), does it prove "none"? */
#define ACQ_ENGINES(X)                                                                             \
    X(exact, acq_search_exact, true)                                                               \
    X(random, acq_search_random, false)                                                            \
    X(climb, acq_search_climb, false)                                                              \
    X(policy, acq_search_policy, false)                                                            \
    X(sql, acq_search_sql, true)                                                                   \
    X(qto, NULL, false)                                                                            \
    X(fit, NULL, false)                                                                            \
    X(gnnqe, NULL, false)                                                                          \
    X(ultraquery, NULL, false)

typedef enum acq_engine_id {
#define ACQ_ENGINE_ID(name, function, complete) ACQ_ENGINE_##name,
    ACQ_ENGINES(ACQ_ENGINE_ID)
#undef ACQ_ENGINE_ID
        ACQ_N_ENGINES
} acq_engine_id;

typedef struct acq_engine_params {
    acq_engine_id engine;
    acq_search_params search;
    bool paper; /* the paper's rule: an incomplete engine that found nothing says none */
    bool has_threshold, has_negation_threshold; /* set by hand: no calibrator moves them */
    double prior;    /* with a calibrator: decide for candidates of which this share is true;
                      * negative: decide by p */
    double min_p;    /* with a calibrator: least probability of an answer */
    bool only_prior; /* p itself is not wanted: it costs more than the one by the prior */
    acq_answer_field *field; /* for `prior`: shared by checks of one query, found when it is needed;
                              * begins as {0}. NULL: of each question its own */
    double row_seconds; /* most time for rows that a predictor makes for this question; 0: as much
                         * as the time limit allows */
    /* Told how many rows are made and how many of all those wanted; NULL: nobody. */
    void (*tell_rows)(void *context, size_t made, size_t wanted);
    void *context;
} acq_engine_params;

#define ACQ_ENGINE_DEFAULT                                                                         \
    ((acq_engine_params){.engine = ACQ_ENGINE_exact,                                               \
                         .search = ACQ_SEARCH_DEFAULT,                                             \
                         .prior = -1.0,                                                            \
                         .min_p = 0.5,                                                             \
                         .row_seconds = 2.5})

typedef struct acq_engine_answer {
    double score;   /* by the verifier */
    double p;       /* that it is true (calibrate/worlds.h); NaN: no calibrator */
    double p_prior; /* the same among candidates of which the share `prior` is true; NaN: none */
    double p_if_answered; /* that it is true if the question has an answer; NaN: as p */
    acq_ent *values;      /* of all variables of the query */
} acq_engine_answer;

/* An answer that facts give. */
#define ACQ_ENGINE_CERTAIN(has_p)                                                                  \
    ((acq_engine_answer){.score = 1,                                                               \
                         .p = (has_p) ? 1.0 : NAN,                                                 \
                         .p_prior = (has_p) ? 1.0 : NAN,                                           \
                         .p_if_answered = (has_p) ? 1.0 : NAN})

typedef struct acq_engine_result {
    acq_arena arena; /* owns answers */
    acq_outcome outcome;
    bool complete;              /* the answers are proved to be the K best, or all */
    acq_spent spent;            /* what ran out when not complete */
    acq_engine_answer *answers; /* best first; distinct on the free variables */
    size_t n_answers;
    acq_engine_answer *likeliest; /* candidate with the largest p, an answer or not; NULL: no p. Of
                                   * a check by fuzzy sets: the tuple with its degree, without p */
    size_t n_candidates;          /* that have a p; 0: no calibrator */
    double p_whole;               /* of a check: p of its tuple, supported or not; of an ask: that
                                   * there is any answer; NaN: not asked for */
    bool has_more;                /* candidates of lesser scores were not looked at */
    acq_search_effort effort;     /* of the searches */
    const char *note;             /* a sentence that the user should see; NULL: none */
    acq_outcome facts;       /* what the observed facts alone say; undecided: they were not asked */
    size_t n_rows;           /* of predicted links that were made for the question */
    size_t n_rows_left;      /* that could matter and were not made */
    acq_predictor *prepared; /* with a predictor that makes rows: those of this question, which its
                              * answers are scored by; owned. NULL: the one that was asked */
} acq_engine_result;

void acq_engine_result_deinit(acq_engine_result *result);

/* Does an answer get a probability, which then decides? Where the predictor has a calibrator,
 * unless links are binarized or the paper's rule is asked for. */
bool acq_engine_gives_p(const acq_engine_params *params, const acq_predictor *predictor);

/* The parameters in force. Where answers get a probability, and unless set by hand: the threshold
 * is the predictor's floor, so that the best assignment is found and p decides; with a prior a
 * negated atom holds unless its link is observed; what else is said for the link is evidence. */
acq_engine_params acq_engine_settle(const acq_engine_params *params,
                                    const acq_predictor *predictor);

/* The probability that decides: p, or the one by the prior. */
double acq_engine_get_decisive(const acq_engine_params *params, const acq_engine_answer *answer);

/* ACQ_N_ENGINES when unknown. */
acq_engine_id acq_engine_find(const char *name);
const char *acq_engine_get_name(acq_engine_id engine);
bool acq_engine_is_complete(acq_engine_id engine); /* does it prove "none"? */
bool acq_engine_is_fuzzy(acq_engine_id engine);    /* does it score by fuzzy sets? */

/* Retrieval. A query that was bound to another graph than the predictor's is ACQ_ERR_USAGE. In
 * every answer all variables have values, and its score was recomputed by the verifier; a mismatch
 * is ACQ_ERR_INTERNAL. deinit *result, also after an error.
 *
 * With probabilities: the K best-scored candidates and, where there are more, some that score less
 * (200 or 4 K in all by p; by a prior those of half the last one's score, 20 or 2 K) are ordered by
 * p, and the K first with p >= min_p are the answers. "None" then says that these have a lesser p;
 * that nothing scores at all is proved when result->likeliest is NULL.
 *
 * params->search.stop ends it early with what has been found, undecided unless that is an answer;
 * spent is then ACQ_SPENT_INTERRUPT. */
acq_status acq_engine_ask(const acq_query *query, const acq_predictor *predictor,
                          const acq_engine_params *params, acq_engine_result *result,
                          acq_error *error);

/* For queries with negated atoms: of the first `most` tuples (0: all) whose positive atoms are
 * observed facts, those that are answers, with the numbers that acq_engine_ask gives them. With a
 * limit only such as nothing can be better than; result->complete when there are that many.
 * result->facts: what the facts alone say; has_more: there may be more such tuples. Neither for
 * predictors that make rows, whose links depend on the question, nor with a prior. */
acq_status acq_engine_ask_facts(const acq_query *query, const acq_predictor *predictor,
                                const acq_engine_params *params, uint64_t most,
                                acq_engine_result *result, acq_error *error);

/* Classification: is values[0..n_free) an answer? The one answer, if any, holds all variables. With
 * probabilities: yes when the p of its best assignment is at least min_p. */
acq_status acq_engine_check(const acq_query *query, const acq_predictor *predictor,
                            const acq_ent *values, const acq_engine_params *params,
                            acq_engine_result *result, acq_error *error);

/* The same for n tuples of one query: results[i] is that of a single check of tuples[i] with the
 * stream params->search.stream + i. The policy search takes them in one batch. All n results are
 * initialised, also after an error. */
acq_status acq_engine_check_many(const acq_query *query, const acq_predictor *predictor,
                                 const acq_ent *const *tuples, size_t n,
                                 const acq_engine_params *params, acq_engine_result *results,
                                 acq_error *error);

/* The field of a question (calibrate/answer.h): ACQ_FIELD_MOST values in a fixed order, each of
 * which is searched for as by a check. Empty where the query has no free variable that a required
 * atom is seen with, or the predictor makes rows, of which a question has some only. Cost: that of
 * so many checks. */
acq_status acq_engine_find_field(const acq_query *query, const acq_predictor *predictor,
                                 const acq_engine_params *params, acq_answer_field *out,
                                 acq_error *error);

/* Why there is no answer. Of a query proved to have none (or none with the free variables at
 * values, if not NULL): top-level conjuncts that already have none, and of which none can be left
 * out; in `arena`, they point into the query. Found by leaving out one after the other, so it costs
 * one exact search per conjunct; a search that runs out of `seconds` counts as "needed", and the
 * set may then be larger than necessary. */
acq_status acq_engine_find_core(const acq_query *query, const acq_predictor *predictor,
                                const acq_ent *values, const acq_engine_params *params,
                                double seconds, acq_arena *arena, const acq_node ***out,
                                size_t *n_out, acq_error *error);

/* ---- fuzzy sets ----
 *
 * Inside engine/ and for rankings: the engines qto, fit, gnnqe and ultraquery. */

/* The threshold in force: the one that was set, or the one of the AnyCQ paper for this engine. */
double acq_engine_get_fuzzy_threshold(const acq_engine_params *params);

/* How the engine projects and joins over this predictor. *network: NULL, or what `out` refers to,
 * freed by the caller; for one thread. */
acq_status acq_engine_fuzzy_open(acq_engine_id engine, const acq_predictor *predictor,
                                 const acq_search_params *search, acq_fuzzy_params *out,
                                 acq_fuzzy_network **network, acq_error *error);

/* As acq_engine_ask and acq_engine_check_many, whose results these fill. */
acq_status acq_engine_fuzzy_ask(const acq_query *query, const acq_predictor *predictor,
                                const acq_engine_params *params, acq_engine_result *result,
                                acq_error *error);
acq_status acq_engine_fuzzy_check(const acq_query *query, const acq_predictor *predictor,
                                  const acq_ent *const *tuples, size_t n,
                                  const acq_engine_params *params, acq_engine_result *results,
                                  acq_error *error);

#endif
