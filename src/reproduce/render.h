/* render.h - results as Markdown, CSV, SVG and one page.
 *
 *   DIR/index.html      everything on one page that needs no other file
 *   DIR/tables.md       the tables
 *   DIR/ID.csv          a table, one line for each number
 *   DIR/ID-SET.svg      its picture for a data set
 *   DIR/manifest.json   what it was made from
 *
 * All of them are made from the results alone, at the end of a run and when one is interrupted. */
#ifndef ACQ_REPRODUCE_RENDER_H
#define ACQ_REPRODUCE_RENDER_H

#include "base/text.h"
#include "reproduce/plan.h"

/* One line of a table for one data set. */
typedef struct acq_repro_line {
    const char *label;
    const char *whose; /* "published, test", "ours, validation, first 10" */
    const char *how;   /* of ours, once it has a result; "" */
    bool is_published;
    bool is_count;                                 /* its numbers are no shares */
    size_t n;                                      /* columns with a number */
    double values[ACQ_MOST_COLUMNS];               /* NAN: none */
    const acq_repro_cell *cells[ACQ_MOST_COLUMNS]; /* of ours */
    bool is_few[ACQ_MOST_COLUMNS]; /* the time was for a handful of questions */
} acq_repro_line;

typedef struct acq_repro_lines {
    acq_repro_line *items;
    size_t n, capacity;
    size_t n_numbers;   /* of ours */
    bool has_undecided; /* among them */
    bool has_few;
    size_t shown[ACQ_MOST_COLUMNS], n_shown; /* columns that the folder has questions for */
} acq_repro_lines;

acq_status acq_repro_lines_init(acq_repro_lines *lines, acq_repro_plan *plan,
                                const acq_repro_table *table, const acq_repro_subject *subject,
                                acq_error *error);
void acq_repro_lines_deinit(acq_repro_lines *lines);

/* "validation" or "test". */
const char *acq_repro_get_split(const acq_repro_subject *subject);

/* The first line from `i` on that says the same of its making as line `of`; lines->n: none. A line
 * that says nothing is passed over, also as `of`. */
size_t acq_repro_find_how(const acq_repro_lines *lines, size_t i, size_t of);

/* "66.0", "500", "-" for none, "(66.0)†". */
void acq_repro_add_value(acq_text *out, const acq_repro_line *line, size_t column);

/* What the marks of add_value mean, where there are any: a sentence each, up to NULL. */
void acq_repro_list_marks(const acq_repro_lines *lines, const char *out[3]);

/* What a reader must know before the first table; sentences. */
void acq_repro_add_preface(acq_text *out, const acq_repro_plan *plan);

/* Only the first instances: a sentence, or nothing. */
void acq_repro_add_sample(acq_text *out, const acq_repro_plan *plan);

void acq_repro_add_about(acq_text *out, const acq_repro_table *table);

/* The picture of a table for a data set, as SVG. */
acq_status acq_repro_draw(acq_text *out, const acq_repro_table *table,
                          const acq_repro_subject *subject, const acq_repro_lines *lines,
                          acq_error *error);

/* Step times as Markdown or HTML table, as CSV, and as SVG; nothing where there are none. */
void acq_repro_add_step_rows(acq_text *out, const acq_repro_plan *plan, bool is_html);
void acq_repro_add_step_csv(acq_text *out, const acq_repro_plan *plan);
void acq_repro_draw_steps(acq_text *out, const acq_repro_plan *plan);

/* Pictures of query graphs of a data set, written to files and added to the page. */
acq_status acq_repro_add_examples(acq_text *out, acq_repro_plan *plan,
                                  const acq_repro_subject *subject, acq_error *error);

acq_status acq_repro_write_page(acq_repro_plan *plan, acq_error *error);   /* index.html */
acq_status acq_repro_write_tables(acq_repro_plan *plan, acq_error *error); /* the others */

#endif
