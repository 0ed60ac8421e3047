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

#include "cli/width.h"
#include "calibrate/answer.h"

enum { GAP = 2 };

acq_status acq_view_get_support(const acq_view *view, size_t i_answer, acq_arena *arena,
                                acq_support *out)
{
    acq_status status =
        acq_explain(view->query, view->predictor, &view->params->search.scoring,
                    view->result->answers[i_answer].values, arena, &out->evidence, &out->n, NULL);
    if (status == ACQ_OK)
        out->is_observed = acq_explain_is_observed(out->evidence, out->n);
    *view->is_predicted = *view->is_predicted || (status == ACQ_OK && !out->is_observed);
    return status;
}

const char *acq_view_get_value(const acq_view *view, size_t i_answer, uint32_t variable)
{
    acq_ent value = view->result->answers[i_answer].values[variable];
    return acq_graph_get_entity_name(view->predictor->graph, value);
}

bool acq_view_has_p(const acq_view *view)
{
    return acq_engine_gives_p(view->params, view->predictor);
}

double acq_view_get_unsupported_p(const acq_view *view)
{
    const acq_engine_result *result = view->result;
    bool is_proved = result->outcome == ACQ_NONE && result->complete && result->likeliest == NULL;
    if (!view->is_check || !is_proved || view->params->has_threshold || !acq_view_has_p(view))
        return NAN;
    double p = acq_answer_get_unsupported_p(view->query, view->predictor, view->values,
                                            view->params->prior);
    return p > 0 && p < view->params->min_p ? p : NAN;
}

int acq_view_get_exit_code(const acq_view *view)
{
    switch (view->result->outcome) {
    case ACQ_ANSWERED:
        return ACQ_EXIT_YES;
    case ACQ_NONE:
        return ACQ_EXIT_NO;
    case ACQ_UNDECIDED:
        break;
    }
    return ACQ_EXIT_UNDECIDED;
}

/* How wide the variables' columns are. */
typedef struct layout {
    size_t *widths; /* one per free variable: of "x = value" */
    size_t name_width;
    size_t score_width;
    bool is_table;
} layout;

enum { SCORE_SIZE = 48 };

static size_t format_score(const acq_view *view, size_t i_answer, char *buffer)
{
    const acq_answer *answer = &view->result->answers[i_answer];
    size_t n = 0;
    if (!isnan(answer->p))
        n = (size_t)snprintf(buffer, SCORE_SIZE, answer->p < 0.001 ? "p %.0e  " : "p %.3f  ",
                             answer->p);
    return n + (size_t)snprintf(buffer + n, SCORE_SIZE - n, "score %.4g", answer->score);
}

static size_t value_width(const acq_view *view, size_t i_answer, uint32_t variable)
{
    return acq_width_of(acq_view_get_value(view, i_answer, variable));
}

static void measure_scores(const acq_view *view, size_t n, layout *out)
{
    char buffer[SCORE_SIZE];
    for (size_t i = 0; i < n; i++) {
        size_t width = format_score(view, i, buffer);
        out->score_width = width > out->score_width ? width : out->score_width;
    }
}

/* For the first n answers. */
static acq_status measure(const acq_view *view, size_t n, acq_arena *arena, layout *out)
{
    const acq_query *query = view->query;
    *out = (layout){0};
    measure_scores(view, n, out);
    size_t total = out->score_width + GAP + strlen("predicted");
    out->widths = acq_arena_alloc(arena, query->n_free, sizeof *out->widths);
    if (out->widths == NULL)
        return ACQ_ERR_MEMORY;
    for (uint32_t v = 0; v < query->n_free; v++) {
        size_t name = acq_width_of(query->variables[v].text), widest = 0;
        for (size_t i = 0; i < n; i++) {
            size_t width = value_width(view, i, v);
            widest = width > widest ? width : widest;
        }
        out->name_width = name > out->name_width ? name : out->name_width;
        out->widths[v] = name + strlen(" = ") + widest;
        total += out->widths[v] + GAP;
    }
    out->is_table = total <= ACQ_COLUMNS;
    return ACQ_OK;
}

static void print_status(const acq_view *view, const layout *columns, size_t i, bool is_observed,
                         acq_text *out)
{
    char score[SCORE_SIZE];
    format_score(view, i, score);
    acq_text_format(out, "%-*s%s\n", (int)columns->score_width + GAP, score,
                    is_observed ? "observed" : "predicted");
}

static void print_row(const acq_view *view, const layout *columns, size_t i, acq_text *out)
{
    for (uint32_t v = 0; v < view->query->n_free; v++) {
        size_t start = out->length;
        acq_width_add(out, view->query->variables[v].text);
        acq_text_add(out, " = ");
        acq_width_add(out, acq_view_get_value(view, i, v));
        acq_width_pad(out, columns->widths[v] + GAP - acq_width_since(out, start));
    }
}

/* name = value, the names in one column, the value wrapped below itself. */
static void print_variable(const acq_view *view, size_t name_width, size_t i, uint32_t v,
                           acq_text *out)
{
    const char *name = view->query->variables[v].text;
    acq_text value;
    acq_text_init(&value);
    acq_width_add(&value, acq_view_get_value(view, i, v));
    acq_width_add(out, name);
    acq_width_pad(out, name_width - acq_width_of(name));
    acq_text_add(out, " = ");
    size_t indent = name_width + strlen(" = ");
    acq_width_wrap(out, value.bytes == NULL ? "" : value.bytes, indent, indent, ACQ_COLUMNS);
    acq_text_add_char(out, '\n');
    out->failed = out->failed || value.failed;
    acq_text_deinit(&value);
}

static void print_block(const acq_view *view, const layout *columns, size_t i, acq_text *out)
{
    if (i > 0)
        acq_text_add_char(out, '\n');
    for (uint32_t v = 0; v < view->query->n_free; v++)
        print_variable(view, columns->name_width, i, v, out);
}

static acq_status print_answer(const acq_view *view, const layout *columns, size_t i,
                               acq_arena *arena, acq_text *out)
{
    acq_support support;
    if (acq_view_get_support(view, i, arena, &support) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (i > 0 && columns->is_table && view->options->explain)
        acq_text_add_char(out, '\n');
    if (view->is_check || view->query->n_free == 0)
        acq_text_add(out, view->result->outcome == ACQ_ANSWERED ? "yes  " : "");
    else if (columns->is_table)
        print_row(view, columns, i, out);
    else
        print_block(view, columns, i, out);
    print_status(view, columns, i, support.is_observed, out);
    if (view->options->explain)
        acq_view_print_support(view, i, &support, out);
    return ACQ_OK;
}

static void print_answers(const acq_view *view, size_t n, acq_output *output)
{
    acq_arena arena;
    acq_arena_init(&arena);
    layout columns;
    acq_status status = measure(view, n, &arena, &columns);
    acq_arena_mark mark = acq_arena_get_mark(&arena);
    for (size_t i = 0; status == ACQ_OK && i < n; i++) {
        status = print_answer(view, &columns, i, &arena, &output->data);
        acq_arena_reset(&arena, mark);
        acq_output_relieve(output);
    }
    if (status != ACQ_OK)
        output->data.failed = true;
    acq_arena_deinit(&arena);
}

static const char *remedy(acq_spent spent)
{
    static const char *const remedies[] = {
        [ACQ_SPENT_NOTHING] = "another --engine may decide it",
        [ACQ_SPENT_TIME] = "give more with --time SECONDS",
        [ACQ_SPENT_MEMORY] = "give more with --memory MB",
        [ACQ_SPENT_STEPS] = "give more with --steps N",
        [ACQ_SPENT_INTERRUPT] = "ask again to let it finish",
    };
    return remedies[spent];
}

static void add_cost(const acq_view *view, acq_text *out)
{
    uint64_t nodes = view->result->effort.nodes;
    acq_text_format(out, "%llu node%s, %.1f ms", (unsigned long long)nodes, nodes == 1 ? "" : "s",
                    view->ms);
}

/* There are candidates, but none is likely enough. */
static void print_unlikely(const acq_view *view, acq_output *output)
{
    const acq_engine_result *result = view->result;
    acq_text *out = &output->data;
    double min_p = view->params->min_p;
    if (view->is_check || view->query->n_free == 0)
        acq_text_format(out, "%s: it has p %.2g, below %.4g, ", view->is_check ? "no" : "none",
                        result->likeliest->p, min_p);
    else if (result->has_more)
        acq_text_format(out, "none: of the best candidates (%zu) none has p >= %.4g, ",
                        result->n_candidates, min_p);
    else
        acq_text_format(out, "none: no candidate has p >= %.4g, ", min_p);
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
    double p = view->result->likeliest->p;
    if (p > 0)
        acq_report_note(output, "the most likely answer has p = %.2g; --min-p %.2g gives it", p,
                        round_down(p));
}

static void print_none(const acq_view *view, acq_text *out)
{
    double threshold = view->params->search.scoring.threshold;
    double unsupported_p = acq_view_get_unsupported_p(view);
    bool is_proved = acq_engine_is_complete(view->params->engine) || view->result->complete;
    acq_text_add(out, view->is_check ? "no: " : "none: ");
    if (!is_proved)
        acq_text_format(out, "the paper's rule, not proved: %s found nothing, ",
                        acq_engine_get_name(view->params->engine));
    else if (!isnan(unsupported_p))
        acq_text_format(out, "proved, the score is below %.4g: p %.2g, ", threshold, unsupported_p);
    else if (view->is_check)
        acq_text_format(out, "proved, the score is below %.4g, ", threshold);
    else
        acq_text_format(out, "proved, nothing reaches %.4g, ", threshold);
    add_cost(view, out);
    acq_text_add_char(out, '\n');
    if (is_proved && view->options->explain)
        acq_view_print_core(view, out);
}

static void print_undecided(const acq_view *view, acq_text *out)
{
    acq_spent spent = view->result->spent;
    bool is_by_rows = view->result->prepared != NULL;
    acq_text_add(out, "undecided: ");
    if (view->result->note != NULL && view->result->effort.nodes == 0 && !is_by_rows) {
        acq_text_format(out,
                        "%s sees no way to an answer, %.1f ms;\n           "
                        "--engine exact proves that there is none\n",
                        acq_engine_get_name(view->params->engine), view->ms);
        return;
    }
    if (spent == ACQ_SPENT_NOTHING)
        acq_text_format(out, "%s found nothing", acq_engine_get_name(view->params->engine));
    else
        acq_text_format(out, "the %s ran out", acq_spent_name(spent));
    acq_text_add(out, " after ");
    add_cost(view, out);
    acq_text_format(out, ";\n           %s\n",
                    is_by_rows && spent == ACQ_SPENT_NOTHING
                        ? "a query that names an entity, or anycq fit, decides it"
                        : remedy(spent));
}

/* Said when more than one answer was asked for. */
static void note_count(const acq_view *view, acq_output *output)
{
    const acq_engine_result *result = view->result;
    acq_text cost;
    acq_text_init(&cost);
    add_cost(view, &cost);
    const char *noun = result->n_answers == 1 ? "answer" : "answers";
    bool wants_all = view->params->search.limit == 0;
    bool is_all = wants_all || result->n_answers < view->params->search.limit;
    const char *which = result->has_more && is_all ? " of the best candidates"
                        : is_all                   ? ", and there is no other"
                        : result->n_candidates > 0 ? ", the most likely ones"
                                                   : ", the best ones";
    acq_report_note(output, "%zu %s%s, %s", result->n_answers, noun, which,
                    cost.bytes == NULL ? "" : cost.bytes);
    acq_text_deinit(&cost);
}

static void note_incomplete(const acq_view *view, acq_output *output)
{
    const acq_engine_result *result = view->result;
    const char *engine = acq_engine_get_name(view->params->engine);
    bool is_spent = result->spent != ACQ_SPENT_NOTHING;
    bool wants_more = view->params->search.limit != 1 && view->query->n_free > 0;
    if (result->prepared != NULL && result->note != NULL)
        return; /* which says what was left out */
    if (wants_more && !acq_engine_is_complete(view->params->engine))
        acq_report_note(output,
                        "%s stops at one answer: there may be more%s; --engine exact finds them",
                        engine, is_spent ? " or better" : "");
    else if (!is_spent)
        acq_report_note(output, "%s does not prove that there is no better answer", engine);
    else
        acq_report_note(
            output, "the %s ran out: there may be %s answers; %s", acq_spent_name(result->spent),
            view->params->search.limit == 1 ? "better" : "more or better", remedy(result->spent));
}

/* What a person should know beside the data. */
static void print_notes(const acq_view *view, acq_output *output)
{
    const acq_engine_result *result = view->result;
    if (result->note != NULL)
        acq_report_note(output, "%s", result->note);
    if (result->outcome != ACQ_ANSWERED && result->likeliest != NULL && !view->is_check)
        note_likeliest(view, output);
    if (result->outcome != ACQ_ANSWERED)
        return;
    if (!result->complete)
        note_incomplete(view, output);
    else if (view->params->search.limit != 1 && !view->is_check)
        note_count(view, output);
}

/* The names of the columns. */
static void print_table_head(const acq_view *view, acq_text *out)
{
    static const char *const rest[] = {"p", "score", "kind"};
    char separator = view->options->separator;
    if (view->line > 0)
        acq_table_add_text(out, separator, "line");
    if (view->is_check)
        acq_table_add_text(out, separator, "verdict");
    for (uint32_t v = 0; v < view->query->n_free && !view->is_check; v++)
        acq_table_add_text(out, separator, view->query->variables[v].text);
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        acq_table_add_text(out, separator, rest[i]);
    acq_text_add_char(out, '\n');
}

static acq_status print_table_row(const acq_view *view, size_t i, acq_arena *arena, acq_text *out)
{
    acq_support support;
    char separator = view->options->separator;
    const acq_answer *answer = &view->result->answers[i];
    if (acq_view_get_support(view, i, arena, &support) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (view->line > 0)
        acq_table_add_number(out, separator, (double)view->line);
    if (view->is_check)
        acq_table_add_text(out, separator, "yes");
    for (uint32_t v = 0; v < view->query->n_free && !view->is_check; v++)
        acq_table_add_text(out, separator, acq_view_get_value(view, i, v));
    acq_table_add_number(out, separator, answer->p);
    acq_table_add_number(out, separator, answer->score);
    acq_table_add_text(out, separator, support.is_observed ? "observed" : "predicted");
    acq_text_add_char(out, '\n');
    return ACQ_OK;
}

/* A check has one line whatever comes out. */
static void print_table_verdict(const acq_view *view, acq_text *out)
{
    char separator = view->options->separator;
    const acq_engine_result *result = view->result;
    double p = result->likeliest == NULL ? acq_view_get_unsupported_p(view) : result->likeliest->p;
    if (view->line > 0)
        acq_table_add_number(out, separator, (double)view->line);
    acq_table_add_text(out, separator, result->outcome == ACQ_NONE ? "no" : "undecided");
    acq_table_add_number(out, separator, p);
    acq_table_add_number(out, separator,
                         result->likeliest == NULL ? NAN : result->likeliest->score);
    acq_table_add_number(out, separator, NAN);
    acq_text_add_char(out, '\n');
}

void acq_view_print_table(const acq_view *view, acq_output *output)
{
    acq_arena arena;
    acq_arena_init(&arena);
    acq_arena_mark mark = acq_arena_get_mark(&arena);
    acq_status status = ACQ_OK;
    print_table_head(view, &output->data);
    for (size_t i = 0; status == ACQ_OK && i < view->result->n_answers; i++) {
        status = print_table_row(view, i, &arena, &output->data);
        acq_arena_reset(&arena, mark);
        acq_output_relieve(output);
    }
    if (view->is_check && view->result->outcome != ACQ_ANSWERED)
        print_table_verdict(view, &output->data);
    if (status != ACQ_OK)
        output->data.failed = true;
    print_notes(view, output);
    acq_arena_deinit(&arena);
}

static void print_outcome(const acq_view *view, acq_output *output)
{
    const acq_engine_result *result = view->result;
    if (result->outcome == ACQ_NONE && result->likeliest != NULL)
        print_unlikely(view, output);
    else if (result->outcome == ACQ_NONE)
        print_none(view, &output->data);
    else if (result->outcome == ACQ_UNDECIDED)
        print_undecided(view, &output->data);
    else
        print_answers(view, result->n_answers, output);
}

void acq_view_print(const acq_view *view, acq_output *output)
{
    print_outcome(view, output);
    print_notes(view, output);
}
