/* printers.h - what the printers of print.h share; each appends to printer->out, whose failures
 * are checked once at the end. */
#ifndef ACQ_QUERY_PRINTERS_H
#define ACQ_QUERY_PRINTERS_H

#include "base/text.h"
#include "query/query.h"

typedef struct acq_printer {
    const acq_query *query;
    acq_text *out;
    acq_error *error;
    uint32_t depth, deepest; /* as the parser of the syntax counts */
} acq_printer;

void acq_printer_enter(acq_printer *printer);
void acq_printer_leave(acq_printer *printer);

/* Shortens `out` to `length` after a failure and forgets that it failed. */
void acq_printer_cut(acq_text *out, size_t length);

acq_status acq_query_print_text(acq_printer *printer);
acq_status acq_query_print_benchmark(acq_printer *printer);
acq_status acq_query_print_sparql(acq_printer *printer);

#endif
