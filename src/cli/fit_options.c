/* fit_options.c - see fit_options.h. */
#include "cli/fit_options.h"

#include <string.h>

#include "cli/options.h"

/* One of two words; text NULL: the default stays. */
static acq_status take_choice(enum acq_option_id option, const char *text, const char *const *words,
                              int *out, acq_error *error)
{
    for (int i = 0; i < 2 && text != NULL; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            return ACQ_OK;
        }
    }
    if (text == NULL)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE, "option --%s is %s or %s, not \"%.100s\"",
                    acq_option_get(option)->name, words[0], words[1], text);
}

acq_status acq_fit_read_candidates(const acq_options *options, acq_row_choice *rows,
                                   acq_tail_choice *tails, acq_error *error)
{
    static const char *const row_words[] = {"both", "smaller"}, *const tail_words[] = {"all",
                                                                                       "seen"};
    int row = *rows, tail = *tails;
    acq_status status = take_choice(ACQ_OPTION_rows, options->rows, row_words, &row, error);
    if (status == ACQ_OK)
        status = take_choice(ACQ_OPTION_tails, options->tails, tail_words, &tail, error);
    *rows = (acq_row_choice)row;
    *tails = (acq_tail_choice)tail;
    return status;
}

static acq_status take_hold(const acq_options *options, acq_fit_params *params, acq_error *error)
{
    static const char *const words[] = {"links", "pairs"};
    int hold = (int)params->hold;
    acq_status status = take_choice(ACQ_OPTION_hold, options->hold, words, &hold, error);
    params->hold = (acq_fit_hold)hold;
    return status;
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* One name, or several as complex+ultra. */
static acq_status take_predictor(const acq_options *options, acq_fit_params *params,
                                 acq_error *error)
{
    const char *names = options->fit_predictor, *name = names;
    params->use_complex = params->use_nbfnet = params->use_ultra = false;
    for (bool is_last = false; !is_last;) {
        size_t length = strcspn(name, "+");
        bool is_all = is_word(name, length, "all");
        bool *uses[] = {&params->use_complex, &params->use_nbfnet, &params->use_ultra};
        static const char *const words[] = {"complex", "nbfnet", "ultra"};
        bool is_known = is_all;
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            bool is_this = is_all || is_word(name, length, words[i]);
            *uses[i] = *uses[i] || is_this;
            is_known = is_known || is_this;
        }
        if (!is_known)
            return acq_fail(error, ACQ_ERR_USAGE,
                            "no predictor \"%.100s\" to fit; use complex, nbfnet, ultra, all, or "
                            "some, as in complex+ultra",
                            names);
        is_last = name[length] == '\0';
        name += length + 1;
    }
    if (options->ultra != NULL && !params->use_ultra)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --ultra is for --predictor ultra or all, not %s", names);
    return ACQ_OK;
}

/* What is given replaces the default. */
static void take_numbers(const acq_options *options, acq_fit_params *params)
{
#define TAKE(option, member)                                                                       \
    if (acq_options_has(options, option))                                                          \
    params->member = options->option
    TAKE(hold_share, hold_share);
    TAKE(links_floor, floor);
    if (acq_options_has(options, fit_top))
        params->top = (uint32_t)options->fit_top;
    TAKE(fit_time, seconds);
    TAKE(epochs, complex.epochs);
    if (acq_options_has(options, rank))
        params->complex.rank = (uint32_t)options->rank;
#undef TAKE
}

acq_status acq_fit_read_params(const acq_options *options, acq_fit_params *out, acq_error *error)
{
    acq_fit_params params;
    acq_fit_params_init(&params);
    take_numbers(options, &params);
    params.use_rules = !options->no_rules;
    params.use_neighbours = !options->no_neighbours;
    params.use_lifts = !options->no_lifts;
    params.seed = options->train_seed;
    if (options->f32)
        params.complex.precision = ACQ_PRECISION_F32;
    if (acq_options_has(options, train_threads))
        params.n_threads = (unsigned)options->train_threads;
    acq_status status = take_predictor(options, &params, error);
    if (status == ACQ_OK)
        status = take_hold(options, &params, error);
    if (status == ACQ_OK)
        status = acq_fit_read_candidates(options, &params.rows, &params.tails, error);
    if (status == ACQ_OK)
        *out = params;
    return status;
}
