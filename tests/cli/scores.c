/* scores.c - makes a completion whose scores a test chooses.
 *
 *   scores GRAPH SCORES COMPLETION [calibrated [tested]]
 *
 * SCORES: head <TAB> relation <TAB> tail <TAB> score. Names must be known to the graph. Calibrated:
 * with a calibrator by which answers are likely from 0.5 on, with a prior from 0.1 on. Tested:
 * the calibrator knows what relations are worth: the first nothing was said of, of the i-th i of
 * 2 i + 1 links were right. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "calibrate/learn.h"
#include "graph/build.h"
#include "graph/text/read.h"
#include "predict/completion.h"
#include "support/calibrator.h"

enum { MOST = 1000 };

typedef struct scored {
    acq_rel relation;
    acq_link link;
} scored;

static bool read_line(const acq_graph *graph, char *line, scored *out)
{
    char *fields[4], *rest = line;
    for (int i = 0; i < 4; i++) {
        fields[i] = strsep(&rest, "\t\n");
        if (fields[i] == NULL)
            return false;
    }
    *out = (scored){.relation = acq_graph_find_relation(graph, fields[1], strlen(fields[1])),
                    .link = {.head = acq_graph_find_entity(graph, fields[0], strlen(fields[0])),
                             .tail = acq_graph_find_entity(graph, fields[2], strlen(fields[2])),
                             .score = strtof(fields[3], NULL)}};
    return out->relation != ACQ_NO_ID && out->link.head != ACQ_NO_ID && out->link.tail != ACQ_NO_ID;
}

static size_t read_scores(const acq_graph *graph, const char *path, scored *out)
{
    char line[1024];
    size_t n = 0;
    FILE *file = fopen(path, "r");
    while (file != NULL && n < MOST && fgets(line, sizeof line, file) != NULL) {
        if (!read_line(graph, line, &out[n++])) {
            fprintf(stderr, "scores: %s:%zu: not four known fields\n", path, n);
            exit(2);
        }
    }
    if (file == NULL)
        exit(2);
    fclose(file);
    return n;
}

static acq_status add_relation(acq_completion_writer *writer, const acq_graph *graph,
                               acq_rel relation, const scored *all, size_t n, acq_error *error)
{
    acq_link links[MOST];
    size_t n_links = 0;
    for (size_t i = 0; i < n; i++) {
        if (all[i].relation == relation)
            links[n_links++] = all[i].link;
    }
    acq_links *made;
    acq_status status = acq_links_new(links, n_links, acq_graph_get_n_entities(graph), true, &made);
    if (status != ACQ_OK)
        return status;
    status = acq_completion_writer_add(writer, relation, made, error);
    acq_links_free(made);
    return status;
}

static acq_status add_quality(acq_calibrator *calibrator, const acq_graph *graph, acq_error *error)
{
    acq_link_quality all[MOST];
    uint32_t n = acq_graph_get_n_relations(graph) / 2;
    for (uint32_t i = 0; i < n; i++)
        all[i] = (acq_link_quality){.held = 10 + i, .said = i == 0 ? 0 : 2 * i + 1, .right = i};
    return acq_calibrator_set_quality(calibrator, all, n, error);
}

int main(int argc, char **argv)
{
    static scored all[MOST];
    const char *path = argc >= 4 ? argv[1] : "";
    acq_calibrator *calibrator = argc >= 5 ? acq_test_calibrator(.1) : NULL;
    acq_read_params read = {0};
    acq_completion_params params = {.predictor = "scores", .floor = argc >= 5 ? .01 : 0};
    void *bytes = NULL;
    acq_completion_writer *writer = NULL;
    acq_graph *graph = NULL;
    acq_error error = {0};
    acq_status status = acq_graph_read(&path, 1, &read, &graph, NULL, &error);
    size_t n = status == ACQ_OK ? read_scores(graph, argv[2], all) : 0;
    if (status == ACQ_OK && argc >= 6)
        status = add_quality(calibrator, graph, &error);
    if (status == ACQ_OK && calibrator != NULL)
        status = acq_calibrator_write_memory(calibrator, &bytes, &params.calibrator_length, &error);
    params.calibrator = bytes;
    if (status == ACQ_OK)
        status = acq_completion_writer_open(argv[3], graph, &params, &writer, &error);
    for (acq_rel r = 0; status == ACQ_OK && r < acq_graph_get_n_relations(graph); r += 2)
        status = add_relation(writer, graph, r, all, n, &error);
    if (status == ACQ_OK)
        status = acq_completion_writer_finish(writer, &error);
    if (status != ACQ_OK)
        fprintf(stderr, "scores: %s\n", error.message);
    acq_completion_writer_close(writer);
    acq_calibrator_free(calibrator);
    acq_free(bytes);
    acq_graph_free(graph);
    return status == ACQ_OK ? 0 : 2;
}
