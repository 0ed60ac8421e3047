/* predict.c - `anycq predict`: the links of one entity, most likely first.
 *
 * The predictor's row holds them sorted by tail; a copy is sorted by score, observed facts
 * first among equals, then by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/report.h"
#include "cli/pattern.h"
#include "cli/setup.h"
#include "cli/width.h"

typedef struct candidate {
    const char *name;
    acq_ent entity;
    double score;
    bool is_observed;
} candidate;

typedef struct prediction {
    acq_ent known;    /* the entity that was given */
    acq_rel relation; /* from the known entity to the asked ones */
    candidate *candidates;
    size_t n;
} prediction;

static int compare(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    if (x->is_observed != y->is_observed)
        return x->is_observed ? -1 : 1;
    return strcmp(x->name, y->name);
}

static acq_status find_relation(const acq_graph *graph, const acq_pattern *pattern, acq_rel *out,
                                acq_error *error)
{
    size_t length = strlen(pattern->relation);
    *out = acq_graph_find_relation(graph, pattern->relation, length);
    if (*out != ACQ_NO_ID)
        return ACQ_OK;
    const char *near = acq_graph_suggest_relation(graph, pattern->relation, length);
    return near == NULL ? acq_fail(error, ACQ_ERR_NAME, "no relation \"%.160s\" in this graph",
                                   pattern->relation)
                        : acq_fail(error, ACQ_ERR_NAME,
                                   "no relation \"%.160s\" in this graph; did you mean \"%.160s\"?",
                                   pattern->relation, near);
}

static const char *known_name(const acq_pattern *pattern)
{
    return pattern->head == NULL ? pattern->tail : pattern->head;
}

static acq_status find_entity(const acq_graph *graph, const acq_pattern *pattern, acq_ent *out,
                              acq_error *error)
{
    const char *name = known_name(pattern);
    size_t length = strlen(name);
    *out = acq_graph_find_entity(graph, name, length);
    if (*out != ACQ_NO_ID)
        return ACQ_OK;
    const char *near = acq_graph_suggest_entity(graph, name, length);
    acq_status failed = acq_graph_get_failure(graph, error);
    if (failed != ACQ_OK)
        return failed;
    return near == NULL ? acq_fail(error, ACQ_ERR_NAME, "no entity \"%.160s\" in this graph", name)
                        : acq_fail(error, ACQ_ERR_NAME,
                                   "no entity \"%.160s\" in this graph; did you mean \"%.160s\"?",
                                   name, near);
}

static acq_status bind(const acq_graph *graph, const acq_pattern *pattern, prediction *out,
                       acq_error *error)
{
    acq_status status = find_relation(graph, pattern, &out->relation, error);
    if (status == ACQ_OK)
        status = find_entity(graph, pattern, &out->known, error);
    if (pattern->is_inverse != (pattern->head == NULL))
        out->relation = acq_inverse(out->relation);
    return status;
}

static acq_status take_candidates(const acq_predictor *predictor, const acq_scored_row *row,
                                  prediction *p, acq_error *error)
{
    p->candidates = acq_alloc(row->n, sizeof *p->candidates);
    if (p->candidates == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < row->n; i++)
        p->candidates[i] =
            (candidate){.name = acq_graph_get_entity_name(predictor->graph, row->tails[i]),
                        .entity = row->tails[i],
                        .score = (double)row->scores[i],
                        .is_observed = acq_graph_has_fact(predictor->graph, p->known, p->relation,
                                                          row->tails[i])};
    p->n = row->n;
    qsort(p->candidates, p->n, sizeof *p->candidates, compare);
    return ACQ_OK;
}

/* A predictor that makes rows makes this one alone. */
static acq_status rank(const acq_predictor *predictor, prediction *p, acq_error *error)
{
    acq_scored_row row;
    acq_status status = acq_predictor_copy_row(predictor, p->relation, p->known, &row, error);
    if (status != ACQ_OK)
        return status;
    status = take_candidates(predictor, &row, p, error);
    acq_scored_row_deinit(&row);
    return status;
}

enum { RANK = 6, SCORE = 8 };

/* Four digits that count, or four behind the point where these would fill the column. */
static void print_score(double score, acq_text *out)
{
    char text[32];
    if (snprintf(text, sizeof text, "%.4g", score) >= SCORE)
        snprintf(text, sizeof text, "%.4f", score);
    acq_text_format(out, "%-*s", SCORE, text);
}

static void print(const acq_options *options, const prediction *p, acq_text *out)
{
    for (size_t i = 0; i < p->n && i < options->top; i++) {
        const candidate *c = &p->candidates[i];
        acq_text name;
        acq_text_init(&name);
        acq_width_add(&name, c->name);
        acq_text_format(out, "%*zu  ", RANK - 2, i + 1);
        print_score(c->score, out);
        acq_text_format(out, "%-11s", c->is_observed ? "observed" : "predicted");
        size_t at = RANK + SCORE + 11;
        acq_width_wrap(out, name.bytes == NULL ? "" : name.bytes, at, at, ACQ_COLUMNS);
        acq_text_add_char(out, '\n');
        out->failed = out->failed || name.failed;
        acq_text_deinit(&name);
    }
    if (p->n == 0)
        acq_text_add(out, "none\n");
}

static void print_json(const acq_options *options, const prediction *p,
                       const acq_predictor *predictor, acq_text *out)
{
    json_t *links = json_array();
    for (size_t i = 0; i < p->n && i < options->top; i++) {
        const candidate *c = &p->candidates[i];
        json_t *link = json_object();
        const char *key = acq_graph_get_entity_key(predictor->graph, c->entity);
        json_object_set_new(link, "name", acq_json_text(c->name));
        if (strcmp(key, c->name) != 0)
            json_object_set_new(link, "key", acq_json_text(key));
        json_object_set_new(link, "score", json_real(c->score));
        json_object_set_new(link, "kind", json_string(c->is_observed ? "observed" : "predicted"));
        json_array_append_new(links, link);
    }
    json_t *object = json_object();
    json_object_set_new(object, "pattern", acq_json_text(options->args.items[1]));
    json_object_set_new(object, "predictor", acq_json_text(predictor->name));
    json_object_set_new(object, "all", acq_json_count(p->n));
    json_object_set_new(object, "links", links);
    acq_json_add_line(out, object);
}

static void print_table(const acq_options *options, const prediction *p,
                        const acq_predictor *predictor, acq_text *out)
{
    static const char *const names[] = {"name", "key", "score", "kind"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        acq_table_add_text(out, options->separator, names[i]);
    acq_text_add_char(out, '\n');
    for (size_t i = 0; i < p->n && i < options->top; i++) {
        const candidate *c = &p->candidates[i];
        acq_table_add_text(out, options->separator, c->name);
        acq_table_add_text(out, options->separator,
                           acq_graph_get_entity_key(predictor->graph, c->entity));
        acq_table_add_number(out, options->separator, c->score);
        acq_table_add_text(out, options->separator, c->is_observed ? "observed" : "predicted");
        acq_text_add_char(out, '\n');
    }
}

static bool shows_prediction(const acq_options *options, const prediction *p)
{
    bool is_found = false;
    for (size_t i = 0; i < p->n && i < options->top; i++)
        is_found = is_found || !p->candidates[i].is_observed;
    return is_found;
}

static int predict(const acq_options *options, const acq_pattern *pattern,
                   const acq_predictor *predictor, acq_output *output)
{
    acq_error error = {0};
    prediction p = {0};
    acq_status status = bind(predictor->graph, pattern, &p, &error);
    if (status == ACQ_OK)
        status = rank(predictor, &p, &error);
    int code = p.n > 0 ? ACQ_EXIT_YES : ACQ_EXIT_NO;
    if (status == ACQ_OK && options->json)
        print_json(options, &p, predictor, &output->data);
    else if (status == ACQ_OK && options->separator != '\0')
        print_table(options, &p, predictor, &output->data);
    else if (status == ACQ_OK)
        print(options, &p, &output->data);
    if (status == ACQ_OK)
        status = acq_setup_check_names(predictor->graph, output, 0, &error);
    if (status != ACQ_OK)
        code = acq_report_error(output, options, &error, NULL);
    if (status == ACQ_OK && p.n > options->top)
        acq_report_note(output, "%llu of %zu links; --top K shows more",
                        (unsigned long long)options->top, p.n);
    if (status == ACQ_OK && (p.n == 0 || shows_prediction(options, &p)))
        acq_setup_note_auto(options, predictor, output);
    acq_free(p.candidates);
    return code;
}

int acq_cli_predict(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_setup setup = {0};
    acq_pattern pattern;
    const char *text = options->args.items[1];
    acq_output_init(&output);
    int code;
    if (acq_pattern_init(&pattern, ACQ_PATTERN_LINK, text, &error) != ACQ_OK)
        code = acq_report_error(&output, options, &error, text);
    else if (acq_setup_init(&setup, options, options->args.items[0], &output, &error) != ACQ_OK)
        code = acq_report_error(&output, options, &error, NULL);
    else
        code = predict(options, &pattern, setup.predictor, &output);
    acq_pattern_deinit(&pattern);
    acq_setup_deinit(&setup);
    return acq_output_finish(&output, code);
}
