/* help.c - the texts of --help; see commands.h. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/width.h"

enum { COMMAND_COLUMN = 12, OPTION_COLUMN = 30 };

const char *acq_help_get_about(void)
{
    return "GRAPH is a store made by import, or is read on the fly: a file of triples\n"
           "(.tsv or .txt with tabs, .csv), RDF (.nt, .ttl, .nq, .trig), any of these\n"
           "compressed (.gz), a benchmark's *_kg.tsv beside its kgindex.json, or a folder\n"
           "of them.\n"
           "\n"
           "  anycq ask films.tsv 'Q(x) := exists y. directed(y, \"Oppenheimer\")\n"
           "                                & born_in(y, x)' --explain\n"
           "\n"
           "Exit codes: 0 answered or yes, 1 none or no, 2 usage or input error,\n"
           "3 undecided, 4 input/output, memory or internal error. Data goes to standard\n"
           "output, notes and errors to standard error.\n";
}

void acq_help_print(acq_text *out)
{
    acq_text_add(out, "anycq " ACQ_VERSION
                      ": answers to existential first-order queries over incomplete\n"
                      "knowledge graphs, each with a proof or the facts it rests on.\n\n"
                      "usage: anycq COMMAND ARGUMENT... [--option VALUE | --option=VALUE]...\n\n");
    for (unsigned i = 0; i < ACQ_N_COMMANDS; i++) {
        const acq_command *command = acq_command_get(i);
        acq_text_format(out, "  %-*s%s\n", COMMAND_COLUMN - 2, command->name, command->summary);
    }
    acq_text_add(out, "\nanycq COMMAND --help tells more; anycq --version prints the version.\n\n");
    acq_text_add(out, acq_help_get_about());
}

static void print_option(const acq_option *option, acq_text *out)
{
    size_t start = out->length;
    if (option->letter != 0)
        acq_text_format(out, "  -%c, ", option->letter);
    else
        acq_text_add(out, "  ");
    acq_text_format(out, "--%s%s%s", option->name, option->argument == NULL ? "" : " ",
                    option->argument == NULL ? "" : option->argument);
    size_t used = acq_width_since(out, start);
    acq_width_pad(out, used < OPTION_COLUMN ? OPTION_COLUMN - used : 2);
    char text[256];
    if (option->text_default == NULL)
        snprintf(text, sizeof text, "%s", option->help);
    else
        snprintf(text, sizeof text, "%s (default %s)", option->help, option->text_default);
    acq_width_wrap(out, text, OPTION_COLUMN, OPTION_COLUMN, ACQ_COLUMNS);
    acq_text_add_char(out, '\n');
}

/* The help of train alone lists what all its variants have, that of eval everything. */
static bool is_listed(const acq_option *option, acq_command_id id, acq_variant_id variant)
{
    bool is_whole = variant == ACQ_N_VARIANTS && id != ACQ_COMMAND_train;
    return is_whole ? (option->commands & (1U << id)) != 0 : acq_option_is_for(option, id, variant);
}

static void print_usage(acq_command_id id, acq_variant_id variant, acq_text *out)
{
    const acq_command *command = acq_command_get(id);
    const char *help = acq_command_get_help(id), *own = NULL;
    acq_text_format(out, "usage: anycq %s ", command->name);
    if (variant == ACQ_N_VARIANTS) {
        acq_text_add(out, command->arguments);
    } else {
        const acq_variant *one = acq_variant_get(variant);
        acq_text_format(out, "%s %s", one->name, one->arguments);
        own = acq_variant_get_help(variant);
    }
    acq_text_format(out, " [OPTION]...\n\n%s\n", own == NULL ? help : own);
}

void acq_help_print_command(acq_command_id id, acq_variant_id variant, acq_text *out)
{
    print_usage(id, variant, out);
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
        const acq_option *option = acq_option_get(i);
        if (is_listed(option, id, variant))
            print_option(option, out);
    }
    if (id == ACQ_COMMAND_train && variant != ACQ_N_VARIANTS)
        acq_train_print_defaults(acq_variant_get(variant)->name, out);
}
