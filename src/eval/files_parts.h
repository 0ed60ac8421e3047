/* files_parts.h - inside the reader of query files: what its two halves share. */
#ifndef ACQ_EVAL_FILES_PARTS_H
#define ACQ_EVAL_FILES_PARTS_H

#include "base/json.h"
#include "eval/files.h"

/* What is being read, for the checks and for the place that an error names. */
typedef struct acq_bench_reader {
    acq_bench_file *file;
    acq_bench_limits limits;
    size_t i_formula, i_instance; /* counted from 0; i_instance within the formula */
    size_t i_written;             /* where the formula is put */
    const acq_bench_formula *formula;
    const acq_query *query; /* of this formula */
    acq_error *error;       /* of the instance that is being read */
} acq_bench_reader;

/* One instance, from JSON to ids. ACQ_ERR_INPUT, with the reason in reader->error: it has no
 * meaning. */
acq_status acq_bench_read_instance(const acq_bench_reader *reader, const acq_json *json,
                                   acq_bench_instance *out);

#endif
