/* store.c - graphs opened, stores and graphs as text: made, described, changed from files, written.
 * Single changes, compaction and verification are functions of store/ itself. */
#include "library/parts.h"

#include <string.h>

#include "base/memory.h"
#include "graph/text/read.h"
#include "store/import/import.h"
#include "store/store.h"
#include "tensor/kernels.h"

/* ---- graph ----
 *
 * Graphs: sources in, handles out. What a graph answers is in graph/graph.c. */

const char *acq_get_version(void)
{
    return ACQ_VERSION;
}

acq_status acq_limit_instructions(const char *set, acq_error *error)
{
    ACQ_REQUIRE(set, error);
    if (strcmp(set, "auto") == 0)
        return ACQ_OK;
    acq_cpu_level level = acq_cpu_level_find(set);
    if (level != ACQ_N_CPU_LEVELS)
        return acq_cpu_limit(level, error);
    return acq_fail(error, ACQ_ERR_USAGE,
                    "no instructions \"%.100s\"; use auto, generic, avx2, avx512, avx512-bf16 or "
                    "amx",
                    set);
}

void acq_graph_params_init_sized(acq_graph_params *params, size_t size)
{
    acq_graph_params own = {0};
    acq_sized_init(params, size, &own, sizeof own);
}

acq_status acq_library_read_params(const char *function, const acq_graph_params *given,
                                   acq_read_params *out, acq_read_report **report, acq_error *error)
{
    acq_graph_params params = {0};
    acq_status status = acq_sized_read(function, given, &params, sizeof params, error);
    *out = (acq_read_params){.split = params.split,
                             .format = params.format,
                             .strict = params.strict,
                             .no_header = params.no_header,
                             .note = params.note,
                             .bad_line = params.left_out,
                             .progress = params.progress,
                             .context = params.context,
                             .threads = params.threads,
                             .base = params.base,
                             .literals = params.literals,
                             .named_graphs = params.named_graphs};
    *report = params.report;
    return status;
}

acq_status acq_graph_open(const char *path, const acq_graph_params *given, acq_graph **out,
                          acq_error *error)
{
    ACQ_REQUIRE(path, error);
    ACQ_REQUIRE(out, error);
    acq_read_params read;
    acq_read_report *wanted, report = {0};
    acq_status status = acq_library_read_params(__func__, given, &read, &wanted, error);
    if (status == ACQ_OK)
        status = acq_graph_open_path(path, &read, out, &report, error);
    if (status == ACQ_OK)
        acq_sized_fill(wanted, &report, sizeof report);
    return status;
}

/* ---- store ---- */

/* ---- making one ---- */

void acq_store_params_init_sized(acq_store_params *params, size_t size)
{
    acq_store_params own = {0};
    acq_sized_init(params, size, &own, sizeof own);
}

static void fill_report(acq_store_create_report *out, const acq_import_report *report)
{
    acq_store_create_report own = {.facts = report->n_facts,
                                   .entities = report->n_entities,
                                   .relations = report->n_relations,
                                   .file_bytes = report->file_bytes,
                                   .runs = report->spilled_runs,
                                   .seconds = report->seconds};
    acq_sized_fill(out, &own, sizeof own);
}

acq_status acq_store_create(const char *const *sources, size_t n_sources, const char *path,
                            const acq_store_params *given, acq_error *error)
{
    ACQ_REQUIRE(sources, error);
    ACQ_REQUIRE(path, error);
    for (size_t i = 0; i < n_sources; i++)
        ACQ_REQUIRE(sources[i], error);
    acq_store_params params = {0};
    acq_import_params import = {0};
    acq_import_report report;
    acq_read_report *wanted;
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    if (status == ACQ_OK)
        status = acq_library_read_params(__func__, params.read, &import.read, &wanted, error);
    if (status != ACQ_OK)
        return status;
    import.memory_bytes = (size_t)params.memory_bytes;
    import.replace = params.replace;
    import.begin = params.begin;
    import.begin_context = params.context;
    status = acq_import(sources, n_sources, path, &import, &report, error);
    if (status != ACQ_OK)
        return status;
    acq_sized_fill(wanted, &report.read, sizeof report.read);
    fill_report(params.report, &report);
    return ACQ_OK;
}

acq_status acq_store_describe(const char *path, acq_store_summary *summary, acq_error *error)
{
    ACQ_REQUIRE(path, error);
    ACQ_REQUIRE(summary, error);
    acq_store_info info;
    acq_status status = acq_store_read_info(path, &info, error);
    if (status != ACQ_OK)
        return status;
    acq_store_summary own = {.format = info.format,
                             .is_rdf = info.is_rdf,
                             .changes = info.n_changes,
                             .file_bytes = info.file_bytes,
                             .log_bytes = info.wal_bytes};
    memcpy(own.sources, info.sources, sizeof own.sources);
    acq_sized_fill(summary, &own, sizeof own);
    return ACQ_OK;
}

/* ---- changes from a file ---- */

/* The facts of a file, by the names of its dictionary. */
typedef struct file_facts {
    acq_dictionary dictionary;
    acq_triple *triples;
    size_t n, capacity;
    acq_store_fact *facts;
} file_facts;

static acq_status take_triples(void *self, const acq_triple *triples, size_t n, acq_error *error)
{
    file_facts *file = self;
    if (ACQ_RESERVE(file->triples, file->capacity, file->n + n) != ACQ_OK)
        return acq_fail_memory(error);
    for (size_t i = 0; i < n; i++)
        file->triples[file->n++] = triples[i];
    return ACQ_OK;
}

/* Names move while a dictionary grows, so they are looked up at the end. */
static acq_status name_triples(file_facts *file, acq_error *error)
{
    const acq_dictionary *names = &file->dictionary;
    file->facts = acq_alloc(file->n, sizeof *file->facts);
    if (file->facts == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < file->n; i++) {
        const acq_triple *t = &file->triples[i];
        file->facts[i] = (acq_store_fact){.head = acq_names_get(&names->entities, t->head),
                                          .relation = acq_names_get(&names->relations, t->relation),
                                          .tail = acq_names_get(&names->entities, t->tail),
                                          .is_rdf = names->is_rdf};
    }
    return ACQ_OK;
}

static acq_status read_facts(file_facts *file, const char *path, const acq_graph_params *given,
                             acq_error *error)
{
    acq_read_params params;
    acq_read_report *wanted, report = {0};
    acq_sink sink = {.dictionary = &file->dictionary, .add_facts = take_triples, .self = file};
    acq_status status =
        acq_library_read_params("acq_store_add_from", given, &params, &wanted, error);
    if (status == ACQ_OK && acq_store_is_database(path)) {
        status = acq_fail(error, ACQ_ERR_USAGE, "this is a store; write its facts as text first");
        acq_error_set_file(error, path);
    }
    if (status == ACQ_OK)
        status = acq_ingest(&path, 1, &params, &sink, &report, error);
    if (status == ACQ_OK)
        status = name_triples(file, error);
    if (status == ACQ_OK)
        acq_sized_fill(wanted, &report, sizeof report);
    return status;
}

typedef acq_status change_fn(acq_store_writer *writer, const acq_store_fact *facts, size_t n,
                             acq_store_report *report, size_t *i_bad, acq_error *error);

static acq_status change_from(change_fn *change, acq_store_writer *writer, const char *path,
                              const acq_graph_params *read, acq_store_report *report,
                              acq_error *error)
{
    file_facts file = {0};
    acq_dictionary_init(&file.dictionary);
    acq_status status = read_facts(&file, path, read, error);
    if (status == ACQ_OK)
        status = change(writer, file.facts, file.n, report, NULL, error);
    acq_free(file.facts);
    acq_free(file.triples);
    acq_dictionary_deinit(&file.dictionary);
    return status;
}

acq_status acq_store_add_from(acq_store_writer *writer, const char *path,
                              const acq_graph_params *read, acq_store_report *report,
                              acq_error *error)
{
    ACQ_REQUIRE(writer, error);
    ACQ_REQUIRE(path, error);
    return change_from(acq_store_add, writer, path, read, report, error);
}

acq_status acq_store_remove_from(acq_store_writer *writer, const char *path,
                                 const acq_graph_params *read, acq_store_report *report,
                                 acq_error *error)
{
    ACQ_REQUIRE(writer, error);
    ACQ_REQUIRE(path, error);
    return change_from(acq_store_remove, writer, path, read, report, error);
}

/* ---- graphs as text ---- */

acq_status acq_graph_count_relation(const acq_graph *graph, acq_rel relation,
                                    acq_relation_counts *counts, acq_error *error)
{
    ACQ_REQUIRE(graph, error);
    ACQ_REQUIRE(counts, error);
    if (relation >= acq_graph_get_n_relations(graph))
        return acq_fail(error, ACQ_ERR_USAGE, "the graph has no relation %u", relation);
    const acq_links *forward, *back;
    acq_status status = acq_graph_open_links(graph, relation, &forward, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(graph, acq_inverse(relation), &back, error);
    if (status != ACQ_OK)
        return status;
    acq_relation_counts own = {
        .facts = forward->n_links, .heads = forward->n_heads, .tails = back->n_heads};
    acq_sized_fill(counts, &own, sizeof own);
    return ACQ_OK;
}

void acq_graph_write_params_init_sized(acq_graph_write_params *params, size_t size)
{
    acq_graph_write_params own = {0};
    acq_sized_init(params, size, &own, sizeof own);
}

static acq_status find_format(const acq_graph *graph, const char *name, acq_write_format *out,
                              acq_error *error)
{
    static const char *const names[] = {
        [ACQ_FORMAT_TSV] = "tsv", [ACQ_FORMAT_CSV] = "csv", [ACQ_FORMAT_NT] = "nt"};
    *out = acq_graph_is_rdf(graph) ? ACQ_FORMAT_NT : ACQ_FORMAT_TSV;
    if (name == NULL)
        return ACQ_OK;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *out = (acq_write_format)i;
        if (strcmp(name, names[i]) == 0)
            return ACQ_OK;
    }
    return acq_fail(error, ACQ_ERR_USAGE, "no format \"%.100s\"; use tsv, csv or nt", name);
}

acq_status acq_graph_write(const acq_graph *graph, const acq_graph_write_params *given,
                           uint64_t *n_facts, acq_error *error)
{
    ACQ_REQUIRE(graph, error);
    ACQ_REQUIRE(given, error);
    acq_graph_write_params params = {0};
    acq_write_params write = {0};
    acq_write_report report;
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    if (status == ACQ_OK && params.put == NULL)
        status = acq_fail(error, ACQ_ERR_USAGE, "%s: params->put is NULL", __func__);
    if (status == ACQ_OK)
        status = find_format(graph, params.format, &write.format, error);
    if (status != ACQ_OK)
        return status;
    write.progress = params.progress;
    write.context = params.context;
    acq_text_sink sink = {.put = params.put, .self = params.context};
    status = acq_text_write(graph, &write, &sink, &report, error);
    if (status == ACQ_OK && n_facts != NULL)
        *n_facts = report.facts;
    return status;
}
