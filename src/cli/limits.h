/* limits.h - --time and --memory of the whole command, as the system holds them.
 *
 * Commands end by themselves within their limits; this is what holds when one does not. The memory
 * limit is the system's on private memory: an allocation past it fails, which is an error with its
 * remedy or, of a question, an undecided result. Some time after its limit the command is ended
 * (interrupt.h), with the exit code of an undecided question. */
#ifndef ACQ_CLI_LIMITS_H
#define ACQ_CLI_LIMITS_H

#include "cli/options.h"

/* Before a command runs. Where nothing was given nothing is limited. */
void acq_limits_set(const acq_options *options);

/* In MB; 0: none was given. */
uint64_t acq_limits_get_memory(const acq_options *options);

/* What of it is left for a search, in bytes, at least 1 MB; SIZE_MAX: none was given. */
size_t acq_limits_get_memory_left(const acq_options *options);

#endif
