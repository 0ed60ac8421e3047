/* eval.c - hands the instances of the files to threads and sums up their decisions.
 *
 * Decisions of all files lie in one array in file order: a file's row is measured on its stretch,
 * the total on the whole.
 *
 *   offsets    [ 0 | 20 | 38 | ... ]        first decision of each instance
 *   decisions  [ c c c w w w | c c ... ]    correct candidates of a set, then its wrong ones
 */
#include "eval/eval.h"

#include <math.h>
#include <stdatomic.h>

#include "base/memory.h"
#include "base/threads.h"
#include "search/policy/model.h"
#include "search/sql/sql.h"

typedef struct stretch {
    size_t first_item, n_items; /* instances */
    size_t n_queries;
    acq_atoms_reading atoms;
} stretch;

typedef struct evaluation {
    const acq_eval_params *params;
    const acq_bench_file *const *files;
    size_t n_files, n_items;
    stretch *stretches;      /* one per file */
    size_t *offsets;         /* n_items + 1 */
    acq_decision *decisions; /* offsets[n_items] */
    acq_eval_worker *workers;
    acq_error *errors; /* one per thread */
    size_t i_file;     /* being decided */
    atomic_size_t n_done;
} evaluation;

acq_engine_params acq_eval_get_engine(const acq_eval_params *params)
{
    acq_engine_params engine = params->engine;
    engine.prior = params->prior;
    engine.only_prior = true;
    double left = (double)(params->deadline_ns - acq_clock_ns()) * 1e-9;
    if (params->deadline_ns > 0 && !(engine.search.seconds > 0 && engine.search.seconds < left))
        engine.search.seconds = fmax(left, 1e-3);
    return engine;
}

static size_t count_taken(const acq_eval_params *params, const acq_bench_file *file)
{
    size_t n = file->n_instances;
    return params->first > 0 && params->first < n ? params->first : n;
}

static void plan_file(evaluation *run, size_t i, size_t *item, size_t *decision)
{
    const acq_bench_file *file = run->files[i];
    stretch *part = &run->stretches[i];
    part->first_item = *item;
    part->n_items = count_taken(run->params, file);
    for (size_t j = 0; j < part->n_items; j++)
        part->n_queries += j == 0 || file->instances[j].formula != file->instances[j - 1].formula;
    part->atoms = run->params->has_atoms ? run->params->atoms : acq_bench_file_get_atoms(file);
    for (size_t j = 0; j < part->n_items; j++) {
        run->offsets[(*item)++] = *decision;
        *decision += acq_eval_count_decisions(file, &file->instances[j]);
    }
}

static acq_status plan(evaluation *run, acq_error *error)
{
    size_t item = 0, decision = 0;
    unsigned n_threads = run->params->n_threads > 0 ? run->params->n_threads : 1;
    for (size_t i = 0; i < run->n_files; i++)
        run->n_items += count_taken(run->params, run->files[i]);
    run->stretches = acq_zalloc(run->n_files, sizeof *run->stretches);
    run->offsets = acq_zalloc(run->n_items + 1, sizeof *run->offsets);
    run->workers = acq_zalloc(n_threads, sizeof *run->workers);
    run->errors = acq_zalloc(n_threads, sizeof *run->errors);
    if (run->stretches == NULL || run->offsets == NULL || run->workers == NULL ||
        run->errors == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < run->n_files; i++)
        plan_file(run, i, &item, &decision);
    run->offsets[item] = decision;
    run->decisions = acq_zalloc(decision, sizeof *run->decisions);
    return run->decisions == NULL ? acq_fail_memory(error) : ACQ_OK;
}

static void unplan(evaluation *run)
{
    acq_free(run->stretches);
    acq_free(run->offsets);
    acq_free(run->decisions);
    acq_free(run->workers);
    acq_free(run->errors);
}

/* There is no time for this one. */
static void leave_out(const acq_bench_instance *instance, acq_bench_task task, size_t n,
                      acq_decision *out)
{
    for (size_t i = 0; i < n; i++) {
        out[i].is_undecided = true;
        out[i].is_correct = task == ACQ_TASK_QAC && i < instance->correct.n;
    }
    if (task == ACQ_TASK_QAR)
        out->item.type = instance->type;
}

static bool has_time(const acq_eval_params *params)
{
    return params->deadline_ns == 0 || acq_clock_ns() < params->deadline_ns;
}

static acq_status decide_item(void *context, size_t i, unsigned thread)
{
    evaluation *run = context;
    const acq_bench_instance *instance = &run->files[run->i_file]->instances[i];
    size_t item = run->stretches[run->i_file].first_item + i;
    acq_decision *out = &run->decisions[run->offsets[item]];
    acq_eval_worker *worker = &run->workers[thread];
    worker->stream = run->offsets[item] - run->offsets[item - i];
    if (acq_ranks_is_others(run->params->ranks, item))
        return ACQ_OK;
    if (!has_time(run->params)) {
        leave_out(instance, run->params->task, run->offsets[item + 1] - run->offsets[item], out);
        return ACQ_OK;
    }
    acq_status status = run->params->task == ACQ_TASK_QAC
                            ? acq_eval_decide_qac(worker, instance, out, &run->errors[thread])
                            : acq_eval_decide_qar(worker, instance, out, &run->errors[thread]);
    size_t done = atomic_fetch_add(&run->n_done, 1) + 1;
    if (status != ACQ_OK || thread != 0 || run->params->progress == NULL ||
        run->params->progress(run->params->context, done, run->n_items))
        return status;
    return acq_fail(&run->errors[thread], ACQ_ERR_INTERRUPTED, "interrupted");
}

static acq_status decide_file(evaluation *run, size_t i_file, acq_error *error)
{
    const acq_eval_params *params = run->params;
    unsigned n_threads = params->n_threads > 0 ? params->n_threads : 1;
    run->i_file = i_file;
    for (unsigned i = 0; i < n_threads; i++)
        acq_eval_worker_init(&run->workers[i], params, run->files[i_file]);
    acq_status status =
        acq_threads_run(n_threads, run->stretches[i_file].n_items, decide_item, run);
    for (unsigned i = 0; i < n_threads; i++) {
        acq_eval_worker_deinit(&run->workers[i]);
        if (error != NULL && error->code == ACQ_OK && run->errors[i].code == status)
            *error = run->errors[i];
    }
    return status;
}

static void count_set(const acq_decision *decisions, size_t n, acq_qac_counts *out)
{
    *out = (acq_qac_counts){0};
    for (size_t i = 0; i < n; i++) {
        const acq_decision *one = &decisions[i];
        if (!one->is_correct) {
            out->wrong++;
            out->wrong_yes += one->is_yes;
            continue;
        }
        out->correct++;
        out->correct_yes += one->is_yes;
        out->seen += one->is_seen;
        out->seen_yes += one->is_seen && one->is_yes;
    }
}

/* A set without a seen correct candidate leaves the matched comparison with its wrong ones. */
static size_t take_matched(const acq_decision *decisions, size_t n, const acq_qac_counts *set,
                           acq_scored *out)
{
    size_t n_out = 0;
    for (size_t i = 0; i < n && set->seen > 0; i++)
        if (!decisions[i].is_correct || decisions[i].is_seen)
            out[n_out++] = (acq_scored){decisions[i].rank, decisions[i].is_correct};
    return n_out;
}

static acq_status measure_qac(const evaluation *run, size_t first, size_t n, acq_eval_row *row)
{
    size_t n_scored = 0;
    acq_qac_counts *sets = acq_alloc(n, sizeof *sets);
    acq_scored *scored = acq_alloc(row->n_decisions, sizeof *scored);
    for (size_t i = 0; i < n && sets != NULL && scored != NULL; i++) {
        const acq_decision *decisions = &run->decisions[run->offsets[first + i]];
        size_t n_here = run->offsets[first + i + 1] - run->offsets[first + i];
        count_set(decisions, n_here, &sets[i]);
        n_scored += take_matched(decisions, n_here, &sets[i], scored + n_scored);
        row->n_correct += sets[i].correct;
        row->n_right += sets[i].correct_yes;
    }
    bool is_done = sets != NULL && scored != NULL;
    if (is_done) {
        acq_metrics_measure_qac(sets, n, &row->qac);
        row->auc_matched = acq_metrics_measure_auc(scored, n_scored);
        for (size_t i = 0; i < n; i++)
            sets[i] = acq_metrics_get_always_yes(sets[i]);
        acq_metrics_measure_qac(sets, n, &row->always_yes);
    }
    acq_free(sets);
    acq_free(scored);
    return is_done ? ACQ_OK : ACQ_ERR_MEMORY;
}

static acq_status measure_qar(const evaluation *run, size_t first, size_t n, acq_eval_row *row)
{
    acq_qar_item *items = acq_alloc(n, sizeof *items);
    if (items == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t i = 0; i < n; i++) {
        items[i] = run->decisions[run->offsets[first + i]].item;
        row->n_correct += items[i].type != 'n';
        row->n_right += items[i].type != 'n' && items[i].listed == ACQ_QAR_RIGHT;
        row->n_easy += items[i].type == 'e';
    }
    acq_metrics_measure_qar(items, n, &row->qar);
    if (run->params->truth == NULL)
        row->qar.f1_verified = NAN;
    acq_free(items);
    return ACQ_OK;
}

static acq_status measure_costs(const acq_decision *decisions, acq_eval_row *row)
{
    double *ms = acq_alloc(row->n_decisions, sizeof *ms);
    if (ms == NULL)
        return ACQ_ERR_MEMORY;
    double n = (double)row->n_decisions;
    for (size_t i = 0; i < row->n_decisions; i++) {
        ms[i] = decisions[i].ms;
        row->classes_mean += (double)decisions[i].classes / n;
        row->gflop += decisions[i].flops / n / 1e9;
        row->nodes += decisions[i].nodes;
        row->revisions += decisions[i].revisions;
        row->n_undecided += decisions[i].is_undecided;
        row->n_unlisted += decisions[i].is_unlisted;
    }
    acq_metrics_measure_times(ms, row->n_decisions, &row->ms);
    acq_free(ms);
    return ACQ_OK;
}

static acq_status measure(const evaluation *run, size_t first, size_t n, acq_eval_row *row)
{
    const acq_eval_params *params = run->params;
    bool is_qac = params->task == ACQ_TASK_QAC;
    row->task = params->task;
    row->engine = acq_engine_get_name(params->engine.engine);
    row->predictor = params->predictor->name;
    if (params->engine.engine == ACQ_ENGINE_policy)
        row->weights = params->engine.search.policy.policy->name;
    acq_engine_params engine = acq_eval_get_engine(params);
    bool has_p = acq_engine_gives_p(&engine, params->predictor);
    row->prior = is_qac || has_p ? params->prior : NAN;
    row->min_p = has_p ? engine.min_p : NAN;
    row->n_sets = n;
    row->n_decisions = run->offsets[first + n] - run->offsets[first];
    acq_status status = measure_costs(&run->decisions[run->offsets[first]], row);
    if (status != ACQ_OK)
        return status;
    return is_qac ? measure_qac(run, first, n, row) : measure_qar(run, first, n, row);
}

static void add_dirt(acq_eval_row *row, const acq_bench_dirt *dirt)
{
    row->n_extra += dirt->n_extra;
    row->n_answerless += dirt->n_unlisted;
    row->n_denied += dirt->n_denied;
    row->n_repeated += dirt->n_repeated;
    row->n_replaced += dirt->n_replaced;
    row->n_left_out += dirt->n_left_out;
    if (row->why_out == NULL)
        row->why_out = dirt->why_out;
}

static acq_status measure_all(const evaluation *run, acq_eval_row *rows)
{
    acq_eval_row *total = &rows[run->n_files];
    acq_status status = ACQ_OK;
    *total = (acq_eval_row){.file = "total"};
    for (size_t i = 0; i < run->n_files && status == ACQ_OK; i++) {
        const stretch *part = &run->stretches[i];
        rows[i] = (acq_eval_row){.file = acq_bench_file_get_name(run->files[i]),
                                 .atoms = acq_atoms_reading_get_name(part->atoms),
                                 .says_atoms = run->files[i]->has_atoms && !run->params->has_atoms,
                                 .n_doubles = run->files[i]->n_doubles,
                                 .n_queries = part->n_queries};
        status = measure(run, part->first_item, part->n_items, &rows[i]);
        add_dirt(&rows[i], &run->files[i]->dirt);
        add_dirt(total, &run->files[i]->dirt);
        total->n_queries += part->n_queries;
        total->n_doubles += rows[i].n_doubles;
        bool differs = part->atoms != run->stretches[0].atoms;
        total->atoms = i == 0 ? rows[0].atoms : differs ? "mixed" : total->atoms;
    }
    for (size_t i = 0; run->params->decision_ms != NULL && i < run->offsets[run->n_items]; i++)
        run->params->decision_ms[i] = run->decisions[i].ms;
    return status == ACQ_OK ? measure(run, 0, run->n_items, total) : status;
}

/* One base for all queries: making it costs more than most of them. */
static acq_status open_sql(acq_eval_params *params, acq_error *error)
{
    bool is_wanted = params->engine.engine == ACQ_ENGINE_sql && params->engine.search.sql == NULL;
    acq_search_params *search = &params->engine.search;
    return is_wanted
               ? acq_sql_base_new(params->predictor, search->sql_library, &search->sql, error)
               : ACQ_OK;
}

acq_status acq_eval_run(const acq_eval_params *given, const acq_bench_file *const *files,
                        size_t n_files, acq_eval_row *rows, acq_error *error)
{
    acq_eval_params params = *given;
    evaluation run = {.params = &params, .files = files, .n_files = n_files};
    acq_status status = open_sql(&params, error);
    if (status == ACQ_OK)
        status = plan(&run, error);
    for (size_t i = 0; i < n_files && status == ACQ_OK; i++)
        status = decide_file(&run, i, error);
    if (status == ACQ_OK)
        status = acq_ranks_join(params.ranks, run.decisions, run.offsets[run.n_items],
                                sizeof *run.decisions, error);
    if (status == ACQ_OK && measure_all(&run, rows) != ACQ_OK)
        status = acq_fail_memory(error);
    unplan(&run);
    if (params.engine.search.sql != given->engine.search.sql)
        acq_sql_base_free(params.engine.search.sql);
    return status;
}
