/* job.c - a job's result as a file:
 *
 *   {"identity": "9c1f...", "job": "NELL valid qac 2p policy nbfnet shipped", "how": "NBFNet, ...",
 *    "version": "0.2.0", "commit": "...", "first": 10, "seconds": 12.3,
 *    "rows": [{"at": 0, "sets": 500, "always_yes": 66.7, "row": {... as `anycq eval --json` ...}}]}
 *
 * "at" is the cell: 0 for classification; k - 1, or 3 for the total, for retrieval. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "reproduce/models.h"
#include "reproduce/render.h"

static const char *make_path(acq_repro_plan *plan, const acq_repro_job *job)
{
    char slug[256];
    bool is_changed = strlen(job->name) >= sizeof slug;
    size_t n = 0;
    for (const char *c = job->name; *c != '\0' && n + 1 < sizeof slug; c++, n++) {
        bool is_plain = isalnum((unsigned char)*c) || *c == '-' || *c == '.' || *c == '_';
        slug[n] = is_plain ? *c : *c == ' ' ? '_' : '-';
        is_changed |= !is_plain && *c != ' ';
    }
    slug[n] = '\0';
    uint64_t hash = acq_hash_bytes(job->name, strlen(job->name), 0);
    return is_changed ? acq_repro_print(plan, "%s/jobs/%.200s-%08x.json", plan->settings->output,
                                        slug, (unsigned)hash)
                      : acq_repro_print(plan, "%s/jobs/%s.json", plan->settings->output, slug);
}

/* ---- reading ---- */

static double get_number(const acq_json *object, const char *name)
{
    const acq_json *value = acq_json_get(object, name);
    if (value == NULL)
        return NAN;
    return value->kind == ACQ_JSON_REAL      ? value->real
           : value->kind == ACQ_JSON_INTEGER ? (double)value->integer
                                             : NAN;
}

static uint64_t get_count(const acq_json *object, const char *name)
{
    double number = get_number(object, name);
    return number >= 0 && number < 1e15 ? (uint64_t)number : 0;
}

static bool has_text(const acq_json *object, const char *name, const char *wanted)
{
    const acq_json *value = acq_json_get(object, name);
    return value != NULL && value->kind == ACQ_JSON_TEXT && strcmp(value->text, wanted) == 0;
}

static void fill_cell(const acq_json *part, uint64_t first, acq_repro_cell *cell)
{
    const acq_json *row = acq_json_get(part, "row");
    if (row == NULL || row->kind != ACQ_JSON_OBJECT)
        return;
    *cell = (acq_repro_cell){.is_there = true,
                             .f1 = get_number(row, "f1"),
                             .matched = get_number(row, "f1_matched"),
                             .wrong = get_number(row, "wrong_accepted"),
                             .always_yes = get_number(part, "always_yes"),
                             .recall_easy = get_number(row, "recall_easy"),
                             .recall_hard = get_number(row, "recall_hard"),
                             .ms = get_number(row, "ms_mean"),
                             .decisions = get_count(row, "instances"),
                             .correct = get_count(row, "correct"),
                             .right = get_count(row, "right"),
                             .easy = get_count(row, "easy"),
                             .undecided = get_count(row, "undecided"),
                             .sets = get_count(part, "sets"),
                             .first = first};
}

static acq_status take_result(acq_repro_plan *plan, acq_repro_job *job, const acq_json *result,
                              uint64_t identity, acq_error *error)
{
    char wanted[32];
    acq_format(wanted, sizeof wanted, "%016llx", (unsigned long long)identity);
    const acq_json *rows = acq_json_get(result, "rows"), *how = acq_json_get(result, "how");
    bool is_ours = has_text(result, "identity", wanted) && has_text(result, "job", job->name);
    if (!is_ours || rows == NULL || rows->kind != ACQ_JSON_ARRAY || how == NULL ||
        how->kind != ACQ_JSON_TEXT)
        return ACQ_OK;
    job->how = acq_repro_print(plan, "%s", how->text);
    if (job->how == NULL)
        return acq_fail_memory(error);
    for (const acq_json *part = rows->first; part != NULL; part = part->next) {
        uint64_t at = part->kind == ACQ_JSON_OBJECT ? get_count(part, "at") : ACQ_MOST_FREE + 1;
        if (at <= ACQ_MOST_FREE)
            fill_cell(part, get_count(result, "first"), &job->cells[at]);
    }
    job->is_done = true;
    return ACQ_OK;
}

acq_status acq_repro_job_read(acq_repro_plan *plan, acq_repro_job *job, uint64_t identity,
                              acq_error *error)
{
    const char *path = make_path(plan, job);
    char *bytes;
    size_t length;
    if (path == NULL)
        return acq_fail_memory(error);
    if (acq_file_read(path, &bytes, &length, NULL) != ACQ_OK)
        return ACQ_OK;
    acq_arena arena;
    const acq_json *result;
    acq_arena_init(&arena);
    acq_status status = acq_json_parse(bytes, length, &arena, &result, NULL);
    if (status == ACQ_OK && result->kind == ACQ_JSON_OBJECT)
        status = take_result(plan, job, result, identity, error);
    else if (status != ACQ_ERR_MEMORY)
        status = ACQ_OK;
    acq_arena_deinit(&arena);
    acq_free(bytes);
    return status;
}

/* ---- writing ---- */

static void add_member(acq_text *text, const char *name, const char *value)
{
    acq_text_format(text, "\"%s\": ", name);
    acq_text_add_json_mended(text, value);
    acq_text_add(text, ", ");
}

/* Which cell each row of the evaluation is for; -1: none. */
static int place_row(const acq_repro_job *job, size_t i, size_t n)
{
    if (job->is_qac)
        return i == 0 ? 0 : -1;
    size_t n_files = 0;
    int k_of_row = -1;
    for (int k = 0; k < ACQ_MOST_FREE; k++)
        if (job->subject->qar[job->part][k].hash != 0 && n_files++ == i)
            k_of_row = k;
    if (i + 1 < n)
        return k_of_row;
    return n_files == ACQ_MOST_FREE ? ACQ_MOST_FREE : -1; /* the total of all or none */
}

static void add_rows(acq_text *text, const acq_repro_job *job, const acq_evaluation *evaluation)
{
    size_t n = acq_evaluation_get_n(evaluation), n_added = 0;
    for (size_t i = 0; i < n; i++) {
        const acq_eval_row *row = acq_evaluation_get(evaluation, i);
        int at = place_row(job, i, n);
        if (at < 0)
            continue;
        acq_text_format(text, "%s\n  {\"at\": %d, \"sets\": %zu, ", n_added++ == 0 ? "" : ",", at,
                        row->n_sets);
        if (job->is_qac && !isnan(row->always_yes.f1))
            acq_text_format(text, "\"always_yes\": %.4f, ", row->always_yes.f1);
        const char *line = acq_evaluation_get_json(evaluation, i);
        size_t length = strlen(line);
        while (length > 0 && line[length - 1] == '\n')
            length--;
        acq_text_add(text, "\"row\": ");
        acq_text_add_bytes(text, line, length);
        acq_text_add_char(text, '}');
    }
}

acq_status acq_repro_job_write(acq_repro_plan *plan, acq_repro_job *job, uint64_t identity,
                               const acq_evaluation *evaluation, double seconds, acq_error *error)
{
    acq_text text;
    const char *path = make_path(plan, job);
    if (path == NULL)
        return acq_fail_memory(error);
    acq_text_init(&text);
    acq_text_format(&text, "{\"identity\": \"%016llx\", ", (unsigned long long)identity);
    add_member(&text, "job", job->name);
    add_member(&text, "how", job->how);
    add_member(&text, "version", acq_get_version());
    add_member(&text, "commit", plan->settings->commit);
    acq_text_format(&text, "\"first\": %llu, \"seconds\": %.3f,\n \"rows\": [",
                    (unsigned long long)job->first, seconds);
    add_rows(&text, job, evaluation);
    acq_text_add(&text, "]}\n");
    acq_status status = acq_text_finish(&text, error);
    if (status == ACQ_OK)
        status = acq_repro_write(path, "the result of a job", &text, error);
    acq_text_deinit(&text);
    return status == ACQ_OK ? acq_repro_job_read(plan, job, identity, error) : status;
}
