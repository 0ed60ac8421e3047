/* build.c - from facts in any order to a finished graph.
 *
 *   facts ─▶ bucket by relation pair (an odd relation turns its fact around) ─▶ per pair:
 *   radix sort by (head, tail) ─▶ drop duplicates ─▶ rows of 2k ─▶ swap, sort ─▶ rows of 2k+1
 *
 * While in buckets, a link's score field marks the direction in which the fact was given, so
 * that the walk over equal pairs can count duplicates and facts given without their inverse.
 * Time is linear in facts and names; memory peaks at about 50 bytes per fact. */
#include "graph/build.h"

#include <string.h>

#include "base/memory.h"
#include "graph/parts.h"

struct acq_graph_builder {
    acq_dictionary dictionary;
    acq_triple *facts;
    size_t n_facts, facts_capacity;
    acq_build_counts counts;
};

acq_graph_builder *acq_graph_builder_new(void)
{
    return acq_zalloc(1, sizeof(acq_graph_builder));
}

static void clear(acq_graph_builder *builder)
{
    acq_build_counts counts = builder->counts;
    acq_dictionary_deinit(&builder->dictionary);
    acq_free(builder->facts);
    *builder = (acq_graph_builder){.counts = counts};
}

void acq_graph_builder_free(acq_graph_builder *builder)
{
    if (builder == NULL)
        return;
    clear(builder);
    acq_free(builder);
}

acq_status acq_graph_builder_add_entity(acq_graph_builder *builder, const char *name, size_t length,
                                        acq_ent *out)
{
    return acq_names_add(&builder->dictionary.entities, name, length, 1, out);
}

acq_status acq_graph_builder_add_relation(acq_graph_builder *builder, const char *name,
                                          size_t length, acq_rel *out)
{
    return acq_names_add(&builder->dictionary.relations, name, length, 2, out);
}

acq_status acq_graph_builder_set_entity(acq_graph_builder *builder, acq_ent id, const char *name,
                                        size_t length, acq_error *error)
{
    return acq_dictionary_set(&builder->dictionary.entities, "entity", id, name, length, error);
}

acq_status acq_graph_builder_set_relation(acq_graph_builder *builder, acq_rel id, const char *name,
                                          size_t length, acq_error *error)
{
    return acq_dictionary_set(&builder->dictionary.relations, "relation", id, name, length, error);
}

static size_t pair_count(const acq_names *relations)
{
    return (relations->n_ids + 1) / 2;
}

acq_status acq_graph_builder_add_fact(acq_graph_builder *builder, acq_ent head, acq_rel relation,
                                      acq_ent tail)
{
    if (head >= builder->dictionary.entities.n_ids || tail >= builder->dictionary.entities.n_ids ||
        relation / 2 >= pair_count(&builder->dictionary.relations))
        return ACQ_ERR_USAGE;
    if (ACQ_RESERVE(builder->facts, builder->facts_capacity, builder->n_facts + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    builder->facts[builder->n_facts++] = (acq_triple){head, relation, tail};
    return ACQ_OK;
}

acq_dictionary *acq_graph_builder_get_dictionary(acq_graph_builder *builder)
{
    return &builder->dictionary;
}

acq_status acq_graph_builder_add_facts(acq_graph_builder *builder, const acq_triple *facts,
                                       size_t n)
{
    if (ACQ_RESERVE(builder->facts, builder->facts_capacity, builder->n_facts + n) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (n > 0)
        memcpy(builder->facts + builder->n_facts, facts, n * sizeof *facts);
    builder->n_facts += n;
    return ACQ_OK;
}

void acq_graph_builder_get_counts(const acq_graph_builder *builder, acq_build_counts *out)
{
    *out = builder->counts;
}

/* Facts grouped by relation pair, all in the even direction. */
typedef struct buckets {
    acq_link *links;
    acq_link *scratch; /* room for the largest bucket */
    size_t *starts;    /* n_pairs + 1 */
    size_t n_pairs;
} buckets;

static void free_buckets(buckets *b)
{
    acq_free(b->links);
    acq_free(b->scratch);
    acq_free(b->starts);
}

static size_t fill_starts(const acq_graph_builder *builder, buckets *b)
{
    size_t largest = 0, sum = 0;
    for (size_t i = 0; i < builder->n_facts; i++)
        b->starts[builder->facts[i].relation / 2 + 1]++;
    for (size_t p = 1; p <= b->n_pairs; p++) {
        if (b->starts[p] > largest)
            largest = b->starts[p];
        sum += b->starts[p];
        b->starts[p] = sum;
    }
    return largest;
}

/* Moves the facts behind their starts; afterwards starts[p] is again where pair p begins. */
static void scatter(const acq_graph_builder *builder, buckets *b)
{
    for (size_t i = 0; i < builder->n_facts; i++) {
        acq_triple f = builder->facts[i];
        bool odd = f.relation & 1U;
        b->links[b->starts[f.relation / 2]++] = (acq_link){.head = odd ? f.tail : f.head,
                                                           .tail = odd ? f.head : f.tail,
                                                           .score = odd ? 1.0F : 0.0F};
    }
    memmove(b->starts + 1, b->starts, b->n_pairs * sizeof *b->starts);
    b->starts[0] = 0;
}

static acq_status make_buckets(const acq_graph_builder *builder, buckets *b)
{
    *b = (buckets){.n_pairs = pair_count(&builder->dictionary.relations)};
    b->starts = acq_zalloc(b->n_pairs + 1, sizeof *b->starts);
    b->links = acq_alloc(builder->n_facts, sizeof *b->links);
    if (b->starts != NULL && b->links != NULL)
        b->scratch = acq_alloc(fill_starts(builder, b), sizeof *b->scratch);
    if (b->scratch == NULL) {
        free_buckets(b);
        return ACQ_ERR_MEMORY;
    }
    scatter(builder, b);
    return ACQ_OK;
}

/* Leaves each pair once; counts what was repeated and what came in one direction only. */
static size_t keep_distinct(acq_link *links, size_t n, acq_build_counts *counts)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < n; i = end) {
        size_t given[2] = {0, 0};
        for (end = i;
             end < n && links[end].head == links[i].head && links[end].tail == links[i].tail; end++)
            given[links[end].score > 0.0F]++;
        counts->duplicates += (given[0] > 1 ? given[0] - 1 : 0) + (given[1] > 1 ? given[1] - 1 : 0);
        counts->one_way += given[0] == 0 || given[1] == 0;
        links[kept++] = links[i];
    }
    return kept;
}

static void swap_ends(acq_link *links, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        acq_ent head = links[i].head;
        links[i].head = links[i].tail;
        links[i].tail = head;
    }
}

static acq_status make_pair(acq_graph *graph, buckets *b, size_t pair, acq_build_counts *counts)
{
    acq_link *links = b->links + b->starts[pair];
    size_t n = b->starts[pair + 1] - b->starts[pair];
    acq_rel relation = (acq_rel)(2 * pair);
    acq_links_sort(links, b->scratch, n, graph->n_entities);
    n = keep_distinct(links, n, counts);
    acq_status status =
        acq_links_new_sorted(links, n, graph->n_entities, false, &graph->links[relation]);
    if (status != ACQ_OK)
        return status;
    swap_ends(links, n);
    acq_links_sort(links, b->scratch, n, graph->n_entities);
    graph->n_facts += n;
    return acq_links_new_sorted(links, n, graph->n_entities, false,
                                &graph->links[acq_inverse(relation)]);
}

static void set_sums(acq_graph *graph)
{
    graph->sums = (acq_graph_sums){.n_entities = graph->entities.n_ids,
                                   .entities = acq_names_sum(&graph->entities),
                                   .n_relations = graph->relations.n_ids,
                                   .relations = acq_names_sum(&graph->relations)};
    for (acq_rel r = 0; r < graph->n_relations; r += 2)
        graph->sums.facts += acq_graph_hash_links(r, graph->links[r]);
}

static acq_status make_links(acq_graph_builder *builder, acq_graph *graph, buckets *b)
{
    graph->n_entities = (uint32_t)builder->dictionary.entities.n_ids;
    graph->links = acq_zalloc(2 * b->n_pairs, sizeof *graph->links);
    if (graph->links == NULL)
        return ACQ_ERR_MEMORY;
    graph->n_relations = (uint32_t)(2 * b->n_pairs);
    acq_status status = ACQ_OK;
    for (size_t pair = 0; status == ACQ_OK && pair < b->n_pairs; pair++)
        status = make_pair(graph, b, pair, &builder->counts);
    return status;
}

static acq_status make_labels(const acq_dictionary *dictionary, acq_graph *graph)
{
    acq_status status =
        acq_dictionary_settle_labels(dictionary, &dictionary->entities, &graph->entity_labels);
    if (status == ACQ_OK)
        status = acq_dictionary_settle_labels(dictionary, &dictionary->relations,
                                              &graph->relation_labels);
    return status;
}

/* The names move into the graph; the builder keeps only its counts. */
static void take_names(acq_graph_builder *builder, acq_graph *graph)
{
    acq_dictionary *dictionary = &builder->dictionary;
    graph->is_rdf = dictionary->is_rdf;
    graph->entities = dictionary->entities;
    graph->relations = dictionary->relations;
    acq_names_init(&dictionary->entities);
    acq_names_init(&dictionary->relations);
    graph->quads = dictionary->quads;
    dictionary->quads = (acq_quads){0};
    acq_quads_sort(&graph->quads);
    acq_names_trim(&graph->entities);
    acq_names_trim(&graph->relations);
    clear(builder);
}

acq_status acq_graph_builder_finish(acq_graph_builder *builder, acq_graph **out, acq_error *error)
{
    acq_status status = acq_dictionary_check(&builder->dictionary, error);
    if (status != ACQ_OK)
        return status;
    buckets b = {0};
    acq_graph *graph = acq_graph_new_empty();
    builder->counts = (acq_build_counts){0};
    status = graph == NULL ? ACQ_ERR_MEMORY : make_buckets(builder, &b);
    if (status == ACQ_OK) {
        status = make_links(builder, graph, &b);
        free_buckets(&b);
    }
    if (status == ACQ_OK)
        status = make_labels(&builder->dictionary, graph);
    if (status != ACQ_OK) {
        acq_graph_free(graph);
        if (status == ACQ_ERR_LIMIT)
            return acq_fail(error, status, "a relation has more than %u facts", UINT32_MAX - 1);
        return acq_fail_memory(error);
    }
    take_names(builder, graph);
    set_sums(graph);
    *out = graph;
    return ACQ_OK;
}
