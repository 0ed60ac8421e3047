/* model.h - ComplEx: entities and relations as complex vectors.
 *
 *   score(h, r, t) = Re sum_k h_k r_k conj(t_k)        inverse(r) has conj(r)
 *
 * so both directions of a link score the same, to the last bit. A vector of rank d is 2d floats:
 * the d real parts, then the d imaginary ones. Only even relations have a vector; in a reciprocal
 * model odd ones have a vector of their own, and the two directions of a link may score
 * differently. */
#ifndef ACQ_MODELS_COMPLEX_MODEL_H
#define ACQ_MODELS_COMPLEX_MODEL_H

#include "base/threads.h"
#include "models/model.h"
#include "tensor/bf16.h"
#include "tensor/kernels.h"
#include "tensor/safetensors.h"

typedef struct acq_complex {
    uint32_t rank, n_entities, n_relations;   /* n_relations counts both directions */
    uint32_t known_entities, known_relations; /* trained ones, the first ids: the others are zero */
    bool is_reciprocal;
    acq_parameters parameters; /* "entities" [n x 2d], "relations" [n / 2 x 2d], reciprocal [n x 2d]
                                */
} acq_complex;

enum { ACQ_COMPLEX_RANK_MOST = 1 << 16 };

acq_status acq_complex_check_sizes(uint32_t n_relations, uint32_t rank, acq_error *error);

static inline float *acq_complex_get_entity(const acq_complex *model, acq_ent entity)
{
    return model->parameters.values + (size_t)entity * 2 * model->rank;
}

/* Which of the relations' vectors it is, and whether its conjugate is meant. */
static inline uint32_t acq_complex_get_vector(bool is_reciprocal, acq_rel relation)
{
    return is_reciprocal ? relation : relation / 2;
}

static inline bool acq_complex_is_conjugate(bool is_reciprocal, acq_rel relation)
{
    return !is_reciprocal && relation % 2 != 0;
}

/* The vector of a relation; of an odd one, unless reciprocal, that of which it is the conjugate. */
static inline float *acq_complex_get_relation(const acq_complex *model, acq_rel relation)
{
    return model->parameters.values + model->parameters.tensors[1].offset +
           (size_t)acq_complex_get_vector(model->is_reciprocal, relation) * 2 * model->rank;
}

/* Of one link. O(rank). */
double acq_complex_score(const acq_complex *model, acq_ent head, acq_rel relation, acq_ent tail);

/* Values drawn from N(0, scale^2) with the seed. */
acq_status acq_complex_new(uint32_t n_entities, uint32_t n_relations, uint32_t rank, double scale,
                           uint64_t seed, acq_complex **out, acq_error *error);
acq_status acq_complex_new_reciprocal(uint32_t n_entities, uint32_t n_relations, uint32_t rank,
                                      double scale, uint64_t seed, acq_complex **out,
                                      acq_error *error);
/* Values are zero. beside: the vectors lie on the disk of this path (tensor/parameters.h); NULL: in
 * memory. */
acq_status acq_complex_new_zero(const acq_complex *sizes, const char *beside, acq_complex **out,
                                acq_error *error);
/* Of one entity, or of one vector of a relation: as acq_complex_new draws it. */
void acq_complex_draw_entity(acq_ent entity, uint32_t rank, double scale, uint64_t seed,
                             float *vector);
void acq_complex_draw_relation(uint32_t i, uint32_t rank, double scale, uint64_t seed,
                               float *vector);
void acq_complex_free(acq_complex *model); /* NULL is legal */

/* The metadata name the dictionary's fingerprint; a graph that only grew since is served: new
 * entities have zero vectors, and their links ACQ_NO_SCORE. Another dictionary is refused with the
 * remedy. */
acq_status acq_complex_read(const char *path, const acq_graph *graph, acq_complex **out,
                            acq_error *error);
acq_status acq_complex_write(const char *path, const acq_complex *model, const acq_graph *graph,
                             const acq_metadata *metadata, size_t n_metadata, acq_error *error);

/* model is borrowed. */
acq_status acq_complex_new_row_model(const acq_complex *model, const acq_graph *graph,
                                     acq_row_model **out, acq_error *error);

/* ---- gradient ----
 *
 * Loss and gradient of one batch of a ComplEx training.
 *
 *   tails       loss of tails, gradients          gradient.c
 *   relations   loss of relations, gradients      gradient.c
 *   products    of f32 or bfloat16                rows.c
 *
 * The entities that a batch touches have local numbers, in this order:
 *
 *   [ true tails | near: tails of the batch's relations | far: any other | heads, and of facts ]
 *     n_true       n_near                                 n_far
 *     <------------------- softmax, n_softmax ---------------------->
 *     <------------------------------- n_touched -------------------------------------------->
 *
 * Work on matrices is cut into blocks of rows and work on vectors into blocks of components, which
 * threads share: whatever adds up is added by one thread in a fixed order. */

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

typedef struct acq_complex_fact { /* of an even relation; reciprocal: of any */
    acq_ent head, tail;
    uint32_t vector; /* of the relation */
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

typedef struct acq_complex_gradient {
    const acq_kernels *kernels;
    acq_pool *pool; /* a step is too short to start threads in it */
    unsigned n_threads;
    bool is_half;           /* large products are of bfloat16 */
    const acq_ranks *ranks; /* each has some components of all vectors; NULL: all are here */
    bool is_reciprocal;
    uint32_t rank, n_entities, n_relations;
    uint32_t n_vectors;     /* of relations: one for each pair, reciprocal for each direction */
    double relation_weight; /* of the loss of relations; 0: there is none */
    size_t width, ld;       /* floats of a vector; of a row of a matrix of vectors */
    float *entities, *relations; /* [n x width]: the model's */
    acq_complex_batch batch;
    acq_complex_fact *facts;  /* of the graph, each once, reciprocal in both directions; NULL when
                               relations have no weight */
    uint32_t *local;          /* local number of an entity, or ACQ_NO_ID */
    double *row_losses;       /* of the batch */
    float *relation_gradient; /* [n_vectors x width] */
    acq_floats gradient;      /* [touched x ld] */

    acq_floats queries, query_gradient;                  /* [rows x ld] */
    acq_floats scores, turned;                           /* [rows x softmax], [softmax x rows] */
    acq_floats packs[3];                                 /* right sides of the three products */
    acq_floats fact_queries, fact_gradient, fact_scores; /* of the loss of relations */
    acq_floats relation_packs[4];
    acq_floats *narrowed; /* left sides in bfloat16, by thread */
    struct acq_complex_relation_work *relation_work;
} acq_complex_gradient;

/* Of a batch of at most `batch` rows; threads and memory. Deinit also after an error. */
acq_status acq_complex_gradient_init(acq_complex_gradient *self, const acq_complex *model,
                                     size_t batch, unsigned n_threads, acq_error *error);
void acq_complex_gradient_deinit(acq_complex_gradient *self);

/* Of the batch as it is chosen: the gradients of all that it touches, and both losses, summed over
 * facts. */
acq_status acq_complex_gradient_compute(acq_complex_gradient *self, double *tails,
                                        double *relations);
bool acq_complex_gradient_is_finite(const acq_complex_gradient *self);

static inline size_t acq_complex_count_blocks(size_t n, size_t block)
{
    return (n + block - 1) / block;
}

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
acq_status acq_complex_multiply(const acq_complex_gradient *self, size_t m, const float *a,
                                size_t lda, const acq_complex_right *b, float *c, size_t ldc);

#endif
