/* rules.c - learning rules in the trainer's loop: a batch is a round of the learner; see
 * models/rulebook/rulebook.h. What a checkpoint keeps are the rules so far. */
#include <math.h>

#include "base/memory.h"
#include "base/text.h"
#include "models/rulebook/rulebook.h"
#include "train/options.h"
#include "train/trainer.h"

enum { ROUNDS = 30, CHECKPOINT_SECONDS = 60 };

static const double SATURATED = .001; /* new rules of a round, for each there is */
static const double AFTER_SHARE = .1; /* of the time, for clusters of rules */
static const double AFTER_MOST = 60;

typedef struct training {
    acq_rule_learner *learner;
    acq_trainer trainer;
    acq_parameters parameters; /* the rules, while a checkpoint is written or read */
    const acq_graph *graph;
    bool is_read; /* the parameters hold the rules of a checkpoint */
} training;

void acq_train_rules_params_init(acq_train_rules_params *params)
{
    *params = (acq_train_rules_params){
        .batches = ROUNDS, .checkpoint_seconds = CHECKPOINT_SECONDS, .seed = 1, .n_threads = 1};
    acq_rulebook_params_init(&params->learn);
}

/* When all facts have been looked at, few new rules mean that there are hardly any more. */
static acq_status compute(void *self, uint64_t step, double *loss, acq_error *error)
{
    training *t = self;
    size_t before = acq_rule_learner_count(t->learner);
    acq_status status = acq_rule_learner_run(t->learner, step, error);
    size_t after = acq_rule_learner_count(t->learner);
    *loss = 0;
    if (status == ACQ_OK && step + 1 >= acq_rule_learner_get_n_rounds(t->learner) &&
        (double)(after - before) < SATURATED * (double)after)
        t->trainer.n_steps = step + 1;
    return status;
}

static void update(void *self, double share, double *norm)
{
    (void)self;
    (void)share;
    *norm = 0;
}

static acq_status shape(void *self, const acq_safetensors *file, acq_error *error)
{
    training *t = self;
    acq_rulebook *book = NULL;
    acq_parameters_deinit(&t->parameters);
    t->is_read = file != NULL;
    if (file != NULL)
        return acq_rulebook_shape(file, "weights/", &t->parameters, error);
    acq_status status = acq_rule_learner_copy(t->learner, true, &book, error);
    if (status == ACQ_OK)
        status = acq_rulebook_pack(book, &t->parameters, error);
    acq_rulebook_free(book);
    return status;
}

static acq_status take(void *self, acq_error *error)
{
    training *t = self;
    acq_rulebook book = {.n_entities = acq_graph_get_n_entities(t->graph),
                         .n_relations = acq_graph_get_n_relations(t->graph)};
    acq_status status = acq_rulebook_unpack(&book, &t->parameters, error);
    if (status == ACQ_OK)
        status = acq_rule_learner_add(t->learner, &book, error);
    acq_free(book.cycles);
    acq_free(book.constants);
    return status;
}

static acq_status finish(training *t, acq_rulebook **out, acq_error *error)
{
    acq_rulebook *book = NULL;
    acq_status status = acq_rule_learner_copy(t->learner, false, &book, error);
    if (status == ACQ_OK)
        status = acq_rule_learner_cluster(t->learner, book, error);
    if (status == ACQ_OK)
        *out = book;
    else
        acq_rulebook_free(book);
    return status;
}

static acq_status run(training *t, const acq_train_rules_params *params, const char *identity,
                      acq_rulebook **out, acq_error *error)
{
    static const acq_trainer_ops ops = {
        .compute = compute, .update = update, .shape = shape, .take = take};
    t->trainer = (acq_trainer){.ops = &ops,
                               .self = t,
                               .phase = "rules",
                               .n_steps = params->batches,
                               .seconds = params->seconds,
                               .begin_ns = params->begin_ns,
                               .kept = fmin(AFTER_MOST, AFTER_SHARE * params->seconds),
                               .parameters = &t->parameters,
                               .identity = identity,
                               .checkpoint = params->checkpoint,
                               .checkpoint_seconds = params->checkpoint_seconds,
                               .resume = params->resume,
                               .progress = params->progress,
                               .context = params->context};
    acq_status status = acq_trainer_run(&t->trainer, error);
    return status == ACQ_OK ? finish(t, out, error) : status;
}

acq_status acq_train_rules(const acq_graph *graph, const acq_train_rules_params *params,
                           acq_rulebook **out, acq_error *error)
{
    training t = {.graph = graph};
    acq_text identity = {0};
    acq_rulebook_params learn = params->learn;
    learn.seed = params->seed;
    learn.n_threads = params->n_threads;
    acq_status status =
        acq_train_print_identity(ACQ_TRAIN_RULES, params, &graph, 1, NULL, &identity, error);
    if (status == ACQ_OK)
        status = acq_rule_learner_new(graph, &learn, &t.learner, error);
    if (status == ACQ_OK)
        status = run(&t, params, identity.bytes, out, error);
    acq_rule_learner_free(t.learner);
    acq_parameters_deinit(&t.parameters);
    acq_text_deinit(&identity);
    return status;
}
