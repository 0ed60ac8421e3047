/* steps.c - the paper's figure of step times: how long a step of the policy search takes, by the
 * size of the query.
 *
 * The retrieval queries of the 3-hub files are asked one by one, on one thread, with the complete
 * graph's links where the folder has them; a trace gives the time of each step. The first step,
 * which also builds the query's labels, is left out. The results of a data set lie in one file:
 *
 *   {"identity": "...", "points": [[variables, literals, steps, ms], ...]} */
#include <ctype.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "reproduce/models.h"

enum { QUICK_QUERIES = 6, FULL_QUERIES = 60, STEPS = 200, QUICK_STEPS = 60, MOST_VARIABLES = 64 };

typedef struct timing {
    acq_repro_models *models;
    const acq_repro_subject *subject;
    acq_predictor *predictor;
    acq_policy *policy;
    uint64_t first; /* queries of each file */
    uint64_t n_steps;
    double ms;
} timing;

/* ---- a query of the benchmark as a query of ours ---- */

static void add_name(acq_text *out, const char *name)
{
    acq_text_add_quoted(out, name, strlen(name));
}

static void add_relation(acq_text *out, const acq_graph *graph, acq_rel relation)
{
    if (acq_graph_is_named(graph, relation)) {
        add_name(out, acq_graph_get_relation_name(graph, relation));
        return;
    }
    acq_text_add(out, "inverse(");
    add_name(out, acq_graph_get_relation_name(graph, relation ^ 1));
    acq_text_add(out, ")");
}

typedef struct sketch {
    char variables[MOST_VARIABLES][16]; /* f1, e1, ...: each once */
    unsigned n_variables, n_literals;
    bool is_bad; /* a name without a grounding, or too many */
} sketch;

static void take_variable(sketch *s, const char *word)
{
    for (unsigned i = 0; i < s->n_variables; i++)
        if (strcmp(s->variables[i], word) == 0)
            return;
    if (s->n_variables == MOST_VARIABLES)
        s->is_bad = true;
    else
        acq_format(s->variables[s->n_variables++], sizeof s->variables[0], "%s", word);
}

static void add_word(acq_text *out, sketch *s, const char *word, const acq_json *grounding,
                     const acq_graph *graph)
{
    if (word[0] == 'e' || word[0] == 'f') {
        take_variable(s, word);
        acq_text_add(out, word);
        return;
    }
    const acq_json *id = acq_json_get(grounding, word);
    if (id == NULL || id->kind != ACQ_JSON_INTEGER || id->integer < 0) {
        s->is_bad = true;
    } else if (word[0] == 'r') {
        s->n_literals++;
        add_relation(out, graph, (acq_rel)id->integer);
    } else {
        add_name(out, acq_graph_get_entity_name(graph, (acq_ent)id->integer));
    }
}

/* The formula with its names in place; what is not a word is the same in both languages. */
static void add_formula(acq_text *out, sketch *s, const char *formula, const acq_json *grounding,
                        const acq_graph *graph)
{
    while (*formula != '\0' && !s->is_bad) {
        char word[16];
        size_t n = 0;
        while (isalnum((unsigned char)formula[n]) && n + 1 < sizeof word) {
            word[n] = formula[n];
            n++;
        }
        word[n] = '\0';
        if (n > 0)
            add_word(out, s, word, grounding, graph);
        else
            acq_text_add_char(out, formula[n++]);
        formula += n;
    }
}

/* Every variable is free: the search looks for all of them alike. */
static bool make_query(acq_text *out, sketch *s, const char *formula, const acq_json *grounding,
                       const acq_graph *graph)
{
    acq_text body;
    acq_text_init(&body);
    add_formula(&body, s, formula, grounding, graph);
    acq_text_add(out, "Q(");
    for (unsigned i = 0; i < s->n_variables; i++)
        acq_text_format(out, "%s%s", i == 0 ? "" : ", ", s->variables[i]);
    acq_text_format(out, ") := %s", body.bytes == NULL ? "" : body.bytes);
    bool is_whole = !body.failed && !out->failed && !s->is_bad && s->n_variables > 0;
    acq_text_deinit(&body);
    return is_whole;
}

/* ---- timing ---- */

static void take_step(void *context, const acq_trace_step *step)
{
    timing *t = context;
    if (step->step < 2)
        return;
    t->n_steps++;
    t->ms += step->ms;
}

static bool show(void *context, const acq_progress *now)
{
    return acq_repro_models_progress(((timing *)context)->models, now);
}

static acq_status add_point(timing *t, unsigned variables, unsigned literals, uint64_t steps,
                            double ms, acq_error *error)
{
    acq_repro_plan *plan = t->models->plan;
    acq_repro_step *point = acq_arena_zalloc(&plan->folder.arena, 1, sizeof *point);
    if (point == NULL)
        return acq_fail_memory(error);
    *point = (acq_repro_step){.subject = t->subject,
                              .variables = variables,
                              .literals = literals,
                              .steps = steps,
                              .ms = ms,
                              .next = plan->steps};
    plan->steps = point;
    return ACQ_OK;
}

static acq_status ask(timing *t, const char *text, acq_error *error)
{
    acq_query *query;
    acq_result *result;
    acq_ask_params params;
    acq_ask_params_init(&params);
    params.engine = "policy";
    params.policy = t->policy;
    params.paper = true;
    params.steps = t->models->plan->settings->quick ? QUICK_STEPS : STEPS;
    params.seed = t->models->plan->settings->seed;
    params.trace = take_step;
    params.progress = show;
    params.context = t;
    acq_status status = acq_query_new(t->models->observed, text, &query, error);
    if (status != ACQ_OK)
        return status;
    status = acq_ask(query, t->predictor, &params, &result, error);
    if (status == ACQ_OK)
        acq_result_free(result);
    acq_query_free(query);
    return status;
}

static acq_status time_query(timing *t, const char *formula, const acq_json *grounding,
                             acq_error *error)
{
    sketch s = {0};
    acq_text text;
    acq_status status = ACQ_OK;
    acq_text_init(&text);
    t->n_steps = 0;
    t->ms = 0;
    if (make_query(&text, &s, formula, grounding, t->models->observed)) {
        status = ask(t, text.bytes, error);
        if (status == ACQ_OK && t->n_steps > 0)
            status = add_point(t, s.n_variables, s.n_literals, t->n_steps,
                               t->ms / (double)t->n_steps, error);
    }
    acq_text_deinit(&text);
    return status;
}

static acq_status time_queries(timing *t, const acq_json *file, acq_error *error)
{
    acq_status status = ACQ_OK;
    uint64_t n = 0;
    if (file->kind != ACQ_JSON_OBJECT)
        return ACQ_OK;
    for (const acq_json *f = file->first; f != NULL && n < t->first; f = f->next, n++) {
        const acq_json *one = f->kind == ACQ_JSON_ARRAY ? f->first : NULL;
        const acq_json *grounding = one != NULL && one->kind == ACQ_JSON_ARRAY ? one->first : NULL;
        if (grounding != NULL && grounding->kind == ACQ_JSON_OBJECT)
            status = time_query(t, f->name, grounding, error);
        if (status != ACQ_OK)
            return status;
    }
    return status;
}

static acq_status time_file(timing *t, const char *path, acq_error *error)
{
    char *bytes;
    size_t length, n_repeated;
    acq_arena arena;
    const acq_json *file;
    acq_status status = acq_file_read(path, &bytes, &length, error);
    if (status != ACQ_OK)
        return status;
    acq_arena_init(&arena);
    status = acq_json_parse_loose(bytes, length, &arena, &file, &n_repeated, error);
    if (status == ACQ_OK)
        status = time_queries(t, file, error);
    acq_arena_deinit(&arena);
    acq_free(bytes);
    return status;
}

/* ---- kept results ---- */

static const char *make_path(const timing *t)
{
    acq_repro_plan *plan = t->models->plan;
    uint64_t hash = acq_hash_bytes(t->subject->name, strlen(t->subject->name), 0);
    return acq_repro_print(plan, "%s/jobs/steps-%s-%08x.json", plan->settings->output,
                           t->subject->split, (unsigned)hash);
}

static uint64_t identify(const timing *t)
{
    const acq_repro_settings *settings = t->models->plan->settings;
    uint64_t hash = acq_graph_get_fingerprint(t->models->observed);
    if (t->models->complete != NULL)
        hash = acq_hash_word(hash, acq_graph_get_fingerprint(t->models->complete));
    for (int k = 0; k < ACQ_MOST_FREE; k++)
        hash = acq_hash_word(hash, t->subject->qar[ACQ_PART_3hub][k].hash);
    hash = acq_hash_word(acq_hash_word(hash, t->first), settings->quick);
    hash = acq_hash_word(hash, settings->seed);
    return acq_hash_bytes(settings->commit, strlen(settings->commit), hash);
}

static double get_item(const acq_json *point, size_t i)
{
    const acq_json *item = point->first;
    while (i-- > 0 && item != NULL)
        item = item->next;
    if (item == NULL)
        return 0;
    return item->kind == ACQ_JSON_REAL ? item->real : (double)item->integer;
}

static acq_status take_points(timing *t, const acq_json *kept, uint64_t identity, bool *is_kept,
                              acq_error *error)
{
    char wanted[32];
    acq_format(wanted, sizeof wanted, "%016llx", (unsigned long long)identity);
    const acq_json *own = acq_json_get(kept, "identity"), *points = acq_json_get(kept, "points");
    if (own == NULL || own->kind != ACQ_JSON_TEXT || strcmp(own->text, wanted) != 0 ||
        points == NULL || points->kind != ACQ_JSON_ARRAY)
        return ACQ_OK;
    acq_status status = ACQ_OK;
    for (const acq_json *p = points->first; p != NULL && status == ACQ_OK; p = p->next)
        if (p->kind == ACQ_JSON_ARRAY && p->n == 4)
            status = add_point(t, (unsigned)get_item(p, 0), (unsigned)get_item(p, 1),
                               (uint64_t)get_item(p, 2), get_item(p, 3), error);
    *is_kept = true;
    return status;
}

static acq_status read_kept(timing *t, uint64_t identity, bool *is_kept, acq_error *error)
{
    char *bytes;
    size_t length;
    acq_arena arena;
    const acq_json *kept;
    const char *path = make_path(t);
    if (path == NULL || acq_file_read(path, &bytes, &length, NULL) != ACQ_OK)
        return ACQ_OK;
    acq_arena_init(&arena);
    acq_status status = acq_json_parse(bytes, length, &arena, &kept, NULL);
    if (status == ACQ_OK && kept->kind == ACQ_JSON_OBJECT)
        status = take_points(t, kept, identity, is_kept, error);
    else
        status = ACQ_OK;
    acq_arena_deinit(&arena);
    acq_free(bytes);
    return status;
}

static acq_status write_kept(timing *t, uint64_t identity, acq_error *error)
{
    acq_text out;
    const char *path = make_path(t);
    acq_text_init(&out);
    acq_text_format(&out, "{\"identity\": \"%016llx\", \"points\": [",
                    (unsigned long long)identity);
    size_t n = 0;
    for (const acq_repro_step *p = t->models->plan->steps; p != NULL; p = p->next)
        if (p->subject == t->subject)
            acq_text_format(&out, "%s\n  [%u, %u, %llu, %.6f]", n++ == 0 ? "" : ",", p->variables,
                            p->literals, (unsigned long long)p->steps, p->ms);
    acq_text_add(&out, "]}\n");
    acq_status status = path == NULL ? acq_fail_memory(error) : acq_text_finish(&out, error);
    if (status == ACQ_OK)
        status = acq_repro_write(path, "the times of steps", &out, error);
    acq_text_deinit(&out);
    return status;
}

/* ---- a data set ---- */

static acq_status open_all(timing *t, acq_error *error)
{
    acq_repro_source source;
    bool is_perfect = t->subject->has_complete;
    acq_status status = acq_repro_models_get_links(
        t->models, t->subject, is_perfect ? ACQ_REPRO_PERFECT : ACQ_REPRO_OBSERVED, &source, error);
    if (status == ACQ_OK && is_perfect)
        status = acq_predictor_new_of_facts(t->models->observed, t->models->complete, "perfect",
                                            &t->predictor, NULL, error);
    else if (status == ACQ_OK)
        status = acq_predictor_new(t->models->observed, "observed", NULL, &t->predictor, error);
    if (status == ACQ_OK)
        status = acq_policy_open("shipped", t->models->plan->settings->seed, &t->policy, error);
    return status;
}

static acq_status time_all(timing *t, acq_error *error)
{
    bool is_kept = false;
    acq_status status = open_all(t, error);
    uint64_t identity = status == ACQ_OK ? identify(t) : 0;
    if (status == ACQ_OK)
        status = read_kept(t, identity, &is_kept, error);
    for (int k = 0; k < ACQ_MOST_FREE && status == ACQ_OK && !is_kept; k++) {
        const acq_repro_file *file = &t->subject->qar[ACQ_PART_3hub][k];
        if (file->hash != 0)
            status = time_file(t, file->path, error);
    }
    return status == ACQ_OK && !is_kept ? write_kept(t, identity, error) : status;
}

acq_status acq_repro_time_steps(acq_repro_models *models, const acq_repro_subject *subject,
                                acq_error *error)
{
    const acq_repro_settings *settings = models->plan->settings;
    acq_error own = {0};
    bool has_files = false;
    for (int k = 0; k < ACQ_MOST_FREE; k++)
        has_files |= subject->qar[ACQ_PART_3hub][k].hash != 0;
    if (!has_files)
        return ACQ_OK;
    if (acq_repro_models_is_late(models))
        return acq_repro_leave_out(&models->plan->folder, error, "the time was over",
                                   "%s, %s: step times", subject->name, subject->split);
    timing t = {.models = models,
                .subject = subject,
                .first = settings->quick ? QUICK_QUERIES : FULL_QUERIES};
    if (settings->first > 0)
        t.first = settings->first;
    models->busy = "step times";
    acq_status status = time_all(&t, &own);
    acq_predictor_free(t.predictor);
    acq_policy_free(t.policy);
    if (status == ACQ_OK)
        return ACQ_OK;
    if (status == ACQ_ERR_INTERRUPTED || status == ACQ_ERR_MEMORY || status == ACQ_ERR_IO) {
        if (error != NULL)
            *error = own;
        return status;
    }
    return acq_repro_leave_out(&models->plan->folder, error, own.message, "%s, %s: step times",
                               subject->name, subject->split);
}
