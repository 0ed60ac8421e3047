/* result.c - what all searches share about their results. */
#include "search/search.h"

void acq_search_result_deinit(acq_search_result *result)
{
    acq_arena_deinit(&result->arena);
    *result = (acq_search_result){0};
}
