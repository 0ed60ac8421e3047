/* ingest.c - facts from paths: find the files, read each into the sink.
 * Each file is read whole, then parsed in place; see reader.h for the parts. */
#include "graph/ingest.h"

#include "base/memory.h"
#include "graph/file.h"
#include "graph/reader.h"
#include "graph/source.h"

typedef acq_status (*parse_fn)(acq_reader *reader, const char *bytes, size_t length);

static acq_status parse(acq_reader *reader, const char *name, parse_fn parser, const char *bytes,
                        size_t length)
{
    reader->file = name;
    acq_status status = parser(reader, bytes, length);
    if (status != ACQ_OK)
        acq_error_set_file(reader->error, name);
    return status;
}

static parse_fn parser_of(acq_separator separator, bool has_index)
{
    if (has_index)
        return acq_read_ids;
    return separator == ACQ_COMMAS ? acq_read_csv : acq_read_tsv;
}

static acq_status read_file(acq_reader *reader, const char *path, parse_fn parser)
{
    char *bytes;
    size_t length;
    acq_status status = acq_file_read(path, &bytes, &length, reader->error);
    if (status != ACQ_OK)
        return status;
    status = parse(reader, path, parser, bytes, length);
    acq_free(bytes);
    return status;
}

static acq_status read_source(acq_reader *reader, const acq_source *source)
{
    acq_status status = ACQ_OK;
    if (source->index != NULL)
        status = read_file(reader, source->index, acq_read_index);
    for (size_t i = 0; status == ACQ_OK && i < source->n_files; i++)
        status = read_file(reader, source->files[i],
                           parser_of(source->formats[i], source->index != NULL));
    return status;
}

/* The sources stay until the end: the reader's messages borrow their names. */
static acq_status read_sources(acq_reader *reader, const acq_source *sources, size_t n,
                               acq_read_report *report)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; n > 1 && i < n; i++) {
        if (sources[i].index != NULL) {
            status = acq_fail(reader->error, ACQ_ERR_USAGE,
                              "a benchmark graph has its own ids and cannot be merged with other "
                              "sources; read it alone");
            acq_error_set_file(reader->error, sources[i].files[0]);
            return status;
        }
    }
    for (size_t i = 0; status == ACQ_OK && i < n; i++)
        status = read_source(reader, &sources[i]);
    return status == ACQ_OK ? acq_reader_finish(reader, report) : status;
}

acq_status acq_ingest(const char *const *paths, size_t n_paths, const acq_read_params *params,
                      const acq_sink *sink, acq_read_report *report, acq_error *error)
{
    const char *split = params == NULL ? NULL : params->split;
    acq_status status = ACQ_OK;
    size_t n = 0;
    if (n_paths == 0)
        return acq_fail(error, ACQ_ERR_USAGE, "no graph is named; give a file or folder");
    acq_source *sources = acq_zalloc(n_paths, sizeof *sources);
    if (sources == NULL)
        return acq_fail_memory(error);
    while (status == ACQ_OK && n < n_paths) {
        status = acq_source_init(&sources[n], paths[n], split, error);
        n += status == ACQ_OK;
    }
    if (status == ACQ_OK) {
        acq_reader reader;
        acq_reader_init(&reader, params, sink, error);
        status = read_sources(&reader, sources, n, report);
    }
    while (n > 0)
        acq_source_deinit(&sources[--n]);
    acq_free(sources);
    return status;
}

acq_status acq_ingest_memory(const acq_memory_source *source, const acq_read_params *params,
                             const acq_sink *sink, acq_read_report *report, acq_error *error)
{
    acq_reader reader;
    acq_status status = ACQ_OK;
    acq_reader_init(&reader, params, sink, error);
    if (source->index != NULL)
        status =
            parse(&reader, "kgindex.json", acq_read_index, source->index, source->index_length);
    if (status == ACQ_OK)
        status = parse(&reader, source->name, parser_of(source->separator, source->index != NULL),
                       source->bytes, source->length);
    return status == ACQ_OK ? acq_reader_finish(&reader, report) : status;
}
