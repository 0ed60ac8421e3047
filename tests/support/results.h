/* results.h - tables of solutions as the W3C's tests write them, and their comparison.
 *
 * A cell is a term as N-Triples spells it, "" where a variable is unbound. Two tables are the same
 * when their rows are, as often, up to the names of blank nodes. */
#ifndef ACQ_TEST_RESULTS_H
#define ACQ_TEST_RESULTS_H

#include <stdbool.h>
#include <stddef.h>

enum { RESULTS_MOST_COLUMNS = 32, RESULTS_MOST_ROWS = 4000 };

typedef struct results {
    bool is_boolean, boolean;
    bool is_graph; /* rows of three terms */
    char *columns[RESULTS_MOST_COLUMNS];
    size_t n_columns, n_rows;
    char **rows[RESULTS_MOST_ROWS]; /* of n_columns cells */
} results;

results *results_new(void);
void results_free(results *r);
size_t results_column(results *r, const char *name); /* new or known */
char **results_add_row(results *r);                  /* cells are NULL; NULL counts as "" */
void results_set(results *r, char **row, const char *column, char *cell); /* takes the cell */

/* By the file's ending: .srx, .srj, .ttl, .rdf, .tsv. NULL: not read. */
results *results_read(const char *path);

typedef enum results_rule {
    RESULTS_BAG,     /* the same rows, as often */
    RESULTS_ORDERED, /* in this order */
    RESULTS_LAX,     /* REDUCED: the same rows, at most as often */
} results_rule;

bool results_match(const results *expected, const results *got, results_rule rule);

#endif
