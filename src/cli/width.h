/* width.h - text by display width: how many columns it takes, cutting and wrapping it.
 *
 * Names are UTF-8 from anywhere. What would upset a terminal (control characters, bytes that are
 * no UTF-8, marks that turn the direction of writing) is shown as \xNN or \u{N}, so a name can
 * never forge output. East Asian wide characters and emoji take two columns, combining marks
 * none; no locale is involved. */
#ifndef ACQ_CLI_WIDTH_H
#define ACQ_CLI_WIDTH_H

#include "base/text.h"

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

/* Appends n spaces. */
void acq_width_pad(acq_text *out, size_t n);

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
