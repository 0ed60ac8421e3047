/* info.c - `anycq info`: what a graph holds, or the rules of a model; --find PREFIX: entities by
 * the beginning of their name;
 * --verify: is every byte of a store in order? */
#include "cli/report.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include "cli/table.h"

typedef struct finding {
    acq_ent *found;
    size_t n, capacity, most;
    bool has_failed;
} finding;

/* One more than what is shown tells that there are more; each may come twice. */
static bool collect(void *context, acq_ent entity, const char *name, size_t length)
{
    (void)name;
    (void)length;
    finding *f = context;
    if (ACQ_RESERVE(f->found, f->capacity, f->n + 1) != ACQ_OK) {
        f->has_failed = true;
        return false;
    }
    f->found[f->n++] = entity;
    return f->n < f->most;
}

static bool begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Only an entity whose key and label both begin so can come again. */
static bool came_before(const acq_graph *graph, const finding *f, size_t i, const char *prefix)
{
    acq_ent entity = f->found[i];
    if (!begins_with(acq_graph_get_entity_key(graph, entity), prefix) ||
        !begins_with(acq_graph_get_entity_name(graph, entity), prefix))
        return false;
    for (size_t j = 0; j < i; j++) {
        if (f->found[j] == entity)
            return true;
    }
    return false;
}

static void keep_first_mentions(const acq_graph *graph, finding *f, const char *prefix)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->n; i++) {
        acq_ent entity = f->found[i];
        if (!came_before(graph, f, i, prefix))
            f->found[kept++] = entity;
    }
    f->n = kept;
}

static acq_status find(const acq_graph *graph, const acq_options *options, finding *f,
                       acq_error *error)
{
    f->most = (size_t)options->find_limit * 2 + 1;
    acq_status status =
        acq_graph_each_name(graph, options->find, strlen(options->find), collect, f, error);
    if (status == ACQ_OK && f->has_failed)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        keep_first_mentions(graph, f, options->find);
    return status;
}

/* A label that several entities share is `label <key>`. */
static bool holds_key(const char *name, const char *key)
{
    size_t n = strlen(name), k = strlen(key);
    return n > k + 2 && name[n - 1] == '>' && name[n - k - 2] == '<' &&
           memcmp(name + n - k - 1, key, k) == 0;
}

static void print_entity(const acq_graph *graph, acq_ent entity, acq_text *out)
{
    const char *name = acq_graph_get_entity_name(graph, entity);
    const char *key = acq_graph_get_entity_key(graph, entity);
    acq_text line;
    acq_text_init(&line);
    acq_width_add(&line, name);
    if (strcmp(name, key) != 0 && !holds_key(name, key)) {
        acq_text_add(&line, "  <");
        acq_width_add(&line, key);
        acq_text_add(&line, ">");
    }
    acq_width_wrap(out, line.bytes == NULL ? "" : line.bytes, 0, 2, ACQ_COLUMNS);
    acq_text_add_char(out, '\n');
    out->failed = out->failed || line.failed;
    acq_text_deinit(&line);
}

static json_t *make_entity(const acq_graph *graph, acq_ent entity)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", acq_json_text(acq_graph_get_entity_name(graph, entity)));
    json_object_set_new(object, "key", acq_json_text(acq_graph_get_entity_key(graph, entity)));
    return object;
}

static void print_found_json(const acq_graph *graph, const acq_options *options, const finding *f,
                             size_t n, acq_text *out)
{
    json_t *names = json_array(), *object = json_object();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(names, make_entity(graph, f->found[i]));
    json_object_set_new(object, "prefix", acq_json_text(options->find));
    json_object_set_new(object, "complete", json_boolean(f->n <= options->find_limit));
    json_object_set_new(object, "entities", names);
    acq_json_add_line(out, object);
}

static void print_found_table(const acq_graph *graph, const finding *f, size_t n, acq_table *table)
{
    acq_table_add_line(table, (const char *const[]){"name", "key"}, 2);
    for (size_t i = 0; i < n; i++) {
        const char *cells[] = {acq_graph_get_entity_name(graph, f->found[i]),
                               acq_graph_get_entity_key(graph, f->found[i])};
        acq_table_add_line(table, cells, 2);
    }
}

static void print_found(const acq_graph *graph, const acq_options *options, const finding *f,
                        acq_output *output)
{
    size_t n = f->n < options->find_limit ? f->n : (size_t)options->find_limit;
    acq_table table = {.out = &output->data, .separator = options->separator};
    if (options->json)
        print_found_json(graph, options, f, n, &output->data);
    else if (options->separator != '\0')
        print_found_table(graph, f, n, &table);
    else if (n == 0)
        acq_text_add(&output->data, "none\n");
    else
        for (size_t i = 0; i < n; i++)
            print_entity(graph, f->found[i], &output->data);
    if (f->n > n)
        acq_report_note(output, "the first %zu; --limit N shows more", n);
}

static int find_entities(const acq_options *options, acq_output *output)
{
    acq_error error = {0};
    acq_graph *graph = NULL;
    finding f = {0};
    acq_status status =
        acq_setup_read_graph(options, options->args.items[0], output, &graph, NULL, &error);
    if (status == ACQ_OK)
        status = find(graph, options, &f, &error);
    int code = f.n > 0 ? ACQ_EXIT_YES : ACQ_EXIT_NO;
    if (status == ACQ_OK)
        print_found(graph, options, &f, output);
    if (status == ACQ_OK)
        status = acq_setup_check_names(graph, output, 0, &error);
    if (status != ACQ_OK)
        code = acq_report_error(output, options, &error, NULL);
    acq_free(f.found);
    acq_graph_free(graph);
    return code;
}

static acq_status check_store(const char *path, acq_error *error)
{
    if (acq_store_is_database(path))
        return ACQ_OK;
    acq_status status =
        acq_file_get_kind(path) == ACQ_FILE_MISSING
            ? acq_fail(error, ACQ_ERR_INPUT, "there is no such file; check the path")
            : acq_fail(error, ACQ_ERR_USAGE,
                       "this is no store, and only a store can be verified; --strict checks every "
                       "line of a text");
    acq_error_set_file(error, path);
    return status;
}

static acq_status verify(const char *path, acq_output *output, acq_error *error)
{
    acq_status status = check_store(path, error);
    if (status != ACQ_OK)
        return status;
    acq_reading reading;
    acq_reading_init(&reading, output);
    status = acq_store_verify(path, acq_reading_show_stage, &reading, error);
    acq_reading_finish(&reading, path, NULL);
    return status;
}

static int verify_store(const acq_options *options, acq_output *output)
{
    const char *path = options->args.items[0];
    acq_error error = {0};
    if (verify(path, output, &error) != ACQ_OK)
        return acq_report_error(output, options, &error, NULL);
    if (options->json) {
        json_t *object = json_object();
        json_object_set_new(object, "graph", acq_json_text(path));
        json_object_set_new(object, "verified", json_true());
        acq_json_add_line(&output->data, object);
    } else {
        acq_text_add(&output->data, "in order: every name and every link was read and checked\n");
    }
    return ACQ_EXIT_YES;
}

enum { LARGEST = 10 }; /* relations that are listed */

typedef struct relation_size {
    acq_rel relation;
    acq_relation_counts counts;
} relation_size;

typedef struct summary {
    const char *path;
    acq_graph *graph;
    bool is_store;
    acq_store_summary store; /* of a store */
    acq_read_report report;  /* of a text */
    relation_size *sizes;    /* of the even relations, largest first */
    size_t n_sizes;
} summary;

static int compare_sizes(const void *a, const void *b)
{
    const relation_size *x = a, *y = b;
    if (x->counts.facts != y->counts.facts)
        return x->counts.facts < y->counts.facts ? 1 : -1;
    return x->relation < y->relation ? -1 : 1;
}

static acq_status measure(summary *s, acq_error *error)
{
    s->n_sizes = acq_graph_get_n_relations(s->graph) / 2;
    s->sizes = acq_zalloc(s->n_sizes, sizeof *s->sizes);
    if (s->sizes == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < s->n_sizes; i++) {
        s->sizes[i].relation = (acq_rel)(2 * i);
        s->sizes[i].counts.size = sizeof s->sizes[i].counts;
        acq_status status =
            acq_graph_count_relation(s->graph, s->sizes[i].relation, &s->sizes[i].counts, error);
        if (status != ACQ_OK)
            return status;
    }
    qsort(s->sizes, s->n_sizes, sizeof *s->sizes, compare_sizes);
    return ACQ_OK;
}

static size_t n_listed(const summary *s)
{
    return s->n_sizes < LARGEST ? s->n_sizes : LARGEST;
}

static void print_relations(const summary *s, acq_text *out)
{
    enum { NAME = 44 };
    if (s->n_sizes == 0)
        return;
    acq_text_format(out, "\n%-*s%12s%12s%12s\n", NAME,
                    n_listed(s) < s->n_sizes ? "largest relations" : "relations", "facts", "heads",
                    "tails");
    for (size_t i = 0; i < n_listed(s); i++) {
        const relation_size *size = &s->sizes[i];
        size_t start = out->length;
        acq_width_add_cut_middle(out, acq_graph_get_relation_name(s->graph, size->relation),
                                 NAME - 1);
        acq_width_pad_to(out, acq_width_since(out, start), NAME);
        acq_text_format(out, "%12llu%12llu%12llu\n", (unsigned long long)size->counts.facts,
                        (unsigned long long)size->counts.heads,
                        (unsigned long long)size->counts.tails);
    }
}

static void print_store(const summary *s, acq_text *out)
{
    const acq_store_summary *store = &s->store;
    acq_text_format(out, "%-*sstore, format %u%s\n", ACQ_SIZE_LABEL, "kind", store->format,
                    store->is_rdf ? ", RDF" : "");
    acq_size_print_text(out, "sources", store->sources);
    acq_size_print_bytes(out, "size", store->file_bytes + store->log_bytes);
}

static void print(const summary *s, acq_text *out)
{
    acq_size_print_text(out, "graph", s->path);
    if (s->is_store)
        print_store(s, out);
    acq_size_print_count(out, "entities", acq_graph_get_n_entities(s->graph));
    acq_size_print_count(out, "relations", s->n_sizes);
    acq_size_print_count(out, "facts", acq_graph_get_n_facts(s->graph));
    if (s->is_store)
        acq_size_print_count(out, "changes", s->store.changes);
    else
        acq_size_print_read(out, &s->report);
    acq_size_print_hash(out, "dictionary", acq_graph_get_dictionary_fingerprint(s->graph));
    acq_size_print_hash(out, "fingerprint", acq_graph_get_fingerprint(s->graph));
    print_relations(s, out);
}

static json_t *make_relation(const summary *s, const relation_size *size)
{
    json_t *object = json_object();
    json_object_set_new(object, "name",
                        acq_json_text(acq_graph_get_relation_name(s->graph, size->relation)));
    json_object_set_new(object, "facts", acq_json_count(size->counts.facts));
    json_object_set_new(object, "heads", acq_json_count(size->counts.heads));
    json_object_set_new(object, "tails", acq_json_count(size->counts.tails));
    return object;
}

static json_t *make_store(const acq_store_summary *store)
{
    json_t *object = json_object();
    json_object_set_new(object, "format", acq_json_count(store->format));
    json_object_set_new(object, "sources", acq_json_text(store->sources));
    json_object_set_new(object, "bytes", acq_json_count(store->file_bytes));
    json_object_set_new(object, "log_bytes", acq_json_count(store->log_bytes));
    json_object_set_new(object, "changes", acq_json_count(store->changes));
    return object;
}

static void print_json(const summary *s, acq_text *out)
{
    json_t *largest = json_array();
    for (size_t i = 0; i < n_listed(s); i++)
        json_array_append_new(largest, make_relation(s, &s->sizes[i]));
    json_t *object = json_object();
    json_object_set_new(object, "graph", acq_json_text(s->path));
    json_object_set_new(object, "rdf", json_boolean(acq_graph_is_rdf(s->graph)));
    json_object_set_new(object, "entities", acq_json_count(acq_graph_get_n_entities(s->graph)));
    json_object_set_new(object, "relations", acq_json_count(s->n_sizes));
    json_object_set_new(object, "facts", acq_json_count(acq_graph_get_n_facts(s->graph)));
    if (s->is_store)
        json_object_set_new(object, "store", make_store(&s->store));
    else
        acq_json_set_read(object, &s->report);
    json_object_set_new(object, "dictionary",
                        acq_json_hash(acq_graph_get_dictionary_fingerprint(s->graph)));
    json_object_set_new(object, "fingerprint", acq_json_hash(acq_graph_get_fingerprint(s->graph)));
    json_object_set_new(object, "largest", largest);
    acq_json_add_line(out, object);
}

/* For programs: every relation. */
static void print_table(const summary *s, acq_table *table)
{
    static const char *const names[] = {"relation", "facts", "heads", "tails"};
    acq_table_add_line(table, names, sizeof names / sizeof *names);
    for (size_t i = 0; i < s->n_sizes; i++) {
        const acq_relation_counts *counts = &s->sizes[i].counts;
        acq_table_add_text(table, acq_graph_get_relation_name(s->graph, s->sizes[i].relation));
        acq_table_add_count(table, (int64_t)counts->facts);
        acq_table_add_count(table, (int64_t)counts->heads);
        acq_table_add_count(table, (int64_t)counts->tails);
        acq_table_end_line(table);
    }
}

static acq_status summarise(const acq_options *options, summary *s, acq_output *output,
                            acq_error *error)
{
    acq_status status =
        acq_setup_read_graph(options, s->path, output, &s->graph, &s->report, error);
    s->is_store = status == ACQ_OK && acq_store_is_database(s->path);
    if (s->is_store)
        status = acq_store_describe(s->path, &s->store, error);
    return status == ACQ_OK ? measure(s, error) : status;
}

static int show(const acq_options *options, acq_output *output)
{
    acq_error error = {0};
    summary s = {.path = options->args.items[0], .store.size = sizeof s.store};
    acq_table table = {.out = &output->data, .separator = options->separator};
    int code = ACQ_EXIT_YES;
    if (summarise(options, &s, output, &error) != ACQ_OK)
        code = acq_report_error(output, options, &error, NULL);
    else if (options->json)
        print_json(&s, &output->data);
    else if (options->separator != '\0')
        print_table(&s, &table);
    else
        print(&s, &output->data);
    acq_free(s.sizes);
    acq_graph_free(s.graph);
    return code;
}

/* ---- rules ---- */

static void print_rule(const acq_rule_view *rule, acq_text *out)
{
    enum { COUNTS = 26 };
    acq_text line;
    acq_text_init(&line);
    acq_text_format(out, "%10.4f%8u%8u  ", rule->confidence, rule->support, rule->pairs);
    acq_width_add(&line, rule->text);
    acq_width_wrap(out, line.bytes == NULL ? "" : line.bytes, COUNTS + 2, COUNTS + 2, ACQ_COLUMNS);
    acq_text_add_char(out, '\n');
    out->failed = out->failed || line.failed;
    acq_text_deinit(&line);
}

static void print_rules(acq_rule_reader *reader, const acq_options *options, acq_text *out)
{
    acq_rules_summary s = {.size = sizeof s};
    acq_rule_view rule = {.size = sizeof rule};
    acq_rule_reader_describe(reader, &s);
    acq_size_print_text(out, "rules", options->args.items[0]);
    if (s.data != NULL)
        acq_size_print_text(out, "learnt on", s.data);
    acq_size_print_count(out, "cycles", s.n_rules - s.n_with_entities);
    acq_size_print_count(out, "with entities", s.n_with_entities);
    acq_size_print_text(out, "aggregation", s.aggregation);
    if (s.options != NULL)
        acq_size_print_text(out, "options", s.options);
    if (s.n_rules > 0)
        acq_text_format(out, "\n%10s%8s%8s  %s\n", "confidence", "support", "pairs", "rule");
    for (uint64_t i = 0; i < options->find_limit && acq_rule_reader_get(reader, i, &rule); i++)
        print_rule(&rule, out);
}

static void print_rules_table(acq_rule_reader *reader, acq_table *table)
{
    static const char *const names[] = {"rule", "confidence", "support", "pairs", "cluster"};
    acq_rule_view rule = {.size = sizeof rule};
    acq_table_add_line(table, names, sizeof names / sizeof *names);
    for (uint64_t i = 0; acq_rule_reader_get(reader, i, &rule); i++) {
        acq_table_add_text(table, rule.text);
        acq_table_add_number(table, rule.confidence);
        acq_table_add_count(table, rule.support);
        acq_table_add_count(table, rule.pairs);
        acq_table_add_count(table, rule.cluster);
        acq_table_end_line(table);
    }
}

static json_t *make_rule(const acq_rule_view *rule)
{
    json_t *object = json_object();
    json_object_set_new(object, "rule", acq_json_text(rule->text));
    json_object_set_new(object, "confidence", json_real(rule->confidence));
    json_object_set_new(object, "support", acq_json_count(rule->support));
    json_object_set_new(object, "pairs", acq_json_count(rule->pairs));
    json_object_set_new(object, "cluster", acq_json_count(rule->cluster));
    return object;
}

static void print_rules_json(acq_rule_reader *reader, const acq_options *options, acq_text *out)
{
    acq_rules_summary s = {.size = sizeof s};
    acq_rule_view rule = {.size = sizeof rule};
    json_t *object = json_object(), *rules = json_array();
    acq_rule_reader_describe(reader, &s);
    for (uint64_t i = 0; i < options->find_limit && acq_rule_reader_get(reader, i, &rule); i++)
        json_array_append_new(rules, make_rule(&rule));
    json_object_set_new(object, "model", acq_json_text(options->args.items[0]));
    json_object_set_new(object, "kind", json_string("rules"));
    json_object_set_new(object, "cycles", acq_json_count(s.n_rules - s.n_with_entities));
    json_object_set_new(object, "with_entities", acq_json_count(s.n_with_entities));
    json_object_set_new(object, "aggregation", json_string(s.aggregation));
    json_object_set_new(object, "best", rules);
    acq_json_add_line(out, object);
}

static int show_rules(const acq_options *options, acq_output *output)
{
    acq_error error = {0};
    acq_rule_reader *reader = NULL;
    acq_table table = {.out = &output->data, .separator = options->separator};
    if (acq_rule_reader_open(options->args.items[0], &reader, &error) != ACQ_OK)
        return acq_report_error(output, options, &error, NULL);
    if (options->json)
        print_rules_json(reader, options, &output->data);
    else if (options->separator != '\0')
        print_rules_table(reader, &table);
    else
        print_rules(reader, options, &output->data);
    acq_rule_reader_close(reader);
    return ACQ_EXIT_YES;
}

int acq_cli_info(const acq_options *options)
{
    acq_output output;
    acq_output_init(&output);
    int code = options->verify                              ? verify_store(options, &output)
               : options->find != NULL                      ? find_entities(options, &output)
               : acq_rules_is_model(options->args.items[0]) ? show_rules(options, &output)
                                                            : show(options, &output);
    return acq_output_finish(&output, code);
}
