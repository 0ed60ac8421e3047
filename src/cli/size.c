/* size.c - see size.h. */
#include "cli/size.h"

#include <stdio.h>

#include "cli/width.h"

void acq_size_print_count(acq_text *out, const char *label, uint64_t n)
{
    acq_text_format(out, "%-*s%*llu\n", ACQ_SIZE_LABEL, label, ACQ_SIZE_COUNT,
                    (unsigned long long)n);
}

void acq_size_print_text(acq_text *out, const char *label, const char *text)
{
    acq_text safe;
    acq_text_init(&safe);
    acq_width_add(&safe, text);
    acq_text_format(out, "%-*s", ACQ_SIZE_LABEL, label);
    acq_width_wrap(out, safe.bytes == NULL ? "" : safe.bytes, ACQ_SIZE_LABEL, ACQ_SIZE_LABEL,
                   ACQ_COLUMNS);
    acq_text_add_char(out, '\n');
    out->failed = out->failed || safe.failed;
    acq_text_deinit(&safe);
}

void acq_size_add_bytes(acq_text *out, uint64_t n)
{
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    double value = (double)n / 1e3;
    size_t unit = 0;
    while (value >= 999.5 && unit < 3) {
        value /= 1e3;
        unit++;
    }
    acq_text_format(out, value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void acq_size_print_bytes(acq_text *out, const char *label, uint64_t n)
{
    acq_text_format(out, "%-*s", ACQ_SIZE_LABEL, label);
    acq_size_add_bytes(out, n);
    acq_text_add_char(out, '\n');
}

void acq_size_print_hash(acq_text *out, const char *label, uint64_t hash)
{
    acq_text_format(out, "%-*s%016llx\n", ACQ_SIZE_LABEL, label, (unsigned long long)hash);
}

void acq_size_print_read(acq_text *out, const acq_read_report *report)
{
    acq_size_print_count(out, "lines read", report->lines);
    acq_size_print_count(out, "left out", report->bad);
    acq_size_print_count(out, "duplicates", report->duplicates);
    if (report->literals > 0)
        acq_size_print_count(out, "literals out", report->literals);
    if (report->labels > 0)
        acq_size_print_count(out, "labels", report->labels);
    if (report->completed > 0)
        acq_size_print_count(out, "inverses added", report->completed);
}

size_t acq_size_format_rate(double per_second, char *buffer, size_t size)
{
    int n = per_second >= 99500 ? snprintf(buffer, size, "%.2f M triples/s", per_second / 1e6)
                                : snprintf(buffer, size, "%.0f triples/s", per_second);
    return n < 0 ? 0 : (size_t)n;
}
