/* print.h - evaluation rows as text: a table for people, one JSON object per line for programs. */
#ifndef ACQ_EVAL_PRINT_H
#define ACQ_EVAL_PRINT_H

#include "base/text.h"
#include "eval/eval.h"

/* rows[n - 1] is the total. At most 80 columns. For QAC each row is followed by that of the
 * answerer that always says yes. A value that does not exist is "-". */
void acq_eval_print_table(acq_text *text, const acq_eval_row *rows, size_t n);

/* One object and a newline. A value that does not exist is null. */
void acq_eval_print_json(acq_text *text, const acq_eval_row *row);

#endif
