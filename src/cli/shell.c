/* shell.c - `anycq shell`: one graph, many questions.
 *
 *   line      ::= question | "." command [ value ]
 *   question  ::= text that goes on over lines until it is whole; an empty line ends it
 *
 * Settings are the options of `ask`, `.limit 5` for --limit 5. The options of each question are
 * parsed from them anew, by the parser of the command line, and the question is answered and
 * printed by what answers `ask`. Ctrl-C cancels what is typed, or the question under way. */
#include "cli/shell.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/interrupt.h"
#include "cli/question.h"
#include "cli/setup.h"
#include "cli/table.h"

typedef struct shell {
    char *path;
    const acq_options *own;     /* of the shell's command line */
    char *words[ACQ_N_OPTIONS]; /* "--limit=5" of a setting; NULL: not set */
    acq_setup setup;
    acq_shell_input *input;
    bool is_sparql;
    bool is_noted; /* the default predictor was mentioned */
    bool is_over;
    int code; /* the worst so far */
} shell;

/* ---- settings ---- */

static bool is_setting(size_t i)
{
    static const enum acq_option_id others[] = {
        ACQ_OPTION_queries, ACQ_OPTION_cover,    ACQ_OPTION_help,        ACQ_OPTION_instructions,
        ACQ_OPTION_threads, ACQ_OPTION_split,    ACQ_OPTION_strict,      ACQ_OPTION_no_header,
        ACQ_OPTION_base,    ACQ_OPTION_literals, ACQ_OPTION_read_format, ACQ_OPTION_named_graphs,
    };
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        if (i == (size_t)others[k])
            return false;
    }
    return acq_option_is_for(acq_option_get(i), ACQ_COMMAND_ask, ACQ_N_VARIANTS);
}

/* ACQ_N_OPTIONS: there is no such setting. */
static size_t find_setting(const char *name)
{
    size_t i = 0;
    while (i < ACQ_N_OPTIONS && (!is_setting(i) || strcmp(acq_option_get(i)->name, name) != 0))
        i++;
    return i;
}

/* The options of a question; argv has room for all settings and the graph, and outlives them. */
static acq_status parse(const shell *s, char **argv, acq_options *out, acq_error *error)
{
    static char end_of_options[] = "--";
    int n = 0;
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
        if (s->words[i] != NULL)
            argv[n++] = s->words[i];
    }
    argv[n++] = end_of_options;
    argv[n++] = s->path;
    return acq_options_init(out, ACQ_COMMAND_ask, n, argv, error);
}

static char *make_word(const acq_option *option, const char *value)
{
    acq_error error = {0};
    acq_text text;
    char *word = NULL;
    acq_text_init(&text);
    acq_text_format(&text, option->kind == ACQ_KIND_FLAG ? "--%s" : "--%s=%s", option->name, value);
    if (acq_text_take(&text, &word, &error) != ACQ_OK)
        acq_text_deinit(&text);
    return word;
}

/* Predictor and weights as the settings have them now; on an error the old ones stay. */
static acq_status apply(shell *s, acq_output *output, bool opens_predictor, acq_error *error)
{
    char *argv[ACQ_N_OPTIONS + 2];
    acq_options options;
    acq_ask_params params;
    acq_setup fresh = {.graph = s->setup.graph};
    acq_status status = parse(s, argv, &options, error);
    if (status == ACQ_OK)
        status = acq_setup_read_ask(&options, &params, error);
    if (status == ACQ_OK)
        status = acq_setup_open_believed(&fresh, &options, opens_predictor, s->path, output, error);
    if (status == ACQ_OK) {
        acq_policy_free(s->setup.policy);
        s->setup.policy = fresh.policy;
    }
    if (status == ACQ_OK && opens_predictor) {
        acq_predictor_free(s->setup.predictor);
        s->setup.predictor = fresh.predictor;
        s->is_noted = false;
    }
    acq_options_deinit(&options);
    return status;
}

static bool is_of_predictor(size_t i)
{
    return i == ACQ_OPTION_predictor || i == ACQ_OPTION_direction || i == ACQ_OPTION_scaling;
}

static acq_status set(shell *s, size_t i, const char *value, acq_output *output, acq_error *error)
{
    const acq_option *option = acq_option_get(i);
    bool is_off = strcmp(value, "off") == 0 || strcmp(value, "default") == 0;
    if (option->kind == ACQ_KIND_FLAG && !is_off && strcmp(value, "on") != 0)
        return acq_fail(error, ACQ_ERR_USAGE, ".%s is on or off, not \"%.100s\"", option->name,
                        value);
    char *before = s->words[i], *after = is_off ? NULL : make_word(option, value);
    if (!is_off && after == NULL)
        return acq_fail_memory(error);
    s->words[i] = after;
    acq_status status = apply(s, output, is_of_predictor(i), error);
    if (status != ACQ_OK)
        s->words[i] = before;
    acq_free(status == ACQ_OK ? before : after);
    return status;
}

static void print_setting(const shell *s, size_t i, acq_text *out)
{
    const acq_option *option = acq_option_get(i);
    const char *word = s->words[i], *equals = word == NULL ? NULL : strchr(word, '=');
    const char *standard = option->text_default == NULL ? "off" : option->text_default;
    acq_text_format(out, ".%s ", option->name);
    acq_width_add(out, word == NULL ? standard : equals == NULL ? "on" : equals + 1);
    acq_text_add_char(out, '\n');
}

/* What the shell's own command line has for predictor and reading. */
static acq_status take_own(shell *s, acq_error *error)
{
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
        const acq_option *option = acq_option_get(i);
        const void *field = (const char *)s->own + option->offset;
        bool is_text = option->kind == ACQ_KIND_TEXT;
        if (!s->own->given[i] || !acq_option_is_for(option, ACQ_COMMAND_ask, ACQ_N_VARIANTS))
            continue;
        s->words[i] = make_word(option, is_text ? *(const char *const *)field : "on");
        if (s->words[i] == NULL)
            return acq_fail_memory(error);
    }
    return ACQ_OK;
}

/* ---- questions ---- */

static int answer(shell *s, const char *text, acq_output *output)
{
    char *argv[ACQ_N_OPTIONS + 2];
    acq_error error = {0};
    acq_options options;
    acq_ask_params params;
    acq_question question = {.options = &options,
                             .graph = s->setup.graph,
                             .predictor = s->setup.predictor,
                             .params = &params,
                             .text = text};
    int code;
    if (parse(s, argv, &options, &error) != ACQ_OK ||
        acq_setup_read_ask(&options, &params, &error) != ACQ_OK ||
        acq_setup_check_calibrator(&options, s->setup.predictor, &error) != ACQ_OK) {
        code = acq_report_error(output, &options, &error, NULL);
    } else {
        params.policy = s->setup.policy;
        code = acq_question_answer(&question, output);
        if (question.is_predicted && !s->is_noted) {
            acq_setup_note_auto(&options, s->setup.predictor, output);
            s->is_noted = true;
        }
    }
    code = acq_output_flush(output, code);
    acq_options_deinit(&options);
    return code;
}

static void ask(shell *s, const char *text)
{
    acq_output output;
    acq_output_init(&output);
    output.streams = true;
    acq_interrupt_hold(NULL, 0);
    acq_interrupt_set_grace(0); /* it ends when it ends: the shell is to stay */
    int code = answer(s, text, &output);
    int number = acq_interrupt_get_number();
    acq_interrupt_release();
    acq_output_deinit(&output);
    bool is_script = !acq_shell_input_is_terminal(s->input);
    if (number != 0 && (is_script || number != SIGINT)) {
        s->is_over = true;
        s->code = ACQ_EXIT_INTERRUPTED;
        return;
    }
    s->code = acq_report_worse(s->code, code);
    fflush(stdout);
}

/* ---- commands ---- */

static const char *const help[] = {
    "A question goes on over lines until its parentheses and quotes are closed; an",
    "empty line ends it. Tab completes commands, relations and, in quotes, entities.",
    "Ctrl-C cancels what is typed, or the question under way.",
    "",
    "  .help          this text",
    "  .info          what the graph holds",
    "  .schema        its relations, with how many facts each has",
    "  .find PREFIX   entities whose name begins so",
    "  .sparql        SPARQL on or off; its questions end with ; or an empty line",
    "  .settings      all settings",
    "  .quit          leaves, as Ctrl-D does",
    "",
    "Any option of ask is a setting: .limit 5, .explain on, .engine policy, .time 10,",
    ".predictor observed, .json on. Without a value it is shown; off or default takes",
    "it back. anycq ask --help says what they mean.",
};

static void print_help(shell *s, const char *value, acq_output *output)
{
    (void)s;
    (void)value;
    for (size_t i = 0; i < sizeof help / sizeof *help; i++)
        acq_text_format(&output->data, "%s\n", help[i]);
}

static void print_info(shell *s, const char *value, acq_output *output)
{
    (void)value;
    const acq_graph *graph = s->setup.graph;
    uint64_t n_relations = 0;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph); r++)
        n_relations += acq_graph_is_named(graph, r);
    acq_size_print_text(&output->data, "graph", s->path);
    acq_size_print_count(&output->data, "entities", acq_graph_get_n_entities(graph));
    acq_size_print_count(&output->data, "relations", n_relations);
    acq_size_print_count(&output->data, "facts", acq_graph_get_n_facts(graph));
    acq_size_print_text(&output->data, "predictor", acq_predictor_get_name(s->setup.predictor));
}

static void print_schema(shell *s, const char *value, acq_output *output)
{
    const acq_graph *graph = s->setup.graph;
    acq_error error = {0};
    for (acq_rel r = 0; error.code == ACQ_OK && r < acq_graph_get_n_relations(graph); r++) {
        const char *name = acq_graph_get_relation_name(graph, r);
        acq_relation_counts counts = {.size = sizeof counts};
        if (!acq_graph_is_named(graph, r) || strncmp(name, value, strlen(value)) != 0 ||
            acq_graph_count_relation(graph, r, &counts, &error) != ACQ_OK)
            continue;
        acq_text_format(&output->data, "%10llu  ", (unsigned long long)counts.facts);
        acq_width_add_cut_middle(&output->data, name, ACQ_COLUMNS - 12);
        acq_text_add_char(&output->data, '\n');
        acq_output_relieve(output);
    }
    if (error.code != ACQ_OK)
        s->code = acq_report_worse(s->code, acq_report_error(output, NULL, &error, NULL));
}

enum { MOST_FOUND = 20 };

typedef struct finding {
    acq_text *out;
    size_t n;
} finding;

static bool print_name(void *context, acq_ent entity, const char *name, size_t length)
{
    (void)entity;
    (void)length;
    finding *f = context;
    if (f->n++ == MOST_FOUND) {
        acq_text_add(f->out, "and more\n");
        return false;
    }
    acq_width_add_cut(f->out, name, ACQ_COLUMNS);
    acq_text_add_char(f->out, '\n');
    return true;
}

static void print_found(shell *s, const char *value, acq_output *output)
{
    acq_error error = {0};
    finding f = {.out = &output->data};
    if (acq_graph_each_name(s->setup.graph, value, strlen(value), print_name, &f, &error) != ACQ_OK)
        s->code = acq_report_worse(s->code, acq_report_error(output, NULL, &error, NULL));
    else if (f.n == 0)
        acq_report_note(output, "no entity begins so");
}

static void set_sparql(shell *s, const char *value, acq_output *output)
{
    s->is_sparql = value[0] == '\0' ? !s->is_sparql : strcmp(value, "off") != 0;
    acq_text_format(&output->data, ".sparql %s\n", s->is_sparql ? "on" : "off");
}

static void print_settings(shell *s, const char *value, acq_output *output)
{
    (void)value;
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
        if (is_setting(i))
            print_setting(s, i, &output->data);
    }
}

static void leave(shell *s, const char *value, acq_output *output)
{
    (void)value;
    (void)output;
    s->is_over = true;
}

static const struct {
    const char *name;
    void (*run)(shell *s, const char *value, acq_output *output);
} commands[] = {
    {"help", print_help},  {"info", print_info},   {"schema", print_schema},
    {"find", print_found}, {"sparql", set_sparql}, {"settings", print_settings},
    {"quit", leave},       {"exit", leave},
};

enum { N_SHELL_COMMANDS = sizeof commands / sizeof *commands };

static acq_status fail_command(const char *name, acq_error *error)
{
    acq_nearest nearest;
    acq_nearest_init(&nearest, name);
    for (size_t i = 0; i < N_SHELL_COMMANDS; i++)
        acq_nearest_offer(&nearest, commands[i].name);
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++) {
        if (is_setting(i))
            acq_nearest_offer(&nearest, acq_option_get(i)->name);
    }
    return nearest.best == NULL
               ? acq_fail(error, ACQ_ERR_USAGE, "no command .%.60s; .help lists them", name)
               : acq_fail(error, ACQ_ERR_USAGE, "no command .%.60s; did you mean .%s?", name,
                          nearest.best);
}

static acq_status run_setting(shell *s, const char *name, const char *value, acq_output *output,
                              acq_error *error)
{
    size_t i = find_setting(name);
    acq_status status = ACQ_OK;
    if (i == ACQ_N_OPTIONS)
        return fail_command(name, error);
    if (value[0] == '\0')
        print_setting(s, i, &output->data);
    else
        status = set(s, i, value, output, error);
    return status;
}

/* line: what follows the dot. */
static void run_command(shell *s, char *line)
{
    acq_output output;
    acq_error error = {0};
    acq_output_init(&output);
    output.streams = true;
    size_t length = strcspn(line, " \t");
    char *value = line + length + strspn(line + length, " \t");
    line[length] = '\0';
    size_t i = 0;
    while (i < N_SHELL_COMMANDS && strcmp(commands[i].name, line) != 0)
        i++;
    if (i < N_SHELL_COMMANDS)
        commands[i].run(s, value, &output);
    else if (run_setting(s, line, value, &output, &error) != ACQ_OK)
        s->code = acq_report_worse(s->code, acq_report_error(&output, NULL, &error, NULL));
    s->code = acq_report_worse(s->code, acq_output_finish(&output, ACQ_EXIT_YES));
}

/* ---- lines ---- */

/* Is the last that is no space one of `ends`? */
static bool ends_with(const acq_text *text, const char *ends)
{
    size_t n = text->length;
    while (n > 0 && (text->bytes[n - 1] == ' ' || text->bytes[n - 1] == '\n'))
        n--;
    return n > 0 && strchr(ends, text->bytes[n - 1]) != NULL;
}

/* Is a bracket or a quote open, or none of a SPARQL group there yet? */
static bool is_open(const acq_text *text, bool is_sparql)
{
    int depth = 0;
    bool is_quoted = false, has_group = false;
    for (const char *c = text->bytes; *c != '\0'; c++) {
        if (is_quoted && *c == '\\' && c[1] != '\0')
            c++;
        else if (*c == '"')
            is_quoted = !is_quoted;
        else if (!is_quoted)
            depth += (strchr("({", *c) != NULL) - (strchr(")}", *c) != NULL);
        has_group = has_group || (!is_quoted && *c == '{');
    }
    return is_quoted || depth > 0 || (is_sparql && !has_group);
}

static bool is_whole(const shell *s, const acq_text *text)
{
    if (s->is_sparql)
        return ends_with(text, ";");
    return ends_with(text, ";") ||
           (!is_open(text, acq_is_sparql(text->bytes)) && !ends_with(text, "&|,=!.\\"));
}

/* Without a semicolon at its end, which belongs to the shell. */
static void strip(acq_text *text)
{
    while (text->length > 0 && strchr(" \t\n;", text->bytes[text->length - 1]) != NULL)
        text->bytes[--text->length] = '\0';
}

/* What holds a zero byte is no text: it is dropped with what was typed before it, never cut short.
 */
static acq_shell_read read_line(shell *s, const char *prompt, acq_text *line)
{
    acq_shell_read found = acq_shell_input_next(s->input, prompt, line);
    if (found != ACQ_SHELL_LINE || line->failed || strlen(line->bytes) == line->length)
        return found;
    acq_output output;
    acq_error error = {0};
    acq_output_init(&output);
    (void)acq_fail(&error, ACQ_ERR_INPUT,
                   "a zero byte in a question; write questions as UTF-8 text");
    s->code = acq_report_worse(s->code, acq_report_error(&output, NULL, &error, NULL));
    s->code = acq_report_worse(s->code, acq_output_finish(&output, ACQ_EXIT_YES));
    return ACQ_SHELL_INTERRUPT;
}

/* Collects lines in `text` until the question is whole. */
static acq_shell_read read_rest(shell *s, acq_text *text, acq_text *line)
{
    acq_shell_read found = ACQ_SHELL_LINE;
    while (found == ACQ_SHELL_LINE && !text->failed && !is_whole(s, text)) {
        found = read_line(s, "  ...> ", line);
        if (found != ACQ_SHELL_LINE || strspn(line->bytes, " \t") == line->length)
            break;
        if (ends_with(text, "\\"))
            text->bytes[--text->length] = '\0';
        acq_text_add_char(text, ' ');
        acq_text_add(text, line->bytes);
    }
    return found;
}

/* Is the line one of the words that people try first? */
static bool is_bare_command(acq_text *text)
{
    static const char *const words[] = {"help", "quit", "exit"};
    bool is_one = false;
    size_t length = strcspn(text->bytes, " \t\n;");
    bool is_alone = text->bytes[length + strspn(text->bytes + length, " \t\n;")] == '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        is_one = is_one || (strlen(words[i]) == length && memcmp(words[i], text->bytes, length) == 0);
    return is_one && is_alone;
}

static acq_shell_read read_and_run(shell *s, acq_text *text, acq_text *line)
{
    acq_shell_read found = read_line(s, s->is_sparql ? "sparql> " : "anycq> ", line);
    size_t skip = found == ACQ_SHELL_LINE ? strspn(line->bytes, " \t") : 0;
    if (found != ACQ_SHELL_LINE || line->bytes[skip] == '\0' || line->bytes[skip] == '#')
        return found;
    acq_text_clear(text);
    acq_text_add(text, line->bytes + skip);
    if (text->failed)
        return ACQ_SHELL_END;
    bool is_bare = is_bare_command(text);
    if (text->bytes[0] == '.' || is_bare) {
        strip(text);
        acq_shell_input_remember(s->input, text->bytes);
        run_command(s, text->bytes + !is_bare);
        return found;
    }
    found = read_rest(s, text, line);
    acq_shell_input_remember(s->input, text->bytes);
    strip(text);
    if (found != ACQ_SHELL_INTERRUPT && found != ACQ_SHELL_LEAVE && text->length > 0)
        ask(s, text->bytes);
    return found;
}

static void run_lines(shell *s)
{
    acq_text text, line;
    acq_text_init(&text);
    acq_text_init(&line);
    acq_shell_read found = ACQ_SHELL_LINE;
    while (!s->is_over && (found == ACQ_SHELL_LINE || found == ACQ_SHELL_INTERRUPT))
        found = read_and_run(s, &text, &line);
    if (found == ACQ_SHELL_LEAVE)
        s->code = ACQ_EXIT_INTERRUPTED;
    if (text.failed || line.failed)
        s->code = ACQ_EXIT_SYSTEM;
    acq_text_deinit(&text);
    acq_text_deinit(&line);
}

/* What Tab offers after a dot: ".help", and ".limit" for each setting. */
typedef struct word_list {
    char *items[ACQ_N_OPTIONS + N_SHELL_COMMANDS];
    size_t n;
} word_list;

static bool add_word(word_list *words, const char *name)
{
    size_t length = strlen(name);
    char *word = acq_alloc(length + 2, 1);
    if (word == NULL)
        return false;
    word[0] = '.';
    memcpy(word + 1, name, length + 1);
    words->items[words->n++] = word;
    return true;
}

static bool collect_words(word_list *words)
{
    bool is_good = true;
    for (size_t i = 0; i < N_SHELL_COMMANDS; i++)
        is_good = is_good && add_word(words, commands[i].name);
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++)
        is_good = is_good && (!is_setting(i) || add_word(words, acq_option_get(i)->name));
    return is_good;
}

static int run(shell *s)
{
    word_list words = {.n = 0};
    acq_error error = {0};
    if (collect_words(&words))
        s->input = acq_shell_input_new(s->setup.graph, (const char *const *)words.items, words.n);
    if (s->input == NULL)
        acq_fail_memory(&error);
    else if (acq_shell_input_is_terminal(s->input))
        fputs("anycq " ACQ_VERSION "; .help lists the commands, Ctrl-D leaves\n", stdout);
    if (s->input != NULL)
        run_lines(s);
    bool is_script = s->input != NULL && !acq_shell_input_is_terminal(s->input);
    acq_shell_input_free(s->input);
    for (size_t i = 0; i < words.n; i++)
        acq_free(words.items[i]);
    if (error.code != ACQ_OK)
        return acq_report_failure(s->own, &error);
    return is_script || s->code == ACQ_EXIT_INTERRUPTED ? s->code : ACQ_EXIT_YES;
}

int acq_cli_shell(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    shell s = {.path = acq_copy_string(options->args.items[0]), .own = options};
    acq_output_init(&output);
    acq_status status = s.path == NULL ? acq_fail_memory(&error) : take_own(&s, &error);
    if (status == ACQ_OK)
        status = acq_setup_read_graph(options, s.path, &output, &s.setup.graph, NULL, &error);
    if (status == ACQ_OK)
        status = apply(&s, &output, true, &error);
    int code = status == ACQ_OK ? acq_output_flush(&output, ACQ_EXIT_YES)
                                : acq_report_error(&output, options, &error, NULL);
    if (code == ACQ_EXIT_YES)
        code = run(&s);
    acq_setup_deinit(&s.setup);
    acq_free(s.path);
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++)
        acq_free(s.words[i]);
    return acq_output_finish(&output, code);
}
