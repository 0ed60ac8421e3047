/* query_benchmark.c - the formulas of the published query files on any bytes. */
#include "query_properties.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_text(ACQ_SYNTAX_BENCHMARK, (const char *)data, size);
    return 0;
}
