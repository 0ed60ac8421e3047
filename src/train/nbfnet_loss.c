/* nbfnet_loss.c - the loss of one query.
 *
 *   loss = 1/2 mean over positives of log(1 + e^-s) + 1/2 sum over negatives of w log(1 + e^s)
 *
 * with w = softmax(s / temperature) over the negatives, taken as constants; temperature 0: equal.
 */
#include <math.h>

#include "train/nbfnet_gradient.h"

static double softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double sigmoid(double x)
{
    return x >= 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
}

static double find_largest(const float *scores, size_t n)
{
    double largest = -INFINITY;
    for (size_t i = 0; i < n; i++)
        largest = fmax(largest, scores[i]);
    return largest;
}

/* Before they are made to sum to 1. */
static double get_weight(double score, double largest, double temperature)
{
    return temperature > 0 ? exp((score - largest) / temperature) : 1;
}

static double negatives(const float *scores, size_t n, double temperature, float *slopes)
{
    double largest = find_largest(scores, n), total = 0, loss = 0;
    for (size_t i = 0; i < n; i++)
        total += get_weight(scores[i], largest, temperature);
    for (size_t i = 0; i < n; i++) {
        double weight = get_weight(scores[i], largest, temperature) / total / 2;
        loss += weight * softplus(scores[i]);
        slopes[i] = (float)(weight * sigmoid(scores[i]));
    }
    return loss;
}

double acq_nbfnet_loss(const float *scores, size_t n_positives, size_t n, double temperature,
                       float *slopes)
{
    double share = 0.5 / (double)n_positives, loss = 0;
    for (size_t i = 0; i < n_positives; i++) {
        loss += share * softplus(-(double)scores[i]);
        slopes[i] = (float)(-share * sigmoid(-(double)scores[i]));
    }
    return loss +
           negatives(scores + n_positives, n - n_positives, temperature, slopes + n_positives);
}
