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

#endif
