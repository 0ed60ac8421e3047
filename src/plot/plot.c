/* plot.c - see plot.h. One style sheet for all pictures; places have one decimal. */
#include "plot/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text.h"

enum { TITLE_WIDTH = 10, LABEL_HEIGHT = 14 };

/* ---- the picture ---- */

static const struct {
    const char *light, *dark, *dash;
} styles[ACQ_PLOT_STYLES] = {
    {"#0b5fa5", "#58a6ff", "none"}, {"#b8450c", "#f0883e", "7 3"},
    {"#087257", "#3fb950", "2 3"},  {"#84398a", "#d2a8ff", "10 3 2 3"},
    {"#4a4a4a", "#b1bac4", "4 4"},  {"#8a5f00", "#e3b341", "14 4"},
};

static void add_colours(acq_text *text, bool is_dark)
{
    for (int i = 0; i < ACQ_PLOT_STYLES; i++) {
        const char *colour = is_dark ? styles[i].dark : styles[i].light;
        acq_text_format(text, ".s%d{stroke:%s}.p%d{fill:%s}", i, colour, i, colour);
    }
}

/* b background, t title, g grid, a axis, l line, c chance; s0 ... strokes and p0 ... fills. */
static void add_style(acq_text *text)
{
    acq_text_add(text, "<style>text{fill:#333}.b{fill:#fdfdfc}.t{fill:#111}.g{stroke:#ddd}"
                       ".a{stroke:#777}.l{fill:none;stroke-width:1.75;stroke-linejoin:round}"
                       ".c{stroke:#b8450c;stroke-width:2}");
    add_colours(text, false);
    acq_text_add(text, "@media(prefers-color-scheme:dark){text{fill:#c9d1d9}.b{fill:#0d1117}"
                       ".t{fill:#f0f6fc}.g{stroke:#30363d}.a{stroke:#8b949e}.c{stroke:#f0883e}");
    add_colours(text, true);
    acq_text_add(text, "}</style>\n");
}

void acq_plot_begin(acq_plot *plot, int width, int height, const char *title, const char *subtitle)
{
    acq_text *text = &plot->text;
    acq_text_init(text);
    acq_text_format(text,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                    "viewBox=\"0 0 %d %d\" role=\"img\" font-family=\"sans-serif\" "
                    "font-size=\"12\">\n<title>",
                    width, height, width, height);
    acq_text_add_markup(text, title, SIZE_MAX);
    acq_text_add(text, "</title>\n");
    add_style(text);
    acq_text_format(text,
                    "<rect class=\"b\" width=\"%d\" height=\"%d\"/>\n<text class=\"t\" x=\"16\" "
                    "y=\"30\" font-size=\"16\" font-weight=\"bold\">",
                    width, height);
    acq_text_add_markup(text, title, (size_t)(width - 32) / TITLE_WIDTH);
    acq_text_add(text, "</text>\n");
    if (subtitle != NULL)
        acq_plot_add_text(plot, 16, 50, subtitle);
}

acq_status acq_plot_finish(acq_plot *plot, const char *path, const char *what, acq_error *error)
{
    acq_text *text = &plot->text;
    acq_text_add(text, "</svg>\n");
    acq_status status = acq_text_finish(text, error);
    if (status == ACQ_OK)
        status = acq_new_file_write(path, what, text->bytes, text->length, error);
    acq_text_deinit(text);
    return status;
}

/* ---- axes ---- */

static double stretch(acq_plot_scale scale, double value)
{
    switch (scale) {
    case ACQ_PLOT_LOG:
        return log10(value);
    case ACQ_PLOT_LOGIT:
        return log(value / (1 - value));
    default:
        return value;
    }
}

double acq_plot_place(const acq_plot_axis *axis, double value)
{
    double low = stretch(axis->scale, axis->low), high = stretch(axis->scale, axis->high);
    double at = stretch(axis->scale, fmin(fmax(value, axis->low), axis->high));
    return axis->begin + (at - low) / (high - low) * (axis->end - axis->begin);
}

double acq_plot_choose_tick(double range, double most)
{
    double power = pow(10, floor(log10(range / most))), times = range / most / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static void add_number(acq_text *text, double value)
{
    if (value >= 1e6)
        acq_text_format(text, "%g M</text>\n", value / 1e6);
    else if (value >= 1e4)
        acq_text_format(text, "%g k</text>\n", value / 1e3);
    else
        acq_text_format(text, "%g</text>\n", value);
}

void acq_plot_add_level(acq_plot *plot, const acq_plot_axis *x, const acq_plot_axis *y,
                        double value, bool has_number)
{
    double at = acq_plot_place(y, value);
    acq_text_format(&plot->text, "<path class=\"%s\" d=\"M%.1f %.1fH%.1f\"/>\n",
                    value == y->low ? "a" : "g", x->begin, at, x->end);
    if (has_number) {
        acq_text_format(&plot->text, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">",
                        x->begin - 8, at + 4);
        add_number(&plot->text, value);
    }
}

void acq_plot_add_column(acq_plot *plot, const acq_plot_axis *x, const acq_plot_axis *y,
                         double value, bool has_line)
{
    double at = acq_plot_place(x, value);
    acq_text_format(&plot->text,
                    "<path class=\"%s\" d=\"M%.1f %.1fV%.1f\"/>\n"
                    "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                    has_line ? "g" : "a", at, y->begin, has_line ? y->end : y->begin + 5, at,
                    y->begin + 20);
    add_number(&plot->text, value);
}

void acq_plot_add_x_name(acq_plot *plot, const acq_plot_axis *x, double at, const char *name)
{
    acq_text_format(&plot->text, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
                    (x->begin + x->end) / 2, at);
    acq_text_add_markup(&plot->text, name, SIZE_MAX);
    acq_text_add(&plot->text, "</text>\n");
}

void acq_plot_add_y_name(acq_plot *plot, const acq_plot_axis *y, double at, const char *name)
{
    acq_text_format(&plot->text,
                    "<text transform=\"translate(%.1f %.1f) rotate(-90)\" text-anchor=\"middle\">",
                    at, (y->begin + y->end) / 2);
    acq_text_add_markup(&plot->text, name, SIZE_MAX);
    acq_text_add(&plot->text, "</text>\n");
}

/* ---- marks ---- */

void acq_plot_add_text(acq_plot *plot, double x, double y, const char *text)
{
    acq_text_format(&plot->text, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
    acq_text_add_markup(&plot->text, text, SIZE_MAX);
    acq_text_add(&plot->text, "</text>\n");
}

void acq_plot_add_line(acq_plot *plot, const acq_plot_spot *spots, size_t n, size_t series)
{
    size_t style = series % ACQ_PLOT_STYLES;
    acq_text_format(&plot->text, "<polyline class=\"l s%zu\" stroke-dasharray=\"%s\" points=\"",
                    style, styles[style].dash);
    for (size_t i = 0; i < n; i++)
        acq_text_format(&plot->text, "%s%.1f,%.1f", i == 0 ? "" : " ", spots[i].x, spots[i].y);
    acq_text_add(&plot->text, "\"/>\n");
}

void acq_plot_add_guide(acq_plot *plot, acq_plot_spot from, acq_plot_spot to)
{
    acq_text_format(&plot->text,
                    "<path class=\"a\" stroke-dasharray=\"6 4\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
                    from.x, from.y, to.x, to.y);
}

void acq_plot_add_disc(acq_plot *plot, acq_plot_spot at, double radius, size_t series,
                       const char *title)
{
    acq_text_format(&plot->text, "<circle class=\"p%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"",
                    series % ACQ_PLOT_STYLES, at.x, at.y, radius);
    if (title == NULL) {
        acq_text_add(&plot->text, "/>\n");
        return;
    }
    acq_text_add(&plot->text, " fill-opacity=\"0.7\"><title>");
    acq_text_add_markup(&plot->text, title, SIZE_MAX);
    acq_text_add(&plot->text, "</title></circle>\n");
}

void acq_plot_add_square(acq_plot *plot, acq_plot_spot at, double half, size_t series,
                         const char *title)
{
    acq_text_format(&plot->text,
                    "<rect class=\"p%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                    "<title>",
                    series % ACQ_PLOT_STYLES, at.x - half, at.y - half, 2 * half, 2 * half);
    acq_text_add_markup(&plot->text, title == NULL ? "" : title, SIZE_MAX);
    acq_text_add(&plot->text, "</title></rect>\n");
}

void acq_plot_add_arrow(acq_plot *plot, acq_plot_spot from, acq_plot_spot to, double off,
                        bool is_dashed)
{
    enum { HEAD = 7 };
    double x = to.x - from.x, y = to.y - from.y, length = fmax(sqrt(x * x + y * y), 1e-6);
    x /= length;
    y /= length;
    acq_plot_spot end = {to.x - x * off, to.y - y * off};
    acq_text_format(&plot->text,
                    "<path class=\"a\" fill=\"none\" stroke-dasharray=\"%s\" d=\"M%.1f %.1fL%.1f "
                    "%.1f\"/>\n<path class=\"a\" fill=\"none\" d=\"M%.1f %.1fL%.1f %.1fL%.1f "
                    "%.1f\"/>\n",
                    is_dashed ? "5 4" : "none", from.x + x * off, from.y + y * off, end.x, end.y,
                    end.x - HEAD * (x - .45 * y), end.y - HEAD * (y + .45 * x), end.x, end.y,
                    end.x - HEAD * (x + .45 * y), end.y - HEAD * (y - .45 * x));
}

void acq_plot_add_mark(acq_plot *plot, acq_plot_spot at, size_t series, bool is_faint)
{
    static const char *const shapes[ACQ_PLOT_STYLES] = {"m-3 0a3 3 0 1 0 6 0a3 3 0 1 0-6 0z",
                                                        "m0-4l4 4l-4 4l-4-4z",
                                                        "m-3-3h6v6h-6z",
                                                        "m0-4l4 7h-8z",
                                                        "m0 4l4-7h-8z",
                                                        "m-4-1.5h8v3h-8z"};
    size_t style = series % ACQ_PLOT_STYLES;
    acq_text_format(&plot->text, "<path class=\"p%zu\"%s d=\"M%.1f %.1f%s\"/>\n", style,
                    is_faint ? " fill-opacity=\"0.45\"" : "", at.x, at.y, shapes[style]);
}

void acq_plot_add_bar(acq_plot *plot, double x, double from, double to)
{
    acq_text_format(&plot->text, "<path class=\"c\" d=\"M%.1f %.1fV%.1f\"/>\n", x, from, to);
}

/* ---- names of lines ---- */

static int compare_labels(const void *a, const void *b)
{
    const acq_plot_label *x = a, *y = b;
    if (x->end.y != y->end.y)
        return x->end.y < y->end.y ? -1 : 1;
    return (x->series > y->series) - (x->series < y->series);
}

/* As near to the ends of their lines as they can be without touching each other. */
static void place_labels(acq_plot_label *labels, size_t n, double top, double bottom)
{
    if (n > 1)
        qsort(labels, n, sizeof *labels, compare_labels);
    for (size_t i = 0; i < n; i++) {
        labels[i].at = fmax(labels[i].end.y, top);
        top = labels[i].at + LABEL_HEIGHT;
    }
    for (size_t i = n; i-- > 0;) {
        labels[i].at = fmin(labels[i].at, bottom);
        bottom = labels[i].at - LABEL_HEIGHT;
    }
}

void acq_plot_add_labels(acq_plot *plot, acq_plot_label *labels, size_t n, const acq_plot_axis *x,
                         const acq_plot_axis *y)
{
    place_labels(labels, n, y->end, y->begin);
    for (size_t i = 0; i < n; i++) {
        const acq_plot_label *label = &labels[i];
        size_t style = label->series % ACQ_PLOT_STYLES;
        acq_text_format(&plot->text,
                        "<path class=\"s%zu\" stroke-width=\"0.6\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n"
                        "<text class=\"p%zu\" x=\"%.1f\" y=\"%.1f\">",
                        style, label->end.x, label->end.y, x->end + 9, label->at, style,
                        x->end + 11, label->at + 4);
        acq_text_add_markup(&plot->text, label->text, SIZE_MAX);
        acq_text_add(&plot->text, "</text>\n");
    }
}
