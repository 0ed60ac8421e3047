/* complex_batch.c - what one step of a ComplEx training works on, see batch.h; and
 * trainings in buckets of entities, below.
 *
 * A batch has rows of one relation, or of few. In each epoch the relations and the rows of each
 * are shuffled, the whole is cut into batches, and these are shuffled. So most of a softmax lies
 * on the entities that are a tail of that relation somewhere: these are near. Three quarters of
 * the candidates are drawn among them and the rest among all others, without repeats, and each
 * stands for as many of its kind as there are to one drawn: the sum of a softmax is unbiased, and
 * exact where it matters when all near ones are drawn. The loss of relations would see one answer
 * only in such batches, so its facts are shuffled by themselves.
 *
 * With `candidates` 0 all entities compete, nothing is saved by that, and rows of all relations are
 * mixed: steps that say less of the same learn more. */
#include "train/batch.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "train/trainer.h"

enum { ORDER_STREAM = 1, DRAW_STREAM = 2, DENSE = 10 };

static const double DENSE_WEIGHT = .3;

static uint64_t get_stream(uint64_t kind, uint64_t counter)
{
    return acq_random_mix(0x7261696e65727300ULL + kind) ^ counter;
}

static acq_status add_rows(acq_complex_trainer *self, acq_rel relation, size_t *room,
                           acq_error *error)
{
    const acq_links *links;
    acq_status status =
        self->given == NULL ? acq_graph_open_links(self->graph, relation, &links, error) : ACQ_OK;
    if (status != ACQ_OK)
        return status;
    if (self->given != NULL)
        links = self->given[relation];
    if (ACQ_RESERVE(self->rows, *room, self->n_rows + links->n_heads + 1) != ACQ_OK)
        return acq_fail_memory(error);
    for (uint32_t i = 0; i < links->n_heads; i++) {
        acq_row row = acq_links_get_row_at(links, i);
        if (row.n > 0)
            self->rows[self->n_rows++] =
                (acq_complex_row){links->heads[i], relation, row.tails, (uint32_t)row.n};
    }
    self->links[relation] = links;
    return ACQ_OK;
}

/* Even rows have each fact once; reciprocal relations learn from both directions. */
static bool has_facts(const acq_complex_trainer *self, const acq_complex_row *row)
{
    return self->g.is_reciprocal || row->relation % 2 == 0;
}

static void fill_facts(acq_complex_trainer *self)
{
    for (size_t i = 0; i < self->n_rows; i++) {
        const acq_complex_row *row = &self->rows[i];
        for (uint32_t j = 0; has_facts(self, row) && j < row->n_tails; j++)
            self->g.facts[self->n_facts++] =
                (acq_complex_fact){row->head, row->tails[j],
                                   acq_complex_get_vector(self->g.is_reciprocal, row->relation)};
    }
}

/* Relations are worth learning where entities have many facts. */
double acq_complex_get_weight(const acq_train_complex_params *params, double n, uint32_t n_entities)
{
    if (params->relation_weight >= 0)
        return params->relation_weight;
    return n >= DENSE * (double)n_entities ? DENSE_WEIGHT : 0;
}

static double get_relation_weight(const acq_complex_trainer *self)
{
    double n = 0;
    for (size_t i = 0; i < self->n_rows; i++)
        n += self->rows[i].n_tails;
    return acq_complex_get_weight(self->params, n, self->g.n_entities);
}

static acq_status list_facts(acq_complex_trainer *self, acq_error *error)
{
    uint64_t n = 0;
    self->g.relation_weight = get_relation_weight(self);
    if (self->g.relation_weight == 0)
        return ACQ_OK;
    for (size_t i = 0; i < self->n_rows; i++)
        n += has_facts(self, &self->rows[i]) ? self->rows[i].n_tails : 0;
    if (n > UINT32_MAX)
        return acq_fail(error, ACQ_ERR_LIMIT, "the graph has too many facts to train on");
    self->g.facts = acq_alloc(n, sizeof *self->g.facts);
    self->fact_order = acq_alloc(n, sizeof *self->fact_order);
    if (self->g.facts == NULL || self->fact_order == NULL)
        return acq_fail_memory(error);
    fill_facts(self);
    return ACQ_OK;
}

uint64_t acq_complex_count_batches(const acq_complex_trainer *self)
{
    return acq_complex_count_blocks(self->n_rows, self->params->batch);
}

static void shuffle(acq_random *random, uint32_t *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = acq_random_below(random, i);
        uint32_t moved = items[i - 1];
        items[i - 1] = items[j];
        items[j] = moved;
    }
}

static void shuffle_all(acq_random *random, uint32_t *items, size_t n) /* 0 to n - 1 */
{
    for (size_t i = 0; i < n; i++)
        items[i] = (uint32_t)i;
    shuffle(random, items, n);
}

/* The rows of each relation shuffled, the relations one after the other from a random one on. */
static void order_by_relation(acq_complex_trainer *self, acq_random *random)
{
    size_t begin = 0, first = acq_random_below(random, self->n_rows);
    for (size_t i = 0; i < self->n_rows; i++) {
        size_t row = (first + i) % self->n_rows;
        self->order[i] = (uint32_t)row;
        if (i + 1 < self->n_rows &&
            self->rows[row].relation == self->rows[(row + 1) % self->n_rows].relation)
            continue;
        shuffle(random, self->order + begin, i + 1 - begin);
        begin = i + 1;
    }
}

static void order_rows(acq_complex_trainer *self, uint64_t epoch)
{
    acq_random random = acq_random_start(self->params->seed, get_stream(ORDER_STREAM, epoch));
    if (self->params->candidates == 0)
        shuffle_all(&random, self->order, self->n_rows);
    else
        order_by_relation(self, &random);
    shuffle_all(&random, self->batches, acq_complex_count_batches(self));
    shuffle_all(&random, self->fact_order, self->n_facts);
    self->epoch = epoch;
}

acq_status acq_complex_list_rows(acq_complex_trainer *self, acq_error *error)
{
    size_t room = 0, n_relations = self->g.n_relations;
    self->links = acq_alloc(n_relations, sizeof *self->links);
    if (self->links == NULL)
        return acq_fail_memory(error);
    for (acq_rel relation = 0; relation < n_relations; relation++) {
        acq_status status = add_rows(self, relation, &room, error);
        if (status != ACQ_OK)
            return status;
    }
    if (self->n_rows == 0)
        return acq_fail(error, ACQ_ERR_INPUT, "the graph has no facts to train on; import some");
    if (self->n_rows > UINT32_MAX)
        return acq_fail(error, ACQ_ERR_LIMIT, "the graph has too many facts to train on");
    self->order = acq_alloc(self->n_rows, sizeof *self->order);
    self->batches = acq_alloc(acq_complex_count_batches(self), sizeof *self->batches);
    if (self->order == NULL || self->batches == NULL)
        return acq_fail_memory(error);
    acq_status status = list_facts(self, error);
    if (status == ACQ_OK)
        order_rows(self, 0);
    return status;
}

static void choose_rows(acq_complex_trainer *self, uint64_t step)
{
    uint64_t n = acq_complex_count_batches(self), epoch = step / n;
    if (self->epoch != epoch)
        order_rows(self, epoch);
    size_t first = (size_t)self->batches[step % n] * self->params->batch;
    size_t left = self->n_rows - first;
    self->g.batch.n_rows = left < self->params->batch ? left : self->params->batch;
    for (size_t i = 0; i < self->g.batch.n_rows; i++)
        self->g.batch.rows[i] = self->rows[self->order[first + i]];
}

/* The same share of the facts for each batch. */
static void choose_facts(acq_complex_trainer *self, uint64_t step)
{
    uint64_t n = acq_complex_count_batches(self), i = step % n;
    size_t first = self->n_facts * i / n, end = self->n_facts * (i + 1) / n;
    self->g.batch.facts = self->n_facts == 0 ? NULL : self->fact_order + first;
    self->g.batch.n_facts = end - first;
}

static acq_status touch(acq_complex_trainer *self, acq_ent entity, uint32_t count)
{
    acq_complex_batch *batch = &self->g.batch;
    uint32_t *local = &self->g.local[entity];
    if (*local == ACQ_NO_ID) {
        size_t need = batch->n_touched + 1;
        if (ACQ_RESERVE(batch->entities, batch->entities_room, need) != ACQ_OK ||
            ACQ_RESERVE(batch->counts, batch->counts_room, need) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        *local = (uint32_t)batch->n_touched++;
        batch->entities[*local] = entity;
        batch->counts[*local] = 0;
    }
    batch->counts[*local] += count;
    return ACQ_OK;
}

static acq_status touch_tails(acq_complex_trainer *self)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < self->g.batch.n_rows; i++) {
        const acq_complex_row *row = &self->g.batch.rows[i];
        self->relation_counts[acq_complex_get_vector(self->g.is_reciprocal, row->relation)] +=
            row->n_tails;
        for (uint32_t j = 0; j < row->n_tails && status == ACQ_OK; j++)
            status = touch(self, row->tails[j], 1);
    }
    self->g.batch.n_true = self->g.batch.n_touched;
    return status;
}

/* Lists the entities that are tails of a relation of the batch, but not of its rows. */
static size_t list_near(acq_complex_trainer *self, uint64_t step)
{
    const acq_complex_batch *batch = &self->g.batch;
    size_t n = 0;
    for (size_t i = 0; i < batch->n_rows; i++) {
        acq_rel relation = batch->rows[i].relation;
        const acq_links *links = self->links[acq_inverse(relation)];
        if (i > 0 && batch->rows[i - 1].relation == relation)
            continue;
        for (uint32_t j = 0; j < links->n_heads; j++) {
            acq_ent entity = links->heads[j];
            if (self->g.local[entity] != ACQ_NO_ID || self->met[entity] == step + 1)
                continue;
            self->met[entity] = step + 1;
            self->near[n++] = entity;
        }
    }
    return n;
}

static acq_status touch_near(acq_complex_trainer *self, acq_random *random, size_t n, size_t most)
{
    acq_status status = ACQ_OK;
    size_t wanted = n < most ? n : most;
    for (size_t i = 0; i < wanted && status == ACQ_OK; i++) {
        size_t j = wanted == n ? i : i + acq_random_below(random, n - i);
        acq_ent drawn = self->near[j];
        self->near[j] = self->near[i];
        status = touch(self, drawn, 0);
    }
    self->g.batch.n_near = wanted;
    self->g.batch.near_shift = wanted < n ? logf((float)n / (float)wanted) : 0;
    return status;
}

static acq_status touch_far(acq_complex_trainer *self, acq_random *random, uint64_t step, size_t n,
                            size_t most)
{
    acq_status status = ACQ_OK;
    size_t wanted = n < most ? n : most, left = wanted;
    for (acq_ent next = 0; left > 0 && status == ACQ_OK; next++) {
        acq_ent e = wanted == n ? next : (acq_ent)acq_random_below(random, self->g.n_entities);
        if (self->g.local[e] != ACQ_NO_ID || self->met[e] == step + 1)
            continue;
        status = touch(self, e, 0);
        left--;
    }
    self->g.batch.n_far = wanted;
    self->g.batch.far_shift = wanted < n ? logf((float)n / (float)wanted) : 0;
    return status;
}

static acq_status touch_candidates(acq_complex_trainer *self, uint64_t step)
{
    acq_complex_batch *batch = &self->g.batch;
    acq_random random = acq_random_start(self->params->seed, get_stream(DRAW_STREAM, step));
    size_t most = self->params->candidates == 0 ? SIZE_MAX : self->params->candidates;
    /* where all compete, near and far ones are the same */
    size_t n_near = self->params->candidates == 0 ? 0 : list_near(self, step);
    size_t n_far = self->g.n_entities - batch->n_true - n_near;
    acq_status status = touch_near(self, &random, n_near, most - (most / 4 + (most < 4)));
    if (status == ACQ_OK)
        status = touch_far(self, &random, step, n_far, most - batch->n_near);
    batch->n_softmax = batch->n_touched;
    return status;
}

static acq_status touch_facts(acq_complex_trainer *self)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < self->g.batch.n_facts && status == ACQ_OK; i++) {
        const acq_complex_fact *fact = &self->g.facts[self->g.batch.facts[i]];
        status = touch(self, fact->head, 0);
        if (status == ACQ_OK)
            status = touch(self, fact->tail, 0);
    }
    return status;
}

acq_status acq_complex_choose(acq_complex_trainer *self, uint64_t step)
{
    acq_complex_batch *batch = &self->g.batch;
    choose_rows(self, step);
    choose_facts(self, step);
    acq_status status = touch_tails(self);
    if (status == ACQ_OK)
        status = touch_candidates(self, step);
    for (size_t i = 0; i < batch->n_rows && status == ACQ_OK; i++)
        status = touch(self, batch->rows[i].head, batch->rows[i].n_tails);
    return status == ACQ_OK ? touch_facts(self) : status;
}

void acq_complex_forget(acq_complex_trainer *self)
{
    for (size_t i = 0; i < self->g.batch.n_touched; i++)
        self->g.local[self->g.batch.entities[i]] = ACQ_NO_ID;
    for (uint32_t i = 0; i < self->g.n_vectors; i++)
        self->relation_counts[i] = 0;
    self->g.batch.n_touched = 0;
}

/* ---- buckets ----
 *
 * ComplEx with vectors that are larger than memory; see train.h.
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
 * training is that of two, and of what a batch needs.
 *
 * On the disk entities can be of bfloat16, two of which take the place of a float: half the room.
 * They are rounded up or down by chance, so that they are right on average and sums of squares go
 * on growing; relations stay floats. A checkpoint then has what a pair began with, since rounding
 * in the middle would change what follows: a resume does the pair's batches so far again. */

typedef struct pair {
    uint32_t first, second; /* buckets, the smaller first */
} pair;

typedef struct bucket_training {
    const acq_graph *graph;
    const acq_train_complex_params *params;
    uint32_t n; /* buckets */
    pair *pairs;
    size_t n_pairs;
    uint32_t *numbers;               /* [n x n]: of the pair of two buckets */
    uint64_t *begins;                /* batches of an epoch before each pair; one more */
    double weight;                   /* of the loss of relations */
    acq_parameters vectors, squares; /* on the disk, entities by bucket */
    uint64_t n_steps;                /* of the schedule; 0: by time alone */

    acq_train_complex_params own; /* of the pair that is in memory */
    acq_complex_trainer state;
    acq_links **links; /* of this pair, by relation */
    size_t at;         /* its number; n_pairs: none */
    uint64_t step;     /* the trainer's */
} bucket_training;

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

static acq_complex get_sizes(const bucket_training *t, uint32_t n_entities)
{
    return (acq_complex){.rank = t->params->rank,
                         .is_reciprocal = t->params->reciprocal,
                         .n_entities = n_entities,
                         .n_relations = acq_graph_get_n_relations(t->graph)};
}

/* Floats on the disk that a vector of an entity takes. */
static size_t get_width(const bucket_training *t)
{
    return t->params->half_buckets ? t->params->rank : 2 * (size_t)t->params->rank;
}

static float *get_disk_relations(const acq_parameters *disk)
{
    return disk->values + disk->tensors[1].offset;
}

/* Vectors to or from the disk, from entity `begin` on, by its place there. */
static void copy_vectors(const bucket_training *t, const acq_parameters *disk, uint32_t begin,
                         float *memory, uint32_t n, bool to_disk)
{
    size_t width = get_width(t), floats = (size_t)n * 2 * t->params->rank;
    float *there = disk->values + begin * width;
    uint64_t block = (uint64_t)(disk == &t->squares) << 32 | begin;
    uint64_t chances = acq_random_mix(t->params->seed + t->step) + block;
    if (!t->params->half_buckets)
        memcpy(to_disk ? there : memory, to_disk ? memory : there, floats * sizeof(float));
    else if (to_disk)
        acq_bf16_draw(memory, floats, chances, (acq_bf16 *)there);
    else
        for (size_t i = 0; i < floats; i++)
            memory[i] = acq_bf16_to_float(((const acq_bf16 *)there)[i]);
}

static acq_status draw_vectors(bucket_training *t, acq_error *error)
{
    const acq_train_complex_params *p = t->params;
    uint32_t n_vectors = acq_complex_get_vector(p->reciprocal, acq_graph_get_n_relations(t->graph));
    float *vector = acq_alloc(2 * (size_t)p->rank, sizeof *vector);
    if (vector == NULL)
        return acq_fail_memory(error);
    for (uint32_t b = 0; b < t->n; b++)
        for (uint32_t i = 0; i < count_entities(t, b); i++) {
            acq_complex_draw_entity(i * t->n + b, p->rank, p->scale, p->seed, vector);
            copy_vectors(t, &t->vectors, get_begin(t, b) + i, vector, 1, true);
        }
    for (uint32_t i = 0; i < n_vectors; i++)
        acq_complex_draw_relation(i, p->rank, p->scale, p->seed,
                                  get_disk_relations(&t->vectors) + (size_t)i * 2 * p->rank);
    acq_free(vector);
    return ACQ_OK;
}

static const char *get_disk(const bucket_training *t)
{
    return t->params->checkpoint == NULL ? "/var/tmp/anycq" : t->params->checkpoint;
}

static acq_status open_disk(bucket_training *t, acq_error *error)
{
    uint32_t n_relations = acq_graph_get_n_relations(t->graph);
    const acq_shape shapes[] = {
        {"entities", acq_graph_get_n_entities(t->graph), (uint32_t)get_width(t)},
        {"relations", acq_complex_get_vector(t->params->reciprocal, n_relations),
         2 * t->params->rank}};
    acq_status status = acq_parameters_init_on_disk(&t->vectors, shapes, 2, get_disk(t), error);
    if (status == ACQ_OK)
        status = acq_parameters_init_on_disk(&t->squares, shapes, 2, get_disk(t), error);
    return status == ACQ_OK ? draw_vectors(t, error) : status;
}

/* One bucket to or from its place in the pair's model; it is not needed on the disk meanwhile. */
static void copy_bucket(const bucket_training *t, const acq_parameters *disk, uint32_t bucket,
                        float *memory, bool to_disk)
{
    uint32_t begin = get_begin(t, bucket), n = count_entities(t, bucket);
    copy_vectors(t, disk, begin, memory, n, to_disk);
    acq_parameters_leave(disk, begin * get_width(t), n * get_width(t));
}

static void copy_block(const bucket_training *t, const acq_parameters *disk, float *values,
                       bool to_disk)
{
    const acq_parameters *own = &t->state.model->parameters;
    pair two = t->pairs[t->at];
    float *second = values + (size_t)count_entities(t, two.first) * 2 * t->params->rank;
    float *here = values + own->tensors[1].offset, *there = get_disk_relations(disk);
    copy_bucket(t, disk, two.first, values, to_disk);
    copy_bucket(t, disk, two.second, second, to_disk);
    memcpy(to_disk ? there : here, to_disk ? here : there,
           acq_tensor_get_length(&own->tensors[1]) * sizeof(float));
}

static void copy_pair(const bucket_training *t, bool to_disk)
{
    if (t->at == t->n_pairs)
        return;
    copy_block(t, &t->vectors, t->state.model->parameters.values, to_disk);
    copy_block(t, &t->squares, t->state.squares, to_disk);
}

static acq_status list_pair_facts(const bucket_training *t, size_t p, acq_rel relation,
                                  acq_link **out, size_t *n, acq_error *error)
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
    acq_status status = list_pair_facts(t, p, relation, &facts, &n, error);
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

/* The pair of a step, and the batch as the pair counts; every other epoch goes backwards. *n_past:
 * the steps before it that the pair took at this time. */
static size_t find_step(const bucket_training *t, uint64_t step, uint64_t *batch, uint64_t *n_past)
{
    uint64_t n = t->begins[t->n_pairs], epoch = step / n, place = step % n;
    bool is_backwards = epoch % 2 == 1;
    size_t p = 0;
    place = is_backwards ? n - 1 - place : place;
    while (t->begins[p + 1] <= place)
        p++;
    uint64_t n_own = t->begins[p + 1] - t->begins[p], within = place - t->begins[p];
    *n_past = is_backwards ? n_own - 1 - within : within;
    *batch = epoch * n_own + *n_past;
    return p;
}

/* After a checkpoint that has what the pair began with. */
static acq_status catch_up(bucket_training *t, uint64_t step, uint64_t batch, uint64_t n_past,
                           acq_error *error)
{
    acq_status status = ACQ_OK;
    double loss;
    for (uint64_t i = n_past; i > 0 && status == ACQ_OK; i--) {
        double share = t->n_steps == 0 ? 0 : (double)(step - i) / (double)t->n_steps;
        status = acq_complex_compute(&t->state, batch - i, &loss, error);
        if (status == ACQ_OK)
            acq_complex_finish(&t->state, acq_complex_get_rate(t->params, share));
    }
    return status;
}

static acq_status compute(void *self, uint64_t step, double *loss, acq_error *error)
{
    bucket_training *t = self;
    uint64_t batch, n_past;
    size_t p = find_step(t, step, &batch, &n_past);
    acq_status status = ACQ_OK;
    if (p != t->at || (t->params->half_buckets && n_past == 0)) {
        copy_pair(t, true);
        close_pair(t);
        status = open_pair(t, p, error);
        if (status == ACQ_OK && t->params->half_buckets)
            status = catch_up(t, step, batch, n_past, error);
    }
    t->step = step;
    return status == ACQ_OK ? acq_complex_compute(&t->state, batch, loss, error) : status;
}

static void update(void *self, double share, double *norm)
{
    bucket_training *t = self;
    *norm = acq_complex_finish(&t->state, acq_complex_get_rate(t->params, share));
}

static bool is_pair_done(const bucket_training *t)
{
    uint64_t batch, n_past;
    find_step(t, t->step + 1, &batch, &n_past);
    return n_past == 0;
}

/* A checkpoint has what is on the disk; one that was read replaces what is in memory. */
static acq_status shape(void *self, const acq_safetensors *file, acq_error *error)
{
    bucket_training *t = self;
    (void)error;
    if (file != NULL)
        close_pair(t);
    else if (!t->params->half_buckets || is_pair_done(t))
        copy_pair(t, true);
    return ACQ_OK;
}

static acq_status run(bucket_training *t, acq_error *error)
{
    static const acq_trainer_ops ops = {.compute = compute, .update = update, .shape = shape};
    const acq_train_complex_params *params = t->params;
    acq_trainer_origin from = {ACQ_TRAIN_COMPLEX, params, &t->graph, 1, NULL};
    t->n_steps = (uint64_t)ceil(params->epochs * (double)t->begins[t->n_pairs]);
    acq_trainer trainer = {.ops = &ops,
                           .self = t,
                           .phase = "training ComplEx",
                           .n_steps = t->n_steps,
                           .epochs = params->epochs,
                           .parameters = &t->vectors,
                           .is_large = true,
                           .parts = {{"squares", t->squares.values, true}},
                           .n_parts = 1,
                           ACQ_TRAINER_OF_PARAMS(params)};
    acq_status status = acq_trainer_run_from(&trainer, &from, error);
    copy_pair(t, true);
    close_pair(t);
    return status;
}

/* The vectors in the order of the entities, as floats, where the sums were. */
static acq_status finish(bucket_training *t, acq_complex **out, acq_error *error)
{
    acq_complex *model, sizes = get_sizes(t, acq_graph_get_n_entities(t->graph));
    acq_parameters_deinit(&t->squares);
    acq_status status = acq_complex_new_zero(&sizes, get_disk(t), &model, error);
    if (status != ACQ_OK)
        return status;
    for (acq_ent e = 0; e < model->n_entities; e++)
        copy_vectors(t, &t->vectors, get_begin(t, e % t->n) + e / t->n,
                     acq_complex_get_entity(model, e), 1, false);
    memcpy(acq_complex_get_relation(model, 0), get_disk_relations(&t->vectors),
           acq_tensor_get_length(&t->vectors.tensors[1]) * sizeof(float));
    *out = model;
    return ACQ_OK;
}

static void deinit(bucket_training *t)
{
    close_pair(t);
    acq_parameters_deinit(&t->vectors);
    acq_parameters_deinit(&t->squares);
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
        status = finish(&t, out, error);
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
