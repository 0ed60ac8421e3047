/* rulebook.h - rules that predict links by themselves, learnt in the manner of AnyBURL.
 *
 *   h(X, Y) <= b1(X, A), b2(A, B), b3(B, Y)    a cycle of one to three hops
 *   h(X, c) <= b(X, d)                         constants on both sides
 *   h(X, c) <= b(X, A)                         a constant in the head; A is any entity but c
 *
 * The variables of a cycle take different values, so a fact never supports itself. h and b may be
 * inverse relations; so a constant may stand on either side. Confidence: support / (pairs + 5),
 * where pairs are those that the body links and support counts the ones that h links too. Cycles
 * are found by random walks between the ends of facts, and counted on a sample of their heads;
 * rules with constants are counted on all facts.
 *
 * Learning goes in rounds. A round depends on the seed and its number alone, so that a learner
 * that is given the rules of the rounds before goes on as if it had not been interrupted. The same
 * seed gives the same rules at any number of threads. */
#ifndef ACQ_MODELS_RULEBOOK_RULEBOOK_H
#define ACQ_MODELS_RULEBOOK_RULEBOOK_H

#include "base/text.h"
#include "models/model.h"
#include "tensor/safetensors.h"

enum { ACQ_RULEBOOK_HOPS = 3, ACQ_RULEBOOK_DAMPING = 5 };

typedef struct acq_learnt_rule {
    acq_rel head;                    /* of a cycle: even */
    acq_rel body[ACQ_RULEBOOK_HOPS]; /* ACQ_NO_ID behind the last; one with constants */
    acq_ent constant;                /* c; ACQ_NO_ID: a cycle */
    acq_ent other;                   /* d; ACQ_NO_ID: any entity, or a cycle */
    uint32_t support, pairs;         /* of those that were looked at */
    uint32_t cluster; /* of rules that say the same: of all cycles with this head, or of all rules
                         with this head and constant */
} acq_learnt_rule;

static inline double acq_learnt_rule_get_confidence(const acq_learnt_rule *rule)
{
    return (double)rule->support / ((double)rule->pairs + ACQ_RULEBOOK_DAMPING);
}

/* How the rules that conclude the same link make one probability. */
typedef enum acq_rule_aggregation {
    ACQ_RULES_CLUSTERS, /* noisy-or of the best rule of each cluster */
    ACQ_RULES_NOISY_OR, /* noisy-or of the `best` most confident rules */
    ACQ_RULES_MAXIMUM,  /* the most confident one; ties are broken by those that follow */
    ACQ_N_RULE_AGGREGATIONS
} acq_rule_aggregation;

const char *acq_rule_aggregation_get_name(acq_rule_aggregation aggregation);

typedef struct acq_rulebook {
    acq_learnt_rule *cycles; /* by head, then most confident first */
    size_t n_cycles, cycles_room;
    acq_learnt_rule *constants; /* by head, then by constant, then most confident first */
    size_t n_constants, constants_room;
    acq_rule_aggregation aggregation;
    uint32_t best;                    /* rules that count in a noisy-or */
    uint32_t n_entities, n_relations; /* of the graph */
} acq_rulebook;

void acq_rulebook_free(acq_rulebook *book); /* NULL is legal */

/* ---- learning ---- */

typedef struct acq_rulebook_params {
    uint32_t facts;    /* of each relation, whose ends a round walks between */
    uint32_t walks;    /* of three hops for each of them */
    uint32_t tries;    /* new cycles of a relation that a round counts, the most frequent first */
    uint32_t heads;    /* most heads that a cycle is counted on */
    uint32_t most;     /* cycles kept of each relation; rules with constants of each head atom */
    uint32_t support;  /* least */
    double confidence; /* least */
    double similarity; /* from which on two rules belong to one cluster: the share of the links that
                          either concludes which both do */
    acq_rule_aggregation aggregation;
    uint32_t best;
    uint64_t seed;
    unsigned n_threads;
} acq_rulebook_params;

void acq_rulebook_params_init(acq_rulebook_params *params);

typedef struct acq_rule_learner acq_rule_learner;

/* The graph must outlive the learner; all its relations are opened. */
acq_status acq_rule_learner_new(const acq_graph *graph, const acq_rulebook_params *params,
                                acq_rule_learner **out, acq_error *error);
void acq_rule_learner_free(acq_rule_learner *learner); /* NULL is legal */

/* The rounds that look at all facts once; those that follow look for cycles of three hops. */
uint64_t acq_rule_learner_get_n_rounds(const acq_rule_learner *learner);

acq_status acq_rule_learner_run(acq_rule_learner *learner, uint64_t round, acq_error *error);

size_t acq_rule_learner_count(const acq_rule_learner *learner); /* rules so far */

/* The rules so far, in order and without clusters. is_whole: with the cycles that were counted and
 * are too bad to keep, so that a learner which takes them over counts none of them again. */
acq_status acq_rule_learner_copy(const acq_rule_learner *learner, bool is_whole, acq_rulebook **out,
                                 acq_error *error);

/* Rules from before, of a learner that has none yet. */
acq_status acq_rule_learner_add(acq_rule_learner *learner, const acq_rulebook *book,
                                acq_error *error);

/* Puts rules that conclude the same links into clusters. */
acq_status acq_rule_learner_cluster(const acq_rule_learner *learner, acq_rulebook *book,
                                    acq_error *error);

/* ---- files ---- */

/* Rules as tensors, whose numbers are whole: "cycles" [n x 7], "constants" [n x 9]; one that would
 * be empty is left out. parameters: deinit also after an error. */
acq_status acq_rulebook_pack(const acq_rulebook *book, acq_parameters *parameters,
                             acq_error *error);
/* Zeroed tensors of the shapes that the file has for them under names with this prefix. */
acq_status acq_rulebook_shape(const acq_safetensors *file, const char *prefix,
                              acq_parameters *parameters, acq_error *error);
/* ACQ_ERR_INPUT for what no rule can be, or for ids past those of the book. Its rules are replaced
 * on success. */
acq_status acq_rulebook_unpack(acq_rulebook *book, const acq_parameters *parameters,
                               acq_error *error);

/* The names that rules mention go with them; a graph that only grew since is served. */
acq_status acq_rulebook_write(const char *path, const acq_rulebook *book, const acq_graph *graph,
                              const acq_metadata *metadata, size_t n_metadata, acq_error *error);
acq_status acq_rulebook_read(const char *path, const acq_graph *graph, acq_rulebook **out,
                             acq_error *error);

/* Does the file say that it holds rules? False also where it cannot be read. */
bool acq_rulebook_is_one(const char *path);

/* A file of rules without its graph. */
typedef struct acq_rulebook_file acq_rulebook_file;

acq_status acq_rulebook_open(const char *path, acq_rulebook_file **out, acq_error *error);
void acq_rulebook_close(acq_rulebook_file *file); /* NULL is legal */
const acq_rulebook *acq_rulebook_file_get(const acq_rulebook_file *file);
/* NULL: the file does not say. */
const char *acq_rulebook_file_get_metadata(const acq_rulebook_file *file, const char *key);

/* "born_in(X, Y) <= lives_in(X, A), city_of(A, Y)" */
void acq_rulebook_file_print(const acq_rulebook_file *file, const acq_learnt_rule *rule,
                             acq_text *out);

/* ---- rows ---- */

/* A raw score is the logit of the probability that the rules give together; tails that no rule
 * concludes are ordered by how often the relation has them. book is borrowed. */
acq_status acq_rulebook_new_row_model(const acq_rulebook *book, const acq_graph *graph,
                                      acq_row_model **out, acq_error *error);

/* Of such a model: the most confident rule that concludes each of these tails, which are sorted;
 * NULL: none does. Borrowed from the book. */
acq_status acq_rulebook_find_best(const acq_row_model *model, void *scratch, acq_rel relation,
                                  acq_ent head, const acq_ent *tails, size_t n,
                                  const acq_learnt_rule **out, acq_error *error);

#endif
