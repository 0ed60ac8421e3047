/* curve.c - the points of a training, their CSV file and their picture; see curve.h.
 *
 * One table says what the columns are, for writing and for reading. Numbers keep nine digits, so
 * a curve that is read and written again is the same file. */
#include "train/train.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "plot/plot.h"

typedef struct csv_column {
    const char *name;
    size_t place; /* in acq_curve_point */
    bool is_counter;
} csv_column;

#define FIELD(name) #name, offsetof(acq_curve_point, name)

static const csv_column columns[] = {
    {FIELD(seed), true},     {FIELD(batch), true},       {FIELD(episodes), true},
    {FIELD(seconds), false}, {FIELD(solved), false},     {FIELD(reward), false},
    {FIELD(steps), false},   {FIELD(loss), false},       {FIELD(norm), false},
    {FIELD(rate), false},    {FIELD(hub_solved), false}, {FIELD(held_solved), false}};

enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

void acq_curve_deinit(acq_curve *curve)
{
    acq_free(curve->points);
    *curve = (acq_curve){0};
}

acq_status acq_curve_add(acq_curve *curve, const acq_curve_point *point)
{
    acq_status status = ACQ_RESERVE(curve->points, curve->capacity, curve->n + 1);
    if (status == ACQ_OK)
        curve->points[curve->n++] = *point;
    return status;
}

static void add_field(acq_text *text, const acq_curve_point *point, const csv_column *column)
{
    const char *field = (const char *)point + column->place;
    uint64_t counter;
    double number;
    if (column->is_counter) {
        memcpy(&counter, field, sizeof counter);
        acq_text_format(text, "%llu", (unsigned long long)counter);
        return;
    }
    memcpy(&number, field, sizeof number);
    if (!isnan(number))
        acq_text_format(text, "%.9g", number);
}

static void add_header(acq_text *text)
{
    for (size_t i = 0; i < N_COLUMNS; i++)
        acq_text_format(text, "%s%c", columns[i].name, i + 1 < N_COLUMNS ? ',' : '\n');
}

acq_status acq_curve_write_csv(const acq_curve *curve, const char *path, acq_error *error)
{
    acq_text text;
    acq_text_init(&text);
    add_header(&text);
    for (size_t i = 0; i < curve->n; i++) {
        for (size_t j = 0; j < N_COLUMNS; j++) {
            add_field(&text, &curve->points[i], &columns[j]);
            acq_text_add_char(&text, j + 1 < N_COLUMNS ? ',' : '\n');
        }
    }
    acq_status status = acq_text_finish(&text, error);
    if (status == ACQ_OK)
        status = acq_new_file_write(path, "the training curve", text.bytes, text.length, error);
    acq_text_deinit(&text);
    return status;
}

bool acq_curve_is_one(const char *path)
{
    char start[256];
    size_t got = 0;
    int file;
    acq_text header;
    acq_text_init(&header);
    add_header(&header);
    bool is_one = !header.failed && acq_file_open(path, &file, NULL) == ACQ_OK;
    if (is_one) {
        is_one = acq_file_read_some(file, path, start, sizeof start, &got, NULL) == ACQ_OK &&
                 got >= header.length && memcmp(start, header.bytes, header.length) == 0;
        acq_file_close(file);
    }
    acq_text_deinit(&header);
    return is_one;
}

/* The field that begins at `at`; returns its end, NULL when it is none. */
static char *read_field(char *at, const csv_column *column, char *point)
{
    char *end = at;
    errno = 0;
    if (column->is_counter) {
        uint64_t counter = strtoull(at, &end, 10);
        memcpy(point + column->place, &counter, sizeof counter);
        return *at < '0' || *at > '9' || errno != 0 ? NULL : end;
    }
    bool is_empty = *at == ',' || *at == '\n';
    double number = is_empty ? NAN : acq_read_double(at, &end);
    memcpy(point + column->place, &number, sizeof number);
    return !is_empty && (isspace((unsigned char)*at) || end == at) ? NULL : end;
}

static acq_status read_line(acq_curve *curve, char **at, size_t line, acq_error *error)
{
    acq_curve_point point;
    for (size_t i = 0; i < N_COLUMNS; i++) {
        char *end = read_field(*at, &columns[i], (char *)&point);
        if (end == NULL || *end != (i + 1 < N_COLUMNS ? ',' : '\n'))
            return acq_fail_at(error, ACQ_ERR_INPUT, line, 0,
                               "column %zu (%s) is not as a training writes it; start anew", i + 1,
                               columns[i].name);
        *at = end + 1;
    }
    acq_status status = acq_curve_add(curve, &point);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

static acq_status read_lines(acq_curve *curve, char *text, acq_error *error)
{
    acq_text header;
    acq_text_init(&header);
    add_header(&header);
    acq_status status = acq_text_finish(&header, error);
    if (status == ACQ_OK && strncmp(text, header.bytes, header.length) != 0)
        status = acq_fail_at(error, ACQ_ERR_INPUT, 1, 0,
                             "this is not a training curve: its columns are others");
    char *at = text + header.length;
    for (size_t line = 2; status == ACQ_OK && *at != '\0'; line++)
        status = read_line(curve, &at, line, error);
    acq_text_deinit(&header);
    return status;
}

acq_status acq_curve_read_csv(acq_curve *curve, const char *path, acq_error *error)
{
    acq_curve read = {0};
    char *text = NULL;
    size_t length = 0;
    acq_status status = acq_file_read(path, &text, &length, error);
    if (status == ACQ_OK)
        status = read_lines(&read, text, error);
    acq_free(text);
    acq_error_set_file(error, path);
    if (status != ACQ_OK) {
        acq_curve_deinit(&read);
        return status;
    }
    acq_curve_deinit(curve);
    *curve = read;
    return ACQ_OK;
}

/* ---- the picture ----
 *
 * 800 x 480, one panel for each measure that the curve has, solved in percent against episodes,
 * one line per seed with its name at the end. */

enum {
    MOST_PANELS = 3,
    MOST_LABELS = 24, /* that fit one below the other */
    MOST_MARKED = 16, /* points of a line with a dot on each */
    SPOT_WIDTH = 4,
};

static const struct {
    int width, height, left, right, top, bottom;
} page = {800, 480, 56, 792, 84, 416};

typedef struct panel {
    const char *title;
    size_t place; /* of the measure in acq_curve_point */
    acq_plot_axis x, y;
} panel;

typedef struct picture {
    acq_plot plot;
    const acq_curve *curve;
    uint64_t *seeds; /* sorted, each once */
    size_t n_seeds;
    acq_plot_spot *spots; /* scratch: room for all points */
    panel panels[MOST_PANELS];
    size_t n_panels;
} picture;

static double get_percent(const panel *p, const acq_curve_point *point)
{
    double value;
    memcpy(&value, (const char *)point + p->place, sizeof value);
    return 100 * value; /* NAN stays NAN */
}

static int compare_seeds(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void list_seeds(picture *pic)
{
    const acq_curve *curve = pic->curve;
    uint64_t *seeds = pic->seeds;
    for (size_t i = 0; i < curve->n; i++)
        seeds[i] = curve->points[i].seed;
    if (curve->n > 1)
        qsort(seeds, curve->n, sizeof *seeds, compare_seeds);
    for (size_t i = 0; i < curve->n; i++) {
        if (i == 0 || seeds[i] != seeds[i - 1])
            seeds[pic->n_seeds++] = seeds[i];
    }
}

static bool has_values(const acq_curve *curve, const panel *p)
{
    for (size_t i = 0; i < curve->n; i++) {
        if (!isnan(get_percent(p, &curve->points[i])))
            return true;
    }
    return false;
}

/* Room for the widest name, "seed 1", to the right of a panel. */
static double get_label_width(const picture *pic)
{
    uint64_t seed = pic->n_seeds == 0 ? 0 : pic->seeds[pic->n_seeds - 1];
    double width = 58;
    for (; seed > 9; seed /= 10)
        width += 7;
    return width;
}

static void list_panels(picture *pic)
{
    static const panel all[MOST_PANELS] = {
        {.title = "episodes of training", .place = offsetof(acq_curve_point, solved)},
        {.title = "of these, hub-like queries", .place = offsetof(acq_curve_point, hub_solved)},
        {.title = "search on queries kept aside", .place = offsetof(acq_curve_point, held_solved)}};
    double last = 1;
    for (size_t i = 0; i < MOST_PANELS; i++) {
        if (i == 0 || has_values(pic->curve, &all[i]))
            pic->panels[pic->n_panels++] = all[i];
    }
    for (size_t i = 0; i < pic->curve->n; i++)
        last = fmax(last, (double)pic->curve->points[i].episodes);
    double pitch = (double)(page.right - page.left) / (double)pic->n_panels;
    for (size_t i = 0; i < pic->n_panels; i++) {
        double left = page.left + pitch * (double)i, right = left + pitch - get_label_width(pic);
        pic->panels[i].x = (acq_plot_axis){ACQ_PLOT_LINEAR, 0, last, left, right};
        pic->panels[i].y = (acq_plot_axis){ACQ_PLOT_LINEAR, 0, 100, page.bottom, page.top};
    }
}

/* The spots of one line in pic->spots; returns their number. Points closer than a few pixels are
 * averaged, so that noise does not hide the dashes. */
static size_t collect_line(const picture *pic, const panel *p, uint64_t seed)
{
    acq_plot_spot *spots = pic->spots;
    double start = -INFINITY, merged = 0;
    size_t n = 0;
    for (size_t i = 0; i < pic->curve->n; i++) {
        const acq_curve_point *point = &pic->curve->points[i];
        double value = get_percent(p, point), x = acq_plot_place(&p->x, (double)point->episodes);
        if (point->seed != seed || isnan(value))
            continue;
        if (x - start >= SPOT_WIDTH) {
            spots[n++] = (acq_plot_spot){0};
            start = x;
            merged = 0;
        }
        merged++;
        spots[n - 1].x += (x - spots[n - 1].x) / merged;
        spots[n - 1].y += (acq_plot_place(&p->y, value) - spots[n - 1].y) / merged;
    }
    return n;
}

static void draw_axes(picture *pic, const panel *p)
{
    double width = p->x.end - p->x.begin;
    double tick = fmax(acq_plot_choose_tick(p->x.high, fmax(floor(width / 42), 1)), 1);
    acq_plot_add_text(&pic->plot, p->x.begin, page.top - 12, p->title);
    for (int percent = 0; percent <= 100; percent += 20)
        acq_plot_add_level(&pic->plot, &p->x, &p->y, percent, p == pic->panels);
    for (double count = 0; count <= p->x.high; count += tick)
        acq_plot_add_column(&pic->plot, &p->x, &p->y, count, false);
}

static void draw_panel(picture *pic, const panel *p)
{
    acq_plot_label labels[MOST_LABELS];
    size_t n_labels = 0;
    draw_axes(pic, p);
    for (size_t i = 0; i < pic->n_seeds; i++) {
        size_t n = collect_line(pic, p, pic->seeds[i]);
        if (n == 0)
            continue;
        acq_plot_add_line(&pic->plot, pic->spots, n, i);
        for (size_t j = 0; j < n && n <= MOST_MARKED; j++)
            acq_plot_add_disc(&pic->plot, pic->spots[j], 2, i, NULL);
        if (n_labels == MOST_LABELS)
            continue;
        acq_plot_label *label = &labels[n_labels++];
        *label = (acq_plot_label){.end = pic->spots[n - 1], .series = i};
        snprintf(label->text, sizeof label->text, "seed %llu", (unsigned long long)pic->seeds[i]);
    }
    acq_plot_add_labels(&pic->plot, labels, n_labels, &p->x, &p->y);
}

acq_status acq_curve_write_svg(const acq_curve *curve, const char *title, const char *path,
                               acq_error *error)
{
    picture pic = {.curve = curve,
                   .seeds = acq_alloc(curve->n, sizeof *pic.seeds),
                   .spots = acq_alloc(curve->n, sizeof *pic.spots)};
    acq_status status = ACQ_OK;
    if (pic.seeds == NULL || pic.spots == NULL) {
        status = acq_fail_memory(error);
    } else {
        acq_plot_axis page_x = {.begin = page.left, .end = page.right};
        list_seeds(&pic);
        list_panels(&pic);
        acq_plot_begin(&pic.plot, page.width, page.height, title,
                       "solved, in percent, against episodes; one line per seed");
        acq_plot_add_x_name(&pic.plot, &page_x, page.bottom + 50, "episodes");
        for (size_t i = 0; i < pic.n_panels; i++)
            draw_panel(&pic, &pic.panels[i]);
        status = acq_plot_finish(&pic.plot, path, "the training curve", error);
    }
    acq_free(pic.seeds);
    acq_free(pic.spots);
    return status;
}
