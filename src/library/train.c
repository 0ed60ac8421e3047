/* train.c - training a model from a program; see train/run.h for what it does. */
#include "library/parts.h"

#include <math.h>

#include "base/memory.h"
#include "train/run.h"

struct acq_trained {
    acq_train_report report;
    acq_train_kind kind;
};

void acq_train_params_init_sized(acq_train_params *params, size_t size)
{
    acq_train_params own = {0};
    acq_sized_init(params, size, &own, sizeof own);
}

static const char *print_progress(acq_library_listener *l, const acq_train_progress *now)
{
    bool is_whole = now->total == floor(now->total) && now->done == floor(now->done);
    int digits = is_whole || now->total >= 1000 ? 0 : 1;
    if (now->text != NULL)
        return now->text;
    acq_text_clear(&l->text);
    acq_text_format(&l->text, "%.30s", l->phase == NULL ? now->phase : l->phase);
    if (now->total > 0 && now->done >= 0)
        acq_text_format(&l->text, "  %.*f of %.*f%s%s", digits, now->done, digits, now->total,
                        l->unit[0] == '\0' ? "" : " ", l->unit);
    if (isfinite(now->loss) && now->loss != 0)
        acq_text_format(&l->text, "  loss %.4g", now->loss);
    return l->text.failed ? NULL : l->text.bytes;
}

bool acq_library_tell(void *listener, const acq_train_progress *now)
{
    acq_library_listener *l = listener;
    if (l->progress == NULL)
        return true;
    acq_progress out = {.phase = l->phase == NULL ? now->phase : l->phase,
                        .done = (uint64_t)(l->scale * fmax(now->done, 0)),
                        .total = (uint64_t)(l->scale * now->total),
                        .loss = now->loss,
                        .text = print_progress(l, now)};
    return l->progress(l->context, &out);
}

static acq_status find_kind(const char *name, acq_train_kind *out, acq_error *error)
{
    *out = acq_train_kind_find(name);
    if (*out != ACQ_N_TRAIN_KINDS)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "no model \"%.100s\" to train; use complex, nbfnet, gnnqe, ultra, rules or policy",
                    name);
}

acq_status acq_train_check(const char *kind, const acq_train_option *options, size_t n_options,
                           acq_error *error)
{
    ACQ_REQUIRE(kind, error);
    acq_train_kind found;
    acq_train_settings settings;
    acq_status status = find_kind(kind, &found, error);
    if (status != ACQ_OK)
        return status;
    acq_train_options_init(found, &settings);
    return acq_train_options_set(found, options, n_options, &settings, error);
}

static acq_status run(const acq_train_run_params *run_params, const acq_train_params *params,
                      acq_trained **out, acq_error *error)
{
    acq_trained *trained = acq_zalloc(1, sizeof *trained);
    if (trained == NULL)
        return acq_fail_memory(error);
    acq_train_run_params own = *run_params;
    bool is_complex = run_params->kind == ACQ_TRAIN_COMPLEX;
    acq_library_listener l = {.progress = params->progress,
                              .context = params->context,
                              .phase = "training",
                              .unit = is_complex ? "epochs" : "batches",
                              .scale = is_complex ? 1000 : 1};
    own.progress = acq_library_tell;
    own.context = &l;
    trained->kind = own.kind;
    acq_status status = acq_train_run(&own, &trained->report, error);
    acq_text_deinit(&l.text);
    if (status == ACQ_OK && out != NULL)
        *out = trained;
    else
        acq_trained_free(trained);
    return status;
}

acq_status acq_train(const char *kind, const acq_graph *const *graphs, size_t n_graphs,
                     const char *output, const acq_train_params *given, acq_trained **out,
                     acq_error *error)
{
    ACQ_REQUIRE(kind, error);
    ACQ_REQUIRE(graphs, error);
    ACQ_REQUIRE(output, error);
    for (size_t i = 0; i < n_graphs; i++)
        if (graphs[i] == NULL)
            return acq_fail(error, ACQ_ERR_USAGE, "acq_train: graphs[%zu] is NULL", i);
    acq_train_params params = {0};
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    acq_train_run_params run_params = {.graphs = graphs,
                                       .names = params.names,
                                       .n_graphs = n_graphs,
                                       .options = params.options,
                                       .n_options = params.options == NULL ? 0 : params.n_options,
                                       .output = output,
                                       .version = ACQ_VERSION,
                                       .commit = params.commit,
                                       .begin_ns =
                                           acq_clock_ns() - (int64_t)(params.seconds_before * 1e9)};
    if (status == ACQ_OK)
        status = find_kind(kind, &run_params.kind, error);
    return status == ACQ_OK ? run(&run_params, &params, out, error) : status;
}

void acq_trained_get(const acq_trained *trained, acq_train_summary *out)
{
    if (trained == NULL || out == NULL)
        return;
    const acq_train_report *r = &trained->report;
    acq_train_summary own = {.kind = acq_train_kind_get_name(trained->kind),
                             .unit = r->unit,
                             .done = r->done,
                             .loss = r->loss,
                             .seconds = r->seconds,
                             .seed = r->seed,
                             .threads = r->n_threads,
                             .options = r->options.bytes,
                             .episodes = r->episodes,
                             .held_solved = r->held_solved,
                             .first_seed = r->first_seed,
                             .n_seeds = r->n_seeds,
                             .seeds_held = r->seeds_held,
                             .dim = r->dim,
                             .uses_pe = r->uses_pe,
                             .held_queries = r->n_held_hubs,
                             .n_rules = r->n_rules};
    acq_sized_fill(out, &own, sizeof own);
}

void acq_trained_free(acq_trained *trained)
{
    if (trained == NULL)
        return;
    acq_train_report_deinit(&trained->report);
    acq_free(trained);
}
