/* common.c - see common.h. */
#include "common.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/budget.h"
#include "base/memory.h"

void bench_die(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(1);
}

void bench_need(acq_status status, const acq_error *error)
{
    if (status != ACQ_OK)
        bench_die("%s%s%s (%s)", error->file, error->file[0] == '\0' ? "" : ": ", error->message,
                  acq_status_name(status));
}

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

double bench_median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2.0;
}

double bench_now_ms(void)
{
    return (double)acq_clock_ns() * 1e-6;
}

double bench_cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

json_t *bench_load_lines(const char *path)
{
    FILE *stream = fopen(path, "r");
    json_t *list = json_array(), *object;
    if (stream == NULL || list == NULL)
        bench_die("cannot read %s", path);
    while ((object = json_loadf(stream, JSON_DISABLE_EOF_CHECK, NULL)) != NULL)
        json_array_append_new(list, object);
    fclose(stream);
    return list;
}

json_t *bench_load_files(char *const *paths, int n)
{
    json_t *lines = json_array();
    for (int i = 0; i < n; i++) {
        json_t *more = bench_load_lines(paths[i]);
        json_array_extend(lines, more);
        json_decref(more);
    }
    return lines;
}

void bench_print_line(json_t *object)
{
    if (object == NULL || json_dumpf(object, stdout, JSON_REAL_PRECISION(9)) != 0)
        bench_die("cannot write a result");
    putchar('\n');
    fflush(stdout);
    json_decref(object);
}

const char *bench_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text == NULL ? "" : text;
}

double bench_number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

void bench_lines_init(bench_lines *lines, const char *path)
{
    acq_lines file;
    acq_error error = {0};
    size_t capacity = 0;
    *lines = (bench_lines){0};
    bench_need(acq_lines_init(&file, path, &error), &error);
    for (;;) {
        acq_line line = {0};
        bench_need(acq_lines_next(&file, true, &line, &error), &error);
        if (line.text == NULL)
            break;
        bench_need(ACQ_RESERVE(lines->items, capacity, lines->n + 1), &error);
        lines->items[lines->n++] = line;
    }
    acq_lines_deinit(&file);
}

void bench_lines_deinit(bench_lines *lines)
{
    for (size_t i = 0; i < lines->n; i++)
        acq_free(lines->items[i].text);
    acq_free(lines->items);
    *lines = (bench_lines){0};
}
