/* info.c - `anycq info`: what a graph holds. */
#include <stdlib.h>

#include "base/memory.h"
#include "cli/info.h"
#include "cli/report.h"
#include "cli/setup.h"
#include "cli/width.h"
#include "store/store.h"

enum { LARGEST = 10 }; /* relations that are listed */

typedef struct relation_size {
    acq_rel relation;
    uint64_t n_facts;
    uint64_t n_heads, n_tails;
} relation_size;

typedef struct summary {
    const char *path;
    acq_graph *graph;
    bool is_store;
    acq_store_info store;   /* of a store */
    acq_read_report report; /* of a text */
    relation_size *sizes;   /* of the even relations, largest first */
    size_t n_sizes;
} summary;

static int compare_sizes(const void *a, const void *b)
{
    const relation_size *x = a, *y = b;
    if (x->n_facts != y->n_facts)
        return x->n_facts < y->n_facts ? 1 : -1;
    return x->relation < y->relation ? -1 : 1;
}

static acq_status measure_relation(const acq_graph *graph, relation_size *size, acq_error *error)
{
    const acq_links *forward, *back;
    acq_status status = acq_graph_open_links(graph, size->relation, &forward, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(graph, acq_inverse(size->relation), &back, error);
    if (status != ACQ_OK)
        return status;
    size->n_facts = forward->n_links;
    size->n_heads = forward->n_heads;
    size->n_tails = back->n_heads;
    return ACQ_OK;
}

static acq_status measure(summary *s, acq_error *error)
{
    s->n_sizes = acq_graph_get_n_relations(s->graph) / 2;
    s->sizes = acq_zalloc(s->n_sizes, sizeof *s->sizes);
    if (s->sizes == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < s->n_sizes; i++) {
        s->sizes[i].relation = (acq_rel)(2 * i);
        acq_status status = measure_relation(s->graph, &s->sizes[i], error);
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
        acq_width_pad(out, NAME - acq_width_since(out, start));
        acq_text_format(out, "%12llu%12llu%12llu\n", (unsigned long long)size->n_facts,
                        (unsigned long long)size->n_heads, (unsigned long long)size->n_tails);
    }
}

static void print_store(const summary *s, acq_text *out)
{
    const acq_store_info *store = &s->store;
    acq_text_format(out, "%-*sstore, format %u%s\n", ACQ_SIZE_LABEL, "kind", store->format,
                    store->is_rdf ? ", RDF" : "");
    acq_size_print_text(out, "sources", store->sources);
    acq_size_print_bytes(out, "size", store->file_bytes + store->wal_bytes);
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
        acq_size_print_count(out, "changes", s->store.n_changes);
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
    json_object_set_new(object, "facts", acq_json_count(size->n_facts));
    json_object_set_new(object, "heads", acq_json_count(size->n_heads));
    json_object_set_new(object, "tails", acq_json_count(size->n_tails));
    return object;
}

static json_t *make_store(const acq_store_info *store)
{
    json_t *object = json_object();
    json_object_set_new(object, "format", acq_json_count(store->format));
    json_object_set_new(object, "sources", acq_json_text(store->sources));
    json_object_set_new(object, "bytes", acq_json_count(store->file_bytes));
    json_object_set_new(object, "log_bytes", acq_json_count(store->wal_bytes));
    json_object_set_new(object, "changes", acq_json_count(store->n_changes));
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

static acq_status summarise(const acq_options *options, summary *s, acq_output *output,
                            acq_error *error)
{
    acq_status status =
        acq_setup_read_graph(options, s->path, output, &s->graph, &s->report, error);
    s->is_store = status == ACQ_OK && acq_store_is_database(s->path);
    if (s->is_store)
        status = acq_store_read_info(s->path, &s->store, error);
    return status == ACQ_OK ? measure(s, error) : status;
}

static int show(const acq_options *options, acq_output *output)
{
    acq_error error = {0};
    summary s = {.path = options->args.items[0]};
    int code = ACQ_EXIT_YES;
    if (summarise(options, &s, output, &error) != ACQ_OK)
        code = acq_report_error(output, options, &error, NULL);
    else if (options->json)
        print_json(&s, &output->data);
    else
        print(&s, &output->data);
    acq_free(s.sizes);
    acq_graph_free(s.graph);
    return code;
}

int acq_cli_info(const acq_options *options)
{
    acq_output output;
    acq_output_init(&output);
    int code = options->verify         ? acq_info_verify(options, &output)
               : options->find != NULL ? acq_info_find(options, &output)
                                       : show(options, &output);
    return acq_output_finish(&output, code);
}
