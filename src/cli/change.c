/* change.c - `anycq add`, `remove` and `compact`: facts into and out of a store.
 *
 * All facts of a command are one transaction, and nothing is printed before it is durable. Facts
 * come from the command line, or from a file of any kind that import takes. A misspelled name makes
 * a new entity, so new names are told with what they resemble. */
#include "cli/pattern.h"

#include <string.h>

#include "base/memory.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/setup.h"
#include "cli/table.h"

enum { MOST_NEW_NAMES = 20, MOST_NEAR_NAMES = 3 };

typedef struct new_name {
    const char *name; /* borrowed from the facts */
    const char *near; /* a known name, borrowed from the graph; NULL: none, or not looked for */
    bool is_relation;
} new_name;

typedef struct new_names {
    new_name items[MOST_NEW_NAMES];
    size_t n;
} new_names;

static bool is_listed(const new_names *names, const char *name, bool is_relation)
{
    for (size_t i = 0; i < names->n; i++) {
        if (names->items[i].is_relation == is_relation && strcmp(names->items[i].name, name) == 0)
            return true;
    }
    return false;
}

/* A suggestion answers "what else could it be"; here the question is whether it is a slip, so
 * what is only the least far away does not count. */
static const char *find_near(const acq_graph *graph, const char *name, size_t length,
                             bool is_relation)
{
    acq_nearest nearest;
    const char *known = is_relation ? acq_graph_suggest_relation(graph, name, length)
                                    : acq_graph_suggest_entity(graph, name, length);
    acq_nearest_init(&nearest, name);
    if (known != NULL)
        acq_nearest_offer(&nearest, known);
    return nearest.best;
}

static void look_at(new_names *names, const acq_graph *graph, const char *name, bool is_relation)
{
    size_t length = strlen(name);
    uint32_t id = is_relation ? acq_graph_find_relation(graph, name, length)
                              : acq_graph_find_entity(graph, name, length);
    if (id != ACQ_NO_ID || names->n == MOST_NEW_NAMES || is_listed(names, name, is_relation))
        return;
    const char *near = NULL;
    if (names->n < MOST_NEAR_NAMES)
        near = find_near(graph, name, length, is_relation);
    names->items[names->n++] = (new_name){name, near, is_relation};
}

static void find_names(new_names *names, const acq_graph *graph, const acq_store_fact *facts,
                       size_t n)
{
    names->n = 0;
    for (size_t i = 0; i < n && names->n < MOST_NEW_NAMES; i++) {
        look_at(names, graph, facts[i].head, false);
        look_at(names, graph, facts[i].relation, true);
        look_at(names, graph, facts[i].tail, false);
    }
    if (acq_graph_get_failure(graph, NULL) != ACQ_OK)
        names->n = 0;
}

typedef struct given_facts {
    acq_store_fact *items; /* names are borrowed from what follows */
    size_t n;
    acq_pattern *patterns;
    size_t n_patterns;
} given_facts;

static acq_status read_patterns(given_facts *facts, const acq_options *options, const char **source,
                                acq_error *error)
{
    size_t n = options->args.n - 1; /* the first is the graph */
    facts->patterns = acq_zalloc(n, sizeof *facts->patterns);
    facts->items = acq_zalloc(n, sizeof *facts->items);
    if (facts->patterns == NULL || facts->items == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < n; i++) {
        const char *text = options->args.items[i + 1];
        acq_pattern *p = &facts->patterns[i];
        facts->n_patterns++;
        acq_status status = acq_pattern_init(p, ACQ_PATTERN_FACT, text, error);
        if (status != ACQ_OK) {
            *source = text;
            return status;
        }
        facts->items[i] = (acq_store_fact){.head = p->head,
                                           .relation = p->relation,
                                           .tail = p->tail,
                                           .is_inverse = p->is_inverse,
                                           .is_rdf = p->has_iri};
    }
    facts->n = n;
    return ACQ_OK;
}

static acq_status check_file(const char *path, acq_error *error)
{
    if (!acq_store_is_database(path))
        return ACQ_OK;
    acq_fail(error, ACQ_ERR_USAGE,
             "this is a store; anycq export writes its facts as text, which --from takes");
    acq_error_set_file(error, path);
    return ACQ_ERR_USAGE;
}

static acq_status check_given(const acq_options *options, acq_error *error)
{
    const char *name = acq_command_get(options->command)->name;
    bool has_facts = options->args.n > 1;
    if (!has_facts && options->from == NULL)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "%s needs facts: 'rel(head, tail)'..., or a file of them with --from FILE",
                        name);
    if (has_facts && options->from != NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "%s takes facts or --from FILE, not both", name);
    return has_facts ? ACQ_OK : check_file(options->from, error);
}

static acq_status init_facts(given_facts *facts, const acq_options *options, const char **source,
                             acq_error *error)
{
    *facts = (given_facts){0};
    *source = NULL;
    acq_status status = check_given(options, error);
    return status == ACQ_OK && options->from == NULL ? read_patterns(facts, options, source, error)
                                                     : status;
}

static void deinit_facts(given_facts *facts)
{
    for (size_t i = 0; i < facts->n_patterns; i++)
        acq_pattern_deinit(&facts->patterns[i]);
    acq_free(facts->patterns);
    acq_free(facts->items);
    *facts = (given_facts){0};
}

typedef struct change {
    const acq_options *options;
    const char *path;
    bool is_removal;
    given_facts facts;
    acq_graph *before; /* the store as it was, to tell which names are new; NULL: not asked */
    new_names names;
    acq_store_report report;
} change;

/* Only for facts that somebody typed: a file has names of its own. */
static acq_status find_new_names(change *c, acq_error *error)
{
    if (c->is_removal || c->options->from != NULL)
        return ACQ_OK;
    acq_status status = acq_graph_open(c->path, NULL, &c->before, error);
    if (status == ACQ_OK)
        find_names(&c->names, c->before, c->facts.items, c->facts.n);
    return status;
}

static acq_status apply(change *c, acq_store_writer *writer, acq_error *error)
{
    size_t i_bad = c->facts.n;
    acq_status status =
        c->is_removal
            ? acq_store_remove(writer, c->facts.items, c->facts.n, &c->report, &i_bad, error)
            : acq_store_add(writer, c->facts.items, c->facts.n, &c->report, &i_bad, error);
    if (status != ACQ_OK && i_bad < c->facts.n_patterns)
        acq_error_set_file(error, c->options->args.items[i_bad + 1]);
    return status;
}

static acq_status apply_file(change *c, acq_store_writer *writer, acq_output *output,
                             acq_error *error)
{
    const char *path = c->options->from;
    acq_reading reading;
    acq_graph_params params;
    acq_read_report report = {.size = sizeof report};
    acq_reading_init(&reading, output);
    acq_reading_init_params(&reading, c->options, &params);
    params.report = &report;
    acq_status status = acq_reading_check_split(c->options, error);
    if (status == ACQ_OK)
        status = c->is_removal ? acq_store_remove_from(writer, path, &params, &c->report, error)
                               : acq_store_add_from(writer, path, &params, &c->report, error);
    acq_reading_finish(&reading, path, status == ACQ_OK ? &report : NULL);
    if (status == ACQ_OK && report.labels > 0)
        acq_report_note(output, "%s: %llu label%s left out; only import takes labels", path,
                        (unsigned long long)report.labels, report.labels == 1 ? " is" : "s are");
    return status;
}

/* The writer is opened before the store is read: it may have to switch the journal mode, which
 * waits for readers. */
static acq_status run(change *c, acq_output *output, const char **source, acq_error *error)
{
    acq_store_writer *writer = NULL;
    acq_status status = acq_setup_require_store(c->path, error);
    if (status == ACQ_OK)
        status = init_facts(&c->facts, c->options, source, error);
    if (status == ACQ_OK)
        status = acq_store_writer_open(c->path, &writer, error);
    if (status == ACQ_OK)
        status = find_new_names(c, error);
    if (status == ACQ_OK)
        status = c->options->from == NULL ? apply(c, writer, error)
                                          : apply_file(c, writer, output, error);
    acq_store_writer_free(writer);
    return status;
}

static void note_near_names(const change *c, acq_output *output)
{
    for (size_t i = 0; i < c->names.n; i++) {
        const new_name *name = &c->names.items[i];
        if (name->near != NULL)
            acq_report_note(output,
                            "\"%.160s\" is a new %s; if you meant \"%.160s\", remove takes the "
                            "fact out again",
                            name->name, name->is_relation ? "relation" : "entity", name->near);
    }
}

/* 2 new entities: Bo, Cy */
static void print_new(const change *c, uint64_t n, bool is_relation, acq_text *out)
{
    if (n == 0)
        return;
    acq_text line;
    acq_text_init(&line);
    acq_text_format(&line, "%llu new %s", (unsigned long long)n,
                    is_relation ? n == 1 ? "relation" : "relations"
                    : n == 1    ? "entity"
                                : "entities");
    size_t n_listed = 0;
    for (size_t i = 0; i < c->names.n; i++) {
        if (c->names.items[i].is_relation != is_relation)
            continue;
        acq_text_add(&line, n_listed++ == 0 ? ": " : ", ");
        acq_width_add(&line, c->names.items[i].name);
    }
    if (n_listed > 0 && n_listed < n)
        acq_text_add(&line, ", ...");
    acq_width_wrap(out, line.bytes == NULL ? "" : line.bytes, 0, 2, ACQ_COLUMNS);
    acq_text_add_char(out, '\n');
    out->failed = out->failed || line.failed;
    acq_text_deinit(&line);
}

static void print(const change *c, acq_text *out)
{
    const acq_store_report *report = &c->report;
    uint64_t n = report->changed, rest = report->unchanged;
    acq_text_format(out, "%s %llu fact%s", c->is_removal ? "removed" : "added",
                    (unsigned long long)n, n == 1 ? "" : "s");
    if (rest > 0)
        acq_text_format(out, "; %llu %s %s", (unsigned long long)rest, rest == 1 ? "was" : "were",
                        c->is_removal ? "not there" : "there already");
    acq_text_add_char(out, '\n');
    print_new(c, report->new_entities, false, out);
    print_new(c, report->new_relations, true, out);
}

static void print_json(const change *c, acq_text *out)
{
    const acq_store_report *report = &c->report;
    json_t *object = json_object();
    json_object_set_new(object, "graph", acq_json_text(c->path));
    json_object_set_new(object, c->is_removal ? "removed" : "added",
                        acq_json_count(report->changed));
    json_object_set_new(object, c->is_removal ? "not_there" : "there_already",
                        acq_json_count(report->unchanged));
    if (!c->is_removal) {
        json_object_set_new(object, "new_entities", acq_json_count(report->new_entities));
        json_object_set_new(object, "new_relations", acq_json_count(report->new_relations));
    }
    json_object_set_new(object, "compacted", json_boolean(report->is_compacted));
    acq_json_add_line(out, object);
}

static int make_change(const acq_options *options, bool is_removal)
{
    acq_error error = {0};
    acq_output output;
    const char *source = NULL;
    change c = {.options = options,
                .path = options->args.items[0],
                .is_removal = is_removal,
                .report.size = sizeof c.report};
    acq_output_init(&output);
    int code = ACQ_EXIT_YES;
    if (run(&c, &output, &source, &error) != ACQ_OK) {
        code = acq_report_error(&output, options, &error, source);
    } else {
        if (options->json)
            print_json(&c, &output.data);
        else
            print(&c, &output.data);
        note_near_names(&c, &output);
    }
    acq_graph_free(c.before);
    deinit_facts(&c.facts);
    return acq_output_finish(&output, code);
}

int acq_cli_add(const acq_options *options)
{
    return make_change(options, false);
}

int acq_cli_remove(const acq_options *options)
{
    return make_change(options, true);
}

static acq_status compact(const char *path, acq_output *output, uint64_t *n_folded,
                          acq_store_summary *after, acq_error *error)
{
    acq_reading watching;
    acq_store_writer *writer;
    acq_status status = acq_setup_require_store(path, error);
    if (status == ACQ_OK)
        status = acq_store_writer_open(path, &writer, error);
    if (status != ACQ_OK)
        return status;
    acq_reading_init(&watching, output);
    acq_store_writer_watch(writer, acq_reading_show_stage, &watching);
    status = acq_store_compact(writer, n_folded, error);
    acq_reading_finish(&watching, path, NULL);
    acq_store_writer_free(writer);
    return status == ACQ_OK ? acq_store_describe(path, after, error) : status;
}

static void print_compact_json(const char *path, uint64_t n_folded, const acq_store_summary *after,
                               acq_text *out)
{
    json_t *object = json_object();
    json_object_set_new(object, "graph", acq_json_text(path));
    json_object_set_new(object, "folded", acq_json_count(n_folded));
    json_object_set_new(object, "bytes", acq_json_count(after->file_bytes));
    acq_json_add_line(out, object);
}

int acq_cli_compact(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_store_summary after = {.size = sizeof after};
    uint64_t n_folded = 0;
    const char *path = options->args.items[0];
    acq_output_init(&output);
    int code = ACQ_EXIT_YES;
    if (compact(path, &output, &n_folded, &after, &error) != ACQ_OK) {
        code = acq_report_error(&output, options, &error, NULL);
    } else if (options->json) {
        print_compact_json(path, n_folded, &after, &output.data);
    } else {
        acq_text_format(&output.data, "folded in %llu change%s; the store has ",
                        (unsigned long long)n_folded, n_folded == 1 ? "" : "s");
        acq_size_add_bytes(&output.data, after.file_bytes);
        acq_text_add_char(&output.data, '\n');
    }
    return acq_output_finish(&output, code);
}
