/* man.c - writes the manual pages anycq.1 and anycq-COMMAND.1 from the tables that --help reads, so
 * that both say the same. A program of the build, which is not installed.
 *
 *   anycq-man FOLDER DATE
 *
 * Help texts are paragraphs between blank lines. A paragraph whose first line is indented is an
 * example or a list and keeps its lines; any other is filled by the formatter. */
#include <stdio.h>
#include <string.h>

#include "cli/options.h"

/* One character of text, as roff wants it. */
static void put_char(FILE *out, char c)
{
    static const struct {
        char c;
        const char *text;
    } special[] = {{'\\', "\\e"},  {'-', "\\-"},   {'~', "\\(ti"},
                   {'^', "\\(ha"}, {'`', "\\(ga"}, {'\'', "\\(aq"}};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (c == special[i].c) {
            fputs(special[i].text, out);
            return;
        }
    }
    fputc(c, out);
}

static void put_text(FILE *out, const char *text, size_t length)
{
    if (length > 0 && text[0] == '.')
        fputs("\\&", out);
    for (size_t i = 0; i < length; i++)
        put_char(out, text[i]);
}

static void put_string(FILE *out, const char *text)
{
    put_text(out, text, strlen(text));
}

/* `text` up to a blank line; returns what follows it. The first below a heading needs no mark. */
static const char *put_paragraph(FILE *out, const char *text, bool is_first)
{
    bool is_kept = text[0] == ' ';
    fputs(is_first ? "" : ".PP\n", out);
    fputs(is_kept ? ".nf\n.RS 2\n" : "", out);
    while (*text != '\0' && *text != '\n') {
        size_t length = strcspn(text, "\n"), indent = strspn(text, " ");
        const char *begin = is_kept && indent < 2 ? text + indent : text + (is_kept ? 2 : indent);
        put_text(out, begin, length - (size_t)(begin - text));
        fputc('\n', out);
        text += length + (text[length] == '\n');
    }
    fputs(is_kept ? ".RE\n.fi\n" : "", out);
    return text + strspn(text, "\n");
}

static void put_help(FILE *out, const char *text, bool is_first)
{
    for (; *text != '\0'; is_first = false)
        text = put_paragraph(out, text, is_first);
}

/* ".TP" and the option in bold, its argument in italics, then its help. */
static void put_option(FILE *out, const acq_option *option, acq_command_id command)
{
    fputs(".TP\n", out);
    if (option->letter != 0)
        fprintf(out, "\\fB\\-%c\\fP, ", option->letter);
    fputs("\\fB\\-\\-", out);
    put_string(out, option->name);
    fputs("\\fP", out);
    if (option->argument != NULL) {
        fputs(" \\fI", out);
        put_string(out, option->argument);
        fputs("\\fP", out);
    }
    fputc('\n', out);
    put_string(out, option->help);
    if (option->text_default != NULL) {
        fputs(" (default ", out);
        put_string(out, option->text_default);
        fputc(')', out);
    }
    const char *before = "; only for ";
    for (unsigned i = 0; i < ACQ_N_VARIANTS; i++) {
        const acq_variant *variant = acq_variant_get((acq_variant_id)i);
        if (acq_option_is_for(option, command, ACQ_N_VARIANTS) || variant->command != command ||
            !acq_option_is_for(option, command, (acq_variant_id)i))
            continue;
        fprintf(out, "%s%s", before, variant->name);
        before = ", ";
    }
    fputc('\n', out);
}

static void put_usage(FILE *out, const acq_command *command)
{
    bool has_variants = false;
    for (unsigned i = 0; i < ACQ_N_VARIANTS; i++) {
        const acq_variant *variant = acq_variant_get((acq_variant_id)i);
        if (acq_command_get(variant->command) != command)
            continue;
        fprintf(out, "%s.B anycq %s %s\n", has_variants ? ".br\n" : "", command->name,
                variant->name);
        put_string(out, variant->arguments);
        fputs(" [OPTION]...\n", out);
        has_variants = true;
    }
    if (has_variants)
        return;
    fprintf(out, ".B anycq %s\n", command->name);
    put_string(out, command->arguments);
    fputs(" [OPTION]...\n", out);
}

static void put_variants(FILE *out, acq_command_id id)
{
    for (unsigned i = 0; i < ACQ_N_VARIANTS; i++) {
        const char *help = acq_variant_get_help((acq_variant_id)i);
        if (acq_variant_get((acq_variant_id)i)->command != id || help == NULL)
            continue;
        fprintf(out, ".SS %s %s\n", acq_command_get(id)->name,
                acq_variant_get((acq_variant_id)i)->name);
        put_help(out, help, true);
        acq_text defaults;
        acq_text_init(&defaults);
        acq_train_print_defaults(acq_variant_get((acq_variant_id)i)->name, &defaults);
        if (defaults.length > 0)
            put_help(out, defaults.bytes + strspn(defaults.bytes, "\n"), false);
        acq_text_deinit(&defaults);
    }
}

static void put_exit_status(FILE *out)
{
    fputs(".SH EXIT STATUS\n"
          ".TP\n0\nanswered, yes, done\n.TP\n1\nnone, no\n.TP\n2\nusage or input error\n"
          ".TP\n3\nundecided: the budget ran out\n.TP\n4\ninput/output, memory or internal error\n"
          ".TP\n130\ninterrupted\n",
          out);
}

static void put_title(FILE *out, const char *name, const char *date, const char *summary)
{
    fprintf(out, ".TH %s 1 \"%s\" \"anycq " ACQ_VERSION "\" \"anycq manual\"\n.SH NAME\n", name,
            date);
    put_string(out, name);
    fputs(" \\- ", out);
    put_string(out, summary);
    fputs("\n.SH SYNOPSIS\n", out);
}

static void write_command(FILE *out, acq_command_id id, const char *date)
{
    const acq_command *command = acq_command_get(id);
    char name[64];
    snprintf(name, sizeof name, "anycq-%s", command->name);
    put_title(out, name, date, command->summary);
    put_usage(out, command);
    fputs(".SH DESCRIPTION\n", out);
    put_help(out, acq_command_get_help(id), true);
    put_variants(out, id);
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
        const acq_option *option = acq_option_get(i);
        if ((option->commands & (UINT64_C(1) << id)) != 0)
            put_option(out, option, id);
    }
    put_exit_status(out);
    fputs(".SH SEE ALSO\n.BR anycq (1)\n", out);
}

static void write_overview(FILE *out, const char *date)
{
    put_title(out, "anycq", date, "answers over incomplete knowledge graphs");
    fputs(".B anycq\nCOMMAND ARGUMENT... [\\-\\-option VALUE | \\-\\-option=VALUE]...\n"
          ".SH DESCRIPTION\n",
          out);
    put_help(out, acq_help_get_about(), true);
    fputs(".SH COMMANDS\n", out);
    for (unsigned i = 0; i < ACQ_N_COMMANDS; i++) {
        fprintf(out, ".TP\n.BR anycq\\-%s (1)\n", acq_command_get(i)->name);
        put_string(out, acq_command_get(i)->summary);
        fputc('\n', out);
    }
    put_exit_status(out);
    fputs(".SH SEE ALSO\n", out);
    for (unsigned i = 0; i < ACQ_N_COMMANDS; i++)
        fprintf(out, ".BR anycq\\-%s (1)%s\n", acq_command_get(i)->name,
                i + 1 < ACQ_N_COMMANDS ? "," : "");
}

/* id ACQ_N_COMMANDS: the page of anycq itself. */
static bool write_page(acq_command_id id, const char *folder, const char *date)
{
    char path[4096];
    bool is_whole = id == ACQ_N_COMMANDS;
    int n = snprintf(path, sizeof path, "%s/anycq%s%s.1", folder, is_whole ? "" : "-",
                     is_whole ? "" : acq_command_get(id)->name);
    FILE *out = n > 0 && (size_t)n < sizeof path ? fopen(path, "w") : NULL;
    if (out == NULL)
        return false;
    if (is_whole)
        write_overview(out, date);
    else
        write_command(out, id, date);
    return fclose(out) == 0;
}

int main(int argc, char **argv)
{
    bool is_written = argc == 3;
    for (unsigned i = 0; is_written && i <= ACQ_N_COMMANDS; i++)
        is_written = write_page((acq_command_id)i, argv[1], argv[2]);
    if (!is_written)
        fputs("usage: anycq-man FOLDER DATE, with a folder that is there\n", stderr);
    return is_written ? ACQ_EXIT_YES : ACQ_EXIT_USAGE;
}
