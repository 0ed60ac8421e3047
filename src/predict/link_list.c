/* link_list.c - see link_list.h. */
#include "predict/link_list.h"

#include "base/memory.h"

void acq_link_list_deinit(acq_link_list *list)
{
    acq_free(list->links);
    *list = (acq_link_list){0};
}

acq_status acq_link_list_add(acq_link_list *list, acq_ent head, acq_ent tail, float score)
{
    acq_status status = ACQ_RESERVE(list->links, list->capacity, list->n + 1);
    if (status == ACQ_OK)
        list->links[list->n++] = (acq_link){.head = head, .tail = tail, .score = score};
    return status;
}

acq_status acq_link_list_add_row(acq_link_list *list, acq_ent head, acq_row row)
{
    acq_status status = ACQ_RESERVE(list->links, list->capacity, list->n + row.n);
    for (size_t i = 0; i < row.n && status == ACQ_OK; i++)
        list->links[list->n++] = (acq_link){
            .head = head, .tail = row.tails[i], .score = row.scores == NULL ? 1.0F : row.scores[i]};
    return status;
}

acq_status acq_link_list_add_all(acq_link_list *list, const acq_links *links)
{
    acq_status status = ACQ_RESERVE(list->links, list->capacity, list->n + links->n_links);
    for (uint32_t i = 0; i < links->n_heads && status == ACQ_OK; i++)
        status = acq_link_list_add_row(list, links->heads[i], acq_links_get_row_at(links, i));
    return status;
}

void acq_link_list_turn(acq_link_list *list, size_t from)
{
    for (size_t i = from; i < list->n; i++) {
        acq_link link = list->links[i];
        list->links[i] = (acq_link){.head = link.tail, .tail = link.head, .score = link.score};
    }
}

acq_status acq_link_list_make_both(acq_link_list *list, uint32_t n_entities, acq_links **on,
                                   acq_links **back, acq_error *error)
{
    acq_links *forward = NULL, *turned = NULL;
    acq_status status = acq_links_new(list->links, list->n, n_entities, true, &forward);
    acq_link_list_turn(list, 0);
    if (status == ACQ_OK)
        status = acq_links_new(list->links, list->n, n_entities, true, &turned);
    if (status == ACQ_OK) {
        *on = forward;
        *back = turned;
        return ACQ_OK;
    }
    acq_links_free(forward);
    return status == ACQ_ERR_MEMORY
               ? acq_fail_memory(error)
               : acq_fail(error, status, "a relation has too many predicted links");
}
