/* common.h - what the benchmark programs share. They are programs, not library code: a failure
 * prints one line and ends the run. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <jansson.h>

#include "base/types.h"
#include "cli/question.h"

_Noreturn void bench_die(const char *format, ...) ACQ_PRINTF(1, 2);

/* Ends the run unless status is ACQ_OK. */
void bench_need(acq_status status, const acq_error *error);

double bench_median(double *values, size_t n); /* sorts */
double bench_now_ms(void);
double bench_cpu_ms(void); /* processor time of the calling thread */

/* The objects of a file with one JSON object per line. */
json_t *bench_load_lines(const char *path);
json_t *bench_load_files(char *const *paths, int n); /* those of several files, one after another */
void bench_print_line(json_t *object);               /* to stdout; takes the object */

/* The queries of a file, one per line. */
typedef struct bench_lines {
    acq_line *items;
    size_t n;
} bench_lines;

void bench_lines_init(bench_lines *lines, const char *path);
void bench_lines_deinit(bench_lines *lines);

const char *bench_text(const json_t *object, const char *name); /* "" when absent */
double bench_number(const json_t *object, const char *name);    /* NAN when absent */

#endif
