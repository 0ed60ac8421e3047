/* train_options.c - see train_options.h. */
#include "cli/train_options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "cli/train_links.h"
#include "cli/width.h"

enum { TEXT_SIZE = 2048 };

/* What is given replaces the default. */
#define TAKE(option, field, type)                                                                  \
    do {                                                                                           \
        if (acq_options_has(options, option))                                                      \
            params->field = (type)options->option;                                                 \
    } while (0)

static void take_network(const acq_options *options, acq_train_policy_params *params)
{
    TAKE(dim, dim, uint32_t);
    TAKE(rate, optimizer.rate, double);
    TAKE(last_rate, optimizer.last_rate, double);
    TAKE(beta1, optimizer.beta1, double);
    TAKE(beta2, optimizer.beta2, double);
    TAKE(decay, optimizer.decay, double);
    TAKE(clip, optimizer.clip, double);
    TAKE(average, optimizer.average, double);
    if (options->no_pe)
        params->uses_pe = false;
}

static void take_episodes(const acq_options *options, acq_train_policy_params *params)
{
    TAKE(train_queries, queries, uint32_t);
    TAKE(rollouts, rollouts, uint32_t);
    TAKE(train_steps, steps, uint32_t);
    TAKE(discount, discount, double);
    TAKE(floor, floor, double);
    TAKE(scale, score_scale, double);
    TAKE(check_share, check_share, double);
    if (options->no_baseline)
        params->baseline = false;
}

static void take_hubs(const acq_options *options, acq_train_policy_params *params)
{
    TAKE(hub_share, hub_share, double);
    TAKE(hub_from, hub_from, double);
    TAKE(hubs, hub.most_hubs, uint32_t);
    TAKE(constants, hub.constants, double);
    TAKE(leaves_out, hub.leaves_out, double);
    TAKE(most_atoms, hub.most_atoms, uint32_t);
}

static void take_run(const acq_options *options, acq_train_policy_params *params)
{
    if (acq_options_has(options, train_time))
        params->batches = 0; /* the schedule follows the clock, unless batches are given too */
    TAKE(train_time, seconds, double);
    TAKE(batches, batches, uint64_t);
    TAKE(seeds, n_seeds, uint32_t);
    TAKE(held_queries, held_queries, uint32_t);
    TAKE(held_steps, held_steps, uint32_t);
    TAKE(checkpoint_every, checkpoint_seconds, double);
    params->seed = options->train_seed;
    params->resume = options->resume;
    params->n_threads = acq_options_has(options, train_threads) ? (unsigned)options->train_threads
                                                                : acq_threads_available();
}

/* A-B, both at least 2; text NULL: the default stays. */
static acq_status take_terms(const char *name, const char *text, acq_hub_params *hub,
                             acq_error *error)
{
    enum { MOST = 1000 };
    if (text == NULL)
        return ACQ_OK;
    char *end;
    unsigned long least = strtoul(text, &end, 10), most = 0;
    bool is_range =
        isdigit((unsigned char)text[0]) && *end == '-' && isdigit((unsigned char)end[1]);
    if (is_range)
        most = strtoul(end + 1, &end, 10);
    if (!is_range || *end != '\0' || least < 2 || most < least || most > MOST)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --%s needs two numbers from 2 to %d, the smaller first, like "
                        "3-14, not \"%.100s\"",
                        name, MOST, text);
    hub->least_terms = (uint32_t)least;
    hub->most_terms = (uint32_t)most;
    return ACQ_OK;
}

acq_status acq_train_read_params(const acq_options *options, acq_train_policy_params *out,
                                 acq_error *error)
{
    acq_train_policy_params params;
    if (options->train_paper)
        acq_train_policy_params_init_paper(&params);
    else
        acq_train_policy_params_init(&params);
    take_network(options, &params);
    take_episodes(options, &params);
    take_hubs(options, &params);
    take_run(options, &params);
    acq_status status = take_terms("hub-terms", options->hub_terms, &params.hub, error);
    if (status == ACQ_OK)
        status = take_terms("held-terms", options->held_terms, &params.held_hub, error);
    if (status == ACQ_OK)
        status = acq_train_check_end(params.batches, params.seconds, error);
    if (status == ACQ_OK)
        *out = params;
    return status;
}

static void print_set(const char *title, const char *text, acq_text *out)
{
    enum { INDENT = 2 };
    acq_text_format(out, "\n%s\n", title);
    acq_width_pad(out, INDENT);
    acq_width_wrap(out, text, INDENT, INDENT, ACQ_COLUMNS);
    acq_text_add_char(out, '\n');
}

static void print_policy_set(const char *title, const acq_train_policy_params *params,
                             acq_text *out)
{
    char text[TEXT_SIZE];
    if (acq_train_policy_print_options(params, text, sizeof text) != ACQ_OK)
        return;
    size_t used = strlen(text);
    snprintf(text + used, sizeof text - used,
             " seeds=%u held-queries=%u held-steps=%u held-terms=%u-%u checkpoint-every=%g",
             params->n_seeds, params->held_queries, params->held_steps,
             params->held_hub.least_terms, params->held_hub.most_terms, params->checkpoint_seconds);
    print_set(title, text, out);
}

static void print_policy_defaults(acq_text *out)
{
    acq_train_policy_params params;
    acq_train_policy_params_init(&params);
    print_policy_set("Defaults:", &params, out);
    acq_train_policy_params_init_paper(&params);
    print_policy_set("With --paper:", &params, out);
}

void acq_train_print_defaults(acq_variant_id kind, acq_text *out)
{
    const acq_train_kind *link_kind = acq_train_kind_get(kind);
    acq_text text;
    acq_text_init(&text);
    if (kind == ACQ_VARIANT_policy)
        print_policy_defaults(out);
    if (link_kind != NULL) {
        link_kind->print_options(NULL, &text);
        print_set("Defaults:", text.bytes == NULL ? "" : text.bytes, out);
        out->failed = out->failed || text.failed;
    }
    acq_text_deinit(&text);
}
