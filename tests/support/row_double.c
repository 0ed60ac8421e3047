/* row_double.c - see row_double.h. */
#include "support/row_double.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "graph/build.h"

static acq_status open_scratch(const acq_row_model *self, void **out, acq_error *error)
{
    (void)error;
    ((row_double *)self)->n_open++;
    *out = (void *)self;
    return ACQ_OK;
}

static void free_scratch(const acq_row_model *self, void *scratch)
{
    ((row_double *)self)->n_open -= scratch != NULL;
}

static acq_status score(const acq_row_model *self, void *scratch, const acq_row_request *request,
                        acq_error *error)
{
    row_double *model = (row_double *)self;
    if (scratch != self || request->n_heads > self->batch || request->tails != NULL)
        return acq_fail(error, ACQ_ERR_INTERNAL, "a request that is not allowed");
    for (size_t i = 0; i < request->n_heads; i++)
        memcpy(request->out + i * request->n_tails,
               model->raw[request->relation][request->heads[i]],
               request->n_tails * sizeof *request->out);
    model->n_rows += request->n_heads;
    return ACQ_OK;
}

static void free_nothing(acq_row_model *self)
{
    (void)self;
}

void row_double_init(row_double *model, const acq_graph *graph, uint64_t seed, bool symmetric)
{
    static const acq_row_model_ops ops = {.open_scratch = open_scratch,
                                          .free_scratch = free_scratch,
                                          .score = score,
                                          .free = free_nothing};
    acq_random random = acq_random_start(seed, 1);
    *model = (row_double){.base = {.ops = &ops, .graph = graph, .kind = "double", .batch = 3}};
    model->base.is_symmetric = symmetric;
    for (acq_rel r = 0; r < ROW_DOUBLE_RELATIONS; r++) {
        for (acq_ent h = 0; h < ROW_DOUBLE_ENTITIES; h++) {
            for (acq_ent t = 0; t < ROW_DOUBLE_ENTITIES; t++) {
                double drawn = 4.0 * (acq_random_unit(&random) - 0.5);
                model->raw[r][h][t] =
                    symmetric && r % 2 == 1 ? model->raw[r - 1][t][h] : (float)drawn;
            }
        }
    }
}

acq_graph *row_double_make_graph(uint64_t seed, double share)
{
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_random random = acq_random_start(seed, 2);
    acq_graph *graph = NULL;
    char name[16];
    uint32_t id;
    bool is_made = builder != NULL;
    for (acq_ent e = 0; e < ROW_DOUBLE_ENTITIES; e++) {
        snprintf(name, sizeof name, "e%u", e);
        is_made &= acq_graph_builder_add_entity(builder, name, strlen(name), &id) == ACQ_OK;
    }
    for (acq_rel r = 0; r < ROW_DOUBLE_RELATIONS; r += 2) {
        snprintf(name, sizeof name, "r%u", r);
        is_made &= acq_graph_builder_add_relation(builder, name, strlen(name), &id) == ACQ_OK;
        for (uint32_t i = 0; i < ROW_DOUBLE_ENTITIES * ROW_DOUBLE_ENTITIES; i++) {
            if (acq_random_unit(&random) < share)
                is_made &= acq_graph_builder_add_fact(builder, i / ROW_DOUBLE_ENTITIES, r,
                                                      i % ROW_DOUBLE_ENTITIES) == ACQ_OK;
        }
    }
    if (!is_made || acq_graph_builder_finish(builder, &graph, NULL) != ACQ_OK)
        abort();
    acq_graph_builder_free(builder);
    return graph;
}
