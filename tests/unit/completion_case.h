/* completion_case.h - random graphs, predictors with random scores, and files for the tests of
 * completions. A scored predictor lives in a table, so the tests can look every score up. */
#ifndef ACQ_TESTS_COMPLETION_CASE_H
#define ACQ_TESTS_COMPLETION_CASE_H

#include "calibrate/calibrator.h"
#include "predict/completion.h"

enum { CASE_ENTITIES = 40, CASE_RELATIONS = 6 };

/* n_facts random facts over named entities and relations; the dictionary depends on no seed. */
acq_graph *completion_make_graph(uint64_t seed, size_t n_facts);

/* Observed facts score 1, n_links others a random score below 1. Free with acq_predictor_free. */
acq_predictor *case_make_predictor(const acq_graph *graph, uint64_t seed, size_t n_links);

/* A calibrator with one small part; free with acq_calibrator_free. */
acq_calibrator *case_make_calibrator(void);

/* All links, or those of a shard, that score at least `floor`. */
acq_status case_write(const char *path, const acq_predictor *predictor, double floor,
                      acq_error *error);
acq_status case_write_shard(const char *path, const acq_predictor *predictor, double floor,
                            acq_shard shard, acq_error *error);

/* Fresh name of a file in the current folder; remove it with unlink. */
void case_name_file(char *path, size_t room);

/* Number of entries in the current folder that start with `prefix`. */
size_t case_count_files(const char *prefix);

/* Whole content, from malloc. */
char *case_read_file(const char *path, size_t *length);
void case_write_file(const char *path, const char *bytes, size_t length);

#endif
