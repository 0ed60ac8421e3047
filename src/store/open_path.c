/* open_path.c - what GRAPH means: a store, or text read on the fly. */
#include "store/store.h"

#include <stdio.h>
#include <string.h>

bool acq_store_is_database(const char *path)
{
    static const char magic[16] = "SQLite format 3"; /* with its NUL */
    char start[sizeof magic];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    bool is = fread(start, 1, sizeof start, file) == sizeof start &&
              memcmp(start, magic, sizeof magic) == 0;
    fclose(file);
    return is;
}

acq_status acq_graph_open_path(const char *path, const acq_read_params *params, acq_graph **out,
                               acq_read_report *report, acq_error *error)
{
    return acq_graph_read(&path, 1, params, out, report, error);
}
