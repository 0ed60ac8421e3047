/* train_common.c - see train_common.h. */
#include "cli/train_common.h"

#include <string.h>

#include "base/memory.h"
#include "base/new_file.h"
#include "cli/setup.h"
#include "cli/width.h"
#include "base/file.h"

static acq_status refuse_empty(const char *path, acq_error *error)
{
    acq_fail(error, ACQ_ERR_INPUT, "the graph has no facts to train on");
    acq_error_set_file(error, path);
    return ACQ_ERR_INPUT;
}

acq_status acq_train_graphs_init(acq_train_graphs *graphs, const acq_options *options,
                                 acq_output *output, acq_error *error)
{
    size_t n = options->args.n - 1;
    *graphs = (acq_train_graphs){.items = acq_zalloc(n, sizeof *graphs->items)};
    if (graphs->items == NULL)
        return acq_fail_memory(error);
    while (graphs->n < n) {
        const char *path = options->args.items[graphs->n + 1];
        acq_graph **graph = &graphs->items[graphs->n];
        acq_status status = acq_setup_read_graph(options, path, output, graph, NULL, error);
        if (status != ACQ_OK)
            return status;
        graphs->n++;
        if (acq_graph_get_n_facts(*graph) == 0)
            return refuse_empty(path, error);
    }
    return ACQ_OK;
}

void acq_train_graphs_deinit(acq_train_graphs *graphs)
{
    for (size_t i = 0; i < graphs->n; i++)
        acq_graph_free(graphs->items[i]);
    acq_free(graphs->items);
    *graphs = (acq_train_graphs){0};
}

/* The last two parts of a path say which graph it was, and not where somebody keeps it. */
static const char *get_short_path(const char *path)
{
    const char *at = path + strlen(path);
    for (size_t n = 0; at > path; at--) {
        if (at[-1] == '/' && at[0] != '\0' && ++n == 2)
            break;
    }
    return at;
}

void acq_train_graphs_print(const acq_train_graphs *graphs, const acq_options *options,
                            acq_text *out)
{
    for (size_t i = 0; i < graphs->n; i++)
        acq_text_format(out, "%s%s %016llx", i == 0 ? "" : ", ",
                        get_short_path(options->args.items[i + 1]),
                        (unsigned long long)acq_graph_get_fingerprint(graphs->items[i]));
}

json_t *acq_train_graphs_make_json(const acq_train_graphs *graphs, const acq_options *options)
{
    json_t *list = json_array();
    for (size_t i = 0; i < graphs->n; i++) {
        const acq_graph *graph = graphs->items[i];
        json_t *one = json_object();
        json_object_set_new(one, "graph", acq_json_text(options->args.items[i + 1]));
        json_object_set_new(one, "fingerprint", acq_json_hash(acq_graph_get_fingerprint(graph)));
        json_object_set_new(one, "facts", acq_json_count(acq_graph_get_n_facts(graph)));
        json_array_append_new(list, one);
    }
    return list;
}

acq_status acq_train_refuse_file(const char *path, const char *why, acq_error *error)
{
    acq_fail(error, ACQ_ERR_USAGE, "%s; name another model with -o", why);
    acq_error_set_file(error, path);
    return ACQ_ERR_USAGE;
}

acq_status acq_train_check_file(const acq_options *options, const char *path, acq_error *error)
{
    acq_new_file probe;
    for (size_t i = 1; i < options->args.n; i++) {
        if (acq_file_is_alias(path, options->args.items[i]))
            return acq_train_refuse_file(path, "this is the graph to train on", error);
    }
    acq_status status = acq_new_file_init(&probe, path, "the file", error);
    acq_new_file_deinit(&probe);
    return status;
}

acq_status acq_train_check_resume(const acq_options *options, const char *found, acq_output *output,
                                  acq_error *error)
{
    if (found == NULL && options->resume)
        acq_report_note(output, "%s has no checkpoint: the training begins anew", options->output);
    if (found == NULL || options->resume)
        return ACQ_OK;
    acq_fail(error, ACQ_ERR_USAGE,
             "this is of a training that has not ended; go on with --resume, or remove it to begin "
             "anew");
    acq_error_set_file(error, found);
    return ACQ_ERR_USAGE;
}

acq_status acq_train_check_end(uint64_t batches, double seconds, acq_error *error)
{
    if (batches > 0 || seconds > 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "a training without an end; give --batches N or --time TIME");
}

void acq_train_print_line(acq_text *out, const char *label, acq_text *text)
{
    acq_size_print_text(out, label, text->bytes == NULL ? "" : text->bytes);
    out->failed = out->failed || text->failed;
    acq_text_deinit(text);
}
