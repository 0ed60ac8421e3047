/* train.c - training a model from a program; see train/options.h for what it does. */
#include "library/parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "models/rulebook/rulebook.h"
#include "train/options.h"

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
    return acq_fail(
        error, ACQ_ERR_USAGE,
        "no model \"%.100s\" to train; use complex, nbfnet, gnnqe, ultra, rules or policy", name);
}

acq_status acq_train_check(const char *kind, const acq_train_option *options, size_t n_options,
                           acq_error *error)
{
    ACQ_REQUIRE(kind, error);
    if (n_options > 0)
        ACQ_REQUIRE(options, error);
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
                                       .n_options = params.n_options,
                                       .output = output,
                                       .version = ACQ_VERSION,
                                       .commit = params.commit,
                                       .ranks = params.ranks,
                                       .begin_ns =
                                           acq_clock_ns() - (int64_t)(params.seconds_before * 1e9)};
    if (status == ACQ_OK && params.options == NULL && params.n_options > 0)
        status = acq_fail(error, ACQ_ERR_USAGE, "acq_train: params->options is NULL");
    if (status == ACQ_OK)
        status = find_kind(kind, &run_params.kind, error);
    if (status == ACQ_OK && params.ranks != NULL && run_params.kind == ACQ_TRAIN_RULES)
        status = acq_fail(error, ACQ_ERR_USAGE, "the training of rules is not shared over ranks");
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

/* ---- rules ----
 *
 * The rules of a model, for people and programs to read. */

struct acq_rule_reader {
    acq_rulebook_file *file;
    const acq_learnt_rule **rules; /* most confident first */
    size_t n;
    acq_text text; /* of the rule that was read last */
};

/* Rules have an order of their own where confidence and support are equal. */
static int compare(const void *a, const void *b)
{
    const acq_learnt_rule *x = *(const acq_learnt_rule *const *)a;
    const acq_learnt_rule *y = *(const acq_learnt_rule *const *)b;
    double p = acq_learnt_rule_get_confidence(x), q = acq_learnt_rule_get_confidence(y);
    bool is_cycle = x->constant == ACQ_NO_ID;
    if (p != q)
        return p > q ? -1 : 1;
    if (x->support != y->support)
        return x->support > y->support ? -1 : 1;
    if (is_cycle != (y->constant == ACQ_NO_ID))
        return is_cycle ? -1 : 1;
    return (x > y) - (x < y); /* of one array */
}

static acq_status order(acq_rule_reader *r, acq_error *error)
{
    const acq_rulebook *book = acq_rulebook_file_get(r->file);
    r->rules = acq_alloc(book->n_cycles + book->n_constants, sizeof *r->rules);
    if (r->rules == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < book->n_cycles; i++)
        r->rules[r->n++] = &book->cycles[i];
    for (size_t i = 0; i < book->n_constants; i++)
        r->rules[r->n++] = &book->constants[i];
    if (r->n > 0)
        qsort((void *)r->rules, r->n, sizeof *r->rules, compare);
    return ACQ_OK;
}

bool acq_rules_is_model(const char *path)
{
    return path != NULL && acq_rulebook_is_one(path);
}

acq_status acq_rule_reader_open(const char *path, acq_rule_reader **out, acq_error *error)
{
    ACQ_REQUIRE(path, error);
    ACQ_REQUIRE(out, error);
    acq_rule_reader *r = acq_zalloc(1, sizeof *r);
    if (r == NULL)
        return acq_fail_memory(error);
    acq_status status = acq_rulebook_open(path, &r->file, error);
    if (status == ACQ_OK)
        status = order(r, error);
    if (status == ACQ_OK)
        *out = r;
    else
        acq_rule_reader_close(r);
    return status;
}

void acq_rule_reader_close(acq_rule_reader *reader)
{
    if (reader == NULL)
        return;
    acq_rulebook_close(reader->file);
    acq_free((void *)reader->rules);
    acq_text_deinit(&reader->text);
    acq_free(reader);
}

void acq_rule_reader_describe(const acq_rule_reader *reader, acq_rules_summary *out)
{
    if (reader == NULL || out == NULL)
        return;
    const acq_rulebook *book = acq_rulebook_file_get(reader->file);
    acq_rules_summary own = {
        .n_rules = reader->n,
        .n_with_entities = book->n_constants,
        .n_entities = book->n_entities,
        .n_relations = book->n_relations / 2,
        .aggregation = acq_rule_aggregation_get_name(book->aggregation),
        .data = acq_rulebook_file_get_metadata(reader->file, "data"),
        .options = acq_rulebook_file_get_metadata(reader->file, "options"),
    };
    acq_sized_fill(out, &own, sizeof own);
}

bool acq_rule_reader_get(acq_rule_reader *reader, uint64_t i, acq_rule_view *out)
{
    if (reader == NULL || out == NULL || i >= reader->n)
        return false;
    const acq_learnt_rule *rule = reader->rules[i];
    acq_text_clear(&reader->text);
    acq_rulebook_file_print(reader->file, rule, &reader->text);
    acq_rule_view own = {.text = reader->text.failed ? "(out of memory)" : reader->text.bytes,
                         .confidence = acq_learnt_rule_get_confidence(rule),
                         .support = rule->support,
                         .pairs = rule->pairs,
                         .cluster = rule->cluster};
    acq_sized_fill(out, &own, sizeof own);
    return true;
}
