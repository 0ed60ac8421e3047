/* policy_completion.c - a completion with many different scores, without a trained predictor.
 *
 *   bench_policy_completion OBSERVED COMPLETE WRONG OUT
 *
 * Observed facts score 1. Each missing fact of the complete graph gets a score between 0.3 and
 * 0.9999 from a hash of the fact, and so do WRONG links besides that are no facts, between
 * entities that are seen with the relation. The same arguments give the same file. */
#include <stdlib.h>

#include "common.h"
#include "queries.h"

#include "base/hash.h"
#include "base/memory.h"
#include "graph/build.h"
#include "predict/completion.h"

static const double LEAST_SCORE = .3, MOST_SCORE = .9999;

typedef struct making {
    const acq_graph *observed;
    const acq_predictor *perfect;
    size_t wrong; /* for each missing fact */
    acq_link *links;
    size_t n, capacity;
} making;

static void add_link(making *m, acq_ent head, acq_ent tail, float score)
{
    if (ACQ_RESERVE(m->links, m->capacity, m->n + 1) != ACQ_OK)
        bench_die("out of memory");
    m->links[m->n++] = (acq_link){.head = head, .tail = tail, .score = score};
}

static float draw_score(acq_rel relation, acq_ent head, acq_ent tail)
{
    acq_random random = acq_random_start(relation, (uint64_t)head << 32 | tail);
    return (float)(LEAST_SCORE + (MOST_SCORE - LEAST_SCORE) * acq_random_unit(&random));
}

static const acq_links *open_links(const making *m, acq_rel relation)
{
    const acq_links *links;
    acq_error error = {0};
    bench_need(acq_predictor_open_links(m->perfect, relation, &links, &error), &error);
    return links;
}

/* Returns the number of missing facts. */
static size_t add_facts(making *m, acq_rel relation, const acq_links *links)
{
    size_t n_missing = 0;
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        for (size_t j = 0; j < row.n; j++) {
            acq_ent head = links->heads[i], tail = row.tails[j];
            bool is_seen = acq_graph_has_fact(m->observed, head, relation, tail);
            n_missing += !is_seen;
            add_link(m, head, tail, is_seen ? 1.0F : draw_score(relation, head, tail));
        }
    }
    return n_missing;
}

/* Pairs that are facts after all are left out. */
static void add_wrong(making *m, acq_rel relation, const acq_links *links, size_t n)
{
    const acq_links *inverse = open_links(m, acq_inverse(relation));
    acq_random random = acq_random_start(relation, UINT64_MAX);
    for (size_t i = 0; i < n; i++) {
        acq_ent head = links->heads[acq_random_below(&random, links->n_heads)];
        acq_ent tail = inverse->heads[acq_random_below(&random, inverse->n_heads)];
        if (acq_links_get_score(links, head, tail) == 0)
            add_link(m, head, tail, draw_score(relation, head, tail));
    }
}

static void write_relation(making *m, acq_completion_writer *writer, acq_rel relation)
{
    acq_error error = {0};
    acq_links *scored;
    const acq_links *links = open_links(m, relation);
    m->n = 0;
    size_t n_missing = add_facts(m, relation, links);
    add_wrong(m, relation, links, n_missing * m->wrong);
    if (acq_links_new(m->links, m->n, links->n_entities, true, &scored) != ACQ_OK)
        bench_die("out of memory");
    bench_need(acq_completion_writer_add(writer, relation, scored, &error), &error);
    acq_links_free(scored);
}

int main(int argc, char **argv)
{
    if (argc != 5)
        bench_die("bench_policy_completion OBSERVED COMPLETE WRONG OUT");
    acq_error error = {0};
    acq_predictor *perfect;
    acq_completion_writer *writer;
    acq_completion_params params = {.predictor = "benchmark", .floor = LEAST_SCORE};
    acq_graph *observed = bench_read_graph(argv[1]), *complete = bench_read_graph(argv[2]);
    bench_need(acq_predictor_new_perfect(observed, complete, argv[2], &perfect, NULL, &error),
               &error);
    bench_need(acq_completion_writer_open(argv[4], observed, &params, &writer, &error), &error);
    making m = {.observed = observed, .perfect = perfect, .wrong = strtoul(argv[3], NULL, 10)};
    for (acq_rel i = 0; i < acq_graph_get_n_relations(observed); i += 2)
        write_relation(&m, writer, i);
    bench_need(acq_completion_writer_finish(writer, &error), &error);
    acq_completion_writer_close(writer);
    acq_free(m.links);
    acq_predictor_free(perfect);
    acq_graph_free(observed);
    acq_graph_free(complete);
    return 0;
}
