/* import.c - an import from end to end: read, sort, write, put in place; see import.h.
 *
 *   sources ─ingest─▶ dictionary, sorter ─▶ OUTPUT.partial ─▶ OUTPUT
 *
 * Memory: the names stay until they are written. The facts get what the budget leaves after the
 * names and a fixed share for buffers; when names grow, facts get less and go to disk earlier. */
#include "store/import/import.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"
#include "graph/text/read.h"
#include "store/database.h"
#include "store/format.h"
#include "store/import/write.h"

typedef struct replacement {
    const char *from; /* a complete store that nobody else uses */
    const char *output;
    bool with_changes;
    uint64_t n_facts;      /* of the new store, for progress */
    acq_progress_fn progress; /* may be NULL */
    void *context;
} replacement;

enum { PAGES_PER_STEP = 1024 };

static acq_status fail(const char *output, const char *message, acq_error *error)
{
    acq_fail(error, ACQ_ERR_USAGE, "%s", message);
    acq_error_set_file(error, output);
    return ACQ_ERR_USAGE;
}

/* In one transaction, or another writer could change the tables in between. */
static acq_status read_meta(const acq_db *db, acq_store_meta *out, acq_error *error)
{
    uint32_t format = 0;
    acq_status status = acq_db_run(db, "BEGIN", error);
    if (status == ACQ_OK)
        status = acq_format_check(db, &format, error);
    if (status == ACQ_OK)
        status = acq_meta_read(db, out, error);
    acq_db_roll_back(db);
    return status;
}

/* A damaged store is said to need another import, and that would end here once more: so here the
 * remedy is another one. */
static acq_status fail_unreadable(const char *output, const acq_error *reason, acq_error *error)
{
    if (reason->code == ACQ_ERR_INPUT)
        acq_fail(
            error, ACQ_ERR_INPUT,
            "a store that cannot be read is in the way; move it, or name another file (%.300s)",
            reason->message);
    else
        acq_fail(error, reason->code, "%s", reason->message);
    acq_error_set_file(error, output);
    return reason->code;
}

static acq_status check_replaceable(const char *output, bool with_changes, acq_error *error)
{
    acq_error reason = {0};
    acq_store_meta meta;
    acq_db db;
    acq_status status = acq_store_file_check(output, &reason);
    if (status == ACQ_ERR_INPUT)
        return fail(output,
                    "there is a file of this name, and it is not a store; name another file, or "
                    "move it away",
                    error);
    if (status == ACQ_OK)
        status = acq_db_open(&db, output, ACQ_DB_READ, &reason);
    if (status != ACQ_OK)
        return fail_unreadable(output, &reason, error);
    status = read_meta(&db, &meta, &reason);
    acq_db_close(&db);
    if (status != ACQ_OK)
        return fail_unreadable(output, &reason, error);
    if (!with_changes && acq_meta_is_changed(&meta))
        return fail(output,
                    "facts were added to this store or removed since it was imported; export them "
                    "first and import with --replace, or name another file",
                    error);
    return ACQ_OK;
}

static acq_status report(const replacement *params, sqlite3_backup *backup, acq_error *error)
{
    int total = sqlite3_backup_pagecount(backup);
    int done = total - sqlite3_backup_remaining(backup);
    acq_progress now = {.phase = "replacing",
                     .done = (uint64_t)done,
                     .total = (uint64_t)total,
                     .facts = params->n_facts};
    if (params->progress == NULL || params->progress(params->context, &now))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INTERRUPTED, "the import was interrupted");
}

/* A step without pages locks the output, so what it holds then is what will be lost: that is
 * looked at once more. */
static acq_status copy(const replacement *params, const acq_db *to, sqlite3_backup *backup,
                       acq_error *error)
{
    int code = sqlite3_backup_step(backup, 0);
    acq_status status = ACQ_OK;
    if (code == SQLITE_OK)
        status = check_replaceable(params->output, params->with_changes, error);
    acq_db_sync_log_name(to);
    while (status == ACQ_OK && code == SQLITE_OK) {
        status = report(params, backup, error);
        if (status == ACQ_OK)
            code = sqlite3_backup_step(backup, PAGES_PER_STEP);
    }
    return status == ACQ_OK && code != SQLITE_DONE ? acq_db_fail(to, code, error) : status;
}

static acq_status copy_all(const replacement *params, const acq_db *from, const acq_db *to,
                           acq_error *error)
{
    sqlite3_backup *backup = sqlite3_backup_init(to->handle, "main", from->handle, "main");
    if (backup == NULL)
        return acq_db_fail(to, sqlite3_errcode(to->handle), error);
    acq_status status = copy(params, to, backup, error);
    sqlite3_backup_finish(backup);
    return status;
}

/* Moves the new pages from the log into the file, unless readers still need the old ones: then a
 * later writer does it. */
static void clear_log(const acq_db *db)
{
    acq_db_set_patient(db, false);
    (void)sqlite3_wal_checkpoint_v2(db->handle, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

static acq_status replace(const replacement *params, acq_error *error)
{
    acq_db from, to;
    acq_status status = acq_db_open(&from, params->from, ACQ_DB_IMMUTABLE, error);
    if (status != ACQ_OK)
        return status;
    status = acq_db_open(&to, params->output, ACQ_DB_WRITE, error);
    if (status == ACQ_OK) {
        status = acq_db_run(&to, "PRAGMA synchronous = FULL", error);
        if (status == ACQ_OK)
            status = copy_all(params, &from, &to, error);
        if (status == ACQ_OK)
            clear_log(&to);
        acq_db_close(&to);
    }
    acq_db_close(&from);
    return status;
}

/* Pieces of the sources, parts of links, SQLite's cache. */
static const size_t BUFFERS = (size_t)64 << 20;

static const size_t DEFAULT_MEMORY = (size_t)2 << 30;

typedef struct importing {
    acq_import_params params;
    acq_import_report *report;
    acq_dictionary dictionary;
    acq_sorter *sorter;
    acq_partial partial;
    acq_error *error;
} importing;

static size_t names_bytes(const acq_names *names)
{
    return names->pool_capacity + names->ids_capacity * sizeof *names->entries +
           names->n_slots * sizeof *names->slots;
}

/* With the labels a second time, as they will be settled. */
static size_t dictionary_bytes(const acq_dictionary *dictionary)
{
    size_t labels = names_bytes(&dictionary->labelled) + dictionary->label_text_capacity +
                    dictionary->labels_capacity * sizeof *dictionary->labels;
    size_t graphs = names_bytes(&dictionary->quads.names) +
                    dictionary->quads.capacity * sizeof *dictionary->quads.items;
    return names_bytes(&dictionary->entities) + names_bytes(&dictionary->relations) + 2 * labels +
           graphs;
}

static size_t megabytes(size_t bytes)
{
    return (bytes >> 20) + 1;
}

/* Labels may come before any fact. */
static acq_status fail_names(const importing *self, uint64_t n_facts, size_t names)
{
    char what[64] = "labels";
    if (n_facts > 0)
        snprintf(what, sizeof what, "names of the first %llu facts", (unsigned long long)n_facts);
    return acq_fail(self->error, ACQ_ERR_LIMIT,
                    "the %s alone need %zu MB of memory, and %zu MB are allowed; allow more with "
                    "--memory",
                    what, megabytes(names), self->params.memory_bytes >> 20);
}

/* What names leave is for the facts. */
static acq_status share_memory(importing *self, uint64_t n_facts)
{
    size_t names = dictionary_bytes(&self->dictionary), all = self->params.memory_bytes;
    size_t taken = names + BUFFERS;
    if (names > all)
        return fail_names(self, n_facts, names);
    acq_sorter_set_memory(self->sorter, all > taken ? all - taken : 0);
    return ACQ_OK;
}

static acq_status add_facts(void *context, const acq_triple *facts, size_t n, acq_error *error)
{
    importing *self = context;
    acq_sort_counts counts;
    acq_sorter_get_counts(self->sorter, &counts);
    acq_status status = share_memory(self, counts.given + n);
    return status == ACQ_OK ? acq_sorter_add(self->sorter, facts, n, error) : status;
}

static acq_status read_sources(importing *self, const char *const *paths, size_t n_paths)
{
    acq_sort_params params = {.folder = self->partial.folder,
                              .memory_bytes = self->params.memory_bytes,
                              .threads = self->params.read.threads};
    const acq_sink sink = {.dictionary = &self->dictionary, .add_facts = add_facts, .self = self};
    self->sorter = acq_sorter_new(&params);
    if (self->sorter == NULL)
        return acq_fail_memory(self->error);
    return acq_ingest(paths, n_paths, &self->params.read, &sink, &self->report->read, self->error);
}

static acq_status report_sorting(const importing *self, uint64_t done)
{
    const acq_read_params *read = &self->params.read;
    acq_sort_counts counts;
    acq_sorter_get_counts(self->sorter, &counts);
    acq_progress now = {
        .phase = "sorting", .done = done, .total = counts.given, .facts = counts.given};
    if (read->progress == NULL || read->progress(read->context, &now))
        return ACQ_OK;
    return acq_fail(self->error, ACQ_ERR_INTERRUPTED, "the import was interrupted");
}

static acq_status sort(importing *self)
{
    acq_status status = report_sorting(self, 0);
    acq_quads_sort(&self->dictionary.quads);
    if (status == ACQ_OK)
        status = acq_sorter_finish(self->sorter, self->error);
    return status;
}

/* What the sorter met on its way belongs to the report of the reading. */
static void report_facts(importing *self)
{
    acq_sort_counts counts;
    acq_sorter_get_counts(self->sorter, &counts);
    self->report->read.duplicates = counts.duplicates;
    self->report->read.completed =
        acq_dictionary_names_inverses(&self->dictionary) ? counts.one_way : 0;
    self->report->spilled_runs = counts.runs;
}

/* The memory of facts and names is given back before the indexes are made. */
static acq_status write_all(importing *self, acq_import_writer *writer, const char *sources)
{
    bool is_rdf = self->dictionary.is_rdf;
    acq_status status = acq_import_writer_put(writer, &self->dictionary, self->sorter, self->error);
    if (status != ACQ_OK)
        return status;
    report_facts(self);
    acq_sorter_free(self->sorter);
    self->sorter = NULL;
    acq_dictionary_deinit(&self->dictionary);
    status = acq_import_writer_finish(writer, sources, is_rdf, self->error);
    const acq_store_meta *meta = acq_import_writer_get_meta(writer);
    self->report->n_facts = meta->n_facts;
    self->report->n_entities = (uint32_t)meta->n_entities;
    self->report->n_relations = (uint32_t)(meta->n_relations / 2);
    return status;
}

static acq_status write_partial(importing *self, const char *sources)
{
    acq_import_writer_params params = {.path = self->partial.path,
                                       .folder = self->partial.folder,
                                       .threads = self->params.read.threads,
                                       .progress = self->params.read.progress,
                                       .context = self->params.read.context};
    acq_import_writer *writer = NULL;
    acq_status status = acq_import_writer_new(&params, &writer, self->error);
    if (status == ACQ_OK)
        status = write_all(self, writer, sources);
    acq_import_writer_free(writer);
    return status;
}

static acq_status put_in_place(importing *self)
{
    struct stat info;
    if (fstat(self->partial.file, &info) == 0)
        self->report->file_bytes = (uint64_t)info.st_size;
    if (!self->partial.has_output)
        return acq_partial_finish(&self->partial, self->error);
    replacement params = {.from = self->partial.path,
                          .output = self->partial.output,
                          .with_changes = self->params.replace,
                          .n_facts = self->report->n_facts,
                          .progress = self->params.read.progress,
                          .context = self->params.read.context};
    return replace(&params, self->error);
}

static acq_status join_sources(const char *const *paths, size_t n_paths, char **out,
                               acq_error *error)
{
    acq_text text;
    acq_text_init(&text);
    for (size_t i = 0; i < n_paths; i++)
        acq_text_format(&text, "%s%s", i == 0 ? "" : ", ", paths[i]);
    acq_status status = acq_text_take(&text, out, error);
    acq_text_deinit(&text);
    return status;
}

static acq_status run(importing *self, const char *const *paths, size_t n_paths)
{
    char *sources = NULL;
    acq_status status = join_sources(paths, n_paths, &sources, self->error);
    if (status == ACQ_OK && self->partial.has_output)
        status = check_replaceable(self->partial.output, self->params.replace, self->error);
    if (status == ACQ_OK)
        status = read_sources(self, paths, n_paths);
    if (status == ACQ_OK)
        status = sort(self);
    if (status == ACQ_OK)
        status = write_partial(self, sources);
    if (status == ACQ_OK)
        status = put_in_place(self);
    acq_free(sources);
    return status;
}

static void set_defaults(acq_import_params *params)
{
    if (params->memory_bytes == 0)
        params->memory_bytes = DEFAULT_MEMORY;
    if (params->read.threads == 0)
        params->read.threads = acq_threads_available();
}

acq_status acq_import(const char *const *paths, size_t n_paths, const char *output,
                      const acq_import_params *params, acq_import_report *report, acq_error *error)
{
    int64_t start = acq_clock_ns();
    acq_import_report own = {0};
    importing self = {.report = &own, .error = error};
    if (params != NULL)
        self.params = *params;
    set_defaults(&self.params);
    acq_dictionary_init(&self.dictionary);
    acq_status status = acq_partial_init(&self.partial, output, error);
    if (status == ACQ_OK && self.params.begin != NULL)
        self.params.begin(self.params.begin_context, self.partial.path);
    if (status == ACQ_OK)
        status = run(&self, paths, n_paths);
    acq_sorter_free(self.sorter);
    acq_dictionary_deinit(&self.dictionary);
    acq_partial_deinit(&self.partial);
    own.seconds = (double)(acq_clock_ns() - start) / 1e9;
    if (status == ACQ_OK && report != NULL)
        *report = own;
    return status;
}
