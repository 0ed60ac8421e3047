/* solutions.c - see question.h. A row a line, as answers are shown:
 *
 *   x = Ada  y = "41"^^<...>  p 1.000  observed
 *
 * A variable without a value is left out; a row without any is "(no value)". CONSTRUCT prints
 * N-Triples. With --json one object: query, line, outcome, reason, complete, answers (values, keys,
 * p, kind), predictor, note, warning. */
#include "cli/question.h"

#include <math.h>
#include <string.h>

#include "cli/table.h"

/* What people read: a label where there is one, else the term as N-Triples spells it. */
static const char *show(const acq_question *question, const acq_rdf_value *value)
{
    return value->entity == UINT32_MAX ? value->key
                                       : acq_graph_get_entity_name(question->graph, value->entity);
}

static const char *kind_of(const acq_solutions *solutions, size_t row)
{
    return acq_solutions_is_predicted(solutions, row) ? "predicted" : "observed";
}

static void print_row(const acq_question *question, const acq_solutions *solutions, size_t row,
                      acq_text *out)
{
    double p = acq_solutions_get_probability(solutions, row);
    bool is_bare = true;
    for (size_t i = 0; i < acq_solutions_get_n_variables(solutions); i++) {
        acq_rdf_value value = acq_solutions_get_term(solutions, row, i);
        if (value.kind == ACQ_RDF_UNBOUND)
            continue;
        acq_width_add(out, acq_solutions_get_variable(solutions, i));
        acq_text_add(out, " = ");
        acq_width_add(out, show(question, &value));
        acq_text_add(out, "  ");
        is_bare = false;
    }
    if (is_bare)
        acq_text_add(out, "(no value)  ");
    if (!isnan(p))
        acq_text_format(out, "p %.3f  ", p);
    acq_text_format(out, "%s\n", kind_of(solutions, row));
}

static void print_term(const acq_rdf_value *value, acq_text *out)
{
    bool has_brackets = value->kind == ACQ_RDF_IRI || value->kind == ACQ_RDF_NAME;
    acq_text_add(out, has_brackets ? "<" : "");
    acq_text_add(out, value->key);
    acq_text_add(out, has_brackets ? ">" : "");
}

static void print_statement(const acq_solutions *solutions, size_t row, acq_text *out)
{
    for (size_t i = 0; i < 3; i++) {
        acq_rdf_value value = acq_solutions_get_term(solutions, row, i);
        print_term(&value, out);
        acq_text_add_char(out, ' ');
    }
    acq_text_add(out, ".\n");
}

static void print_text(const acq_question *question, const acq_solutions *solutions,
                       acq_output *output)
{
    size_t n = acq_solutions_get_n(solutions);
    acq_solutions_form form = acq_solutions_get_form(solutions);
    const char *spent = acq_solutions_get_spent(solutions);
    bool is_cut = spent[0] != '\0' && strcmp(spent, "most") != 0;
    if (n == 0)
        acq_text_format(&output->data, is_cut ? "undecided: %s ran out\n" : "none\n", spent);
    else if (form == ACQ_SOLUTIONS_BOOLEAN)
        acq_text_add(&output->data, "yes\n");
    for (size_t i = 0; i < n && form != ACQ_SOLUTIONS_BOOLEAN; i++) {
        if (form == ACQ_SOLUTIONS_STATEMENTS)
            print_statement(solutions, i, &output->data);
        else
            print_row(question, solutions, i, &output->data);
        acq_output_relieve(output);
    }
    if (is_cut && n > 0)
        acq_report_note(output, "not all solutions: %s ran out", spent);
}

/* ---- JSON ---- */

static json_t *make_answer(const acq_question *question, const acq_solutions *solutions, size_t row)
{
    json_t *answer = json_object(), *values = json_object(), *keys = json_object();
    double p = acq_solutions_get_probability(solutions, row);
    for (size_t i = 0; i < acq_solutions_get_n_variables(solutions); i++) {
        acq_rdf_value value = acq_solutions_get_term(solutions, row, i);
        const char *name = acq_solutions_get_variable(solutions, i);
        if (value.kind == ACQ_RDF_UNBOUND)
            continue;
        json_object_set_new(values, name, acq_json_text(show(question, &value)));
        if (strcmp(show(question, &value), value.key) != 0)
            json_object_set_new(keys, name, acq_json_text(value.key));
    }
    json_object_set_new(answer, "values", values);
    json_object_set_new(answer, "keys", keys);
    if (!isnan(p))
        json_object_set_new(answer, "p", json_real(p));
    json_object_set_new(answer, "kind", json_string(kind_of(solutions, row)));
    return answer;
}

static void print_json(const acq_question *question, const acq_solutions *solutions,
                       acq_output *output)
{
    json_t *object = json_object(), *answers = json_array();
    size_t n = acq_solutions_get_n(solutions);
    const char *spent = acq_solutions_get_spent(solutions);
    bool is_cut = spent[0] != '\0';
    for (size_t i = 0; i < n; i++)
        json_array_append_new(answers, make_answer(question, solutions, i));
    json_object_set_new(object, "query", acq_json_text(question->text));
    if (question->line != NULL)
        json_object_set_new(object, "line", acq_json_count(question->line->number));
    json_object_set_new(object, "outcome",
                        json_string(n > 0    ? "answered"
                                    : is_cut ? "undecided"
                                             : "none"));
    json_object_set_new(object, "reason", is_cut ? json_string(spent) : json_null());
    json_object_set_new(object, "complete", json_boolean(!is_cut));
    json_object_set_new(object, "answers", answers);
    json_object_set_new(object, "predictor",
                        acq_json_text(acq_predictor_get_name(question->predictor)));
    if (acq_solutions_get_note(solutions)[0] != '\0')
        json_object_set_new(object, "note", acq_json_text(acq_solutions_get_note(solutions)));
    if (acq_solutions_get_warning(solutions)[0] != '\0')
        json_object_set_new(object, "warning", acq_json_text(acq_solutions_get_warning(solutions)));
    acq_json_add_line(&output->data, object);
}

acq_status acq_cli_solve(acq_question *question, const acq_ask_params *ask, acq_output *output,
                         int *code, acq_error *error)
{
    const acq_options *options = question->options;
    acq_solve_params params;
    acq_solutions *solutions = NULL;
    if (options->separator != '\0')
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --output-format is not for this SPARQL query; use --json");
    acq_solve_params_init(&params);
    params.ask = ask;
    params.most = options->all || !acq_options_has(options, limit) ? 0 : options->limit;
    params.default_limit = options->all ? 0 : 1;
    acq_status status =
        acq_solve(question->graph, question->text, question->predictor, &params, &solutions, error);
    if (status != ACQ_OK)
        return status;
    if (acq_solutions_get_warning(solutions)[0] != '\0')
        acq_report_note(output, "%s", acq_solutions_get_warning(solutions));
    if (acq_solutions_get_note(solutions)[0] != '\0')
        acq_report_note(output, "%s", acq_solutions_get_note(solutions));
    if (options->json)
        print_json(question, solutions, output);
    else
        print_text(question, solutions, output);
    size_t n = acq_solutions_get_n(solutions);
    const char *spent = acq_solutions_get_spent(solutions);
    bool is_cut = spent[0] != '\0' && strcmp(spent, "most") != 0;
    *code = n > 0 ? ACQ_EXIT_YES : is_cut ? ACQ_EXIT_UNDECIDED : ACQ_EXIT_NO;
    status = acq_graph_get_failure(question->graph, error);
    acq_solutions_free(solutions);
    return status;
}
