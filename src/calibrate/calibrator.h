/* calibrator.h - what turns evidence into probabilities, fitted once and kept as one
 * safetensors file or as an attachment of a completion.
 *
 *   link       features of candidates.h        -> p of a link
 *   joint      share of joint worlds           -> p of an answer, from its links (worlds.h)
 *   balanced   features of calibrate/answer.h  -> p of an answer where half the candidates of a
 * query are true: another population, by --prior The trees may be missing. Calibrators of version
 * 0.1 also had trees for p of answers, which are read and left out. */
#ifndef ACQ_CALIBRATE_CALIBRATOR_H
#define ACQ_CALIBRATE_CALIBRATOR_H

#include "base/types.h"
#include "calibrate/boost.h"
#include "calibrate/cover.h"
#include "predict/predictor.h"
#include "models/ultra/ultra.h"

/* ---- reliability ----
 *
 * How good probabilities are: stated and true share per bin, log-loss, a diagram.
 * The table itself is public: anycq.h. */

void acq_reliability_init(acq_reliability *table);
/* base: the probability that the comparison states for this one (its relation's base rate). */
void acq_reliability_add(acq_reliability *table, double p, bool is_true, double weight,
                         double base);
/* Of the candidates that were added as not true, `weight` with this p are true after all, or all
 * that its bin has. */
void acq_reliability_add_true(acq_reliability *table, double p, double weight, double base);
void acq_reliability_merge(acq_reliability *table, const acq_reliability *other);

/* The diagram; title is escaped. Atomic. */
acq_status acq_reliability_write_svg(const acq_reliability *table, const char *title,
                                     const char *path, acq_error *error);

/* ---- calibrator ---- */

struct acq_calibrator {
    acq_boost *link;
    acq_boost_shift *shifts; /* of its log-odds, one for each pair of relations; NULL: none */
    uint32_t n_shifts;
    struct acq_link_quality *quality; /* of each pair of relations (learn.h); NULL: not known */
    uint32_t n_quality;
    acq_reliability reliability; /* of the links that `link` learnt from; weight 0: not known */
    acq_boost *balanced;
    double joint;                /* share of joint worlds, 0 to 1 */
    double if_slope, if_shift;   /* logit of p_if_answered, by that of p / p of any answer */
    double unsupported_balanced; /* p of an answer that no link supports */
    double open_balanced; /* share of true ones, in balanced sets, among what facts do not settle */
    struct acq_cover *cover; /* scores of held-out links (cover.h), which a completion keeps beside
                                its reasons; NULL: none */
    char models[64]; /* the row models whose evidence `link` reads: "complex", "complex+ultra" */
    char graph[256]; /* what it was fitted on, for people */
};

/* Without trees, with what is usual elsewhere; NULL: out of memory. */
acq_calibrator *acq_calibrator_new(void);
void acq_calibrator_free(acq_calibrator *calibrator); /* with its boosts; NULL is legal */

acq_status acq_calibrator_read(const char *path, acq_calibrator **out, acq_error *error);
acq_status acq_calibrator_read_memory(const void *bytes, size_t length, const char *name,
                                      acq_calibrator **out, acq_error *error);
acq_status acq_calibrator_write(const char *path, const acq_calibrator *calibrator,
                                acq_error *error);
/* The same bytes as a file would have; *out freed with acq_free. */
acq_status acq_calibrator_write_memory(const acq_calibrator *calibrator, void **out, size_t *length,
                                       acq_error *error);

/* What gives the relation's links their log-odds. */
static inline acq_boost_judge acq_calibrator_get_judge(const acq_calibrator *calibrator,
                                                       acq_rel relation)
{
    bool is_known = relation / 2 < calibrator->n_shifts;
    return (acq_boost_judge){calibrator->link, is_known
                                                   ? calibrator->shifts[relation / 2]
                                                   : (acq_boost_shift){0, ACQ_BOOST_NOT_GIVEN}};
}

/* Keeps a copy of what the links of each pair of relations are worth; NULL: of none. */
acq_status acq_calibrator_set_quality(acq_calibrator *calibrator,
                                      const struct acq_link_quality *quality, uint32_t n,
                                      acq_error *error);
/* Borrowed; NULL: not known. */
const struct acq_link_quality *acq_calibrator_get_quality(const acq_calibrator *calibrator,
                                                          acq_rel relation);

/* A completion file with the calibrator inside it, if there is one. */
acq_status acq_calibrator_open_completion(const acq_graph *graph, const char *path,
                                          acq_predictor **out, acq_error *error);

/* The predictor carries this calibrator from now on. attach: it owns it; lend: the caller does,
 * who keeps it as long as the predictor. NULL: none. */
void acq_calibrator_attach(acq_calibrator *calibrator, acq_predictor *predictor);
void acq_calibrator_lend(acq_calibrator *calibrator, acq_predictor *predictor);

/* Does it know probabilities of answers with this prior (below)? NULL: no. */
bool acq_calibrator_knows_answers(const acq_calibrator *calibrator, double prior);

/* p of an answer, given that the question has one: p is that of the answer, p_any that of any. The
 * logit of their quotient, which is held between .001 and .99, goes through the curve; where an
 * answer is certain nothing is learnt from there being one, and it is p. */
double acq_calibrator_get_share_logit(double p, double p_any);
double acq_calibrator_get_p_if_answered(const acq_calibrator *calibrator, double p, double p_any);

/* p of an answer with these features among candidates of which the share `prior`, in (0, 1), is
 * true. NaN when the calibrator has no such model. */
double acq_calibrator_get_prior_p(const acq_calibrator *calibrator, const float *features,
                                  double prior);
/* The same of an answer that has no support at all; 0 when the calibrator does not know. */
double acq_calibrator_get_unsupported_p(const acq_calibrator *calibrator, double prior);
/* The prior to give where all candidates are open, facts settle none, and a share `prior` of them
 * is true. Without a calibrator, and without a prior, the same. */
double acq_calibrator_get_open_prior(const acq_calibrator *calibrator, double prior);

/* ---- what ships ----
 *
 * What zero-shot prediction needs and the library brings along: ULTRA's weights and a
 * calibrator of their evidence, models/ultra-anycq.safetensors and
 * models/ultra-anycq-calibrator.safetensors as they were when the library was built; and the trees
 * that a graph's own calibrator starts from, models/anycq-prior.safetensors. */

bool acq_shipped_has_ultra(void); /* false: this library was built without the two files */

/* ACQ_ERR_USAGE with the remedy when there are none. */
acq_status acq_ultra_new_shipped(acq_ultra **out, acq_error *error);
acq_status acq_calibrator_new_shipped(acq_calibrator **out, acq_error *error);

/* Trees over the features of candidates.h with similar entities as the only model; see
 * tools/make_prior.c. NULL: this library was built without them. */
acq_status acq_prior_new_shipped(acq_boost **out, acq_error *error);

#endif
