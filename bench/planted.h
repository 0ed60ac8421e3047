/* planted.h - hub queries whose answer is known because they were read off the graph.
 *
 * A random walk collects 12 to 20 connected entities: half of its steps leave from one of the
 * first three, the hubs, and of a few links it takes the one whose other end has most links to
 * what is collected, so that cycles arise. All links among the entities become atoms. Two to
 * four become constants, mostly those with most links; the rest are variables, with a cycle among
 * them, and one to three of them are free. Every third query also denies one
 * or two links that the graph does not have.
 *
 * Every fourth query has no answer: the relation of one atom is replaced by one that links no
 * candidate of its head to a candidate of its tail, where the candidates of a variable are what
 * all its links to constants allow. So none is proved here, without any search of the product.
 *
 * One query a line, in the text syntax, then what is known about it in a comment:
 *
 *   Q(a, b) := exists c. r("X", a) & s(a, c) & t(c, b)  # planted "Y" "Z"
 *   ...                                                # none */
#ifndef BENCH_PLANTED_H
#define BENCH_PLANTED_H

#include <stdio.h>

#include "synthetic.h"

/* Depends on graph and n_queries only. Ends the program when the graph is too sparse for such
 * queries. */
void planted_write(const synthetic *graph, uint32_t n_queries, FILE *stream);

#endif
