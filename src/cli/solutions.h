/* solutions.h - `ask` with SPARQL that is more than a formula: solutions as its standard has them. */
#ifndef ACQ_CLI_SOLUTIONS_H
#define ACQ_CLI_SOLUTIONS_H

#include "cli/question.h"

/* Solves the question's SPARQL and prints its solutions; *code is the exit code. */
acq_status acq_cli_solve(acq_question *question, const acq_ask_params *params, acq_output *output,
                         int *code, acq_error *error);

#endif
