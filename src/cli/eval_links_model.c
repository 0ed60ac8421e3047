/* eval_links_model.c - see eval_links_model.h. */
#include "cli/eval_links_model.h"

#include <string.h>

static acq_status open_complex(acq_named_model *model, const char *path, const acq_graph *graph,
                               acq_error *error)
{
    acq_status status = acq_complex_read(path, graph, &model->complex, error);
    return status == ACQ_OK ? acq_complex_new_row_model(model->complex, graph, &model->rows, error)
                            : status;
}

static acq_status open_nbfnet(acq_named_model *model, const char *path, const acq_graph *graph,
                              acq_error *error)
{
    acq_status status = acq_nbfnet_read(path, graph, &model->nbfnet, error);
    return status == ACQ_OK ? acq_nbfnet_new_row_model(model->nbfnet, graph, &model->rows, error)
                            : status;
}

static acq_status open_ultra(acq_named_model *model, const char *path, const acq_graph *graph,
                             acq_error *error)
{
    acq_status status = acq_ultra_read(path, &model->ultra, error);
    return status == ACQ_OK ? acq_ultra_new_row_model(model->ultra, graph, &model->rows, error)
                            : status;
}

typedef struct model_kind {
    const char *prefix;
    acq_status (*open)(acq_named_model *model, const char *path, const acq_graph *graph,
                       acq_error *error);
} model_kind;

/* NULL: no model; *path is what follows the prefix. */
static const model_kind *find_kind(const char *spec, const char **path)
{
    static const model_kind kinds[] = {
        {"complex:", open_complex}, {"nbfnet:", open_nbfnet}, {"ultra:", open_ultra}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].prefix);
        *path = spec + length;
        if (strncmp(spec, kinds[i].prefix, length) == 0 && **path != '\0')
            return &kinds[i];
    }
    return NULL;
}

bool acq_named_model_is_one(const char *spec)
{
    const char *path;
    return find_kind(spec, &path) != NULL;
}

acq_status acq_named_model_init(acq_named_model *model, const char *spec, const acq_graph *graph,
                                acq_error *error)
{
    const char *path;
    *model = (acq_named_model){0};
    return find_kind(spec, &path)->open(model, path, graph, error);
}

void acq_named_model_deinit(acq_named_model *model)
{
    acq_row_model_free(model->rows);
    acq_complex_free(model->complex);
    acq_nbfnet_free(model->nbfnet);
    acq_ultra_free(model->ultra);
    *model = (acq_named_model){0};
}
