/* figures.c - a picture of a table for one data set: a panel for each row, published and ours in
 * it.
 *
 *   AnyCQ                      filled disc: ours   open diamond's place: published
 *   100 |   o      o
 *    50 | o    o      o   o
 *     0 +------------------
 *        2p 3p pi ip inp pin */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "plot/plot.h"
#include "reproduce/render.h"

enum {
    PANEL_WIDTH = 300,
    PANEL_HEIGHT = 176,
    PER_ROW = 3,
    TOP = 84,
    LEFT = 36,
    RIGHT = 12,
    HEAD = 26,
    FOOT = 40,
    OURS = 0,
    PUBLISHED = 1,
};

typedef struct panel {
    const char *label;
    const double *published, *ours; /* NULL: none */
} panel;

static acq_plot_axis make_x(size_t at, size_t n_columns)
{
    double left = 16 + (double)(at % PER_ROW) * PANEL_WIDTH;
    return (acq_plot_axis){.low = -.5,
                           .high = (double)n_columns - .5,
                           .begin = left + LEFT,
                           .end = left + PANEL_WIDTH - RIGHT};
}

static acq_plot_axis make_y(size_t at)
{
    size_t row = at / PER_ROW;
    double top = TOP + (double)row * PANEL_HEIGHT;
    return (acq_plot_axis){
        .low = 0, .high = 100, .begin = top + PANEL_HEIGHT - FOOT, .end = top + HEAD};
}

static void add_name(acq_plot *plot, double x, double y, const char *name)
{
    acq_plot_axis at = {.begin = x, .end = x};
    acq_plot_add_x_name(plot, &at, y, name);
}

/* Of classification: 2p ... pin, and 3 4 5 above "hubs"; of retrieval: 1 2 3 all above "3-hub". */
static const char *get_short_name(acq_repro_columns columns, size_t c)
{
    static const char *const ks[] = {"1", "2", "3", "all"}, *const hubs[] = {"3", "4", "5"};
    if (columns == ACQ_COLUMNS_QAR)
        return ks[c % 4];
    bool is_hub = columns == ACQ_COLUMNS_QAC && c >= ACQ_PART_3hub;
    return is_hub ? hubs[c - ACQ_PART_3hub] : acq_repro_get_column(columns, c);
}

/* What columns side by side have in common, below their names; NULL: nothing. */
static const char *get_group(acq_repro_columns columns, size_t c)
{
    if (columns == ACQ_COLUMNS_QAR)
        return acq_repro_part_get_name((acq_repro_part)(ACQ_PART_3hub + c / 4));
    return columns == ACQ_COLUMNS_QAC && c >= ACQ_PART_3hub ? "hubs" : NULL;
}

static void add_columns(acq_plot *plot, const acq_repro_lines *lines, acq_repro_columns columns,
                        const acq_plot_axis *x, const acq_plot_axis *y)
{
    for (size_t i = 0, begin = 0; i < lines->n_shown; i++) {
        const char *group = get_group(columns, lines->shown[i]);
        bool is_last = i + 1 == lines->n_shown || get_group(columns, lines->shown[i + 1]) != group;
        add_name(plot, acq_plot_place(x, (double)i), y->begin + 15,
                 get_short_name(columns, lines->shown[i]));
        if (is_last && group != NULL)
            add_name(plot, acq_plot_place(x, (double)(begin + i) / 2), y->begin + 30, group);
        begin = is_last ? i + 1 : begin;
    }
}

/* What a pointer over a mark reads. */
static void print_title(char *out, size_t room, const char *whose, const char *column, double value)
{
    acq_format(out, room, "%s, %s: %.1f", whose, column, value);
}

static void add_values(acq_plot *plot, const acq_repro_lines *lines, const panel *p,
                       acq_repro_columns columns, const acq_plot_axis *x, const acq_plot_axis *y)
{
    for (size_t i = 0; i < lines->n_shown; i++) {
        size_t c = lines->shown[i];
        double at = acq_plot_place(x, (double)i);
        const char *column = acq_repro_get_column(columns, c);
        bool has_published = p->published != NULL && !isnan(p->published[c]);
        bool has_ours = p->ours != NULL && !isnan(p->ours[c]);
        char title[96];
        if (has_published && has_ours)
            acq_plot_add_guide(plot, (acq_plot_spot){at, acq_plot_place(y, p->published[c])},
                               (acq_plot_spot){at, acq_plot_place(y, p->ours[c])});
        if (has_published) {
            print_title(title, sizeof title, "published", column, p->published[c]);
            acq_plot_add_square(plot, (acq_plot_spot){at, acq_plot_place(y, p->published[c])}, 3.5,
                                PUBLISHED, title);
        }
        if (has_ours) {
            print_title(title, sizeof title, "ours", column, p->ours[c]);
            acq_plot_add_disc(plot, (acq_plot_spot){at, acq_plot_place(y, p->ours[c])}, 4.5, OURS,
                              title);
        }
    }
}

static void add_panel(acq_plot *plot, const acq_repro_lines *lines, size_t at, const panel *p,
                      acq_repro_columns columns)
{
    acq_plot_axis x = make_x(at, lines->n_shown), y = make_y(at);
    acq_plot_add_text(plot, x.begin, y.end - 13, p->label);
    for (int level = 0; level <= 100; level += 25)
        acq_plot_add_level(plot, &x, &y, level, level % 50 == 0);
    add_columns(plot, lines, columns, &x, &y);
    add_values(plot, lines, p, columns, &x, &y);
}

static size_t collect(const acq_repro_lines *lines, panel *panels)
{
    size_t n = 0;
    for (size_t i = 0; i < lines->n; i++) {
        const acq_repro_line *line = &lines->items[i];
        const acq_repro_line *ours = line->is_published ? line + 1 : line;
        if (line->n + ours->n > 0 && !line->is_count)
            panels[n++] = (panel){.label = line->label,
                                  .published = line->is_published ? line->values : NULL,
                                  .ours = ours->values};
        i += line->is_published;
    }
    return n;
}

static void add_legend(acq_plot *plot, const acq_repro_subject *subject, bool has_published)
{
    char ours[32];
    acq_format(ours, sizeof ours, "ours, %s", acq_repro_get_split(subject));
    acq_plot_add_disc(plot, (acq_plot_spot){24, 66}, 4.5, OURS, "ours");
    acq_plot_add_text(plot, 34, 70, ours);
    if (!has_published)
        return;
    acq_plot_add_square(plot, (acq_plot_spot){154, 66}, 3.5, PUBLISHED, "published");
    acq_plot_add_text(plot, 164, 70, "published, test");
}

acq_status acq_repro_draw(acq_text *out, const acq_repro_table *table,
                          const acq_repro_subject *subject, const acq_repro_lines *lines,
                          acq_error *error)
{
    panel *panels = acq_alloc(lines->n + 1, sizeof *panels);
    if (panels == NULL)
        return acq_fail_memory(error);
    size_t n = collect(lines, panels);
    size_t n_rows = (n + PER_ROW - 1) / PER_ROW;
    if (n == 0) {
        acq_free(panels);
        return ACQ_OK;
    }
    acq_plot plot;
    acq_plot_begin(&plot, 32 + PER_ROW * PANEL_WIDTH, TOP + 8 + (int)n_rows * PANEL_HEIGHT,
                   table->title, subject->name);
    bool has_published = false;
    for (size_t i = 0; i < n; i++) {
        add_panel(&plot, lines, i, &panels[i], table->columns);
        has_published |= panels[i].published != NULL;
    }
    add_legend(&plot, subject, has_published);
    acq_text_add(&plot.text, "</svg>\n");
    acq_status status = acq_text_finish(&plot.text, error);
    if (status == ACQ_OK)
        acq_text_add_bytes(out, plot.text.bytes, plot.text.length);
    acq_text_deinit(&plot.text);
    acq_free(panels);
    return status;
}
