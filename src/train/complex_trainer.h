/* complex_trainer.h - the state of a ComplEx training and the stages of one step.
 *
 *   choose      rows of the batch, entities of its softmax      complex_batch.c
 *   tails       loss of tails, gradients                        complex_tails.c
 *   relations   loss of relations, gradients                    complex_relations.c
 *   products    of f32 or bfloat16                              complex_products.c
 *   update      Adagrad and N3 on what was touched              complex_update.c
 *
 * The entities that a batch touches have local numbers, in this order:
 *
 *   [ true tails | near: tails of the batch's relations | far: any other | the rest: heads, and of
 * facts ] n_true        n_near                                 n_far
 *    <------------------- softmax, n_softmax ------------------------->
 *    <------------------------------- n_touched ------------------------------------------>
 *
 * Work on matrices is cut into blocks of rows and work on vectors into blocks of components, which
 * threads share: whatever adds up is added by one thread in a fixed order. */
#ifndef ACQ_TRAIN_COMPLEX_TRAINER_H
#define ACQ_TRAIN_COMPLEX_TRAINER_H

#include "base/pool.h"
#include "tensor/bf16.h"
#include "tensor/kernels.h"
#include "train/complex.h"

enum {
    ACQ_COMPLEX_PAD = 16,       /* added to the length of rows: powers of two share cache lines */
    ACQ_COMPLEX_COMPONENTS = 64 /* components of vectors that a thread takes at a time */
};

typedef struct acq_complex_row { /* the facts of one head and relation */
    acq_ent head;
    acq_rel relation;
    const acq_ent *tails; /* the graph's */
    uint32_t n_tails;
} acq_complex_row;

typedef struct acq_complex_fact { /* of an even relation */
    acq_ent head, tail;
    uint32_t pair;
} acq_complex_fact;

typedef struct acq_floats { /* a block that grows, 64-byte aligned; growing forgets */
    float *at;
    size_t room;
    void *block;
} acq_floats;

acq_status acq_floats_need(acq_floats *floats, size_t rows, size_t cols);
void acq_floats_deinit(acq_floats *floats);

typedef struct acq_complex_batch {
    acq_complex_row *rows;
    size_t n_rows;
    const uint32_t *facts; /* of the loss of relations */
    size_t n_facts;
    acq_ent *entities; /* by local number */
    uint32_t *counts;  /* how often each is head or tail of a fact */
    size_t entities_room, counts_room;
    size_t n_true, n_near, n_far, n_softmax, n_touched;
    float near_shift, far_shift; /* log of how many entities a drawn one stands for */
} acq_complex_batch;

typedef struct acq_complex_trainer {
    const acq_graph *graph;
    const acq_train_complex_params *params;
    const acq_kernels *kernels;
    acq_pool *pool; /* a step is too short to start threads in it */
    unsigned n_threads;
    bool is_half; /* large products are of bfloat16 */
    uint32_t rank, n_entities, n_pairs;
    double relation_weight; /* the one of params, or by the graph */
    size_t width, ld;       /* floats of a vector; of a row of a matrix of vectors */

    const acq_links **links; /* by relation */
    acq_complex_row *rows;   /* of the graph, both directions, by relation */
    size_t n_rows;
    uint32_t *order;         /* of the rows in this epoch, by batch */
    uint32_t *batches;       /* their order */
    acq_complex_fact *facts; /* each once; NULL when relations have no weight */
    size_t n_facts;
    uint32_t *fact_order; /* in this epoch */
    uint64_t epoch;       /* that the orders belong to */

    acq_parameters state;                     /* the four tensors of a checkpoint */
    float *entities, *relations;              /* [n x width], in state */
    float *entity_squares, *relation_squares; /* Adagrad's sums, in state */
    float *relation_gradient;                 /* [n_pairs x width] */
    uint32_t *relation_counts;                /* facts of the batch by pair */
    uint32_t *local;                          /* local number of an entity, or ACQ_NO_ID */
    uint64_t *met;                            /* step at which an entity was last near, plus 1 */
    acq_ent *near;                            /* list of these */
    acq_complex_batch batch;
    double *row_losses; /* of the batch */

    acq_floats queries, query_gradient;                  /* [rows x ld] */
    acq_floats scores, turned;                           /* [rows x softmax], [softmax x rows] */
    acq_floats gradient;                                 /* [touched x ld] */
    acq_floats packs[3];                                 /* right sides of the three products */
    acq_floats fact_queries, fact_gradient, fact_scores; /* of the loss of relations */
    acq_floats relation_packs[4];
    acq_floats *narrowed; /* left sides in bfloat16, by thread */

    uint64_t step;
    double loss;    /* smoothed */
    double seconds; /* of earlier runs */
} acq_complex_trainer;

static inline float *acq_complex_trainer_entity(const acq_complex_trainer *self, acq_ent entity)
{
    return self->entities + (size_t)entity * self->width;
}

static inline float *acq_complex_trainer_relation(const acq_complex_trainer *self, acq_rel relation)
{
    return self->relations + (size_t)(relation / 2) * self->width;
}

/* The gradient of a touched entity. */
static inline float *acq_complex_trainer_slope(const acq_complex_trainer *self, acq_ent entity)
{
    return self->gradient.at + self->local[entity] * self->ld;
}

static inline size_t acq_complex_count_blocks(size_t n, size_t block)
{
    return (n + block - 1) / block;
}

acq_status acq_complex_check_params(const acq_graph *graph, const acq_train_complex_params *params,
                                    acq_error *error);

/* All but the vectors, which are zero. Deinit also after an error. */
acq_status acq_complex_trainer_init(acq_complex_trainer *self, const acq_graph *graph,
                                    const acq_train_complex_params *params, acq_error *error);
void acq_complex_trainer_deinit(acq_complex_trainer *self);

/* The rows of the graph; their order in an epoch. */
acq_status acq_complex_list_rows(acq_complex_trainer *self, acq_error *error);
void acq_complex_order_rows(acq_complex_trainer *self, uint64_t epoch);
static inline uint64_t acq_complex_count_batches(const acq_complex_trainer *self)
{
    return acq_complex_count_blocks(self->n_rows, self->params->batch);
}

/* Rows, entities and counts of batch `step`, and back to a state in which nothing is local. */
acq_status acq_complex_choose(acq_complex_trainer *self, uint64_t step);
void acq_complex_forget(acq_complex_trainer *self);

/* Each overwrites or adds to the gradients, and adds its loss, summed over facts. */
acq_status acq_complex_tails(acq_complex_trainer *self, double *loss);
acq_status acq_complex_relations(acq_complex_trainer *self, double *loss);
void acq_complex_update(acq_complex_trainer *self, double rate);

/* The right side of a product, k x n, in memory that grows: laid out for the kernels, or, if half,
 * for those of bfloat16. */
typedef struct acq_complex_right {
    bool is_half;
    acq_packed full;
    acq_bf16_packed half;
} acq_complex_right;

acq_status acq_complex_shape(acq_floats *floats, size_t k, size_t n, bool is_half,
                             acq_complex_right *out);

/* 16 columns from `first` on, a multiple of 16, are these vectors of k floats. */
void acq_complex_pack_columns(const acq_kernels *kernels, const acq_complex_right *right,
                              size_t first, const float *const vectors[ACQ_PANEL]);

/* Rows l, which is even, and l + 1, if there is one, are these of n floats. */
void acq_complex_pack_rows(const acq_kernels *kernels, const acq_complex_right *right, size_t l,
                           const float *row, const float *next);

/* c[m x n] = a b on all threads. */
acq_status acq_complex_multiply(const acq_complex_trainer *self, size_t m, const float *a,
                                size_t lda, const acq_complex_right *b, float *c, size_t ldc);

/* The state in a file, whole or not at all; ACQ_ERR_INPUT when it is of another training. */
acq_status acq_complex_save(const acq_complex_trainer *self, double seconds, acq_error *error);
acq_status acq_complex_resume(acq_complex_trainer *self, acq_error *error);

#endif
