/* policy_plot.h - what a step takes against the size of the query: a picture and a table. */
#ifndef BENCH_POLICY_PLOT_H
#define BENCH_POLICY_PLOT_H

#include <jansson.h>

/* Of the "policy-steps" lines; nothing when there are none. */
void policy_plot_write(const json_t *lines, const char *path);

#endif
