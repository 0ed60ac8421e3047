/* reliability_svg.c - the diagram: 560 x 560, true share against stated share, both on the logit
 * scale from 0.0001 to 0.9999, so that rare links have room.
 *
 *      title
 *   .9 ┼            ╱          a disc per bin, larger for more candidates; the bar is what
 *      │         ●╱            chance alone allows (two standard deviations of a share of as
 *   .1 ┼      ╱●               many rows), the dashed line is where every disc should be
 *      ┼───────────
 *        .1      .9
 */
#include "calibrate/reliability.h"

#include <math.h>

#include "base/new_file.h"
#include "base/text.h"
#include "plot/xml_text.h"

enum { SIZE = 560, LEFT = 72, RIGHT = 536, TOP = 72, BOTTOM = 488, MOST_TITLE = 60, N_TICKS = 9 };

#define LEAST_SHARE .0001

static const double ticks[N_TICKS] = {.001, .01, .1, .3, .5, .7, .9, .99, .999};

/* 0 to 1 along an axis. */
static double get_place(double share)
{
    double p = fmin(fmax(share, LEAST_SHARE), 1 - LEAST_SHARE);
    double most = log((1 - LEAST_SHARE) / LEAST_SHARE);
    return (log(p / (1 - p)) + most) / (2 * most);
}

static double get_x(double share)
{
    return LEFT + (RIGHT - LEFT) * get_place(share);
}

static double get_y(double share)
{
    return BOTTOM - (BOTTOM - TOP) * get_place(share);
}

static void draw_frame(acq_text *text, const acq_reliability *table, const char *title)
{
    acq_text_format(text,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                    "viewBox=\"0 0 %d %d\" role=\"img\" font-family=\"sans-serif\" "
                    "font-size=\"12\" fill=\"#333\">\n<title>",
                    SIZE, SIZE, SIZE, SIZE);
    acq_xml_add_text(text, title, SIZE_MAX);
    acq_text_format(text,
                    "</title>\n<rect width=\"%d\" height=\"%d\" fill=\"#fdfdfc\"/>\n"
                    "<text x=\"16\" y=\"30\" font-size=\"16\" font-weight=\"bold\" fill=\"#111\">",
                    SIZE, SIZE);
    acq_xml_add_text(text, title, MOST_TITLE);
    acq_text_format(text, "</text>\n<text x=\"16\" y=\"50\">%.0f candidates", table->weight);
    if (table->weight > 0)
        acq_text_format(text, "; log-loss %.4f, of the base rates alone %.4f",
                        table->log_loss / table->weight, table->base_log_loss / table->weight);
    acq_text_format(text,
                    "</text>\n<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">stated probability"
                    "</text>\n<text transform=\"translate(20 %d) rotate(-90)\" "
                    "text-anchor=\"middle\">true share</text>\n",
                    (LEFT + RIGHT) / 2, BOTTOM + 44, (TOP + BOTTOM) / 2);
}

static void draw_axes(acq_text *text)
{
    for (int i = 0; i < N_TICKS; i++) {
        double x = get_x(ticks[i]), y = get_y(ticks[i]);
        acq_text_format(text, "<path d=\"M%.1f %dV%dM%d %.1fH%d\" stroke=\"#ddd\"/>\n", x, TOP,
                        BOTTOM, LEFT, y, RIGHT);
        acq_text_format(text,
                        "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n"
                        "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                        x, BOTTOM + 20, ticks[i], LEFT - 8, y + 4, ticks[i]);
    }
    acq_text_format(text,
                    "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#555\"/>\n"
                    "<path d=\"M%d %dL%d %d\" stroke=\"#777\" stroke-dasharray=\"6 4\"/>\n",
                    LEFT, TOP, BOTTOM, RIGHT, LEFT, BOTTOM, RIGHT, TOP);
}

static void draw_bin(acq_text *text, const acq_reliability_bin *bin)
{
    if (bin->n == 0 || bin->weight <= 0)
        return;
    double stated = bin->stated / bin->weight, truth = bin->truth / bin->weight;
    double chance = 2 * sqrt(fmax(stated * (1 - stated), 0) / (double)bin->n);
    double radius = fmin(3 + 1.2 * log10(1 + bin->weight), 12);
    acq_text_format(text,
                    "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"#0b5fa5\" "
                    "fill-opacity=\"0.7\"><title>%g to %g: %.0f candidates, stated %.4f, true "
                    "%.4f</title></circle>\n"
                    "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#b8450c\" stroke-width=\"2\"/>\n",
                    get_x(stated), get_y(truth), radius, bin->low, bin->high, bin->weight, stated,
                    truth, get_x(stated), get_y(truth - chance), get_y(truth + chance));
}

acq_status acq_reliability_write_svg(const acq_reliability *table, const char *title,
                                     const char *path, acq_error *error)
{
    acq_text text;
    acq_text_init(&text);
    draw_frame(&text, table, title);
    draw_axes(&text);
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++)
        draw_bin(&text, &table->bins[i]);
    acq_text_add(&text, "</svg>\n");
    acq_status status = acq_text_finish(&text, error);
    if (status == ACQ_OK)
        status = acq_new_file_write(path, "the diagram", text.bytes, text.length, error);
    acq_text_deinit(&text);
    return status;
}
