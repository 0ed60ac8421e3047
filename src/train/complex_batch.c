/* complex_batch.c - what one step of a ComplEx training works on; see batch.h.
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

#include "base/hash.h"
#include "base/memory.h"

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
