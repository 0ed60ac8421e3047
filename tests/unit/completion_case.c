/* completion_case.c - see completion_case.h. */
#include "unit/completion_case.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "graph/build.h"

static void must(bool truth)
{
    if (!truth)
        abort();
}

acq_graph *completion_make_graph(uint64_t seed, size_t n_facts)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_random random = acq_random_start(seed, 1);
    acq_graph *graph = NULL;
    char name[32];
    uint32_t id;
    for (int i = 0; i < CASE_ENTITIES; i++) {
        int n = snprintf(name, sizeof name, "entity %d", i);
        must(acq_graph_builder_add_entity(builder, name, (size_t)n, &id) == ACQ_OK);
    }
    for (int i = 0; i < CASE_RELATIONS / 2; i++) {
        int n = snprintf(name, sizeof name, "relation %d", i);
        must(acq_graph_builder_add_relation(builder, name, (size_t)n, &id) == ACQ_OK);
    }
    for (size_t i = 0; i < n_facts; i++) {
        acq_ent head = (acq_ent)acq_random_below(&random, CASE_ENTITIES);
        acq_ent tail = (acq_ent)acq_random_below(&random, CASE_ENTITIES);
        acq_rel relation = (acq_rel)acq_random_below(&random, CASE_RELATIONS);
        must(acq_graph_builder_add_fact(builder, head, relation, tail) == ACQ_OK);
    }
    must(acq_graph_builder_finish(builder, &graph, NULL) == ACQ_OK);
    acq_graph_builder_free(builder);
    return graph;
}

typedef struct scored {
    acq_predictor base;
    acq_links *links[CASE_RELATIONS];
} scored;

static acq_status open_scored(const acq_predictor *self, acq_rel relation, const acq_links **out,
                              acq_error *error)
{
    (void)error;
    *out = ((const scored *)self)->links[relation];
    return ACQ_OK;
}

static void free_scored(acq_predictor *self)
{
    for (int r = 0; r < CASE_RELATIONS; r++)
        acq_links_free(((scored *)self)->links[r]);
    free(self);
}

/* Facts first: a repeated pair keeps the largest score, so facts stay at 1. */
static size_t collect(const acq_graph *graph, acq_rel relation, acq_random *random, size_t n_links,
                      acq_link *out)
{
    size_t n = 0;
    for (acq_ent h = 0; h < CASE_ENTITIES; h++) {
        for (acq_ent t = 0; t < CASE_ENTITIES; t++) {
            if (acq_graph_has_fact(graph, h, relation, t))
                out[n++] = (acq_link){h, t, 1.0F};
        }
    }
    for (size_t i = 0; i < n_links; i++) {
        double unit = acq_random_unit(random);
        float score = (float)(unit * unit * unit) * 0.9999F;
        out[n++] = (acq_link){(acq_ent)acq_random_below(random, CASE_ENTITIES),
                              (acq_ent)acq_random_below(random, CASE_ENTITIES),
                              score > 0.0F ? score : 0.5F};
    }
    return n;
}

acq_predictor *case_make_predictor(const acq_graph *graph, uint64_t seed, size_t n_links)
{
    static const acq_predictor_ops ops = {.open_links = open_scored, .free = free_scored};
    acq_random random = acq_random_start(seed, 2);
    scored *me = calloc(1, sizeof *me);
    size_t room = n_links + CASE_ENTITIES * CASE_ENTITIES;
    acq_link *links = malloc(room * sizeof *links);
    must(me != NULL && links != NULL);
    me->base = (acq_predictor){.ops = &ops, .graph = graph, .name = "scored: a test"};
    for (acq_rel r = 0; r < CASE_RELATIONS; r += 2) {
        size_t n = collect(graph, r, &random, n_links, links);
        must(acq_links_new(links, n, CASE_ENTITIES, true, &me->links[r]) == ACQ_OK);
        for (size_t i = 0; i < n; i++)
            links[i] = (acq_link){links[i].tail, links[i].head, links[i].score};
        must(acq_links_new(links, n, CASE_ENTITIES, true, &me->links[r + 1]) == ACQ_OK);
    }
    free(links);
    return &me->base;
}

acq_calibrator *case_make_calibrator(void)
{
    enum { N = 60 };
    float x[N];
    uint8_t labels[N];
    acq_boost_params params = ACQ_BOOST_DEFAULT;
    acq_calibrator *calibrator = acq_calibrator_new();
    for (int i = 0; i < N; i++) {
        x[i] = (float)i;
        labels[i] = i % 3 > 0 && i > 20;
    }
    acq_boost_data data = {.x = x, .labels = labels, .n = N, .n_features = 1};
    params.n_trees = 3;
    params.depth = 1;
    params.least_hessian = 1;
    must(calibrator != NULL && acq_boost_fit(&data, &params, &calibrator->balanced, NULL) == ACQ_OK);
    snprintf(calibrator->models, sizeof calibrator->models, "complex");
    return calibrator;
}

acq_status case_write(const char *path, const acq_predictor *predictor, double floor,
                      acq_error *error)
{
    return acq_completion_write(path, predictor, &(acq_completion_write_params){.floor = floor},
                                error);
}

acq_status case_write_shard(const char *path, const acq_predictor *predictor, double floor,
                            acq_shard shard, acq_error *error)
{
    acq_completion_write_params params = {.floor = floor, .shard = shard};
    return acq_completion_write(path, predictor, &params, error);
}

void case_name_file(char *path, size_t room)
{
    snprintf(path, room, "completion-XXXXXX");
    int file = mkstemp(path);
    must(file >= 0);
    close(file);
    unlink(path);
}

size_t case_count_files(const char *prefix)
{
    DIR *folder = opendir(".");
    size_t n = 0;
    must(folder != NULL);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        n += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    closedir(folder);
    return n;
}

char *case_read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    must(file != NULL && fseek(file, 0, SEEK_END) == 0);
    *length = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*length + 1);
    must(bytes != NULL && fread(bytes, 1, *length, file) == *length);
    fclose(file);
    return bytes;
}

void case_write_file(const char *path, const char *bytes, size_t length)
{
    unlink(path); /* some file systems flush a file that is cut and rewritten: slow */
    FILE *file = fopen(path, "wb");
    must(file != NULL && fwrite(bytes, 1, length, file) == length && fclose(file) == 0);
}
