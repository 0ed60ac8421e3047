/* cover.c - `anycq ask --cover C`: the smallest set of entities that contains the true one with
 * probability C. */
#include <string.h>

#include "cli/cover.h"
#include "cli/setup.h"
#include "cli/table.h"
#include "cli/width.h"

typedef struct shown {
    const acq_options *options;
    const acq_setup *setup;
    const acq_query *query;
    acq_covering *set;
    acq_cover_report report;
} shown;

static void print(const shown *s, acq_text *out)
{
    for (size_t i = 0; i < acq_covering_get_n(s->set); i++) {
        const acq_covered *one = acq_covering_get(s->set, i);
        acq_width_add(out, acq_query_get_variable(s->query, 0));
        acq_text_add(out, " = ");
        acq_width_add(out, acq_graph_get_entity_name(s->setup->graph, one->entity));
        if (one->p > 0)
            acq_text_format(out, "  p %.4g", one->p);
        acq_text_add_char(out, '\n');
    }
    if (acq_covering_get_n(s->set) == 0)
        acq_text_add(out, "none\n");
}

static void print_table(const shown *s, acq_text *out)
{
    const char *const names[] = {acq_query_get_variable(s->query, 0), "p"};
    acq_table table = {.out = out, .separator = s->options->separator};
    acq_table_add_line(&table, names, 2);
    for (size_t i = 0; i < acq_covering_get_n(s->set); i++) {
        const acq_covered *one = acq_covering_get(s->set, i);
        acq_table_add_text(&table, acq_graph_get_entity_name(s->setup->graph, one->entity));
        acq_table_add_number(&table, one->p);
        acq_table_end_line(&table);
    }
}

static void print_json(const shown *s, acq_text *out)
{
    json_t *set = json_array(), *object = json_object();
    for (size_t i = 0; i < acq_covering_get_n(s->set); i++) {
        const acq_covered *one = acq_covering_get(s->set, i);
        json_t *member = json_object();
        json_object_set_new(member, "name",
                            acq_json_text(acq_graph_get_entity_name(s->setup->graph, one->entity)));
        json_object_set_new(member, "p", json_real(one->p));
        json_array_append_new(set, member);
    }
    json_object_set_new(object, "query", acq_json_text(s->options->args.items[1]));
    json_object_set_new(object, "cover", json_real(s->report.level));
    json_object_set_new(object, "size", acq_json_count(acq_covering_get_n(s->set)));
    json_object_set_new(object, "set", set);
    json_object_set_new(object, "observed", acq_json_count(s->report.observed));
    json_object_set_new(object, "held", acq_json_count(s->report.held));
    json_object_set_new(object, "pooled", json_boolean(s->report.is_pooled));
    acq_json_add_line(out, object);
}

static void show(const shown *s, acq_output *output)
{
    const acq_cover_report *report = &s->report;
    if (s->options->json)
        print_json(s, &output->data);
    else if (s->options->separator != '\0')
        print_table(s, &output->data);
    else
        print(s, &output->data);
    if (acq_covering_get_n(s->set) == 0)
        acq_report_note(output,
                        "an empty set: the share %g of the %llu facts%s that fit held out was "
                        "likelier than anything here",
                        report->level, (unsigned long long)report->held,
                        report->is_pooled ? " of all relations" : "");
    else
        acq_report_note(output,
                        "%zu of %llu entities; a missing one is among them with probability %g, if "
                        "missing facts are like the %llu%s that fit held out",
                        acq_covering_get_n(s->set), (unsigned long long)report->entities,
                        report->level, (unsigned long long)report->held,
                        report->is_pooled ? " of all relations" : "");
}

int acq_cli_cover(const acq_options *options, const acq_setup *setup, acq_output *output)
{
    acq_error error = {0};
    acq_cover_params params;
    acq_query *query = NULL;
    shown s = {.options = options, .setup = setup, .report.size = sizeof s.report};
    acq_cover_params_init(&params);
    params.level = options->cover;
    if (options->args.n < 2)
        acq_fail(&error, ACQ_ERR_USAGE, "--cover takes one query on the command line");
    else if (acq_query_new(setup->graph, options->args.items[1], &query, &error) == ACQ_OK)
        (void)acq_cover_find(query, setup->predictor, &params, &s.set, &error);
    s.query = query;
    acq_covering_get_report(s.set, &s.report);
    if (error.code == ACQ_OK) {
        show(&s, output);
        (void)acq_setup_check_names(setup->graph, output, 0, &error);
    }
    int code = error.code == ACQ_OK
                   ? (acq_covering_get_n(s.set) > 0 ? ACQ_EXIT_YES : ACQ_EXIT_NO)
                   : acq_report_error(output, options, &error,
                                      error.line > 0 ? options->args.items[1] : NULL);
    acq_covering_free(s.set);
    acq_query_free(query);
    return code;
}
