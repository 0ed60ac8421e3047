/* quality_table.c - the lines of bench/quality as Markdown tables and as one JSON document.
 *
 *   bench_quality_table OUT.json RESULTS.jsonl...
 *
 * F1 in percent: of a file the mean over the seeds, with their standard deviation, beside what
 * exact search reaches under the same reading of the atoms. The bars are the project's. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common.h"

typedef struct bar {
    const char *part, *graph, *file; /* "": any; file: a part of its name */
    double least;
} bar;

static const bar bars[] = {
    {"small", "", "", 99.8},
    {"written", "", "efo1", 99},
    {"written", "", "efo2", 98},
    {"written", "", "efo3", 97},
    {"ordered-pair", "FB15k-237", "efo1", 97.5},
    {"ordered-pair", "FB15k-237", "efo2", 95},
    {"ordered-pair", "FB15k-237", "efo3", 94},
    {"ordered-pair", "NELL", "efo1", 97},
    {"ordered-pair", "NELL", "efo2", 96},
    {"ordered-pair", "NELL", "efo3", 95},
    {"hub-pair", "", "", 98},
    {"hub-ordered-pair", "", "", 95},
};

enum { N_BARS = sizeof bars / sizeof bars[0] };

static bool matches(const char *wanted, const char *text)
{
    return wanted[0] == '\0' || strcmp(wanted, text) == 0;
}

static bool is(const json_t *line, const char *name, const char *text)
{
    return strcmp(bench_text(line, name), text) == 0;
}

/* ---- what several lines come to ---- */

typedef struct place {
    const char *graph, *part, *file;
} place;

typedef struct summary {
    double n, mean, deviation, ms; /* of the seeds */
} summary;

static bool is_at(const json_t *line, const place *at, const char *setting)
{
    return is(line, "kind", "quality") && is(line, "graph", at->graph) &&
           is(line, "part", at->part) && is(line, "file", at->file) && is(line, "setting", setting);
}

static summary sum_up(const json_t *lines, const place *at, const char *setting)
{
    double n = 0, sum = 0, squares = 0, ms = 0;
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        double f1 = bench_number(line, "f1");
        if (!is_at(line, at, setting))
            continue;
        n++;
        sum += f1;
        squares += f1 * f1;
        ms += bench_number(line, "ms_mean");
    }
    double mean = sum / n, variance = (squares - n * mean * mean) / (n - 1);
    return (summary){.n = n,
                     .mean = mean,
                     .deviation = n > 1 ? sqrt(fmax(variance, 0)) : (double)NAN,
                     .ms = ms / n};
}

/* ---- quality ---- */

static void print_bar(const place *at, double mean)
{
    for (size_t i = 0; i < N_BARS; i++)
        if (strcmp(bars[i].part, at->part) == 0 && matches(bars[i].graph, at->graph) &&
            strstr(at->file, bars[i].file) != NULL) {
            printf(" at least %g: %s |\n", bars[i].least, mean >= bars[i].least ? "met" : "missed");
            return;
        }
    printf(" - |\n");
}

static void print_mean(const summary *s)
{
    if (s->n == 0)
        printf(" - |");
    else if (isnan(s->deviation))
        printf(" %.2f |", s->mean);
    else
        printf(" %.2f ± %.2f |", s->mean, s->deviation);
}

static void print_place(const json_t *lines, const place *at)
{
    summary ours = sum_up(lines, at, "policy"), exact = sum_up(lines, at, "exact");
    const char *dot = strrchr(at->file, '.');
    printf("| %s | %.*s | %s |", at->graph,
           (int)(dot == NULL ? strlen(at->file) : (size_t)(dot - at->file)), at->file, at->part);
    print_mean(&ours);
    print_mean(&exact);
    printf(" %.0f | %.2f |", ours.n, ours.ms);
    print_bar(at, ours.mean);
}

/* Has an earlier line the same place? */
static bool is_known(const json_t *lines, size_t i, const place *at)
{
    for (size_t j = 0; j < i; j++)
        if (is_at(json_array_get(lines, j), at, "policy"))
            return true;
    return false;
}

static void print_quality(const json_t *lines)
{
    size_t i;
    json_t *line;
    printf("\n### F1 of the policy search with the perfect predictor, %%\n\n"
           "| graph | file | part | policy | exact | seeds | ms a decision | bar |\n"
           "|---|---|---|---|---|---|---|---|\n");
    json_array_foreach(lines, i, line)
    {
        place at = {bench_text(line, "graph"), bench_text(line, "part"), bench_text(line, "file")};
        bool is_file = strcmp(at.file, "total") != 0 || strcmp(at.part, "small") == 0;
        if (is_file && is_at(line, &at, "policy") && !is_known(lines, i, &at))
            print_place(lines, &at);
    }
}

/* ---- ablations ---- */

typedef struct row {
    const char *setting, *label;
} row;

static const row rows[] = {
    {"exact", "exact search"},
    {"policy", "the policy"},
    {"restart", "the policy, a restart every 40 steps"},
    {"pe-observed", "the policy, PE labels from observed facts"},
    {"wide", "published configuration, d = 128"},
    {"no-pe", "trained without PE labels"},
    {"untrained", "untrained weights"},
    {"random", "random assignments"},
};

static const place columns[] = {
    {"FB15k-237", "written", "qar_valid_3hub_efo1.json"},
    {"FB15k-237", "written", "qar_valid_3hub_efo2.json"},
    {"FB15k-237", "written", "qar_valid_3hub_efo3.json"},
    {"FB15k-237", "hub-pair", "qac_valid_3hub.json"},
    {"NELL", "written", "qar_valid_3hub_efo1.json"},
    {"NELL", "written", "qar_valid_3hub_efo2.json"},
    {"NELL", "written", "qar_valid_3hub_efo3.json"},
    {"NELL", "hub-pair", "qac_valid_3hub.json"},
};

enum { N_ROWS = sizeof rows / sizeof rows[0], N_COLUMNS = sizeof columns / sizeof columns[0] };

static bool has_setting(const json_t *lines, const char *setting)
{
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        if (is(line, "setting", setting))
            return true;
    }
    return false;
}

static void print_ablations(const json_t *lines)
{
    printf(
        "\n### What becomes of it, F1, %%\n\n| 200 steps | FB15k-237 QAR k=1 | k=2 | k=3 | QAC | "
        "NELL QAR k=1 | k=2 | k=3 | QAC |\n|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < N_ROWS; i++) {
        if (!has_setting(lines, rows[i].setting))
            continue;
        printf("| %s |", rows[i].label);
        for (size_t j = 0; j < N_COLUMNS; j++) {
            summary s = sum_up(lines, &columns[j], rows[i].setting);
            print_mean(&s);
        }
        printf("\n");
    }
}

static void print_machine(const json_t *lines)
{
    size_t i;
    json_t *line;
    json_array_foreach(lines, i, line)
    {
        if (is(line, "kind", "machine"))
            printf("%s, %s cores, load %s at the start, %s, commit %s.\n", bench_text(line, "cpu"),
                   bench_text(line, "cores"), bench_text(line, "load"), bench_text(line, "system"),
                   bench_text(line, "commit"));
        if (is(line, "kind", "note"))
            printf("%s\n", bench_text(line, "text"));
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        bench_die("bench_quality_table OUT.json RESULTS.jsonl...");
    json_t *lines = bench_load_files(argv + 2, argc - 2);
    print_machine(lines);
    print_quality(lines);
    if (has_setting(lines, "random"))
        print_ablations(lines);
    if (json_dump_file(lines, argv[1], JSON_INDENT(1) | JSON_REAL_PRECISION(9)) != 0)
        bench_die("cannot write %s", argv[1]);
    json_decref(lines);
    return 0;
}
