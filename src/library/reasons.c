/* reasons.c - why a predicted link has its probability (calibrate/reasons.h), for programs. */
#include "calibrate/reasons.h"

#include "base/memory.h"
#include "library/parts.h"

struct acq_reasons {
    acq_arena arena; /* owns the reasons */
    acq_reason *items;
    size_t n;
    const char *note;
};

static acq_status check_link(const acq_graph *graph, acq_ent head, acq_rel relation, acq_ent tail,
                             acq_error *error)
{
    uint32_t n_entities = acq_graph_get_n_entities(graph);
    if (head < n_entities && tail < n_entities && relation < acq_graph_get_n_relations(graph))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "acq_reasons_find: the graph has no link of the ids %u, %u, %u", head, relation,
                    tail);
}

acq_status acq_reasons_find(const acq_predictor *predictor, acq_ent head, acq_rel relation,
                            acq_ent tail, acq_reasons **out, acq_error *error)
{
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(out, error);
    acq_status status = check_link(predictor->graph, head, relation, tail, error);
    if (status != ACQ_OK)
        return status;
    acq_reasons *reasons = acq_zalloc(1, sizeof *reasons);
    if (reasons == NULL)
        return acq_fail_memory(error);
    acq_arena_init(&reasons->arena);
    if (acq_graph_has_fact(predictor->graph, head, relation, tail))
        reasons->note = "the link is observed";
    else
        status = acq_reasons_make(predictor, head, relation, tail, &reasons->arena, &reasons->items,
                                  &reasons->n, &reasons->note, error);
    if (status == ACQ_OK)
        *out = reasons;
    else
        acq_reasons_free(reasons);
    return status;
}

size_t acq_reasons_get_n(const acq_reasons *reasons)
{
    return reasons == NULL ? 0 : reasons->n;
}

const acq_reason *acq_reasons_get(const acq_reasons *reasons, size_t i)
{
    return reasons != NULL && i < reasons->n ? &reasons->items[i] : NULL;
}

const char *acq_reasons_get_note(const acq_reasons *reasons)
{
    return reasons == NULL || reasons->note == NULL ? "" : reasons->note;
}

void acq_reasons_free(acq_reasons *reasons)
{
    if (reasons == NULL)
        return;
    acq_arena_deinit(&reasons->arena);
    acq_free(reasons);
}
