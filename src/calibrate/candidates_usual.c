/* candidates_usual.c - how many tails a head usually has, and which relations go together.
 *
 * Which relations go together: together[a][b] counts the entities that are heads of both; a
 * relation and its inverse are two. An entity fits a relation as well as the mean, over the other
 * relations that it has, of the share of their heads that have this one too. Graphs with very many
 * relations do without.
 *
 * What a head lacks: if m facts per observed one are missing at random, of heads with k observed
 * tails the expected number of missing ones is (k + 1) m n(k + 1) / n(k), where n(k) heads have k
 * tails (Robbins' estimate). Heads without a tail are the entities that fit, by how well they do.
 *
 * What holding out does: trees learn on a rest that a share h of the facts was held out of, from
 * labels, which are 1 for those; as many are missing already. In the rest 1 / (1 - h) + 1 times as
 * many are missing per fact that is there as in the whole graph, so by the estimate above heads
 * with k tails lack there that much more, times n'(k + 1) / n'(k) over n(k + 1) / n(k), where n'
 * becomes of n when every fact goes with probability h. Their false candidates are as many per
 * head. So the odds in the rest are halved, times (1 - h) (n(k + 1) / n'(k + 1)) / (n(k) / n'(k)),
 * which is `moved`, on the tail's side alike. Where each head has one tail, half of the heads
 * without one are those of held-out facts, and the odds stay. Where the numbers of tails follow
 * Poisson's law, how many a head has says nothing, and they are halved.
 *
 * Of a large graph most entities without a tail are of another kind, and rows of some of them are
 * made all the same. Where the rest itself is known, heads are counted in it: n' is what it has,
 * not what is expected, and entities without a tail are told apart by how well the relation fits
 * them, in BINS. So a noun that lost its only hypernym is compared with nouns, and adjectives, none
 * of which lost one, stay as unlikely as they are. Where it is not, `moved` raises the odds of a
 * head without tails only as far as the head is of the kind: log(1 - k + k e^moved).
 *
 * Cost: facts, and the square of an entity's relations summed over the entities. */
#include "calibrate/candidates_parts.h"

#include <math.h>

#include "base/memory.h"

enum { MOST_TAILS = 16, MOST_THINNED = 6, MOST_RELATIONS = 1500, BINS = 64 };

/* What counts are smoothed by, and the least that a head lacks: few heads prove little. */
static const float SMOOTH = 1.0F, LEAST_DUE = .01F;

struct acq_usual {
    const acq_links *const *links;
    uint32_t n_relations, n_entities;
    float missing;  /* facts that are missing per fact that is there */
    bool is_mixed;  /* `moved` counts for heads without tails by how much they are of the kind */
    float *counts;  /* heads of r with k tails: [r][k]; those with none by how well they fit */
    float *moved;   /* of heads of r with k tails, [r][k] */
    float *emptied; /* of entities without a tail of r, by how well r fits them, [r][bin]; NULL: the
                       rest is not known */
    float *mean_fit;    /* of the heads of r */
    uint32_t *together; /* NULL: too many relations */
    acq_rel *relations; /* of entity e: from offsets[e] on */
    uint64_t *offsets;
};

static acq_status list_relations(acq_usual *usual, const acq_links *const *links)
{
    acq_free(usual->offsets);
    acq_free(usual->relations);
    usual->relations = NULL;
    usual->offsets = acq_zalloc((size_t)usual->n_entities + 2, sizeof *usual->offsets);
    if (usual->offsets == NULL)
        return ACQ_ERR_MEMORY;
    uint64_t *next = usual->offsets + 1; /* one place on, so that filling leaves the starts */
    for (acq_rel r = 0; r < usual->n_relations; r++)
        for (uint32_t i = 0; i < links[r]->n_heads; i++)
            next[links[r]->heads[i] + 1]++;
    for (uint32_t e = 0; e < usual->n_entities; e++)
        next[e + 1] += next[e];
    usual->relations = acq_alloc(next[usual->n_entities] + 1, sizeof *usual->relations);
    if (usual->relations == NULL)
        return ACQ_ERR_MEMORY;
    for (acq_rel r = 0; r < usual->n_relations; r++)
        for (uint32_t i = 0; i < links[r]->n_heads; i++)
            usual->relations[next[links[r]->heads[i]]++] = r;
    return ACQ_OK;
}

/* Of all entities, by their relations in any graph with the same ids. */
static acq_status count_together(acq_usual *usual)
{
    if (usual->n_relations > MOST_RELATIONS)
        return ACQ_OK;
    usual->together =
        acq_zalloc((size_t)usual->n_relations * usual->n_relations, sizeof *usual->together);
    if (usual->together == NULL)
        return ACQ_ERR_MEMORY;
    for (uint32_t e = 0; e < usual->n_entities; e++)
        for (uint64_t i = usual->offsets[e]; i < usual->offsets[e + 1]; i++)
            for (uint64_t j = usual->offsets[e]; j < usual->offsets[e + 1]; j++)
                usual->together[(size_t)usual->relations[i] * usual->n_relations +
                                usual->relations[j]]++;
    return ACQ_OK;
}

/* How many of the relation's own kind an entity without a tail is: 0 to 1. */
static float get_kind(const acq_usual *usual, acq_rel relation, acq_ent entity)
{
    float fit = acq_usual_get_fit(usual, relation, entity);
    return isnan(fit) || usual->mean_fit[relation] <= 0
               ? 0.0F
               : fminf(1.0F, fit / usual->mean_fit[relation]);
}

static void count_tails(acq_usual *usual, const acq_links *links, acq_rel r)
{
    float *counts = usual->counts + (size_t)r * MOST_TAILS, sum = 0;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        size_t n = acq_links_get_row_at(links, i).n;
        float fit = acq_usual_get_fit(usual, r, links->heads[i]);
        sum += isnan(fit) ? 0.0F : fit;
        if (n < MOST_TAILS)
            counts[n]++;
    }
    usual->mean_fit[r] = links->n_heads == 0 ? 0.0F : sum / (float)links->n_heads;
    for (acq_ent e = 0; e < usual->n_entities && usual->together != NULL; e++)
        if (acq_links_find(links, e) == ACQ_NO_ID)
            counts[0] += get_kind(usual, r, e);
}

/* Heads with k tails when every fact goes with probability h. */
static double thin(const float *counts, size_t k, double h)
{
    double sum = 0, ways = 1; /* j over k */
    for (size_t j = k; j < MOST_TAILS; j++) {
        sum += (double)counts[j] * ways * pow(1 - h, (double)k) * pow(h, (double)(j - k));
        ways *= (double)(j + 1) / (double)(j + 1 - k);
    }
    return sum;
}

/* How many more heads have k tails than in the rest. Without heads: as Poisson's law has it. */
static double get_more(const float *counts, size_t k, double h)
{
    return ((double)counts[k] + 1) / (thin(counts, k, h) + pow(1 - h, (double)k));
}

static void find_moved(acq_usual *usual, acq_rel r, double h)
{
    const float *counts = usual->counts + (size_t)r * MOST_TAILS;
    for (size_t k = 0; k < MOST_THINNED; k++)
        usual->moved[(size_t)r * MOST_TAILS + k] =
            (float)log((1 - h) * get_more(counts, k + 1, h) / get_more(counts, k, h));
}

static size_t find_bin(const acq_usual *usual, acq_rel r, acq_ent entity)
{
    float fit = acq_usual_get_fit(usual, r, entity);
    return isnan(fit) ? 0 : (size_t)fminf(BINS - 1, fmaxf(0, fit) * BINS);
}

/* Heads with k tails in the rest, and what became of the heads that have none there. */
static void count_rest(const acq_usual *usual, acq_rel r, const acq_links *rest, float *n_tails,
                       float *n_without, float *n_emptied)
{
    for (uint32_t i = 0; i < rest->n_heads; i++) {
        size_t n = acq_links_get_row_at(rest, i).n;
        if (n < MOST_TAILS)
            n_tails[n]++;
    }
    for (acq_ent e = 0; e < usual->n_entities; e++) {
        bool has_tail = acq_links_get_row(usual->links[r], e).n > 0;
        if (!has_tail)
            n_without[find_bin(usual, r, e)]++;
        else if (acq_links_get_row(rest, e).n == 0)
            n_emptied[find_bin(usual, r, e)]++;
    }
}

/* As find_moved, by what the rest has. */
static void compare_with_rest(const acq_usual *usual, acq_rel r, const acq_links *rest)
{
    const float *counts = usual->counts + (size_t)r * MOST_TAILS;
    float n_tails[MOST_TAILS] = {0}, n_without[BINS] = {0}, n_emptied[BINS] = {0};
    float more[MOST_THINNED + 1], *moved = usual->moved + (size_t)r * MOST_TAILS;
    uint64_t n = usual->links[r]->n_links;
    float kept = (float)((double)(rest->n_links + 1) / (double)(n + 1));
    count_rest(usual, r, rest, n_tails, n_without, n_emptied);
    for (size_t k = 1; k <= MOST_THINNED; k++)
        more[k] = (counts[k] + SMOOTH) / (n_tails[k] + SMOOTH * powf(kept, (float)k));
    for (size_t k = 1; k < MOST_THINNED; k++)
        moved[k] = logf(kept * more[k + 1] / more[k]);
    for (size_t b = 0; b < BINS; b++)
        usual->emptied[(size_t)r * BINS + b] =
            logf(kept * more[1] * (n_without[b] + n_emptied[b] + SMOOTH) / (n_without[b] + SMOOTH));
}

static acq_status count_in_rest(acq_usual *usual, const acq_graph *rest)
{
    acq_status status = ACQ_OK;
    usual->emptied = acq_zalloc((size_t)usual->n_relations * BINS, sizeof *usual->emptied);
    if (usual->emptied == NULL)
        return ACQ_ERR_MEMORY;
    for (acq_rel r = 0; r < usual->n_relations && status == ACQ_OK; r++) {
        const acq_links *links;
        status = acq_graph_open_links(rest, r, &links, NULL);
        if (status == ACQ_OK)
            compare_with_rest(usual, r, links);
    }
    return status;
}

static acq_status count_all(acq_usual *usual, const acq_candidates_maker *maker)
{
    usual->counts = acq_zalloc((size_t)usual->n_relations * MOST_TAILS, sizeof *usual->counts);
    usual->moved = acq_zalloc((size_t)usual->n_relations * MOST_TAILS, sizeof *usual->moved);
    usual->mean_fit = acq_zalloc(usual->n_relations, sizeof *usual->mean_fit);
    if (usual->counts == NULL || usual->moved == NULL || usual->mean_fit == NULL)
        return ACQ_ERR_MEMORY;
    for (acq_rel r = 0; r < usual->n_relations; r++) {
        count_tails(usual, maker->counted[r], r);
        if (maker->params.held_share > 0 && !maker->params.is_rest)
            find_moved(usual, r, maker->params.held_share);
    }
    return ACQ_OK;
}

acq_status acq_usual_new(const acq_candidates_maker *maker, acq_usual **out, acq_error *error)
{
    acq_usual *usual = acq_zalloc(1, sizeof *usual);
    if (usual == NULL)
        return acq_fail_memory(error);
    *usual = (acq_usual){.links = maker->links,
                         .n_relations = maker->n_relations,
                         .n_entities = maker->n_entities,
                         .is_mixed = maker->params.is_pruned,
                         .missing = (float)(ACQ_HELD_SHARE / (1 - ACQ_HELD_SHARE))};
    acq_status status = list_relations(usual, maker->counted);
    if (status == ACQ_OK)
        status = count_together(usual);
    if (status == ACQ_OK)
        status = count_all(usual, maker);
    if (status == ACQ_OK && maker->counted != maker->links)
        status = list_relations(usual, maker->links);
    if (status == ACQ_OK && maker->params.rest != NULL)
        status = count_in_rest(usual, maker->params.rest);
    if (status != ACQ_OK) {
        acq_usual_free(usual);
        return acq_fail_memory(error);
    }
    *out = usual;
    return ACQ_OK;
}

void acq_usual_free(acq_usual *usual)
{
    if (usual == NULL)
        return;
    acq_free(usual->counts);
    acq_free(usual->moved);
    acq_free(usual->emptied);
    acq_free(usual->mean_fit);
    acq_free(usual->together);
    acq_free(usual->relations);
    acq_free(usual->offsets);
    acq_free(usual);
}

float acq_usual_get_due(const acq_usual *usual, acq_rel relation, acq_ent entity)
{
    const float *counts = usual->counts + (size_t)relation * MOST_TAILS;
    size_t k = acq_links_get_row(usual->links[relation], entity).n;
    if (k == 0 && usual->together == NULL)
        return NAN;
    float ratio = 1, kind = k == 0 ? get_kind(usual, relation, entity) : 1;
    if (k + 1 < MOST_TAILS)
        ratio = (counts[k + 1] + SMOOTH) / (counts[k] + 2 * SMOOTH);
    return logf(fmaxf(LEAST_DUE, kind * ((float)k + 1) * usual->missing * ratio));
}

float acq_usual_get_fit(const acq_usual *usual, acq_rel relation, acq_ent entity)
{
    float sum = 0;
    uint32_t n = 0;
    if (usual->together == NULL)
        return NAN;
    for (uint64_t i = usual->offsets[entity]; i < usual->offsets[entity + 1]; i++) {
        acq_rel other = usual->relations[i];
        const uint32_t *row = usual->together + (size_t)other * usual->n_relations;
        if (other == relation)
            continue;
        sum += (float)row[relation] / ((float)row[other] + 1.0F);
        n++;
    }
    return n == 0 ? NAN : sum / (float)n;
}

float acq_usual_get_moved(const acq_usual *usual, acq_rel relation, acq_ent entity)
{
    size_t k = acq_links_get_row(usual->links[relation], entity).n;
    if (k == 0 && usual->emptied != NULL)
        return usual->emptied[(size_t)relation * BINS + find_bin(usual, relation, entity)];
    float moved =
        usual->moved[(size_t)relation * MOST_TAILS + (k < MOST_TAILS ? k : MOST_TAILS - 1)];
    if (k > 0 || moved <= 0 || !usual->is_mixed)
        return moved;
    float kind = get_kind(usual, relation, entity);
    return logf(1 - kind + kind * expf(moved));
}
