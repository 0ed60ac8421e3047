/* print.c - the table is 80 columns wide:
 *
 *   file                    sets     f1 matched  wrong    auc   seen unseen undec     ms
 *
 * JSON strings are escaped by hand: file names may hold any byte, and what is not UTF-8 becomes
 * U+FFFD, so that a line is always valid JSON. */
#include "eval/eval.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct type_name {
    const char *number, *name;
} type_name;

static const type_name type_names[] = {
    {"type0001", "2p"}, {"type0002", "3p"},  {"type0005", "ip"},
    {"type0006", "pi"}, {"type0009", "inp"}, {"type0010", "pin"},
};

/* "2p" for type0001 and so on; NULL when the name holds no known type. */
static const char *find_type(const char *file)
{
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
        if (strstr(file, type_names[i].number) != NULL)
            return type_names[i].name;
    return NULL;
}

/* File name without .json, with the type's name; of what is too long only the end. */
static void add_label(acq_text *text, const char *file)
{
    enum { WIDTH = 22 };
    char label[512];
    const char *type = find_type(file);
    size_t length = strlen(file);
    if (length > 5 && strcmp(file + length - 5, ".json") == 0)
        length -= 5;
    if (length > 400) {
        file += length - 400;
        length = 400;
    }
    snprintf(label, sizeof label, "%.*s%s%s", (int)length, file, type == NULL ? "" : " ",
             type == NULL ? "" : type);
    length = strlen(label);
    for (size_t i = 0; i < length; i++) /* one column a byte, nothing for a terminal to obey */
        if (label[i] < 0x20 || label[i] > 0x7e)
            label[i] = '?';
    acq_text_format(text, "%-*s", WIDTH, length > WIDTH ? label + length - WIDTH : label);
}

static void add_share(acq_text *text, int width, double value)
{
    if (isnan(value))
        acq_text_format(text, "%*s", width, "-");
    else
        acq_text_format(text, "%*.1f", width, value);
}

static void add_ms(acq_text *text, int width, double value)
{
    if (isnan(value))
        acq_text_format(text, "%*s", width, "-");
    else
        acq_text_format(text, "%*.*f", width, value < 100.0 ? 3 : 0, value);
}

static void add_qac_metrics(acq_text *text, const acq_qac_metrics *m, double auc)
{
    add_share(text, 6, m->f1);
    add_share(text, 8, m->f1_matched);
    add_share(text, 6, m->wrong_accepted);
    add_share(text, 6, auc);
    add_share(text, 6, m->recall_seen);
    add_share(text, 7, m->recall_unseen);
}

static void add_qac_row(acq_text *text, const acq_eval_row *row)
{
    add_label(text, row->file);
    acq_text_format(text, "%6zu", row->n_sets);
    add_qac_metrics(text, &row->qac, row->auc_matched);
    acq_text_format(text, "%6zu", row->n_undecided);
    add_ms(text, 7, row->ms.mean);
    acq_text_format(text, "\n%-28s", "  always yes");
    add_qac_metrics(text, &row->always_yes, NAN);
    acq_text_add(text, "\n");
}

static void add_qar_row(acq_text *text, const acq_eval_row *row)
{
    const acq_qar_metrics *m = &row->qar;
    add_label(text, row->file);
    acq_text_format(text, "%6zu", row->n_sets);
    add_share(text, 6, m->f1);
    add_share(text, 6, m->precision);
    add_share(text, 6, m->recall);
    add_share(text, 6, m->recall_easy);
    add_share(text, 6, m->recall_hard);
    add_share(text, 6, m->f1_paper);
    add_share(text, 6, m->f1_verified);
    acq_text_format(text, "%4zu", row->n_undecided);
    add_ms(text, 6, row->ms.mean);
    acq_text_add(text, "\n");
}

void acq_eval_print_table(acq_text *text, const acq_eval_row *rows, size_t n)
{
    bool is_qac = rows[0].task == ACQ_TASK_QAC;
    if (is_qac)
        acq_text_format(text, "%-22s%6s%6s%8s%6s%6s%6s%7s%6s%7s\n", "file", "sets", "f1", "matched",
                        "wrong", "auc", "seen", "unseen", "undec", "ms");
    else
        acq_text_format(text, "%-22s%6s%6s%6s%6s%6s%6s%6s%6s%4s%6s\n", "file", "query", "f1",
                        "prec", "rec", "easy", "hard", "paper", "verif", "und", "ms");
    for (size_t i = 0; i < n; i++) {
        if (is_qac)
            add_qac_row(text, &rows[i]);
        else
            add_qar_row(text, &rows[i]);
    }
    const acq_times *ms = &rows[n - 1].ms;
    acq_text_format(text, "ms a decision, all files: mean %.3f, p50 %.3f, p99 %.3f, max %.3f\n",
                    ms->mean, ms->p50, ms->p99, ms->max);
    if (!isnan(rows[n - 1].min_p))
        acq_text_format(text, "decided by probability: at least %.4g, --prior %.4g\n",
                        rows[n - 1].min_p, rows[n - 1].prior);
    if (rows[n - 1].weights != NULL)
        acq_text_format(text, "classes of values at the last step: mean %.1f; GFLOP: mean %.4f\n",
                        rows[n - 1].classes_mean, rows[n - 1].gflop);
}

static void add_text_field(acq_text *text, const char *name, const char *value)
{
    acq_text_format(text, "\"%s\": ", name);
    acq_text_add_json_mended(text, value);
    acq_text_add(text, ", ");
}

static void add_number(acq_text *text, const char *name, double value, int digits)
{
    if (isnan(value))
        acq_text_format(text, ", \"%s\": null", name);
    else
        acq_text_format(text, ", \"%s\": %.*f", name, digits, value);
}

static void add_qac_fields(acq_text *text, const acq_eval_row *row)
{
    add_number(text, "f1", row->qac.f1, 4);
    add_number(text, "f1_matched", row->qac.f1_matched, 4);
    add_number(text, "wrong_accepted", row->qac.wrong_accepted, 4);
    add_number(text, "auc_matched", row->auc_matched, 4);
    add_number(text, "recall_seen", row->qac.recall_seen, 4);
    add_number(text, "recall_unseen", row->qac.recall_unseen, 4);
}

static void add_qar_fields(acq_text *text, const acq_eval_row *row)
{
    add_number(text, "f1", row->qar.f1, 4);
    add_number(text, "precision", row->qar.precision, 4);
    add_number(text, "recall", row->qar.recall, 4);
    add_number(text, "recall_easy", row->qar.recall_easy, 4);
    add_number(text, "recall_hard", row->qar.recall_hard, 4);
    add_number(text, "f1_paper", row->qar.f1_paper, 4);
    add_number(text, "f1_verified", row->qar.f1_verified, 4);
}

void acq_eval_print_json(acq_text *text, const acq_eval_row *row)
{
    acq_text_add_char(text, '{');
    add_text_field(text, "task", acq_bench_task_get_name(row->task));
    add_text_field(text, "file", row->file);
    add_text_field(text, "engine", row->engine);
    add_text_field(text, "predictor", row->predictor);
    acq_text_add(text, "\"atoms\": ");
    acq_text_add_json_mended(text, row->atoms);
    add_number(text, "prior", row->prior, 4);
    if (!isnan(row->min_p))
        add_number(text, "min_p", row->min_p, 4);
    acq_text_format(text, ", \"queries\": %zu, \"instances\": %zu", row->n_queries,
                    row->n_decisions);
    if (row->task == ACQ_TASK_QAC)
        add_qac_fields(text, row);
    else
        add_qar_fields(text, row);
    acq_text_format(text, ", \"correct\": %zu, \"right\": %zu", row->n_correct, row->n_right);
    if (row->task == ACQ_TASK_QAR)
        acq_text_format(text, ", \"easy\": %zu", row->n_easy);
    acq_text_format(text, ", \"undecided\": %zu", row->n_undecided);
    add_number(text, "ms_mean", row->ms.mean, 6);
    add_number(text, "ms_p50", row->ms.p50, 6);
    add_number(text, "ms_p99", row->ms.p99, 6);
    add_number(text, "ms_max", row->ms.max, 6);
    if (row->weights != NULL) {
        acq_text_add(text, ", \"weights\": ");
        acq_text_add_json_mended(text, row->weights);
        add_number(text, "classes_mean", row->classes_mean, 2);
        add_number(text, "gflop", row->gflop, 6);
    }
    acq_text_add(text, "}\n");
}
