/* generate.c - writes a synthetic graph (synthetic.h) and queries planted in it (planted.h).
 *
 *   bench_generate N_ENTITIES N_RELATIONS N_TRIPLES SEED FACTS.tsv [QUERIES.txt N_QUERIES]
 *
 * The same arguments give the same bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "planted.h"
#include "synthetic.h"

enum { BUFFER_BYTES = 1 << 20 };

static uint64_t number(const char *text, uint64_t low, uint64_t high)
{
    char *end;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10);
    if (text[0] == '-' || *end != '\0' || end == text || errno != 0 || value < low || value > high)
        bench_die("'%s' is not a number from %llu to %llu", text, (unsigned long long)low,
                  (unsigned long long)high);
    return value;
}

static FILE *create(const char *path)
{
    FILE *stream = fopen(path, "w");
    if (stream == NULL)
        bench_die("cannot write %s: %s", path, strerror(errno));
    setvbuf(stream, NULL, _IOFBF, BUFFER_BYTES);
    return stream;
}

static void finish(FILE *stream, const char *path)
{
    if (fclose(stream) != 0)
        bench_die("cannot write %s: %s", path, strerror(errno));
}

static void write_triples(const synthetic *graph, FILE *stream)
{
    char line[3 * SYNTHETIC_NAME_BYTES];
    for (uint32_t i = 0; i < graph->n_triples; i++) {
        synthetic_triple t = synthetic_get(graph, i);
        size_t n = synthetic_name_entity(graph, t.head, line);
        line[n++] = '\t';
        n += synthetic_name_relation(graph, t.relation, line + n);
        line[n++] = '\t';
        n += synthetic_name_entity(graph, t.tail, line + n);
        line[n++] = '\n';
        if (fwrite(line, 1, n, stream) != n)
            bench_die("cannot write the triples: %s", strerror(errno));
    }
}

int main(int argc, char **argv)
{
    if (argc != 6 && argc != 8)
        bench_die("bench_generate N_ENTITIES N_RELATIONS N_TRIPLES SEED FACTS.tsv "
                  "[QUERIES.txt N_QUERIES]");
    synthetic graph = {
        .n_entities = (uint32_t)number(argv[1], 100, SYNTHETIC_MOST_ENTITIES),
        .n_relations = (uint32_t)number(argv[2], 1, SYNTHETIC_MOST_RELATIONS),
        .seed = number(argv[4], 0, UINT64_MAX),
    };
    graph.n_triples = (uint32_t)number(argv[3], graph.n_entities, UINT32_MAX / 2);
    synthetic_init(&graph);
    FILE *facts = create(argv[5]);
    write_triples(&graph, facts);
    finish(facts, argv[5]);
    if (argc == 8) {
        FILE *queries = create(argv[6]);
        planted_write(&graph, (uint32_t)number(argv[7], 1, 1000000), queries);
        finish(queries, argv[6]);
    }
    synthetic_deinit(&graph);
    return 0;
}
