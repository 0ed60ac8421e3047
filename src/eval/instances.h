/* instances.h - one instance of a query file, from JSON to ids. Used by files.c only. */
#ifndef ACQ_EVAL_INSTANCES_H
#define ACQ_EVAL_INSTANCES_H

#include <jansson.h>

#include "eval/files.h"

/* What is being read, for the checks and for the place that an error names. */
typedef struct acq_bench_reader {
    acq_bench_file *file;
    acq_bench_limits limits;
    size_t i_formula, i_instance; /* counted from 0; i_instance within the formula */
    const acq_bench_formula *formula;
    const acq_query *query; /* of this formula */
    acq_error *error;
} acq_bench_reader;

/* ACQ_ERR_INPUT with the place in front of the message. */
acq_status acq_bench_fail(const acq_bench_reader *reader, const char *format, ...) ACQ_PRINTF(2, 3);

acq_status acq_bench_read_instance(const acq_bench_reader *reader, const json_t *json,
                                   acq_bench_instance *out);

#endif
