/* help.h - the texts of --help, made from the tables of commands and options. */
#ifndef ACQ_CLI_HELP_H
#define ACQ_CLI_HELP_H

#include "base/text.h"
#include "cli/commands.h"

void acq_help_print(acq_text *out); /* of anycq itself */
/* variant ACQ_N_VARIANTS: of the command as a whole. */
void acq_help_print_command(acq_command_id id, acq_variant_id variant, acq_text *out);

#endif
