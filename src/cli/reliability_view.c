/* reliability_view.c - see reliability_view.h. */
#include "cli/reliability_view.h"

#include <stdlib.h>

#include "cli/report.h"
#include "cli/width.h"

enum { LEAST = 200 }; /* candidates of a bin whose gap counts */

/* The table is printed to a stream; this one is in memory. */
static void print_table(const acq_reliability *table, acq_text *out)
{
    char *bytes = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&bytes, &length);
    if (stream == NULL) {
        out->failed = true;
        return;
    }
    acq_reliability_print(table, stream);
    bool is_written = fclose(stream) == 0;
    if (is_written)
        acq_text_add(out, bytes);
    out->failed = out->failed || !is_written;
    free(bytes);
}

static double get_mean(double sum, const acq_reliability *table)
{
    return table->weight > 0 ? sum / table->weight : 0.0;
}

void acq_reliability_view_print(const acq_reliability *table, const char *title, acq_text *out)
{
    acq_text_format(out, "\n%s\n", title);
    print_table(table, out);
    acq_text_format(out, "%-*s%.4f at most, in bins of %d or more\n", ACQ_SIZE_LABEL, "gap",
                    acq_reliability_get_gap(table, LEAST), LEAST);
}

static json_t *make_bins(const acq_reliability *table)
{
    json_t *bins = json_array();
    for (size_t i = 0; i < ACQ_RELIABILITY_BINS; i++) {
        const acq_reliability_bin *bin = &table->bins[i];
        json_t *one = json_object();
        json_object_set_new(one, "low", json_real(bin->low));
        json_object_set_new(one, "high", json_real(bin->high));
        json_object_set_new(one, "n", acq_json_count(bin->n));
        if (bin->weight > 0) {
            json_object_set_new(one, "stated", json_real(bin->stated / bin->weight));
            json_object_set_new(one, "true", json_real(bin->truth / bin->weight));
        }
        json_array_append_new(bins, one);
    }
    return bins;
}

void acq_reliability_view_set(json_t *object, const acq_reliability *table)
{
    json_object_set_new(object, "log_loss", json_real(get_mean(table->log_loss, table)));
    json_object_set_new(object, "base_log_loss", json_real(get_mean(table->base_log_loss, table)));
    json_object_set_new(object, "gap", json_real(acq_reliability_get_gap(table, LEAST)));
    json_object_set_new(object, "bins", make_bins(table));
}
