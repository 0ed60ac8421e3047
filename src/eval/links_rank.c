/* links_rank.c - see links_rank.h. */
#include "eval/links_rank.h"

#include <math.h>

typedef struct standing {
    size_t better, equal;
} standing;

static standing count(const float *scores, size_t n, float score)
{
    standing result = {0};
    for (size_t i = 0; i < n; i++) {
        result.better += scores[i] > score;
        result.equal += scores[i] == score;
    }
    return result;
}

/* The mean of the ranks before and after all equals. */
static double get_rank(standing place)
{
    return 1.0 + (double)place.better + (double)place.equal / 2;
}

static void forget(float *scores, acq_row row)
{
    for (size_t i = 0; i < row.n; i++)
        scores[row.tails[i]] = -INFINITY;
}

void acq_rank_dense(float *scores, size_t n_entities, const acq_rank_filter *filter,
                    const acq_triple *links, size_t n, acq_link_rank *out)
{
    for (size_t i = 0; i < n; i++)
        out[i].rank = (double)scores[links[i].tail];
    for (size_t i = 0; i < ACQ_RANK_FILTERS; i++)
        forget(scores, filter->rows[i]);
    for (size_t i = 0; i < n; i++) {
        standing place = count(scores, n_entities, (float)out[i].rank);
        out[i] = (acq_link_rank){.rank = get_rank(place), .is_known = true};
    }
}

/* By one of the first n rows. */
static bool is_filtered(const acq_rank_filter *filter, size_t n, acq_ent tail)
{
    for (size_t i = 0; i < n; i++)
        if (acq_row_find(filter->rows[i], tail) < filter->rows[i].n)
            return true;
    return false;
}

static size_t count_filtered(const acq_rank_filter *filter)
{
    size_t n = 0;
    for (size_t i = 0; i < ACQ_RANK_FILTERS; i++)
        for (size_t j = 0; j < filter->rows[i].n; j++)
            n += !is_filtered(filter, i, filter->rows[i].tails[j]);
    return n;
}

static float get_score(acq_row row, size_t i)
{
    return row.scores == NULL ? 1.0F : row.scores[i];
}

static size_t keep(acq_row row, const acq_rank_filter *filter, float *kept)
{
    size_t n = 0;
    for (size_t i = 0; i < row.n; i++) {
        float score = get_score(row, i);
        if (score > 0 && !is_filtered(filter, ACQ_RANK_FILTERS, row.tails[i]))
            kept[n++] = score;
    }
    return n;
}

void acq_rank_sparse(acq_row row, size_t n_entities, const acq_rank_filter *filter,
                     const acq_triple *links, size_t n, float *kept, acq_link_rank *out)
{
    size_t n_kept = keep(row, filter, kept);
    standing last = {.better = n_kept, .equal = n_entities - count_filtered(filter) - n_kept};
    for (size_t i = 0; i < n; i++) {
        size_t at = acq_row_find(row, links[i].tail);
        float score = at < row.n ? get_score(row, at) : 0.0F;
        bool is_known = score > 0;
        standing place = is_known ? count(kept, n_kept, score) : last;
        out[i] = (acq_link_rank){.rank = get_rank(place), .is_known = is_known};
    }
}
