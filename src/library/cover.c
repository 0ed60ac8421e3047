/* cover.c - a set of entities that contains the true answer with a stated probability
 * (calibrate/cover.h), for questions of one atom. */
#include "calibrate/cover.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "calibrate/reasons.h"
#include "calibrate/worlds.h"
#include "library/parts.h"

struct acq_covering {
    acq_covered *items;
    size_t n;
    acq_cover_report report;
};

void acq_cover_params_init_sized(acq_cover_params *params, size_t size)
{
    acq_cover_params own = {.level = .9};
    acq_sized_init(params, size, &own, sizeof own);
}

/* relation(known, ?) */
typedef struct place {
    acq_ent known;
    acq_rel relation;
} place;

static acq_status read_place(const acq_query *query, place *out, acq_error *error)
{
    const acq_node *atom = query->root;
    while (atom->kind == ACQ_NODE_AND && atom->n_children == 1)
        atom = atom->children[0];
    bool is_known = atom->kind == ACQ_NODE_ATOM && query->n_free == 1 && query->n_variables == 1 &&
                    atom->left.is_variable != atom->right.is_variable;
    if (!is_known)
        return acq_fail(
            error, ACQ_ERR_USAGE,
            "--cover is for one atom with one entity and one free variable, like "
            "Q(x) := relation(\"entity\", x)");
    acq_rel relation = query->relations[atom->relation].id;
    acq_term constant = atom->left.is_variable ? atom->right : atom->left;
    *out = (place){.known = query->constants[constant.id].id,
                   .relation = atom->left.is_variable ? acq_inverse(relation) : relation};
    return ACQ_OK;
}

static int compare(const void *a, const void *b)
{
    const acq_covered *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? -1 : 1;
    return (x->entity > y->entity) - (x->entity < y->entity);
}

/* Every entity that is not observed there and scores at most the bound. */
static acq_status gather(const acq_predictor *predictor, place at, double bound, acq_covering *out,
                         acq_error *error)
{
    const acq_graph *graph = predictor->graph;
    uint32_t n = acq_graph_get_n_entities(graph);
    acq_cover_scorer *scorer = NULL;
    out->items = acq_alloc(n, sizeof *out->items);
    acq_status status = out->items == NULL ? acq_fail_memory(error)
                                           : acq_cover_scorer_new(predictor, &scorer, error);
    if (status == ACQ_OK)
        status = acq_cover_scorer_choose(scorer, at.relation, error);
    for (acq_ent e = 0; e < n && status == ACQ_OK; e++) {
        double score = acq_cover_scorer_score(scorer, at.known, e);
        if (score > bound)
            continue;
        if (acq_graph_has_fact(graph, at.known, at.relation, e))
            out->report.observed++;
        else
            out->items[out->n++] =
                (acq_covered){e, score < 1 ? acq_worlds_get_link_p(1 - score) : 0, score};
    }
    acq_cover_scorer_free(scorer);
    if (status == ACQ_OK)
        qsort(out->items, out->n, sizeof *out->items, compare);
    return status;
}

static acq_status open_cover(const acq_predictor *predictor, const acq_cover **out,
                             acq_error *error)
{
    acq_reason_source *source = predictor->reasons;
    acq_status status = ACQ_OK;
    *out = NULL;
    if (source != NULL && source->ops->open_cover != NULL)
        status = source->ops->open_cover(source, out, error);
    if (status == ACQ_OK && *out == NULL)
        status = acq_fail(error, ACQ_ERR_USAGE,
                          "a set that covers needs a completion that knows how its held-out links "
                          "scored; make one with anycq fit");
    return status;
}

static acq_status fill(const acq_query *query, const acq_predictor *predictor, double level,
                       acq_covering *out, acq_error *error)
{
    const acq_cover *cover;
    const acq_cover_list *list;
    place at;
    acq_status status = read_place(query, &at, error);
    if (status == ACQ_OK)
        status = open_cover(predictor, &cover, error);
    if (status != ACQ_OK)
        return status;
    double bound = acq_cover_get_bound(cover, at.relation, level, &list);
    out->report = (acq_cover_report){.level = level,
                                     .held = list->n,
                                     .is_pooled = list >= cover->lists + cover->n_relations,
                                     .entities = acq_graph_get_n_entities(predictor->graph)};
    if (isinf(bound))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "%u links were held out, too few to promise a probability of %g; lower it, "
                        "or fit with a larger share held out",
                        list->n, level);
    return gather(predictor, at, bound, out, error);
}

acq_status acq_cover_find(const acq_query *query, const acq_predictor *predictor,
                          const acq_cover_params *given, acq_covering **out, acq_error *error)
{
    ACQ_REQUIRE(query, error);
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(out, error);
    acq_cover_params params = {.level = .9};
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    if (status == ACQ_OK)
        status = acq_library_check_graph(__func__, query, predictor, error);
    if (status == ACQ_OK && !(params.level > 0 && params.level < 1))
        status = acq_fail(error, ACQ_ERR_USAGE, "level %g is not between 0 and 1", params.level);
    if (status != ACQ_OK)
        return status;
    acq_covering *covering = acq_zalloc(1, sizeof *covering);
    if (covering == NULL)
        return acq_fail_memory(error);
    status = fill(query, predictor, params.level, covering, error);
    if (status == ACQ_OK)
        *out = covering;
    else
        acq_covering_free(covering);
    return status;
}

size_t acq_covering_get_n(const acq_covering *covering)
{
    return covering == NULL ? 0 : covering->n;
}

const acq_covered *acq_covering_get(const acq_covering *covering, size_t i)
{
    return covering != NULL && i < covering->n ? &covering->items[i] : NULL;
}

void acq_covering_get_report(const acq_covering *covering, acq_cover_report *out)
{
    acq_cover_report own = {0};
    if (covering != NULL)
        own = covering->report;
    acq_sized_fill(out, &own, sizeof own);
}

void acq_covering_free(acq_covering *covering)
{
    if (covering == NULL)
        return;
    acq_free(covering->items);
    acq_free(covering);
}
