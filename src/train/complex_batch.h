/* complex_batch.h - inside the training of ComplEx: its state, and which rows and entities a batch
 * works on. */
#ifndef ACQ_TRAIN_COMPLEX_BATCH_H
#define ACQ_TRAIN_COMPLEX_BATCH_H

#include "models/complex/gradient.h"
#include "train/train.h"

typedef struct acq_complex_trainer {
    const acq_graph *graph;
    const acq_train_complex_params *params;
    acq_complex *model;     /* its vectors are trained in place */
    float *squares;         /* Adagrad's sums, in the layout of the model's parameters */
    acq_complex_gradient g; /* with the batch */

    const acq_links **links; /* by relation */
    acq_complex_row *rows;   /* of the graph, both directions, by relation */
    size_t n_rows;
    uint32_t *order;           /* of the rows in this epoch, by batch */
    uint32_t *batches;         /* their order */
    size_t n_facts;            /* in g.facts */
    uint32_t *fact_order;      /* in this epoch */
    uint64_t epoch;            /* that the orders belong to */
    uint32_t *relation_counts; /* facts of the batch by pair */
    uint64_t *met;             /* step at which an entity was last near, plus 1 */
    acq_ent *near;             /* list of these */
} acq_complex_trainer;

/* A model of random vectors and all that a step needs. Deinit also after an error. */
acq_status acq_complex_trainer_init(acq_complex_trainer *self, const acq_graph *graph,
                                    const acq_train_complex_params *params, acq_error *error);
void acq_complex_trainer_deinit(acq_complex_trainer *self);

/* The rows of the graph, in the order of the first epoch. */
acq_status acq_complex_list_rows(acq_complex_trainer *self, acq_error *error);
uint64_t acq_complex_count_batches(const acq_complex_trainer *self); /* of an epoch */

/* Rows, entities and counts of batch `step`, and back to a state in which nothing is local. */
acq_status acq_complex_choose(acq_complex_trainer *self, uint64_t step);
void acq_complex_forget(acq_complex_trainer *self);

/* Adagrad with this rate on what the batch touches, the slope of N3 by the number of facts. */
void acq_complex_update(acq_complex_trainer *self, double rate);

#endif
