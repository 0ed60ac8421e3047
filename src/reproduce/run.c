/* run.c - see reproduce.h: a plan, its jobs into results, tables and a page of them. Jobs go by
 * their links, so that a predictor is opened once for each data set: what needs no training comes
 * first, then what most tables want. */
#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/hash.h"
#include "reproduce/models.h"
#include "reproduce/render.h"

enum { STEPS_SMALL = 20, STEPS_HUB = 200 }; /* of the policy search, as in the paper */

enum { MOST_GROWTH = 4 }; /* of a sample, from round to round */

/* Of a sample: seconds that each job has, and how far a round may go over what it should take. */
static const double LEAST_BUDGET = 2, MOST_OVER = 3;

typedef struct run {
    acq_repro_plan *plan;
    acq_repro_models models;
    acq_repro_report *report;
    int64_t begin_ns;
    double seconds_run, weight_run, weight_left;
    double models_left; /* seconds for models and their links */
    int round;             /* of --quick: 0, then 1 */
} run;

static const acq_repro_links order[] = {
    ACQ_REPRO_OBSERVED,    ACQ_REPRO_PERFECT, ACQ_REPRO_NBFNET, ACQ_REPRO_COMPLEX_QTO,
    ACQ_REPRO_COMPLEX_FIT, ACQ_REPRO_COMPLEX, ACQ_REPRO_FITTED, ACQ_REPRO_ULTRAQUERY,
    ACQ_REPRO_GNNQE,       ACQ_REPRO_ULTRA,
};

/* ---- telling ---- */

/* A guess at a job's share of the work, for the estimate and for the budgets of --quick. */
static double weigh(const acq_repro_job *job)
{
    static const double of_links[] = {
        [ACQ_REPRO_OBSERVED] = 1,    [ACQ_REPRO_PERFECT] = 1,     [ACQ_REPRO_COMPLEX] = 2,
        [ACQ_REPRO_COMPLEX_QTO] = 2, [ACQ_REPRO_COMPLEX_FIT] = 2, [ACQ_REPRO_NBFNET] = 4,
        [ACQ_REPRO_GNNQE] = 3,       [ACQ_REPRO_ULTRA] = 5,       [ACQ_REPRO_ULTRAQUERY] = 3,
        [ACQ_REPRO_FITTED] = 3,
    };
    bool is_hub = acq_repro_part_is_hub(job->part);
    double weight = (job->is_qac ? 1 : 3) * (is_hub ? 2 : 1) * of_links[job->row->links];
    return is_hub && strcmp(job->row->engine, "sql") == 0 ? 4 * weight : weight;
}

static bool tell(run *r, const char *what, double seconds)
{
    const acq_repro_settings *settings = r->plan->settings;
    acq_repro_news news = {.what = what,
                           .done = r->models.jobs_done,
                           .total = r->plan->n_jobs,
                           .seconds = seconds,
                           .left = -1};
    if (r->weight_run > 0)
        news.left = r->seconds_run / r->weight_run * r->weight_left + r->models_left;
    if (settings->seconds > 0 && news.left >= 0)
        news.left = fmin(news.left, 1e-9 * (double)(r->models.deadline_ns - acq_clock_ns()));
    if (r->weight_run > 0)
        news.left = fmax(news.left, 0);
    return settings->tell == NULL || settings->tell(settings->context, &news);
}

static void note(const run *r, const char *what, const char *why)
{
    const acq_repro_settings *settings = r->plan->settings;
    const char *text = acq_repro_print(r->plan, "left out: %s: %s", what, why);
    if (settings->note != NULL && text != NULL)
        settings->note(settings->context, text);
}

static acq_status leave_out(run *r, const acq_repro_job *job, const char *why, acq_error *error)
{
    r->report->n_failed++;
    note(r, job->name, why);
    return acq_repro_leave_out(&r->plan->folder, error, why, "%s", job->name);
}

/* ---- one job ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return text == NULL ? hash + 1 : acq_hash_bytes(text, strlen(text), hash);
}

static uint64_t hash_double(uint64_t hash, double value)
{
    return acq_hash_bytes(&value, sizeof value, hash);
}

/* Of everything that the numbers depend on. */
static uint64_t identify(const run *r, const acq_repro_job *job, const acq_repro_source *links,
                         const acq_repro_source *weights)
{
    const acq_repro_settings *settings = r->plan->settings;
    uint64_t hash = hash_text(job->files, job->name);
    hash = acq_hash_word(hash, acq_graph_get_fingerprint(r->models.observed));
    hash = acq_hash_word(hash, links->hash);
    hash = hash_text(hash, links->how);
    hash = acq_hash_word(hash, weights->hash);
    hash = acq_hash_word(hash, settings->seed);
    hash = acq_hash_word(
        hash, acq_repro_get_first(settings, job->is_qac, acq_repro_part_is_hub(job->part)));
    hash = hash_double(hash, job->seconds);
    hash = acq_hash_word(hash, settings->quick);
    hash = hash_text(hash, acq_get_version());
    return hash_text(hash, settings->commit);
}

static bool show(void *context, const acq_progress *now)
{
    return acq_repro_models_progress(context, now);
}

/* An evaluation is asked for with these. */
typedef struct question {
    const acq_predictor *predictor;
    const acq_policy *policy; /* NULL: another engine */
    double input_threshold;
} question;

static void set_ask(const run *r, const acq_repro_job *job, const question *q, acq_ask_params *ask)
{
    const acq_repro_row *row = job->row;
    bool is_hub = acq_repro_part_is_hub(job->part);
    bool is_walk = row->weights != ACQ_WEIGHTS_NONE || strcmp(row->engine, "random") == 0;
    acq_ask_params_init(ask);
    ask->engine = row->engine;
    ask->seconds = job->seconds;
    ask->seed = r->plan->settings->seed;
    ask->input_threshold = q->input_threshold;
    if (is_walk) {
        ask->paper = true;
        ask->steps = is_hub || !job->is_qac ? STEPS_HUB : STEPS_SMALL;
        ask->binarize = acq_repro_get_binarize(row->links, job->subject->paper, is_hub);
        ask->policy = q->policy;
    }
}

/* first 0: all instances of each file; seconds 0: no limit. */
static acq_status evaluate(run *r, acq_repro_job *job, const question *q, uint64_t first,
                           double seconds, acq_evaluation **out, acq_error *error)
{
    const acq_repro_settings *settings = r->plan->settings;
    const char *files[ACQ_MOST_FREE];
    size_t n = 0;
    if (job->is_qac)
        files[n++] = job->subject->qac[job->part].path;
    for (int k = 0; k < ACQ_MOST_FREE && !job->is_qac; k++)
        if (job->subject->qar[job->part][k].hash != 0)
            files[n++] = job->subject->qar[job->part][k].path;
    acq_ask_params ask;
    acq_evaluate_params params;
    set_ask(r, job, q, &ask);
    acq_evaluate_params_init(&params);
    params.ask = &ask;
    params.first = first;
    params.threads = settings->threads;
    params.seconds = seconds;
    params.progress = show;
    params.context = &r->models;
    r->models.busy = job->name;
    return acq_evaluate(q->predictor, job->is_qac ? ACQ_TASK_QAC : ACQ_TASK_QAR, files, n, &params,
                        out, error);
}

/* ---- a sample of what the time allows ---- */

/* A job's share of the time that is left, trainings apart. */
static double get_budget(const run *r, const acq_repro_job *job)
{
    double left = 1e-9 * (double)(r->models.deadline_ns - acq_clock_ns()) - r->models_left;
    double share = weigh(job) / (r->weight_left + weigh(job));
    return fmax(left * share, LEAST_BUDGET);
}

/* How many instances of each file the next round takes when `n` have cost so much; n: no more. The
 * first round also paid for what is loaded once: it tells little, and unless it took all there was
 * another one is tried. */
static uint64_t choose_more(uint64_t n, uint64_t most, double cost, double left)
{
    double fit = fmax(left, 0) / fmax(cost / (double)n, 1e-6);
    if (n == 1 && left > 0)
        fit = fmax(fit, 2);
    uint64_t more = fit < (double)most ? (uint64_t)fit : most;
    more = more < MOST_GROWTH * n ? more : MOST_GROWTH * n;
    return more > n && n < most ? more : n;
}

/* Rounds of more and more instances, each as many as the rounds before say can be paid for. What
 * ran out of time is dropped for the round before. */
static acq_status evaluate_sample(run *r, acq_repro_job *job, const question *q,
                                  acq_evaluation **out, acq_error *error)
{
    const acq_repro_settings *settings = r->plan->settings;
    uint64_t most = acq_repro_get_first(settings, job->is_qac, acq_repro_part_is_hub(job->part));
    double budget = get_budget(r, job), spent = 0;
    acq_status status = ACQ_OK;
    for (uint64_t n = 1, before = 0; status == ACQ_OK && n > before;) {
        acq_evaluation *round = NULL;
        double most_seconds = MOST_OVER * fmax(budget - spent, 0) + LEAST_BUDGET;
        int64_t begin = acq_clock_ns();
        status = evaluate(r, job, q, n, most_seconds, &round, error);
        double seconds = 1e-9 * (double)(acq_clock_ns() - begin);
        bool is_cut = seconds >= most_seconds && *out != NULL;
        if (status != ACQ_OK || is_cut) {
            acq_evaluation_free(round);
            break;
        }
        acq_evaluation_free(*out);
        *out = round;
        job->first = n;
        spent += seconds;
        before = n;
        n = choose_more(n, most, seconds, budget - spent);
    }
    return status;
}

static acq_status do_job(run *r, acq_repro_job *job, question q, const acq_repro_source *weights,
                         uint64_t identity, acq_error *error)
{
    const acq_repro_settings *settings = r->plan->settings;
    acq_error own = {0};
    acq_policy *policy = NULL;
    acq_evaluation *evaluation = NULL;
    int64_t begin = acq_clock_ns();
    acq_status status = ACQ_OK;
    if (strcmp(job->row->engine, "policy") == 0)
        status = acq_policy_open(weights->spec, settings->seed, &policy, &own);
    q.policy = policy;
    job->first = settings->first;
    if (status == ACQ_OK)
        status = settings->quick ? evaluate_sample(r, job, &q, &evaluation, &own)
                                 : evaluate(r, job, &q, settings->first, 0, &evaluation, &own);
    double seconds = 1e-9 * (double)(acq_clock_ns() - begin);
    bool is_local = status != ACQ_OK && status != ACQ_ERR_INTERRUPTED && status != ACQ_ERR_MEMORY;
    if (is_local)
        status = leave_out(r, job, own.message, error);
    else if (status != ACQ_OK && error != NULL)
        *error = own;
    else if (status == ACQ_OK)
        status = acq_repro_job_write(r->plan, job, identity, evaluation, seconds, error);
    acq_evaluation_free(evaluation);
    acq_policy_free(policy);
    r->report->n_run += job->is_done;
    r->seconds_run += seconds;
    r->weight_run += weigh(job);
    if (status == ACQ_OK && !is_local && !tell(r, job->name, seconds))
        return acq_fail(error, ACQ_ERR_INTERRUPTED, "interrupted");
    return status;
}

/* A job's weights, and then its result: kept, or made. *predictor is opened by the first that needs
 * it. */
typedef struct group {
    const acq_repro_subject *subject;
    acq_repro_source links;
    acq_predictor *predictor;
} group;

/* What a predictor learns at its first use is not the first question's time. */
static acq_status learn(run *r, group *g, acq_error *error)
{
    acq_predictions *predictions;
    acq_predict_params params;
    if (!acq_predictor_is_calibrated(g->predictor))
        return ACQ_OK;
    acq_predict_params_init(&params);
    if (r->plan->settings->seconds > 0)
        params.seconds = fmax(1e-9 * (double)(r->models.deadline_ns - acq_clock_ns()), 1e-3);
    params.progress = show;
    params.context = &r->models;
    r->models.busy = "learning what predictions are worth";
    acq_status status = acq_predict_within(g->predictor, 0, 0, &params, &predictions, error);
    if (status == ACQ_OK)
        acq_predictions_free(predictions);
    return status;
}

static acq_status open_predictor(run *r, group *g, acq_error *error)
{
    if (g->predictor != NULL)
        return ACQ_OK;
    acq_predictor_params params;
    acq_predictor_params_init(&params);
    params.direction = g->links.direction;
    params.scaling = g->links.scaling;
    params.rows = g->links.rows;
    params.tails = g->links.tails;
    params.floor = g->links.floor;
    params.visit = g->links.visit;
    params.threads = r->plan->settings->threads;
    if (g->links.spec != NULL && strcmp(g->links.spec, "perfect") == 0)
        return acq_predictor_new_of_facts(r->models.observed, r->models.complete, "perfect",
                                          &g->predictor, NULL, error);
    acq_status status =
        acq_predictor_new(r->models.observed, g->links.spec, &params, &g->predictor, error);
    return status == ACQ_OK ? learn(r, g, error) : status;
}

static acq_status start_job(run *r, group *g, acq_repro_job *job, const acq_repro_source *weights,
                            uint64_t identity, acq_error *error)
{
    acq_error own = {0};
    if (acq_repro_models_is_late(&r->models))
        return leave_out(r, job, "the time was over", error);
    acq_status status = open_predictor(r, g, &own);
    if (status != ACQ_OK && acq_repro_models_is_late(&r->models))
        return leave_out(r, job, "the time was over", error);
    if (status == ACQ_ERR_INTERRUPTED)
        return acq_fail(error, status, "interrupted");
    if (status != ACQ_OK)
        return status == ACQ_ERR_MEMORY ? acq_fail_memory(error)
                                        : leave_out(r, job, own.message, error);
    question q = {.predictor = g->predictor, .input_threshold = g->links.input_threshold};
    return do_job(r, job, q, weights, identity, error);
}

static acq_status take_job(run *r, group *g, acq_repro_job *job, acq_error *error)
{
    acq_repro_source weights = {0};
    acq_status status = ACQ_OK;
    r->weight_left -= weigh(job);
    bool is_policy = job->row->weights != ACQ_WEIGHTS_NONE;
    bool needs_time =
        job->row->weights == ACQ_WEIGHTS_EACH || job->row->weights == ACQ_WEIGHTS_NO_PE;
    if (needs_time) { /* another graph may be opened to train on */
        acq_predictor_free(g->predictor);
        g->predictor = NULL;
    }
    if (is_policy)
        status = acq_repro_models_get_weights(&r->models,
                                              job->trained != NULL ? job->trained : job->subject,
                                              job->row->weights, &weights, error);
    if (status == ACQ_OK && g->links.spec != NULL && strcmp(g->links.spec, "perfect") == 0)
        status =
            acq_repro_models_get_links(&r->models, g->subject, job->row->links, &g->links, error);
    if (status == ACQ_OK && is_policy && weights.spec == NULL)
        status = leave_out(r, job, weights.why_not, error);
    else if (status == ACQ_OK) {
        uint64_t identity = identify(r, job, &g->links, &weights);
        status = acq_repro_job_read(r->plan, job, identity, error);
        if (job->is_done && acq_repro_job_is_cut(job)) { /* there may be more time now */
            job->is_done = false;
            memset(job->cells, 0, sizeof job->cells);
        }
        job->is_kept = job->is_done;
        r->report->n_kept += job->is_kept;
        job->how = g->links.how;
        if (status == ACQ_OK && !job->is_done)
            status = start_job(r, g, job, &weights, identity, error);
    }
    if (status == ACQ_OK && job->is_done && acq_repro_job_is_cut(job))
        status = leave_out(r, job, "too little time: most questions were not reached", error);
    r->models.jobs_done++;
    return status;
}

/* ---- all of them ---- */

static bool is_in(const acq_repro_job *job, const acq_repro_subject *subject, acq_repro_links links)
{
    return job->subject == subject && job->row->links == links;
}

/* --quick has two rounds: 2p and 3-hub of every row, and then the other columns. So a machine that
 * does not end in time has something of every table. */
static bool is_now(const run *r, const acq_repro_job *job)
{
    bool is_early = job->part == ACQ_PART_2p || job->part == ACQ_PART_3hub;
    return !r->plan->settings->quick || is_early == (r->round == 0);
}

/* One line for all parts of a row. */
static acq_status leave_row_out(run *r, const acq_repro_job *job, const char *why, acq_error *error)
{
    const acq_repro_omission *last = r->plan->folder.last_omission;
    acq_status status =
        acq_repro_leave_out(&r->plan->folder, error, why, "%s, %s: %s", job->subject->name,
                            job->subject->split, job->row->label);
    if (status == ACQ_OK && r->plan->folder.last_omission != last)
        note(r, r->plan->folder.last_omission->what, why);
    return status;
}

static acq_status leave_group_out(run *r, const acq_repro_subject *subject, acq_repro_links links,
                                  const char *why, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (acq_repro_job *job = r->plan->jobs; job != NULL && status == ACQ_OK; job = job->next) {
        if (!is_in(job, subject, links) || !is_now(r, job))
            continue;
        r->weight_left -= weigh(job);
        r->models.jobs_done++;
        r->report->n_failed++;
        status = leave_row_out(r, job, why, error);
    }
    return status;
}

static acq_status run_group(run *r, const acq_repro_subject *subject, acq_repro_links links,
                            acq_error *error)
{
    group g = {.subject = subject};
    acq_error own = {0};
    acq_status status = acq_repro_models_turn(&r->models, subject, &own);
    if (status != ACQ_OK && status != ACQ_ERR_MEMORY)
        return leave_group_out(r, subject, links, own.message, error);
    if (status == ACQ_OK)
        status = acq_repro_models_get_links(&r->models, subject, links, &g.links, &own);
    if (status == ACQ_ERR_INTERRUPTED || status == ACQ_ERR_MEMORY || status == ACQ_ERR_IO) {
        if (error != NULL)
            *error = own;
        return status;
    }
    if (status != ACQ_OK || g.links.spec == NULL)
        return leave_group_out(r, subject, links,
                               status != ACQ_OK          ? own.message
                               : g.links.why_not == NULL ? "its model could not be had"
                                                         : g.links.why_not,
                               error);
    for (acq_repro_job *job = r->plan->jobs; job != NULL && status == ACQ_OK; job = job->next)
        if (is_in(job, subject, links) && is_now(r, job))
            status = take_job(r, &g, job, error);
    acq_predictor_free(g.predictor);
    return status;
}

/* Seconds for models before a group's jobs, for the estimate alone: it counts those that are there
 * too. */
static double guess_models(const run *r, const acq_repro_subject *subject, acq_repro_links links)
{
    bool needs_links = links == ACQ_REPRO_COMPLEX_QTO || links == ACQ_REPRO_NBFNET ||
                       links == ACQ_REPRO_GNNQE ||
                       (links == ACQ_REPRO_FITTED && !r->plan->settings->quick);
    bool needs_weights = false;
    double n = 0, seconds = 0;
    for (const acq_repro_job *job = r->plan->jobs; job != NULL; job = job->next) {
        if (!is_in(job, subject, links))
            continue;
        n = needs_links;
        seconds = links == ACQ_REPRO_NBFNET
                      ? acq_repro_get_links_seconds(r->plan->settings) / 2
                      : 0;
        needs_weights |= job->row->weights == ACQ_WEIGHTS_NO_PE ||
                         (job->row->weights == ACQ_WEIGHTS_EACH && links == ACQ_REPRO_PERFECT);
    }
    return (n + needs_weights) * acq_repro_get_model_seconds(r->plan->settings) + seconds;
}

static bool has_jobs(const run *r, const acq_repro_subject *subject, acq_repro_links links)
{
    for (const acq_repro_job *job = r->plan->jobs; job != NULL; job = job->next)
        if (is_in(job, subject, links) && is_now(r, job))
            return true;
    return false;
}

/* Also after an interrupt, and while it runs: what is done is shown. */
static acq_status render(acq_repro_plan *plan, acq_error *error)
{
    acq_status status = acq_repro_write_tables(plan, error);
    return status == ACQ_OK ? acq_repro_write_page(plan, error) : status;
}

static acq_status run_round(run *r, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < sizeof order / sizeof *order && status == ACQ_OK; i++) {
        for (const acq_repro_subject *s = r->plan->folder.subjects; s != NULL && status == ACQ_OK;
             s = s->next) {
            if (has_jobs(r, s, order[i]))
                status = run_group(r, s, order[i], error);
            if (r->round == 0)
                r->models_left -= guess_models(r, s, order[i]);
        }
        if (status == ACQ_OK)
            status = render(r->plan, error);
    }
    return status;
}

static acq_status time_steps(run *r, acq_error *error)
{
    acq_status status = ACQ_OK;
    if (!acq_repro_plan_has_steps(r->plan))
        return ACQ_OK;
    for (const acq_repro_subject *s = r->plan->folder.subjects; s != NULL && status == ACQ_OK;
         s = s->next)
        status = acq_repro_time_steps(&r->models, s, error);
    return status;
}

/* Does every job whose result is not there yet. A job that fails, or has no time, is left out by
 * name. ACQ_ERR_INTERRUPTED, or an output that cannot be written, ends it; what is done stays. */
static acq_status run_jobs(acq_repro_plan *plan, acq_repro_report *report, acq_error *error)
{
    run r = {.plan = plan, .report = report, .begin_ns = acq_clock_ns()};
    acq_repro_models_init(&r.models, plan);
    report->n_jobs = plan->n_jobs;
    for (const acq_repro_job *job = plan->jobs; job != NULL; job = job->next)
        r.weight_left += weigh(job);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        for (const acq_repro_subject *s = plan->folder.subjects; s != NULL; s = s->next)
            r.models_left += guess_models(&r, s, order[i]);
    acq_status status = run_round(&r, error);
    if (status == ACQ_OK)
        status = time_steps(&r, error);
    r.round = 1;
    if (status == ACQ_OK && plan->settings->quick)
        status = run_round(&r, error);
    acq_repro_models_deinit(&r.models);
    return status;
}

/* ---- the whole ---- */

static acq_status prepare(acq_repro_plan *plan, const acq_repro_settings *settings,
                          acq_error *error)
{
    acq_status status = acq_repro_plan_init(plan, settings, error);
    const char *jobs = status == ACQ_OK ? acq_repro_print(plan, "%s/jobs", settings->output) : NULL;
    if (status == ACQ_OK)
        status = jobs == NULL ? acq_fail_memory(error) : acq_repro_make_folder(jobs, error);
    return status;
}

acq_status acq_reproduce(const acq_repro_settings *given, acq_repro_report *report,
                         acq_error *error)
{
    acq_repro_settings settings = *given;
    acq_repro_plan plan;
    int64_t begin = acq_clock_ns();
    *report = (acq_repro_report){0};
    if (settings.quick && settings.seconds <= 0)
        settings.seconds = ACQ_REPRO_QUICK_SECONDS;
    acq_status status = prepare(&plan, &settings, error);
    if (status == ACQ_OK) {
        status = run_jobs(&plan, report, error);
        if (status == ACQ_OK || status == ACQ_ERR_INTERRUPTED) {
            acq_status rendered = render(&plan, status == ACQ_OK ? error : NULL);
            status = status == ACQ_OK ? rendered : status;
        }
    }
    for (const acq_repro_omission *o = plan.folder.omissions; o != NULL; o = o->next)
        report->n_left_out++;
    report->seconds = 1e-9 * (double)(acq_clock_ns() - begin);
    acq_repro_plan_deinit(&plan);
    return status;
}
