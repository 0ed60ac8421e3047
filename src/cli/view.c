/* view.c - a result for a person.
 *
 * One line per answer when the longest of them fits the screen, the variables in columns:
 *
 *   x = London      z = Paris   score 1     observed
 *   x = Manchester  z = Nice    score 0.87  predicted
 *
 * with "p 0.93  score 0.87" where there is a calibrator;
 * otherwise one line per variable, long names wrapped below themselves. */
#include "cli/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "cli/table.h"

enum { GAP = 2 };

bool acq_view_has_likeliest(const acq_view *view)
{
    return !isnan(acq_result_get_best_probability(view->result));
}

bool acq_view_is_exact(const acq_view *view)
{
    return strcmp(view->params->engine, "exact") == 0;
}

acq_evidence_list *acq_view_explain(const acq_view *view, size_t i_answer)
{
    acq_evidence_list *support;
    if (acq_result_explain(view->result, i_answer, &support, NULL) != ACQ_OK)
        return NULL;
    *view->is_predicted = *view->is_predicted || !acq_evidence_list_is_observed(support);
    return support;
}

int acq_view_get_exit_code(const acq_view *view)
{
    switch (acq_result_get_outcome(view->result)) {
    case ACQ_RESULT_ANSWERED:
        return ACQ_EXIT_YES;
    case ACQ_RESULT_NONE:
        return ACQ_EXIT_NO;
    case ACQ_RESULT_UNDECIDED:
        break;
    }
    return ACQ_EXIT_UNDECIDED;
}

enum { SCORE_SIZE = 64 };

/* Nothing but 1 is shown as 1, and nothing as 0. */
static double round_p(double p)
{
    return p >= 1 ? 1 : fmin(fmax(p, 0.001), 0.999);
}

static size_t format_score(const acq_view *view, size_t i_answer, char *buffer)
{
    double p = acq_result_get_probability(view->result, i_answer);
    double p_prior = acq_result_get_prior_probability(view->result, i_answer);
    size_t n = 0;
    if (!isnan(p))
        n = (size_t)acq_format(buffer, SCORE_SIZE, "p %.3f  ", round_p(p));
    if (!isnan(p_prior))
        n += (size_t)acq_format(buffer + n, SCORE_SIZE - n, "at prior %.3f  ", round_p(p_prior));
    return n + (size_t)acq_format(buffer + n, SCORE_SIZE - n, "score %.4g",
                                acq_result_get_score(view->result, i_answer));
}

/* Where nothing is an answer, the likeliest candidate is shown in the place of answer 0. */
static size_t nth(const acq_view *view, size_t i)
{
    return acq_result_get_n_answers(view->result) == 0 ? ACQ_LIKELIEST : i;
}

static void measure_scores(const acq_view *view, size_t n, acq_columns *out)
{
    char buffer[SCORE_SIZE];
    for (size_t i = 0; i < n; i++) {
        size_t width = format_score(view, nth(view, i), buffer);
        out->score_width = width > out->score_width ? width : out->score_width;
    }
}

/* For n more answers. */
static acq_status measure(const acq_view *view, size_t n, acq_columns *out)
{
    size_t n_free = acq_query_get_n_free(view->query);
    measure_scores(view, n, out);
    size_t total = out->score_width + GAP + strlen("predicted");
    if (out->widths == NULL)
        out->widths = acq_zalloc(n_free, sizeof *out->widths);
    if (out->widths == NULL)
        return ACQ_ERR_MEMORY;
    for (size_t v = 0; v < n_free; v++) {
        size_t name = acq_width_of(acq_query_get_variable(view->query, v));
        for (size_t i = 0; i < n; i++) {
            const char *value = acq_result_get_value_at(view->result, nth(view, i), v);
            size_t width = name + strlen(" = ") + acq_width_of(value);
            out->widths[v] = width > out->widths[v] ? width : out->widths[v];
        }
        out->name_width = name > out->name_width ? name : out->name_width;
        total += out->widths[v] + GAP;
    }
    out->is_table = total <= ACQ_COLUMNS;
    return ACQ_OK;
}

static void print_status(const acq_view *view, const acq_columns *columns, size_t i,
                         bool is_observed, acq_text *out)
{
    char score[SCORE_SIZE];
    format_score(view, i, score);
    acq_text_format(out, "%-*s%s\n", (int)columns->score_width + GAP, score,
                    is_observed ? "observed" : "predicted");
}

static void print_row(const acq_view *view, const acq_columns *columns, size_t i, acq_text *out)
{
    for (size_t v = 0; v < acq_query_get_n_free(view->query); v++) {
        size_t start = out->length;
        acq_width_add(out, acq_query_get_variable(view->query, v));
        acq_text_add(out, " = ");
        acq_width_add(out, acq_result_get_value_at(view->result, i, v));
        acq_width_pad_to(out, acq_width_since(out, start), columns->widths[v] + GAP);
    }
}

/* name = value, the names in one column, the value wrapped below itself. */
static void print_variable(const acq_view *view, size_t name_width, size_t i, size_t v,
                           acq_text *out)
{
    const char *name = acq_query_get_variable(view->query, v);
    acq_text value;
    acq_text_init(&value);
    acq_width_add(&value, acq_result_get_value_at(view->result, i, v));
    acq_width_add(out, name);
    acq_width_pad_to(out, acq_width_of(name), name_width);
    acq_text_add(out, " = ");
    size_t indent = name_width + strlen(" = ");
    acq_width_wrap(out, value.bytes == NULL ? "" : value.bytes, indent, indent, ACQ_COLUMNS);
    acq_text_add_char(out, '\n');
    out->failed = out->failed || value.failed;
    acq_text_deinit(&value);
}

static void print_block(const acq_view *view, const acq_columns *columns, size_t i, acq_text *out)
{
    if (columns->n_shown > 0)
        acq_text_add_char(out, '\n');
    for (size_t v = 0; v < acq_query_get_n_free(view->query); v++)
        print_variable(view, columns->name_width, i, v, out);
}

static acq_status print_answer(const acq_view *view, const acq_columns *columns, size_t i,
                               acq_text *out)
{
    acq_evidence_list *support = acq_view_explain(view, i);
    if (support == NULL)
        return ACQ_ERR_MEMORY;
    if (columns->n_shown > 0 && columns->is_table && view->options->explain)
        acq_text_add_char(out, '\n');
    if (view->is_check || acq_query_get_n_free(view->query) == 0)
        acq_text_add(out,
                     acq_result_get_outcome(view->result) == ACQ_RESULT_ANSWERED ? "yes  " : "");
    else if (columns->is_table)
        print_row(view, columns, i, out);
    else
        print_block(view, columns, i, out);
    print_status(view, columns, i, acq_evidence_list_is_observed(support), out);
    if (view->options->explain)
        acq_view_print_support(view, i, support, out);
    acq_evidence_list_free(support);
    return ACQ_OK;
}

/* Some time is left for the notes. */
static bool has_time(const acq_view *view)
{
    bool is_first = view->columns->n_shown == 0;
    view->columns->has_no_time = !is_first && acq_options_get_seconds_left(view->options) <= 0;
    return !view->columns->has_no_time;
}

static void print_answers(const acq_view *view, size_t n, acq_output *output)
{
    acq_columns *columns = view->columns;
    acq_status status = measure(view, n, columns);
    for (size_t i = 0; status == ACQ_OK && i < n && has_time(view); i++) {
        status = print_answer(view, columns, nth(view, i), &output->data);
        columns->n_shown++;
        acq_output_relieve(output);
    }
    if (status != ACQ_OK)
        output->data.failed = true;
}

static const char *remedy(const acq_view *view)
{
    static const char *const remedies[][2] = {{"time", "give more with --time SECONDS"},
                                              {"memory", "give more with --memory MB"},
                                              {"steps", "give more with --steps N"},
                                              {"rows", "give them longer with --time SECONDS"},
                                              {"interrupt", "ask again to let it finish"}};
    const char *spent = acq_result_get_spent(view->result);
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        if (strcmp(spent, remedies[i][0]) == 0)
            return remedies[i][1];
    }
    return "another --engine may decide it";
}

static void add_cost(const acq_view *view, acq_text *out)
{
    uint64_t nodes = view->stats.nodes;
    acq_text_format(out, "%llu node%s, %.1f ms", (unsigned long long)nodes, nodes == 1 ? "" : "s",
                    view->stats.seconds * 1e3);
}

/* "p 0.400" in a sentence; what would round to 0 or 1 says so. */
static void add_p(acq_text *out, double p)
{
    if (p < 0.001)
        acq_text_add(out, "p < 0.001");
    else
        acq_text_format(out, p > 0.999 && p < 1 ? "p > 0.999" : "p %.3f", p);
}

static const char *at_prior(const acq_view *view)
{
    return view->params->prior < 0 ? "" : " at this prior";
}

/* There are candidates, but none is likely enough. */
static void print_unlikely(const acq_view *view, acq_output *output)
{
    acq_text *out = &output->data;
    double min_p = view->params->min_p;
    if (view->is_check || acq_query_get_n_free(view->query) == 0) {
        acq_text_add(out, view->is_check ? "no: it has " : "none: it has ");
        add_p(out, acq_result_get_best_probability(view->result));
        acq_text_format(out, "%s, below %.4g, ", at_prior(view), min_p);
    } else if (view->stats.has_more) {
        acq_text_format(out, "none: of the best candidates (%zu) none has p >= %.4g%s, ",
                        (size_t)view->stats.n_candidates, min_p, at_prior(view));
    } else {
        acq_text_format(out, "none: no candidate has p >= %.4g%s, ", min_p, at_prior(view));
    }
    add_cost(view, out);
    acq_text_add_char(out, '\n');
    if (view->options->explain)
        print_answers(view, 1, output);
}

/* The largest number of two digits that is not above p. */
static double round_down(double p)
{
    double unit = pow(10.0, floor(log10(p)) - 1.0);
    return floor(p / unit + 1e-9) * unit;
}

static void note_likeliest(const acq_view *view, acq_output *output)
{
    double p = acq_result_get_best_probability(view->result);
    double p_if = acq_result_get_probability_if_answered(view->result, ACQ_LIKELIEST);
    if (p > 0)
        acq_report_note(output, "the most likely answer has p = %.2g; --min-p %.2g gives it", p,
                        round_down(p));
    if (p > 0 && p_if > p && p_if < 0.995)
        acq_report_note(output, "if there is an answer at all, it is that one with p = %.2g", p_if);
}

/* A prediction is worth more to whoever knows that the question has an answer. */
static void note_if_answered(const acq_view *view, acq_output *output)
{
    double p = acq_result_get_probability(view->result, 0);
    double p_if = acq_result_get_probability_if_answered(view->result, 0);
    if (p < 1 && p_if > p && p_if < 0.995)
        acq_report_note(output, "if there is an answer at all, %s is one with p = %.2g",
                        acq_result_get_n_answers(view->result) == 1 ? "it" : "the first", p_if);
}

static void print_none(const acq_view *view, acq_text *out)
{
    double threshold = view->stats.threshold;
    double unsupported_p = acq_result_get_unsupported_probability(view->result);
    bool is_proved = acq_view_is_exact(view) || acq_result_is_complete(view->result);
    acq_text_add(out, view->is_check ? "no: " : "none: ");
    if (view->params->new_only && acq_result_has_probabilities(view->result)) {
        acq_text_format(out, "no answer beyond the facts has p >= %.4g%s, ",
                        view->params->min_p, at_prior(view));
    } else if (view->params->new_only) {
        acq_text_add(out, "the facts give all answers, ");
    } else if (!is_proved) {
        acq_text_format(out, "the paper's rule, not proved: %s found nothing, ",
                        view->params->engine);
    } else if (!isnan(unsupported_p)) {
        acq_text_add(out, "it has ");
        add_p(out, unsupported_p);
        acq_text_format(out, "%s, below %.4g, ", at_prior(view), view->params->min_p);
    } else if (acq_result_has_probabilities(view->result)) {
        acq_text_format(out, view->is_check ? "its p is below %.4g, " : "no tuple has p >= %.4g, ",
                        threshold);
    } else {
        acq_text_format(out,
                        view->is_check ? "proved, the score is below %.4g, "
                                       : "proved, nothing reaches %.4g, ",
                        threshold);
    }
    add_cost(view, out);
    acq_text_add_char(out, '\n');
    if (is_proved && view->options->explain)
        acq_view_print_conflict(view, out);
}

/* What holds although it is undecided. */
static void add_what_is_known(const acq_view *view, acq_text *out)
{
    const acq_result_stats *stats = &view->stats;
    if (stats->facts == ACQ_RESULT_NONE)
        acq_text_add(out, "no observed answer (proved); ");
    else if (stats->facts == ACQ_RESULT_ANSWERED && stats->n_rows_left > 0)
        acq_text_add(out, view->params->new_only ? "answers from facts are not asked for; "
                                                 : "answers from facts have negated atoms; ");
    if (stats->n_rows_left > 0)
        acq_text_format(out, "predictions: %llu of %llu rows looked at,\n           ",
                        (unsigned long long)stats->n_rows,
                        (unsigned long long)(stats->n_rows + stats->n_rows_left));
}

static void print_undecided(const acq_view *view, acq_text *out)
{
    const char *spent = acq_result_get_spent(view->result);
    bool is_by_rows = view->stats.is_by_rows,
         has_note = acq_result_get_note(view->result)[0] != '\0';
    acq_text_add(out, "undecided: ");
    if (has_note && view->stats.nodes == 0 && !is_by_rows) {
        acq_text_format(out,
                        "%s sees no way to an answer, %.1f ms;\n           "
                        "--engine exact proves that there is none\n",
                        view->params->engine, view->stats.seconds * 1e3);
        return;
    }
    add_what_is_known(view, out);
    if (spent[0] == '\0')
        acq_text_format(out, "%s found nothing after ", view->params->engine);
    else if (strcmp(spent, "interrupt") == 0)
        acq_text_add(out, "interrupted after ");
    else if (strcmp(spent, "rows") != 0)
        acq_text_format(out, "the %s ran out after ", spent);
    add_cost(view, out);
    acq_text_format(out, ";\n           %s\n",
                    is_by_rows && spent[0] == '\0'
                        ? "a query that names an entity, or anycq fit, decides it"
                        : remedy(view));
}

/* Said when more than one answer was asked for. */
static void note_count(const acq_view *view, acq_output *output)
{
    acq_text cost;
    acq_text_init(&cost);
    add_cost(view, &cost);
    size_t n = acq_result_get_n_answers(view->result);
    const char *noun = n == 1 ? "answer" : "answers";
    bool wants_all = view->params->limit == 0, has_p = view->stats.n_candidates > 0;
    bool is_all = wants_all || n < view->params->limit;
    char none_left[64];
    acq_format(none_left, sizeof none_left, ", no other has p >= %.4g%s", view->params->min_p,
             at_prior(view));
    const char *which = view->stats.has_more && is_all ? " of the best candidates"
                        : is_all && has_p              ? none_left
                        : is_all                       ? ", and there is no other"
                        : has_p                        ? ", the most likely ones"
                                                       : ", the best ones";
    acq_report_note(output, "%zu %s%s, %s", n, noun, which, cost.bytes == NULL ? "" : cost.bytes);
    acq_text_deinit(&cost);
}

static void note_incomplete(const acq_view *view, acq_output *output)
{
    const char *engine = view->params->engine;
    const char *spent = acq_result_get_spent(view->result);
    bool is_spent = spent[0] != '\0';
    bool wants_more = view->params->limit != 1 && acq_query_get_n_free(view->query) > 0;
    if (view->columns->has_no_time && acq_result_is_complete(view->result)) {
        acq_report_note(output,
                        "the time ran out while answers were printed; give more with --time "
                        "SECONDS");
        return;
    }
    if (view->stats.is_by_rows && acq_result_get_note(view->result)[0] != '\0')
        return; /* which says what was left out */
    if (wants_more && !acq_view_is_exact(view))
        acq_report_note(output,
                        "%s stops at one answer: there may be more%s; --engine exact finds them",
                        engine, is_spent ? " or better" : "");
    else if (strcmp(spent, "interrupt") == 0)
        acq_report_note(output, "interrupted: there may be more or better answers");
    else if (!is_spent)
        acq_report_note(output, "%s does not prove that there is no better answer", engine);
    else
        acq_report_note(output, "the %s ran out: there may be %s answers; %s", spent,
                        view->params->limit == 1 ? "better" : "more or better", remedy(view));
}

/* What a person should know beside the data. */
static void print_notes(const acq_view *view, acq_output *output)
{
    const char *note = acq_result_get_note(view->result);
    bool is_answered = acq_result_get_outcome(view->result) == ACQ_RESULT_ANSWERED;
    if (note[0] != '\0' && (is_answered || view->stats.n_rows_left == 0))
        acq_report_note(output, "%s", note);
    acq_reason_view_note(view->reasons, output);
    if (!is_answered && acq_view_has_likeliest(view) && !view->is_check)
        note_likeliest(view, output);
    if (!is_answered)
        return;
    if (!view->is_check)
        note_if_answered(view, output);
    if (!acq_result_is_complete(view->result) || view->columns->has_no_time)
        note_incomplete(view, output);
    else if (view->params->limit != 1 && !view->is_check)
        note_count(view, output);
}

/* The names of the columns. */
static void print_table_head(const acq_view *view, acq_table *table)
{
    static const char *const rest[] = {"p", "p_if_answered", "score", "kind"};
    if (view->line > 0)
        acq_table_add_text(table, "line");
    if (view->is_check)
        acq_table_add_text(table, "verdict");
    for (size_t v = 0; v < acq_query_get_n_free(view->query) && !view->is_check; v++)
        acq_table_add_text(table, acq_query_get_variable(view->query, v));
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        acq_table_add_text(table, rest[i]);
    if (view->params->prior >= 0)
        acq_table_add_text(table, "p_prior");
    acq_table_end_line(table);
}

static acq_status print_table_row(const acq_view *view, size_t i, acq_table *table)
{
    acq_evidence_list *support = acq_view_explain(view, i);
    if (support == NULL)
        return ACQ_ERR_MEMORY;
    if (view->line > 0)
        acq_table_add_count(table, (int64_t)view->line);
    if (view->is_check)
        acq_table_add_text(table, "yes");
    for (size_t v = 0; v < acq_query_get_n_free(view->query) && !view->is_check; v++)
        acq_table_add_text(table, acq_result_get_value_at(view->result, i, v));
    acq_table_add_number(table, acq_result_get_probability(view->result, i));
    acq_table_add_number(table, acq_result_get_probability_if_answered(view->result, i));
    acq_table_add_number(table, acq_result_get_score(view->result, i));
    acq_table_add_text(table, acq_evidence_list_is_observed(support) ? "observed" : "predicted");
    if (view->params->prior >= 0)
        acq_table_add_number(table, acq_result_get_prior_probability(view->result, i));
    acq_evidence_list_free(support);
    acq_table_end_line(table);
    return ACQ_OK;
}

/* A check has one line whatever comes out. */
static void print_table_verdict(const acq_view *view, acq_table *table)
{
    bool is_likeliest = acq_view_has_likeliest(view);
    size_t likeliest = is_likeliest ? ACQ_LIKELIEST : SIZE_MAX - 1;
    double unsupported_p = acq_result_get_unsupported_probability(view->result);
    bool has_prior = view->params->prior >= 0;
    if (view->line > 0)
        acq_table_add_count(table, (int64_t)view->line);
    acq_table_add_text(
        table, acq_result_get_outcome(view->result) == ACQ_RESULT_NONE ? "no" : "undecided");
    acq_table_add_number(table, is_likeliest ? acq_result_get_probability(view->result, likeliest)
                                : has_prior  ? NAN
                                             : unsupported_p);
    acq_table_add_number(table, acq_result_get_probability_if_answered(view->result, likeliest));
    acq_table_add_number(table, is_likeliest ? acq_result_get_score(view->result, likeliest) : NAN);
    acq_table_add_number(table, NAN);
    if (has_prior)
        acq_table_add_number(table, is_likeliest
                                        ? acq_result_get_prior_probability(view->result, likeliest)
                                        : unsupported_p);
    acq_table_end_line(table);
}

static void print_table(const acq_view *view, acq_output *output)
{
    acq_status status = ACQ_OK;
    size_t n = acq_result_get_n_answers(view->result);
    acq_table table = {.out = &output->data, .separator = view->options->separator};
    if (view->columns->n_shown == 0)
        print_table_head(view, &table);
    for (size_t i = 0; status == ACQ_OK && i < n && has_time(view); i++) {
        status = print_table_row(view, i, &table);
        view->columns->n_shown++;
        acq_output_relieve(output);
    }
    if (status != ACQ_OK)
        output->data.failed = true;
}

void acq_view_add(const acq_view *view, acq_output *output)
{
    size_t n = acq_result_get_n_answers(view->result);
    if (view->options->separator != '\0')
        print_table(view, output);
    else if (n > 0)
        print_answers(view, n, output);
}

/* No answer was shown. */
static void print_outcome(const acq_view *view, acq_output *output)
{
    acq_result_outcome outcome = acq_result_get_outcome(view->result);
    if (view->options->separator != '\0') {
        print_table(view, output);
        acq_table table = {.out = &output->data, .separator = view->options->separator};
        if (view->is_check)
            print_table_verdict(view, &table);
    } else if (outcome == ACQ_RESULT_NONE && acq_view_has_likeliest(view)) {
        print_unlikely(view, output);
    } else if (outcome == ACQ_RESULT_NONE) {
        print_none(view, &output->data);
    } else {
        print_undecided(view, &output->data);
    }
}

void acq_view_end(const acq_view *view, acq_output *output)
{
    if (view->columns->n_shown == 0)
        print_outcome(view, output);
    print_notes(view, output);
}
