/* answer_world.h - four people, three towns, and a predictor that believes a little more than is
 * observed: the hand-made example of the tests of answers, engine and library.
 *
 *   observed   born_in(Ada, London)  lives_in(Ada, Paris)   knows(Ada, Bo)  knows(Bo, Cy)
 *              born_in(Bo, Paris)    lives_in(Bo, Paris)    knows(Cy, Di)
 *   predicted  born_in(Cy, London) 0.75   born_in(Di, Rome) 0.625   lives_in(Ada, Rome) 0.25
 *              knows(Di, Ada) 0.5 */
#ifndef ACQ_TESTS_UNIT_ANSWER_WORLD_H
#define ACQ_TESTS_UNIT_ANSWER_WORLD_H

#include "predict/predictor.h"
#include "query/query.h"

enum { ADA, BO, CY, DI, LONDON, PARIS, ROME, SMALL_N_ENTITIES };
enum { BORN_IN = 0, LIVES_IN = 2, KNOWS = 4, SMALL_N_RELATIONS = 6 };

typedef struct small_world {
    acq_graph *graph;
    acq_predictor *observed;
    acq_predictor predicted; /* the graph and the predictions */
    acq_links *links[SMALL_N_RELATIONS];
} small_world;

void small_world_init(small_world *world);
void small_world_deinit(small_world *world);

/* Parsed and bound; fails the test when it cannot be. */
acq_query *small_world_read(const small_world *world, const char *text);

#endif
