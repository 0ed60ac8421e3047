/* curve.c - the points of a training and their CSV file; see curve.h.
 *
 * One table says what the columns are, for writing and for reading. Numbers keep nine digits, so
 * a curve that is read and written again is the same file. */
#include "train/curve.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/new_file.h"
#include "base/text.h"
#include "base/file.h"

typedef struct csv_column {
    const char *name;
    size_t place; /* in acq_curve_point */
    bool is_counter;
} csv_column;

#define FIELD(name) #name, offsetof(acq_curve_point, name)

static const csv_column columns[] = {
    {FIELD(seed), true},     {FIELD(batch), true},       {FIELD(episodes), true},
    {FIELD(seconds), false}, {FIELD(solved), false},     {FIELD(reward), false},
    {FIELD(steps), false},   {FIELD(loss), false},       {FIELD(norm), false},
    {FIELD(rate), false},    {FIELD(hub_solved), false}, {FIELD(held_solved), false}};

enum { N_COLUMNS = sizeof columns / sizeof columns[0] };

void acq_curve_deinit(acq_curve *curve)
{
    acq_free(curve->points);
    *curve = (acq_curve){0};
}

acq_status acq_curve_add(acq_curve *curve, const acq_curve_point *point)
{
    acq_status status = ACQ_RESERVE(curve->points, curve->capacity, curve->n + 1);
    if (status == ACQ_OK)
        curve->points[curve->n++] = *point;
    return status;
}

static void add_field(acq_text *text, const acq_curve_point *point, const csv_column *column)
{
    const char *field = (const char *)point + column->place;
    uint64_t counter;
    double number;
    if (column->is_counter) {
        memcpy(&counter, field, sizeof counter);
        acq_text_format(text, "%llu", (unsigned long long)counter);
        return;
    }
    memcpy(&number, field, sizeof number);
    if (!isnan(number))
        acq_text_format(text, "%.9g", number);
}

static void add_header(acq_text *text)
{
    for (size_t i = 0; i < N_COLUMNS; i++)
        acq_text_format(text, "%s%c", columns[i].name, i + 1 < N_COLUMNS ? ',' : '\n');
}

acq_status acq_curve_write_csv(const acq_curve *curve, const char *path, acq_error *error)
{
    acq_text text;
    acq_text_init(&text);
    add_header(&text);
    for (size_t i = 0; i < curve->n; i++) {
        for (size_t j = 0; j < N_COLUMNS; j++) {
            add_field(&text, &curve->points[i], &columns[j]);
            acq_text_add_char(&text, j + 1 < N_COLUMNS ? ',' : '\n');
        }
    }
    acq_status status = acq_text_finish(&text, error);
    if (status == ACQ_OK)
        status = acq_new_file_write(path, "the training curve", text.bytes, text.length, error);
    acq_text_deinit(&text);
    return status;
}

bool acq_curve_is_one(const char *path)
{
    char start[256];
    size_t got = 0;
    int file;
    acq_text header;
    acq_text_init(&header);
    add_header(&header);
    bool is_one = !header.failed && acq_file_open(path, &file, NULL) == ACQ_OK;
    if (is_one) {
        is_one = acq_file_read_some(file, path, start, sizeof start, &got, NULL) == ACQ_OK &&
                 got >= header.length && memcmp(start, header.bytes, header.length) == 0;
        acq_file_close(file);
    }
    acq_text_deinit(&header);
    return is_one;
}

/* The field that begins at `at`; returns its end, NULL when it is none. */
static char *read_field(char *at, const csv_column *column, char *point)
{
    char *end = at;
    errno = 0;
    if (column->is_counter) {
        uint64_t counter = strtoull(at, &end, 10);
        memcpy(point + column->place, &counter, sizeof counter);
        return *at < '0' || *at > '9' || errno != 0 ? NULL : end;
    }
    bool is_empty = *at == ',' || *at == '\n';
    double number = is_empty ? NAN : strtod(at, &end);
    memcpy(point + column->place, &number, sizeof number);
    return !is_empty && (isspace((unsigned char)*at) || end == at) ? NULL : end;
}

static acq_status read_line(acq_curve *curve, char **at, size_t line, acq_error *error)
{
    acq_curve_point point;
    for (size_t i = 0; i < N_COLUMNS; i++) {
        char *end = read_field(*at, &columns[i], (char *)&point);
        if (end == NULL || *end != (i + 1 < N_COLUMNS ? ',' : '\n'))
            return acq_fail_at(error, ACQ_ERR_INPUT, line, 0,
                               "column %zu (%s) is not as a training writes it; start anew", i + 1,
                               columns[i].name);
        *at = end + 1;
    }
    acq_status status = acq_curve_add(curve, &point);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

static acq_status read_lines(acq_curve *curve, char *text, acq_error *error)
{
    acq_text header;
    acq_text_init(&header);
    add_header(&header);
    acq_status status = acq_text_finish(&header, error);
    if (status == ACQ_OK && strncmp(text, header.bytes, header.length) != 0)
        status = acq_fail_at(error, ACQ_ERR_INPUT, 1, 0,
                             "this is not a training curve: its columns are others");
    char *at = text + header.length;
    for (size_t line = 2; status == ACQ_OK && *at != '\0'; line++)
        status = read_line(curve, &at, line, error);
    acq_text_deinit(&header);
    return status;
}

acq_status acq_curve_read_csv(acq_curve *curve, const char *path, acq_error *error)
{
    acq_curve read = {0};
    char *text = NULL;
    size_t length = 0;
    acq_status status = acq_file_read(path, &text, &length, error);
    if (status == ACQ_OK)
        status = read_lines(&read, text, error);
    acq_free(text);
    acq_error_set_file(error, path);
    if (status != ACQ_OK) {
        acq_curve_deinit(&read);
        return status;
    }
    acq_curve_deinit(curve);
    *curve = read;
    return ACQ_OK;
}
