/* complex_checkpoint.c - a ComplEx training in a file: vectors, sums of squares and counters.
 *
 * The metadata hold the counters and a text of the graph and all options that shape the run; a
 * checkpoint of another training is refused with both texts. */
#include "train/complex_trainer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/safetensors.h"

enum { OPTIONS_ROOM = 512, NUMBER_ROOM = 32 };

static const char FORMAT[] = "anycq-complex-training-1";

static void print_options(const acq_complex_trainer *self, char text[OPTIONS_ROOM])
{
    static const char *const precisions[] = {"auto", "f32", "bf16"};
    const acq_train_complex_params *p = self->params;
    snprintf(text, OPTIONS_ROOM,
             "graph=%016" PRIx64
             " rank=%u precision=%s rate=%.17g last_rate=%.17g batch=%u candidates=%u "
             "n3=%.17g relation_weight=%.17g scale=%.17g epochs=%.17g seconds=%.17g "
             "seed=%" PRIu64 " warm=%s",
             acq_graph_get_fingerprint(self->graph), p->rank, precisions[p->precision], p->rate,
             p->last_rate, p->batch, p->candidates, p->n3, p->relation_weight, p->scale, p->epochs,
             p->seconds, p->seed, p->warm == NULL ? "no" : "yes");
}

acq_status acq_complex_save(const acq_complex_trainer *self, double seconds, acq_error *error)
{
    char options[OPTIONS_ROOM], step[NUMBER_ROOM], spent[NUMBER_ROOM], loss[NUMBER_ROOM];
    print_options(self, options);
    snprintf(step, sizeof step, "%" PRIu64, self->step);
    snprintf(spent, sizeof spent, "%.17g", seconds);
    snprintf(loss, sizeof loss, "%.17g", self->loss);
    const acq_metadata metadata[] = {{"format", FORMAT},
                                     {"options", options},
                                     {"step", step},
                                     {"seconds", spent},
                                     {"loss", loss}};
    return acq_safetensors_write(self->params->checkpoint, &self->state, metadata,
                                 sizeof metadata / sizeof *metadata, error);
}

static const char *get_text(const acq_safetensors *file, const char *key)
{
    const char *text = acq_safetensors_get_metadata(file, key);
    return text == NULL ? "" : text;
}

static acq_status check_options(const acq_complex_trainer *self, const acq_safetensors *file,
                                acq_error *error)
{
    char here[OPTIONS_ROOM];
    const char *there = get_text(file, "options");
    size_t same = 0;
    print_options(self, here);
    if (strcmp(get_text(file, "format"), FORMAT) != 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "this is no checkpoint of a ComplEx training by this version of anycq; "
                        "remove it to begin anew");
    if (strcmp(here, there) == 0)
        return ACQ_OK;
    for (size_t i = 0; here[i] != '\0' && here[i] == there[i]; i++)
        same = here[i] == ' ' ? i + 1 : same;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the checkpoint was made with %.*s, not %.*s; give the same options or remove "
                    "it to begin anew",
                    (int)strcspn(there + same, " "), there + same, (int)strcspn(here + same, " "),
                    here + same);
}

static bool read_number(const acq_safetensors *file, const char *key, double *out)
{
    const char *text = get_text(file, key);
    char *end = NULL;
    *out = strtod(text, &end);
    return *text != '\0' && *end == '\0';
}

static acq_status read_counters(acq_complex_trainer *self, const acq_safetensors *file,
                                acq_error *error)
{
    double step;
    if (!read_number(file, "step", &step) || !(step >= 0 && step < 0x1p53) ||
        !read_number(file, "seconds", &self->seconds) || !(self->seconds >= 0) ||
        !isfinite(self->seconds) || !read_number(file, "loss", &self->loss) || isinf(self->loss))
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the checkpoint's counters cannot be read; remove it to begin anew");
    self->step = (uint64_t)step;
    return ACQ_OK;
}

/* Roots will be taken of the sums. */
static acq_status check_squares(const acq_complex_trainer *self, acq_error *error)
{
    const acq_tensor *last = &self->state.tensors[3];
    const float *end = self->relation_squares + acq_tensor_get_length(last);
    for (const float *p = self->entity_squares; p < end; p++) {
        if (!(*p >= 0))
            return acq_fail(error, ACQ_ERR_INPUT,
                            "the checkpoint has a negative sum of squares; remove it to begin "
                            "anew");
    }
    return ACQ_OK;
}

acq_status acq_complex_resume(acq_complex_trainer *self, acq_error *error)
{
    acq_safetensors *file = NULL;
    const char *path = self->params->checkpoint;
    if (path == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "to resume needs the path of a checkpoint");
    acq_status status = acq_safetensors_read(path, &file, error);
    if (status == ACQ_OK)
        status = check_options(self, file, error);
    if (status == ACQ_OK)
        status = read_counters(self, file, error);
    if (status == ACQ_OK)
        status = acq_safetensors_load(file, &self->state, error);
    if (status == ACQ_OK)
        status = check_squares(self, error);
    if (status != ACQ_OK)
        acq_error_set_file(error, path);
    acq_safetensors_free(file);
    return status;
}
