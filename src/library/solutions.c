/* solutions.c - what a program reads of the solutions of a SPARQL query. */
#include "library/solutions.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "graph/text/rdf.h"

acq_solutions_form acq_solutions_get_form(const acq_solutions *solutions)
{
    if (solutions == NULL || solutions->sparql->form == ACQ_FORM_SELECT)
        return ACQ_SOLUTIONS_ROWS;
    return solutions->sparql->form == ACQ_FORM_ASK ? ACQ_SOLUTIONS_BOOLEAN
                                                   : ACQ_SOLUTIONS_STATEMENTS;
}

size_t acq_solutions_get_n_variables(const acq_solutions *solutions)
{
    return solutions == NULL ? 0 : solutions->rows.width;
}

const char *acq_solutions_get_variable(const acq_solutions *solutions, size_t i)
{
    static const char *const PARTS[] = {"subject", "predicate", "object"};
    if (solutions == NULL || i >= solutions->rows.width)
        return NULL;
    if (solutions->sparql->form == ACQ_FORM_CONSTRUCT)
        return PARTS[i];
    const acq_sparql_term *term = solutions->sparql->selected;
    for (; i > 0; i--)
        term = term->next;
    return solutions->sparql->names[term->variable].text;
}

size_t acq_solutions_get_n(const acq_solutions *solutions)
{
    return solutions == NULL ? 0 : solutions->rows.n;
}

static const acq_rdf_value UNBOUND = {.kind = ACQ_RDF_UNBOUND,
                                      .text = "",
                                      .datatype = "",
                                      .language = "",
                                      .key = "",
                                      .entity = UINT32_MAX};

static const char *copy_tag(acq_solutions *s, const acq_value *value)
{
    char *copy = acq_arena_copy_string(&s->texts, value->tag, value->tag_length);
    return copy == NULL ? "" : copy;
}

static void fill_literal(acq_solutions *s, const acq_value *value, acq_rdf_value *out)
{
    out->kind = ACQ_RDF_LITERAL;
    if (value->kind == ACQ_VALUE_TAGGED)
        out->language = value->tag; /* ends with the key */
    else if (value->kind == ACQ_VALUE_STRING)
        out->datatype = ACQ_XSD "string";
    else
        out->datatype = copy_tag(s, value);
}

acq_rdf_value acq_solutions_get_term(const acq_solutions *solutions, size_t row, size_t column)
{
    acq_rdf_value out = UNBOUND;
    if (solutions == NULL || row >= solutions->rows.n || column >= solutions->rows.width)
        return out;
    acq_solutions *s = (acq_solutions *)solutions; /* its texts are made under the lock */
    uint32_t term = s->rows.cells[row * s->rows.width + column];
    if (term == ACQ_NO_ID)
        return out;
    pthread_mutex_lock(&s->lock);
    acq_value_room room = {.arena = &s->texts};
    acq_value value = acq_terms_get_value(&s->terms, &room, term);
    out.key = acq_terms_get_key(&s->terms, term);
    out.entity = term < s->terms.n_entities ? term : UINT32_MAX;
    out.text = value.text;
    out.length = value.length;
    bool is_name = s->terms.is_plain && !acq_iri_is_absolute(out.key, strlen(out.key));
    if (value.kind == ACQ_VALUE_IRI) {
        out.kind = is_name ? ACQ_RDF_NAME : ACQ_RDF_IRI;
    } else if (value.kind == ACQ_VALUE_BLANK) {
        out.kind = ACQ_RDF_BLANK;
        out.text += 2;
        out.length -= 2;
    } else {
        fill_literal(s, &value, &out);
    }
    pthread_mutex_unlock(&s->lock);
    return out;
}

bool acq_solutions_is_predicted(const acq_solutions *solutions, size_t row)
{
    if (solutions == NULL || row >= solutions->rows.n || solutions->answers == NULL ||
        solutions->answers[row] == 0)
        return false;
    const acq_engine_answer *answer =
        acq_library_get_answer(solutions->result, solutions->answers[row] - 1);
    acq_evidence_list *list = NULL;
    if (answer == NULL ||
        acq_result_explain(solutions->result, solutions->answers[row] - 1, &list, NULL) != ACQ_OK)
        return true;
    bool is_observed = acq_evidence_list_is_observed(list);
    acq_evidence_list_free(list);
    return !is_observed;
}

double acq_solutions_get_probability(const acq_solutions *solutions, size_t row)
{
    if (solutions == NULL || row >= solutions->rows.n || !solutions->has_p)
        return (double)NAN;
    if (solutions->answers == NULL || solutions->answers[row] == 0)
        return 1.0;
    return acq_result_get_probability(solutions->result, solutions->answers[row] - 1);
}

/* A row of facts is explained by the check of its tuple. */
static acq_status explain_facts(const acq_solutions *s, size_t row, acq_evidence_list **out,
                                acq_error *error)
{
    size_t n = acq_query_get_n_free(s->formula);
    const char **values = acq_alloc(n + 1, sizeof *values);
    acq_result *result = NULL;
    if (values == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < n; i++)
        values[i] = acq_terms_get_key(&s->terms, s->rows.cells[row * s->rows.width + i]);
    acq_status status = acq_check(s->formula, s->predictor, values, n, NULL, &result, error);
    if (status == ACQ_OK && acq_result_get_n_answers(result) == 0)
        status = acq_fail(error, ACQ_ERR_LIMIT, "this row cannot be explained within the time");
    if (status == ACQ_OK)
        status = acq_result_explain(result, 0, out, error);
    acq_result_free(result);
    acq_free(values);
    return status;
}

acq_status acq_solutions_explain(const acq_solutions *solutions, size_t row,
                                 acq_evidence_list **out, acq_error *error)
{
    ACQ_REQUIRE(solutions, error);
    ACQ_REQUIRE(out, error);
    if (row >= solutions->rows.n)
        return acq_fail(error, ACQ_ERR_USAGE, "%s: there is no row %zu", __func__, row);
    if (solutions->formula == NULL || solutions->predictor == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "%s: the query has no formula to explain by",
                        __func__);
    if (solutions->answers == NULL || solutions->answers[row] == 0)
        return explain_facts(solutions, row, out, error);
    return acq_result_explain(solutions->result, solutions->answers[row] - 1, out, error);
}

const char *acq_solutions_get_spent(const acq_solutions *solutions)
{
    return solutions == NULL ? "" : solutions->spent;
}

const char *acq_solutions_get_warning(const acq_solutions *solutions)
{
    return solutions == NULL || solutions->warning.length == 0 ? "" : solutions->warning.bytes;
}

const char *acq_solutions_get_note(const acq_solutions *solutions)
{
    return solutions == NULL || solutions->note.length == 0 ? "" : solutions->note.bytes;
}

void acq_solutions_free(acq_solutions *solutions)
{
    if (solutions == NULL)
        return;
    acq_result_free(solutions->result);
    acq_query_free(solutions->formula);
    acq_solution_rows_deinit(&solutions->rows);
    acq_terms_deinit(&solutions->terms);
    acq_sparql_query_free(solutions->sparql);
    acq_text_deinit(&solutions->warning);
    acq_text_deinit(&solutions->note);
    acq_arena_deinit(&solutions->texts);
    acq_free(solutions->answers);
    pthread_mutex_destroy(&solutions->lock);
    acq_free(solutions);
}
