/* reliability.c - sums per bin, and what they say as a table of text and as a picture. */
#include "calibrate/calibrator.h"

#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "plot/plot.h"

static const double bounds[ACQ_RELIABILITY_BINS + 1] = {0,  .001, .01, .05, .1, .2, .3,
                                                        .4, .5,   .6,  .7,  .8, .9, 1};

/* A probability of exactly 0 or 1 that is wrong would cost infinitely much. */
#define LEAST_P 1e-9

void acq_reliability_init(acq_reliability *table)
{
    *table = (acq_reliability){0};
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        table->bins[i].low = bounds[i];
        table->bins[i].high = bounds[i + 1];
    }
}

static int find_bin(double p)
{
    int i = 0;
    while (i + 1 < ACQ_RELIABILITY_BINS && p >= bounds[i + 1])
        i++;
    return i;
}

static double get_loss(double p, bool is_true)
{
    return -log(fmax(is_true ? p : 1 - p, LEAST_P));
}

void acq_reliability_add(acq_reliability *table, double p, bool is_true, double weight, double base)
{
    acq_reliability_bin *bin = &table->bins[find_bin(p)];
    bin->weight += weight;
    bin->n++;
    bin->stated += weight * p;
    bin->truth += is_true ? weight : 0;
    table->weight += weight;
    table->log_loss += weight * get_loss(p, is_true);
    table->base_log_loss += weight * get_loss(base, is_true);
}

void acq_reliability_add_true(acq_reliability *table, double p, double weight, double base)
{
    acq_reliability_bin *bin = &table->bins[find_bin(p)];
    weight = fmax(0, fmin(weight, bin->weight - bin->truth));
    bin->truth += weight;
    table->log_loss += weight * (get_loss(p, true) - get_loss(p, false));
    table->base_log_loss += weight * (get_loss(base, true) - get_loss(base, false));
}

void acq_reliability_merge(acq_reliability *table, const acq_reliability *other)
{
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        table->bins[i].weight += other->bins[i].weight;
        table->bins[i].n += other->bins[i].n;
        table->bins[i].stated += other->bins[i].stated;
        table->bins[i].truth += other->bins[i].truth;
    }
    table->weight += other->weight;
    table->log_loss += other->log_loss;
    table->base_log_loss += other->base_log_loss;
}

/* Of a bin that is not empty. */
static double get_bin_gap(const acq_reliability_bin *bin)
{
    return fabs(bin->stated - bin->truth) / bin->weight;
}

double acq_reliability_get_gap(const acq_reliability *table, double least)
{
    double gap = 0;
    for (int i = 0; i < ACQ_RELIABILITY_BINS && table != NULL; i++) {
        const acq_reliability_bin *bin = &table->bins[i];
        if (bin->weight > 0 && bin->weight >= least)
            gap = fmax(gap, get_bin_gap(bin));
    }
    return gap;
}

/* ---- the diagram ----
 *
 * True share against stated share, both on the logit scale, so that rare links have room:
 *
 *   .9 ┼            ╱          a disc per bin, larger for more candidates; the bar is what
 *      │         ●╱            chance alone allows (two standard deviations of a share of as
 *   .1 ┼      ╱●               many rows), the dashed line is where every disc should be
 *      ┼───────────
 *        .1      .9                                                                          */

static const acq_plot_axis stated_axis = {ACQ_PLOT_LOGIT, .0001, .9999, 72, 536};
static const acq_plot_axis true_axis = {ACQ_PLOT_LOGIT, .0001, .9999, 488, 72};

static void draw_axes(acq_plot *plot)
{
    static const double ticks[] = {.001, .01, .1, .3, .5, .7, .9, .99, .999};
    const acq_plot_axis *x = &stated_axis, *y = &true_axis;
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks; i++) {
        acq_plot_add_level(plot, x, y, ticks[i], true);
        acq_plot_add_column(plot, x, y, ticks[i], true);
    }
    acq_plot_add_level(plot, x, y, y->low, false);
    acq_plot_add_guide(plot, (acq_plot_spot){x->begin, y->begin}, (acq_plot_spot){x->end, y->end});
    acq_plot_add_x_name(plot, x, y->begin + 44, "stated probability");
    acq_plot_add_y_name(plot, y, 20, "true share");
}

static void draw_bin(acq_plot *plot, const acq_reliability_bin *bin)
{
    char title[160];
    if (bin->n == 0 || bin->weight <= 0)
        return;
    double stated = bin->stated / bin->weight, truth = bin->truth / bin->weight;
    double chance = 2 * sqrt(fmax(stated * (1 - stated), 0) / (double)bin->n);
    acq_plot_spot at = {acq_plot_place(&stated_axis, stated), acq_plot_place(&true_axis, truth)};
    acq_format(title, sizeof title, "%g to %g: %.0f candidates, stated %.4f, true %.4f", bin->low,
               bin->high, bin->weight, stated, truth);
    acq_plot_add_disc(plot, at, fmin(3 + 1.2 * log10(1 + bin->weight), 12), 0, title);
    acq_plot_add_bar(plot, at.x, acq_plot_place(&true_axis, truth - chance),
                     acq_plot_place(&true_axis, truth + chance));
}

acq_status acq_reliability_write_svg(const acq_reliability *table, const char *title,
                                     const char *path, acq_error *error)
{
    acq_plot plot;
    char subtitle[160];
    double weight = fmax(table->weight, 1e-300);
    acq_format(subtitle, sizeof subtitle,
               "%.0f candidates; log-loss %.4f, of the base rates alone %.4f", table->weight,
               table->log_loss / weight, table->base_log_loss / weight);
    acq_plot_begin(&plot, 560, 560, title, subtitle);
    draw_axes(&plot);
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++)
        draw_bin(&plot, &table->bins[i]);
    return acq_plot_finish(&plot, path, "the diagram", error);
}
