/* calibrator.c - the reader of calibrators on any bytes.
 *
 * An odd first byte: the input is a header and data, and the target puts the length in front that
 * the second and third byte say, so that the fuzzer gets past the frame. Otherwise the rest is the
 * file. What is read must score any row, the same alone and among others, and be written and read
 * again as it was. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "calibrate/calibrator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS = 3 };

static void must(bool truth)
{
    if (!truth)
        abort();
}

/* Rows of zeros, of missing values and of large numbers. */
static void check_scores(const acq_boost *boost)
{
    float values[ROWS] = {0, NAN, 1e30F}, out[ROWS];
    uint32_t n_features = acq_boost_get_n_features(boost);
    float *x = malloc((size_t)ROWS * n_features * sizeof *x + 1);
    must(x != NULL);
    for (uint32_t i = 0; i < ROWS * n_features; i++)
        x[i] = values[i / n_features];
    acq_boost_score_many(boost, x, ROWS, out);
    for (uint32_t i = 0; i < ROWS; i++) {
        double alone = acq_boost_score(boost, x + (size_t)i * n_features);
        must(alone == (double)out[i] || (isnan(alone) && isnan(out[i])));
    }
    free(x);
}

static void check_again(const acq_calibrator *calibrator)
{
    void *bytes = NULL, *again = NULL;
    size_t length = 0, length_again = 0;
    acq_calibrator *back = NULL;
    must(acq_calibrator_write_memory(calibrator, &bytes, &length, NULL) == ACQ_OK);
    must(acq_calibrator_read_memory(bytes, length, "again", &back, NULL) == ACQ_OK);
    must(acq_calibrator_write_memory(back, &again, &length_again, NULL) == ACQ_OK);
    must(length == length_again && memcmp(bytes, again, length) == 0);
    acq_calibrator_free(back);
    acq_free(bytes);
    acq_free(again);
}

static void check_file(const void *bytes, size_t length)
{
    acq_calibrator *calibrator = NULL;
    acq_error error = {0};
    acq_status status = acq_calibrator_read_memory(bytes, length, "fuzz", &calibrator, &error);
    must(status == error.code && (status == ACQ_OK) == (calibrator != NULL));
    if (status != ACQ_OK)
        return;
    const acq_boost *boosts[] = {calibrator->link, calibrator->balanced};
    for (int i = 0; i < 2; i++) {
        if (boosts[i] != NULL)
            check_scores(boosts[i]);
    }
    check_again(calibrator);
    acq_calibrator_free(calibrator);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    if ((data[0] & 1U) == 0) {
        check_file(data + 1, size - 1);
        return 0;
    }
    uint64_t header = (uint64_t)data[1] << 8 | data[2];
    uint8_t *framed = malloc(size + 5);
    must(framed != NULL);
    memcpy(framed, &header, 8);
    memcpy(framed + 8, data + 3, size - 3);
    check_file(framed, size + 5);
    free(framed);
    return 0;
}
