/* completions.c - writes what bash, zsh and fish need to complete the command, from the tables that
 * --help reads. A program of the build, which is not installed.
 *
 *   anycq-completions FOLDER      anycq.bash, _anycq and anycq.fish in it
 *
 * The first word is a command. After it, what begins with a dash is one of the command's options,
 * and anything else a file. --engine completes the names of the engines. */
#include <stdio.h>
#include <string.h>

#include "anycq.h"
#include "cli/options.h"

/* Text between single quotes. Fish has a backslash for those inside, the others end and begin. */
static void put_quoted(FILE *out, const char *text, bool is_fish)
{
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs(is_fish ? "\\'" : "'\\''", out);
        else if (*text == '\\' && is_fish)
            fputs("\\\\", out);
        else
            fputc(*text, out);
    }
    fputc('\'', out);
}

static bool is_of(const acq_option *option, unsigned command)
{
    return (option->commands & (UINT64_C(1) << command)) != 0;
}

/* Names that several rows have, for variants of the command, come once. */
static bool is_first(size_t i, unsigned command)
{
    const acq_option *option = acq_option_get(i);
    for (size_t k = 0; k < i; k++) {
        const acq_option *other = acq_option_get(k);
        if (is_of(other, command) && strcmp(other->name, option->name) == 0)
            return false;
    }
    return is_of(option, command);
}

static void put_engines(FILE *out)
{
    const char *name;
    for (size_t i = 0; (name = acq_get_engine(i)) != NULL; i++)
        fprintf(out, "%s%s", i == 0 ? "" : " ", name);
}

static void write_bash(FILE *out)
{
    fputs(
        "# bash completion for anycq\n"
        "_anycq()\n"
        "{\n"
        "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} options=\n"
        "    COMPREPLY=()\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "        COMPREPLY=($(compgen -W '",
        out);
    for (unsigned c = 0; c < ACQ_N_COMMANDS; c++)
        fprintf(out, "%s ", acq_command_get((acq_command_id)c)->name);
    fputs("--help --version' -- \"$current\"))\n"
          "        return\n"
          "    fi\n"
          "    if [ \"$before\" = --engine ]; then\n"
          "        COMPREPLY=($(compgen -W '",
          out);
    put_engines(out);
    fputs("' -- \"$current\"))\n"
          "        return\n"
          "    fi\n"
          "    case ${COMP_WORDS[1]} in\n",
          out);
    for (unsigned c = 0; c < ACQ_N_COMMANDS; c++) {
        fprintf(out, "    %s) options='", acq_command_get((acq_command_id)c)->name);
        for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
            if (is_first(i, c))
                fprintf(out, "--%s ", acq_option_get(i)->name);
        }
        fputs("' ;;\n", out);
    }
    fputs("    esac\n"
          "    case $current in\n"
          "    -*) COMPREPLY=($(compgen -W \"$options\" -- \"$current\")) ;;\n"
          "    esac\n"
          "}\n"
          "complete -o default -F _anycq anycq\n",
          out);
}

/* An entry of _describe, 'name:text'. */
static void put_described(FILE *out, const char *dashes, const char *name, const char *text)
{
    char entry[512];
    snprintf(entry, sizeof entry, "%s%s:%s", dashes, name, text);
    put_quoted(out, entry, false);
    fputc(' ', out);
}

static void write_zsh(FILE *out)
{
    fputs("#compdef anycq\n"
          "local -a found\n"
          "if (( CURRENT == 2 )); then\n"
          "    found=(",
          out);
    for (unsigned c = 0; c < ACQ_N_COMMANDS; c++) {
        const acq_command *command = acq_command_get((acq_command_id)c);
        put_described(out, "", command->name, command->summary);
    }
    fputs(")\n"
          "    _describe command found\n"
          "    return\n"
          "fi\n"
          "if [[ $words[CURRENT-1] == --engine ]]; then\n"
          "    found=(",
          out);
    put_engines(out);
    fputs(")\n"
          "    _describe engine found\n"
          "    return\n"
          "fi\n"
          "case $words[2] in\n",
          out);
    for (unsigned c = 0; c < ACQ_N_COMMANDS; c++) {
        fprintf(out, "%s) found=(", acq_command_get((acq_command_id)c)->name);
        for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
            if (is_first(i, c))
                put_described(out, "--", acq_option_get(i)->name, acq_option_get(i)->help);
        }
        fputs(") ;;\n", out);
    }
    fputs("esac\n"
          "if [[ $PREFIX == -* ]]; then\n"
          "    _describe option found\n"
          "else\n"
          "    _files\n"
          "fi\n",
          out);
}

static void write_fish_option(FILE *out, const char *command, const acq_option *option)
{
    fprintf(out, "complete -c anycq -n '__fish_seen_subcommand_from %s' -l %s", command,
            option->name);
    if (option->letter != 0)
        fprintf(out, " -s %c", option->letter);
    if (strcmp(option->name, "engine") == 0) {
        fputs(" -x -a '", out);
        put_engines(out);
        fputc('\'', out);
    } else if (option->kind != ACQ_KIND_FLAG) {
        fputs(" -r", out);
    }
    fputs(" -d ", out);
    put_quoted(out, option->help, true);
    fputc('\n', out);
}

static void write_fish(FILE *out)
{
    fputs("# fish completion for anycq\n", out);
    for (unsigned c = 0; c < ACQ_N_COMMANDS; c++) {
        const acq_command *command = acq_command_get((acq_command_id)c);
        fprintf(out, "complete -c anycq -n __fish_use_subcommand -f -a %s -d ", command->name);
        put_quoted(out, command->summary, true);
        fputc('\n', out);
        for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
            if (is_first(i, c))
                write_fish_option(out, command->name, acq_option_get(i));
        }
    }
}

static bool write_file(const char *folder, const char *name, void (*write)(FILE *out))
{
    char path[4096];
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = n > 0 && (size_t)n < sizeof path ? fopen(path, "w") : NULL;
    if (out == NULL) {
        fprintf(stderr, "anycq-completions: cannot write %s/%s\n", folder, name);
        return false;
    }
    write(out);
    bool is_good = ferror(out) == 0;
    return fclose(out) == 0 && is_good;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: anycq-completions FOLDER\n", stderr);
        return 2;
    }
    bool is_written = write_file(argv[1], "anycq.bash", write_bash) &&
                      write_file(argv[1], "_anycq", write_zsh) &&
                      write_file(argv[1], "anycq.fish", write_fish);
    return is_written ? 0 : 1;
}
