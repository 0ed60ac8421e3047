/* interrupt.h - what Ctrl-C does.
 *
 * Most commands have nothing to tidy up: it leaves at once, with exit code 130. One that writes a
 * new file holds interrupts meanwhile: the first only asks it to stop, which its progress
 * callback passes on; a second one, or some time without an effect (a source may be a pipe
 * that says nothing), take the half-written files away and leave. A termination request and the
 * loss of the terminal are treated alike, with the same exit code. */
#ifndef ACQ_CLI_INTERRUPT_H
#define ACQ_CLI_INTERRUPT_H

#include "base/types.h"
#include "cli/options.h"

enum { ACQ_MOST_HELD = 1024 }; /* a training of the policy may have a thousand seeds */

/* At the start of the program, before there are threads. */
void acq_interrupt_init(void);

/* paths, at most ACQ_MOST_HELD, are borrowed until the release. */
void acq_interrupt_hold(const char *const *paths, size_t n);
void acq_interrupt_release(void);

/* How long a held command may take to stop, before it is ended; 0: as long as it likes. A second,
 * unless it is said after the hold. */
void acq_interrupt_set_grace(unsigned seconds);

/* Was it asked to stop since interrupts are held? */
bool acq_interrupt_is_asked(void);

/* The number of the signal that asked for it; 0: none did. */
int acq_interrupt_get_number(void);

/* Takes half-written files away and leaves, in the midst of whatever other threads do. */
_Noreturn void acq_interrupt_end(int code);

/* ---- limits ----
 *
 * --time and --memory of the whole command, as the system holds them.
 *
 * Commands end by themselves within their limits; this is what holds when one does not. The memory
 * limit is the system's on private memory: an allocation past it fails, which is an error with its
 * remedy or, of a question, an undecided result. Some time after its limit the command is ended
 * (interrupt.h), with the exit code of an undecided question. */

/* Before a command runs. Where nothing was given nothing is limited. */
void acq_limits_set(const acq_options *options);

/* In MB; 0: none was given. */
uint64_t acq_limits_get_memory(const acq_options *options);

/* What of it is left for a search, in bytes, at least 1 MB; SIZE_MAX: none was given. */
size_t acq_limits_get_memory_left(const acq_options *options);

#endif
