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

enum { ACQ_MOST_HELD = 1024 }; /* a training of the policy may have a thousand seeds */

/* At the start of the program, before there are threads. */
void acq_interrupt_init(void);

/* paths, at most ACQ_MOST_HELD, are borrowed until the release. */
void acq_interrupt_hold(const char *const *paths, size_t n);
void acq_interrupt_release(void);

/* How long a held command may take to stop, before it is ended; 0: as long as it likes. A second,
 * unless it is said after the hold. */
void acq_interrupt_set_grace(unsigned seconds);

/* The command is ended some time after so many seconds, as by a second interrupt, with the exit
 * code of an undecided question: what should have ended by itself has not. */
void acq_interrupt_end_after(double seconds);

/* Was it asked to stop since interrupts are held? */
bool acq_interrupt_is_asked(void);

#endif
