/* merge.c - batches into the sink; see batch.h. The time goes into looking names up in a table
 * larger than any cache; acq_names_add_all fetches ahead for that. */
#include "graph/text/batch.h"

#include <stdio.h>

#include "base/memory.h"

void acq_merger_init(acq_merger *merger, const acq_sink *sink, const acq_read_params *params,
                     acq_error *error)
{
    *merger = (acq_merger){.sink = sink, .error = error, .file = ""};
    if (params != NULL)
        merger->params = *params;
}

void acq_merger_deinit(acq_merger *merger)
{
    acq_free(merger->entities);
    acq_free(merger->relations);
}

void acq_merger_start_file(acq_merger *merger, const char *file, acq_syntax syntax)
{
    merger->syntax = syntax;
    merger->file = file;
    merger->n_lines = 0;
}

static acq_status fail_names(const acq_merger *merger, acq_status status)
{
    if (status == ACQ_ERR_MEMORY)
        return acq_fail_memory(merger->error);
    return acq_fail(merger->error, status, "the graph is too large: ids have 32 bits; split it");
}

/* Global ids of a batch's names. */
static acq_status map_names(acq_merger *merger, const acq_local_names *local, acq_names *names,
                            uint32_t step, uint32_t **ids, size_t *capacity)
{
    acq_status status = ACQ_RESERVE(*ids, *capacity, local->names.n_ids);
    if (status == ACQ_OK)
        status = acq_names_add_all(names, &local->names, local->hashes, step, *ids);
    return status == ACQ_OK ? ACQ_OK : fail_names(merger, status);
}

static void translate(const acq_merger *merger, acq_triple *facts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        facts[i] = (acq_triple){.head = merger->entities[facts[i].head],
                                .relation = merger->relations[facts[i].relation],
                                .tail = merger->entities[facts[i].tail]};
}

static acq_status take_facts(acq_merger *merger, acq_batch *batch)
{
    const acq_sink *sink = merger->sink;
    acq_dictionary *dictionary = sink->dictionary;
    if (batch->n_facts == 0 && batch->n_labels == 0)
        return ACQ_OK;
    if (batch->rules->syntax != ACQ_IDS) {
        acq_status status = map_names(merger, &batch->entities, &dictionary->entities, 1,
                                      &merger->entities, &merger->entities_capacity);
        if (status == ACQ_OK)
            status = map_names(merger, &batch->relations, &dictionary->relations, 2,
                               &merger->relations, &merger->relations_capacity);
        if (status != ACQ_OK)
            return status;
        translate(merger, batch->facts, batch->n_facts);
    }
    merger->n_facts += batch->n_facts;
    return sink->add_facts(sink->self, batch->facts, batch->n_facts, merger->error);
}

static acq_status take_labels(acq_merger *merger, const acq_batch *batch)
{
    acq_dictionary *dictionary = merger->sink->dictionary;
    acq_status status = ACQ_OK;
    dictionary->is_rdf = dictionary->is_rdf || batch->is_rdf;
    for (size_t i = 0; status == ACQ_OK && i < batch->n_labels; i++) {
        const acq_local_label *label = &batch->labels[i];
        const char *text = batch->label_text.bytes;
        status = acq_dictionary_add_label(dictionary, text + label->key, label->key_length,
                                          text + label->text, label->text_length, label->rank);
    }
    return status == ACQ_OK ? ACQ_OK : fail_names(merger, status);
}

static void report_bad(acq_merger *merger, const acq_batch *batch)
{
    const acq_read_params *params = &merger->params;
    for (size_t i = 0; i < batch->n_bad; i++) {
        const acq_bad_line *line = &batch->bad[i];
        acq_error bad = {0};
        if (params->bad_line == NULL && merger->first_bad.code != ACQ_OK)
            return;
        acq_fail_at(&bad, ACQ_ERR_PARSE, merger->n_lines + line->line, line->column, "%s",
                    batch->bad_text.bytes + line->message);
        acq_error_set_file(&bad, merger->file);
        if (merger->first_bad.code == ACQ_OK)
            merger->first_bad = bad;
        if (params->bad_line != NULL)
            params->bad_line(params->context, &bad);
    }
}

static void add_counts(acq_read_report *sum, const acq_read_report *more)
{
    sum->lines += more->lines;
    sum->bad += more->bad;
    sum->literals += more->literals;
    sum->labels += more->labels;
}

static acq_status fail_batch(acq_merger *merger, const acq_error *reason)
{
    size_t line = reason->line == 0 ? 0 : merger->n_lines + reason->line;
    acq_status status =
        acq_fail_at(merger->error, reason->code, line, reason->column, "%s", reason->message);
    acq_error_set_file(merger->error, reason->file[0] == '\0' ? merger->file : reason->file);
    return status;
}

acq_status acq_merger_take(acq_merger *merger, acq_batch *batch)
{
    report_bad(merger, batch);
    add_counts(&merger->report, &batch->counts);
    acq_status status = take_labels(merger, batch);
    if (status == ACQ_OK)
        status = take_facts(merger, batch);
    if (status == ACQ_OK && batch->error.code != ACQ_OK)
        status = fail_batch(merger, &batch->error);
    merger->n_lines += batch->n_lines;
    return status;
}

acq_status acq_merger_progress(acq_merger *merger, uint64_t done)
{
    acq_progress now = {.phase = "reading",
                     .done = merger->done + done,
                     .total = merger->total,
                     .facts = merger->n_facts};
    if (merger->params.progress == NULL || merger->params.progress(merger->params.context, &now))
        return ACQ_OK;
    return acq_fail(merger->error, ACQ_ERR_INTERRUPTED, "reading was interrupted");
}

static acq_status fail_empty(acq_merger *merger)
{
    const acq_read_report *report = &merger->report;
    const acq_error *bad = &merger->first_bad;
    acq_status status;
    if (report->bad > 0)
        status = acq_fail_at(merger->error, ACQ_ERR_INPUT, bad->line, bad->column,
                             "no fact could be read, %llu of %llu lines are bad; the first: %.400s",
                             (unsigned long long)report->bad, (unsigned long long)report->lines,
                             bad->message);
    else if (report->lines > 0)
        status = acq_fail(merger->error, ACQ_ERR_INPUT,
                          "no fact could be read: all %llu statements have literals as objects; "
                          "take those as entities with --literals",
                          (unsigned long long)report->lines);
    else
        status = acq_fail(merger->error, ACQ_ERR_INPUT, "the input is empty; it should hold %s",
                          acq_syntax_is_rdf(merger->syntax) ? "RDF statements"
                                                            : "lines of head, relation, tail");
    acq_error_set_file(merger->error, report->bad == 0 ? merger->file : bad->file);
    return status;
}

acq_status acq_merger_finish(acq_merger *merger, acq_read_report *report)
{
    if (merger->n_facts == 0)
        return fail_empty(merger);
    acq_status status = acq_dictionary_check(merger->sink->dictionary, merger->error);
    if (status != ACQ_OK)
        acq_error_set_file(merger->error, merger->file);
    else if (report != NULL)
        *report = merger->report;
    return status;
}
