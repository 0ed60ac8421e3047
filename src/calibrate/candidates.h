/* candidates.h - from rows of raw scores to features of candidate links, and from these, by a
 * calibrator, to scored links.
 *
 * Candidates of a row (head, relation) are its best unobserved tails by each model and by the
 * rules. A candidate link (h, r, t) may be met from both sides, in row (r, h) and in row
 * (inverse(r), t); its features are those of both rows, missing ones NaN. From one side only:
 * the other half is NaN. */
#ifndef ACQ_CALIBRATE_CANDIDATES_H
#define ACQ_CALIBRATE_CANDIDATES_H

#include "calibrate/boost.h"
#include "models/rules/rules.h"
#include "predict/rows.h"

/* Of a graph's facts, held out to learn from. p assumes that as many are missing, at random: with
 * this that the graph has 92 of 100 facts. */
#define ACQ_HELD_SHARE .087

enum {
    ACQ_CANDIDATES_MODELS = 5, /* most row models side by side */
    ACQ_CANDIDATES_MOST_FEATURES = 128
};

typedef struct acq_candidates_params {
    const acq_row_model *models[ACQ_CANDIDATES_MODELS];
    size_t n_models;
    const acq_rules *rules; /* NULL: none */
    acq_row_choice rows;
    acq_tail_choice tails;
    uint32_t top; /* candidates of a row by each model; the row's observed tails are added to it */
    /* Whose counts describe the relations; NULL: the graph's own. Trees know a relation by its
     * counts: so when facts were held out of a graph with the same ids, or added, these must stay.
     */
    const acq_graph *counted;
    /* For graphs that are small enough: with rows of both sides, costly models score both too, and
     * there are rows of heads that the relation is not seen with but usual for. */
    bool is_thorough;
    /* For graphs that are too large for whole rows: a model that has no score_few scores only what
     * the others propose, what is observed, and the tails of a relation that has few. */
    bool is_pruned;
    /* Of the rows that a relation has, about this share, drawn by relation and head: enough to
     * learn from. 0: all of them. For rows of one side. */
    double row_share;
    /* The share of the facts that are held out where trees learn; 0: they learnt otherwise. With
     * is_rest these were held out of this graph; else `moved` (candidates_parts.h) tells what
     * becomes of the odds without. */
    double held_share;
    bool is_rest;
    const acq_graph *rest; /* what is left of this graph then, in its ids; NULL: it is not known */
    unsigned n_threads;
    acq_stop stop; /* of acq_candidates_collect, asked from any thread */
    /* Processes that share the rows; NULL: none. The first collects, from one thread, and the
     * others serve, with equal makers. */
    const acq_ranks *ranks;
} acq_candidates_params;

typedef struct acq_candidates_maker acq_candidates_maker;

acq_status acq_candidates_maker_new(const acq_graph *graph, const acq_candidates_params *params,
                                    acq_candidates_maker **out, acq_error *error);
void acq_candidates_maker_free(acq_candidates_maker *maker);

uint32_t acq_candidates_get_n_features(const acq_candidates_maker *maker);
const char *acq_candidates_get_feature_name(const acq_candidates_maker *maker, uint32_t i);
/* 1: the feature can only raise the odds, as being seen with the relation: "never seen there" is no
 * argument for a link. */
const int8_t *acq_candidates_get_monotone(const acq_candidates_maker *maker);

/* Where the features of a maker with this model alone are among those of this one: map has room for
 * all of them. Their number; 0: the maker does not have the model. */
uint32_t acq_candidates_map_features(const acq_candidates_maker *maker, const char *kind,
                                     uint32_t *map);

uint32_t acq_candidates_get_top(const acq_candidates_maker *maker);

/* Candidates of one relation, sorted by (head, tail), none of them observed. */
typedef struct acq_candidates {
    acq_rel relation; /* heads, tails and features are oriented along it */
    size_t n;
    acq_ent *heads, *tails;
    uint32_t n_features;
    float *features; /* n rows */
} acq_candidates;

/* Log-odds of candidates [begin, end) into odds[begin...]: by the judge, whose trees may have been
 * fitted when there were fewer features; plus what holding out moved. */
void acq_candidates_score(const acq_candidates *found, size_t begin, size_t end,
                          acq_boost_judge judge, float *odds);

/* All candidates of an even relation. Its rows are shared out among the threads. With rows of the
 * smaller side out->relation is that side's, so it may be the inverse. */
acq_status acq_candidates_collect(const acq_candidates_maker *maker, acq_rel relation,
                                  acq_candidates *out, acq_error *error);
void acq_candidates_deinit(acq_candidates *candidates);

/* The heads whose rows acq_candidates_collect asks for along this direction, sorted; out has room
 * for all entities. Their number. */
size_t acq_candidates_list_heads(const acq_candidates_maker *maker, acq_rel relation, acq_ent *out);

/* One row, from one side: for rows that are made when a query asks for them. Tails sorted. */
acq_status acq_candidates_collect_row(const acq_candidates_maker *maker, acq_rel relation,
                                      acq_ent head, acq_candidates *out, acq_error *error);
/* The same for several heads, sorted, shared out among the threads. A session keeps what the
 * threads work with between calls, of which one runs at a time. */
typedef struct acq_candidates_session acq_candidates_session;
acq_status acq_candidates_session_new(const acq_candidates_maker *maker,
                                      acq_candidates_session **out, acq_error *error);
void acq_candidates_session_free(acq_candidates_session *session); /* NULL is legal */
acq_status acq_candidates_session_collect(acq_candidates_session *session, const acq_row_want *want,
                                          acq_candidates *out, acq_error *error);

/* Makes this rank's part of the rows that the first collects, until it dismisses the others. */
acq_status acq_candidates_serve(const acq_candidates_maker *maker, acq_error *error);
acq_status acq_candidates_dismiss(const acq_candidates_maker *maker, acq_error *error);

acq_stop acq_candidates_get_stop(const acq_candidates_maker *maker);
uint32_t acq_candidates_get_n_entities(const acq_candidates_maker *maker);
bool acq_candidates_is_one_sided(const acq_candidates_maker *maker);

/* With rows of one side: the direction of the relation that has them. */
acq_rel acq_candidates_find_side(const acq_candidates_maker *maker, acq_rel relation);

/* Does the head of such a direction have a row? Others have no candidates. */
bool acq_candidates_has_row(const acq_candidates_maker *maker, acq_rel relation, acq_ent head);

/* The candidates of one tail, with rows of one side: of those that propose the tail the rows of the
 * `most` heads that promise most. */
acq_status acq_candidates_session_collect_tail(acq_candidates_session *session, acq_rel relation,
                                               acq_ent tail, size_t most, acq_stop stop,
                                               acq_candidates *out, acq_error *error);

/* See acq_candidates_params. */
void acq_candidates_set_row_share(acq_candidates_maker *maker, double share);

/* Asked by the rows of whole relations from now on. */
void acq_candidates_set_stop(acq_candidates_maker *maker, acq_stop stop);

/* Rows that collect would score, for progress and estimates. */
uint64_t acq_candidates_count_rows(const acq_candidates_maker *maker, acq_rel relation);

#endif
