/* predict.c - `anycq predict`: the links of one entity, most likely first. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/pattern.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/setup.h"
#include "cli/table.h"
#include "cli/view.h"

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
    if (*out != UINT32_MAX)
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

/* What the pattern asks for: the links of one entity. */
typedef struct question {
    const acq_options *options;
    const acq_graph *graph;
    acq_ent known;
    acq_rel relation; /* from the known entity */
    acq_predictions *links;
    bool is_cut; /* there was no time to predict */
    acq_reason_view reasons;
} question;

static bool goes_on(void *context, const acq_progress *now)
{
    (void)context;
    (void)now;
    return !acq_interrupt_is_asked();
}

/* Where there is no time to predict, or an interrupt, the observed links are given. */
static acq_status find_in_time(question *q, acq_error *error)
{
    acq_bar bar;
    acq_predict_params params;
    acq_predictor *observed = NULL;
    double left = acq_options_get_seconds_left(q->options);
    acq_predict_params_init(&params);
    params.seconds = isinf(left) ? 0 : fmax(.95 * left, 1e-3);
    params.progress = goes_on;
    acq_bar_init(&bar, "");
    acq_bar_keep_alive(&bar, "working on predictions");
    acq_status status =
        acq_predict_within(q->reasons.predictor, q->known, q->relation, &params, &q->links, error);
    acq_bar_deinit(&bar);
    q->is_cut = status == ACQ_ERR_INTERRUPTED;
    if (!q->is_cut)
        return status;
    acq_error_clear(error);
    status = acq_predictor_new(q->graph, "observed", NULL, &observed, error);
    if (status == ACQ_OK)
        status = acq_predict(observed, q->known, q->relation, &q->links, error);
    acq_predictor_free(observed);
    return status;
}

static acq_status find_links(question *q, const acq_pattern *pattern, acq_error *error)
{
    acq_rel relation;
    acq_status status = acq_setup_find_relation(q->graph, pattern->relation, &relation, error);
    if (status == ACQ_OK)
        status = find_entity(q->graph, pattern, &q->known, error);
    if (status != ACQ_OK)
        return status;
    bool is_inverse = pattern->is_inverse != (pattern->head == NULL);
    q->relation = is_inverse ? relation ^ 1U : relation;
    return find_in_time(q, error);
}

static bool is_explained(const question *q, const acq_prediction *link)
{
    return q->options->explain && !link->is_observed;
}

enum { RANK = 6, SCORE = 8 };

/* Four digits that count, or four behind the point where these would fill the column. */
static void print_score(double score, acq_text *out)
{
    char text[32];
    if (acq_format(text, sizeof text, "%.4g", score) >= SCORE)
        acq_format(text, sizeof text, "%.4f", score);
    acq_text_format(out, "%-*s", SCORE, text);
}

static void print(question *q, acq_text *out)
{
    size_t n = acq_predictions_get_n(q->links);
    for (size_t i = 0; i < n && i < q->options->top; i++) {
        const acq_prediction *link = acq_predictions_get(q->links, i);
        acq_text name;
        acq_text_init(&name);
        acq_width_add(&name, acq_graph_get_entity_name(q->graph, link->entity));
        acq_text_format(out, "%*zu  ", RANK - 2, i + 1);
        print_score(link->score, out);
        acq_text_format(out, "%-11s", link->is_observed ? "observed" : "predicted");
        size_t at = RANK + SCORE + 11;
        acq_width_wrap(out, name.bytes == NULL ? "" : name.bytes, at, at, ACQ_COLUMNS);
        acq_text_add_char(out, '\n');
        out->failed = out->failed || name.failed;
        acq_text_deinit(&name);
        if (is_explained(q, link))
            acq_reason_view_print(&q->reasons, q->known, q->relation, link->entity, RANK, out);
    }
    if (n > 0)
        return;
    if (q->is_cut)
        acq_text_add(out, "none observed\n");
    else if (acq_predictor_is_calibrated(q->reasons.predictor))
        acq_text_format(out, "none: no link has p >= %.4g\n",
                        acq_predictor_get_floor(q->reasons.predictor));
    else
        acq_text_add(out, "none\n");
}

static json_t *make_link(question *q, const acq_prediction *prediction)
{
    json_t *link = json_object();
    const char *name = acq_graph_get_entity_name(q->graph, prediction->entity);
    const char *key = acq_graph_get_entity_key(q->graph, prediction->entity);
    json_object_set_new(link, "name", acq_json_text(name));
    if (strcmp(key, name) != 0)
        json_object_set_new(link, "key", acq_json_text(key));
    json_object_set_new(link, "score", json_real(prediction->score));
    json_object_set_new(link, "kind",
                        json_string(prediction->is_observed ? "observed" : "predicted"));
    if (is_explained(q, prediction))
        json_object_set_new(
            link, "reasons",
            acq_reason_view_make_json(&q->reasons, q->known, q->relation, prediction->entity));
    return link;
}

static void print_json(question *q, acq_text *out)
{
    size_t n = acq_predictions_get_n(q->links);
    json_t *array = json_array();
    for (size_t i = 0; i < n && i < q->options->top; i++)
        json_array_append_new(array, make_link(q, acq_predictions_get(q->links, i)));
    json_t *object = json_object();
    json_object_set_new(object, "pattern", acq_json_text(q->options->args.items[1]));
    json_object_set_new(object, "predictor",
                        acq_json_text(acq_predictor_get_name(q->reasons.predictor)));
    json_object_set_new(object, "all", acq_json_count(n));
    json_object_set_new(object, "links", array);
    acq_json_add_line(out, object);
}

static void print_table(const question *q, acq_text *out)
{
    static const char *const names[] = {"name", "key", "score", "kind"};
    const acq_options *options = q->options;
    const acq_predictions *links = q->links;
    const acq_graph *graph = q->graph;
    acq_table table = {.out = out, .separator = options->separator};
    size_t n = acq_predictions_get_n(links);
    acq_table_add_line(&table, names, sizeof names / sizeof *names);
    for (size_t i = 0; i < n && i < options->top; i++) {
        const acq_prediction *link = acq_predictions_get(links, i);
        acq_table_add_text(&table, acq_graph_get_entity_name(graph, link->entity));
        acq_table_add_text(&table, acq_graph_get_entity_key(graph, link->entity));
        acq_table_add_number(&table, link->score);
        acq_table_add_text(&table, link->is_observed ? "observed" : "predicted");
        acq_table_end_line(&table);
    }
}

static void print_links(question *q, acq_text *out)
{
    if (q->options->json)
        print_json(q, out);
    else if (q->options->separator != '\0')
        print_table(q, out);
    else
        print(q, out);
}

/* Is more than facts shown, or nothing? */
static bool concerns_predictor(const acq_options *options, const acq_predictions *links)
{
    size_t n = acq_predictions_get_n(links);
    bool is_found = n == 0;
    for (size_t i = 0; i < n && i < options->top; i++)
        is_found = is_found || !acq_predictions_get(links, i)->is_observed;
    return is_found;
}

static int predict(const acq_options *options, const acq_pattern *pattern, const acq_setup *setup,
                   acq_output *output)
{
    acq_error error = {0};
    question q = {.options = options,
                  .graph = setup->graph,
                  .reasons = {.graph = setup->graph, .predictor = setup->predictor}};
    acq_interrupt_hold(NULL, 0);
    acq_status status = find_links(&q, pattern, &error);
    acq_interrupt_release();
    if (status == ACQ_OK) {
        print_links(&q, &output->data);
        acq_reason_view_note(&q.reasons, output);
        status = acq_setup_check_names(setup->graph, output, 0, &error);
    }
    size_t n = acq_predictions_get_n(q.links);
    int code = n > 0 ? ACQ_EXIT_YES : q.is_cut ? ACQ_EXIT_UNDECIDED : ACQ_EXIT_NO;
    if (q.is_cut)
        acq_report_note(output, "%s: observed links only",
                        acq_interrupt_is_asked() ? "interrupted" : "the time ran out");
    if (status != ACQ_OK)
        code = acq_report_error(output, options, &error, NULL);
    if (status == ACQ_OK && n > options->top)
        acq_report_note(output, "%llu of %zu links; --top K shows more",
                        (unsigned long long)options->top, n);
    if (status == ACQ_OK && concerns_predictor(options, q.links))
        acq_setup_note_auto(options, setup->predictor, output);
    acq_predictions_free(q.links);
    return acq_interrupt_is_asked() ? ACQ_EXIT_INTERRUPTED : code;
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
        code = predict(options, &pattern, &setup, &output);
    acq_pattern_deinit(&pattern);
    acq_setup_deinit(&setup);
    return acq_output_finish(&output, code);
}
