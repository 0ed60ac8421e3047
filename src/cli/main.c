/* main.c - the command `anycq`: finds the command in the table, parses its options, runs it. */
#include <string.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/setup.h"

/* Prints one of the texts of --help. ACQ_N_COMMANDS: of anycq itself. */
static int print_help(acq_command_id id, acq_variant_id variant)
{
    acq_output output;
    acq_output_init(&output);
    if (id == ACQ_N_COMMANDS)
        acq_help_print(&output.data);
    else
        acq_help_print_command(id, variant, &output.data);
    return acq_output_finish(&output, ACQ_EXIT_YES);
}

static int print_version(void)
{
    acq_output output;
    acq_output_init(&output);
    acq_text_add(&output.data, "anycq " ACQ_VERSION "\n");
    return acq_output_finish(&output, ACQ_EXIT_YES);
}

static int refuse_command(const char *name)
{
    acq_error error = {0};
    acq_nearest nearest;
    acq_nearest_init(&nearest, name);
    for (unsigned i = 0; i < ACQ_N_COMMANDS; i++)
        acq_nearest_offer(&nearest, acq_command_get((acq_command_id)i)->name);
    if (name[0] == '-')
        acq_fail(&error, ACQ_ERR_USAGE,
                 "a command comes first, not %.100s; anycq --help lists them", name);
    else if (nearest.best != NULL)
        acq_fail(&error, ACQ_ERR_USAGE, "no command \"%.100s\"; did you mean %s?", name,
                 nearest.best);
    else
        acq_fail(&error, ACQ_ERR_USAGE, "no command \"%.100s\"; anycq --help lists them", name);
    return acq_report_failure(NULL, &error);
}

/* Options are not parsed yet when they are wrong, so --json is looked for by hand. */
static int refuse_options(acq_options *options, int argc, char **argv, const acq_error *error)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        options->json = options->json || strcmp(argv[i], "--json") == 0 ||
                        strcmp(argv[i], "--output-format=json") == 0 ||
                        (strcmp(argv[i], "--output-format") == 0 && i + 1 < argc &&
                         strcmp(argv[i + 1], "json") == 0);
    return acq_report_failure(options, error);
}

/* Only these share their work. */
static acq_status check_ranks(acq_command_id id, acq_error *error)
{
    static const acq_command_id shared[] = {ACQ_COMMAND_complete, ACQ_COMMAND_eval, ACQ_COMMAND_fit,
                                            ACQ_COMMAND_generate, ACQ_COMMAND_train};
    bool is_shared = acq_ranks_get() == NULL;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        is_shared = is_shared || shared[i] == id;
    if (is_shared)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "%s does not share its work over ranks; complete, eval, fit, generate and "
                    "train do",
                    acq_command_get(id)->name);
}

static int run_command(acq_command_id id, int argc, char **argv)
{
    acq_error error = {0};
    acq_options options;
    int code;
    if (acq_options_init(&options, id, argc, argv, &error) != ACQ_OK)
        code = refuse_options(&options, argc, argv, &error);
    else if (options.help)
        code = print_help(id, acq_options_get_variant(&options));
    else if (acq_limit_instructions(options.instructions, &error) != ACQ_OK ||
             check_ranks(id, &error) != ACQ_OK ||
             acq_setup_check_outputs(&options, &error) != ACQ_OK ||
             acq_setup_check_pipes(&options, &error) != ACQ_OK)
        code = acq_report_failure(&options, &error);
    else {
        acq_limits_set(&options);
        code = acq_command_get(id)->run(&options);
    }
    acq_options_deinit(&options);
    return code;
}

/* anycq help [COMMAND [VARIANT]] is anycq [COMMAND [VARIANT]] --help. */
static int help_about(int argc, char **argv)
{
    if (argc < 3)
        return print_help(ACQ_N_COMMANDS, ACQ_N_VARIANTS);
    acq_command_id id = acq_command_find(argv[2]);
    return id == ACQ_N_COMMANDS ? refuse_command(argv[2])
                                : print_help(id, acq_variant_find(id, argc > 3 ? argv[3] : NULL));
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        acq_error error = {0};
        acq_fail(&error, ACQ_ERR_USAGE, "a command is missing; anycq --help lists them");
        return acq_report_failure(NULL, &error);
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help_about(argc, argv);
    if (strcmp(name, "--version") == 0)
        return print_version();
    acq_command_id id = acq_command_find(name);
    if (id == ACQ_N_COMMANDS)
        return refuse_command(name);
    return run_command(id, argc - 2, argv + 2);
}

int main(int argc, char **argv)
{
    acq_error error = {0};
    acq_json_init();
    acq_interrupt_init();
    if (acq_ranks_begin(&error) != ACQ_OK)
        return acq_ranks_end(acq_report_failure(NULL, &error));
    return acq_ranks_end(run(argc, argv));
}
