/* page.c - everything on one page: no script, no other file, light and dark by the reader's scheme.
 * Each picture is also written to a file of its own. */
#include <ctype.h>
#include <string.h>

#include "reproduce/models.h"
#include "reproduce/render.h"

static const char *const style[] = {
    ":root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--line:#d5d9de;--paper:#fdfdfc}",
    ":root{--ours:#0b5fa5}@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa4ae}",
    ":root{--line:#30363d;--paper:#0d1117;--ours:#58a6ff}}",
    "body{margin:0 auto;max-width:60rem;padding:1.5rem 1rem 4rem;color:var(--ink)}",
    "body{font:16px/1.5 system-ui,sans-serif;background:var(--paper)}",
    "h1{font-size:1.6rem}h2{font-size:1.25rem;margin:2.5rem 0 .5rem}",
    "h3{font-size:1rem;margin:1.25rem 0 .5rem}p,ul{max-width:44rem}",
    "nav ul{columns:2;column-gap:2rem;padding-left:1.2rem}a{color:var(--ours)}",
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:.85rem}",
    "th,td{padding:.2rem .55rem;border-bottom:1px solid var(--line);text-align:right}",
    "th,td{white-space:nowrap;font-variant-numeric:tabular-nums}th{font-weight:600}",
    "td:nth-child(-n+2),th:nth-child(-n+2){text-align:left}.pub td{color:var(--soft)}",
    ".our td:nth-child(n+2){color:var(--ours);font-weight:600}",
    ".how{color:var(--soft);font-size:.85rem}svg{max-width:100%;height:auto}",
    "@media(max-width:30rem){nav ul{columns:1}}",
};

static void add_element(acq_text *out, const char *tag, const char *text)
{
    acq_text_format(out, "<%s>", tag);
    acq_text_add_markup(out, text, SIZE_MAX);
    acq_text_format(out, "</%s>\n", tag);
}

/* ---- tables ---- */

static void add_line(acq_text *out, const acq_repro_lines *lines, size_t i)
{
    const acq_repro_line *line = &lines->items[i];
    acq_text_format(out, "<tr class=\"%s\"><td>", line->is_published ? "pub" : "our");
    acq_text_add_markup(out, line->label, SIZE_MAX);
    acq_text_add(out, "</td><td>");
    acq_text_add_markup(out, line->whose, SIZE_MAX);
    acq_text_add(out, "</td>");
    for (size_t c = 0; c < lines->n_shown; c++) {
        const acq_repro_cell *cell = line->cells[lines->shown[c]];
        if (cell != NULL)
            acq_text_format(out, "<td title=\"%llu decisions, %.3g ms each, %llu undecided\">",
                            (unsigned long long)cell->decisions, cell->ms,
                            (unsigned long long)cell->undecided);
        else
            acq_text_add(out, "<td>");
        acq_repro_add_value(out, line, lines->shown[c]);
        acq_text_add(out, "</td>");
    }
    acq_text_add(out, "</tr>\n");
}

static void add_table(acq_text *out, const acq_repro_table *table, const acq_repro_lines *lines)
{
    acq_text_add(out, "<div class=\"wide\"><table>\n<tr><th></th><th></th>");
    for (size_t c = 0; c < lines->n_shown; c++)
        acq_text_format(out, "<th>%s</th>",
                        acq_repro_get_column(table->columns, lines->shown[c]));
    acq_text_add(out, "</tr>\n");
    for (size_t i = 0; i < lines->n; i++)
        add_line(out, lines, i);
    acq_text_add(out, "</table></div>\n");
}

static void add_hows(acq_text *out, const acq_repro_lines *lines)
{
    acq_text_add(out, "<ul class=\"how\">\n");
    for (size_t i = 0; i < lines->n; i++) {
        if (acq_repro_find_how(lines, 0, i) != i)
            continue;
        for (size_t j = i; j < lines->n; j = acq_repro_find_how(lines, j + 1, i)) {
            acq_text_add(out, j == i ? "<li>" : "; ");
            acq_text_add_markup(out, lines->items[j].label, SIZE_MAX);
        }
        acq_text_add(out, ": ");
        acq_text_add_markup(out, lines->items[i].how, SIZE_MAX);
        acq_text_add(out, "</li>\n");
    }
    const char *marks[3];
    acq_repro_list_marks(lines, marks);
    for (size_t i = 0; marks[i] != NULL; i++)
        acq_text_format(out, "<li>%s</li>\n", marks[i]);
    acq_text_add(out, "</ul>\n");
}

/* ID-SET.svg: letters and digits of the name, small. */
static const char *name_picture(acq_repro_plan *plan, const acq_repro_table *table,
                                const acq_repro_subject *subject)
{
    char slug[96];
    size_t n = 0;
    for (const char *c = subject->name; *c != '\0' && n + 1 < sizeof slug; c++)
        slug[n++] = isalnum((unsigned char)*c) ? *c : '-';
    slug[n] = '\0';
    return acq_repro_print(plan, "%s/%s-%s-%s.svg", plan->settings->output, table->id, slug,
                           subject->split);
}

static acq_status add_picture(acq_text *out, acq_repro_plan *plan, const acq_repro_table *table,
                              const acq_repro_subject *subject, const acq_repro_lines *lines,
                              acq_error *error)
{
    acq_text picture;
    acq_text_init(&picture);
    const char *path = name_picture(plan, table, subject);
    acq_status status = path == NULL ? acq_fail_memory(error)
                                     : acq_repro_draw(&picture, table, subject, lines, error);
    if (status == ACQ_OK && picture.length > 0) {
        status = acq_repro_write(path, "a picture", &picture, error);
        acq_text_add_bytes(out, picture.bytes, picture.length);
    }
    acq_text_deinit(&picture);
    return status;
}

static acq_status add_set(acq_text *out, acq_repro_plan *plan, const acq_repro_table *table,
                          const acq_repro_subject *subject, acq_error *error)
{
    acq_repro_lines lines;
    acq_status status = acq_repro_lines_init(&lines, plan, table, subject, error);
    if (status == ACQ_OK && lines.n_numbers > 0) {
        acq_text_add(out, "<h3>");
        acq_text_add_markup(out, subject->name, SIZE_MAX);
        acq_text_format(out, ", %s</h3>\n", acq_repro_get_split(subject));
        add_table(out, table, &lines);
        add_hows(out, &lines);
        status = add_picture(out, plan, table, subject, &lines, error);
    }
    acq_repro_lines_deinit(&lines);
    return status;
}

/* ---- the page ---- */

static void add_contents(acq_text *out, const acq_repro_plan *plan)
{
    const acq_repro_table *table;
    acq_text_add(out, "<nav><ul>\n");
    for (size_t t = 0; (table = acq_repro_get_table(t)) != NULL; t++) {
        if (!acq_repro_plan_has_table(plan, table))
            continue;
        acq_text_format(out, "<li><a href=\"#%s\">", table->id);
        acq_text_add_markup(out, table->title, SIZE_MAX);
        acq_text_add(out, "</a></li>\n");
    }
    if (plan->steps != NULL)
        acq_text_add(out, "<li><a href=\"#steps\">Step time against query size</a></li>\n");
    acq_text_add(out, "<li><a href=\"#left-out\">Left out</a></li>\n</ul></nav>\n");
}

static void add_left_out(acq_text *out, const acq_repro_plan *plan)
{
    acq_text_add(out, "<h2 id=\"left-out\">Left out</h2>\n");
    if (plan->folder.omissions == NULL)
        acq_text_add(out, "<p>Nothing.</p>\n");
    else
        acq_text_add(out, "<ul>\n");
    for (const acq_repro_omission *o = plan->folder.omissions; o != NULL; o = o->next) {
        acq_text_add(out, "<li>");
        acq_text_add_markup(out, o->what, SIZE_MAX);
        acq_text_add(out, ": ");
        acq_text_add_markup(out, o->why, SIZE_MAX);
        acq_text_add(out, "</li>\n");
    }
    if (plan->folder.omissions != NULL)
        acq_text_add(out, "</ul>\n");
}

static void add_steps(acq_text *out, const acq_repro_plan *plan)
{
    if (plan->steps == NULL)
        return;
    acq_text_add(out, "<section id=\"steps\">\n<h2>Step time against query size</h2>\n<p>Times "
                      "are of this machine, on one thread.</p>\n<div class=\"wide\"><table>\n");
    acq_repro_add_step_rows(out, plan, true);
    acq_text_add(out, "</table></div>\n");
    acq_repro_draw_steps(out, plan);
    acq_text_add(out, "</section>\n");
}

static acq_status add_examples(acq_text *out, acq_repro_plan *plan, acq_error *error)
{
    acq_status status = ACQ_OK;
    acq_text pictures;
    acq_text_init(&pictures);
    for (const acq_repro_subject *s = plan->folder.subjects; s != NULL && status == ACQ_OK;
         s = s->next)
        status = acq_repro_add_examples(&pictures, plan, s, error);
    if (status == ACQ_OK && pictures.length > 0) {
        acq_text_add(out, "<section id=\"queries\">\n<h2>Query graphs</h2>\n<p>Of each 3-hub "
                          "retrieval file with one free variable the first query, and a large "
                          "one.</p>\n");
        acq_text_add_bytes(out, pictures.bytes, pictures.length);
        acq_text_add(out, "</section>\n");
    }
    acq_text_deinit(&pictures);
    return status;
}

static acq_status add_tables(acq_text *out, acq_repro_plan *plan, acq_error *error)
{
    acq_status status = ACQ_OK;
    const acq_repro_table *table;
    for (size_t t = 0; (table = acq_repro_get_table(t)) != NULL && status == ACQ_OK; t++) {
        if (!acq_repro_plan_has_table(plan, table))
            continue;
        acq_text_format(out, "<section id=\"%s\">\n", table->id);
        add_element(out, "h2", table->title);
        if (table->about[0] != NULL) {
            acq_text_add(out, "<p>");
            acq_repro_add_about(out, table);
            acq_text_add(out, "</p>\n");
        }
        for (const acq_repro_subject *s = plan->folder.subjects; s != NULL && status == ACQ_OK;
             s = s->next)
            status = add_set(out, plan, table, s, error);
        acq_text_add(out, "</section>\n");
    }
    return status;
}

static void add_head(acq_text *out, const acq_repro_plan *plan)
{
    acq_text preface;
    acq_text_init(&preface);
    acq_repro_add_preface(&preface, plan);
    acq_text_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n");
    acq_text_add(out, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                      "<title>The tables of the AnyCQ paper</title>\n<style>\n");
    for (size_t i = 0; i < sizeof style / sizeof *style; i++)
        acq_text_format(out, "%s\n", style[i]);
    acq_text_add(out, "</style></head>\n<body>\n"
                      "<h1>The tables of the AnyCQ paper, published and ours</h1>\n");
    if (preface.bytes != NULL)
        add_element(out, "p", preface.bytes);
    acq_text_format(out, "<p class=\"how\">Made by <code>anycq reproduce%s</code>, version %s, ",
                    plan->settings->quick ? " --quick" : "", acq_get_version());
    acq_text_add(out, "commit ");
    acq_text_add_markup(out, plan->settings->commit, SIZE_MAX);
    acq_text_add(out, ". manifest.json has the inputs.</p>\n");
    acq_text_deinit(&preface);
}

acq_status acq_repro_write_page(acq_repro_plan *plan, acq_error *error)
{
    acq_text out;
    acq_text_init(&out);
    add_head(&out, plan);
    add_contents(&out, plan);
    acq_status status = add_tables(&out, plan, error);
    add_steps(&out, plan);
    if (status == ACQ_OK && acq_repro_plan_has_steps(plan))
        status = add_examples(&out, plan, error);
    add_left_out(&out, plan);
    acq_text_add(&out, "</body></html>\n");
    const char *path = acq_repro_print(plan, "%s/index.html", plan->settings->output);
    if (status == ACQ_OK)
        status = path == NULL ? acq_fail_memory(error) : acq_text_finish(&out, error);
    if (status == ACQ_OK)
        status = acq_repro_write(path, "the page", &out, error);
    acq_text_deinit(&out);
    return status;
}
