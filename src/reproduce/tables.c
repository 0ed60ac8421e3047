/* tables.c - results as Markdown and CSV, and the manifest. */
#include <math.h>
#include <string.h>

#include "reproduce/models.h"
#include "reproduce/render.h"

static acq_status write_text(acq_repro_plan *plan, const char *name, acq_text *text,
                             acq_error *error)
{
    const char *path = acq_repro_print(plan, "%s/%s", plan->settings->output, name);
    acq_status status = path == NULL ? acq_fail_memory(error) : acq_text_finish(text, error);
    if (status == ACQ_OK)
        status = acq_repro_write(path, "a table", text, error);
    return status;
}

/* ---- Markdown ---- */

/* A name in a cell: what Markdown would read as markup stays text. */
static void add_plain(acq_text *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("\\`*_[]<>|#&~", *text) != NULL)
            acq_text_add_char(out, '\\');
        acq_text_add_char(out, (unsigned char)*text < ' ' ? ' ' : *text);
    }
}

static void add_table(acq_text *out, const acq_repro_table *table, const acq_repro_lines *lines)
{
    acq_text_add(out, "| | |");
    for (size_t c = 0; c < lines->n_shown; c++)
        acq_text_format(out, " %s |", acq_repro_get_column(table->columns, lines->shown[c]));
    acq_text_add(out, "\n|---|---|");
    for (size_t c = 0; c < lines->n_shown; c++)
        acq_text_add(out, "---|");
    acq_text_add(out, "\n");
    for (size_t i = 0; i < lines->n; i++) {
        const acq_repro_line *line = &lines->items[i];
        acq_text_add(out, "| ");
        add_plain(out, line->label);
        acq_text_format(out, " | %s |", line->whose);
        for (size_t c = 0; c < lines->n_shown; c++) {
            acq_text_add(out, " ");
            acq_repro_add_value(out, line, lines->shown[c]);
            acq_text_add(out, " |");
        }
        acq_text_add(out, "\n");
    }
}

/* How the rows were made, those of the same making together. */
static void add_hows(acq_text *out, const acq_repro_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++) {
        if (acq_repro_find_how(lines, 0, i) != i)
            continue;
        for (size_t j = i; j < lines->n; j = acq_repro_find_how(lines, j + 1, i)) {
            acq_text_add(out, j == i ? "- " : "; ");
            add_plain(out, lines->items[j].label);
        }
        acq_text_add(out, ": ");
        add_plain(out, lines->items[i].how);
        acq_text_add(out, "\n");
    }
    const char *marks[3];
    acq_repro_list_marks(lines, marks);
    for (size_t i = 0; marks[i] != NULL; i++)
        acq_text_format(out, "- %s\n", marks[i]);
}

static acq_status add_set(acq_text *out, acq_repro_plan *plan, const acq_repro_table *table,
                          const acq_repro_subject *subject, acq_error *error)
{
    acq_repro_lines lines;
    acq_status status = acq_repro_lines_init(&lines, plan, table, subject, error);
    if (status == ACQ_OK && lines.n_numbers > 0) {
        acq_text_add(out, "\n*");
        add_plain(out, subject->name);
        acq_text_format(out, ", %s*\n\n", acq_repro_get_split(subject));
        add_table(out, table, &lines);
        acq_text_add(out, "\n");
        add_hows(out, &lines);
    }
    acq_repro_lines_deinit(&lines);
    return status;
}

static void add_left_out(acq_text *out, const acq_repro_plan *plan)
{
    acq_text_add(out, "\n## Left out\n\n");
    if (plan->folder.omissions == NULL)
        acq_text_add(out, "Nothing.\n");
    for (const acq_repro_omission *o = plan->folder.omissions; o != NULL; o = o->next) {
        acq_text_add(out, "- ");
        add_plain(out, o->what);
        acq_text_add(out, ": ");
        add_plain(out, o->why);
        acq_text_add(out, "\n");
    }
}

static acq_status write_markdown(acq_repro_plan *plan, acq_error *error)
{
    acq_text out;
    acq_status status = ACQ_OK;
    const acq_repro_table *table;
    acq_text_init(&out);
    acq_text_add(&out, "# The tables of the AnyCQ paper\n\n");
    acq_repro_add_preface(&out, plan);
    acq_text_add(&out, "\n");
    for (size_t t = 0; (table = acq_repro_get_table(t)) != NULL && status == ACQ_OK; t++) {
        if (!acq_repro_plan_has_table(plan, table))
            continue;
        acq_text_format(&out, "\n## %s\n", table->title);
        if (table->about[0] != NULL) {
            acq_text_add(&out, "\n");
            acq_repro_add_about(&out, table);
            acq_text_add(&out, "\n");
        }
        for (const acq_repro_subject *s = plan->folder.subjects; s != NULL && status == ACQ_OK;
             s = s->next)
            status = add_set(&out, plan, table, s, error);
    }
    if (plan->steps != NULL) {
        acq_text_add(&out, "\n## Step time against query size\n\n");
        acq_repro_add_step_rows(&out, plan, false);
    }
    add_left_out(&out, plan);
    if (status == ACQ_OK)
        status = write_text(plan, "tables.md", &out, error);
    acq_text_deinit(&out);
    return status;
}

/* ---- CSV ---- */

static void add_field(acq_text *out, const char *text)
{
    bool needs_quotes = strpbrk(text, ",\"\r\n") != NULL;
    if (needs_quotes)
        acq_text_add_char(out, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"')
            acq_text_add_char(out, '"');
        acq_text_add_char(out, *text);
    }
    acq_text_add(out, needs_quotes ? "\"," : ",");
}

static void add_number(acq_text *out, const acq_repro_table *table,
                       const acq_repro_subject *subject, const acq_repro_line *line, size_t c)
{
    const acq_repro_cell *cell = line->cells[c];
    add_field(out, subject->name);
    add_field(out, line->is_published ? "test" : acq_repro_get_split(subject));
    add_field(out, line->label);
    add_field(out, line->is_published ? "published" : "ours");
    add_field(out, acq_repro_get_column(table->columns, c));
    acq_text_format(out, line->is_published ? "%.1f" : "%.4f", line->values[c]);
    if (cell == NULL)
        acq_text_add(out, ",,,,");
    else
        acq_text_format(out, ",%llu,%llu,%.3f,", (unsigned long long)cell->decisions,
                        (unsigned long long)cell->undecided, cell->ms);
    add_field(out, line->how);
    out->length--; /* the last comma */
    acq_text_add(out, "\n");
}

static acq_status write_csv(acq_repro_plan *plan, const acq_repro_table *table, acq_error *error)
{
    acq_text out;
    acq_status status = ACQ_OK;
    acq_text_init(&out);
    acq_text_add(&out, "data_set,split,row,whose,column,value,decisions,undecided,ms_mean,how\n");
    for (const acq_repro_subject *s = plan->folder.subjects; s != NULL && status == ACQ_OK;
         s = s->next) {
        acq_repro_lines lines;
        status = acq_repro_lines_init(&lines, plan, table, s, error);
        for (size_t i = 0; i < lines.n && status == ACQ_OK; i++)
            for (size_t c = 0; c < lines.n_shown; c++)
                if (!isnan(lines.items[i].values[lines.shown[c]]))
                    add_number(&out, table, s, &lines.items[i], lines.shown[c]);
        acq_repro_lines_deinit(&lines);
    }
    const char *name = acq_repro_print(plan, "%s.csv", table->id);
    if (status == ACQ_OK)
        status = name == NULL ? acq_fail_memory(error) : write_text(plan, name, &out, error);
    acq_text_deinit(&out);
    return status;
}

static acq_status write_steps(acq_repro_plan *plan, acq_error *error)
{
    acq_text out;
    acq_text_init(&out);
    acq_repro_add_step_csv(&out, plan);
    acq_status status = write_text(plan, "steps.csv", &out, error);
    acq_text_clear(&out);
    acq_repro_draw_steps(&out, plan);
    if (status == ACQ_OK)
        status = write_text(plan, "steps.svg", &out, error);
    acq_text_deinit(&out);
    return status;
}

/* ---- the manifest ---- */

static void add_json_file(acq_text *out, const char *kind, const char *name, uint64_t hash,
                          size_t *n)
{
    acq_text_format(out, "%s\n  {\"kind\": \"%s\", \"name\": ", (*n)++ == 0 ? "" : ",", kind);
    acq_text_add_json_mended(out, name);
    acq_text_format(out, ", \"hash\": \"%016llx\"}", (unsigned long long)hash);
}

static void add_questions(acq_text *out, const acq_repro_subject *subject, size_t *n)
{
    for (int p = 0; p < ACQ_N_PARTS; p++) {
        if (subject->qac[p].hash != 0)
            add_json_file(out, "questions", subject->qac[p].path, subject->qac[p].hash, n);
        for (int k = 0; k < ACQ_MOST_FREE; k++)
            if (subject->qar[p][k].hash != 0)
                add_json_file(out, "questions", subject->qar[p][k].path, subject->qar[p][k].hash,
                              n);
    }
}

static void add_settings(acq_text *out, const acq_repro_settings *settings)
{
    acq_text_format(out, "{\"version\": \"%s\", \"commit\": ", acq_get_version());
    acq_text_add_json_mended(out, settings->commit);
    acq_text_add(out, ", \"folder\": ");
    acq_text_add_json_mended(out, settings->folder);
    acq_text_format(out, ",\n \"quick\": %s, \"seed\": %llu, \"model_seconds\": %g",
                    settings->quick ? "true" : "false", (unsigned long long)settings->seed,
                    acq_repro_get_model_seconds(settings));
    acq_text_format(out, ", \"first\": {\"small\": %llu, \"hub\": %llu, \"retrieval\": %llu}",
                    (unsigned long long)acq_repro_get_first(settings, true, false),
                    (unsigned long long)acq_repro_get_first(settings, true, true),
                    (unsigned long long)acq_repro_get_first(settings, false, true));
}

/* 0 instances: all. */
static acq_status write_manifest(acq_repro_plan *plan, acq_error *error)
{
    acq_text out;
    size_t n = 0;
    acq_text_init(&out);
    add_settings(&out, plan->settings);
    acq_text_add(&out, ",\n \"inputs\": [");
    for (const acq_repro_subject *s = plan->folder.subjects; s != NULL; s = s->next)
        add_questions(&out, s, &n);
    for (const acq_repro_input *i = plan->inputs; i != NULL; i = i->next)
        add_json_file(&out, i->kind, i->name, i->hash, &n);
    acq_text_add(&out, "],\n \"left_out\": [");
    for (const acq_repro_omission *o = plan->folder.omissions; o != NULL; o = o->next) {
        acq_text_add(&out, o == plan->folder.omissions ? "\n  [" : ",\n  [");
        acq_text_add_json_mended(&out, o->what);
        acq_text_add(&out, ", ");
        acq_text_add_json_mended(&out, o->why);
        acq_text_add(&out, "]");
    }
    acq_text_add(&out, "]}\n");
    acq_status status = write_text(plan, "manifest.json", &out, error);
    acq_text_deinit(&out);
    return status;
}

acq_status acq_repro_write_tables(acq_repro_plan *plan, acq_error *error)
{
    acq_status status = write_markdown(plan, error);
    const acq_repro_table *table;
    for (size_t t = 0; (table = acq_repro_get_table(t)) != NULL && status == ACQ_OK; t++)
        if (acq_repro_plan_has_table(plan, table))
            status = write_csv(plan, table, error);
    if (status == ACQ_OK && plan->steps != NULL)
        status = write_steps(plan, error);
    return status == ACQ_OK ? write_manifest(plan, error) : status;
}
