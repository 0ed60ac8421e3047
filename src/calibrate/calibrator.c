/* calibrator.c - up to two boosts as tensors "link.…" and "balanced.…" of one safetensors file, the
 * relations' shifts as "shifts", what their links are worth as "quality", how true p is as
 * "reliability", with a few numbers and the names of models and graph in its metadata. */
#include "calibrate/calibrator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "calibrate/learn.h"
#include "calibrate/reasons.h"
#include "predict/completion.h"

enum { N_BOOSTS = 2, MOST_SHAPES = 20 };

static const double USUAL_JOINT = .3;

static const char shifts_name[] = "shifts"; /* a row for each pair: learnt, given */
enum { SHIFT_COLS = 2 };
static const char quality_name[] = "quality"; /* a row for each pair: held, said, right */
enum { QUALITY_COLS = 3 };
/* A row for each bin: weight, rows, stated, truth; and one for all: weight, -, both log-losses. */
static const char reliability_name[] = "reliability";
enum { RELIABILITY_ROWS = ACQ_RELIABILITY_BINS + 1, RELIABILITY_COLS = 4 };
static const char format[] = "anycq-calibrator-1";

static const struct {
    const char *name;
    size_t place; /* in acq_calibrator */
} parts[N_BOOSTS] = {{"link", offsetof(acq_calibrator, link)},
                     {"balanced", offsetof(acq_calibrator, balanced)}};

static acq_boost **get_part(acq_calibrator *calibrator, int i)
{
    return (acq_boost **)(void *)((char *)calibrator + parts[i].place);
}

static const acq_boost *look_at_part(const acq_calibrator *calibrator, int i)
{
    return *get_part((acq_calibrator *)calibrator, i);
}

acq_calibrator *acq_calibrator_new(void)
{
    acq_calibrator *calibrator = acq_zalloc(1, sizeof *calibrator);
    if (calibrator != NULL) {
        calibrator->joint = USUAL_JOINT;
        calibrator->if_slope = 1;
        acq_reliability_init(&calibrator->reliability);
    }
    return calibrator;
}

void acq_calibrator_free(acq_calibrator *calibrator)
{
    if (calibrator == NULL)
        return;
    for (int i = 0; i < N_BOOSTS; i++)
        acq_boost_free(*get_part(calibrator, i));
    if (calibrator->cover != NULL)
        acq_cover_deinit(calibrator->cover);
    acq_free(calibrator->cover);
    acq_free(calibrator->shifts);
    acq_free(calibrator->quality);
    acq_free(calibrator);
}

/* ---- reading ---- */

static const char *get_text(const acq_safetensors *file, const char *key)
{
    const char *value = acq_safetensors_get_metadata(file, key);
    return value == NULL ? "" : value;
}

/* Three numbers within bounds. */
typedef struct triple {
    const char *key;
    double *places[3];
    double low[3], high[3];
} triple;

/* Files before the key came in have none: what is there stays. */
static acq_status load_triple(const acq_safetensors *file, const triple *want, acq_error *error)
{
    const char *text = get_text(file, want->key), *at = text;
    bool is_good = true;
    for (size_t i = 0; i < 3 && *text != '\0' && is_good; i++) {
        char *end;
        double value = acq_read_double(at, &end);
        is_good = end != at && value >= want->low[i] && value <= want->high[i];
        *want->places[i] = value;
        at = end;
    }
    if (!is_good || *at != '\0')
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the calibrator's %s are \"%.40s\", expected three numbers from %g, %g, %g "
                        "to %g, %g, %g; make it again with anycq fit",
                        want->key, text, want->low[0], want->low[1], want->low[2], want->high[0],
                        want->high[1], want->high[2]);
    return ACQ_OK;
}

static acq_status load_numbers(const acq_safetensors *file, acq_calibrator *out, acq_error *error)
{
    double unused; /* of version 0.1: p of an unsupported answer */
    const triple triples[] = {
        {"shares",
         {&unused, &out->unsupported_balanced, &out->open_balanced},
         {0, 0, 0},
         {.999999, .999999, .999999}},
        {"worlds", {&out->joint, &out->if_slope, &out->if_shift}, {0, .01, -100}, {1, 100, 100}},
    };
    acq_status status = load_triple(file, &triples[0], error);
    return status == ACQ_OK ? load_triple(file, &triples[1], error) : status;
}

static acq_status load_metadata(const acq_safetensors *file, acq_calibrator *out, acq_error *error)
{
    if (strcmp(get_text(file, "format"), format) != 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "this is no calibrator (its metadata say format \"%.40s\", expected "
                        "\"%s\"); make one with anycq fit",
                        get_text(file, "format"), format);
    if (strlen(get_text(file, "models")) >= sizeof out->models)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the calibrator's models have more than %zu bytes; make it again",
                        sizeof out->models - 1);
    snprintf(out->models, sizeof out->models, "%s", get_text(file, "models"));
    snprintf(out->graph, sizeof out->graph, "%s", get_text(file, "graph")); /* for people: cut */
    return load_numbers(file, out, error);
}

static bool has_part(const acq_safetensors *file, const char *name)
{
    char start[32];
    uint32_t rows, cols;
    snprintf(start, sizeof start, "%s.start", name);
    return acq_safetensors_get_shape(file, start, &rows, &cols);
}

/* Before 0.2 without a column for a prior. */
static acq_status copy_shifts(const acq_safetensors *file, uint32_t rows, uint32_t cols,
                              acq_boost_shift *out, acq_error *error)
{
    acq_shape shape = {.name = shifts_name, .rows = rows, .cols = cols == 0 ? 0 : SHIFT_COLS};
    float *values = (float *)out;
    acq_status status = acq_safetensors_copy_tensor(file, &shape, values, error);
    for (uint32_t i = rows; cols == 0 && i > 0 && status == ACQ_OK; i--)
        out[i - 1] = (acq_boost_shift){values[i - 1], ACQ_BOOST_NOT_GIVEN};
    return status;
}

/* *n_tensors goes up by one where there are some. */
static acq_status load_shifts(const acq_safetensors *file, acq_calibrator *out, size_t *n_tensors,
                              acq_error *error)
{
    uint32_t rows, cols;
    if (!acq_safetensors_get_shape(file, shifts_name, &rows, &cols))
        return ACQ_OK;
    out->shifts = acq_alloc(rows, sizeof *out->shifts);
    if (out->shifts == NULL)
        return acq_fail_memory(error);
    out->n_shifts = rows;
    ++*n_tensors;
    acq_status status = copy_shifts(file, rows, cols, out->shifts, error);
    for (uint32_t i = 0; i < rows && status == ACQ_OK; i++)
        if (!(fabsf(out->shifts[i].learnt) <= 100) || !(fabsf(out->shifts[i].given) <= 100))
            status = acq_fail(error, ACQ_ERR_INPUT,
                              "the calibrator's shift %u is no number from -100 to 100; make it "
                              "again",
                              i);
    return status;
}

static acq_status take_quality(const float *rows, uint32_t n, acq_calibrator *out, acq_error *error)
{
    out->quality = acq_alloc(n, sizeof *out->quality);
    if (out->quality == NULL)
        return acq_fail_memory(error);
    out->n_quality = n;
    for (uint32_t i = 0; i < n; i++) {
        const float *row = rows + (size_t)i * QUALITY_COLS;
        for (int c = 0; c < QUALITY_COLS; c++)
            if (!(row[c] >= 0 && row[c] <= 1e18F))
                return acq_fail(error, ACQ_ERR_INPUT,
                                "the calibrator's quality %u is no count; make it again", i);
        out->quality[i] = (acq_link_quality){
            .held = (uint64_t)row[0], .said = (double)row[1], .right = (double)row[2]};
    }
    return ACQ_OK;
}

/* As load_shifts. */
static acq_status load_quality(const acq_safetensors *file, acq_calibrator *out, size_t *n_tensors,
                               acq_error *error)
{
    uint32_t rows, cols;
    if (!acq_safetensors_get_shape(file, quality_name, &rows, &cols))
        return ACQ_OK;
    acq_shape shape = {.name = quality_name, .rows = rows, .cols = QUALITY_COLS};
    float *values = cols != QUALITY_COLS ? NULL : acq_alloc(rows, QUALITY_COLS * sizeof *values);
    if (cols == QUALITY_COLS && values == NULL)
        return acq_fail_memory(error);
    ++*n_tensors;
    acq_status status = acq_safetensors_copy_tensor(file, &shape, values, error);
    if (status == ACQ_OK && values != NULL)
        status = take_quality(values, rows, out, error);
    acq_free(values);
    return status;
}

static acq_status load_reliability(const acq_safetensors *file, acq_calibrator *out,
                                   size_t *n_tensors, acq_error *error)
{
    /* The losses at the end are estimates, which few candidates can make negative. */
    enum { N_VALUES = RELIABILITY_ROWS * RELIABILITY_COLS, LOSSES = N_VALUES - 2 };
    float values[N_VALUES];
    acq_shape shape = {
        .name = reliability_name, .rows = RELIABILITY_ROWS, .cols = RELIABILITY_COLS};
    uint32_t rows, cols;
    if (!acq_safetensors_get_shape(file, reliability_name, &rows, &cols))
        return ACQ_OK;
    ++*n_tensors;
    acq_status status = acq_safetensors_copy_tensor(file, &shape, values, error);
    for (int i = 0; i < N_VALUES && status == ACQ_OK; i++)
        if (!((values[i] >= 0 || i >= LOSSES) && fabsf(values[i]) <= 1e18F))
            status = acq_fail(error, ACQ_ERR_INPUT,
                              "the calibrator's reliability %d is no sum; make it again", i);
    for (int i = 0; i < ACQ_RELIABILITY_BINS && status == ACQ_OK; i++) {
        const float *row = values + i * RELIABILITY_COLS;
        acq_reliability_bin *bin = &out->reliability.bins[i];
        bin->weight = (double)row[0];
        bin->n = (uint64_t)row[1];
        bin->stated = (double)row[2];
        bin->truth = (double)row[3];
    }
    if (status == ACQ_OK) {
        const float *row = values + ACQ_RELIABILITY_BINS * RELIABILITY_COLS;
        out->reliability.weight = (double)row[0];
        out->reliability.log_loss = (double)row[2];
        out->reliability.base_log_loss = (double)row[3];
    }
    return status;
}

static acq_status load_parts(const acq_safetensors *file, acq_calibrator *out, acq_error *error)
{
    size_t n_expected = has_part(file, "answer") ? acq_boost_get_n_shapes() : 0;
    acq_status status = load_shifts(file, out, &n_expected, error);
    if (status == ACQ_OK)
        status = load_quality(file, out, &n_expected, error);
    if (status == ACQ_OK)
        status = load_reliability(file, out, &n_expected, error);
    for (int i = 0; i < N_BOOSTS && status == ACQ_OK; i++) {
        if (!has_part(file, parts[i].name))
            continue;
        status = acq_boost_load(file, parts[i].name, get_part(out, i), error);
        n_expected += acq_boost_get_n_shapes();
    }
    if (status == ACQ_OK && acq_safetensors_get_n(file) != n_expected)
        status = acq_fail(error, ACQ_ERR_INPUT,
                          "the calibrator has %zu tensors, expected %zu; make it again",
                          acq_safetensors_get_n(file), n_expected);
    return status;
}

static acq_status load(const acq_safetensors *file, acq_calibrator **out, acq_error *error)
{
    acq_calibrator *calibrator = acq_calibrator_new();
    if (calibrator == NULL)
        return acq_fail_memory(error);
    acq_status status = load_metadata(file, calibrator, error);
    if (status == ACQ_OK)
        status = load_parts(file, calibrator, error);
    if (status != ACQ_OK) {
        acq_calibrator_free(calibrator);
        return status;
    }
    *out = calibrator;
    return ACQ_OK;
}

acq_status acq_calibrator_read(const char *path, acq_calibrator **out, acq_error *error)
{
    acq_safetensors *file = NULL;
    acq_status status = acq_safetensors_read(path, &file, error);
    if (status == ACQ_OK)
        status = load(file, out, error);
    acq_safetensors_free(file);
    acq_error_set_file(error, path);
    return status;
}

acq_status acq_calibrator_read_memory(const void *bytes, size_t length, const char *name,
                                      acq_calibrator **out, acq_error *error)
{
    acq_safetensors *file = NULL;
    acq_status status = acq_safetensors_read_memory(bytes, length, name, &file, error);
    if (status == ACQ_OK)
        status = load(file, out, error);
    acq_safetensors_free(file);
    acq_error_set_file(error, name);
    return status;
}

/* ---- writing ---- */

static acq_status list_shapes(const acq_calibrator *calibrator, acq_arena *arena, acq_shape *shapes,
                              size_t *n)
{
    acq_status status = ACQ_OK;
    *n = 0;
    for (int i = 0; i < N_BOOSTS && status == ACQ_OK; i++) {
        const acq_boost *boost = look_at_part(calibrator, i);
        if (boost == NULL)
            continue;
        status = acq_boost_get_shapes(boost, parts[i].name, arena, shapes + *n);
        *n += acq_boost_get_n_shapes();
    }
    if (calibrator->n_shifts > 0)
        shapes[(*n)++] =
            (acq_shape){.name = shifts_name, .rows = calibrator->n_shifts, .cols = SHIFT_COLS};
    if (calibrator->n_quality > 0)
        shapes[(*n)++] =
            (acq_shape){.name = quality_name, .rows = calibrator->n_quality, .cols = QUALITY_COLS};
    if (calibrator->reliability.weight > 0)
        shapes[(*n)++] = (acq_shape){
            .name = reliability_name, .rows = RELIABILITY_ROWS, .cols = RELIABILITY_COLS};
    return status;
}

static void store_reliability(const acq_reliability *table, float *row)
{
    for (int i = 0; i < ACQ_RELIABILITY_BINS; i++, row += RELIABILITY_COLS) {
        row[0] = (float)table->bins[i].weight;
        row[1] = (float)table->bins[i].n;
        row[2] = (float)table->bins[i].stated;
        row[3] = (float)table->bins[i].truth;
    }
    row[0] = (float)table->weight;
    row[1] = 0;
    row[2] = (float)table->log_loss;
    row[3] = (float)table->base_log_loss;
}

static void store_parts(const acq_calibrator *calibrator, acq_parameters *parameters)
{
    const acq_tensor *tensors = parameters->tensors;
    for (int i = 0; i < N_BOOSTS; i++) {
        const acq_boost *boost = look_at_part(calibrator, i);
        if (boost == NULL)
            continue;
        acq_boost_store(boost, tensors, parameters->values);
        tensors += acq_boost_get_n_shapes();
    }
    if (calibrator->n_shifts > 0) {
        memcpy(parameters->values + tensors->offset, calibrator->shifts,
               calibrator->n_shifts * sizeof *calibrator->shifts);
        tensors++;
    }
    for (uint32_t i = 0; i < calibrator->n_quality; i++) {
        float *row = parameters->values + tensors->offset + (size_t)i * QUALITY_COLS;
        row[0] = (float)calibrator->quality[i].held;
        row[1] = (float)calibrator->quality[i].said;
        row[2] = (float)calibrator->quality[i].right;
    }
    tensors += calibrator->n_quality > 0;
    if (calibrator->reliability.weight > 0)
        store_reliability(&calibrator->reliability, parameters->values + tensors->offset);
}

acq_status acq_calibrator_write_memory(const acq_calibrator *calibrator, void **out, size_t *length,
                                       acq_error *error)
{
    char shares[64], worlds[64];
    acq_format(shares, sizeof shares, "0 %.6f %.6f", calibrator->unsupported_balanced,
               calibrator->open_balanced);
    acq_format(worlds, sizeof worlds, "%.6f %.6f %.6f", calibrator->joint, calibrator->if_slope,
               calibrator->if_shift);
    const acq_metadata metadata[] = {{"format", format},
                                     {"models", calibrator->models},
                                     {"graph", calibrator->graph},
                                     {"shares", shares},
                                     {"worlds", worlds}};
    acq_shape shapes[MOST_SHAPES];
    acq_parameters parameters = {0};
    acq_arena arena;
    size_t n = 0;
    acq_arena_init(&arena);
    acq_status status = list_shapes(calibrator, &arena, shapes, &n);
    if (status == ACQ_OK)
        status = acq_parameters_init(&parameters, shapes, n);
    if (status != ACQ_OK) {
        (void)acq_fail_memory(error);
    } else {
        store_parts(calibrator, &parameters);
        status = acq_safetensors_write_memory(
            &parameters, metadata, sizeof metadata / sizeof metadata[0], out, length, error);
    }
    acq_parameters_deinit(&parameters);
    acq_arena_deinit(&arena);
    return status;
}

acq_status acq_calibrator_write(const char *path, const acq_calibrator *calibrator,
                                acq_error *error)
{
    void *bytes = NULL;
    size_t length = 0;
    acq_status status = acq_calibrator_write_memory(calibrator, &bytes, &length, error);
    if (status == ACQ_OK)
        status = acq_new_file_write(path, "the calibrator", bytes, length, error);
    acq_free(bytes);
    acq_error_set_file(error, path);
    return status;
}

/* ---- predictors that carry it ---- */

void acq_calibrator_attach(acq_calibrator *calibrator, acq_predictor *predictor)
{
    static const acq_calibrator_ops owned = {.free = acq_calibrator_free,
                                             .write_memory = acq_calibrator_write_memory};
    acq_predictor_set_calibrator(predictor, calibrator, &owned);
}

void acq_calibrator_lend(acq_calibrator *calibrator, acq_predictor *predictor)
{
    static const acq_calibrator_ops lent = {.write_memory = acq_calibrator_write_memory};
    acq_predictor_set_calibrator(predictor, calibrator, &lent);
}

acq_status acq_calibrator_open_completion(const acq_graph *graph, const char *path,
                                          acq_predictor **out, acq_error *error)
{
    acq_predictor *completion = NULL;
    acq_calibrator *calibrator = NULL;
    void *bytes = NULL;
    size_t length = 0;
    acq_status status = acq_predictor_new_completion(graph, path, &completion, error);
    if (status == ACQ_OK)
        status = acq_completion_copy_calibrator(completion, &bytes, &length, error);
    if (status == ACQ_OK && length > 0)
        status = acq_calibrator_read_memory(bytes, length, path, &calibrator, error);
    acq_free(bytes);
    if (status != ACQ_OK) {
        acq_predictor_free(completion);
        return status;
    }
    acq_calibrator_attach(calibrator, completion);
    status = acq_reasons_attach_kept(completion, error);
    if (status == ACQ_OK)
        *out = completion;
    else
        acq_predictor_free(completion);
    return status;
}

/* ---- what it says ---- */

acq_status acq_calibrator_set_quality(acq_calibrator *calibrator, const acq_link_quality *quality,
                                      uint32_t n, acq_error *error)
{
    acq_link_quality *copy = n == 0 ? NULL : acq_alloc(n, sizeof *copy);
    if (n > 0 && copy == NULL)
        return acq_fail_memory(error);
    if (n > 0)
        memcpy(copy, quality, n * sizeof *copy);
    acq_free(calibrator->quality);
    calibrator->quality = copy;
    calibrator->n_quality = n;
    return ACQ_OK;
}

const acq_link_quality *acq_calibrator_get_quality(const acq_calibrator *calibrator,
                                                   acq_rel relation)
{
    bool is_known = calibrator != NULL && relation / 2 < calibrator->n_quality;
    return is_known ? &calibrator->quality[relation / 2] : NULL;
}

bool acq_calibrator_knows_answers(const acq_calibrator *calibrator, double prior)
{
    if (calibrator == NULL)
        return false;
    return prior < 0 || calibrator->balanced != NULL;
}

double acq_calibrator_get_share_logit(double p, double p_any)
{
    double share = fmin(fmax(p / fmax(p_any, 1e-9), .001), .99);
    return log(share / (1 - share));
}

double acq_calibrator_get_p_if_answered(const acq_calibrator *calibrator, double p, double p_any)
{
    double logit = calibrator->if_slope * acq_calibrator_get_share_logit(p, p_any);
    if (p_any >= 1)
        return p;
    return fmax(p, acq_boost_to_probability(logit + calibrator->if_shift));
}

double acq_calibrator_get_prior_p(const acq_calibrator *calibrator, const float *features,
                                  double prior)
{
    if (calibrator->balanced == NULL)
        return NAN;
    double odds = acq_boost_score(calibrator->balanced, features);
    return acq_boost_to_probability(odds + log(prior / (1 - prior)));
}

static double get_odds(double p)
{
    return p / (1 - p);
}

static double from_odds(double odds)
{
    return odds / (1 + odds);
}

double acq_calibrator_get_unsupported_p(const acq_calibrator *calibrator, double prior)
{
    return from_odds(get_odds(calibrator->unsupported_balanced) * get_odds(prior));
}

double acq_calibrator_get_open_prior(const acq_calibrator *calibrator, double prior)
{
    double open = calibrator == NULL || prior < 0 ? 0 : calibrator->open_balanced;
    return open > 0 ? from_odds(get_odds(prior) / get_odds(open)) : prior;
}
