/* parameters.c - laying out tensors in one aligned block; see parameters.h. */
#include "tensor/parameters.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"

enum { ALIGNMENT = 64, STRIDE = ALIGNMENT / sizeof(float) };

/* The tensor at the end of the block; false when the block would be too large to address. */
static bool place(acq_parameters *parameters, const acq_shape *shape)
{
    const size_t most = (SIZE_MAX - ALIGNMENT) / sizeof(float) - STRIDE;
    acq_tensor *tensor = &parameters->tensors[parameters->n_tensors++];
    *tensor = (acq_tensor){
        .name = shape->name, .rows = shape->rows, .cols = shape->cols, .offset = parameters->n};
    size_t length = acq_tensor_get_length(tensor);
    if (length > most - parameters->n)
        return false;
    parameters->n += (length + STRIDE - 1) / STRIDE * STRIDE;
    return parameters->n <= most;
}

static bool lay_out(acq_parameters *parameters, const acq_shape *shapes, size_t n)
{
    *parameters = (acq_parameters){.tensors = acq_alloc(n, sizeof *parameters->tensors)};
    bool fits = parameters->tensors != NULL;
    for (size_t i = 0; i < n && fits; i++)
        fits = place(parameters, &shapes[i]);
    return fits;
}

acq_status acq_parameters_init(acq_parameters *parameters, const acq_shape *shapes, size_t n)
{
    if (lay_out(parameters, shapes, n))
        parameters->block = acq_zalloc(parameters->n * sizeof(float) + ALIGNMENT, 1);
    if (parameters->block == NULL) {
        acq_parameters_deinit(parameters);
        return ACQ_ERR_MEMORY;
    }
    uintptr_t past = (uintptr_t)parameters->block % ALIGNMENT;
    parameters->values = (float *)((char *)parameters->block + (ALIGNMENT - past));
    return ACQ_OK;
}

/* A file without a name; -1: errno says why. */
static int open_nameless(const char *beside)
{
    static const char ending[] = ".XXXXXX", usual[] = "/var/tmp/anycq";
    size_t room = strlen(beside == NULL ? usual : beside) + sizeof ending;
    char *path = acq_alloc(room, 1);
    if (path == NULL)
        return -1;
    snprintf(path, room, "%s%s", beside == NULL ? usual : beside, ending);
    int file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        (void)unlink(path);
    acq_free(path);
    return file;
}

/* All of it is written for once, so that a full disk is an error here and not a signal later. */
static acq_status map_block(acq_parameters *parameters, int file, acq_error *error)
{
    size_t bytes = parameters->n * sizeof(float) + ALIGNMENT;
    int failure = posix_fallocate(file, 0, (off_t)bytes);
    if (failure != 0)
        return acq_fail(error, ACQ_ERR_IO, "no room on the disk for %.1f GB of vectors: %s",
                        1e-9 * (double)bytes, strerror(failure));
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (block == MAP_FAILED)
        return acq_fail(error, ACQ_ERR_IO, "vectors on the disk cannot be mapped: %s",
                        strerror(errno));
    parameters->values = parameters->block = block;
    parameters->mapped = bytes;
    return ACQ_OK;
}

acq_status acq_parameters_init_on_disk(acq_parameters *parameters, const acq_shape *shapes,
                                       size_t n, const char *beside, acq_error *error)
{
    acq_status status = lay_out(parameters, shapes, n) ? ACQ_OK : acq_fail_memory(error);
    int file = status == ACQ_OK ? open_nameless(beside) : -1;
    if (status == ACQ_OK && file < 0)
        status =
            acq_fail(error, ACQ_ERR_IO, "a file for vectors cannot be made: %s", strerror(errno));
    if (status == ACQ_OK)
        status = map_block(parameters, file, error);
    if (file >= 0)
        close(file);
    if (status != ACQ_OK)
        acq_parameters_deinit(parameters);
    return status;
}

void acq_parameters_leave(const acq_parameters *parameters, size_t first, size_t n)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)(parameters->values + first), end = begin + n * sizeof(float);
    begin = (begin + page - 1) / page * page;
    end = end / page * page;
    if (parameters->mapped > 0 && begin < end)
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
}

void acq_parameters_deinit(acq_parameters *parameters)
{
    acq_free(parameters->tensors);
    if (parameters->mapped > 0)
        (void)munmap(parameters->block, parameters->mapped);
    else
        acq_free(parameters->block);
    *parameters = (acq_parameters){0};
}

size_t acq_parameters_count(const acq_parameters *parameters)
{
    size_t n = 0;
    for (size_t i = 0; i < parameters->n_tensors; i++)
        n += acq_tensor_get_length(&parameters->tensors[i]);
    return n;
}

/* ---- optimizer ----
 *
 * See parameters.h for the formulas.
 *
 * State is kept in floats, each number is computed in double and rounded once. The average is
 * kept corrected for its start: with k the share kept,
 *   average_t = average_(t-1) + (1 - k) / (1 - k^t) * (w_t - average_(t-1)),
 * which is the mean of the weights at first and forgets as 1 - k later; the weights before the
 * first update do not count. With k = 0 it is the weights themselves. */

static const double epsilon = 1e-8;
static const double largest_norm = 1e18; /* its square still fits a float */

/* What one update shares among all weights. */
typedef struct update {
    double beta1, beta2;
    double first, second; /* corrections for the start */
    double rate, decay, fresh;
} update;

static bool is_share(double value)
{
    return value >= 0 && value < 1;
}

static bool is_size(double value)
{
    return value >= 0 && isfinite(value);
}

static acq_status check(const acq_optimizer_params *params, acq_error *error)
{
    if (!is_size(params->rate) || !is_size(params->last_rate))
        return acq_fail(error, ACQ_ERR_USAGE, "the learning rates must be numbers from 0 on");
    if (!is_share(params->beta1) || !is_share(params->beta2) || !is_share(params->average))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "beta1, beta2 and the average must be at least 0 and below 1");
    if (!is_size(params->decay) || !is_size(params->clip))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the weight decay and the clipping norm must be numbers from 0 on");
    return ACQ_OK;
}

acq_status acq_optimizer_init(acq_optimizer *optimizer, const acq_optimizer_params *params,
                              const float *weights, size_t n, acq_error *error)
{
    *optimizer = (acq_optimizer){.params = *params, .n = n};
    acq_status status = check(params, error);
    if (status != ACQ_OK)
        return status;
    optimizer->first = acq_zalloc(n, sizeof(float));
    optimizer->second = acq_zalloc(n, sizeof(float));
    optimizer->average = acq_alloc(n, sizeof(float));
    if (optimizer->first == NULL || optimizer->second == NULL || optimizer->average == NULL) {
        acq_optimizer_deinit(optimizer);
        return acq_fail_memory(error);
    }
    memcpy(optimizer->average, weights, n * sizeof(float));
    return ACQ_OK;
}

void acq_optimizer_deinit(acq_optimizer *optimizer)
{
    acq_free(optimizer->first);
    acq_free(optimizer->second);
    acq_free(optimizer->average);
    *optimizer = (acq_optimizer){0};
}

/* Squares of floats fit a double: the norm is finite when every number is. */
static double get_norm(const float *gradient, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)gradient[i] * gradient[i];
    return sqrt(sum);
}

static void scale(float *gradient, size_t n, double factor)
{
    for (size_t i = 0; i < n; i++)
        gradient[i] = (float)(gradient[i] * factor);
}

static update plan(const acq_optimizer *optimizer, double progress)
{
    const acq_optimizer_params *params = &optimizer->params;
    double t = (double)optimizer->step;
    double part = fmin(fmax(progress, 0), 1);
    return (update){.beta1 = params->beta1,
                    .beta2 = params->beta2,
                    .first = 1 / (1 - pow(params->beta1, t)),
                    .second = 1 / (1 - pow(params->beta2, t)),
                    .rate = params->rate + (params->last_rate - params->rate) * part,
                    .decay = params->decay,
                    .fresh = (1 - params->average) / (1 - pow(params->average, t))};
}

static void apply(acq_optimizer *optimizer, const update *u, const float *gradient, float *weights)
{
    for (size_t i = 0; i < optimizer->n; i++) {
        double g = gradient[i], w = weights[i], average = optimizer->average[i];
        double first = u->beta1 * optimizer->first[i] + (1 - u->beta1) * g;
        double second = u->beta2 * optimizer->second[i] + (1 - u->beta2) * g * g;
        double direction = first * u->first / (sqrt(second * u->second) + epsilon);
        w -= u->rate * (direction + u->decay * w);
        optimizer->first[i] = (float)first;
        optimizer->second[i] = (float)second;
        weights[i] = (float)w;
        optimizer->average[i] = (float)(average + u->fresh * (w - average));
    }
}

double acq_optimizer_update(acq_optimizer *optimizer, double progress, float *gradient,
                            float *weights)
{
    double clip = optimizer->params.clip;
    double norm = get_norm(gradient, optimizer->n);
    bool is_clipped = clip > 0 && norm > clip;
    if (!isfinite(norm) || (is_clipped ? clip : norm) > largest_norm)
        return norm;
    if (is_clipped)
        scale(gradient, optimizer->n, clip / norm);
    optimizer->step++;
    update u = plan(optimizer, progress);
    apply(optimizer, &u, gradient, weights);
    return norm;
}

void acq_optimizer_copy_average(const acq_optimizer *optimizer, const float *weights, float *out)
{
    const float *from = optimizer->params.average > 0 ? optimizer->average : weights;
    memcpy(out, from, optimizer->n * sizeof(float));
}
