/* option_table.h - one row of the table of options, for the parser and the help. */
#ifndef ACQ_CLI_OPTION_TABLE_H
#define ACQ_CLI_OPTION_TABLE_H

#include "cli/options.h"

typedef enum acq_option_kind {
    ACQ_KIND_FLAG,
    ACQ_KIND_REAL,
    ACQ_KIND_COUNT,
    ACQ_KIND_TEXT,
    ACQ_KIND_LIST,
    ACQ_KIND_TIME,
} acq_option_kind;

typedef struct acq_option {
    const char *name;
    const char *argument; /* NULL: a flag */
    const char *help;
    const char *text_default; /* NULL: off */
    char letter;              /* 0: none */
    acq_option_kind kind;
    double low, high;  /* of numbers */
    unsigned commands; /* bits ACQ_ON_... and ACQ_OF_... */
    size_t offset;     /* of its field in acq_options */
} acq_option;

const acq_option *acq_option_get(size_t i); /* i below ACQ_N_OPTIONS */

/* Does the row count for this command, and for this variant of it (ACQ_N_VARIANTS: for each)? */
bool acq_option_is_for(const acq_option *option, acq_command_id command, acq_variant_id variant);

#endif
