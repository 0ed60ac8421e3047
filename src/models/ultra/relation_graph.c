/* relation_graph.c - see ultra.h. Which relations share entities.
 *
 * Since relations come in pairs, a tail of r is a head of inverse(r), so one square bit matrix
 * says everything: shares[a][b], some entity is a head of a and of b.
 *
 *   head-head (a, b)   shares[a][b]             head-tail (a, b)   shares[a][inverse(b)]
 *   tail-tail (a, b)   shares[inverse(a)][inverse(b)]
 *                                               tail-head (a, b)   shares[inverse(a)][b]
 *
 * It is gathered entity by entity: the relations an entity is a head of, all with all. Cost:
 * sum over entities of their relations times the words of a row of the matrix. */
#include "models/ultra/pass.h"

#include <string.h>

#include "base/memory.h"

typedef struct head_lists { /* relations of entity e: relations[offsets[e] .. offsets[e + 1]) */
    size_t *offsets;
    acq_rel *relations;
} head_lists;

typedef struct bit_matrix {
    size_t words; /* of a row */
    uint64_t *bits;
} bit_matrix;

static acq_status count_heads(const acq_graph *graph, size_t *counts, acq_error *error)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++) {
        const acq_links *links;
        acq_status status = acq_graph_open_links(graph, r, &links, error);
        if (status != ACQ_OK)
            return status;
        for (uint32_t i = 0; i < links->n_heads; i++)
            counts[links->heads[i]]++;
    }
    return ACQ_OK;
}

/* offsets[e + 1] is where e's next relation goes, and its end when all are there. */
static acq_status fill_lists(const acq_graph *graph, head_lists *lists, acq_error *error)
{
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++) {
        const acq_links *links;
        acq_status status = acq_graph_open_links(graph, r, &links, error);
        if (status != ACQ_OK)
            return status;
        for (uint32_t i = 0; i < links->n_heads; i++)
            lists->relations[lists->offsets[links->heads[i] + 1]++] = r;
    }
    return ACQ_OK;
}

static void deinit_lists(head_lists *lists)
{
    acq_free(lists->offsets);
    acq_free(lists->relations);
}

static acq_status init_lists(head_lists *lists, const acq_graph *graph, acq_error *error)
{
    size_t n = acq_graph_get_n_entities(graph);
    size_t total = 0;
    *lists = (head_lists){.offsets = acq_zalloc(n + 2, sizeof *lists->offsets)};
    if (lists->offsets == NULL)
        return acq_fail_memory(error);
    acq_status status = count_heads(graph, lists->offsets + 2, error);
    for (size_t e = 0; e < n; e++)
        lists->offsets[e + 2] += lists->offsets[e + 1];
    total = lists->offsets[n + 1];
    lists->relations = acq_alloc(total, sizeof *lists->relations);
    if (status == ACQ_OK && lists->relations == NULL)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        status = fill_lists(graph, lists, error);
    if (status != ACQ_OK)
        deinit_lists(lists);
    return status;
}

static bool has_bit(const bit_matrix *matrix, acq_rel row, acq_rel column)
{
    return matrix->bits[row * matrix->words + column / 64] >> (column % 64) & 1;
}

/* own is a row of bits for the relations of one entity at a time. */
static void gather(const head_lists *lists, size_t n_entities, bit_matrix *shares, uint64_t *own)
{
    for (size_t e = 0; e < n_entities; e++) {
        size_t begin = lists->offsets[e], end = lists->offsets[e + 1];
        memset(own, 0, shares->words * sizeof *own);
        for (size_t i = begin; i < end; i++)
            own[lists->relations[i] / 64] |= 1ULL << (lists->relations[i] % 64);
        for (size_t i = begin; i < end; i++) {
            uint64_t *row = shares->bits + lists->relations[i] * shares->words;
            for (size_t w = 0; w < shares->words; w++)
                row[w] |= own[w];
        }
    }
}

static acq_status init_shares(bit_matrix *shares, const acq_graph *graph, acq_error *error)
{
    size_t n = acq_graph_get_n_relations(graph);
    head_lists lists;
    acq_status status = init_lists(&lists, graph, error);
    if (status != ACQ_OK)
        return status;
    shares->words = (n + 63) / 64;
    shares->bits = acq_zalloc(n * shares->words, sizeof *shares->bits);
    uint64_t *own = acq_alloc(shares->words, sizeof *own);
    if (shares->bits == NULL || own == NULL) {
        acq_free(shares->bits);
        status = acq_fail_memory(error);
    } else {
        gather(&lists, acq_graph_get_n_entities(graph), shares, own);
    }
    acq_free(own);
    deinit_lists(&lists);
    return status;
}

static bool is_edge(const bit_matrix *shares, unsigned kind, acq_rel row, acq_rel column)
{
    bool row_tail = kind == ACQ_TAIL_TAIL || kind == ACQ_TAIL_HEAD;
    bool column_tail = kind == ACQ_TAIL_TAIL || kind == ACQ_HEAD_TAIL;
    return has_bit(shares, row_tail ? acq_inverse(row) : row,
                   column_tail ? acq_inverse(column) : column);
}

static size_t count_bits(const bit_matrix *matrix, size_t rows)
{
    size_t n = 0;
    for (size_t i = 0; i < rows * matrix->words; i++)
        n += acq_count_bits(matrix->bits[i]);
    return n;
}

static void fill_kind(acq_relation_graph *graph, unsigned kind, const bit_matrix *shares)
{
    uint32_t n = 0;
    for (acq_rel row = 0; row < graph->n_relations; row++) {
        for (acq_rel column = 0; column < graph->n_relations; column++)
            if (is_edge(shares, kind, row, column))
                graph->columns[kind][n++] = column;
        graph->offsets[kind][row + 1] = n;
    }
}

/* Every kind has as many edges as the matrix has bits. */
static acq_status fill(acq_relation_graph *graph, const bit_matrix *shares, acq_error *error)
{
    size_t n_edges = count_bits(shares, graph->n_relations);
    if (n_edges > UINT32_MAX)
        return acq_fail(error, ACQ_ERR_LIMIT, "relations have more than %u edges", UINT32_MAX);
    for (unsigned kind = 0; kind < ACQ_ULTRA_KINDS; kind++) {
        graph->offsets[kind] = acq_zalloc((size_t)graph->n_relations + 1, sizeof(uint32_t));
        graph->columns[kind] = acq_alloc(n_edges, sizeof(acq_rel));
        if (graph->offsets[kind] == NULL || graph->columns[kind] == NULL)
            return acq_fail_memory(error);
        fill_kind(graph, kind, shares);
    }
    return ACQ_OK;
}

acq_status acq_relation_graph_init(acq_relation_graph *out, const acq_graph *graph,
                                   acq_error *error)
{
    acq_relation_graph built = {.n_relations = acq_graph_get_n_relations(graph)};
    bit_matrix shares;
    acq_status status = init_shares(&shares, graph, error);
    if (status != ACQ_OK)
        return status;
    status = fill(&built, &shares, error);
    acq_free(shares.bits);
    if (status != ACQ_OK)
        acq_relation_graph_deinit(&built);
    else
        *out = built;
    return status;
}

void acq_relation_graph_deinit(acq_relation_graph *graph)
{
    for (unsigned kind = 0; kind < ACQ_ULTRA_KINDS; kind++) {
        acq_free(graph->offsets[kind]);
        acq_free(graph->columns[kind]);
    }
    *graph = (acq_relation_graph){0};
}

static acq_status add_row(acq_edges *edges, const acq_relation_graph *graph, acq_rel row)
{
    static const acq_rel reversed[ACQ_ULTRA_KINDS] = {
        [ACQ_HEAD_HEAD] = ACQ_HEAD_HEAD,
        [ACQ_TAIL_TAIL] = ACQ_TAIL_TAIL,
        [ACQ_HEAD_TAIL] = ACQ_TAIL_HEAD,
        [ACQ_TAIL_HEAD] = ACQ_HEAD_TAIL,
    };
    for (acq_rel kind = 0; kind < ACQ_ULTRA_KINDS; kind++) {
        uint32_t begin = graph->offsets[kind][row], end = graph->offsets[kind][row + 1];
        if (acq_edges_add_group(edges, kind, reversed[kind], end - begin) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        for (uint32_t i = begin; i < end; i++)
            acq_edges_add_source(edges, graph->columns[kind][i]);
    }
    acq_edges_finish_node(edges, row);
    return ACQ_OK;
}

acq_status acq_ultra_relation_edges_init(acq_edges *edges, const acq_graph *graph, acq_error *error)
{
    acq_relation_graph relations;
    *edges = (acq_edges){0};
    acq_status status = acq_relation_graph_init(&relations, graph, error);
    if (status != ACQ_OK)
        return status;
    bool made = acq_edges_start(edges, relations.n_relations, ACQ_ULTRA_KINDS) == ACQ_OK;
    for (acq_rel r = 0; r < relations.n_relations && made; r++)
        made = add_row(edges, &relations, r) == ACQ_OK;
    acq_relation_graph_deinit(&relations);
    if (made)
        return ACQ_OK;
    acq_edges_deinit(edges);
    return acq_fail_memory(error);
}
