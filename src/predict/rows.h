/* rows.h - a row model as predictor: its links are made when a query first needs them.
 *
 * open_links of a relation scores the rows of the relation once and keeps them (a relation that
 * would not fit the memory budget is an error with the remedy: `anycq complete`). For questions
 * asked one at a time there is a cheaper way, rows in the order the query needs them: copy_rows,
 * behind which the last used rows are kept.
 *
 *   row model ─▶ scorer: which links, what they score ─▶ predictor: facts join with score 1, both
 *                published scales here,                   directions of the same numbers, cache
 *                calibrated in calibrate/rows.c
 *
 * Rows of relation r are made for the heads that r is seen with, both ways; a row of another head,
 * which only copy_rows is asked for, proposes tails that r is seen with. */
#ifndef ACQ_PREDICT_ROWS_H
#define ACQ_PREDICT_ROWS_H

#include "graph/build.h"
#include "models/model.h"
#include "predict/predictor.h"

/* ---- links of one relation, as they are found ---- */

typedef struct acq_link_list {
    acq_link *links;
    size_t n, capacity;
} acq_link_list;

void acq_link_list_deinit(acq_link_list *list);

acq_status acq_link_list_add(acq_link_list *list, acq_ent head, acq_ent tail, float score);

/* All links of a row or of a relation; those without scores score 1. */
acq_status acq_link_list_add_row(acq_link_list *list, acq_ent head, acq_row row);
acq_status acq_link_list_add_all(acq_link_list *list, const acq_links *links);

/* Heads and tails of links[from..n) change places. */
void acq_link_list_turn(acq_link_list *list, size_t from);

/* The list as links and, turned around, as the links of the inverse; of a pair that is there more
 * than once the largest score counts. Sorts the list and leaves it turned. */
acq_status acq_link_list_make_both(acq_link_list *list, uint32_t n_entities, acq_links **on,
                                   acq_links **back, acq_error *error);

/* ---- how links are scored ---- */

/* Which rows of a relation are asked for. */
typedef enum acq_row_choice {
    ACQ_ROWS_BOTH,    /* every entity seen as head, and every one seen as tail: one side seen;
                         costly models all the same from the side with fewer entities */
    ACQ_ROWS_SMALLER, /* the side with fewer entities */
    ACQ_ROWS_LARGER,  /* the side with more of them, which have fewer tails each */
} acq_row_choice;

/* Which tails a row may propose. */
typedef enum acq_tail_choice {
    ACQ_TAILS_ALL,  /* any entity: at least one side of the link is seen with the relation */
    ACQ_TAILS_SEEN, /* seen with the relation: both sides are (the closed-world restriction) */
} acq_tail_choice;

/* A predictor calls its scorer under its lock. */
typedef struct acq_row_scorer acq_row_scorer;

typedef struct acq_row_scorer_ops {
    /* The unobserved links of an even relation that reach the floor, in any order; one that was
     * found from both sides may be there twice. */
    acq_status (*find_links)(acq_row_scorer *self, acq_rel relation, acq_link_list *out,
                             acq_error *error);
    /* Those of some rows of any relation, by head, then by tail. NULL: one row alone cannot be
     * had, and the predictor offers no copy_rows. */
    acq_status (*find_rows)(acq_row_scorer *self, const acq_row_want *want, acq_link_list *out,
                            acq_error *error);
    void (*free)(acq_row_scorer *self);
    /* See acq_predictor_ops. NULL: nothing. */
    acq_status (*load)(acq_row_scorer *self, acq_stop stop, acq_error *error);
    /* Are rows of this relation best made all together? They are then taken from its links. NULL:
     * never. */
    bool (*is_whole)(acq_row_scorer *self, acq_rel relation);
    /* The model whose raw scores the links come from. NULL: there is not one. */
    acq_status (*open_model)(acq_row_scorer *self, const acq_row_model **out, acq_error *error);
} acq_row_scorer_ops;

struct acq_row_scorer {
    const acq_row_scorer_ops *ops;
    acq_stop stop; /* asked while all links of a relation are found */
};

/* A score as that of a link that is not observed. */
static inline float acq_row_clip(float score)
{
    return score < ACQ_SCORE_UNOBSERVED_MOST ? score : ACQ_SCORE_UNOBSERVED_MOST;
}

/* ---- the predictor ---- */

typedef struct acq_row_limits {
    double floor;        /* links that score less are left out */
    size_t memory_bytes; /* of links kept; 0: no limit */
    size_t cache_bytes;  /* of rows kept for copy_rows; 0: 64 MB */
    const char *note;    /* for people, static; NULL: none */
} acq_row_limits;

/* The scorer is taken over, also on failure. */
acq_status acq_predictor_new_rows(const acq_graph *graph, const char *name, acq_row_scorer *scorer,
                                  const acq_row_limits *limits, acq_predictor **out,
                                  acq_error *error);

/* The one model whose raw scores a predictor's links come from, borrowed from it; NULL: it has no
 * such model. */
acq_status acq_predictor_open_model(const acq_predictor *predictor, const acq_row_model **out,
                                    acq_error *error);

/* ---- scales as published ---- */

/* How raw scores become link scores; p is the softmax over all tails at temperature 20 (the factor
 * tau of the paper's appendix on link predictors). Without an observed tail the factor of p is 1.
 */
typedef enum acq_row_scale {
    ACQ_SCALE_SIGMOID,  /* 1 / (1 + exp(-x)): NBFNet, ULTRA */
    ACQ_SCALE_QTO,      /* ComplEx: n p(t), n observed tails of (head, relation) */
    ACQ_SCALE_FIT,      /* ComplEx: n p(t) / sum of p over the observed tails */
    ACQ_SCALE_LOGISTIC, /* ULTRA on large graphs, a model with score_few: probabilities of the first
                           20 tails, by a logistic function that other graphs taught. A link is
                           that of its row on the side with more entities; asked from the other
                           end, the rows of the heads that a row there proposes are made */
} acq_row_scale;

/* What a link scores when its two directions differ. */
typedef enum acq_direction {
    ACQ_DIRECTION_BOTH,    /* the larger of the two */
    ACQ_DIRECTION_FORWARD, /* that of the even relation: the paper's one-sided use; no single rows
                            */
} acq_direction;

typedef struct acq_published_params {
    acq_row_limits limits;
    const acq_row_model *model; /* borrowed; NULL: load gives it */
    acq_row_scale scale;
    acq_direction direction;
    acq_row_choice rows;
    acq_tail_choice tails;
    uint32_t top; /* best unobserved tails of a row, and as many as it has observed; 0: all */
    unsigned n_threads;
    /* A model may be costly to make: load is called once, when the first row is needed. */
    acq_status (*load)(void *owned, const acq_row_model **out, acq_error *error);
    void *owned; /* freed with the predictor by free_owned, also when making it fails */
    void (*free_owned)(void *owned);
} acq_published_params;

acq_status acq_predictor_new_published(const acq_graph *graph, const char *name,
                                       const acq_published_params *params, acq_predictor **out,
                                       acq_error *error);

/* ---- rows kept ---- */

/* The last used rows within a budget of bytes. Not locked: its owner is. */
typedef struct acq_row_cache acq_row_cache;

typedef struct acq_row_cache_counts {
    uint64_t hits, misses, evicted;
    size_t n_rows, n_bytes;
} acq_row_cache_counts;

acq_row_cache *acq_row_cache_new(size_t most_bytes); /* NULL: out of memory */
void acq_row_cache_free(acq_row_cache *cache);       /* NULL is legal */

/* Borrowed until the next put; NULL: not there. Counts a hit or a miss. */
const acq_scored_row *acq_row_cache_get(acq_row_cache *cache, acq_rel relation, acq_ent head);

/* Takes a copy; a row that does not fit at all is not kept. Rows are put once. */
acq_status acq_row_cache_put(acq_row_cache *cache, acq_rel relation, acq_ent head,
                             const acq_scored_row *row);

acq_row_cache_counts acq_row_cache_get_counts(const acq_row_cache *cache);

/* Of a predictor made by acq_predictor_new_rows. */
acq_row_cache_counts acq_row_predictor_get_counts(const acq_predictor *predictor);

/* ---- row_view ----
 *
 * observed facts and some rows of a predictor that makes rows: what one question
 * needs of it, as a predictor.
 *
 * A link scores 1 if it is observed, else the larger of what the rows at its two ends say that are
 * in the view. Rows are added while the question is prepared; links that were opened before stay
 * valid only until a row of their relation is added. Opening is locked, adding is not. */

typedef struct acq_row_view acq_row_view;

/* source must make rows and outlive the view. */
acq_status acq_row_view_new(const acq_predictor *source, acq_row_view **out, acq_error *error);
void acq_row_view_free(acq_row_view *view); /* NULL is legal */

/* Borrowed; freeing it frees the view. */
acq_predictor *acq_row_view_get_predictor(acq_row_view *view);

bool acq_row_view_has(const acq_row_view *view, acq_rel relation, acq_ent head);

/* Adds the rows that are not there yet; none of them when it is stopped. */
acq_status acq_row_view_add(acq_row_view *view, const acq_row_want *want, acq_error *error);

/* A row that was added; empty if it was not. */
acq_row acq_row_view_get(const acq_row_view *view, acq_rel relation, acq_ent head);

size_t acq_row_view_count(const acq_row_view *view); /* rows added */

#endif
