/* read.c - graphs in memory: what acq_ingest reads goes to a builder. */
#include "graph/text/read.h"

#include "graph/text/reader.h"

static acq_status add_facts(void *self, const acq_triple *facts, size_t n, acq_error *error)
{
    if (acq_graph_builder_add_facts(self, facts, n) != ACQ_OK)
        return acq_fail_memory(error);
    return ACQ_OK;
}

/* The finished graph, and what only sorting the facts could count. */
static acq_status finish(acq_graph_builder *builder, acq_graph **out, acq_read_report *report,
                         acq_error *error)
{
    bool both = acq_dictionary_names_inverses(acq_graph_builder_get_dictionary(builder));
    acq_build_counts counts;
    acq_status status = acq_graph_builder_finish(builder, out, error);
    if (status == ACQ_OK) {
        acq_graph_builder_get_counts(builder, &counts);
        report->duplicates = counts.duplicates;
        report->completed = both ? counts.one_way : 0;
    }
    return status;
}

typedef struct request {
    const char *const *paths; /* NULL: from memory */
    size_t n_paths;
    const acq_memory_source *memory;
    const acq_read_params *params;
} request;

static acq_status read_into(const request *from, acq_graph_builder *builder, acq_graph **out,
                            acq_read_report *report, acq_error *error)
{
    acq_sink sink = {.dictionary = acq_graph_builder_get_dictionary(builder),
                     .add_facts = add_facts,
                     .self = builder};
    acq_read_report counts;
    acq_status status =
        from->memory != NULL
            ? acq_ingest_memory(from->memory, from->params, &sink, &counts, error)
            : acq_ingest(from->paths, from->n_paths, from->params, &sink, &counts, error);
    if (status == ACQ_OK)
        status = finish(builder, out, &counts, error);
    if (status == ACQ_OK && report != NULL)
        *report = counts;
    return status;
}

static acq_status read_graph(const request *from, acq_graph **out, acq_read_report *report,
                             acq_error *error)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    if (builder == NULL)
        return acq_fail_memory(error);
    acq_status status = read_into(from, builder, out, report, error);
    acq_graph_builder_free(builder);
    return status;
}

acq_status acq_graph_read(const char *const *paths, size_t n_paths, const acq_read_params *params,
                          acq_graph **out, acq_read_report *report, acq_error *error)
{
    request from = {.paths = paths, .n_paths = n_paths, .params = params};
    return read_graph(&from, out, report, error);
}

acq_status acq_graph_read_memory(const acq_memory_source *source, const acq_read_params *params,
                                 acq_graph **out, acq_read_report *report, acq_error *error)
{
    request from = {.memory = source, .params = params};
    return read_graph(&from, out, report, error);
}
