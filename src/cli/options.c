/* options.c - one parser for all options; see options.h.
 *
 *   arguments  ::= { option | word } [ "--" { word } ]
 *   option     ::= "--" name [ "=" value | value ] | "-" letter [ value ]
 *
 * The last of several values of an option counts, except in a LIST, which collects them. */
#include "cli/options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/text.h"

static const acq_option table[ACQ_N_OPTIONS] = {
#define ENTRY(kind_, field, name_, letter_, argument_, default_, low_, high_, commands_, help_)    \
    {.name = name_,                                                                                \
     .argument = argument_,                                                                        \
     .help = help_,                                                                                \
     .text_default = default_,                                                                     \
     .letter = letter_,                                                                            \
     .kind = kind_,                                                                                \
     .low = low_,                                                                                  \
     .high = high_,                                                                                \
     .commands = (uint64_t)(commands_),                                                            \
     .offset = offsetof(acq_options, field)},
#define FLAG(...)  ENTRY(ACQ_KIND_FLAG, __VA_ARGS__)
#define REAL(...)  ENTRY(ACQ_KIND_REAL, __VA_ARGS__)
#define COUNT(...) ENTRY(ACQ_KIND_COUNT, __VA_ARGS__)
#define TEXT(...)  ENTRY(ACQ_KIND_TEXT, __VA_ARGS__)
#define LIST(...)  ENTRY(ACQ_KIND_LIST, __VA_ARGS__)
#define TIME(...)  ENTRY(ACQ_KIND_TIME, __VA_ARGS__)
    ACQ_OPTIONS(FLAG, REAL, COUNT, TEXT, LIST, TIME)
#undef FLAG
#undef REAL
#undef COUNT
#undef TEXT
#undef LIST
#undef TIME
#undef ENTRY
};

const acq_option *acq_option_get(size_t i)
{
    return &table[i];
}

static bool is_for(const acq_option *option, acq_command_id command)
{
    return (option->commands & (UINT64_C(1) << command)) != 0;
}

bool acq_option_is_for(const acq_option *option, acq_command_id command, acq_variant_id variant)
{
    uint64_t all = acq_variant_get_bits(command), some = option->commands & all;
    if (!is_for(option, command) || some == 0 || some == all)
        return is_for(option, command);
    return variant != ACQ_N_VARIANTS && (some & (UINT64_C(1) << (ACQ_FIRST_VARIANT_BIT + variant))) != 0;
}

static void *field_of(acq_options *options, const acq_option *option)
{
    return (char *)options + option->offset;
}

static acq_status set_real(const acq_option *option, const char *text, double *out,
                           acq_error *error)
{
    char *end;
    double value = acq_read_double(text, &end);
    if (end == text || *end != '\0' || isspace((unsigned char)text[0]) || !isfinite(value))
        return acq_fail(error, ACQ_ERR_USAGE, "option --%s needs a number, not \"%.100s\"",
                        option->name, text);
    if (value < option->low || value > option->high)
        return acq_fail(error, ACQ_ERR_USAGE, "option --%s must be between %g and %g, not %.100s",
                        option->name, option->low, option->high, text);
    *out = value;
    return ACQ_OK;
}

/* Seconds, or a number with s, m or h behind it. */
static acq_status set_time(const acq_option *option, const char *text, double *out,
                           acq_error *error)
{
    static const char units[] = "smh";
    char *end;
    double value = acq_read_double(text, &end);
    const char *unit = *end == '\0' ? units : strchr(units, *end);
    bool is_number = end != text && !isspace((unsigned char)text[0]) && isfinite(value);
    if (!is_number || unit == NULL || (*end != '\0' && end[1] != '\0'))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --%s needs a time like 90, 90s, 15m or 2h, not \"%.100s\"",
                        option->name, text);
    for (; unit > units; unit--)
        value *= 60;
    if (value < option->low || value > option->high)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --%s must be between %g and %g seconds, not %.100s", option->name,
                        option->low, option->high, text);
    *out = value;
    return ACQ_OK;
}

static acq_status set_count(const acq_option *option, const char *text, uint64_t *out,
                            acq_error *error)
{
    size_t n_digits = strspn(text, "0123456789");
    if (n_digits == 0 || text[n_digits] != '\0')
        return acq_fail(error, ACQ_ERR_USAGE, "option --%s needs a whole number, not \"%.100s\"",
                        option->name, text);
    errno = 0;
    uint64_t value = strtoull(text, NULL, 10);
    if (errno != 0 || (double)value < option->low || (double)value > option->high)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --%s must be between %.0f and %.0f, not %.100s", option->name,
                        option->low, option->high, text);
    *out = value;
    return ACQ_OK;
}

static acq_status set_value(acq_options *options, const acq_option *option, const char *text,
                            acq_error *error)
{
    void *field = field_of(options, option);
    switch (option->kind) {
    case ACQ_KIND_FLAG:
        *(bool *)field = true;
        return ACQ_OK;
    case ACQ_KIND_REAL:
        return set_real(option, text, field, error);
    case ACQ_KIND_COUNT:
        return set_count(option, text, field, error);
    case ACQ_KIND_TEXT:
        if (text[0] == '\0')
            return acq_fail(error, ACQ_ERR_USAGE, "option --%s needs a value that is not empty",
                            option->name);
        *(const char **)field = text;
        return ACQ_OK;
    case ACQ_KIND_TIME:
        return set_time(option, text, field, error);
    case ACQ_KIND_LIST:
        break;
    }
    acq_words *words = field;
    words->items[words->n++] = text;
    return ACQ_OK;
}

static acq_status set_defaults(acq_options *options, acq_error *error)
{
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
        if (table[i].text_default == NULL)
            continue;
        acq_status status = set_value(options, &table[i], table[i].text_default, error);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

static acq_status fail_unknown(acq_command_id command, const char *token, const char *name,
                               acq_error *error)
{
    acq_nearest nearest;
    acq_nearest_init(&nearest, name);
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
        if (is_for(&table[i], command))
            acq_nearest_offer(&nearest, table[i].name);
    }
    const char *command_name = acq_command_get(command)->name;
    if (nearest.best != NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "%s has no option %.100s; did you mean --%s?",
                        command_name, token, nearest.best);
    return acq_fail(error, ACQ_ERR_USAGE,
                    "%s has no option %.100s; see anycq %s --help, and put -- before a value "
                    "that begins with -",
                    command_name, token, command_name);
}

static acq_status fail_elsewhere(acq_command_id command, const acq_option *option, acq_error *error)
{
    uint64_t commands = 0;
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++)
        commands |= strcmp(table[i].name, option->name) == 0 ? table[i].commands : 0;
    char list[200] = "";
    for (unsigned i = 0; i < ACQ_N_COMMANDS; i++) {
        if ((commands & (UINT64_C(1) << i)) == 0)
            continue;
        size_t used = strlen(list);
        strncat(list, used == 0 ? "" : ", ", sizeof list - used - 1);
        strncat(list, acq_command_get(i)->name, sizeof list - strlen(list) - 1);
    }
    return acq_fail(error, ACQ_ERR_USAGE, "option --%s is not for %s, only for %s", option->name,
                    acq_command_get(command)->name, list);
}

/* name: what stands between the dashes and "=", `length` bytes. The command's own row, else that
 * of another command, else NULL. */
static const acq_option *find_long(acq_command_id command, const char *name, size_t length)
{
    const acq_option *found = NULL;
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
        if (strlen(table[i].name) != length || strncmp(table[i].name, name, length) != 0)
            continue;
        if (is_for(&table[i], command))
            return &table[i];
        found = &table[i];
    }
    return found;
}

static const acq_option *find_letter(const char *token)
{
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
        if (table[i].letter != 0 && token[1] == table[i].letter && token[2] == '\0')
            return &table[i];
    }
    return NULL;
}

/* The option a token names, NULL after an error; *value is what follows "=", NULL without one. */
static const acq_option *find_option(acq_command_id command, const char *token, const char **value,
                                     acq_error *error)
{
    bool is_long = token[1] == '-';
    const char *name = token + (is_long ? 2 : 1);
    const char *equals = is_long ? strchr(name, '=') : NULL;
    size_t length = equals == NULL ? strlen(name) : (size_t)(equals - name);
    const acq_option *option = is_long ? find_long(command, name, length) : find_letter(token);
    if (option == NULL) {
        char word[64];
        size_t kept = length < sizeof word - 1 ? length : sizeof word - 1;
        memcpy(word, name, kept);
        word[kept] = '\0';
        fail_unknown(command, token, word, error);
    } else if (!is_for(option, command)) {
        fail_elsewhere(command, option, error);
    } else if (equals != NULL && option->kind == ACQ_KIND_FLAG) {
        acq_fail(error, ACQ_ERR_USAGE, "option --%s takes no value: write --%s alone", option->name,
                 option->name);
    } else {
        *value = equals == NULL ? NULL : equals + 1;
        return option;
    }
    return NULL;
}

static bool is_option(const char *token)
{
    return token[0] == '-' && token[1] != '\0';
}

/* "-1" is a value, "--json" and "-o" are not. */
static bool can_be_value(const char *token)
{
    return !is_option(token) || isdigit((unsigned char)token[1]) || token[1] == '.';
}

/* eval's `--queries a.json b.json`, and --merge: the words after the first value belong to the list
 * too. */
static int take_list(acq_options *options, const acq_option *option, int i, int argc,
                     char *const *argv)
{
    bool is_many = option->kind == ACQ_KIND_LIST && (options->command == ACQ_COMMAND_eval ||
                                                     option == &table[ACQ_OPTION_work_merge]);
    acq_words *words = field_of(options, option);
    while (is_many && i < argc && !is_option(argv[i]))
        words->items[words->n++] = argv[i++];
    return i;
}

/* Parses the option at argv[*i] and moves *i past it. */
static acq_status take_option(acq_options *options, int *i, int argc, char *const *argv,
                              acq_error *error)
{
    const char *value = NULL;
    const acq_option *option = find_option(options->command, argv[*i], &value, error);
    if (option == NULL)
        return ACQ_ERR_USAGE;
    (*i)++;
    if (option->kind != ACQ_KIND_FLAG && value == NULL) {
        if (*i >= argc || !can_be_value(argv[*i]))
            return acq_fail(error, ACQ_ERR_USAGE, "option --%s needs a value: --%s %s",
                            option->name, option->name, option->argument);
        value = argv[(*i)++];
    }
    options->given[option - table] = true;
    acq_status status = set_value(options, option, value, error);
    if (status == ACQ_OK)
        *i = take_list(options, option, *i, argc, argv);
    return status;
}

static acq_status take_all(acq_options *options, int argc, char *const *argv, acq_error *error)
{
    bool only_words = false;
    for (int i = 0; i < argc;) {
        if (!only_words && strcmp(argv[i], "--") == 0) {
            only_words = true;
            i++;
        } else if (only_words || !is_option(argv[i])) {
            options->args.items[options->args.n++] = argv[i++];
        } else {
            acq_status status = take_option(options, &i, argc, argv, error);
            if (status != ACQ_OK)
                return status;
        }
    }
    return ACQ_OK;
}

static acq_status check_count(const acq_options *options, acq_error *error)
{
    const acq_command *command = acq_command_get(options->command);
    size_t n = options->args.n;
    if (options->help || (n >= command->least_args && n <= command->most_args))
        return ACQ_OK;
    if (n > command->most_args)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "%s does not know what to do with \"%.100s\"; usage: anycq %s %s",
                        command->name, options->args.items[command->most_args], command->name,
                        command->arguments);
    return acq_fail(error, ACQ_ERR_USAGE, "%s needs more arguments; usage: anycq %s %s",
                    command->name, command->name, command->arguments);
}

static acq_status fail_variant(const acq_option *option, acq_command_id command,
                               acq_variant_id variant, acq_error *error)
{
    char list[200] = "";
    const char *name = acq_command_get(command)->name;
    for (unsigned i = 0; i < ACQ_N_VARIANTS; i++) {
        size_t used = strlen(list);
        if (acq_option_is_for(option, command, (acq_variant_id)i))
            snprintf(list + used, sizeof list - used, "%s%s %s", used == 0 ? "" : ", ", name,
                     acq_variant_get((acq_variant_id)i)->name);
    }
    return acq_fail(error, ACQ_ERR_USAGE, "option --%s is not for %s %s, only for %s", option->name,
                    name, acq_variant_get(variant)->name, list);
}

/* The first argument is known only when all are read. */
static acq_status check_variant(const acq_options *options, acq_error *error)
{
    acq_variant_id variant = acq_options_get_variant(options);
    for (size_t i = 0; i < ACQ_N_OPTIONS && variant != ACQ_N_VARIANTS; i++) {
        if (options->given[i] && !acq_option_is_for(&table[i], options->command, variant))
            return fail_variant(&table[i], options->command, variant, error);
    }
    return ACQ_OK;
}

/* --output-format json is --json. */
static acq_status read_output_format(acq_options *options, acq_error *error)
{
    const char *name = options->output_format;
    if (strcmp(name, "text") == 0)
        return ACQ_OK;
    bool is_csv = strcmp(name, "csv") == 0, is_tsv = strcmp(name, "tsv") == 0;
    if (!is_csv && !is_tsv && strcmp(name, "json") != 0)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "no output format \"%.100s\"; use text, json, csv or tsv", name);
    if (options->json && (is_csv || is_tsv))
        return acq_fail(error, ACQ_ERR_USAGE, "--json and --output-format %s exclude each other",
                        name);
    if (is_csv || is_tsv)
        options->separator = is_csv ? ',' : '\t';
    else
        options->json = true;
    return ACQ_OK;
}

/* One block holds the positional words and every list: each at most argc. */
static acq_status make_room(acq_options *options, int argc, acq_error *error)
{
    size_t n = (size_t)argc + 1;
    options->words = acq_alloc(3 * n, sizeof *options->words);
    if (options->words == NULL)
        return acq_fail_memory(error);
    options->args.items = options->words;
    options->queries.items = options->words + n;
    options->work_merge.items = options->words + 2 * n;
    return ACQ_OK;
}

acq_status acq_options_init(acq_options *options, acq_command_id command, int argc,
                            char *const *argv, acq_error *error)
{
    *options = (acq_options){.command = command, .begin_ns = acq_clock_ns()};
    acq_status status = make_room(options, argc, error);
    if (status == ACQ_OK)
        status = set_defaults(options, error);
    if (status == ACQ_OK)
        status = take_all(options, argc, argv, error);
    if (status == ACQ_OK)
        status = check_count(options, error);
    if (status == ACQ_OK)
        status = check_variant(options, error);
    if (status == ACQ_OK)
        status = read_output_format(options, error);
    return status;
}

void acq_options_deinit(acq_options *options)
{
    acq_free(options->words);
    *options = (acq_options){0};
}

double acq_options_get_seconds_left(const acq_options *options)
{
    double time = acq_options_has(options, time)           ? options->time
                  : acq_options_has(options, fit_time)     ? options->fit_time
                  : acq_options_has(options, train_time)   ? options->train_time
                  : acq_options_has(options, suggest_time) ? options->suggest_time
                                                           : options->whole_time;
    double spent = (double)(acq_clock_ns() - options->begin_ns) * 1e-9;
    return time > 0 ? time - spent : INFINITY;
}

acq_variant_id acq_options_get_variant(const acq_options *options)
{
    return acq_variant_find(options->command, options->args.n == 0 ? NULL : options->args.items[0]);
}

/* ---- which word was meant: edit distance with transpositions (optimal string alignment) ---- */

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows i-2, i-1 and i of the usual table. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(change, 1 + least(above[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], second[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

void acq_nearest_init(acq_nearest *nearest, const char *word)
{
    *nearest = (acq_nearest){.word = word, .distance = SIZE_MAX};
}

void acq_nearest_offer(acq_nearest *nearest, const char *known)
{
    size_t n = strlen(nearest->word), m = strlen(known);
    if (n == 0 || n > LONGEST || m > LONGEST)
        return;
    size_t shorter = least(n, m), longer = n + m - shorter;
    size_t distance = edit_distance(nearest->word, n, known, m);
    bool begins = shorter >= 2 && strncmp(nearest->word, known, shorter) == 0;
    if (begins)
        distance = least(distance, 1);
    if (distance <= (longer + 2) / 3 && distance < nearest->distance) {
        nearest->best = known;
        nearest->distance = distance;
    }
}
