/* policy_params.c - defaults of the training and their text form. */
#include <inttypes.h>
#include <stdio.h>

#include "train/policy.h"

void acq_train_policy_params_init(acq_train_policy_params *params)
{
    *params = (acq_train_policy_params){
        .dim = 32,
        .uses_pe = true,
        .seed = 1,
        .n_seeds = 2,
        .queries = 16,
        .rollouts = 4,
        .steps = 20,
        .baseline = true,
        .discount = .85,
        .floor = 1e-5,
        .score_scale = 5,
        .optimizer = ACQ_OPTIMIZER_DEFAULT,
        .batches = 4000,
        .hub_share = .5,
        .hub_from = .8,
        .hub = ACQ_HUB_DEFAULT,
        .check_share = .4,
        .held_queries = 200,
        .held_steps = 200,
        .held_hub = ACQ_HUB_DEFAULT,
        .n_threads = 1,
        .checkpoint_seconds = 60,
    };
    params->optimizer.rate = 7e-4;
    params->optimizer.last_rate = 7e-5;
    params->optimizer.average = .99;
    params->hub.most_atoms = 40;
    params->held_hub.most_atoms = 50;
    params->held_hub.least_terms = 12;
    params->held_hub.most_terms = 18;
}

void acq_train_policy_params_init_paper(acq_train_policy_params *params)
{
    acq_train_policy_params_init(params);
    params->dim = 128;
    params->steps = 15;
    params->discount = .75;
    params->n_seeds = 1;
    params->queries = 4;
    params->rollouts = 1;
    params->baseline = false;
    params->optimizer.rate = 5e-6;
    params->optimizer.last_rate = 5e-7;
    params->optimizer.average = 0;
    params->batches = 500000;
    params->hub_share = 0;
    params->check_share = 0;
}

acq_status acq_train_policy_print_options(const acq_train_policy_params *p, char *out, size_t size)
{
    const acq_optimizer_params *o = &p->optimizer;
    int n = snprintf(
        out, size,
        "dim=%u pe=%d queries=%u rollouts=%u steps=%u baseline=%d discount=%g floor=%g scale=%g "
        "rate=%g last-rate=%g beta1=%g beta2=%g decay=%g clip=%g average=%g batches=%" PRIu64
        " seconds=%g hub-share=%g hub-from=%g hub-terms=%u-%u hubs=%u constants=%g leaves-out=%g "
        "most-atoms=%u check-share=%g",
        p->dim, p->uses_pe, p->queries, p->rollouts, p->steps, p->baseline, p->discount, p->floor,
        p->score_scale, o->rate, o->last_rate, o->beta1, o->beta2, o->decay, o->clip, o->average,
        p->batches, p->batches == 0 ? p->seconds : 0.0, p->hub_share, p->hub_from,
        p->hub.least_terms, p->hub.most_terms, p->hub.most_hubs, p->hub.constants,
        p->hub.leaves_out, p->hub.most_atoms, p->check_share);
    return n > 0 && (size_t)n < size ? ACQ_OK : ACQ_ERR_LIMIT;
}
