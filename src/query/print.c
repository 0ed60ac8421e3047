/* print.c - the door to the printers: checks what they promise together. */
#include "query/print.h"

#include "query/printers.h"

const char *acq_syntax_get_name(acq_syntax syntax)
{
    static const char *const NAMES[] = {"text", "benchmark", "sparql"};
    return syntax < ACQ_N_SYNTAXES ? NAMES[syntax] : "unknown";
}

void acq_printer_enter(acq_printer *printer)
{
    if (++printer->depth > printer->deepest)
        printer->deepest = printer->depth;
}

void acq_printer_leave(acq_printer *printer)
{
    printer->depth--;
}

void acq_printer_cut(acq_text *out, size_t length)
{
    out->length = length;
    out->failed = false;
    if (out->bytes != NULL)
        out->bytes[length] = '\0';
}

static acq_status print(acq_printer *printer, acq_syntax syntax)
{
    switch (syntax) {
    case ACQ_SYNTAX_TEXT:
        return acq_query_print_text(printer);
    case ACQ_SYNTAX_BENCHMARK:
        return acq_query_print_benchmark(printer);
    case ACQ_SYNTAX_SPARQL:
        return acq_query_print_sparql(printer);
    case ACQ_N_SYNTAXES:
        break;
    }
    return acq_fail(printer->error, ACQ_ERR_USAGE, "unknown query syntax");
}

/* What is written must be readable again: within the limits of the parsers. */
static acq_status check_limits(const acq_printer *printer, size_t length, acq_syntax syntax)
{
    if (printer->deepest > ACQ_MOST_NESTING)
        return acq_fail(printer->error, ACQ_ERR_LIMIT,
                        "in the %s syntax the query would be nested %u levels deep, the limit is "
                        "%d; use another syntax",
                        acq_syntax_get_name(syntax), printer->deepest, (int)ACQ_MOST_NESTING);
    if (length > ACQ_MOST_TEXT)
        return acq_fail(printer->error, ACQ_ERR_LIMIT,
                        "in the %s syntax the query would have %zu bytes, the limit is %d",
                        acq_syntax_get_name(syntax), length, (int)ACQ_MOST_TEXT);
    return ACQ_OK;
}

acq_status acq_query_print(const acq_query *query, acq_syntax syntax, acq_text *out,
                           acq_error *error)
{
    acq_printer printer = {.query = query, .out = out, .error = error};
    size_t before = out->length;
    acq_status status = print(&printer, syntax);
    if (status == ACQ_OK)
        status = acq_text_finish(out, error);
    if (status == ACQ_OK)
        status = check_limits(&printer, out->length - before, syntax);
    if (status != ACQ_OK)
        acq_printer_cut(out, before);
    return status;
}
