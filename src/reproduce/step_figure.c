/* step_figure.c - step times as a table, as CSV and as the paper's four panels: the mean time of a
 * step by the number of variables; and the same divided by variables, literals, and both. */
#include <math.h>
#include <string.h>

#include "plot/plot.h"
#include "reproduce/render.h"

enum { WIDTH = 932, HEIGHT = 560, PANEL = 450, TOP = 84, ROW = 232, N_PANELS = 4 };

static const char *const panel_names[N_PANELS] = {"ms a step", "ms a step and variable",
                                                  "ms a step and literal",
                                                  "ms a step / (variables + 2 literals)"};

static double divide(const acq_repro_step *p, size_t panel)
{
    double variables = p->variables, literals = p->literals;
    double by[N_PANELS] = {1, variables, literals, variables + 2 * literals};
    return p->ms / fmax(by[panel], 1);
}

/* ---- the table: queries below and above the median number of variables ---- */

typedef struct half {
    size_t n;
    double low, high; /* variables */
    double sums[N_PANELS];
} half;

static unsigned find_median(const acq_repro_plan *plan, const acq_repro_subject *subject)
{
    unsigned counts[65] = {0}, all = 0, sum = 0;
    for (const acq_repro_step *p = plan->steps; p != NULL; p = p->next)
        if (p->subject == subject && p->variables <= 64) {
            counts[p->variables]++;
            all++;
        }
    for (unsigned v = 0; v <= 64; v++) {
        sum += counts[v];
        if (2 * sum >= all)
            return v;
    }
    return 64;
}

static half measure(const acq_repro_plan *plan, const acq_repro_subject *subject, bool is_upper)
{
    half h = {.low = INFINITY};
    unsigned median = find_median(plan, subject);
    for (const acq_repro_step *p = plan->steps; p != NULL; p = p->next) {
        if (p->subject != subject || (p->variables > median) != is_upper)
            continue;
        h.n++;
        h.low = fmin(h.low, p->variables);
        h.high = fmax(h.high, p->variables);
        for (size_t i = 0; i < N_PANELS; i++)
            h.sums[i] += divide(p, i);
    }
    return h;
}

static void add_row(acq_text *out, const acq_repro_subject *subject, const half *h, bool is_html)
{
    const char *between = is_html ? "</td><td>" : " | ";
    acq_text_add(out, is_html ? "<tr><td>" : "| ");
    acq_text_add_markup(out, subject->name, SIZE_MAX);
    acq_text_format(out, "%s%g to %g variables%s%zu", between, h->low, h->high, between, h->n);
    for (size_t i = 0; i < N_PANELS; i++)
        acq_text_format(out, "%s%.3g", between, h->sums[i] / (double)h->n);
    acq_text_add(out, is_html ? "</td></tr>\n" : " |\n");
}

void acq_repro_add_step_rows(acq_text *out, const acq_repro_plan *plan, bool is_html)
{
    if (plan->steps == NULL)
        return;
    const char *between = is_html ? "</th><th>" : " | ";
    acq_text_format(out, "%s%s%squeries", is_html ? "<tr><th>" : "| ", between, between);
    for (size_t i = 0; i < N_PANELS; i++)
        acq_text_format(out, "%s%s", between, panel_names[i]);
    acq_text_add(out, is_html ? "</th></tr>\n" : " |\n|---|---|---|---|---|---|---|\n");
    for (const acq_repro_subject *s = plan->folder.subjects; s != NULL; s = s->next)
        for (int upper = 0; upper < 2; upper++) {
            half h = measure(plan, s, upper == 1);
            if (h.n > 0)
                add_row(out, s, &h, is_html);
        }
}

void acq_repro_add_step_csv(acq_text *out, const acq_repro_plan *plan)
{
    acq_text_add(out, "data_set,split,variables,literals,steps,ms_of_a_step\n");
    for (const acq_repro_step *p = plan->steps; p != NULL; p = p->next) {
        acq_text_add_char(out, '"');
        for (const char *c = p->subject->name; *c != '\0'; c++) {
            if (*c == '"')
                acq_text_add_char(out, '"');
            acq_text_add_char(out, *c);
        }
        acq_text_format(out, "\",%s,%u,%u,%llu,%.4f\n", acq_repro_get_split(p->subject),
                        p->variables, p->literals, (unsigned long long)p->steps, p->ms);
    }
}

/* ---- the picture ---- */

typedef struct ranges {
    double low, high, most[N_PANELS];
} ranges;

static ranges find_ranges(const acq_repro_plan *plan)
{
    ranges r = {.low = INFINITY};
    for (const acq_repro_step *p = plan->steps; p != NULL; p = p->next) {
        r.low = fmin(r.low, p->variables);
        r.high = fmax(r.high, p->variables);
        for (size_t i = 0; i < N_PANELS; i++)
            r.most[i] = fmax(r.most[i], divide(p, i));
    }
    return r;
}

static size_t get_series(const acq_repro_plan *plan, const acq_repro_subject *subject)
{
    size_t series = 0;
    for (const acq_repro_subject *s = plan->folder.subjects; s != NULL && s != subject; s = s->next)
        series++;
    return series;
}

static void add_panel(acq_plot *plot, const acq_repro_plan *plan, size_t panel, const ranges *r)
{
    size_t column = panel % 2, row = panel / 2;
    double left = 16 + (double)column * PANEL, top = TOP + (double)row * ROW;
    acq_plot_axis x = {
        .low = r->low - 1, .high = r->high + 1, .begin = left + 52, .end = left + PANEL - 20};
    acq_plot_axis y = {
        .low = 0, .high = fmax(r->most[panel], 1e-6), .begin = top + ROW - 56, .end = top + 22};
    double tick = acq_plot_choose_tick(y.high, 4);
    acq_plot_add_text(plot, x.begin, y.end - 8, panel_names[panel]);
    for (double v = 0; v <= y.high; v += tick)
        acq_plot_add_level(plot, &x, &y, v, true);
    tick = fmax(acq_plot_choose_tick(x.high - x.low, 8), 1);
    for (double v = ceil(x.low / tick) * tick; v <= x.high; v += tick)
        acq_plot_add_column(plot, &x, &y, v, false);
    acq_plot_add_x_name(plot, &x, y.begin + 38, "variables");
    for (const acq_repro_step *p = plan->steps; p != NULL; p = p->next) {
        acq_plot_spot at = {acq_plot_place(&x, p->variables), acq_plot_place(&y, divide(p, panel))};
        acq_plot_add_mark(plot, at, get_series(plan, p->subject), true);
    }
}

void acq_repro_draw_steps(acq_text *out, const acq_repro_plan *plan)
{
    acq_plot plot;
    ranges r = find_ranges(plan);
    if (plan->steps == NULL)
        return;
    acq_plot_begin(&plot, WIDTH, HEIGHT, "Time of a step of the policy search",
                   "a mark for each retrieval query of the 3-hub files, one thread");
    double at = 24;
    for (const acq_repro_subject *s = plan->folder.subjects; s != NULL; s = s->next) {
        char name[64];
        acq_format(name, sizeof name, "%.40s, %s", s->name, acq_repro_get_split(s));
        acq_plot_add_mark(&plot, (acq_plot_spot){at, 66}, get_series(plan, s), false);
        acq_plot_add_text(&plot, at + 10, 70, name);
        at += 40 + 7 * (double)strlen(name);
    }
    for (size_t i = 0; i < N_PANELS; i++)
        add_panel(&plot, plan, i, &r);
    acq_text_add(&plot.text, "</svg>\n");
    if (plot.text.failed)
        out->failed = true;
    else
        acq_text_add_bytes(out, plot.text.bytes, plot.text.length);
    acq_text_deinit(&plot.text);
}
