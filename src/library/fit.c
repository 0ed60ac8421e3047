/* fit.c - from facts to links with probabilities (fit/fit.h), for programs. */
#include "fit/fit.h"

#include <string.h>

#include "base/file.h"
#include "base/text.h"
#include "library/parts.h"

static acq_fit_completion_params get_defaults(void)
{
    acq_fit_params own;
    acq_fit_params_init(&own);
    return (acq_fit_completion_params){.models = "complex",
                                       .hold_share = own.hold_share,
                                       .epochs = own.complex.epochs,
                                       .rank = own.complex.rank,
                                       .floor = own.floor,
                                       .seed = own.seed};
}

void acq_fit_completion_params_init_sized(acq_fit_completion_params *params, size_t size)
{
    acq_fit_completion_params own = get_defaults();
    acq_sized_init(params, size, &own, sizeof own);
}

/* Takes "complex+ultra" apart. */
static acq_status read_models(const char *models, acq_fit_params *out, acq_error *error)
{
    static const char *const words[] = {"complex", "nbfnet", "ultra"};
    bool *uses[] = {&out->use_complex, &out->use_nbfnet, &out->use_ultra};
    out->use_complex = false;
    for (const char *name = models; name != NULL;) {
        size_t length = strcspn(name, "+"), i = 0;
        while (i < 3 && (strlen(words[i]) != length || memcmp(words[i], name, length) != 0))
            i++;
        if (i == 3)
            return acq_fail(error, ACQ_ERR_USAGE,
                            "no models \"%.100s\" to fit; use complex, nbfnet, ultra, or some, as "
                            "in complex+ultra",
                            models);
        *uses[i] = true;
        name = name[length] == '\0' ? NULL : name + length + 1;
    }
    return ACQ_OK;
}

static acq_status check_numbers(const acq_fit_completion_params *params, acq_error *error)
{
    if (!(params->hold_share > 0 && params->hold_share < 1))
        return acq_fail(error, ACQ_ERR_USAGE, "hold_share %g is not between 0 and 1",
                        params->hold_share);
    if (!(params->floor > 0 && params->floor < 1))
        return acq_fail(error, ACQ_ERR_USAGE, "floor %g is not between 0 and 1", params->floor);
    if (!(params->seconds >= 0))
        return acq_fail(error, ACQ_ERR_USAGE, "seconds %g is no time limit; 0 means none",
                        params->seconds);
    if (!(params->epochs > 0) || params->rank == 0)
        return acq_fail(error, ACQ_ERR_USAGE, "epochs and rank must be above 0");
    return ACQ_OK;
}

static acq_status read_params(const acq_fit_completion_params *params, acq_fit_params *out,
                              acq_error *error)
{
    acq_fit_params_init(out);
    acq_status status = check_numbers(params, error);
    if (status == ACQ_OK && params->models != NULL)
        status = read_models(params->models, out, error);
    out->earlier = params->earlier;
    out->hold_share = params->hold_share;
    out->complex.epochs = params->epochs;
    out->complex.rank = params->rank;
    out->seconds = params->seconds;
    out->floor = params->floor;
    out->seed = params->seed;
    out->n_threads = params->threads > 0 ? params->threads : out->n_threads;
    out->resume = params->resume;
    out->svg = params->svg;
    return status;
}

static bool tell(void *context, const acq_train_progress *now)
{
    const acq_fit_completion_params *params = context;
    acq_progress progress = {.phase = now->phase,
                             .done = (uint64_t)now->done,
                             .total = (uint64_t)now->total,
                             .loss = now->loss,
                             .text = now->text};
    return params->progress(params->context, &progress);
}

static acq_status check_folder(const char *folder, bool resume, acq_error *error)
{
    if (resume || acq_file_get_kind(folder) == ACQ_FILE_MISSING)
        return ACQ_OK;
    acq_fail(error, ACQ_ERR_USAGE,
             "this is of a fit that has not ended; set resume, or remove it to begin anew");
    acq_error_set_file(error, folder);
    return ACQ_ERR_USAGE;
}

static void fill_report(const acq_fit_report *made, acq_fit_completion_report *out)
{
    acq_fit_completion_report own = {.held = made->held,
                                     .covered = made->covered,
                                     .candidates = made->candidates,
                                     .links = made->links,
                                     .seconds = made->seconds};
    acq_sized_fill(out, &own, sizeof own);
}

acq_status acq_fit_completion(const acq_graph *graph, const char *path,
                              const acq_fit_completion_params *given, acq_error *error)
{
    ACQ_REQUIRE(graph, error);
    ACQ_REQUIRE(path, error);
    acq_fit_completion_params params = get_defaults();
    acq_fit_params fit;
    acq_fit_report report;
    acq_text folder;
    acq_status status = acq_sized_read(__func__, given, &params, sizeof params, error);
    if (status == ACQ_OK)
        status = read_params(&params, &fit, error);
    if (status != ACQ_OK)
        return status;
    if (params.progress != NULL) {
        fit.progress = tell;
        fit.context = &params;
    }
    acq_text_init(&folder);
    acq_text_format(&folder, "%s.fit", path);
    status = acq_text_finish(&folder, error);
    fit.folder = folder.bytes;
    if (status == ACQ_OK)
        status = check_folder(folder.bytes, params.resume, error);
    if (status == ACQ_OK) {
        fit.resume = acq_file_get_kind(folder.bytes) != ACQ_FILE_MISSING;
        status = acq_fit(graph, path, &fit, &report, error);
    }
    if (status == ACQ_OK)
        fill_report(&report, params.report);
    acq_text_deinit(&folder);
    return status;
}
