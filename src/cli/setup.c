/* setup.c - see setup.h. */
#include "cli/setup.h"

#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/progress.h"
#include "base/file.h"

/* A store was read when it was imported: what says how to read does not apply to it. */
static acq_status check_store_options(const acq_options *options, const char *path,
                                      acq_output *output, acq_error *error)
{
    if (acq_options_has(options, split))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "%.200s is a store, which has no splits; import the folder with --split %s",
                        path, options->split);
    if (options->read_format != NULL)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "%.200s is a store, which has a format of its own; leave --format out",
                        path);
    if (options->literals || options->named_graphs || options->base != NULL)
        acq_report_note(output,
                        "%s is a store: --base, --literals and --named-graphs count when it is "
                        "imported",
                        path);
    return ACQ_OK;
}

acq_status acq_setup_read_graph(const acq_options *options, const char *path, acq_output *output,
                                acq_graph **out, acq_read_report *report, acq_error *error)
{
    acq_reading reading;
    acq_read_report own = {.size = sizeof own};
    acq_graph_params params;
    acq_reading_init(&reading, output);
    acq_reading_init_params(&reading, options, &params);
    params.report = &own;
    acq_status status = acq_reading_check_split(options, error);
    if (status == ACQ_OK && acq_store_is_database(path))
        status = check_store_options(options, path, output, error);
    if (status == ACQ_OK)
        status = acq_graph_open(path, &params, out, error);
    acq_reading_finish(&reading, path, status == ACQ_OK ? &own : NULL);
    if (status == ACQ_OK && report != NULL)
        *report = own;
    return status;
}

acq_status acq_setup_require_store(const char *path, acq_error *error)
{
    if (acq_store_is_database(path))
        return ACQ_OK;
    bool is_missing = acq_file_get_kind(path) == ACQ_FILE_MISSING;
    acq_status status =
        acq_fail(error, ACQ_ERR_INPUT, "%s; make a store with anycq import SOURCE -o GRAPH",
                 is_missing ? "there is no such file" : "this is no store");
    acq_error_set_file(error, path);
    return status;
}

acq_status acq_setup_check_names(const acq_graph *graph, acq_output *output, size_t start,
                                 acq_error *error)
{
    acq_status status = acq_graph_get_failure(graph, error);
    if (status == ACQ_OK || output->data.length <= start)
        return status;
    output->data.length = start;
    output->data.bytes[start] = '\0';
    return status;
}

static void note_perfect(acq_output *output, const acq_predictor_report *report)
{
    if (report->denied_facts > 0)
        acq_report_note(output,
                        "the perfect predictor's graph lacks %llu observed facts: they count as "
                        "false",
                        (unsigned long long)report->denied_facts);
    if (report->unknown_entities == 0 && report->dropped_facts == 0)
        return;
    acq_report_note(output,
                    "the perfect predictor leaves out %llu facts about %llu entities that the "
                    "graph does not know",
                    (unsigned long long)report->dropped_facts,
                    (unsigned long long)report->unknown_entities);
}

/* New facts win over a completion that was made before them; that is worth a word. */
static void note_completion(acq_output *output, const acq_predictor_report *report)
{
    if (report->is_outdated)
        acq_report_note(output, "the completion was made from other facts of these entities; the "
                                "graph's facts win, and complete makes it anew");
}

/* What the predictor says of itself, as that the graph is too small; else how to get more. */
static const char *get_ultra_note(const acq_predictor *predictor)
{
    const char *note = acq_predictor_get_note(predictor);
    return note != NULL && note[0] != '\0'
               ? note
               : "predicted without a fit; anycq fit learns more from this graph";
}

void acq_setup_note_auto(const acq_options *options, const acq_predictor *predictor,
                         acq_output *output)
{
    const char *name = acq_predictor_get_name(predictor);
    if (strcmp(options->predictor, "auto") != 0)
        return;
    if (strcmp(name, "observed") == 0)
        acq_report_note(output, "without --predictor only observed facts count");
    else if (strcmp(name, "ultra") == 0)
        acq_report_note(output, "%s", get_ultra_note(predictor));
    else
        acq_report_note(output, "predicted by %s", name);
}

acq_status acq_setup_check_choice(enum acq_option_id option, const char *text, const char *first,
                                  const char *second, acq_error *error)
{
    if (text == NULL || strcmp(text, first) == 0 || strcmp(text, second) == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE, "option --%s is %s or %s, not \"%.100s\"",
                    acq_option_get(option)->name, first, second, text);
}

acq_status acq_setup_check_candidates(const acq_options *options, acq_error *error)
{
    acq_status status =
        acq_setup_check_choice(ACQ_OPTION_rows, options->rows, "both", "smaller", error);
    return status == ACQ_OK
               ? acq_setup_check_choice(ACQ_OPTION_tails, options->tails, "all", "seen", error)
               : status;
}

static acq_status open_predictor(acq_setup *setup, const acq_options *options, const char *path,
                                 acq_output *output, acq_error *error)
{
    acq_reading reading;
    acq_graph_params read;
    acq_predictor_params params;
    acq_predictor_report report = {.size = sizeof report};
    acq_reading_init(&reading, output);
    acq_reading_init_params(&reading, options, &read);
    read.format = NULL; /* --format is the graph's */
    acq_predictor_params_init(&params);
    params.graph_path = path;
    params.read = &read;
    params.direction = options->direction;
    params.scaling = options->scaling;
    params.rows = options->rows;
    params.tails = options->tails;
    params.floor = options->links_floor;
    params.visit = options->visit;
    params.memory_bytes = options->memory << 20;
    params.report = &report;
    acq_status status = acq_setup_check_candidates(options, error);
    if (status == ACQ_OK)
        status =
            acq_predictor_new(setup->graph, options->predictor, &params, &setup->predictor, error);
    acq_read_report unknown = {0}; /* the predictor keeps it to itself */
    acq_reading_finish(&reading, options->predictor, status == ACQ_OK ? &unknown : NULL);
    if (status != ACQ_OK)
        return status;
    note_perfect(output, &report);
    note_completion(output, &report);
    if (options->command == ACQ_COMMAND_complete || options->command == ACQ_COMMAND_eval)
        acq_setup_note_auto(options, setup->predictor, output);
    return ACQ_OK;
}

static bool is_policy(const acq_options *options)
{
    return strcmp(options->engine, "policy") == 0;
}

/* They are checked before a graph is read, which may take long. */
static acq_status open_weights(acq_setup *setup, const acq_options *options, acq_error *error)
{
    if (!is_policy(options))
        return ACQ_OK;
    return acq_policy_open(options->weights, options->seed, &setup->policy, error);
}

acq_status acq_setup_init(acq_setup *setup, const acq_options *options, const char *path,
                          acq_output *output, acq_error *error)
{
    *setup = (acq_setup){0};
    acq_status status = acq_predictor_check_spec(options->predictor, error);
    if (status == ACQ_OK)
        status = open_weights(setup, options, error);
    if (status == ACQ_OK)
        status = acq_setup_read_graph(options, path, output, &setup->graph, &setup->report, error);
    if (status == ACQ_OK)
        status = open_predictor(setup, options, path, output, error);
    return status;
}

acq_status acq_setup_open_believed(acq_setup *setup, const acq_options *options,
                                   bool with_predictor, const char *path, acq_output *output,
                                   acq_error *error)
{
    acq_status status = acq_predictor_check_spec(options->predictor, error);
    if (status == ACQ_OK)
        status = open_weights(setup, options, error);
    if (status == ACQ_OK && with_predictor)
        status = open_predictor(setup, options, path, output, error);
    if (status != ACQ_OK) {
        acq_policy_free(setup->policy);
        setup->policy = NULL;
    }
    return status;
}

void acq_setup_deinit(acq_setup *setup)
{
    acq_predictor_free(setup->predictor);
    acq_graph_free(setup->graph);
    acq_policy_free(setup->policy);
    *setup = (acq_setup){0};
}

#define ENGINES "exact, policy, climb, random, sql, qto, fit, gnnqe or ultraquery"

static acq_status check_engine(const char *name, acq_error *error)
{
    acq_nearest nearest;
    const char *known;
    acq_nearest_init(&nearest, name);
    for (size_t i = 0; (known = acq_get_engine(i)) != NULL; i++) {
        if (strcmp(name, known) == 0)
            return ACQ_OK;
        acq_nearest_offer(&nearest, known);
    }
    if (nearest.best != NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "no engine \"%.100s\"; did you mean %s?", name,
                        nearest.best);
    return acq_fail(error, ACQ_ERR_USAGE, "no engine \"%.100s\"; use " ENGINES, name);
}

acq_status acq_setup_check_calibrator(const acq_options *options, const acq_predictor *predictor,
                                      acq_error *error)
{
    bool is_eval = options->command == ACQ_COMMAND_eval; /* which always prints its prior */
    bool wants_min_p = acq_options_has(options, min_p);
    const char *name = wants_min_p ? "min-p" : "prior";
    if (!wants_min_p && (is_eval || !acq_options_has(options, prior)))
        return ACQ_OK;
    bool leaves_out = options->paper || options->binarize > 0;
    if (acq_predictor_is_calibrated(predictor) && !leaves_out)
        return ACQ_OK;
    if (leaves_out)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --%s is for answers with a probability, which --%s leaves out",
                        name, options->paper ? "paper" : "binarize");
    return acq_fail(
        error, ACQ_ERR_USAGE,
        "option --%s needs a calibrator, which the predictor %.200s does not have; make "
        "one with anycq fit, or use --threshold",
        name, acq_predictor_get_name(predictor));
}

/* What only the policy search understands. */
static acq_status check_policy_options(const acq_options *options, acq_error *error)
{
    static const enum acq_option_id own[] = {ACQ_OPTION_weights, ACQ_OPTION_restart, ACQ_OPTION_pe,
                                             ACQ_OPTION_trace};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        if (options->given[own[i]] && !is_policy(options))
            return acq_fail(error, ACQ_ERR_USAGE,
                            "option --%s is for the policy search; add --engine policy",
                            acq_option_get(own[i])->name);
    }
    if (strcmp(options->pe, "observed") != 0 && strcmp(options->pe, "exact") != 0)
        return acq_fail(error, ACQ_ERR_USAGE, "no PE labels \"%.100s\"; use exact or observed",
                        options->pe);
    return ACQ_OK;
}

acq_status acq_setup_read_ask(const acq_options *options, acq_ask_params *out, acq_error *error)
{
    acq_status status = check_engine(options->engine, error);
    if (status == ACQ_OK)
        status = check_policy_options(options, error);
    if (status != ACQ_OK)
        return status;
    acq_ask_params_init(out);
    out->engine = options->engine;
    if (acq_options_has(options, threshold))
        out->threshold = options->threshold;
    if (acq_options_has(options, negation_threshold))
        out->negation_threshold = options->negation_threshold;
    if (acq_options_has(options, prior))
        out->prior = options->prior;
    if (acq_options_has(options, min_p))
        out->min_p = options->min_p;
    out->new_only = options->new_only;
    out->binarize = options->binarize;
    out->paper = options->paper;
    out->seconds = options->time;
    out->memory_bytes = options->memory << 20;
    out->steps = options->steps;
    out->seed = options->seed;
    out->restart = options->restart;
    out->observed_pe = strcmp(options->pe, "observed") == 0;
    out->negation_scale = options->negation_scale;
    out->t_norm = options->t_norm;
    out->sql_library = options->sql_library;
    out->input_threshold = options->input_threshold;
    return ACQ_OK;
}

acq_status acq_setup_find_relation(const acq_graph *graph, const char *name, acq_rel *out,
                                   acq_error *error)
{
    size_t length = strlen(name);
    *out = acq_graph_find_relation(graph, name, length);
    if (*out != UINT32_MAX)
        return ACQ_OK;
    const char *near = acq_graph_suggest_relation(graph, name, length);
    return near == NULL
               ? acq_fail(error, ACQ_ERR_NAME, "no relation \"%.160s\" in this graph", name)
               : acq_fail(error, ACQ_ERR_NAME,
                          "no relation \"%.160s\" in this graph; did you mean \"%.160s\"?", name,
                          near);
}
