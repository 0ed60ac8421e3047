/* size.h - the table of a graph's numbers that info and import print: a label and a value a line.
 *
 *   entities              4123
 *   size          1.2 MB */
#ifndef ACQ_CLI_SIZE_H
#define ACQ_CLI_SIZE_H

#include "base/text.h"
#include "graph/text/read.h"

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
