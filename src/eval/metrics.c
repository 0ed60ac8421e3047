/* metrics.c - see eval.h for the definitions. Sums run in the order of the items, so the
 * result does not depend on how the items were distributed over threads. */
#include "eval/eval.h"

#include <math.h>
#include <stdlib.h>

static double percentage(double part, double whole)
{
    return whole > 0.0 ? 100.0 * part / whole : NAN;
}

double acq_metrics_f1(uint64_t true_yes, uint64_t false_yes, uint64_t false_no)
{
    if (true_yes == 0)
        return 0.0;
    return 2.0 * (double)true_yes / (2.0 * (double)true_yes + (double)false_yes + (double)false_no);
}

acq_qac_counts acq_metrics_get_always_yes(acq_qac_counts set)
{
    set.correct_yes = set.correct;
    set.seen_yes = set.seen;
    set.wrong_yes = set.wrong;
    return set;
}

void acq_metrics_measure_qac(const acq_qac_counts *sets, size_t n, acq_qac_metrics *out)
{
    double f1 = 0.0, matched = 0.0;
    size_t n_matched = 0;
    uint64_t seen = 0, seen_yes = 0, correct = 0, correct_yes = 0, wrong = 0, wrong_yes = 0;
    for (size_t i = 0; i < n; i++) {
        const acq_qac_counts *set = &sets[i];
        f1 += acq_metrics_f1(set->correct_yes, set->wrong_yes, set->correct - set->correct_yes);
        if (set->seen > 0) {
            matched += acq_metrics_f1(set->seen_yes, set->wrong_yes, set->seen - set->seen_yes);
            n_matched++;
        }
        correct += set->correct;
        correct_yes += set->correct_yes;
        seen += set->seen;
        seen_yes += set->seen_yes;
        wrong += set->wrong;
        wrong_yes += set->wrong_yes;
    }
    out->f1 = percentage(f1, (double)n);
    out->f1_matched = percentage(matched, (double)n_matched);
    out->wrong_accepted = percentage((double)wrong_yes, (double)wrong);
    out->recall_seen = percentage((double)seen_yes, (double)seen);
    out->recall_unseen = percentage((double)(correct_yes - seen_yes), (double)(correct - seen));
}

static int compare_scored(const void *left, const void *right)
{
    const acq_scored *a = left, *b = right;
    return (a->score > b->score) - (a->score < b->score);
}

/* Walks groups of equal scores upwards: each correct item beats the wrong ones below its group
 * and half-beats those inside it. Kept in units of half a pair, so the sum is exact. */
double acq_metrics_measure_auc(acq_scored *items, size_t n)
{
    uint64_t halves = 0, n_wrong = 0, n_correct = 0;
    if (n == 0)
        return NAN;
    qsort(items, n, sizeof *items, compare_scored);
    for (size_t begin = 0; begin < n;) {
        uint64_t correct = 0, wrong = 0;
        size_t end = begin;
        for (; end < n && items[end].score == items[begin].score; end++) {
            correct += items[end].is_correct;
            wrong += !items[end].is_correct;
        }
        if (end == begin) /* a score that is not a number equals nothing, not even itself */
            return NAN;
        halves += correct * (2 * n_wrong + wrong);
        n_correct += correct;
        n_wrong += wrong;
        begin = end;
    }
    return percentage((double)halves, 2.0 * (double)n_correct * (double)n_wrong);
}

typedef struct tally {
    uint64_t right, wrong, none; /* answers to positive queries */
    uint64_t spurious;           /* answers to "n" queries that count as mistakes */
} tally;

static void add_listed(tally *sum, const acq_qar_item *item)
{
    if (item->type == 'n')
        sum->spurious += item->listed != ACQ_QAR_NONE;
    else if (item->listed == ACQ_QAR_RIGHT)
        sum->right++;
    else if (item->listed == ACQ_QAR_WRONG)
        sum->wrong++;
    else
        sum->none++;
}

static void add_verified(tally *sum, const acq_qar_item *item)
{
    if (item->type == 'n')
        sum->spurious += item->verified == ACQ_QAR_WRONG;
    else if (item->verified == ACQ_QAR_RIGHT)
        sum->right++;
    else
        sum->none++;
}

static double recall_of(tally sum)
{
    return percentage((double)sum.right, (double)(sum.right + sum.wrong + sum.none));
}

/* With P = right / (right + mistakes) and R = right / positives their harmonic mean is
 * 2 right / (2 right + mistakes + missed), 0 where nothing right was answered. */
static double f1_of(tally sum, bool wrong_counts)
{
    uint64_t mistakes = sum.spurious + (wrong_counts ? sum.wrong : 0);
    return 100.0 * acq_metrics_f1(sum.right, mistakes, sum.wrong + sum.none);
}

void acq_metrics_measure_qar(const acq_qar_item *items, size_t n, acq_qar_metrics *out)
{
    tally all = {0}, easy = {0}, hard = {0}, verified = {0};
    for (size_t i = 0; i < n; i++) {
        add_listed(&all, &items[i]);
        add_verified(&verified, &items[i]);
        if (items[i].type == 'e')
            add_listed(&easy, &items[i]);
        else if (items[i].type == 'h')
            add_listed(&hard, &items[i]);
    }
    bool any = n > 0;
    out->recall = recall_of(all);
    out->precision = percentage((double)all.right, (double)(all.right + all.spurious));
    out->recall_easy = recall_of(easy);
    out->recall_hard = recall_of(hard);
    out->f1 = any ? f1_of(all, false) : NAN;
    out->f1_paper = any ? f1_of(all, true) : NAN;
    out->f1_verified = any ? f1_of(verified, false) : NAN;
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Nearest rank: the smallest value with at least `share` of the values at or below it. */
static double percentile(const double *sorted, size_t n, double share)
{
    size_t rank = (size_t)ceil(share * (double)n);
    return sorted[rank == 0 ? 0 : rank - 1];
}

void acq_metrics_measure_times(double *values, size_t n, acq_times *out)
{
    *out = (acq_times){.mean = NAN, .p50 = NAN, .p99 = NAN, .max = NAN};
    if (n == 0)
        return;
    qsort(values, n, sizeof *values, compare_doubles);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += values[i];
    out->mean = sum / (double)n;
    out->p50 = percentile(values, n, 0.50);
    out->p99 = percentile(values, n, 0.99);
    out->max = values[n - 1];
}
