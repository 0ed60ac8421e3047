/* outputs.c - what a command may write, and what it may not read twice; see setup.h. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "cli/options.h"
#include "cli/setup.h"

/* ---- outputs ----
 *
 * No command writes over what it reads. What is read: the arguments, the values of options that the
 * table calls FILE, GRAPH or MODEL, the file of a predictor, and what these bring with them. What
 * is written: -o and --svg, and what the command keeps beside -o. Two names are one file when the
 * system says so, whatever their spelling and the links between. */

/* Is `path` the file whose name is a, b and c in a row? */
static bool is_joined(const char *path, const char *a, const char *b, const char *c)
{
    char other[PATH_MAX];
    int n = snprintf(other, sizeof other, "%s%s%s", a, b, c);
    return n > 0 && (size_t)n < sizeof other && acq_file_is_alias(path, other);
}

/* A benchmark's graph is read with the dictionary beside it. */
static bool is_dictionary(const char *path, const char *graph)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(graph, '/');
    int length = slash == NULL ? 0 : (int)(slash + 1 - graph);
    int n = snprintf(folder, sizeof folder, "%.*s", length, graph);
    return strstr(graph, "_kg.tsv") != NULL && n >= 0 && (size_t)n < sizeof folder &&
           is_joined(path, folder, "kgindex.json", "");
}

static bool is_in_folder(const char *path, const char *folder)
{
    bool is_found = false;
    DIR *entries = acq_file_get_kind(folder) == ACQ_FILE_FOLDER ? opendir(folder) : NULL;
    for (struct dirent *e; entries != NULL && !is_found && (e = readdir(entries)) != NULL;)
        is_found = strcmp(e->d_name, "..") != 0 && is_joined(path, folder, "/", e->d_name);
    if (entries != NULL)
        closedir(entries);
    return is_found;
}

/* The file itself, one of a folder, or the log of a store. */
static bool is_read_as(const char *path, const char *input)
{
    return acq_file_is_alias(path, input) || is_in_folder(path, input) ||
           is_in_folder(input, path) || is_joined(path, input, "-wal", "") ||
           is_joined(path, input, "-shm", "") || is_joined(path, input, "-journal", "") ||
           is_dictionary(path, input);
}

/* True ends the walk. */
typedef bool (*visit_fn)(void *context, const char *path);

static bool each_value(const acq_options *options, size_t i, visit_fn visit, void *context)
{
    static const char *const kinds[] = {"FILE", "GRAPH", "MODEL"};
    const acq_option *option = acq_option_get(i);
    const void *field = (const char *)options + option->offset;
    bool is_file = false, is_found = false;
    for (size_t k = 0; option->argument != NULL && k < sizeof kinds / sizeof *kinds; k++)
        is_file = is_file || strcmp(option->argument, kinds[k]) == 0;
    if (!options->given[i] || !is_file || i == ACQ_OPTION_output || i == ACQ_OPTION_svg)
        return false;
    if (option->kind == ACQ_KIND_TEXT)
        return visit(context, *(const char *const *)field);
    const acq_words *words = field;
    for (size_t k = 0; option->kind == ACQ_KIND_LIST && k < words->n; k++)
        is_found = is_found || visit(context, words->items[k]);
    return is_found;
}

/* What the command line says is read. */
static bool each_input(const acq_options *options, visit_fn visit, void *context)
{
    const char *colon = options->predictor == NULL ? NULL : strchr(options->predictor, ':');
    bool is_found = colon != NULL && visit(context, colon + 1);
    for (size_t i = acq_variant_get_bits(options->command) != 0; i < options->args.n; i++)
        is_found = is_found || visit(context, options->args.items[i]);
    for (size_t i = 0; i < ACQ_N_OPTIONS; i++)
        is_found = is_found || each_value(options, i, visit, context);
    return is_found;
}

static bool visit_for_output(void *path, const char *input)
{
    return is_read_as(*(const char **)path, input);
}

static bool is_read(const acq_options *options, const char *path)
{
    const char *graph = options->args.n == 0 ? "" : options->args.items[0];
    if (options->command == ACQ_COMMAND_complete && strcmp(options->predictor, "auto") == 0 &&
        (is_joined(path, graph, ".completion", "") || is_joined(path, graph, "/completion", "")))
        return true;
    return each_input(options, visit_for_output, &path);
}

/* The folder that an earlier `reproduce` made: it goes on there, also within the folder it reads.
 */
static bool is_own_folder(const acq_options *options, const char *path)
{
    char name[PATH_MAX];
    int n = snprintf(name, sizeof name, "%s/manifest.json", path);
    return options->command == ACQ_COMMAND_reproduce && n > 0 && (size_t)n < sizeof name &&
           acq_file_get_kind(name) == ACQ_FILE_REGULAR &&
           !acq_file_is_alias(path, options->args.items[0]);
}

/* A log of a store holds facts that are acknowledged. */
static bool is_log_of_store(const char *path)
{
    static const char *const endings[] = {"-wal", "-shm", "-journal"};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        char store[PATH_MAX];
        if (length <= n || length >= sizeof store || strcmp(path + length - n, endings[i]) != 0)
            continue;
        snprintf(store, sizeof store, "%.*s", (int)(length - n), path);
        if (acq_store_is_database(store))
            return true;
    }
    return false;
}

static acq_status refuse_output(const char *path, const char *why, acq_error *error)
{
    acq_fail(error, ACQ_ERR_USAGE, "%s; name another file", why);
    acq_error_set_file(error, path);
    return ACQ_ERR_USAGE;
}

static acq_status check_one_output(const acq_options *options, const char *path, acq_error *error)
{
    struct stat info;
    acq_file_kind kind = acq_file_get_kind(path);
    if (kind == ACQ_FILE_MISSING && lstat(path, &info) == 0)
        return refuse_output(path, "this is a symbolic link to nothing", error);
    if (kind == ACQ_FILE_FOLDER && options->command == ACQ_COMMAND_train) {
        acq_fail(error, ACQ_ERR_USAGE, "this is not a regular file; name a file to be written");
        acq_error_set_file(error, path);
        return ACQ_ERR_USAGE;
    }
    if (is_log_of_store(path))
        return refuse_output(path, "this name belongs to the log of a store", error);
    if (is_own_folder(options, path) || !is_read(options, path))
        return ACQ_OK;
    char why[100];
    snprintf(why, sizeof why, "%s reads this file and would write over it",
             acq_command_get(options->command)->name);
    return refuse_output(path, why, error);
}

acq_status acq_setup_check_output(const acq_options *options, const char *path, acq_error *error)
{
    static const struct {
        acq_command_id command;
        const char *ending;
    } beside[] = {
        {ACQ_COMMAND_import, ".partial"}, {ACQ_COMMAND_fit, ".svg"},
        {ACQ_COMMAND_fit, ".fit"},        {ACQ_COMMAND_train, ".csv"},
        {ACQ_COMMAND_train, ".svg"},      {ACQ_COMMAND_train, ".checkpoint"},
    };
    acq_status status = check_one_output(options, path, error);
    for (size_t i = 0; status == ACQ_OK && i < sizeof beside / sizeof *beside; i++) {
        char name[PATH_MAX];
        int n = snprintf(name, sizeof name, "%s%s", path, beside[i].ending);
        if (beside[i].command == options->command && n > 0 && (size_t)n < sizeof name)
            status = check_one_output(options, name, error);
    }
    if (status == ACQ_OK && options->command != ACQ_COMMAND_import && acq_store_is_database(path))
        return refuse_output(path, "this is a store, and only import replaces one", error);
    return status;
}

acq_status acq_setup_check_outputs(const acq_options *options, acq_error *error)
{
    acq_status status = ACQ_OK;
    if (options->output != NULL)
        status = acq_setup_check_output(options, options->output, error);
    if (status == ACQ_OK && options->svg != NULL)
        status = check_one_output(options, options->svg, error);
    return status;
}

/* ---- pipes ----
 *
 * A pipe gives what it holds once: who reads it twice waits for ever. */

enum { MOST_PIPES = 16 };

typedef struct pipes {
    const char *seen[MOST_PIPES];
    size_t n;
} pipes;

static bool visit_for_pipes(void *context, const char *path)
{
    pipes *p = context;
    path = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
    if (acq_file_get_kind(path) != ACQ_FILE_STREAM || p->n == MOST_PIPES)
        return false;
    p->seen[p->n++] = path;
    for (size_t i = 0; i + 1 < p->n; i++) {
        if (acq_file_is_alias(p->seen[i], path))
            return true;
    }
    return false;
}

acq_status acq_setup_check_pipes(const acq_options *options, acq_error *error)
{
    pipes p = {.n = 0};
    if (!each_input(options, visit_for_pipes, &p))
        return ACQ_OK;
    acq_fail(error, ACQ_ERR_USAGE,
             "a pipe can be read once, and this one is named twice; keep it in a file first");
    acq_error_set_file(error, p.seen[p.n - 1]);
    return ACQ_ERR_USAGE;
}
