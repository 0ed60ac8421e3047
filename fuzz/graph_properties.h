/* graph_properties.h - what holds for every graph that a reader accepts, checked by abort.
 * Shared by the graph targets; static so that each target stays one file. */
#ifndef ACQ_FUZZ_GRAPH_PROPERTIES_H
#define ACQ_FUZZ_GRAPH_PROPERTIES_H

#include <stdlib.h>
#include <string.h>

#include "graph/build.h"
#include "graph/text/reader.h"

static void must(bool truth)
{
    if (!truth)
        abort();
}

static void check_relation(const acq_graph *graph, acq_rel relation, uint64_t *n_links)
{
    const acq_links *links = NULL, *inverse = NULL;
    const char *reason = "";
    must(acq_graph_open_links(graph, relation, &links, NULL) == ACQ_OK);
    must(acq_graph_open_links(graph, acq_inverse(relation), &inverse, NULL) == ACQ_OK);
    must(acq_links_check(links, &reason));
    must(links->n_links == inverse->n_links);
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        for (size_t j = 0; j < row.n; j++)
            must(acq_links_get_score(inverse, row.tails[j], links->heads[i]) == 1.0F);
    }
    *n_links += links->n_links;
}

static void check_names(const acq_graph *graph)
{
    for (acq_ent e = 0; e < acq_graph_get_n_entities(graph); e++) {
        const char *name = acq_graph_get_entity_name(graph, e);
        must(name[0] != '\0' && acq_graph_find_entity(graph, name, strlen(name)) == e);
    }
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++) {
        const char *name = acq_graph_get_relation_name(graph, r);
        acq_rel found = acq_graph_find_relation(graph, name, strlen(name));
        must(found == (acq_graph_is_named(graph, r) ? r : acq_inverse(r)));
    }
}

static void check_graph(const acq_graph *graph, const acq_read_report *report, bool has_index,
                        bool literals)
{
    uint64_t n_links = 0;
    check_names(graph);
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++)
        check_relation(graph, r, &n_links);
    uint64_t facts = acq_graph_get_n_facts(graph);
    must(n_links == 2 * facts);
    must(facts > 0 ? report->bad < report->lines : report->lines == 0); /* RDF may say nothing */
    must(!literals || report->literals == 0);
    uint64_t no_facts = report->bad + report->literals + (literals ? 0 : report->labels);
    uint64_t good = report->lines - no_facts - report->duplicates;
    must(has_index ? good == 2 * facts - report->completed : good == facts);
}

typedef struct bad_count {
    uint64_t n;
    size_t last_line;
} bad_count;

static void note_bad(void *context, const acq_error *bad)
{
    bad_count *count = context;
    must(bad->code == ACQ_ERR_PARSE && bad->message[0] != '\0' && bad->file[0] != '\0');
    must(bad->line >= 1 && bad->column >= 1);
    count->n++;
    count->last_line = bad->line;
}

/* Where lines are cut into pieces changes nothing but what the first piece says of a header. */
static void check_pieces(const acq_memory_source *source, acq_read_params params)
{
    acq_memory_source cut = *source;
    acq_graph *whole = NULL, *again = NULL;
    acq_read_report first = {0}, second = {0};
    cut.piece_bytes = 7;
    params.bad_line = NULL;
    params.no_header = true;
    acq_status status = acq_graph_read_memory(source, &params, &whole, &first, NULL);
    must(acq_graph_read_memory(&cut, &params, &again, &second, NULL) == status);
    must(memcmp(&first, &second, sizeof second) == 0);
    must(status != ACQ_OK || acq_graph_get_fingerprint(whole) == acq_graph_get_fingerprint(again));
    acq_graph_free(whole);
    acq_graph_free(again);
}

/* Reads tolerantly and strictly: strict succeeds exactly when nothing was left out. */
static void check_source_with(const acq_memory_source *source, acq_read_params params)
{
    bad_count count = {0};
    acq_graph *graph = NULL, *again = NULL;
    acq_read_report report = {0};
    acq_error error = {0};
    params.threads = 1;
    params.bad_line = note_bad;
    params.context = &count;
    acq_status status = acq_graph_read_memory(source, &params, &graph, &report, &error);
    must(status == error.code && (status == ACQ_OK) == (graph != NULL));
    must(status == ACQ_OK || error.message[0] != '\0');
    if (status == ACQ_OK) {
        must(report.bad == count.n);
        check_graph(graph, &report, source->index != NULL, params.literals);
    }
    check_pieces(source, params);
    params.strict = true;
    acq_status second = acq_graph_read_memory(source, &params, &again, NULL, NULL);
    must((second == ACQ_OK) == (status == ACQ_OK && report.bad == 0));
    if (second == ACQ_OK)
        must(acq_graph_get_fingerprint(graph) == acq_graph_get_fingerprint(again));
    acq_graph_free(graph);
    acq_graph_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
