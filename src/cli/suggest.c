/* suggest.c - `anycq suggest`: the likeliest missing facts, most likely first.
 *
 *    1  0.9620  born_in("Christopher Nolan", "London")
 *        +6.7  ULTRA ranks Christopher Nolan 1st of 2905
 *
 * As CSV and TSV the columns are head, relation, tail and p, under a header: `anycq add --from`
 * reads the first three back. */
#include <math.h>
#include <string.h>

#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/setup.h"
#include "cli/table.h"
#include "cli/view.h"

enum { INDENT = 8 }; /* of reasons */

typedef struct shown {
    const acq_options *options;
    const acq_graph *graph;
    const acq_predictor *predictor;
    acq_suggestions *list;
    acq_rel relation; /* the only one; UINT32_MAX: all */
    acq_suggest_report report;
    acq_reason_view reasons;
} shown;

/* ---- for a person ---- */

static void print(shown *s, acq_text *out)
{
    acq_text text;
    acq_text_init(&text);
    for (size_t i = 0; i < acq_suggestions_get_n(s->list); i++) {
        const acq_suggestion *link = acq_suggestions_get(s->list, i);
        acq_text_clear(&text);
        acq_width_add(&text, link->text);
        size_t start = out->length;
        acq_text_format(out, "%4zu  %.4f  ", i + 1, link->p);
        size_t at = acq_width_since(out, start);
        acq_width_wrap(out, text.bytes == NULL ? "" : text.bytes, at, at, ACQ_COLUMNS);
        acq_text_add_char(out, '\n');
        if (s->options->explain)
            acq_reason_view_print(&s->reasons, link->head, link->relation, link->tail, INDENT, out);
    }
    if (acq_suggestions_get_n(s->list) == 0)
        acq_text_format(out,
                        s->report.spent[0] == '\0' ? "none: no missing link has p >= %.6g\n"
                                                   : "undecided: no link so far has p >= %.6g\n",
                        fmax(s->options->suggest_min_p, acq_predictor_get_floor(s->predictor)));
    out->failed = out->failed || text.failed;
    acq_text_deinit(&text);
}

/* ---- for programs ---- */

/* Keys as they stand, so that they are read back: TSV has no way to write a tab or a line end. */
static acq_status check_key(char separator, const char *key, acq_error *error)
{
    return separator == ',' || strpbrk(key, "\t\r\n\\") == NULL
               ? ACQ_OK
               : acq_fail(error, ACQ_ERR_INPUT,
                          "the name \"%.100s\" holds a tab, a line end or a backslash, which TSV "
                          "cannot hold as they stand; use --output-format csv",
                          key);
}

static acq_status print_table(const shown *s, acq_text *out, acq_error *error)
{
    static const char *const names[] = {"head", "relation", "tail", "p"};
    acq_table table = {.out = out, .separator = s->options->separator};
    acq_status status = ACQ_OK;
    acq_table_add_line(&table, names, sizeof names / sizeof *names);
    for (size_t i = 0; i < acq_suggestions_get_n(s->list) && status == ACQ_OK; i++) {
        const acq_suggestion *link = acq_suggestions_get(s->list, i);
        const char *const keys[] = {acq_graph_get_entity_key(s->graph, link->head),
                                    acq_graph_get_relation_key(s->graph, link->relation),
                                    acq_graph_get_entity_key(s->graph, link->tail)};
        for (size_t k = 0; k < 3 && status == ACQ_OK; k++) {
            status = check_key(table.separator, keys[k], error);
            acq_table_add_text(&table, keys[k]);
        }
        acq_table_add_number(&table, link->p);
        acq_table_end_line(&table);
    }
    return status;
}

static void set_name(json_t *object, const char *member, const char *name, const char *key)
{
    json_object_set_new(object, member, acq_json_text(name));
    if (strcmp(name, key) == 0)
        return;
    char key_member[32];
    acq_format(key_member, sizeof key_member, "%s_key", member);
    json_object_set_new(object, key_member, acq_json_text(key));
}

static json_t *make_link(shown *s, const acq_suggestion *link)
{
    const acq_graph *graph = s->graph;
    json_t *object = json_object();
    set_name(object, "head", acq_graph_get_entity_name(graph, link->head),
             acq_graph_get_entity_key(graph, link->head));
    set_name(object, "relation", acq_graph_get_relation_name(graph, link->relation),
             acq_graph_get_relation_key(graph, link->relation));
    set_name(object, "tail", acq_graph_get_entity_name(graph, link->tail),
             acq_graph_get_entity_key(graph, link->tail));
    json_object_set_new(object, "p", json_real(link->p));
    if (s->options->explain)
        json_object_set_new(
            object, "reasons",
            acq_reason_view_make_json(&s->reasons, link->head, link->relation, link->tail));
    return object;
}

/* What is known of the relations that were looked at. */
static json_t *make_relations(const shown *s)
{
    json_t *array = json_array();
    for (acq_rel r = 0; r < acq_graph_get_n_relations(s->graph); r += 2) {
        acq_relation_quality quality = {.size = sizeof quality};
        if ((s->relation != UINT32_MAX && r != (s->relation & ~1U)) ||
            !acq_predictor_get_quality(s->predictor, r, &quality))
            continue;
        json_t *one = json_object();
        set_name(one, "relation", acq_graph_get_relation_name(s->graph, r),
                 acq_graph_get_relation_key(s->graph, r));
        json_object_set_new(one, "held", acq_json_count(quality.held));
        json_object_set_new(one, "said", json_real(quality.said));
        json_object_set_new(one, "right", json_real(fmin(quality.right, quality.said)));
        json_array_append_new(array, one);
    }
    return array;
}

static void print_json(shown *s, acq_text *out)
{
    size_t n = acq_suggestions_get_n(s->list);
    json_t *array = json_array(), *object = json_object();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, make_link(s, acq_suggestions_get(s->list, i)));
    json_object_set_new(object, "predictor", acq_json_text(acq_predictor_get_name(s->predictor)));
    json_object_set_new(object, "suggestions", array);
    json_object_set_new(object, "relations", make_relations(s));
    json_object_set_new(object, "found", acq_json_count(s->report.found));
    json_object_set_new(object, "expected", json_real(s->report.expected));
    json_object_set_new(object, "mean_p",
                        n == 0 ? json_null() : json_real(s->report.expected / (double)n));
    json_object_set_new(object, "rows", acq_json_count(s->report.rows));
    json_object_set_new(object, "rows_done", acq_json_count(s->report.rows_done));
    json_object_set_new(object, "reason",
                        s->report.spent[0] == '\0' ? json_null() : json_string(s->report.spent));
    acq_json_add_line(out, object);
}

/* ---- which relations can be trusted ---- */

enum { MOST_TOLD = 8, TOLD_WIDTH = 2 * ACQ_COLUMNS - 30 };

typedef struct told {
    acq_rel relation;
    acq_relation_quality quality;
} told;

/* The relations of the list, in its order, of which something was said of held-out facts. */
static size_t list_told(const shown *s, told *out)
{
    size_t n = 0;
    for (size_t i = 0; i < acq_suggestions_get_n(s->list) && n < MOST_TOLD; i++) {
        acq_rel relation = acq_suggestions_get(s->list, i)->relation;
        size_t k = 0;
        while (k < n && out[k].relation != relation)
            k++;
        out[n] = (told){.relation = relation, .quality = {.size = sizeof out[n].quality}};
        if (k == n && acq_predictor_get_quality(s->predictor, relation, &out[n].quality) &&
            round(out[n].quality.said) > 0)
            n++;
    }
    return n;
}

/* Two lines at most; those that do not fit are in JSON. */
static void note_quality(const shown *s, acq_output *output)
{
    told all[MOST_TOLD];
    acq_text text;
    size_t n = list_told(s, all), i = 0;
    acq_text_init(&text);
    acq_text_add(&text, "right on held-out facts, of the links with p >= 0.5:");
    for (; i < n && acq_width_since(&text, 0) < TOLD_WIDTH; i++) {
        double said = round(all[i].quality.said);
        acq_text_add(&text, i == 0 ? " " : ", ");
        acq_width_add_cut(&text, acq_graph_get_relation_name(s->graph, all[i].relation), 24);
        acq_text_format(&text, " %.0f of %.0f", fmin(round(all[i].quality.right), said), said);
    }
    if (n > 0 && !text.failed)
        acq_report_note(output, "%s%s", text.bytes, i < n || n == MOST_TOLD ? ", ..." : "");
    output->notes.failed = output->notes.failed || text.failed;
    acq_text_deinit(&text);
}

/* ---- the command ---- */

static void note(const shown *s, acq_output *output)
{
    size_t n = acq_suggestions_get_n(s->list);
    const acq_suggest_report *report = &s->report;
    if (n > 0)
        acq_report_note(output,
                        "expected to be true: %.1f of %zu (mean p %.2f), the best of %llu",
                        report->expected, n, fmin(report->expected / (double)n, .99),
                        (unsigned long long)report->found);
    note_quality(s, output);
    if (report->rows_done < report->rows)
        acq_report_note(output, "%llu of %llu rows looked at before the %s; %s",
                        (unsigned long long)report->rows_done, (unsigned long long)report->rows,
                        strcmp(report->spent, "time") == 0 ? "time ran out" : "interrupt",
                        "--time SECONDS gives more, anycq fit makes all of them once");
    acq_reason_view_note(&s->reasons, output);
}

static acq_status show(shown *s, acq_output *output, acq_error *error)
{
    acq_status status = ACQ_OK;
    if (s->options->json)
        print_json(s, &output->data);
    else if (s->options->separator != '\0')
        status = print_table(s, &output->data, error);
    else
        print(s, &output->data);
    if (status == ACQ_OK)
        status = acq_setup_check_names(s->graph, output, 0, error);
    if (status != ACQ_OK)
        return status;
    note(s, output);
    acq_setup_note_auto(s->options, s->predictor, output);
    return ACQ_OK;
}

static bool report_rows(void *context, const acq_progress *now)
{
    acq_bar_show(context, now->done, now->total);
    return !acq_interrupt_is_asked();
}

static acq_status find(shown *s, acq_error *error)
{
    acq_bar bar;
    acq_suggest_params params;
    acq_suggest_params_init(&params);
    params.top = s->options->top;
    params.min_p = s->options->suggest_min_p;
    params.seconds = s->options->suggest_time;
    if (acq_options_has(s->options, suggest_time)) /* for all of it, so printing needs some */
        params.seconds = fmax(.93 * acq_options_get_seconds_left(s->options), 1e-3);
    params.progress = report_rows;
    params.context = &bar;
    acq_status status = ACQ_OK;
    if (s->options->relation != NULL)
        status = acq_setup_find_relation(s->graph, s->options->relation, &s->relation, error);
    params.relation = s->relation;
    if (status != ACQ_OK)
        return status;
    acq_interrupt_hold(NULL, 0);
    acq_bar_init(&bar, "rows");
    acq_bar_keep_alive(&bar, "working on predictions");
    status = acq_suggest(s->predictor, &params, &s->list, error);
    acq_bar_deinit(&bar);
    acq_interrupt_release();
    s->report.size = sizeof s->report;
    acq_suggestions_get_report(s->list, &s->report);
    return status;
}

static int get_exit_code(const shown *s)
{
    if (strcmp(s->report.spent, "interrupt") == 0)
        return ACQ_EXIT_INTERRUPTED;
    if (acq_suggestions_get_n(s->list) > 0)
        return ACQ_EXIT_YES;
    return s->report.spent[0] != '\0' ? ACQ_EXIT_UNDECIDED : ACQ_EXIT_NO;
}

int acq_cli_suggest(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_setup setup = {0};
    shown s = {.options = options, .relation = UINT32_MAX};
    acq_output_init(&output);
    acq_status status = acq_setup_init(&setup, options, options->args.items[0], &output, &error);
    s.graph = s.reasons.graph = setup.graph;
    s.predictor = s.reasons.predictor = setup.predictor;
    if (status == ACQ_OK)
        status = find(&s, &error);
    if (status == ACQ_OK)
        status = show(&s, &output, &error);
    int code =
        status == ACQ_OK ? get_exit_code(&s) : acq_report_error(&output, options, &error, NULL);
    acq_suggestions_free(s.list);
    acq_setup_deinit(&setup);
    return acq_output_finish(&output, code);
}
