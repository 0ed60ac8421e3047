/* read.c - facts from paths: find the files, read one after the other into the sink; for a graph
 * in memory the sink is a builder. See reader.h for the parts. */
#include "graph/text/reader.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/file.h"
#include "graph/text/rdf.h"

/* One reading of all sources. */
typedef struct ingest {
    acq_merger merger;
    size_t piece_bytes; /* 0: as always */
    size_t n_files, i_file;
} ingest;

static acq_status read_alone(acq_stream *stream, acq_merger *merger, acq_syntax_rules *rules)
{
    acq_batch batch;
    acq_batch_init(&batch, rules);
    acq_status status = rules->syntax == ACQ_COMMAS ? acq_read_csv(stream, merger, &batch, rules)
                                                    : acq_read_turtle(stream, merger, &batch);
    acq_batch_deinit(&batch);
    return status;
}

static acq_status read_together(acq_stream *stream, ingest *in, acq_syntax_rules *rules)
{
    acq_cutter cutter;
    acq_parse_fn parse = rules->syntax == ACQ_IDS    ? acq_parse_ids
                         : rules->syntax == ACQ_TABS ? acq_parse_tsv
                                                     : acq_parse_nt;
    acq_cutter_init(&cutter, stream, in->piece_bytes);
    acq_status status =
        acq_pipeline_run(&cutter, &in->merger, rules, parse, in->merger.params.threads);
    acq_cutter_deinit(&cutter);
    return status;
}

static acq_status read_stream(ingest *in, acq_stream *stream, acq_text_syntax syntax)
{
    acq_merger *merger = &in->merger;
    const acq_dictionary *dictionary = merger->sink->dictionary;
    acq_syntax_rules rules = {.syntax = syntax,
                              .strict = merger->params.strict,
                              .n_entities = (uint32_t)dictionary->entities.n_ids,
                              .n_relations = (uint32_t)dictionary->relations.n_ids,
                              .literals = merger->params.literals,
                              .graphs = merger->params.named_graphs,
                              .base = merger->params.base};
    bool is_whole = syntax == ACQ_COMMAS || syntax == ACQ_TURTLE || syntax == ACQ_TRIG;
    in->i_file++;
    if (in->n_files > 1)
        snprintf(rules.blank_prefix, sizeof rules.blank_prefix, "f%zu_", in->i_file);
    acq_merger_start_file(merger, stream->name, syntax);
    acq_status status =
        is_whole ? read_alone(stream, merger, &rules) : read_together(stream, in, &rules);
    if (status != ACQ_OK)
        acq_error_set_file(merger->error, stream->name);
    merger->done += stream->done;
    return status;
}

static acq_status read_file(ingest *in, const char *path, acq_text_syntax syntax)
{
    acq_stream stream;
    acq_status status = acq_stream_open(&stream, path, in->merger.error);
    if (status != ACQ_OK)
        return status;
    status = read_stream(in, &stream, syntax);
    acq_stream_close(&stream);
    return status;
}

static acq_status read_index(ingest *in, const char *path)
{
    acq_error *error = in->merger.error;
    char *bytes;
    size_t length;
    acq_status status = acq_file_read(path, &bytes, &length, error);
    if (status != ACQ_OK)
        return status;
    status = acq_read_index(in->merger.sink->dictionary, bytes, length, error);
    acq_error_set_file(status == ACQ_OK ? NULL : error, path);
    acq_free(bytes);
    return status;
}

static acq_status read_source(ingest *in, const acq_source *source)
{
    acq_status status = ACQ_OK;
    if (source->index != NULL)
        status = read_index(in, source->index);
    for (size_t i = 0; status == ACQ_OK && i < source->n_files; i++)
        status = read_file(in, source->files[i], source->syntax[i]);
    return status;
}

static acq_status check_mix(const acq_source *sources, size_t n, acq_error *error)
{
    for (size_t i = 0; n > 1 && i < n; i++) {
        if (sources[i].index == NULL)
            continue;
        acq_fail(error, ACQ_ERR_USAGE,
                 "a benchmark graph has its own ids and cannot be merged with other sources; read "
                 "it alone");
        acq_error_set_file(error, sources[i].files[0]);
        return ACQ_ERR_USAGE;
    }
    return ACQ_OK;
}

/* A pipe that is named twice would never answer the second time. */
static acq_status check_pipes(const char *const *paths, size_t n, acq_error *error)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i && acq_file_get_kind(paths[i]) == ACQ_FILE_STREAM; j++) {
            if (strcmp(paths[i], paths[j]) != 0)
                continue;
            acq_fail(error, ACQ_ERR_USAGE, "this is a pipe, which is read once; name it once");
            acq_error_set_file(error, paths[i]);
            return ACQ_ERR_USAGE;
        }
    }
    return ACQ_OK;
}

static acq_status check_base(const acq_read_params *params, acq_error *error)
{
    return params == NULL || params->base == NULL ? ACQ_OK
                                                  : acq_iri_check_base(params->base, error);
}

/* Bytes of all files, 0 when some file will not say. */
static uint64_t add_sizes(const acq_source *sources, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < sources[i].n_files; j++) {
            if (acq_file_get_kind(sources[i].files[j]) != ACQ_FILE_REGULAR)
                return 0;
            sum += acq_file_get_size(sources[i].files[j]);
        }
    }
    return sum;
}

/* The sources stay until the end: messages borrow their names. */
static acq_status read_sources(const acq_source *sources, size_t n, const acq_read_params *params,
                               const acq_sink *sink, acq_read_report *report, acq_error *error)
{
    ingest in = {0};
    acq_status status = check_mix(sources, n, error);
    acq_merger_init(&in.merger, sink, params, error);
    in.merger.total = add_sizes(sources, n);
    for (size_t i = 0; i < n; i++)
        in.n_files += sources[i].n_files;
    for (size_t i = 0; status == ACQ_OK && i < n; i++)
        status = read_source(&in, &sources[i]);
    if (status == ACQ_OK)
        status = acq_merger_finish(&in.merger, report);
    acq_merger_deinit(&in.merger);
    return status;
}

acq_status acq_ingest(const char *const *paths, size_t n_paths, const acq_read_params *params,
                      const acq_sink *sink, acq_read_report *report, acq_error *error)
{
    acq_status status = check_base(params, error);
    size_t n = 0;
    if (status != ACQ_OK)
        return status;
    if (n_paths == 0)
        return acq_fail(error, ACQ_ERR_USAGE, "no graph is named; give a file or folder");
    status = check_pipes(paths, n_paths, error);
    if (status != ACQ_OK)
        return status;
    acq_source *sources = acq_zalloc(n_paths, sizeof *sources);
    if (sources == NULL)
        return acq_fail_memory(error);
    while (status == ACQ_OK && n < n_paths) {
        status = acq_source_init(&sources[n], paths[n], params, error);
        n += status == ACQ_OK;
    }
    if (status == ACQ_OK)
        status = read_sources(sources, n, params, sink, report, error);
    while (n > 0)
        acq_source_deinit(&sources[--n]);
    acq_free(sources);
    return status;
}

static acq_status read_memory(ingest *in, const acq_memory_source *source)
{
    acq_stream stream;
    acq_text_syntax syntax = source->syntax;
    acq_error *error = in->merger.error;
    if (source->index != NULL) {
        acq_status status =
            acq_read_index(in->merger.sink->dictionary, source->index, source->index_length, error);
        acq_error_set_file(status == ACQ_OK ? NULL : error, "kgindex.json");
        if (status != ACQ_OK)
            return status;
        syntax = ACQ_IDS;
    }
    acq_stream_open_memory(&stream, source->name, source->bytes, source->length);
    stream.most = source->piece_bytes;
    acq_status status = read_stream(in, &stream, syntax);
    acq_stream_close(&stream);
    return status;
}

acq_status acq_ingest_memory(const acq_memory_source *source, const acq_read_params *params,
                             const acq_sink *sink, acq_read_report *report, acq_error *error)
{
    ingest in = {.piece_bytes = source->piece_bytes};
    acq_merger_init(&in.merger, sink, params, error);
    in.merger.total = source->length;
    acq_status status = check_base(params, error);
    if (status == ACQ_OK)
        status = read_memory(&in, source);
    if (status == ACQ_OK)
        status = acq_merger_finish(&in.merger, report);
    acq_merger_deinit(&in.merger);
    return status;
}

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
