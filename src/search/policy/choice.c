/* choice.c - see choice.h. */
#include "search/policy/choice.h"

#include <math.h>

static const double CLIP = -100.0;

static double get_weight(float logit, double most)
{
    return exp(fmax((double)logit - most, CLIP));
}

/* totals: first the largest logit of each term, then the sum of size * weight. */
void acq_choice_get_probabilities(const acq_walk *walk, const float *logits, double *p,
                                  double *totals)
{
    uint32_t n_terms = walk->board->n_terms;
    for (uint32_t t = 0; t < n_terms; t++)
        totals[t] = -INFINITY;
    for (uint32_t c = 0; c < walk->n_classes; c++)
        totals[walk->class_terms[c]] = fmax(totals[walk->class_terms[c]], (double)logits[c]);
    for (uint32_t c = 0; c < walk->n_classes; c++)
        p[c] = get_weight(logits[c], totals[walk->class_terms[c]]);
    for (uint32_t t = 0; t < n_terms; t++)
        totals[t] = 0;
    for (uint32_t c = 0; c < walk->n_classes; c++)
        totals[walk->class_terms[c]] += walk->sizes[c] * p[c];
    for (uint32_t c = 0; c < walk->n_classes; c++)
        p[c] /= totals[walk->class_terms[c]];
}

/* One pass over the classes serves all terms: class c of a term is chosen when the running sum
 * first passes the term's number u; rounding may leave a term open, whose last class then is it. */
static void choose_classes(const acq_walk *walk, const double *p, double *left, uint32_t *chosen)
{
    uint32_t n_free = walk->board->n_free_terms;
    for (uint32_t c = 0; c < walk->n_classes; c++) {
        uint32_t t = walk->class_terms[c];
        if (t >= n_free || left[t] < 0)
            continue;
        chosen[t] = c;
        left[t] -= walk->sizes[c] * p[c];
    }
}

void acq_choice_draw(const acq_walk *walk, const double *p, uint64_t seed, uint64_t stream,
                     uint64_t step, acq_ent *values, uint32_t *chosen, double *room)
{
    uint32_t n_free = walk->board->n_free_terms;
    uint64_t key = acq_random_start(seed, stream).key;
    for (uint32_t t = 0; t < n_free; t++) {
        acq_random random = acq_random_start(key ^ (step << 1 | 1), t);
        room[t] = acq_random_unit(&random);
    }
    choose_classes(walk, p, room, chosen);
    for (uint32_t t = 0; t < n_free; t++) {
        acq_random random = acq_random_start(key ^ (step << 1 | 1), t);
        acq_random_next(&random); /* the one that chose the class */
        values[t] = acq_walk_draw_member(walk, chosen[t], &random);
    }
}

double acq_choice_get_log(const acq_walk *walk, const double *p, const uint32_t *chosen,
                          double floor)
{
    double sum = 0;
    for (uint32_t t = 0; t < walk->board->n_free_terms; t++)
        sum += log(p[chosen[t]] + floor);
    return sum;
}

/* d log(p + f) / d o(c) = p / (p + f) * ([c chosen] - size(c) p(c)), 0 where the clip holds c.
 * A clipped class neither gives nor takes, so what it would have taken is the maximum's: the
 * maximum is subtracted from every logit, and only from the clipped ones without effect. */
void acq_choice_backward(const acq_walk *walk, const float *logits, const double *p,
                         const uint32_t *chosen, double floor, double weight, double *room,
                         float *dlogits)
{
    uint32_t n_terms = walk->board->n_terms, n_free = walk->board->n_free_terms;
    double *factors = room, *most = room + n_terms, *missing = room + 2 * (size_t)n_terms;
    for (uint32_t t = 0; t < n_terms; t++) {
        most[t] = -INFINITY;
        missing[t] = 0;
        factors[t] = t < n_free ? weight * p[chosen[t]] / (p[chosen[t]] + floor) : 0;
    }
    for (uint32_t c = 0; c < walk->n_classes; c++)
        most[walk->class_terms[c]] = fmax(most[walk->class_terms[c]], (double)logits[c]);
    for (uint32_t c = 0; c < walk->n_classes; c++) {
        uint32_t t = walk->class_terms[c];
        if (t >= n_free)
            continue;
        double slope = factors[t] * ((chosen[t] == c) - walk->sizes[c] * p[c]);
        if ((double)logits[c] - most[t] < CLIP)
            missing[t] += slope;
        else
            dlogits[c] += (float)slope;
    }
    for (uint32_t c = 0; c < walk->n_classes; c++) {
        uint32_t t = walk->class_terms[c];
        if (t < n_free && missing[t] != 0 && (double)logits[c] == most[t]) {
            dlogits[c] += (float)missing[t];
            missing[t] = 0;
        }
    }
}
