/* info_find.c - `anycq info --find PREFIX`: entities by the beginning of their name.
 *
 * A graph gives keys first and then labels, so an entity comes twice when both begin so. */
#include <string.h>

#include "base/memory.h"
#include "cli/info.h"
#include "cli/report.h"
#include "cli/setup.h"
#include "cli/width.h"

typedef struct finding {
    acq_ent *found;
    size_t n, capacity, most;
    bool has_failed;
} finding;

/* One more than what is shown tells that there are more; each may come twice. */
static bool collect(void *context, acq_ent entity, const char *name, size_t length)
{
    (void)name;
    (void)length;
    finding *f = context;
    if (ACQ_RESERVE(f->found, f->capacity, f->n + 1) != ACQ_OK) {
        f->has_failed = true;
        return false;
    }
    f->found[f->n++] = entity;
    return f->n < f->most;
}

static bool begins_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* Only an entity whose key and label both begin so can come again. */
static bool came_before(const acq_graph *graph, const finding *f, size_t i, const char *prefix)
{
    acq_ent entity = f->found[i];
    if (!begins_with(acq_graph_get_entity_key(graph, entity), prefix) ||
        !begins_with(acq_graph_get_entity_name(graph, entity), prefix))
        return false;
    for (size_t j = 0; j < i; j++) {
        if (f->found[j] == entity)
            return true;
    }
    return false;
}

static void keep_first_mentions(const acq_graph *graph, finding *f, const char *prefix)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->n; i++) {
        acq_ent entity = f->found[i];
        if (!came_before(graph, f, i, prefix))
            f->found[kept++] = entity;
    }
    f->n = kept;
}

static acq_status find(const acq_graph *graph, const acq_options *options, finding *f,
                       acq_error *error)
{
    f->most = (size_t)options->find_limit * 2 + 1;
    acq_status status =
        acq_graph_each_name(graph, options->find, strlen(options->find), collect, f, error);
    if (status == ACQ_OK && f->has_failed)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        keep_first_mentions(graph, f, options->find);
    return status;
}

/* A label that several entities share is `label <key>`. */
static bool holds_key(const char *name, const char *key)
{
    size_t n = strlen(name), k = strlen(key);
    return n > k + 2 && name[n - 1] == '>' && name[n - k - 2] == '<' &&
           memcmp(name + n - k - 1, key, k) == 0;
}

static void print_entity(const acq_graph *graph, acq_ent entity, acq_text *out)
{
    const char *name = acq_graph_get_entity_name(graph, entity);
    const char *key = acq_graph_get_entity_key(graph, entity);
    acq_text line;
    acq_text_init(&line);
    acq_width_add(&line, name);
    if (strcmp(name, key) != 0 && !holds_key(name, key)) {
        acq_text_add(&line, "  <");
        acq_width_add(&line, key);
        acq_text_add(&line, ">");
    }
    acq_width_wrap(out, line.bytes == NULL ? "" : line.bytes, 0, 2, ACQ_COLUMNS);
    acq_text_add_char(out, '\n');
    out->failed = out->failed || line.failed;
    acq_text_deinit(&line);
}

static json_t *make_entity(const acq_graph *graph, acq_ent entity)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", acq_json_text(acq_graph_get_entity_name(graph, entity)));
    json_object_set_new(object, "key", acq_json_text(acq_graph_get_entity_key(graph, entity)));
    return object;
}

static void print(const acq_graph *graph, const acq_options *options, const finding *f,
                  acq_output *output)
{
    size_t n = f->n < options->find_limit ? f->n : (size_t)options->find_limit;
    json_t *names = options->json ? json_array() : NULL;
    for (size_t i = 0; i < n; i++) {
        if (options->json)
            json_array_append_new(names, make_entity(graph, f->found[i]));
        else
            print_entity(graph, f->found[i], &output->data);
    }
    if (options->json) {
        json_t *object = json_object();
        json_object_set_new(object, "prefix", acq_json_text(options->find));
        json_object_set_new(object, "complete", json_boolean(f->n <= options->find_limit));
        json_object_set_new(object, "entities", names);
        acq_json_add_line(&output->data, object);
    } else if (n == 0) {
        acq_text_add(&output->data, "none\n");
    }
    if (f->n > n)
        acq_report_note(output, "the first %zu; --limit N shows more", n);
}

int acq_info_find(const acq_options *options, acq_output *output)
{
    acq_error error = {0};
    acq_graph *graph = NULL;
    finding f = {0};
    acq_status status =
        acq_setup_read_graph(options, options->args.items[0], output, &graph, NULL, &error);
    if (status == ACQ_OK)
        status = find(graph, options, &f, &error);
    int code = f.n > 0 ? ACQ_EXIT_YES : ACQ_EXIT_NO;
    if (status == ACQ_OK)
        print(graph, options, &f, output);
    if (status == ACQ_OK)
        status = acq_setup_check_names(graph, output, 0, &error);
    if (status != ACQ_OK)
        code = acq_report_error(output, options, &error, NULL);
    acq_free(f.found);
    acq_graph_free(graph);
    return code;
}
