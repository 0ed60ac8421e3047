/* complex_buckets.c - ComplEx with vectors that are larger than memory; see train.h.
 *
 *   disk      [ bucket 0 | bucket 1 | ... | relations ]   vectors, and the same of Adagrad's sums
 *                  \           /
 *   memory     a model of two buckets and all relations, with the facts between them: a pair
 *
 * Each pair is trained as a graph of its own (complex.c), whose entities are those of both buckets.
 * Entity e is number e / n of bucket e mod n: names that come together in a file are spread. A fact
 * belongs to the pair of its ends' buckets; one within a bucket to a pair that its hash chooses. So
 * each epoch sees each fact once, and which facts a pair has does not change. The system's cache
 * holds the buckets of the disk as far as there is memory for them; the private memory of the
 * training is that of two, and of what a batch needs. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "train/batch.h"
#include "train/trainer.h"

typedef struct pair {
    uint32_t first, second; /* buckets, the smaller first */
} pair;

typedef struct bucket_training {
    const acq_graph *graph;
    const acq_train_complex_params *params;
    uint32_t n; /* buckets */
    pair *pairs;
    size_t n_pairs;
    uint32_t *numbers;              /* [n x n]: of the pair of two buckets */
    uint64_t *begins;               /* batches of an epoch before each pair; one more */
    double weight;                  /* of the loss of relations */
    acq_complex *vectors, *squares; /* on the disk, entities by bucket */

    acq_train_complex_params own; /* of the pair that is in memory */
    acq_complex_trainer state;
    acq_links **links; /* of this pair, by relation */
    size_t at;         /* its number; n_pairs: none */
    uint64_t batch;    /* the trainer's step, as the pair counts */
} bucket_training;

/* ---- buckets ---- */

static uint32_t count_entities(const bucket_training *t, uint32_t bucket)
{
    uint32_t n = acq_graph_get_n_entities(t->graph);
    return n / t->n + (bucket < n % t->n);
}

/* The first entity of a bucket, by its place on the disk. */
static uint32_t get_begin(const bucket_training *t, uint32_t bucket)
{
    uint32_t n = acq_graph_get_n_entities(t->graph), longer = n % t->n;
    return bucket * (n / t->n) + (bucket < longer ? bucket : longer);
}

/* An epoch's pairs so that each shares a bucket with the one before. */
static void list_pairs(bucket_training *t)
{
    for (uint32_t i = 0; i + 1 < t->n; i++)
        for (uint32_t k = i + 1; k < t->n; k++) {
            uint32_t j = i % 2 == 0 ? k : t->n - (k - i);
            t->numbers[i * t->n + j] = t->numbers[j * t->n + i] = (uint32_t)t->n_pairs;
            t->pairs[t->n_pairs++] = (pair){i, j};
        }
}

/* The same for both directions of a fact. */
static uint32_t find_pair(const bucket_training *t, acq_ent head, acq_ent tail)
{
    uint32_t a = head % t->n, b = tail % t->n;
    if (a != b)
        return t->numbers[a * t->n + b];
    uint64_t low = head < tail ? head : tail, high = head < tail ? tail : head;
    uint32_t other = (uint32_t)(acq_random_mix(low << 32 | high) % (t->n - 1));
    return t->numbers[a * t->n + other + (other >= a)];
}

/* ---- the plan ---- */

/* Rows of a pair: heads with the tails that are facts of this pair. */
static acq_status count_rows(bucket_training *t, uint64_t *n_rows, acq_error *error)
{
    uint64_t *met = acq_zalloc(t->n_pairs, sizeof *met), row_number = 0;
    acq_status status = met == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(t->graph) && status == ACQ_OK; r++) {
        const acq_links *links;
        status = acq_graph_open_links(t->graph, r, &links, error);
        for (uint32_t i = 0; status == ACQ_OK && i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            row_number++;
            for (size_t j = 0; j < row.n; j++) {
                uint32_t p = find_pair(t, links->heads[i], row.tails[j]);
                n_rows[p] += met[p] != row_number;
                met[p] = row_number;
            }
        }
    }
    acq_free(met);
    return status;
}

static acq_status plan(bucket_training *t, acq_error *error)
{
    size_t n = t->n;
    t->pairs = acq_alloc(n * (n - 1) / 2, sizeof *t->pairs);
    t->numbers = acq_zalloc(n * n, sizeof *t->numbers);
    t->begins = acq_zalloc(n * (n - 1) / 2 + 1, sizeof *t->begins);
    t->links = acq_zalloc(acq_graph_get_n_relations(t->graph), sizeof(acq_links *));
    if (t->pairs == NULL || t->numbers == NULL || t->begins == NULL || t->links == NULL)
        return acq_fail_memory(error);
    list_pairs(t);
    t->at = t->n_pairs;
    acq_status status = count_rows(t, t->begins + 1, error);
    for (size_t p = 1; p <= t->n_pairs; p++)
        t->begins[p] = t->begins[p - 1] + acq_complex_count_blocks(t->begins[p], t->params->batch);
    if (status == ACQ_OK && t->begins[t->n_pairs] == 0)
        return acq_fail(error, ACQ_ERR_INPUT, "the graph has no facts to train on; import some");
    t->weight = acq_complex_get_weight(t->params, 2.0 * (double)acq_graph_get_n_facts(t->graph),
                                       acq_graph_get_n_entities(t->graph));
    return status;
}

/* ---- the disk ---- */

static acq_complex get_sizes(const bucket_training *t, uint32_t n_entities)
{
    return (acq_complex){.rank = t->params->rank,
                         .is_reciprocal = t->params->reciprocal,
                         .n_entities = n_entities,
                         .n_relations = acq_graph_get_n_relations(t->graph)};
}

static void draw_vectors(bucket_training *t)
{
    const acq_train_complex_params *p = t->params;
    uint32_t n_vectors = acq_complex_get_vector(p->reciprocal, t->vectors->n_relations);
    for (uint32_t b = 0; b < t->n; b++)
        for (uint32_t i = 0; i < count_entities(t, b); i++)
            acq_complex_draw_entity(i * t->n + b, p->rank, p->scale, p->seed,
                                    acq_complex_get_entity(t->vectors, get_begin(t, b) + i));
    for (uint32_t i = 0; i < n_vectors; i++)
        acq_complex_draw_relation(i, p->rank, p->scale, p->seed,
                                  acq_complex_get_relation(t->vectors, 0) +
                                      (size_t)i * 2 * p->rank);
}

static acq_status open_disk(bucket_training *t, acq_error *error)
{
    acq_complex sizes = get_sizes(t, acq_graph_get_n_entities(t->graph));
    const char *beside = t->params->checkpoint == NULL ? "/var/tmp/anycq" : t->params->checkpoint;
    acq_status status = acq_complex_new_zero(&sizes, beside, &t->vectors, error);
    if (status == ACQ_OK)
        status = acq_complex_new_zero(&sizes, beside, &t->squares, error);
    if (status == ACQ_OK)
        draw_vectors(t);
    return status;
}

/* One bucket to or from its place in the pair's model; it is not needed on the disk meanwhile. */
static void copy_bucket(const acq_complex *disk, uint32_t begin, float *memory, uint32_t n,
                        bool to_disk)
{
    size_t width = 2 * (size_t)disk->rank;
    float *there = acq_complex_get_entity(disk, begin);
    memcpy(to_disk ? there : memory, to_disk ? memory : there, n * width * sizeof(float));
    acq_parameters_leave(&disk->parameters, begin * width, n * width);
}

static void copy_block(const bucket_training *t, const acq_complex *disk, float *values,
                       bool to_disk)
{
    const acq_parameters *own = &t->state.model->parameters;
    pair two = t->pairs[t->at];
    uint32_t n_first = count_entities(t, two.first), n_second = count_entities(t, two.second);
    float *second = values + (size_t)n_first * 2 * t->params->rank;
    float *here = values + own->tensors[1].offset, *there = acq_complex_get_relation(disk, 0);
    copy_bucket(disk, get_begin(t, two.first), values, n_first, to_disk);
    copy_bucket(disk, get_begin(t, two.second), second, n_second, to_disk);
    memcpy(to_disk ? there : here, to_disk ? here : there,
           acq_tensor_get_length(&own->tensors[1]) * sizeof(float));
}

static void copy_pair(const bucket_training *t, bool to_disk)
{
    if (t->at == t->n_pairs)
        return;
    copy_block(t, t->vectors, t->state.model->parameters.values, to_disk);
    copy_block(t, t->squares, t->state.squares, to_disk);
}

/* ---- a pair in memory ---- */

static acq_status list_facts(const bucket_training *t, size_t p, acq_rel relation, acq_link **out,
                             size_t *n, acq_error *error)
{
    const acq_links *links;
    pair two = t->pairs[p];
    uint32_t n_first = count_entities(t, two.first);
    size_t room = 0;
    acq_status status = acq_graph_open_links(t->graph, relation, &links, error);
    for (uint32_t i = 0; status == ACQ_OK && i < links->n_heads; i++) {
        acq_ent head = links->heads[i];
        acq_row row = acq_links_get_row_at(links, i);
        for (size_t j = 0; j < row.n && status == ACQ_OK; j++) {
            acq_ent tail = row.tails[j];
            if (find_pair(t, head, tail) != p)
                continue;
            if (ACQ_RESERVE(*out, room, *n + 1) != ACQ_OK)
                status = acq_fail_memory(error);
            else
                (*out)[(*n)++] =
                    (acq_link){head / t->n + (head % t->n == two.first ? 0 : n_first),
                               tail / t->n + (tail % t->n == two.first ? 0 : n_first), 1};
        }
    }
    return status;
}

/* Both directions of the pair's facts. */
static acq_status make_links(bucket_training *t, size_t p, acq_rel relation, acq_error *error)
{
    acq_link *facts = NULL;
    size_t n = 0;
    uint32_t n_entities = t->state.model->n_entities;
    acq_status status = list_facts(t, p, relation, &facts, &n, error);
    for (acq_rel way = 0; way < 2 && status == ACQ_OK; way++) {
        if (acq_links_new(facts, n, n_entities, false, &t->links[relation + way]) != ACQ_OK)
            status = acq_fail_memory(error);
        for (size_t i = 0; i < n; i++)
            facts[i] = (acq_link){facts[i].tail, facts[i].head, 1};
    }
    acq_free(facts);
    return status;
}

static void close_pair(bucket_training *t)
{
    acq_complex_trainer_deinit(&t->state);
    t->state = (acq_complex_trainer){0};
    for (acq_rel r = 0; t->links != NULL && r < acq_graph_get_n_relations(t->graph); r++) {
        acq_links_free(t->links[r]);
        t->links[r] = NULL;
    }
    t->at = t->n_pairs;
}

static acq_status open_pair(bucket_training *t, size_t p, acq_error *error)
{
    acq_complex sizes =
        get_sizes(t, count_entities(t, t->pairs[p].first) + count_entities(t, t->pairs[p].second));
    t->own = *t->params;
    t->own.seed = acq_random_mix(t->params->seed + p);
    t->own.relation_weight = t->weight;
    t->state.params = &t->own;
    t->state.given = (const acq_links *const *)t->links;
    acq_status status = acq_complex_new_zero(&sizes, NULL, &t->state.model, error);
    for (acq_rel r = 0; r < sizes.n_relations && status == ACQ_OK; r += 2)
        status = make_links(t, p, r, error);
    if (status == ACQ_OK)
        status = acq_complex_trainer_open(&t->state, error);
    if (status != ACQ_OK)
        return status;
    t->at = p;
    copy_pair(t, false);
    return ACQ_OK;
}

/* ---- the run ---- */

/* The pair of a step, and the batch as the pair counts; every other epoch goes backwards. */
static size_t find_step(const bucket_training *t, uint64_t step, uint64_t *batch)
{
    uint64_t n = t->begins[t->n_pairs], epoch = step / n, place = step % n;
    bool is_backwards = epoch % 2 == 1;
    size_t p = 0;
    place = is_backwards ? n - 1 - place : place;
    while (t->begins[p + 1] <= place)
        p++;
    uint64_t n_own = t->begins[p + 1] - t->begins[p], within = place - t->begins[p];
    *batch = epoch * n_own + (is_backwards ? n_own - 1 - within : within);
    return p;
}

static acq_status compute(void *self, uint64_t step, double *loss, acq_error *error)
{
    bucket_training *t = self;
    size_t p = find_step(t, step, &t->batch);
    acq_status status = ACQ_OK;
    if (p != t->at) {
        copy_pair(t, true);
        close_pair(t);
        status = open_pair(t, p, error);
    }
    return status == ACQ_OK ? acq_complex_compute(&t->state, t->batch, loss, error) : status;
}

static void update(void *self, double share, double *norm)
{
    bucket_training *t = self;
    *norm = acq_complex_finish(&t->state, acq_complex_get_rate(t->params, share));
}

/* A checkpoint has what is on the disk; one that was read replaces what is in memory. */
static acq_status shape(void *self, const acq_safetensors *file, acq_error *error)
{
    (void)error;
    if (file == NULL)
        copy_pair(self, true);
    else
        close_pair(self);
    return ACQ_OK;
}

static acq_status run(bucket_training *t, acq_error *error)
{
    static const acq_trainer_ops ops = {.compute = compute, .update = update, .shape = shape};
    const acq_train_complex_params *params = t->params;
    acq_trainer_origin from = {ACQ_TRAIN_COMPLEX, params, &t->graph, 1, NULL};
    double n_steps = ceil(params->epochs * (double)t->begins[t->n_pairs]);
    acq_trainer trainer = {.ops = &ops,
                           .self = t,
                           .phase = "training ComplEx",
                           .n_steps = (uint64_t)n_steps,
                           .epochs = params->epochs,
                           .parameters = &t->vectors->parameters,
                           .is_large = true,
                           .parts = {{"squares", t->squares->parameters.values, true}},
                           .n_parts = 1,
                           ACQ_TRAINER_OF_PARAMS(params)};
    acq_status status = acq_trainer_run_from(&trainer, &from, error);
    copy_pair(t, true);
    close_pair(t);
    return status;
}

/* The vectors in the order of the entities: that of the other block, which is done with. */
static acq_complex *finish(bucket_training *t)
{
    acq_complex *to = t->squares;
    size_t bytes = 2 * (size_t)to->rank * sizeof(float);
    for (acq_ent e = 0; e < to->n_entities; e++)
        memcpy(acq_complex_get_entity(to, e),
               acq_complex_get_entity(t->vectors, get_begin(t, e % t->n) + e / t->n), bytes);
    memcpy(acq_complex_get_relation(to, 0), acq_complex_get_relation(t->vectors, 0),
           acq_complex_get_vector(to->is_reciprocal, to->n_relations) * bytes);
    t->squares = NULL;
    return to;
}

static void deinit(bucket_training *t)
{
    close_pair(t);
    acq_complex_free(t->vectors);
    acq_complex_free(t->squares);
    acq_free(t->links);
    acq_free(t->pairs);
    acq_free(t->numbers);
    acq_free(t->begins);
}

acq_status acq_complex_train_buckets(const acq_graph *graph, const acq_train_complex_params *params,
                                     acq_complex **out, acq_error *error)
{
    bucket_training t = {.graph = graph, .params = params, .n = params->buckets};
    acq_status status = plan(&t, error);
    if (status == ACQ_OK)
        status = open_disk(&t, error);
    if (status == ACQ_OK)
        status = run(&t, error);
    if (status == ACQ_OK)
        *out = finish(&t);
    deinit(&t);
    return status;
}

uint32_t acq_train_complex_count_buckets(const acq_graph *graph, uint32_t rank, uint64_t bytes)
{
    enum { MOST = 64 };
    /* Vectors and sums of two buckets; the facts between them and the batch take as much again. */
    double all = 2.0 * 2 * rank * sizeof(float) * (double)acq_graph_get_n_entities(graph);
    uint32_t n = 1;
    while (all * (n == 1 ? 1 : 2.0 / n) > .5 * (double)bytes && n < MOST)
        n = n == 1 ? 3 : n + 1;
    return n;
}
