/* predict.c - predictors: opened by their spec, what they say of themselves, the links of entities,
 * and completions. */
#include "library/parts.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "calibrate/calibrator.h"
#include "calibrate/learn.h"
#include "calibrate/worlds.h"
#include "engine/open.h"
#include "predict/completion.h"

static acq_predictor_params get_defaults(void)
{
    return (acq_predictor_params){
        .direction = "both", .scaling = "fit", .rows = "both", .tails = "all"};
}

void acq_predictor_params_init_sized(acq_predictor_params *params, size_t size)
{
    acq_predictor_params own = get_defaults();
    acq_sized_init(params, size, &own, sizeof own);
}

acq_status acq_library_choose(const char *field, const char *word, const char *first,
                              const char *second, bool *out, acq_error *error)
{
    *out = word != NULL && strcmp(word, second) == 0;
    return *out || word == NULL || strcmp(word, first) == 0
               ? ACQ_OK
               : acq_fail(error, ACQ_ERR_USAGE, "no %s \"%.100s\"; use %s or %s", field, word,
                          first, second);
}

static acq_status make_open_params(const acq_predictor_params *params, acq_open_params *out,
                                   acq_error *error)
{
    bool is_forward, is_qto, is_smaller, is_seen;
    acq_status status =
        acq_library_choose("direction", params->direction, "both", "forward", &is_forward, error);
    if (status == ACQ_OK)
        status = acq_library_choose("scaling", params->scaling, "fit", "qto", &is_qto, error);
    if (status == ACQ_OK)
        status = acq_library_choose("rows", params->rows, "both", "smaller", &is_smaller, error);
    if (status == ACQ_OK)
        status = acq_library_choose("tails", params->tails, "all", "seen", &is_seen, error);
    if (status == ACQ_OK && !(params->floor >= 0 && params->floor <= 1))
        status = acq_fail(error, ACQ_ERR_USAGE, "floor %g is not between 0 and 1", params->floor);
    if (status == ACQ_OK && !(params->visit >= 0 && params->visit <= 1))
        status = acq_fail(error, ACQ_ERR_USAGE, "visit %g is not between 0 and 1", params->visit);
    if (status != ACQ_OK)
        return status;
    *out = (acq_open_params){.graph_path = params->graph_path,
                             .learnt_earlier = params->learnt_earlier,
                             .direction = is_forward ? ACQ_DIRECTION_FORWARD : ACQ_DIRECTION_BOTH,
                             .is_qto = is_qto,
                             .rows = is_smaller ? ACQ_ROWS_SMALLER : ACQ_ROWS_BOTH,
                             .tails = is_seen ? ACQ_TAILS_SEEN : ACQ_TAILS_ALL,
                             .floor = params->floor,
                             .visit = params->visit,
                             .memory_bytes = (size_t)params->memory_bytes,
                             .n_threads =
                                 params->threads > 0 ? params->threads : acq_threads_available()};
    return ACQ_OK;
}

/* New facts win over a completion that was made before them. */
static bool is_outdated(const acq_predictor *predictor)
{
    static const char prefix[] = "completion:";
    acq_completion_info info;
    return strncmp(predictor->name, prefix, sizeof prefix - 1) == 0 &&
           acq_completion_read_info(predictor->name + sizeof prefix - 1, &info, NULL) == ACQ_OK &&
           info.graph_fingerprint != acq_graph_get_fingerprint(predictor->graph);
}

static void fill_report(const acq_predictor *predictor, const acq_perfect_report *perfect,
                        acq_predictor_report *out)
{
    acq_predictor_report own = {.unknown_entities = perfect->unknown_entities,
                                .dropped_facts = perfect->dropped_facts,
                                .denied_facts = perfect->denied_facts};
    if (out == NULL)
        return;
    own.is_outdated = is_outdated(predictor);
    acq_sized_fill(out, &own, sizeof own);
}

acq_status acq_predictor_new(const acq_graph *graph, const char *spec,
                             const acq_predictor_params *given, acq_predictor **out,
                             acq_error *error)
{
    ACQ_REQUIRE(graph, error);
    ACQ_REQUIRE(spec, error);
    ACQ_REQUIRE(out, error);
    acq_predictor_params params = get_defaults();
    acq_open_params open;
    acq_read_params read;
    acq_read_report *unused;
    acq_perfect_report perfect;
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    if (status == ACQ_OK)
        status = make_open_params(&params, &open, error);
    if (status == ACQ_OK)
        status = acq_library_read_params(__func__, params.read, &read, &unused, error);
    if (status != ACQ_OK)
        return status;
    open.read = &read;
    status = acq_predictor_open_with(graph, spec, &open, out, &perfect, error);
    if (status == ACQ_OK)
        fill_report(*out, &perfect, params.report);
    return status;
}

acq_status acq_predictor_new_of_facts(const acq_graph *graph, const acq_graph *complete,
                                      const char *name, acq_predictor **out,
                                      acq_predictor_report *report, acq_error *error)
{
    ACQ_REQUIRE(graph, error);
    ACQ_REQUIRE(complete, error);
    ACQ_REQUIRE(name, error);
    ACQ_REQUIRE(out, error);
    acq_perfect_report perfect;
    acq_status status = acq_predictor_new_perfect(graph, complete, name, out, &perfect, error);
    if (status == ACQ_OK)
        fill_report(*out, &perfect, report);
    return status;
}

const char *acq_predictor_get_name(const acq_predictor *predictor)
{
    return predictor == NULL ? "" : predictor->name;
}

bool acq_predictor_is_calibrated(const acq_predictor *predictor)
{
    return predictor != NULL && acq_predictor_get_calibrator(predictor) != NULL;
}

bool acq_predictor_get_quality(const acq_predictor *predictor, acq_rel relation,
                               acq_relation_quality *out)
{
    const acq_link_quality *known =
        predictor == NULL
            ? NULL
            : acq_calibrator_get_quality(acq_predictor_get_calibrator(predictor), relation);
    if (known == NULL || out == NULL)
        return false;
    acq_relation_quality own = {.held = known->held, .said = known->said, .right = known->right};
    acq_sized_fill(out, &own, sizeof own);
    return true;
}

bool acq_predictor_get_reliability(const acq_predictor *predictor, acq_reliability *out)
{
    const acq_calibrator *calibrator =
        predictor == NULL ? NULL : acq_predictor_get_calibrator(predictor);
    if (calibrator == NULL || out == NULL || !(calibrator->reliability.weight > 0))
        return false;
    *out = calibrator->reliability;
    return true;
}

/* ---- links ---- */

struct acq_predictions {
    acq_prediction *items;
    size_t n;
};

static int compare_predictions(const void *left, const void *right, void *context)
{
    const acq_prediction *a = left, *b = right;
    if (a->score != b->score)
        return a->score < b->score ? 1 : -1;
    if (a->is_observed != b->is_observed)
        return a->is_observed ? -1 : 1;
    int order = strcmp(acq_graph_get_entity_name(context, a->entity),
                       acq_graph_get_entity_name(context, b->entity));
    return order != 0 ? order : (a->entity > b->entity) - (a->entity < b->entity);
}

/* Observed tails are marked by one walk along both, which are sorted. */
static void mark_observed(acq_row facts, acq_predictions *row)
{
    size_t f = 0;
    for (size_t i = 0; i < row->n; i++) {
        while (f < facts.n && facts.tails[f] < row->items[i].entity)
            f++;
        row->items[i].is_observed = f < facts.n && facts.tails[f] == row->items[i].entity;
    }
}

static acq_status make_predictions(const acq_predictor *predictor, acq_ent entity, acq_rel relation,
                                   const acq_scored_row *row, acq_predictions **out,
                                   acq_error *error)
{
    const acq_links *observed = NULL;
    acq_status status = acq_graph_open_links(predictor->graph, relation, &observed, error);
    if (status != ACQ_OK)
        return status;
    acq_predictions *made = acq_zalloc(1, sizeof *made);
    acq_prediction *items = acq_zalloc(row->n, sizeof *items);
    if (made == NULL || items == NULL) {
        acq_free(made);
        acq_free(items);
        return acq_fail_memory(error);
    }
    *made = (acq_predictions){.items = items, .n = row->n};
    for (size_t i = 0; i < row->n; i++) {
        double score = (double)row->scores[i];
        items[i] = (acq_prediction){.entity = row->tails[i], .score = score};
        if (acq_predictor_is_calibrated(predictor))
            items[i].score = acq_worlds_get_link_p(score);
    }
    mark_observed(acq_links_get_row(observed, entity), made);
    qsort_r(items, made->n, sizeof *items, compare_predictions, (void *)predictor->graph);
    *out = made;
    return ACQ_OK;
}

/* Models make all rows together, which wants them sorted and each once; others have them. */
static acq_status copy_rows(const acq_predictor *predictor, const acq_row_want *want,
                            acq_scored_row *rows, acq_error *error)
{
    bool is_rising = true;
    for (size_t i = 1; i < want->n; i++)
        is_rising = is_rising && want->heads[i - 1] < want->heads[i];
    if (acq_predictor_makes_rows(predictor) && is_rising)
        return predictor->ops->copy_rows(predictor, want, rows, error);
    /* All links of a relation are made at once, after what must be learnt, which can be stopped. */
    acq_status status =
        predictor->ops->load == NULL ? ACQ_OK : predictor->ops->load(predictor, want->stop, error);
    for (size_t i = 0; i < want->n && status == ACQ_OK; i++)
        status = acq_predictor_copy_row(predictor, want->relation, want->heads[i], &rows[i], error);
    return status;
}

static acq_status check_ids(const char *function, const acq_graph *graph, const acq_ent *entities,
                            size_t n, acq_rel relation, acq_error *error)
{
    uint32_t n_entities = acq_graph_get_n_entities(graph);
    uint32_t n_relations = acq_graph_get_n_relations(graph);
    if (relation >= n_relations)
        return acq_fail(error, ACQ_ERR_USAGE, "%s: relation %u is not below %u", function, relation,
                        n_relations);
    for (size_t i = 0; i < n; i++) {
        if (entities[i] >= n_entities)
            return acq_fail(error, ACQ_ERR_USAGE, "%s: entity %u is not below %u", function,
                            entities[i], n_entities);
    }
    return ACQ_OK;
}

static acq_status predict_rows(const acq_predictor *predictor, const acq_row_want *want,
                               acq_predictions **out, acq_error *error)
{
    size_t n = want->n;
    acq_scored_row *rows = acq_zalloc(n, sizeof *rows);
    acq_predictions **made = acq_zalloc(n, sizeof(acq_predictions *));
    bool has_room = rows != NULL && made != NULL;
    acq_status status = has_room ? copy_rows(predictor, want, rows, error) : acq_fail_memory(error);
    for (size_t i = 0; i < n && status == ACQ_OK; i++)
        status =
            make_predictions(predictor, want->heads[i], want->relation, &rows[i], &made[i], error);
    for (size_t i = 0; i < n && has_room; i++) {
        acq_scored_row_deinit(&rows[i]);
        if (status == ACQ_OK)
            out[i] = made[i];
        else
            acq_predictions_free(made[i]);
    }
    acq_free(rows);
    acq_free(made);
    return status;
}

acq_status acq_predict_rows(const acq_predictor *predictor, const acq_ent *entities, size_t n,
                            acq_rel relation, acq_predictions **out, acq_error *error)
{
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(entities, error);
    ACQ_REQUIRE(out, error);
    acq_status status = check_ids(__func__, predictor->graph, entities, n, relation, error);
    acq_row_want want = {.relation = relation, .heads = entities, .n = n};
    return status == ACQ_OK ? predict_rows(predictor, &want, out, error) : status;
}

acq_status acq_predict(const acq_predictor *predictor, acq_ent entity, acq_rel relation,
                       acq_predictions **out, acq_error *error)
{
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(out, error);
    acq_status status = check_ids(__func__, predictor->graph, &entity, 1, relation, error);
    acq_row_want want = {.relation = relation, .heads = &entity, .n = 1};
    return status == ACQ_OK ? predict_rows(predictor, &want, out, error) : status;
}

/* Asked from every thread that works; progress only from the caller's. */
typedef struct predict_watch {
    const acq_predict_params *params;
    pthread_t owner;
    int64_t deadline_ns;
    atomic_bool is_over;
} predict_watch;

static bool is_over(void *context)
{
    predict_watch *w = context;
    acq_progress now = {.phase = "predicting", .total = 1};
    bool is_mine = w->params->progress != NULL && pthread_equal(pthread_self(), w->owner);
    if (acq_clock_ns() >= w->deadline_ns ||
        (is_mine && !w->params->progress(w->params->context, &now)))
        atomic_store(&w->is_over, true);
    return atomic_load(&w->is_over);
}

void acq_predict_params_init_sized(acq_predict_params *params, size_t size)
{
    acq_predict_params own = {0};
    acq_sized_init(params, size, &own, sizeof own);
}

acq_status acq_predict_within(const acq_predictor *predictor, acq_ent entity, acq_rel relation,
                              const acq_predict_params *given, acq_predictions **out,
                              acq_error *error)
{
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(out, error);
    acq_predict_params params = {0};
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    if (status == ACQ_OK)
        status = check_ids(__func__, predictor->graph, &entity, 1, relation, error);
    if (status != ACQ_OK)
        return status;
    predict_watch w = {.params = &params,
                       .owner = pthread_self(),
                       .deadline_ns = acq_clock_get_deadline(params.seconds)};
    atomic_init(&w.is_over, false);
    acq_row_want want = {.relation = relation, .heads = &entity, .n = 1, .stop = {is_over, &w}};
    return predict_rows(predictor, &want, out, error);
}

size_t acq_predictions_get_n(const acq_predictions *predictions)
{
    return predictions == NULL ? 0 : predictions->n;
}

const acq_prediction *acq_predictions_get(const acq_predictions *predictions, size_t i)
{
    return predictions != NULL && i < predictions->n ? &predictions->items[i] : NULL;
}

void acq_predictions_free(acq_predictions *predictions)
{
    if (predictions == NULL)
        return;
    acq_free(predictions->items);
    acq_free(predictions);
}

/* ---- completions ---- */

void acq_complete_params_init_sized(acq_complete_params *params, size_t size)
{
    acq_complete_params own = {0};
    acq_sized_init(params, size, &own, sizeof own);
}

typedef struct watcher {
    acq_progress_fn progress;
    void *context;
} watcher;

static bool show_relations(void *context, uint64_t done, uint64_t of)
{
    const watcher *who = context;
    acq_progress now = {.phase = "relations", .done = done, .total = of};
    return who->progress == NULL || who->progress(who->context, &now);
}

acq_status acq_complete(const acq_predictor *predictor, const char *path,
                        const acq_complete_params *given, acq_error *error)
{
    ACQ_REQUIRE(predictor, error);
    ACQ_REQUIRE(path, error);
    acq_complete_params params = {0};
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    if (status != ACQ_OK)
        return status;
    if (!(params.floor >= 0 && params.floor <= 1))
        return acq_fail(error, ACQ_ERR_USAGE, "floor %g is not between 0 and 1", params.floor);
    if (params.of_parts == 0 ? params.part != 0 : params.part == 0 || params.part > params.of_parts)
        return acq_fail(error, ACQ_ERR_USAGE, "there is no part %u of %u; parts count from 1",
                        params.part, params.of_parts);
    watcher who = {params.progress, params.context};
    acq_completion_write_params write = {
        .floor = fmax(params.floor, acq_predictor_get_floor(predictor)),
        .shard = {.part = params.of_parts == 0 ? 0 : params.part - 1, .of = params.of_parts},
        .progress = show_relations,
        .context = &who};
    return acq_completion_write(path, predictor, &write, error);
}

acq_status acq_merge(const char *const *parts, size_t n, const char *path, acq_progress_fn progress,
                     void *context, acq_error *error)
{
    watcher who = {progress, context};
    ACQ_REQUIRE(parts, error);
    ACQ_REQUIRE(path, error);
    for (size_t i = 0; i < n; i++)
        ACQ_REQUIRE(parts[i], error);
    return acq_completion_merge_files(parts, n, path, show_relations, &who, error);
}

acq_status acq_completion_find_path(const char *graph_path, char *out, size_t size,
                                    acq_error *error)
{
    ACQ_REQUIRE(graph_path, error);
    ACQ_REQUIRE(out, error);
    acq_text path;
    acq_text_init(&path);
    acq_open_name_completion(graph_path, &path);
    acq_status status = acq_text_finish(&path, error);
    if (status == ACQ_OK && path.length >= size)
        status = acq_fail(error, ACQ_ERR_LIMIT, "the path of the completion needs %zu bytes",
                          path.length + 1);
    if (status == ACQ_OK)
        memcpy(out, path.bytes, path.length + 1);
    acq_text_deinit(&path);
    return status;
}

acq_status acq_completion_read_report(const char *path, acq_completion_report *report,
                                      acq_error *error)
{
    ACQ_REQUIRE(path, error);
    ACQ_REQUIRE(report, error);
    acq_completion_info info;
    acq_status status = acq_completion_read_info(path, &info, error);
    if (status != ACQ_OK)
        return status;
    acq_completion_report own = {.n_entities = info.n_entities,
                                 .n_relations = info.n_relations,
                                 .n_links = info.n_links,
                                 .floor = info.floor,
                                 .is_calibrated = info.has_calibrator,
                                 .part = info.shard.of > 1 ? info.shard.part + 1 : 0,
                                 .of_parts = info.shard.of > 1 ? info.shard.of : 0};
    acq_sized_fill(report, &own, sizeof own);
    return ACQ_OK;
}
