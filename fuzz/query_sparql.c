/* query_sparql.c - the SPARQL subset on any bytes, behind ASK or SELECT * as the first byte says,
 * so that the fuzzer need not find the words. */
#include "query_properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    acq_text text;
    acq_text_init(&text);
    if (size > 0 && data[0] == 'A')
        acq_text_add(&text, "ASK {");
    else if (size > 0 && data[0] == 'S')
        acq_text_add(&text, "SELECT * {");
    else
        acq_text_add(&text, "PREFIX a:<b> ");
    acq_text_add_bytes(&text, (const char *)data + (size > 0), size - (size > 0));
    check_text(ACQ_SYNTAX_SPARQL, text.bytes, text.length);
    acq_text_deinit(&text);
    return 0;
}
