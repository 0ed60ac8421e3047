/* nearest.h - which of a few known words was meant. */
#ifndef ACQ_CLI_NEAREST_H
#define ACQ_CLI_NEAREST_H

#include "base/types.h"

typedef struct acq_nearest {
    const char *word; /* what was written */
    const char *best; /* nearest so far; NULL: nothing near */
    size_t distance;
} acq_nearest;

void acq_nearest_init(acq_nearest *nearest, const char *word);

/* Takes `known` when it is nearer than all before: at most a third of the letters may differ, and
 * two words of which one begins the other are near. Words over 63 bytes are near nothing. */
void acq_nearest_offer(acq_nearest *nearest, const char *known);

#endif
