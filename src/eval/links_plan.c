/* links_plan.c - see links_plan.h. */
#include "eval/links_plan.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/random.h"

/* The tails of one row of the truth that are not observed. */
static acq_status add_row(acq_links_plan *plan, acq_rel relation, acq_ent head, acq_row truth,
                          acq_row observed)
{
    size_t at = 0;
    for (size_t i = 0; i < truth.n; i++) {
        acq_ent tail = truth.tails[i];
        while (at < observed.n && observed.tails[at] < tail)
            at++;
        if (at < observed.n && observed.tails[at] == tail)
            continue;
        acq_status status = ACQ_RESERVE(plan->links, plan->room, plan->n + 1);
        if (status != ACQ_OK)
            return status;
        plan->links[plan->n++] = (acq_triple){head, relation, tail};
    }
    return ACQ_OK;
}

static acq_status add_relation(acq_links_plan *plan, const acq_predictor *truth, acq_rel relation,
                               acq_error *error)
{
    const acq_links *wanted, *observed;
    acq_status status = acq_predictor_open_links(truth, relation, &wanted, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(truth->graph, relation, &observed, error);
    if (status != ACQ_OK)
        return status;
    for (uint32_t i = 0; i < wanted->n_heads; i++) {
        acq_ent head = wanted->heads[i];
        acq_row row = acq_links_get_row_at(wanted, i);
        if (add_row(plan, relation, head, row, acq_links_get_row(observed, head)) != ACQ_OK)
            return acq_fail_memory(error);
    }
    return ACQ_OK;
}

static uint64_t hash_link(const acq_triple *link)
{
    uint64_t hash = acq_random_mix(link->relation);
    return acq_random_mix(acq_random_mix(hash ^ link->head) ^ link->tail);
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Keeps the links with the `first` smallest hashes, in their order. Equal hashes at the end: those
 * that come first. */
acq_status acq_links_plan_draw(acq_links_plan *plan, size_t first, acq_error *error)
{
    uint64_t *hashes = acq_alloc(plan->n, sizeof *hashes);
    if (hashes == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < plan->n; i++)
        hashes[i] = hash_link(&plan->links[i]);
    qsort(hashes, plan->n, sizeof *hashes, compare_hashes);
    uint64_t last = hashes[first - 1];
    size_t n = 0;
    for (size_t i = 0; i < plan->n && n < first; i++) {
        if (hash_link(&plan->links[i]) <= last)
            plan->links[n++] = plan->links[i];
    }
    plan->n = n;
    acq_free(hashes);
    return ACQ_OK;
}

static acq_status cut(acq_links_plan *plan, size_t most_rows, acq_error *error)
{
    plan->items = acq_alloc(plan->n + 1, sizeof *plan->items);
    if (plan->items == NULL)
        return acq_fail_memory(error);
    size_t n_rows = 0;
    for (size_t i = 0; i < plan->n; i++) {
        const acq_triple *link = &plan->links[i], *before = i == 0 ? NULL : link - 1;
        bool is_new = before == NULL || before->relation != link->relation;
        if (!is_new && before->head == link->head)
            continue;
        if (is_new || n_rows == most_rows) {
            plan->items[plan->n_items++] = i;
            n_rows = 0;
        }
        n_rows++;
    }
    plan->items[plan->n_items] = plan->n;
    return ACQ_OK;
}

acq_status acq_links_plan_init(acq_links_plan *plan, const acq_predictor *truth, uint64_t first,
                               size_t most_rows, acq_error *error)
{
    *plan = (acq_links_plan){0};
    acq_status status = ACQ_OK;
    acq_rel n_relations = acq_graph_get_n_relations(truth->graph);
    for (acq_rel i = 0; i < n_relations && status == ACQ_OK; i++)
        status = add_relation(plan, truth, i, error);
    if (status == ACQ_OK && first > 0 && first < plan->n)
        status = acq_links_plan_draw(plan, (size_t)first, error);
    return status == ACQ_OK ? cut(plan, most_rows, error) : status;
}

void acq_links_plan_deinit(acq_links_plan *plan)
{
    acq_free(plan->links);
    acq_free(plan->items);
    *plan = (acq_links_plan){0};
}
