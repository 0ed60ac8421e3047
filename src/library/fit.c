/* fit.c - from facts to links with probabilities (fit/fit.h), for programs. */
#include "fit/fit.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "library/parts.h"

static acq_fit_completion_params get_defaults(void)
{
    acq_fit_params own;
    acq_fit_params_init(&own);
    return (acq_fit_completion_params){.models = "auto",
                                       .hold_share = own.hold_share,
                                       .effort = "normal",
                                       .floor = own.floor,
                                       .seed = own.seed,
                                       .hold = "auto",
                                       .top = own.top,
                                       .rows = "both",
                                       .tails = "all"};
}

void acq_fit_completion_params_init_sized(acq_fit_completion_params *params, size_t size)
{
    acq_fit_completion_params own = get_defaults();
    acq_sized_init(params, size, &own, sizeof own);
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* Takes "complex+ultra" apart. */
static acq_status read_models(const char *models, acq_fit_params *out, acq_error *error)
{
    static const char *const words[] = {"complex", "nbfnet", "ultra", "rules"};
    bool *uses[] = {&out->use_complex, &out->use_nbfnet, &out->use_ultra, &out->use_rulebook};
    const size_t n_words = sizeof words / sizeof *words;
    out->chooses = strcmp(models, "auto") == 0;
    out->use_complex = out->use_rulebook = out->chooses;
    for (const char *name = out->chooses ? NULL : models; name != NULL;) {
        size_t length = strcspn(name, "+");
        bool is_all = is_word(name, length, "all"), is_known = is_all;
        for (size_t i = 0; i < n_words; i++) {
            bool is_this = is_all || is_word(name, length, words[i]);
            *uses[i] = *uses[i] || is_this;
            is_known = is_known || is_this;
        }
        if (!is_known)
            return acq_fail(
                error, ACQ_ERR_USAGE,
                "no predictor \"%.100s\" to fit; use complex, nbfnet, ultra, rules, all, "
                "or some, as in complex+rules",
                models);
        name = name[length] == '\0' ? NULL : name + length + 1;
    }
    return ACQ_OK;
}

static acq_status check_numbers(const acq_fit_completion_params *params, acq_error *error)
{
    if (!(params->hold_share > 0 && params->hold_share < 1))
        return acq_fail(error, ACQ_ERR_USAGE, "hold_share %g is not between 0 and 1",
                        params->hold_share);
    if (!(params->floor >= 0 && params->floor < 1))
        return acq_fail(error, ACQ_ERR_USAGE, "floor %g is not between 0 and 1", params->floor);
    if (!(params->seconds >= 0))
        return acq_fail(error, ACQ_ERR_USAGE, "seconds %g is no time limit; 0 means none",
                        params->seconds);
    if (!(params->tune_seconds >= 0))
        return acq_fail(error, ACQ_ERR_USAGE, "tune_seconds %g is no time; 0 means none",
                        params->tune_seconds);
    if (!(params->epochs >= 0) || params->top == 0)
        return acq_fail(error, ACQ_ERR_USAGE, "epochs and top must be above 0");
    return ACQ_OK;
}

/* *out: which of the words it is; NULL leaves it. */
static acq_status choose_word(const char *field, const char *word, const char *const words[3],
                              unsigned *out, acq_error *error)
{
    for (unsigned i = 0; word != NULL && i < 3; i++)
        if (strcmp(word, words[i]) == 0) {
            *out = i;
            return ACQ_OK;
        }
    return word == NULL ? ACQ_OK
                        : acq_fail(error, ACQ_ERR_USAGE, "no %s \"%.100s\"; use %s, %s or %s",
                                   field, word, words[0], words[1], words[2]);
}

static acq_status read_choices(const acq_fit_completion_params *params, acq_fit_params *out,
                               acq_error *error)
{
    static const char *const holds[] = {"auto", "links", "pairs"};
    static const char *const efforts[] = {"quick", "normal", "best"};
    static const acq_hold hold_ids[] = {ACQ_HOLD_AUTO, ACQ_HOLD_LINKS, ACQ_HOLD_PAIRS};
    unsigned hold = 0, effort = ACQ_FIT_NORMAL;
    acq_status status = choose_word("hold", params->hold, holds, &hold, error);
    if (status == ACQ_OK)
        status = choose_word("effort", params->effort, efforts, &effort, error);
    out->hold = hold_ids[hold];
    out->effort = (acq_fit_effort)effort;
    return status;
}

static acq_status read_words(const acq_fit_completion_params *params, acq_fit_params *out,
                             acq_error *error)
{
    bool is_smaller, is_seen;
    acq_status status = read_choices(params, out, error);
    if (status == ACQ_OK)
        status = acq_library_choose("rows", params->rows, "both", "smaller", &is_smaller, error);
    if (status == ACQ_OK)
        status = acq_library_choose("tails", params->tails, "all", "seen", &is_seen, error);
    if (status == ACQ_OK && params->models != NULL)
        status = read_models(params->models, out, error);
    if (status != ACQ_OK)
        return status;
    out->rows = is_smaller ? ACQ_ROWS_SMALLER : ACQ_ROWS_BOTH;
    out->tails = is_seen ? ACQ_TAILS_SEEN : ACQ_TAILS_ALL;
    if (params->ultra != NULL && !out->use_ultra)
        return acq_fail(error, ACQ_ERR_USAGE, "weights of ultra are for the models ultra or all");
    if (params->tune_seconds > 0 && !out->use_ultra)
        return acq_fail(error, ACQ_ERR_USAGE, "tune_seconds is for the models ultra or all");
    return ACQ_OK;
}

static void take_numbers(const acq_fit_completion_params *params, acq_fit_params *out)
{
    out->earlier = params->earlier;
    out->hold_share = params->hold_share;
    out->complex.epochs = params->epochs;
    out->complex.rank = params->rank;
    if (params->f32)
        out->complex.precision = ACQ_PRECISION_F32;
    out->seconds = params->seconds;
    out->tune_seconds = params->tune_seconds;
    out->begin_ns = acq_clock_ns() - (int64_t)(params->seconds_before * 1e9);
    out->floor = params->floor;
    out->top = params->top;
    out->use_rules = !params->no_rules;
    out->use_neighbours = !params->no_neighbours;
    out->use_lifts = !params->no_lifts;
    out->seed = params->seed;
    out->n_threads = params->threads > 0 ? params->threads : out->n_threads;
    out->resume = params->resume;
    out->keeps = params->keep;
    out->svg = params->svg;
    out->relation = params->relation;
    out->relation_context = params->relation_context;
    out->in_pieces = params->pieces;
    out->note = params->note;
    out->note_context = params->note_context;
    out->part = params->part;
    out->part_context = params->part_context;
}

/* What a call needs: the caller's parameters, and those of the fit made of them. */
typedef struct fit_call {
    acq_fit_completion_params params;
    acq_fit_params fit;
    acq_ultra *ultra;
    acq_text folder;
    acq_library_listener listener;
} fit_call;

/* Deinit also after an error. */
static acq_status init_call(fit_call *call, const char *function,
                            const acq_fit_completion_params *given, acq_error *error)
{
    *call = (fit_call){.params = get_defaults()};
    const acq_fit_completion_params *params = &call->params;
    acq_status status = acq_sized_read(function, given, &call->params, sizeof call->params, error);
    acq_fit_params_init(&call->fit);
    if (status == ACQ_OK)
        status = check_numbers(params, error);
    if (status == ACQ_OK)
        status = read_words(params, &call->fit, error);
    if (status == ACQ_OK && params->ultra != NULL)
        status = acq_ultra_read(params->ultra, &call->ultra, error);
    take_numbers(params, &call->fit);
    call->fit.ultra = call->ultra;
    call->fit.ranks = params->ranks;
    call->listener = (acq_library_listener){
        .progress = params->progress, .context = params->context, .unit = "", .scale = 1000};
    call->fit.progress = acq_library_tell;
    call->fit.context = &call->listener;
    return status;
}

static void deinit_call(fit_call *call)
{
    acq_ultra_free(call->ultra);
    acq_text_deinit(&call->folder);
    acq_text_deinit(&call->listener.text);
}

acq_status acq_fit_completion_check(const acq_fit_completion_params *given, acq_error *error)
{
    fit_call call;
    acq_status status = init_call(&call, __func__, given, error);
    deinit_call(&call);
    return status;
}

acq_status acq_fit_completion_plan(const acq_graph *graph, const acq_fit_completion_params *given,
                                   char *out, size_t size, acq_error *error)
{
    ACQ_REQUIRE(graph, error);
    ACQ_REQUIRE(out, error);
    fit_call call;
    acq_text text = {0};
    acq_status status = init_call(&call, __func__, given, error);
    if (status == ACQ_OK)
        status = acq_fit_print_plan(graph, &call.fit, &text, error);
    if (status == ACQ_OK)
        acq_format(out, size, "%s", text.bytes);
    acq_text_deinit(&text);
    deinit_call(&call);
    return status;
}

/* PATH.fit, which only a fit that goes on may find there. */
static acq_status name_folder(fit_call *call, const char *path, acq_error *error)
{
    acq_text_format(&call->folder, "%s.fit", path);
    acq_status status = acq_text_finish(&call->folder, error);
    if (status != ACQ_OK)
        return status;
    bool is_there = acq_file_get_kind(call->folder.bytes) != ACQ_FILE_MISSING;
    call->fit.folder = call->folder.bytes;
    call->fit.resume = is_there;
    if (!is_there || call->params.resume)
        return ACQ_OK;
    acq_fail(error, ACQ_ERR_USAGE,
             "this is of a fit that has not ended; set resume, or remove it to begin anew");
    acq_error_set_file(error, call->folder.bytes);
    return ACQ_ERR_USAGE;
}

acq_status acq_fit_completion(const acq_graph *graph, const char *path,
                              const acq_fit_completion_params *given, acq_error *error)
{
    ACQ_REQUIRE(graph, error);
    ACQ_REQUIRE(path, error);
    fit_call call;
    acq_fit_report report;
    acq_status status = init_call(&call, __func__, given, error);
    if (status == ACQ_OK)
        status = name_folder(&call, path, error);
    if (status == ACQ_OK)
        status = acq_fit(graph, path, &call.fit, &report, error);
    if (status == ACQ_OK)
        acq_sized_fill(call.params.report, &report, sizeof report);
    deinit_call(&call);
    return status;
}
