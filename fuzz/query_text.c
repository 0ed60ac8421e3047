/* query_text.c - the text syntax on any bytes. What begins like SPARQL belongs to query_sparql. */
#include "query_properties.h"

#include "query/input.h"
#include "query/builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    acq_query *query = NULL;
    const char *text = (const char *)data;
    bool is_text = acq_input_check(text, size, NULL) == ACQ_OK &&
                   acq_query_parse_text(text, size, &query, NULL) == ACQ_OK;
    acq_query_free(query);
    query = NULL;
    bool is_query = acq_query_parse(text, size, &query, NULL) == ACQ_OK;
    acq_query_free(query);
    assert(is_query || !is_text); /* the door never hides what the text parser takes */
    if (is_text || !is_query)
        check_text(ACQ_SYNTAX_TEXT, text, size);
    return 0;
}
