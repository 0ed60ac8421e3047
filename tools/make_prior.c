/* make_prior.c - makes models/anycq-prior.safetensors: what links of any graph have in common,
 * which a graph's own calibrator starts from (src/calibrate/quick.h).
 *
 *   make_prior collect MATRIX FOLDER...   candidates of made-up worlds, with their labels
 *   make_prior fit MATRIX MODEL           trees that learn from them
 *
 * A folder has observed.tsv and complete.tsv (make_world). Candidates are those of the observed
 * graph, and of rests that facts were held out of besides. Worlds count alike: those with many true
 * candidates as if they had MOST_TRUE. The matrix has a row of floats for each candidate: label,
 * weight, whether nothing was held out, features. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/threads.h"
#include "calibrate/quick.h"
#include "store/store.h"

static const double MOST_TRUE = 400;
enum { HEAD = 3 }; /* floats before the features */

static int fail(const acq_error *error)
{
    fprintf(stderr, "make_prior: %s\n", error->message);
    return 1;
}

static double count_true(const acq_boost_data *data)
{
    double n = 0;
    for (size_t i = 0; i < data->n; i++)
        n += data->labels[i];
    return n;
}

static void write_rows(const acq_boost_data *data, bool is_whole, FILE *out)
{
    double n_true = count_true(data), part = n_true > MOST_TRUE ? MOST_TRUE / n_true : 1;
    for (size_t i = 0; i < data->n; i++) {
        float head[HEAD] = {data->labels[i], (float)(part * (double)data->weights[i]), is_whole};
        fwrite(head, sizeof *head, HEAD, out);
        fwrite(data->x + i * data->n_features, sizeof *data->x, data->n_features, out);
    }
}

static acq_status collect_one(const acq_graph *graph, const acq_predictor *truth, bool is_whole,
                              FILE *out, acq_error *error)
{
    acq_link_sample *sample = NULL;
    acq_status status =
        acq_quick_collect_truth(graph, truth, is_whole, acq_threads_available(), &sample, error);
    if (status != ACQ_OK || sample == NULL)
        return status;
    acq_boost_data data = acq_link_sample_get_data(sample, NULL);
    if (ftell(out) == 0) {
        fwrite(&data.n_features, sizeof data.n_features, 1, out);
        fwrite(acq_link_sample_get_monotone(sample), 1, data.n_features, out);
    }
    write_rows(&data, is_whole, out);
    printf("  %zu rows, %.0f true\n", data.n, count_true(&data));
    acq_link_sample_free(sample);
    return ACQ_OK;
}

static acq_status collect_world(const char *folder, FILE *out, acq_error *error)
{
    char path[4096];
    acq_graph *graph = NULL, *complete = NULL;
    acq_predictor *truth = NULL;
    snprintf(path, sizeof path, "%s/observed.tsv", folder);
    acq_status status = acq_graph_open_path(path, &(acq_read_params){0}, &graph, NULL, error);
    snprintf(path, sizeof path, "%s/complete.tsv", folder);
    if (status == ACQ_OK)
        status = acq_graph_open_path(path, &(acq_read_params){0}, &complete, NULL, error);
    if (status == ACQ_OK)
        status = acq_predictor_new_perfect(graph, complete, "truth", &truth, NULL, error);
    printf("%s\n", folder);
    if (status == ACQ_OK)
        status = collect_one(graph, truth, false, out, error);
    if (status == ACQ_OK)
        status = collect_one(graph, truth, true, out, error);
    acq_predictor_free(truth);
    acq_graph_free(complete);
    acq_graph_free(graph);
    return status;
}

static int collect(int n, char **folders, const char *matrix)
{
    acq_error error = {0};
    FILE *out = fopen(matrix, "wb");
    if (out == NULL)
        return perror(matrix), 1;
    for (int i = 0; i < n; i++)
        if (collect_world(folders[i], out, &error) != ACQ_OK)
            return fclose(out), fail(&error);
    return fclose(out) == 0 ? 0 : (perror(matrix), 1);
}

/* What a calibrator adds to the trees' odds in a graph that nothing was held out of: features end
 * with `moved` (candidates_parts.h), and half of the true candidates are gone. */
static float get_offset(const float *x, uint32_t width, bool is_whole)
{
    return is_whole ? x[width - 1] - logf(2) : 0.0F;
}

/* Reads the matrix; what it takes is freed with the process. */
static bool read_matrix(const char *path, acq_boost_data *data, int8_t *monotone)
{
    FILE *in = fopen(path, "rb");
    uint32_t width = 0;
    if (in == NULL || fread(&width, sizeof width, 1, in) != 1 ||
        width > ACQ_CANDIDATES_MOST_FEATURES || fread(monotone, 1, width, in) != width ||
        fseek(in, 0, SEEK_END) != 0)
        return false;
    long begin = (long)(sizeof width + width);
    size_t n = (size_t)(ftell(in) - begin) / ((width + HEAD) * sizeof(float));
    float *x = malloc(n * width * sizeof *x), *weights = malloc(n * sizeof *weights), head[HEAD];
    float *offsets = malloc(n * sizeof *offsets);
    uint8_t *labels = malloc(n);
    bool is_good = x != NULL && weights != NULL && labels != NULL && offsets != NULL &&
                   fseek(in, begin, SEEK_SET) == 0;
    for (size_t i = 0; i < n && is_good; i++) {
        is_good = fread(head, sizeof *head, HEAD, in) == HEAD &&
                  fread(x + i * width, sizeof *x, width, in) == width;
        labels[i] = head[0] > 0;
        weights[i] = head[1];
        offsets[i] = get_offset(x + i * width, width, head[2] > 0);
    }
    *data = (acq_boost_data){x, labels, weights, n, width, offsets};
    return fclose(in) == 0 && is_good;
}

static int fit(const char *matrix, const char *model)
{
    acq_boost_data data;
    int8_t monotone[ACQ_CANDIDATES_MOST_FEATURES];
    acq_error error = {0};
    acq_boost_params params = ACQ_BOOST_DEFAULT;
    acq_calibrator *made = acq_calibrator_new();
    if (made == NULL || !read_matrix(matrix, &data, monotone)) {
        fprintf(stderr, "make_prior: %s cannot be read, or memory ran out\n", matrix);
        return 1;
    }
    params.n_trees = 160;
    params.least_hessian = 20;
    params.n_threads = acq_threads_available();
    params.monotone = monotone;
    printf("%zu rows of %u features\n", data.n, data.n_features);
    if (acq_boost_fit(&data, &params, &made->link, &error) != ACQ_OK)
        return fail(&error);
    snprintf(made->models, sizeof made->models, "neighbours");
    snprintf(made->graph, sizeof made->graph, "prior");
    acq_status status = acq_calibrator_write(model, made, &error);
    acq_calibrator_free(made);
    return status == ACQ_OK ? 0 : fail(&error);
}

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "collect") == 0)
        return collect(argc - 3, argv + 3, argv[2]);
    if (argc == 4 && strcmp(argv[1], "fit") == 0)
        return fit(argv[2], argv[3]);
    fprintf(stderr, "usage: make_prior collect MATRIX FOLDER...\n"
                    "       make_prior fit MATRIX MODEL\n");
    return 2;
}
