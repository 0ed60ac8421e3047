/* curve_svg.c - the training curve as a picture: 800 x 480, one panel for each measure that the
 * curve has, solved in percent against episodes, one line per seed.
 *
 *      title
 *      measure              measure              measure
 *  100 ┼────────── seed 2   ┼────────── seed 2   ┼────────── seed 1
 *    0 ┼──────────          ┼──────────          ┼──────────
 *                            episodes
 *
 * Lines differ in dash and colour and carry their names at the end; names that would overlap are
 * moved apart and tied to their lines. Text stays text, so the picture can be searched. */
#include "train/curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/new_file.h"
#include "base/text.h"
#include "plot/xml_text.h"

enum {
    MOST_PANELS = 3,
    MOST_TITLE = 70,  /* characters */
    MOST_LABELS = 24, /* that fit one below the other */
    MOST_MARKED = 16, /* points of a line with a dot on each */
    TOP = 84,
    BOTTOM = 416,
    LEFT = 56,
    RIGHT = 792,
    LABEL_HEIGHT = 14,
    SPOT_WIDTH = 4,
    N_STYLES = 6
};

static const struct {
    const char *colour, *dash;
} styles[N_STYLES] = {{"#0b5fa5", "none"},     {"#b8450c", "7 3"}, {"#087257", "2 3"},
                      {"#84398a", "10 3 2 3"}, {"#4a4a4a", "4 4"}, {"#8a5f00", "14 4"}};

typedef struct svg_panel {
    const char *title;
    size_t place; /* of the measure in acq_curve_point */
    double left, right;
} svg_panel;

typedef struct svg_spot {
    double x, y;
} svg_spot;

typedef struct svg_picture {
    acq_text *text;
    const acq_curve *curve;
    uint64_t *seeds; /* sorted, each once */
    size_t n_seeds;
    svg_spot *spots; /* scratch: room for all points */
    svg_panel panels[MOST_PANELS];
    size_t n_panels;
    double last; /* most episodes, at least 1 */
} svg_picture;

/* Where a line ends, and where its name stands. */
typedef struct svg_label {
    size_t i_seed;
    svg_spot end;
    double at;
} svg_label;

static double get_value(const svg_panel *panel, const acq_curve_point *point)
{
    double value;
    memcpy(&value, (const char *)point + panel->place, sizeof value);
    return value < 0 ? 0 : value > 1 ? 1 : value; /* NAN stays NAN */
}

static double get_x(const svg_picture *picture, const svg_panel *panel,
                    const acq_curve_point *point)
{
    return panel->left + (panel->right - panel->left) * (double)point->episodes / picture->last;
}

static double get_y(double value)
{
    return BOTTOM - (BOTTOM - TOP) * value;
}

static int compare_seeds(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void list_seeds(svg_picture *picture)
{
    const acq_curve *curve = picture->curve;
    uint64_t *seeds = picture->seeds;
    for (size_t i = 0; i < curve->n; i++)
        seeds[i] = curve->points[i].seed;
    qsort(seeds, curve->n, sizeof *seeds, compare_seeds);
    for (size_t i = 0; i < curve->n; i++) {
        if (i == 0 || seeds[i] != seeds[i - 1])
            seeds[picture->n_seeds++] = seeds[i];
    }
}

static bool has_values(const acq_curve *curve, const svg_panel *panel)
{
    for (size_t i = 0; i < curve->n; i++) {
        if (!isnan(get_value(panel, &curve->points[i])))
            return true;
    }
    return false;
}

/* Room for the widest name, "seed 1", to the right of a panel. */
static double get_label_width(const svg_picture *picture)
{
    uint64_t seed = picture->n_seeds == 0 ? 0 : picture->seeds[picture->n_seeds - 1];
    double width = 58;
    for (; seed > 9; seed /= 10)
        width += 7;
    return width;
}

static void list_panels(svg_picture *picture)
{
    static const svg_panel all[MOST_PANELS] = {
        {"episodes of training", offsetof(acq_curve_point, solved), 0, 0},
        {"of these, hub-like queries", offsetof(acq_curve_point, hub_solved), 0, 0},
        {"search on queries kept aside", offsetof(acq_curve_point, held_solved), 0, 0}};
    for (size_t i = 0; i < MOST_PANELS; i++) {
        if (i == 0 || has_values(picture->curve, &all[i]))
            picture->panels[picture->n_panels++] = all[i];
    }
    double pitch = (double)(RIGHT - LEFT) / (double)picture->n_panels;
    for (size_t i = 0; i < picture->n_panels; i++) {
        picture->panels[i].left = LEFT + pitch * (double)i;
        picture->panels[i].right = LEFT + pitch * (double)(i + 1) - get_label_width(picture);
    }
}

static void draw_frame(const svg_picture *picture, const char *title)
{
    acq_text *text = picture->text;
    acq_text_add(text, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"480\" "
                       "viewBox=\"0 0 800 480\" role=\"img\" font-family=\"sans-serif\" "
                       "font-size=\"12\" fill=\"#333\">\n<title>");
    acq_xml_add_text(text, title, SIZE_MAX);
    acq_text_add(text, "</title>\n<rect width=\"800\" height=\"480\" fill=\"#fdfdfc\"/>\n"
                       "<text x=\"16\" y=\"30\" font-size=\"16\" font-weight=\"bold\" "
                       "fill=\"#111\">");
    acq_xml_add_text(text, title, MOST_TITLE);
    acq_text_add(text, "</text>\n<text x=\"16\" y=\"50\">solved, in percent, against episodes; one "
                       "line per seed</text>\n");
    acq_text_format(text, "<text x=\"%d\" y=\"466\" text-anchor=\"middle\">episodes</text>\n",
                    (LEFT + RIGHT) / 2);
}

static void draw_levels(const svg_picture *picture, const svg_panel *panel)
{
    for (int percent = 0; percent <= 100; percent += 20) {
        double y = get_y(percent / 100.0);
        acq_text_format(picture->text, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"%s\"/>\n", panel->left,
                        y, panel->right, percent == 0 ? "#555" : "#ddd");
        if (panel == picture->panels)
            acq_text_format(picture->text,
                            "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n",
                            panel->left - 8, y + 4, percent);
    }
}

/* 1, 2 or 5 times a power of ten, so that at most `most` of them are in `range`. */
static double get_tick(double range, double most)
{
    double power = pow(10, floor(log10(range / most)));
    double times = range / most / power;
    double tick = power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
    return fmax(tick, 1);
}

static void add_count(acq_text *text, double count)
{
    if (count >= 1e6)
        acq_text_format(text, "%g M", count / 1e6);
    else if (count >= 1e4)
        acq_text_format(text, "%g k", count / 1e3);
    else
        acq_text_format(text, "%g", count);
}

static void draw_counts(const svg_picture *picture, const svg_panel *panel)
{
    acq_text *text = picture->text;
    double width = panel->right - panel->left;
    double tick = get_tick(picture->last, fmax(floor(width / 42), 1));
    for (double count = 0; count <= picture->last; count += tick) {
        double x = panel->left + width * count / picture->last;
        acq_text_format(text,
                        "<path d=\"M%.1f %dv5\" stroke=\"#555\"/>\n<text x=\"%.1f\" y=\"%d\" "
                        "text-anchor=\"middle\">",
                        x, BOTTOM, x, BOTTOM + 20);
        add_count(text, count);
        acq_text_add(text, "</text>\n");
    }
}

/* The spots of one line in picture->spots; returns their number. Points closer than a few pixels
 * are averaged, so that noise does not hide the dashes. */
static size_t collect_line(const svg_picture *picture, const svg_panel *panel, uint64_t seed)
{
    svg_spot *spots = picture->spots;
    double start = -INFINITY, merged = 0;
    size_t n = 0;
    for (size_t i = 0; i < picture->curve->n; i++) {
        const acq_curve_point *point = &picture->curve->points[i];
        double value = get_value(panel, point), x = get_x(picture, panel, point);
        if (point->seed != seed || isnan(value))
            continue;
        if (x - start >= SPOT_WIDTH) {
            spots[n++] = (svg_spot){0};
            start = x;
            merged = 0;
        }
        merged++;
        spots[n - 1].x += (x - spots[n - 1].x) / merged;
        spots[n - 1].y += (get_y(value) - spots[n - 1].y) / merged;
    }
    return n;
}

static void draw_line(const svg_picture *picture, size_t i_seed, size_t n)
{
    acq_text *text = picture->text;
    const char *colour = styles[i_seed % N_STYLES].colour;
    acq_text_format(text,
                    "<polyline fill=\"none\" stroke-width=\"1.75\" stroke-linejoin=\"round\" "
                    "stroke=\"%s\" stroke-dasharray=\"%s\" points=\"",
                    colour, styles[i_seed % N_STYLES].dash);
    for (size_t i = 0; i < n; i++)
        acq_text_format(text, "%s%.1f,%.1f", i == 0 ? "" : " ", picture->spots[i].x,
                        picture->spots[i].y);
    acq_text_add(text, "\"/>\n");
    for (size_t i = 0; i < n && n <= MOST_MARKED; i++)
        acq_text_format(text, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\" fill=\"%s\"/>\n",
                        picture->spots[i].x, picture->spots[i].y, colour);
}

static int compare_labels(const void *a, const void *b)
{
    const svg_label *x = a, *y = b;
    if (x->end.y != y->end.y)
        return x->end.y < y->end.y ? -1 : 1;
    return (x->i_seed > y->i_seed) - (x->i_seed < y->i_seed);
}

/* Names as near to the ends of their lines as they can be without touching each other. */
static void place_labels(svg_label *labels, size_t n)
{
    double least = TOP, most = BOTTOM;
    qsort(labels, n, sizeof *labels, compare_labels);
    for (size_t i = 0; i < n; i++) {
        labels[i].at = fmax(labels[i].end.y, least);
        least = labels[i].at + LABEL_HEIGHT;
    }
    for (size_t i = n; i-- > 0;) {
        labels[i].at = fmin(labels[i].at, most);
        most = labels[i].at - LABEL_HEIGHT;
    }
}

static void draw_label(const svg_picture *picture, const svg_panel *panel, const svg_label *label)
{
    const char *colour = styles[label->i_seed % N_STYLES].colour;
    acq_text_format(picture->text,
                    "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"0.6\"/>\n"
                    "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">seed %llu</text>\n",
                    label->end.x, label->end.y, panel->right + 9, label->at, colour,
                    panel->right + 11, label->at + 4, colour,
                    (unsigned long long)picture->seeds[label->i_seed]);
}

static void draw_panel(const svg_picture *picture, const svg_panel *panel)
{
    svg_label labels[MOST_LABELS];
    size_t n_labels = 0;
    acq_text_format(picture->text, "<text x=\"%.1f\" y=\"%d\" fill=\"#111\">%s</text>\n",
                    panel->left, TOP - 12, panel->title);
    draw_levels(picture, panel);
    draw_counts(picture, panel);
    for (size_t i = 0; i < picture->n_seeds; i++) {
        size_t n = collect_line(picture, panel, picture->seeds[i]);
        if (n == 0)
            continue;
        draw_line(picture, i, n);
        if (n_labels < MOST_LABELS)
            labels[n_labels++] = (svg_label){.i_seed = i, .end = picture->spots[n - 1]};
    }
    place_labels(labels, n_labels);
    for (size_t i = 0; i < n_labels; i++)
        draw_label(picture, panel, &labels[i]);
}

static void draw(svg_picture *picture, const char *title)
{
    list_seeds(picture);
    list_panels(picture);
    for (size_t i = 0; i < picture->curve->n; i++)
        picture->last = fmax(picture->last, (double)picture->curve->points[i].episodes);
    draw_frame(picture, title);
    for (size_t i = 0; i < picture->n_panels; i++)
        draw_panel(picture, &picture->panels[i]);
    acq_text_add(picture->text, "</svg>\n");
}

acq_status acq_curve_write_svg(const acq_curve *curve, const char *title, const char *path,
                               acq_error *error)
{
    acq_text text;
    acq_text_init(&text);
    svg_picture picture = {.text = &text,
                           .curve = curve,
                           .last = 1,
                           .seeds = acq_alloc(curve->n, sizeof *picture.seeds),
                           .spots = acq_alloc(curve->n, sizeof *picture.spots)};
    acq_status status = ACQ_OK;
    if (picture.seeds == NULL || picture.spots == NULL)
        status = acq_fail_memory(error);
    else
        draw(&picture, title);
    if (status == ACQ_OK)
        status = acq_text_finish(&text, error);
    if (status == ACQ_OK)
        status = acq_new_file_write(path, "the training curve", text.bytes, text.length, error);
    acq_free(picture.seeds);
    acq_free(picture.spots);
    acq_text_deinit(&text);
    return status;
}
