/* query.c - the entry for query text: checks the bytes, then picks the syntax. */
#include "query/query.h"

#include "base/memory.h"
#include "query/input.h"
#include "query/parse.h"

void acq_query_free(acq_query *query)
{
    if (query == NULL)
        return;
    acq_arena_deinit(&query->arena);
    acq_free(query);
}

acq_status acq_query_parse(const char *text, size_t length, acq_query **out, acq_error *error)
{
    acq_status status = acq_input_check(text, length, error);
    if (status != ACQ_OK)
        return status;
    return acq_query_parse_text(text, length, out, error);
}
