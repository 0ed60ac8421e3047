/* service.c - see service.h: the graphs that are served, errors, and what arguments mean. */
#include "server/service.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

json_t *acq_service_text(const char *text)
{
    json_t *made = json_string(text);
    return made != NULL ? made : json_string("(not UTF-8)");
}

/* ---- graphs ---- */

static void leave_graph(acq_served_graph *g)
{
    if (g == NULL || atomic_fetch_sub(&g->users, 1) > 1)
        return;
    acq_predictor_free(g->predictor);
    acq_predictor_free(g->observed);
    acq_graph_free(g->graph);
    acq_free(g->name);
    acq_free(g);
}

static char *make_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = acq_copy_string(slash == NULL ? path : slash + 1);
    char *dot = name == NULL ? NULL : strchr(name + (name[0] == '.'), '.');
    if (dot != NULL)
        *dot = '\0';
    return name;
}

static bool go_on(void *context, const acq_progress *now)
{
    (void)now;
    return context == NULL || !((acq_served *)context)->must_end;
}

/* What learns when it is first asked learns now, and not in somebody's request. An error comes
 * again when somebody asks. */
static void warm(const acq_served_graph *g, acq_served *served)
{
    acq_predict_params params;
    acq_predictions *links = NULL;
    acq_predict_params_init(&params);
    params.progress = go_on;
    params.context = served;
    if (acq_graph_get_n_entities(g->graph) > 0 && acq_graph_get_n_relations(g->graph) > 0)
        (void)acq_predict_within(g->predictor, 0, 0, &params, &links, NULL);
    acq_predictions_free(links);
}

/* Has so much changed that it is time to learn anew? */
static bool is_outdated(const acq_served_graph *g)
{
    enum { FEW = 20, SHARE = 100 };
    int64_t most = (int64_t)(acq_graph_get_n_facts(g->graph) / SHARE);
    return !g->is_observed && g->n_changed > (most > FEW ? most : FEW);
}

/* old: the same graph before n_changed facts of it were changed; NULL: nothing is known. */
static acq_status open_graph(const acq_service_params *params, const char *path,
                             const acq_served_graph *old, int64_t n_changed, acq_served_graph **out,
                             acq_error *error)
{
    acq_graph_params read;
    acq_predictor_params predict;
    acq_served_graph *g = acq_zalloc(1, sizeof *g);
    if (g == NULL)
        return acq_fail_memory(error);
    acq_graph_params_init(&read);
    acq_predictor_params_init(&predict);
    read.literals = true;
    read.named_graphs = true;
    predict.graph_path = path;
    predict.learnt_earlier = old != NULL;
    g->n_changed = old == NULL ? 0 : old->n_changed + n_changed;
    g->path = path;
    g->users = 1;
    g->name = make_name(path);
    acq_status status = g->name == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK)
        status = acq_graph_open(path, &read, &g->graph, error);
    if (status == ACQ_OK)
        status = acq_predictor_new(g->graph, params->predictor, &predict, &g->predictor, error);
    g->is_observed =
        status == ACQ_OK && strcmp(acq_predictor_get_name(g->predictor), "observed") == 0;
    if (status == ACQ_OK)
        status = acq_predictor_new(g->graph, "observed", NULL, &g->observed, error);
    if (status == ACQ_OK)
        *out = g;
    else
        leave_graph(g);
    return status;
}

static acq_status check_name(const acq_service *service, size_t i, acq_error *error)
{
    for (size_t j = 0; j < i; j++) {
        if (strcmp(service->graphs[j]->name, service->graphs[i]->name) == 0)
            return acq_fail(error, ACQ_ERR_USAGE,
                            "two graphs are called \"%.100s\"; rename one of the files",
                            service->graphs[j]->name);
    }
    return ACQ_OK;
}

/* Opens all graphs, or only that of this name and takes the others from `old`. One user. */
static acq_status open_service(const acq_service_params *params, const acq_service *old,
                               const char *name, int64_t n_changed, acq_service **out,
                               acq_error *error)
{
    acq_service *service = acq_zalloc(1, sizeof *service);
    if (service == NULL)
        return acq_fail_memory(error);
    service->params = *params;
    service->users = 1;
    service->graphs = acq_zalloc(params->n_paths, sizeof(acq_served_graph *));
    acq_status status = service->graphs == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (size_t i = 0; status == ACQ_OK && i < params->n_paths; i++) {
        if (old != NULL && name != NULL && strcmp(old->graphs[i]->name, name) != 0) {
            service->graphs[i] = old->graphs[i];
            atomic_fetch_add(&service->graphs[i]->users, 1);
        } else {
            status = open_graph(params, params->paths[i],
                                old == NULL || name == NULL ? NULL : old->graphs[i], n_changed,
                                &service->graphs[i], error);
            if (status == ACQ_OK && params->warms && name == NULL)
                warm(service->graphs[i], NULL);
        }
        service->n += status == ACQ_OK;
        if (status == ACQ_OK)
            status = check_name(service, i, error);
    }
    if (status == ACQ_OK)
        *out = service;
    else
        acq_service_leave(service);
    return status;
}

void acq_service_leave(acq_service *service)
{
    if (service == NULL || atomic_fetch_sub(&service->users, 1) > 1)
        return;
    for (size_t i = 0; i < service->n; i++)
        leave_graph(service->graphs[i]);
    acq_free(service->graphs);
    acq_free(service);
}

const acq_served_graph *acq_service_find(const acq_service *service, const char *name)
{
    if (name == NULL || name[0] == '\0')
        return service->graphs[0];
    for (size_t i = 0; i < service->n; i++) {
        if (strcmp(service->graphs[i]->name, name) == 0)
            return service->graphs[i];
    }
    return NULL;
}

acq_status acq_served_init(acq_served *served, const acq_service_params *params, acq_error *error)
{
    *served = (acq_served){.now = NULL};
    pthread_mutex_init(&served->lock, NULL);
    return open_service(params, NULL, NULL, 0, &served->now, error);
}

void acq_served_deinit(acq_served *served)
{
    served->must_end = true;
    if (served->has_learner)
        pthread_join(served->learner, NULL);
    acq_service_leave(served->now);
    pthread_mutex_destroy(&served->lock);
}

acq_service *acq_served_join(acq_served *served)
{
    pthread_mutex_lock(&served->lock);
    acq_service *service = served->now;
    atomic_fetch_add(&service->users, 1);
    pthread_mutex_unlock(&served->lock);
    return service;
}

/* ---- reload ---- */

/* Two reloads at the same time: the later one to take the place tries again, so that nothing of
 * the other is lost. n_changed is negative after learning. */
static acq_status replace(acq_served *served, const char *name, int64_t n_changed, acq_error *error)
{
    for (bool is_done = false; !is_done;) {
        acq_service *fresh = NULL, *old = acq_served_join(served);
        acq_status status = open_service(&old->params, old, name, n_changed, &fresh, error);
        pthread_mutex_lock(&served->lock);
        is_done = status != ACQ_OK || served->now == old;
        if (is_done && status == ACQ_OK)
            served->now = fresh;
        pthread_mutex_unlock(&served->lock);
        if (is_done && status == ACQ_OK)
            acq_service_leave(old); /* the place's own use */
        else
            acq_service_leave(fresh);
        acq_service_leave(old);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

static const acq_served_graph *find_outdated(const acq_service *service)
{
    for (size_t i = 0; i < service->n; i++) {
        if (is_outdated(service->graphs[i]))
            return service->graphs[i];
    }
    return NULL;
}

/* Learns from the graph as it is now, beside it; what is learnt is kept in a file, where the
 * graph that is then opened finds it. Where that fails, the next change tries again. */
static bool learn_anew(acq_served *served, const acq_service *service, const acq_served_graph *g)
{
    acq_served_graph *beside = NULL;
    if (open_graph(&service->params, g->path, NULL, 0, &beside, NULL) == ACQ_OK)
        warm(beside, served);
    leave_graph(beside);
    return !served->must_end && replace(served, g->name, -g->n_changed, NULL) == ACQ_OK;
}

static void *learn(void *context)
{
    acq_served *served = context;
    for (bool is_done = false; !is_done;) {
        acq_service *service = acq_served_join(served);
        const acq_served_graph *g = find_outdated(service);
        bool has_learnt = g != NULL && learn_anew(served, service, g);
        acq_service_leave(service);
        pthread_mutex_lock(&served->lock);
        is_done = !has_learnt || find_outdated(served->now) == NULL;
        served->is_learning = !is_done;
        pthread_mutex_unlock(&served->lock);
    }
    return NULL;
}

static void begin_learning(acq_served *served)
{
    pthread_mutex_lock(&served->lock);
    if (!served->is_learning && !served->must_end && find_outdated(served->now) != NULL) {
        if (served->has_learner)
            pthread_join(served->learner, NULL);
        served->is_learning = pthread_create(&served->learner, NULL, learn, served) == 0;
        served->has_learner = served->is_learning;
    }
    pthread_mutex_unlock(&served->lock);
}

acq_status acq_served_reload(acq_served *served, const char *name, uint64_t n_changed,
                             acq_error *error)
{
    acq_status status = replace(served, name, (int64_t)n_changed, error);
    begin_learning(served);
    return status;
}

/* ---- errors ---- */

json_t *acq_service_fail(int status, const char *code, const char *message, int *out)
{
    *out = status;
    return json_pack("{s:{s:s,s:o}}", "error", "code", code, "message", acq_service_text(message));
}

json_t *acq_service_fail_with(const acq_error *error, int *status)
{
    *status = error->code == ACQ_ERR_LIMIT                                   ? 413
              : error->code == ACQ_ERR_MEMORY                                ? 503
              : error->code == ACQ_ERR_IO || error->code == ACQ_ERR_INTERNAL ? 500
                                                                             : 400;
    json_t *object = json_pack("{s:{s:s,s:o}}", "error", "code", acq_status_name(error->code),
                               "message", acq_service_text(error->message));
    if (error->line > 0) {
        json_t *inner = json_object_get(object, "error");
        json_object_set_new(inner, "line", json_integer((json_int_t)error->line));
        json_object_set_new(inner, "column", json_integer((json_int_t)error->column));
    }
    return object;
}

/* ---- arguments ---- */

const char *acq_argument_get_text(const json_t *arguments, const char *name)
{
    return json_string_value(json_object_get(arguments, name));
}

/* A number, also one in a text, as URLs have it. */
bool acq_argument_get_number(const json_t *arguments, const char *name, double low, double high,
                             double *out, acq_error *error)
{
    const json_t *value = json_object_get(arguments, name);
    const char *text = json_string_value(value);
    char *end = NULL;
    if (value == NULL)
        return true;
    double number = json_is_number(value) ? json_number_value(value)
                    : text != NULL        ? acq_read_double(text, &end)
                                          : (double)NAN;
    bool is_number = json_is_number(value) || (text != NULL && end != text && *end == '\0');
    if (is_number && number >= low && number <= high) {
        *out = number;
        return true;
    }
    acq_fail(error, ACQ_ERR_USAGE, "\"%s\" is a number from %g to %g", name, low, high);
    return false;
}

bool acq_argument_is_true(const json_t *arguments, const char *name)
{
    const char *text = acq_argument_get_text(arguments, name);
    return json_is_true(json_object_get(arguments, name)) ||
           (text != NULL && (strcmp(text, "true") == 0 || strcmp(text, "1") == 0));
}

bool acq_argument_get_count(const json_t *arguments, const char *name, double most, uint64_t *out,
                            acq_error *error)
{
    double number = (double)*out;
    if (!acq_argument_get_number(arguments, name, 1, most, &number, error))
        return false;
    *out = (uint64_t)number;
    if ((double)*out == number)
        return true;
    acq_fail(error, ACQ_ERR_USAGE, "\"%s\" is a whole number from 1 to %g", name, most);
    return false;
}

static bool watch(void *context, const acq_progress *now)
{
    const acq_call *call = context;
    (void)now;
    return call->is_over == NULL || !call->is_over(call->context);
}

static acq_status read_engine(const json_t *arguments, acq_ask_params *out, acq_error *error)
{
    const char *engine = acq_argument_get_text(arguments, "engine"), *known;
    if (engine == NULL)
        return ACQ_OK;
    for (size_t i = 0; (known = acq_get_engine(i)) != NULL; i++) {
        if (strcmp(known, engine) == 0) {
            out->engine = known;
            return ACQ_OK;
        }
    }
    return acq_fail(error, ACQ_ERR_USAGE, "no engine is called \"%.40s\"; try exact or policy",
                    engine);
}

acq_status acq_service_read_ask(const acq_call *call, const json_t *arguments, acq_ask_params *out,
                                acq_error *error)
{
    const acq_service_params *params = &call->service->params;
    acq_ask_params_init(out);
    out->limit = 10;
    out->seconds = params->seconds;
    out->memory_bytes = params->memory_bytes;
    out->new_only = acq_argument_is_true(arguments, "new");
    out->progress = watch;
    out->context = (void *)call;
    if (params->most_answers < out->limit)
        out->limit = params->most_answers;
    bool is_good =
        acq_argument_get_count(arguments, "limit", (double)params->most_answers, &out->limit,
                               error) &&
        acq_argument_get_number(arguments, "time", 0.001, params->seconds, &out->seconds, error) &&
        acq_argument_get_number(arguments, "min_p", 0, 1, &out->min_p, error) &&
        acq_argument_get_count(arguments, "steps", 1e6, &out->steps, error) &&
        acq_argument_get_count(arguments, "seed", 9e15, &out->seed, error);
    return is_good ? read_engine(arguments, out, error) : ACQ_ERR_USAGE;
}
