/* lines.c - a table's rows for one data set, published and ours, see render.h. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "reproduce/models.h"
#include "reproduce/render.h"

enum { FEW = 8 }; /* questions that a number should be of; said in a sentence below */

const char *acq_repro_get_split(const acq_repro_subject *subject)
{
    return strcmp(subject->split, "test") == 0 ? "test" : "validation";
}

/* Has the folder questions for the column? */
static bool has_questions(const acq_repro_subject *subject, acq_repro_columns columns, size_t c)
{
    if (columns == ACQ_COLUMNS_QAC)
        return subject->qac[c].hash != 0;
    size_t per_part = columns == ACQ_COLUMNS_QAR ? ACQ_MOST_FREE + 1 : 1;
    const acq_repro_file *files = subject->qar[ACQ_PART_3hub + c / per_part];
    if (per_part > 1 && c % per_part < ACQ_MOST_FREE)
        return files[c % per_part].hash != 0;
    bool has_any = false;
    for (int k = 0; k < ACQ_MOST_FREE; k++)
        has_any |= files[k].hash != 0;
    return has_any;
}

typedef struct maker {
    acq_repro_lines *lines;
    acq_repro_plan *plan;
    const acq_repro_table *table;
    const acq_repro_subject *subject;
} maker;

static acq_repro_line *add(const maker *m, acq_error *error)
{
    acq_repro_lines *lines = m->lines;
    if (ACQ_RESERVE(lines->items, lines->capacity, lines->n + 1) != ACQ_OK) {
        acq_fail_memory(error);
        return NULL;
    }
    acq_repro_line *line = &lines->items[lines->n++];
    *line = (acq_repro_line){.how = ""};
    for (size_t c = 0; c < ACQ_MOST_COLUMNS; c++)
        line->values[c] = NAN;
    return line;
}

static acq_status add_published(const maker *m, const char *label, const double *numbers,
                                bool is_count, acq_error *error)
{
    acq_repro_line *line = add(m, error);
    if (line == NULL)
        return ACQ_ERR_MEMORY;
    line->label = label;
    line->whose = "published, test";
    line->is_published = true;
    line->is_count = is_count;
    for (size_t i = 0; i < m->lines->n_shown; i++) {
        size_t c = m->lines->shown[i];
        if (numbers[c] < 0)
            continue;
        line->values[c] = numbers[c];
        line->n++;
    }
    return ACQ_OK;
}

static const char *tell_whose(const maker *m, const acq_repro_row *row)
{
    const acq_repro_settings *settings = m->plan->settings;
    const char *split = acq_repro_get_split(m->subject);
    if (settings->quick && (row->seconds > 0 || strcmp(row->engine, "sql") == 0))
        return acq_repro_print(m->plan, "ours, %s, %g s", split,
                               acq_repro_get_limit(settings, row));
    return acq_repro_print(m->plan, "ours, %s", split);
}

/* Did the time end before there were enough questions to say something? */
static bool is_few(const maker *m, const acq_repro_cell *cell, size_t c)
{
    const acq_repro_settings *settings = m->plan->settings;
    bool is_qac = m->table->columns == ACQ_COLUMNS_QAC;
    uint64_t most = acq_repro_get_first(settings, is_qac, !is_qac || c >= ACQ_PART_3hub);
    return settings->quick && cell->first < (most < FEW ? most : FEW);
}

static void fill_cells(const maker *m, const acq_repro_row *row, const acq_repro_subject *trained,
                       acq_repro_line *line)
{
    for (size_t c = 0; c < acq_repro_get_n_columns(m->table->columns); c++) {
        line->cells[c] = acq_repro_plan_get_cell(m->plan, m->table, row, m->subject, trained, c);
        line->values[c] = acq_repro_cell_measure(line->cells[c], row->measure);
        line->n += !isnan(line->values[c]);
        bool is_share = !line->is_count && line->cells[c] != NULL && !isnan(line->values[c]);
        line->is_few[c] = is_share && is_few(m, line->cells[c], c);
        m->lines->has_few |= line->is_few[c];
        m->lines->has_undecided |= is_share && line->cells[c]->undecided > 0;
    }
    m->lines->n_numbers += line->n;
}

/* What the links were, from any of the row's jobs. */
static const char *find_how(const maker *m, const acq_repro_row *row,
                            const acq_repro_subject *trained)
{
    bool is_qac = m->table->columns == ACQ_COLUMNS_QAC;
    for (int p = 0; p < ACQ_N_PARTS; p++) {
        const acq_repro_job *job =
            acq_repro_plan_find(m->plan, m->subject, trained, row, (acq_repro_part)p, is_qac);
        if (job != NULL && job->is_done)
            return job->how;
    }
    return "";
}

/* Where the time chose how many instances each number is of, the row says so. */
static const char *add_sample(const maker *m, const acq_repro_line *line, const char *how)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t c = 0; c < ACQ_MOST_COLUMNS; c++)
        if (line->cells[c] != NULL) {
            uint64_t first = line->cells[c]->first;
            least = first < least ? first : least;
            most = first > most ? first : most;
        }
    if (!m->plan->settings->quick || most == 0 || how == NULL)
        return how;
    if (least == most)
        return acq_repro_print(m->plan, "%s; first %llu of each file", how,
                               (unsigned long long)most);
    return acq_repro_print(m->plan, "%s; first %llu to %llu of each file", how,
                           (unsigned long long)least, (unsigned long long)most);
}

static acq_status add_ours(const maker *m, const acq_repro_row *row,
                           const acq_repro_subject *trained, const char *label, acq_error *error)
{
    acq_repro_line *line = add(m, error);
    if (line == NULL)
        return ACQ_ERR_MEMORY;
    line->label = label;
    line->whose = tell_whose(m, row);
    line->is_count = acq_repro_measure_is_count(row->measure);
    fill_cells(m, row, trained, line);
    const char *how = find_how(m, row, trained);
    bool says_all = row->links == ACQ_REPRO_OBSERVED || row->links == ACQ_REPRO_PERFECT;
    if (row->ours == NULL || how[0] == '\0')
        line->how = how;
    else
        line->how = says_all ? row->ours : acq_repro_print(m->plan, "%s: %s", row->ours, how);
    if (line->how != NULL && line->how[0] != '\0')
        line->how = add_sample(m, line, line->how);
    return line->whose == NULL || line->how == NULL || label == NULL ? acq_fail_memory(error)
                                                                     : ACQ_OK;
}

static acq_status add_pair(const maker *m, const acq_repro_row *row, const double *published,
                           const acq_repro_subject *trained, const char *label, acq_error *error)
{
    acq_status status = ACQ_OK;
    if (label == NULL)
        return acq_fail_memory(error);
    if (published != NULL)
        status =
            add_published(m, label, published, acq_repro_measure_is_count(row->measure), error);
    return status == ACQ_OK ? add_ours(m, row, trained, label, error) : status;
}

/* A line for every data set that the weights were trained on. */
static acq_status add_each(const maker *m, const acq_repro_row *row, acq_error *error)
{
    int paper = m->subject->paper;
    acq_status status = ACQ_OK;
    for (const acq_repro_subject *t = m->plan->folder.subjects; t != NULL && status == ACQ_OK;
         t = t->next) {
        if (strcmp(t->split, m->subject->split) != 0)
            continue;
        const double *published =
            paper >= 0 && t->paper >= 0 ? row->transfer[paper][t->paper] : NULL;
        status = add_pair(m, row, published, t,
                          acq_repro_print(m->plan, "%s %s", row->label, t->name), error);
    }
    return status;
}

acq_status acq_repro_lines_init(acq_repro_lines *lines, acq_repro_plan *plan,
                                const acq_repro_table *table, const acq_repro_subject *subject,
                                acq_error *error)
{
    maker m = {.lines = lines, .plan = plan, .table = table, .subject = subject};
    acq_status status = ACQ_OK;
    *lines = (acq_repro_lines){0};
    for (size_t c = 0; c < acq_repro_get_n_columns(table->columns); c++)
        if (has_questions(subject, table->columns, c))
            lines->shown[lines->n_shown++] = c;
    for (const acq_repro_row *row = table->rows;
         row < table->rows + ACQ_MOST_ROWS && row->label != NULL && status == ACQ_OK; row++) {
        const double *published = subject->paper >= 0 ? row->published[subject->paper] : NULL;
        status = row->weights == ACQ_WEIGHTS_EACH
                     ? add_each(&m, row, error)
                     : add_pair(&m, row, published, NULL, row->label, error);
    }
    return status;
}

void acq_repro_lines_deinit(acq_repro_lines *lines)
{
    acq_free(lines->items);
    *lines = (acq_repro_lines){0};
}

size_t acq_repro_find_how(const acq_repro_lines *lines, size_t i, size_t of)
{
    for (; i < lines->n; i++) {
        const acq_repro_line *line = &lines->items[i];
        bool says = !line->is_published && line->n > 0 && line->how[0] != '\0';
        if (says && strcmp(line->how, lines->items[of].how) == 0)
            return i;
    }
    return lines->n;
}

void acq_repro_add_value(acq_text *out, const acq_repro_line *line, size_t column)
{
    acq_text_add(out, line->is_few[column] ? "(" : "");
    if (isnan(line->values[column]))
        acq_text_add(out, "-");
    else
        acq_text_format(out, line->is_count ? "%.0f" : "%.1f", line->values[column]);
    acq_text_add(out, line->is_few[column] ? ")" : "");
    bool has_number = line->cells[column] != NULL && !isnan(line->values[column]);
    if (!line->is_count && has_number && line->cells[column]->undecided > 0)
        acq_text_add(out, "†");
}

void acq_repro_list_marks(const acq_repro_lines *lines, const char *out[3])
{
    size_t n = 0;
    if (lines->has_undecided)
        out[n++] = "†: some decisions were not reached within the limits; they count as no, or as "
                   "no answer.";
    if (lines->has_few)
        out[n++] = "( ): of fewer than 8 candidate sets, or queries of each file: too few to "
                   "compare.";
    out[n] = NULL;
}

void acq_repro_add_about(acq_text *out, const acq_repro_table *table)
{
    for (size_t i = 0; i < 3 && table->about[i] != NULL; i++)
        acq_text_format(out, "%s%s", i == 0 ? "" : " ", table->about[i]);
}

static void add_sentences(acq_text *out, const char *const *sentences, size_t n)
{
    for (size_t i = 0; i < n; i++)
        acq_text_format(out, "%s ", sentences[i]);
}

void acq_repro_add_sample(acq_text *out, const acq_repro_plan *plan)
{
    const acq_repro_settings *settings = plan->settings;
    if (settings->first == 0 && !settings->quick)
        return;
    acq_text_format(out,
                    "Our rows are a sample: %s first %llu candidate sets of each file of "
                    "small queries, ",
                    settings->quick ? "at most the" : "the",
                    (unsigned long long)acq_repro_get_first(settings, true, false));
    acq_text_format(out, "%llu of hub queries, %llu retrieval queries of each file. ",
                    (unsigned long long)acq_repro_get_first(settings, true, true),
                    (unsigned long long)acq_repro_get_first(settings, false, true));
    if (settings->quick)
        acq_text_add(out, "Where a question takes long there are fewer; each row says how many. ");
}

void acq_repro_add_preface(acq_text *out, const acq_repro_plan *plan)
{
    static const char *const always[] = {"Numbers are percentages."};
    static const char *const of_valid[] = {
        "Rows named \"ours, validation\" are measured on validation files: train is observed, "
        "valid "
        "judges.",
        "The published rows are of the test files, which are other questions on a larger graph.",
        "Both stand side by side, but they are not the same measurement.",
    };
    bool has_valid = false;
    for (const acq_repro_subject *s = plan->folder.subjects; s != NULL; s = s->next)
        has_valid |= strcmp(s->split, "test") != 0;
    add_sentences(out, always, 1);
    if (has_valid)
        add_sentences(out, of_valid, sizeof of_valid / sizeof *of_valid);
    acq_repro_add_sample(out, plan);
}
