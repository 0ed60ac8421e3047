/* cover.c - see cover.h. */
#include "calibrate/cover.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

static const double MOST_TIE = 1e-5; /* what equal probabilities are told apart by */

/* ---- scores ---- */

struct acq_cover_scorer {
    const acq_predictor *predictor;
    uint32_t n_entities;
    uint32_t *places;       /* by entity, those with many facts first */
    const acq_links *links; /* of the chosen relation, by the predictor */
    const acq_links *tails; /* observed, from the tails */
    uint32_t *seen;         /* by row of these: the place, frequent ones first */
    size_t seen_capacity;
};

typedef struct counted {
    uint32_t n, id;
} counted;

static int compare_counts(const void *a, const void *b)
{
    const counted *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

/* places[id]: its place when the largest counts come first. */
static void rank(counted *all, uint32_t n, uint32_t *places)
{
    qsort(all, n, sizeof *all, compare_counts);
    for (uint32_t i = 0; i < n; i++)
        places[all[i].id] = i;
}

static acq_status rank_entities(acq_cover_scorer *scorer, acq_error *error)
{
    const acq_graph *graph = scorer->predictor->graph;
    uint32_t n = scorer->n_entities;
    counted *all = acq_zalloc(n, sizeof *all);
    acq_status status = all == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (uint32_t e = 0; e < n && status == ACQ_OK; e++)
        all[e].id = e;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph) && status == ACQ_OK; r++) {
        const acq_links *links = NULL;
        status = acq_graph_open_links(graph, r, &links, error);
        for (uint32_t i = 0; status == ACQ_OK && i < links->n_heads; i++)
            all[links->heads[i]].n += (uint32_t)acq_links_get_row_at(links, i).n;
    }
    if (status == ACQ_OK)
        rank(all, n, scorer->places);
    acq_free(all);
    return status;
}

acq_status acq_cover_scorer_new(const acq_predictor *predictor, acq_cover_scorer **out,
                                acq_error *error)
{
    acq_cover_scorer *scorer = acq_zalloc(1, sizeof *scorer);
    if (scorer == NULL)
        return acq_fail_memory(error);
    scorer->predictor = predictor;
    scorer->n_entities = acq_graph_get_n_entities(predictor->graph);
    scorer->places = acq_alloc(scorer->n_entities, sizeof *scorer->places);
    acq_status status =
        scorer->places == NULL ? acq_fail_memory(error) : rank_entities(scorer, error);
    if (status == ACQ_OK)
        *out = scorer;
    else
        acq_cover_scorer_free(scorer);
    return status;
}

void acq_cover_scorer_free(acq_cover_scorer *scorer)
{
    if (scorer == NULL)
        return;
    acq_free(scorer->places);
    acq_free(scorer->seen);
    acq_free(scorer);
}

acq_status acq_cover_scorer_choose(acq_cover_scorer *scorer, acq_rel relation, acq_error *error)
{
    const acq_graph *graph = scorer->predictor->graph;
    acq_status status =
        acq_predictor_open_links(scorer->predictor, relation, &scorer->links, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(graph, acq_inverse(relation), &scorer->tails, error);
    if (status != ACQ_OK)
        return status;
    uint32_t n = scorer->tails->n_heads;
    counted *all = acq_alloc(n, sizeof *all);
    if (all == NULL || ACQ_RESERVE(scorer->seen, scorer->seen_capacity, n) != ACQ_OK) {
        acq_free(all);
        return acq_fail_memory(error);
    }
    for (uint32_t i = 0; i < n; i++)
        all[i] = (counted){(uint32_t)acq_links_get_row_at(scorer->tails, i).n, i};
    rank(all, n, scorer->seen);
    acq_free(all);
    return ACQ_OK;
}

/* A number from 0 to 1 that belongs to the two: links with the same p would else all be in or out.
 */
static double draw(acq_ent head, acq_ent tail)
{
    acq_random random = acq_random_start((uint64_t)head + tail, (uint64_t)head ^ tail);
    return acq_random_unit(&random);
}

double acq_cover_scorer_score(const acq_cover_scorer *scorer, acq_ent head, acq_ent tail)
{
    float p = head < scorer->links->n_entities ? acq_links_get_score(scorer->links, head, tail) : 0;
    if (p >= 1)
        return 0;
    if (p > 0)
        return 1 - (double)p + MOST_TIE * draw(head, tail);
    uint32_t i = acq_links_find(scorer->tails, tail);
    return i != ACQ_NO_ID ? 1 + (double)scorer->seen[i] / scorer->tails->n_heads
                          : 2 + (double)scorer->places[tail] / scorer->n_entities;
}

/* ---- learning ---- */

void acq_cover_deinit(acq_cover *cover)
{
    for (uint32_t i = 0; cover->lists != NULL && i < cover->n_relations + 2; i++)
        acq_free(cover->lists[i].scores);
    acq_free(cover->lists);
    *cover = (acq_cover){0};
}

static int compare_scores(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The order statistic that place j of `n_kept` out of n stands for; the last is the largest. */
static uint32_t get_place(uint32_t j, uint32_t n, uint32_t n_kept)
{
    return (uint32_t)(((uint64_t)(j + 1) * n + n_kept - 1) / n_kept) - 1;
}

static void sort_and_thin(acq_cover_list *list)
{
    if (list->n == 0)
        return;
    qsort(list->scores, list->n, sizeof *list->scores, compare_scores);
    list->n_kept = list->n < ACQ_COVER_MOST_KEPT ? list->n : ACQ_COVER_MOST_KEPT;
    for (uint32_t j = 0; j < list->n_kept; j++)
        list->scores[j] = list->scores[get_place(j, list->n, list->n_kept)];
}

static acq_status add_score(acq_cover_list *list, double score)
{
    size_t capacity = list->n_kept; /* meanwhile */
    if (ACQ_RESERVE(list->scores, capacity, (size_t)list->n + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    list->n_kept = (uint32_t)capacity;
    list->scores[list->n++] = (float)score;
    return ACQ_OK;
}

static acq_status learn_relation(acq_cover_scorer *scorer, const acq_graph *whole, acq_rel relation,
                                 acq_cover *cover, acq_error *error)
{
    const acq_links *links = NULL;
    acq_status status = acq_graph_open_links(whole, relation, &links, error);
    if (status == ACQ_OK)
        status = acq_cover_scorer_choose(scorer, relation, error);
    for (uint32_t i = 0; status == ACQ_OK && i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        for (size_t j = 0; j < row.n && status == ACQ_OK; j++) {
            acq_ent head = links->heads[i], tail = row.tails[j];
            if (acq_graph_has_fact(scorer->predictor->graph, head, relation, tail))
                continue;
            double score = acq_cover_scorer_score(scorer, head, tail);
            if (add_score(&cover->lists[relation], score) != ACQ_OK ||
                add_score(&cover->lists[cover->n_relations + relation % 2], score) != ACQ_OK)
                status = acq_fail_memory(error);
        }
    }
    return status;
}

acq_status acq_cover_learn(const acq_predictor *predictor, const acq_graph *whole, acq_cover *out,
                           acq_error *error)
{
    uint32_t n = acq_graph_get_n_relations(predictor->graph);
    acq_cover cover = {.n_relations = n, .lists = acq_zalloc((size_t)n + 2, sizeof *cover.lists)};
    acq_cover_scorer *scorer = NULL;
    acq_status status = cover.lists == NULL ? acq_fail_memory(error)
                                            : acq_cover_scorer_new(predictor, &scorer, error);
    for (acq_rel r = 0; r < n && status == ACQ_OK; r++)
        status = learn_relation(scorer, whole, r, &cover, error);
    acq_cover_scorer_free(scorer);
    for (uint32_t i = 0; status == ACQ_OK && i < n + 2; i++)
        sort_and_thin(&cover.lists[i]);
    if (status == ACQ_OK)
        *out = cover;
    else
        acq_cover_deinit(&cover);
    return status;
}

double acq_cover_get_bound(const acq_cover *cover, acq_rel relation, double level,
                           const acq_cover_list **list)
{
    const acq_cover_list *own = &cover->lists[cover->n_relations + relation % 2];
    if (relation < cover->n_relations && cover->lists[relation].n >= ACQ_COVER_LEAST_OWN)
        own = &cover->lists[relation];
    *list = own;
    double wanted = ceil(((double)own->n + 1) * level - 1e-9);
    for (uint32_t j = 0; j < own->n_kept; j++)
        if ((double)get_place(j, own->n, own->n_kept) + 1 >= wanted)
            return (double)own->scores[j];
    return INFINITY;
}
