/* change.c - `anycq add` and `anycq remove`: facts into and out of a store.
 *
 * All facts of a command are one transaction, and nothing is printed before it is durable. */
#include "cli/facts.h"
#include "cli/report.h"
#include "cli/new_names.h"
#include "cli/setup.h"
#include "cli/width.h"

typedef struct change {
    const acq_options *options;
    const char *path;
    bool is_removal;
    acq_facts facts;
    acq_graph *before; /* the store as it was, to tell which names are new; NULL: not asked */
    acq_new_names names;
    acq_store_report report;
} change;

/* Only for facts that somebody typed: a file has names of its own. */
static acq_status find_new_names(change *c, acq_error *error)
{
    if (c->is_removal || c->options->from != NULL)
        return ACQ_OK;
    acq_status status = acq_store_open(c->path, &c->before, error);
    if (status == ACQ_OK)
        acq_new_names_find(&c->names, c->before, c->facts.items, c->facts.n);
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

/* The writer is opened before the store is read: it may have to switch the journal mode, which
 * waits for readers. */
static acq_status run(change *c, acq_output *output, const char **source, acq_error *error)
{
    acq_store_writer *writer = NULL;
    acq_status status = acq_setup_require_store(c->path, error);
    if (status == ACQ_OK)
        status = acq_facts_init(&c->facts, c->options, output, source, error);
    if (status == ACQ_OK)
        status = acq_store_writer_open(c->path, &writer, error);
    if (status == ACQ_OK)
        status = find_new_names(c, error);
    if (status == ACQ_OK)
        status = apply(c, writer, error);
    acq_store_writer_free(writer);
    return status;
}

static void note_near_names(const change *c, acq_output *output)
{
    for (size_t i = 0; i < c->names.n; i++) {
        const acq_new_name *name = &c->names.items[i];
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
    acq_facts_deinit(&c.facts);
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
