/* plan.c - see plan.h. */
#include "reproduce/plan.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/text.h"

/* At most; the time chooses how many there are. */
enum { QUICK_SMALL = 50, QUICK_HUB = 40, QUICK_QAR = 40 };

static const double PAPER_LIMIT = 60, QUICK_LIMIT = 10, QUICK_SHARE = 1.0 / 60;

static const char *const links_names[] = {"observed",    "perfect", "complex", "complex-qto",
                                          "complex-fit", "nbfnet",  "gnnqe",   "ultra",
                                          "ultraquery",  "fitted"};
static const char *const weights_names[] = {"", "shipped", "trained", "no-pe", "untrained"};

double acq_repro_get_limit(const acq_repro_settings *settings, const acq_repro_row *row)
{
    double limit = row->seconds > 0 ? row->seconds : PAPER_LIMIT;
    if (!settings->quick)
        return limit;
    double more = fmax(1, settings->seconds / ACQ_REPRO_QUICK_SECONDS);
    return strcmp(row->engine, "sql") == 0 ? limit * QUICK_SHARE : QUICK_LIMIT * more;
}

uint64_t acq_repro_get_first(const acq_repro_settings *settings, bool is_qac, bool is_hub)
{
    if (settings->first > 0 || !settings->quick)
        return settings->first;
    return !is_qac ? QUICK_QAR : is_hub ? QUICK_HUB : QUICK_SMALL;
}

/* ---- jobs ---- */

static bool is_same_kind(const acq_repro_row *a, const acq_repro_row *b)
{
    return strcmp(a->engine, b->engine) == 0 && a->links == b->links && a->weights == b->weights;
}

static acq_repro_job *find(const acq_repro_plan *plan, const acq_repro_job *wanted)
{
    for (acq_repro_job *job = plan->jobs; job != NULL; job = job->next)
        if (job->subject == wanted->subject && job->trained == wanted->trained &&
            job->part == wanted->part && job->is_qac == wanted->is_qac &&
            job->seconds == wanted->seconds && is_same_kind(job->row, wanted->row))
            return job;
    return NULL;
}

acq_repro_job *acq_repro_plan_find(const acq_repro_plan *plan, const acq_repro_subject *subject,
                                   const acq_repro_subject *trained, const acq_repro_row *row,
                                   acq_repro_part part, bool is_qac)
{
    acq_repro_job wanted = {.subject = subject,
                            .trained = trained,
                            .row = row,
                            .part = part,
                            .is_qac = is_qac,
                            .seconds = acq_repro_get_limit(plan->settings, row)};
    return find(plan, &wanted);
}

static const char *make_name(acq_repro_plan *plan, const acq_repro_job *job)
{
    char buffer[512];
    const acq_repro_row *row = job->row;
    const char *weights = weights_names[row->weights];
    int n = acq_format(buffer, sizeof buffer, "%s %s %s %s %s %s%s%s%s%s", job->subject->name,
                       job->subject->split, job->is_qac ? "qac" : "qar",
                       acq_repro_part_get_name(job->part), row->engine, links_names[row->links],
                       weights[0] == '\0' ? "" : " ", weights, job->trained == NULL ? "" : " ",
                       job->trained == NULL ? "" : job->trained->name);
    if (row->seconds > 0 && n > 0 && (size_t)n < sizeof buffer)
        acq_format(buffer + n, sizeof buffer - (size_t)n, " %g s", job->seconds);
    return acq_arena_copy_string(&plan->folder.arena, buffer, strlen(buffer));
}

static uint64_t hash_questions(const acq_repro_subject *subject, acq_repro_part part, bool is_qac)
{
    if (is_qac)
        return subject->qac[part].hash;
    uint64_t hash = 0;
    for (int k = 0; k < ACQ_MOST_FREE; k++)
        if (subject->qar[part][k].hash != 0)
            hash = acq_hash_word(hash + (uint64_t)k + 1, subject->qar[part][k].hash);
    return hash;
}

static acq_status add_job(acq_repro_plan *plan, const acq_repro_job *wanted, acq_error *error)
{
    if (find(plan, wanted) != NULL)
        return ACQ_OK;
    acq_repro_job *job = acq_arena_zalloc(&plan->folder.arena, 1, sizeof *job);
    if (job == NULL)
        return acq_fail_memory(error);
    *job = *wanted;
    job->name = make_name(plan, job);
    if (job->name == NULL)
        return acq_fail_memory(error);
    acq_repro_job **end = &plan->jobs;
    while (*end != NULL)
        end = &(*end)->next;
    *end = job;
    plan->n_jobs++;
    return ACQ_OK;
}

/* What is missing for a row, in the words of the outputs; NULL: nothing. */
static const char *find_lack(const acq_repro_plan *plan, const acq_repro_row *row,
                             const acq_repro_subject *subject)
{
    if (row->links == ACQ_REPRO_PERFECT && !subject->has_complete)
        return "the folder lacks the complete graph";
    if (row->links == ACQ_REPRO_GNNQE && !plan->has_gnnqe)
        return "this library has no such engine";
    return NULL;
}

static acq_status add_parts(acq_repro_plan *plan, const acq_repro_row *row,
                            acq_repro_columns columns, const acq_repro_subject *subject,
                            const acq_repro_subject *trained, acq_error *error)
{
    bool is_qac = columns == ACQ_COLUMNS_QAC;
    acq_status status = ACQ_OK;
    for (int p = is_qac ? 0 : ACQ_PART_3hub; p < ACQ_N_PARTS && status == ACQ_OK; p++) {
        uint64_t files = hash_questions(subject, (acq_repro_part)p, is_qac);
        if (files == 0 || (row->small_only && acq_repro_part_is_hub((acq_repro_part)p)))
            continue;
        acq_repro_job job = {.subject = subject,
                             .trained = trained,
                             .row = row,
                             .part = (acq_repro_part)p,
                             .is_qac = is_qac,
                             .seconds = acq_repro_get_limit(plan->settings, row),
                             .files = files};
        status = add_job(plan, &job, error);
    }
    return status;
}

static acq_status add_row(acq_repro_plan *plan, const acq_repro_table *table,
                          const acq_repro_row *row, const acq_repro_subject *subject,
                          acq_error *error)
{
    const char *lack = find_lack(plan, row, subject);
    if (lack != NULL)
        return acq_repro_leave_out(&plan->folder, error, lack, "%s, %s: %s", subject->name,
                                   subject->split, row->label);
    if (row->weights != ACQ_WEIGHTS_EACH)
        return add_parts(plan, row, table->columns, subject, NULL, error);
    acq_status status = ACQ_OK;
    for (const acq_repro_subject *t = plan->folder.subjects; t != NULL && status == ACQ_OK;
         t = t->next)
        if (strcmp(t->split, subject->split) == 0)
            status = add_parts(plan, row, table->columns, subject, t, error);
    return status;
}

/* What each data set lacks of the paper's columns. */
static acq_status list_lacks(acq_repro_plan *plan, const acq_repro_subject *subject,
                             acq_error *error)
{
    acq_status status = ACQ_OK;
    for (int p = 0; p < ACQ_N_PARTS && status == ACQ_OK; p++) {
        const char *part = acq_repro_part_get_name((acq_repro_part)p);
        if (subject->qac[p].hash == 0)
            status = acq_repro_leave_out(&plan->folder, error, "no such file",
                                         "%s, %s: classification, %s", subject->name,
                                         subject->split, part);
        for (int k = 0; k < ACQ_MOST_FREE && p >= ACQ_PART_3hub && status == ACQ_OK; k++)
            if (subject->qar[p][k].hash == 0)
                status = acq_repro_leave_out(&plan->folder, error, "no such file",
                                             "%s, %s: retrieval, %s, k=%d", subject->name,
                                             subject->split, part, k + 1);
    }
    return status;
}

/* ---- which tables ---- */

/* Is the id one of the names in the list? */
static bool is_listed(const char *list, const char *id)
{
    size_t length = strlen(id);
    while (*list != '\0') {
        size_t n = strcspn(list, ",");
        if (n == length && strncmp(list, id, n) == 0)
            return true;
        list += list[n] == ',' ? n + 1 : n;
    }
    return false;
}

bool acq_repro_plan_has_table(const acq_repro_plan *plan, const acq_repro_table *table)
{
    const char *list = plan->settings->tables;
    return list == NULL || is_listed(list, table->id);
}

bool acq_repro_plan_has_steps(const acq_repro_plan *plan)
{
    const char *list = plan->settings->tables;
    return list == NULL || is_listed(list, "steps");
}

/* Every name in the list must be a table's. */
static acq_status check_tables(const char *list, acq_error *error)
{
    acq_text known;
    acq_text_init(&known);
    const acq_repro_table *table;
    acq_status status = ACQ_OK;
    for (size_t t = 0; (table = acq_repro_get_table(t)) != NULL; t++)
        acq_text_format(&known, "%s ", table->id);
    while (status == ACQ_OK && list != NULL && *list != '\0') {
        size_t n = strcspn(list, ",");
        bool is_known = n == 5 && strncmp(list, "steps", n) == 0;
        for (size_t t = 0; (table = acq_repro_get_table(t)) != NULL; t++)
            is_known |= strlen(table->id) == n && strncmp(list, table->id, n) == 0;
        if (!is_known)
            status = acq_fail(error, ACQ_ERR_USAGE, "no table \"%.*s\"; there are %ssteps",
                              n > 40 ? 40 : (int)n, list, known.failed ? "" : known.bytes);
        list += list[n] == ',' ? n + 1 : n;
    }
    acq_text_deinit(&known);
    return status;
}

static acq_status add_table(acq_repro_plan *plan, const acq_repro_table *table,
                            const acq_repro_subject *subject, acq_error *error)
{
    acq_status status = ACQ_OK;
    if (!acq_repro_plan_has_table(plan, table))
        return ACQ_OK;
    for (const acq_repro_row *row = table->rows;
         row < table->rows + ACQ_MOST_ROWS && row->label != NULL && status == ACQ_OK; row++)
        status = add_row(plan, table, row, subject, error);
    return status;
}

static acq_status add_all(acq_repro_plan *plan, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (const acq_repro_subject *s = plan->folder.subjects; s != NULL; s = s->next) {
        const acq_repro_table *table;
        for (size_t t = 0; (table = acq_repro_get_table(t)) != NULL && status == ACQ_OK; t++)
            status = add_table(plan, table, s, error);
        if (status == ACQ_OK)
            status = list_lacks(plan, s, error);
        if (status != ACQ_OK)
            return status;
    }
    return ACQ_OK;
}

acq_status acq_repro_plan_init(acq_repro_plan *plan, const acq_repro_settings *settings,
                               acq_error *error)
{
    *plan = (acq_repro_plan){.settings = settings};
    const char *engine;
    for (size_t i = 0; (engine = acq_get_engine(i)) != NULL; i++)
        plan->has_gnnqe |= strcmp(engine, "gnnqe") == 0;
    acq_status status = check_tables(settings->tables, error);
    if (status == ACQ_OK)
        status = acq_repro_folder_init(&plan->folder, settings->folder, error);
    return status == ACQ_OK ? add_all(plan, error) : status;
}

void acq_repro_plan_deinit(acq_repro_plan *plan)
{
    acq_repro_folder_deinit(&plan->folder);
    *plan = (acq_repro_plan){0};
}

acq_status acq_repro_plan_add_input(acq_repro_plan *plan, const char *kind, const char *name,
                                    uint64_t hash, acq_error *error)
{
    acq_repro_input **end = &plan->inputs;
    for (; *end != NULL; end = &(*end)->next)
        if ((*end)->hash == hash && strcmp((*end)->name, name) == 0)
            return ACQ_OK;
    acq_repro_input *input = acq_arena_zalloc(&plan->folder.arena, 1, sizeof *input);
    if (input == NULL)
        return acq_fail_memory(error);
    input->kind = kind;
    input->hash = hash;
    input->name = acq_arena_copy_string(&plan->folder.arena, name, strlen(name));
    if (input->name == NULL)
        return acq_fail_memory(error);
    *end = input;
    return ACQ_OK;
}

/* ---- numbers ---- */

/* F1 of a recall when nothing wrong is said. */
static double raise_recall(double percent)
{
    return 200 * percent / (100 + percent);
}

static double measure_files(const acq_repro_cell *cell, acq_repro_measure measure)
{
    double all = (double)cell->decisions / 100, correct = (double)cell->correct;
    switch (measure) {
    case ACQ_MEASURE_QUERIES:
        return (double)cell->sets;
    case ACQ_MEASURE_CANDIDATES:
        return (double)cell->decisions;
    case ACQ_MEASURE_EASY_SHARE:
        return (double)cell->right / all;
    case ACQ_MEASURE_HARD_SHARE:
        return (correct - (double)cell->right) / all;
    case ACQ_MEASURE_WRONG_SHARE:
        return ((double)cell->decisions - correct) / all;
    default:
        return (double)cell->easy;
    }
}

double acq_repro_cell_measure(const acq_repro_cell *cell, acq_repro_measure measure)
{
    if (cell == NULL || !cell->is_there)
        return NAN;
    switch (measure) {
    case ACQ_MEASURE_MATCHED:
        return cell->matched;
    case ACQ_MEASURE_WRONG:
        return cell->wrong;
    case ACQ_MEASURE_RECALL_EASY:
        return cell->recall_easy;
    case ACQ_MEASURE_F1_EASY:
        return raise_recall(cell->recall_easy);
    case ACQ_MEASURE_F1_HARD:
        return raise_recall(cell->recall_hard);
    case ACQ_MEASURE_ALWAYS_YES:
        return cell->always_yes;
    case ACQ_MEASURE_F1:
        return cell->f1;
    default:
        return measure_files(cell, measure);
    }
}

bool acq_repro_job_is_cut(const acq_repro_job *job)
{
    uint64_t decisions = 0, undecided = 0;
    for (size_t i = 0; i <= ACQ_MOST_FREE; i++) {
        decisions += job->cells[i].decisions;
        undecided += job->cells[i].undecided;
    }
    return job->row->links != ACQ_REPRO_OBSERVED && 2 * undecided > decisions;
}

const acq_repro_cell *acq_repro_plan_get_cell(const acq_repro_plan *plan,
                                              const acq_repro_table *table,
                                              const acq_repro_row *row,
                                              const acq_repro_subject *subject,
                                              const acq_repro_subject *trained, size_t column)
{
    bool is_qac = table->columns == ACQ_COLUMNS_QAC;
    size_t per_part = table->columns == ACQ_COLUMNS_QAR ? ACQ_MOST_FREE + 1 : 1;
    size_t part = (is_qac ? 0 : ACQ_PART_3hub) + column / per_part;
    size_t cell = is_qac ? 0 : per_part == 1 ? ACQ_MOST_FREE : column % per_part;
    const acq_repro_job *job =
        acq_repro_plan_find(plan, subject, trained, row, (acq_repro_part)part, is_qac);
    bool is_there = job != NULL && job->is_done && job->cells[cell].is_there;
    return is_there && !acq_repro_job_is_cut(job) ? &job->cells[cell] : NULL;
}
