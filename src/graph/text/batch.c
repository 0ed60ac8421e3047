/* batch.c - names, facts and bad lines of one piece, and how they join the rest; see batch.h.
 *
 * The time of joining goes into looking names up in a table larger than any cache;
 * acq_names_add_all fetches ahead for that. */
#include "graph/text/batch.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

enum { FULL_FACTS = 32 * 1024, FULL_BYTES = 2 << 20, KEPT_BYTES = 1 << 20 };

void acq_batch_init(acq_batch *batch, const acq_syntax_rules *rules)
{
    *batch = (acq_batch){.rules = rules, .graph = ACQ_NO_ID};
    acq_text_init(&batch->bad_text);
    acq_text_init(&batch->label_text);
    acq_text_init(&batch->graph_key);
    for (int i = 0; i < 3; i++)
        acq_text_init(&batch->keys[i]);
    for (int i = 0; i < 5; i++)
        acq_text_init(&batch->unescaped[i]);
}

static void free_local(acq_local_names *local)
{
    acq_names_deinit(&local->names);
    acq_free(local->hashes);
}

void acq_batch_deinit(acq_batch *batch)
{
    free_local(&batch->entities);
    free_local(&batch->relations);
    free_local(&batch->graphs);
    acq_free(batch->facts);
    acq_free(batch->fact_graphs);
    acq_free(batch->bad);
    acq_free(batch->labels);
    acq_text_deinit(&batch->bad_text);
    acq_text_deinit(&batch->label_text);
    acq_text_deinit(&batch->graph_key);
    for (int i = 0; i < 3; i++)
        acq_text_deinit(&batch->keys[i]);
    for (int i = 0; i < 5; i++)
        acq_text_deinit(&batch->unescaped[i]);
}

static void trim(acq_text *texts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (texts[i].capacity > KEPT_BYTES)
            acq_text_deinit(&texts[i]);
    }
}

void acq_batch_clear(acq_batch *batch)
{
    acq_names_clear(&batch->entities.names);
    acq_names_clear(&batch->relations.names);
    acq_names_clear(&batch->graphs.names);
    batch->graph = ACQ_NO_ID;
    acq_text_clear(&batch->bad_text);
    acq_text_clear(&batch->label_text);
    batch->n_facts = batch->n_bad = batch->n_labels = batch->n_lines = 0;
    batch->is_rdf = false;
    batch->counts = (acq_read_report){0};
    batch->error = (acq_error){0};
}

void acq_batch_trim(acq_batch *batch)
{
    trim(batch->keys, 3);
    trim(batch->unescaped, 5);
}

bool acq_batch_is_full(const acq_batch *batch)
{
    return batch->n_facts >= FULL_FACTS || batch->n_bad >= FULL_FACTS ||
           batch->n_labels >= FULL_FACTS || batch->label_text.length >= FULL_BYTES ||
           batch->entities.names.pool_used >= FULL_BYTES;
}

/* Where `message` stands in bad_text: lines that are bad in the same way share it. */
static size_t place_message(acq_batch *batch, const char *message)
{
    if (batch->n_bad > 0) {
        size_t last = batch->bad[batch->n_bad - 1].message;
        if (strcmp(batch->bad_text.bytes + last, message) == 0)
            return last;
    }
    size_t start = batch->bad_text.length;
    acq_text_add_bytes(&batch->bad_text, message, strlen(message) + 1);
    return start;
}

acq_status acq_batch_bad(acq_batch *batch, size_t line, size_t column, const char *format, ...)
{
    char message[sizeof batch->error.message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (batch->rules->strict)
        return acq_fail_at(&batch->error, ACQ_ERR_PARSE, line, column, "%s", message);
    size_t place = place_message(batch, message);
    if (acq_text_finish(&batch->bad_text, NULL) != ACQ_OK ||
        ACQ_RESERVE(batch->bad, batch->bad_capacity, batch->n_bad + 1) != ACQ_OK)
        return acq_fail_memory(&batch->error);
    batch->bad[batch->n_bad++] = (acq_bad_line){line, column, place};
    batch->counts.bad++;
    return ACQ_OK;
}

acq_status acq_batch_bad_count(acq_batch *batch, size_t line, size_t column, size_t count)
{
    bool commas = batch->rules->syntax == ACQ_COMMAS;
    const char *few = batch->rules->separator == ';' ? "separate them with semicolons"
                      : commas ? "separate them with commas, or name the file .tsv if it has tabs"
                               : "separate them with tabs, or name the file .csv if it has commas";
    const char *many =
        commas ? "remove the rest, or quote a name that holds the separator" : "remove the rest";
    return acq_batch_bad(batch, line, column,
                         "expected 3 fields (head, relation, tail), found %zu; %s", count,
                         count < 3 ? few : many);
}

/* Place of byte `at` of a field that may span lines. */
static void find_place(const acq_field *field, size_t at, size_t *line, size_t *column)
{
    *line = field->line;
    *column = field->column + at;
    for (size_t i = 0; i < at; i++) {
        if (field->raw[i] == '\n') {
            ++*line;
            *column = at - i;
        }
    }
}

/* True when the name's bytes are text; else *status is what noting it returned. */
static bool check_text(acq_batch *batch, const acq_field *field, const char *what,
                       acq_status *status)
{
    size_t line, column;
    const char *nul = memchr(field->raw, '\0', field->raw_length);
    if (nul != NULL) {
        find_place(field, (size_t)(nul - field->raw), &line, &column);
        *status = acq_batch_bad(batch, line, column,
                                "the %s holds a NUL byte; is this a text file? Remove it", what);
        return false;
    }
    size_t valid = acq_utf8_check(field->raw, field->raw_length);
    if (valid < field->raw_length) {
        find_place(field, valid, &line, &column);
        *status = acq_batch_bad(batch, line, column,
                                "the %s is not UTF-8 (byte 0x%02x); convert the file to UTF-8",
                                what, (unsigned char)field->raw[valid]);
        return false;
    }
    return true;
}

/* True when the name is fine; else *status is what noting it returned. */
static bool check_name(acq_batch *batch, const acq_field *field, const char *what, bool is_text,
                       acq_status *status)
{
    if (field->length == 0) {
        *status = acq_batch_bad(batch, field->line, field->column,
                                "the %s is empty; give it a name", what);
        return false;
    }
    if (field->length > ACQ_NAME_MOST) {
        *status = acq_batch_bad(batch, field->line, field->column,
                                "the %s has %zu bytes; a name may have up to %d, shorten it", what,
                                field->length, ACQ_NAME_MOST);
        return false;
    }
    return is_text || check_text(batch, field, what, status);
}

static acq_status add_local(acq_local_names *local, const char *name, size_t length, uint32_t *id)
{
    uint32_t hash = acq_names_hash(name, length);
    size_t known = local->names.n_ids;
    if (known == local->capacity &&
        ACQ_RESERVE(local->hashes, local->capacity, known + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_status status = acq_names_add_hashed(&local->names, name, length, hash, 1, id);
    if (status == ACQ_OK && *id == known)
        local->hashes[known] = hash;
    return status;
}

/* The local id of the graph at hand. */
static acq_status find_graph(acq_batch *batch)
{
    const acq_text *key = &batch->graph_key;
    if (batch->graph != ACQ_NO_ID || key->length == 0)
        return ACQ_OK;
    if (add_local(&batch->graphs, key->bytes, key->length, &batch->graph) != ACQ_OK)
        return acq_fail_memory(&batch->error);
    return ACQ_OK;
}

acq_status acq_batch_set_graph(acq_batch *batch, const acq_field *key)
{
    acq_status status = ACQ_OK;
    batch->graph = ACQ_NO_ID;
    acq_text_clear(&batch->graph_key);
    if (key == NULL || !check_name(batch, key, "name of the graph", true, &status))
        return status;
    acq_text_add_bytes(&batch->graph_key, key->name, key->length);
    status = acq_text_finish(&batch->graph_key, &batch->error);
    return status == ACQ_OK ? find_graph(batch) : status;
}

static acq_status add_fact_graph(acq_batch *batch)
{
    if (ACQ_RESERVE(batch->fact_graphs, batch->fact_graphs_capacity, batch->n_facts + 1) != ACQ_OK)
        return acq_fail_memory(&batch->error);
    acq_status status = find_graph(batch);
    batch->fact_graphs[batch->n_facts] = batch->graph;
    return status;
}

acq_status acq_batch_add_fact(acq_batch *batch, acq_triple fact)
{
    if (batch->rules->graphs && add_fact_graph(batch) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (batch->n_facts == batch->facts_capacity &&
        ACQ_RESERVE(batch->facts, batch->facts_capacity, batch->n_facts + 1) != ACQ_OK)
        return acq_fail_memory(&batch->error);
    batch->facts[batch->n_facts++] = fact;
    return ACQ_OK;
}

acq_status acq_batch_add_triple(acq_batch *batch, const acq_field fields[3], bool is_text)
{
    static const char *const words[2][3] = {{"head", "relation", "tail"},
                                            {"subject", "predicate", "object"}};
    const char *const *what = words[acq_syntax_is_rdf(batch->rules->syntax)];
    acq_status status = ACQ_OK;
    acq_triple fact;
    for (int i = 0; i < 3; i++) {
        if (!check_name(batch, &fields[i], what[i], is_text, &status))
            return status;
    }
    if (add_local(&batch->entities, fields[0].name, fields[0].length, &fact.head) != ACQ_OK ||
        add_local(&batch->relations, fields[1].name, fields[1].length, &fact.relation) != ACQ_OK ||
        add_local(&batch->entities, fields[2].name, fields[2].length, &fact.tail) != ACQ_OK)
        return acq_fail_memory(&batch->error);
    return acq_batch_add_fact(batch, fact);
}

acq_status acq_batch_add_label(acq_batch *batch, const acq_field *key, const acq_field *label,
                               acq_label_rank rank)
{
    acq_text *text = &batch->label_text;
    acq_status status = ACQ_OK;
    if (label->length == 0)
        return ACQ_OK;
    if (!check_name(batch, key, "subject", true, &status) ||
        !check_name(batch, label, "label", false, &status))
        return status;
    if (ACQ_RESERVE(batch->labels, batch->labels_capacity, batch->n_labels + 1) != ACQ_OK)
        return acq_fail_memory(&batch->error);
    batch->labels[batch->n_labels] = (acq_local_label){.key = text->length,
                                                       .key_length = key->length,
                                                       .text = text->length + key->length,
                                                       .text_length = label->length,
                                                       .rank = rank};
    acq_text_add_bytes(text, key->name, key->length);
    acq_text_add_bytes(text, label->name, label->length);
    status = acq_text_finish(text, &batch->error);
    batch->n_labels += status == ACQ_OK;
    return status;
}

void acq_merger_init(acq_merger *merger, const acq_sink *sink, const acq_read_params *params,
                     acq_error *error)
{
    *merger = (acq_merger){.sink = sink, .error = error, .file = ""};
    if (params != NULL)
        merger->params = *params;
    sink->dictionary->quads.is_kept = merger->params.named_graphs;
}

void acq_merger_deinit(acq_merger *merger)
{
    acq_free(merger->entities);
    acq_free(merger->relations);
    acq_free(merger->graphs);
}

void acq_merger_start_file(acq_merger *merger, const char *file, acq_text_syntax syntax)
{
    merger->syntax = syntax;
    merger->file = file;
    merger->n_lines = 0;
    merger->has_looked = acq_syntax_is_rdf(syntax) || syntax == ACQ_IDS;
}

void acq_merger_note(acq_merger *merger, size_t line, const char *format, ...)
{
    acq_error note = {.line = line};
    va_list args;
    if (merger->params.note == NULL)
        return;
    va_start(args, format);
    vsnprintf(note.message, sizeof note.message, format, args);
    va_end(args);
    snprintf(note.file, sizeof note.file, "%s", merger->file);
    merger->params.note(merger->params.context, &note);
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

/* The graphs that a batch's facts, whose ids are global by now, stand in. */
static acq_status add_quads(acq_merger *merger, const acq_batch *batch)
{
    acq_quads *quads = &merger->sink->dictionary->quads;
    acq_status status = map_names(merger, &batch->graphs, &quads->names, 1, &merger->graphs,
                                  &merger->graphs_capacity);
    if (status != ACQ_OK)
        return status;
    if (ACQ_RESERVE(quads->items, quads->capacity, quads->n + batch->n_facts) != ACQ_OK)
        return acq_fail_memory(merger->error);
    for (size_t i = 0; i < batch->n_facts; i++) {
        const acq_triple *fact = &batch->facts[i];
        if (batch->fact_graphs[i] != ACQ_NO_ID)
            quads->items[quads->n++] = (acq_quad){.graph = merger->graphs[batch->fact_graphs[i]],
                                                  .relation = fact->relation,
                                                  .head = fact->head,
                                                  .tail = fact->tail};
    }
    return ACQ_OK;
}

static acq_status take_facts(acq_merger *merger, acq_batch *batch)
{
    const acq_sink *sink = merger->sink;
    acq_dictionary *dictionary = sink->dictionary;
    if (batch->n_facts == 0 && batch->n_labels == 0 && batch->graphs.names.n_ids == 0)
        return ACQ_OK;
    if (!merger->has_looked && acq_table_check_columns(merger, batch) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    merger->has_looked = true;
    if (batch->rules->syntax != ACQ_IDS) {
        acq_status status = map_names(merger, &batch->entities, &dictionary->entities, 1,
                                      &merger->entities, &merger->entities_capacity);
        if (status == ACQ_OK)
            status = map_names(merger, &batch->relations, &dictionary->relations, 2,
                               &merger->relations, &merger->relations_capacity);
        if (status != ACQ_OK)
            return status;
        translate(merger, batch->facts, batch->n_facts);
        if (batch->rules->graphs)
            status = add_quads(merger, batch);
        if (status != ACQ_OK)
            return status;
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
        status = acq_fail(merger->error, ACQ_ERR_INPUT,
                          "the input is empty; it should hold lines of head, relation, tail");
    acq_error_set_file(merger->error, report->bad == 0 ? merger->file : bad->file);
    return status;
}

/* RDF without a statement is a graph without facts. */
static bool is_empty_rdf(const acq_merger *merger)
{
    return acq_syntax_is_rdf(merger->syntax) && merger->report.bad == 0 &&
           merger->report.lines == 0;
}

acq_status acq_merger_finish(acq_merger *merger, acq_read_report *report)
{
    if (merger->n_facts == 0 && !is_empty_rdf(merger))
        return fail_empty(merger);
    if (merger->n_facts == 0)
        merger->sink->dictionary->is_rdf = true;
    acq_status status = acq_dictionary_check(merger->sink->dictionary, merger->error);
    if (status != ACQ_OK)
        acq_error_set_file(merger->error, merger->file);
    else if (report != NULL)
        *report = merger->report;
    return status;
}
