/* commit.h - which sources the program was built from; the build writes commit.c. */
#ifndef ACQ_CLI_COMMIT_H
#define ACQ_CLI_COMMIT_H

extern const char acq_commit[]; /* the last commit, shortened; "unknown" outside of git */

#endif
