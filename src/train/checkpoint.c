/* checkpoint.c - see checkpoint.h.
 *
 * The file has each tensor of the network four times: "weights/NAME", "first/NAME", "second/NAME"
 * and "average/NAME", the last three being what the optimizer keeps. Counters are texts of the
 * metadata; numbers are written so that they are read back to the last bit. Everything is read
 * and checked before anything is handed over. */
#include "train/checkpoint.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "tensor/safetensors.h"

enum { N_PARTS = 4, SECOND = 2, NUMBER_ROOM = 32 };

static const char *const part_names[N_PARTS] = {"weights", "first", "second", "average"};
static const char *const format = "anycq training 1";

/* The tensors of all parts in one block. */
typedef struct whole {
    acq_arena arena; /* of the names */
    acq_parameters parameters;
} whole;

typedef struct part_values {
    float *values[N_PARTS];
} part_values;

static part_values get_parts(const acq_checkpoint *checkpoint)
{
    const acq_optimizer *optimizer = checkpoint->optimizer;
    return (part_values){
        {checkpoint->parameters->values, optimizer->first, optimizer->second, optimizer->average}};
}

static char *join(acq_arena *arena, const char *part, const char *name)
{
    size_t room = strlen(part) + strlen(name) + 2;
    char *joined = acq_arena_alloc(arena, room, 1);
    if (joined != NULL)
        snprintf(joined, room, "%s/%s", part, name);
    return joined;
}

static acq_status whole_init(whole *all, const acq_parameters *parameters, acq_error *error)
{
    size_t n = parameters->n_tensors;
    *all = (whole){0};
    acq_arena_init(&all->arena);
    acq_shape *shapes = acq_arena_alloc(&all->arena, N_PARTS * n, sizeof *shapes);
    if (shapes == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < N_PARTS * n; i++) {
        const acq_tensor *tensor = &parameters->tensors[i % n];
        const char *name = join(&all->arena, part_names[i / n], tensor->name);
        if (name == NULL)
            return acq_fail_memory(error);
        shapes[i] = (acq_shape){.name = name, .rows = tensor->rows, .cols = tensor->cols};
    }
    acq_status status = acq_parameters_init(&all->parameters, shapes, N_PARTS * n);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
}

static void whole_deinit(whole *all)
{
    acq_parameters_deinit(&all->parameters);
    acq_arena_deinit(&all->arena);
}

/* Copies every tensor of the parts into the whole, or the other way. */
static void copy_parts(const whole *all, const acq_checkpoint *checkpoint, bool into_parts)
{
    const acq_parameters *parameters = checkpoint->parameters;
    part_values parts = get_parts(checkpoint);
    size_t n = parameters->n_tensors;
    for (size_t i = 0; i < N_PARTS * n; i++) {
        const acq_tensor *tensor = &parameters->tensors[i % n];
        float *part = parts.values[i / n] + tensor->offset;
        float *stored = all->parameters.values + all->parameters.tensors[i].offset;
        size_t bytes = acq_tensor_get_length(tensor) * sizeof(float);
        memcpy(into_parts ? part : stored, into_parts ? stored : part, bytes);
    }
}

static acq_status write_whole(const acq_checkpoint *checkpoint, const whole *all, const char *path,
                              acq_error *error)
{
    char numbers[6][NUMBER_ROOM];
    const uint64_t counters[] = {checkpoint->seed, checkpoint->batch, checkpoint->episodes,
                                 checkpoint->optimizer->step};
    for (size_t i = 0; i < 4; i++)
        snprintf(numbers[i], NUMBER_ROOM, "%llu", (unsigned long long)counters[i]);
    snprintf(numbers[4], NUMBER_ROOM, "%.17g", checkpoint->seconds);
    snprintf(numbers[5], NUMBER_ROOM, "%.17g", checkpoint->solved);
    const acq_metadata metadata[] = {{"format", format},
                                     {"options", checkpoint->options},
                                     {"seed", numbers[0]},
                                     {"batch", numbers[1]},
                                     {"episodes", numbers[2]},
                                     {"step", numbers[3]},
                                     {"seconds", numbers[4]},
                                     {"solved", numbers[5]},
                                     {"finished", checkpoint->finished ? "yes" : "no"}};
    return acq_safetensors_write(path, &all->parameters, metadata,
                                 sizeof metadata / sizeof metadata[0], error);
}

acq_status acq_checkpoint_write(const acq_checkpoint *checkpoint, const char *path,
                                acq_error *error)
{
    whole all;
    acq_status status = whole_init(&all, checkpoint->parameters, error);
    if (status == ACQ_OK) {
        copy_parts(&all, checkpoint, false);
        status = write_whole(checkpoint, &all, path, error);
    }
    whole_deinit(&all);
    return status;
}

static acq_status check_format(const acq_safetensors *file, acq_error *error)
{
    const char *found = acq_safetensors_get_metadata(file, "format");
    if (found != NULL && strcmp(found, format) == 0)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "this is not a checkpoint of a training by this version of anycq; remove it "
                    "to begin anew");
}

static int get_word(const char *text)
{
    return (int)strcspn(text, " ");
}

/* Names the option at which two texts begin to differ; here and there are words. */
static acq_status fail_option(const char *here, const char *there, acq_error *error)
{
    size_t key = strcspn(here, "= ");
    if (here[key] == '=' && strncmp(here, there, key + 1) == 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the checkpoint was made with %.*s %.*s, not %.*s; give the same options "
                        "or start anew",
                        (int)key, here, get_word(there + key + 1), there + key + 1,
                        get_word(here + key + 1), here + key + 1);
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the checkpoint was made with other options: %.*s there, %.*s here; give the "
                    "same options or start anew",
                    *there == '\0' ? 7 : get_word(there), *there == '\0' ? "nothing" : there,
                    *here == '\0' ? 7 : get_word(here), *here == '\0' ? "nothing" : here);
}

static acq_status check_options(const acq_safetensors *file, const char *here, acq_error *error)
{
    const char *there = acq_safetensors_get_metadata(file, "options");
    if (there == NULL)
        return acq_fail(error, ACQ_ERR_INPUT, "the checkpoint does not say its options");
    while (*here != '\0' || *there != '\0') {
        int length = get_word(here);
        if (length != get_word(there) || strncmp(here, there, (size_t)length) != 0)
            return fail_option(here, there, error);
        here += length + (here[length] == ' ');
        there += length + (there[length] == ' ');
    }
    return ACQ_OK;
}

static acq_status fail_number(const char *key, acq_error *error)
{
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the checkpoint has no valid value for \"%s\"; start anew", key);
}

static acq_status read_counter(const acq_safetensors *file, const char *key, uint64_t *out,
                               acq_error *error)
{
    const char *text = acq_safetensors_get_metadata(file, key);
    char *end = NULL;
    if (text == NULL || *text < '0' || *text > '9')
        return fail_number(key, error);
    errno = 0;
    *out = strtoull(text, &end, 10);
    return *end != '\0' || errno != 0 ? fail_number(key, error) : ACQ_OK;
}

static acq_status read_number(const acq_safetensors *file, const char *key, double *out,
                              acq_error *error)
{
    const char *text = acq_safetensors_get_metadata(file, key);
    char *end = NULL;
    if (text == NULL || *text == '\0')
        return fail_number(key, error);
    *out = strtod(text, &end);
    return *end != '\0' || isinf(*out) ? fail_number(key, error) : ACQ_OK;
}

static acq_status read_counters(const acq_safetensors *file, acq_checkpoint *counters,
                                uint64_t *step, acq_error *error)
{
    const char *finished = acq_safetensors_get_metadata(file, "finished");
    acq_status status = read_counter(file, "seed", &counters->seed, error);
    if (status == ACQ_OK)
        status = read_counter(file, "batch", &counters->batch, error);
    if (status == ACQ_OK)
        status = read_counter(file, "episodes", &counters->episodes, error);
    if (status == ACQ_OK)
        status = read_counter(file, "step", step, error);
    if (status == ACQ_OK)
        status = read_number(file, "seconds", &counters->seconds, error);
    if (status == ACQ_OK)
        status = read_number(file, "solved", &counters->solved, error);
    counters->finished = finished != NULL && strcmp(finished, "yes") == 0;
    return status;
}

/* Second moments are means of squares: a root will be taken. */
static acq_status check_second(const whole *all, acq_error *error)
{
    size_t n = all->parameters.n_tensors / N_PARTS;
    for (size_t i = SECOND * n; i < (SECOND + 1) * n; i++) {
        const acq_tensor *tensor = &all->parameters.tensors[i];
        const float *values = all->parameters.values + tensor->offset;
        for (size_t j = 0; j < acq_tensor_get_length(tensor); j++) {
            if (values[j] < 0)
                return acq_fail(error, ACQ_ERR_INPUT,
                                "tensor \"%.100s\" holds a negative number; the checkpoint is "
                                "damaged: start anew",
                                tensor->name);
        }
    }
    return ACQ_OK;
}

static acq_status read_file(acq_checkpoint *checkpoint, const acq_safetensors *file, whole *all,
                            acq_error *error)
{
    acq_checkpoint counters = *checkpoint;
    uint64_t step = 0;
    acq_status status = check_format(file, error);
    if (status == ACQ_OK)
        status = check_options(file, checkpoint->options, error);
    if (status == ACQ_OK)
        status = read_counters(file, &counters, &step, error);
    if (status == ACQ_OK)
        status = whole_init(all, checkpoint->parameters, error);
    if (status == ACQ_OK)
        status = acq_safetensors_load(file, &all->parameters, error);
    if (status == ACQ_OK)
        status = check_second(all, error);
    if (status != ACQ_OK)
        return status;
    *checkpoint = counters;
    checkpoint->optimizer->step = step;
    copy_parts(all, checkpoint, true);
    return ACQ_OK;
}

acq_status acq_checkpoint_read(acq_checkpoint *checkpoint, const char *path, acq_error *error)
{
    whole all = {0};
    acq_safetensors *file = NULL;
    acq_status status = acq_safetensors_read(path, &file, error);
    if (status == ACQ_OK)
        status = read_file(checkpoint, file, &all, error);
    acq_error_set_file(error, path);
    whole_deinit(&all);
    acq_safetensors_free(file);
    return status;
}
