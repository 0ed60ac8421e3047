/* table.h - tables for programs: --output-format csv and tsv.
 *
 * CSV by RFC 4180 with bare line feeds, quotes where they are needed; in TSV tabs, line ends and
 * backslashes are \t, \n, \r and \\. The first line has the names of the columns. */
#ifndef ACQ_CLI_TABLE_H
#define ACQ_CLI_TABLE_H

#include "base/text.h"

typedef struct acq_table {
    acq_text *out;
    char separator; /* ',' or a tab */
    size_t n;       /* cells on this line */
} acq_table;

void acq_table_add_text(acq_table *table, const char *text);
void acq_table_add_number(acq_table *table, double number); /* NaN: an empty cell */
void acq_table_add_count(acq_table *table, int64_t n);
void acq_table_end_line(acq_table *table);

/* A line of n texts. */
void acq_table_add_line(acq_table *table, const char *const *texts, size_t n);

/* Makes a table of `out`, which holds lines of JSON, an object each: the columns are the members of
 * the first, those of an object in it as OBJECT.MEMBER; lists are left out, null is an empty
 * cell. Nothing happens when separator is 0. */
void acq_table_from_json(acq_text *out, char separator);

/* ---- width ----
 *
 * Text by display width: how many columns it takes, cutting and wrapping it.
 *
 * Names are UTF-8 from anywhere. What would upset a terminal (control characters, bytes that are
 * no UTF-8, marks that turn the direction of writing) is shown as \xNN or \u{N}, so a name can
 * never forge output. East Asian wide characters and emoji take two columns, combining marks
 * none; no locale is involved. */

enum { ACQ_COLUMNS = 80 };

/* Columns of `text` as acq_width_add shows it. */
size_t acq_width_of(const char *text);

/* Columns of what has been appended to `out` since byte `start`, already made safe. */
size_t acq_width_since(const acq_text *out, size_t start);

/* Appends text, made safe. */
void acq_width_add(acq_text *out, const char *text);

/* Appends text within `columns`, the last of them an ellipsis when it had to be cut. */
void acq_width_add_cut(acq_text *out, const char *text, size_t columns);

/* The same, but the ellipsis replaces the middle: for names that differ in their ends. */
void acq_width_add_cut_middle(acq_text *out, const char *text, size_t columns);

/* Appends n spaces; _to: those from column `used` to column `n`, if there are any. */
void acq_width_pad(acq_text *out, size_t n);
void acq_width_pad_to(acq_text *out, size_t used, size_t n);

/* Appends text on lines of at most `columns`, the first of which begins at column `at`; further
 * ones are indented by `indent`. Breaks at spaces, after commas and slashes where it can. The text
 * must be safe already (made by acq_width_add). No newline at the end. */
void acq_width_wrap(acq_text *out, const char *text, size_t at, size_t indent, size_t columns);

/* The table of a graph's numbers that info and import print: a label and a value a line.
 *
 *   entities              4123
 *   size          1.2 MB */
enum { ACQ_SIZE_LABEL = 14, ACQ_SIZE_COUNT = 12 }; /* columns */

void acq_size_print_count(acq_text *out, const char *label, uint64_t n);
void acq_size_print_text(acq_text *out, const char *label, const char *text); /* wrapped */
void acq_size_print_bytes(acq_text *out, const char *label, uint64_t n);
void acq_size_print_hash(acq_text *out, const char *label, uint64_t hash);

/* Lines read, what was left out and what else reading found. */
void acq_size_print_read(acq_text *out, const acq_read_report *report);

/* 12 kB, 3.4 MB, 1.2 GB: powers of 1000. */
void acq_size_add_bytes(acq_text *out, uint64_t n);

/* 0.98 M triples/s; returns the length. */
size_t acq_size_format_rate(double per_second, char *buffer, size_t size);

#endif
