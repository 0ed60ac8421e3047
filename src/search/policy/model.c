/* model.c - see model.h. */
#include "search/policy/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"

static const char FORMAT[] = "anycq-policy-1";
static const char LABELS_BOTH[] = "PE LE", LABELS_LE[] = "LE";

static void get_shapes(uint32_t d, acq_shape *shapes)
{
    size_t i = 0;
#define SHAPE(field, name, rows, cols) shapes[i++] = (acq_shape){name, rows, cols};
    ACQ_POLICY_TENSORS(SHAPE)
#undef SHAPE
}

static const acq_policy_tensor products[] = {
#define PRODUCT(field) ACQ_POLICY_##field,
    ACQ_POLICY_PRODUCTS(PRODUCT)
#undef PRODUCT
};

enum { N_PRODUCTS = sizeof products / sizeof *products };

/* The last column of e1 is that of the "assigned" input, which is added apart. */
static size_t get_inputs(const acq_policy *policy, acq_policy_tensor tensor)
{
    return tensor == ACQ_POLICY_e1_w ? policy->dim : policy->parameters.tensors[tensor].cols;
}

static acq_status init_products(acq_policy *policy, bool trainable)
{
    for (size_t i = 0; i < N_PRODUCTS; i++) {
        acq_policy_tensor tensor = products[i];
        size_t n_in = get_inputs(policy, tensor);
        size_t n_out = policy->parameters.tensors[tensor].rows;
        if (acq_packed_init(&policy->forward[tensor], n_in, n_out) != ACQ_OK)
            return ACQ_ERR_MEMORY;
        if (trainable && acq_packed_init(&policy->backward[tensor], n_out, n_in) != ACQ_OK)
            return ACQ_ERR_MEMORY;
    }
    return ACQ_OK;
}

static acq_status new_zero(uint32_t dim, bool uses_pe, bool trainable, const char *name,
                           acq_policy **out, acq_error *error)
{
    acq_shape shapes[ACQ_N_POLICY_TENSORS];
    if (dim < ACQ_POLICY_DIM_LEAST || dim > ACQ_POLICY_DIM_MOST)
        return acq_fail(error, ACQ_ERR_USAGE, "a policy has %d to %d dimensions, not %u",
                        ACQ_POLICY_DIM_LEAST, ACQ_POLICY_DIM_MOST, dim);
    acq_policy *policy = acq_zalloc(1, sizeof *policy);
    if (policy == NULL)
        return acq_fail_memory(error);
    policy->dim = dim;
    policy->uses_pe = uses_pe;
    policy->kernels = acq_kernels_get_best();
    policy->name = acq_copy_string(name);
    get_shapes(dim, shapes);
    if (policy->name == NULL ||
        acq_parameters_init(&policy->parameters, shapes, ACQ_N_POLICY_TENSORS) != ACQ_OK ||
        init_products(policy, trainable) != ACQ_OK) {
        acq_policy_free(policy);
        return acq_fail_memory(error);
    }
    *out = policy;
    return ACQ_OK;
}

void acq_policy_free(acq_policy *policy)
{
    if (policy == NULL)
        return;
    for (size_t i = 0; i < N_PRODUCTS; i++) {
        acq_packed_deinit(&policy->forward[products[i]]);
        acq_packed_deinit(&policy->backward[products[i]]);
    }
    acq_parameters_deinit(&policy->parameters);
    acq_free(policy->name);
    acq_free(policy);
}

const char *acq_policy_get_name(const acq_policy *policy)
{
    return policy == NULL ? "" : policy->name;
}

void acq_policy_pack(acq_policy *policy)
{
    for (size_t i = 0; i < N_PRODUCTS; i++) {
        acq_policy_tensor tensor = products[i];
        const float *w = acq_policy_get(policy, tensor);
        size_t ldw = policy->parameters.tensors[tensor].cols;
        acq_packed_fill(&policy->forward[tensor], w, ldw);
        if (policy->backward[tensor].panels != NULL)
            acq_packed_fill_transposed(&policy->backward[tensor], w, ldw);
    }
}

static double draw_normal(acq_random *random)
{
    double u = 1.0 - acq_random_unit(random), v = acq_random_unit(random);
    return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * v);
}

/* Uniform in +-1/sqrt(inputs); a bias has the inputs of the weights before it, and all of the GRU
 * is drawn with those of its state. Gains of layer norms (vectors after a bias-free product or at
 * the head of O) are 1, shifts 0. */
static void draw_weights(acq_policy *policy, uint64_t seed)
{
    static const bool is_gain[ACQ_N_POLICY_TENSORS] = {
        [ACQ_POLICY_e_g] = true, [ACQ_POLICY_v_g] = true, [ACQ_POLICY_r_g] = true,
        [ACQ_POLICY_u_g] = true, [ACQ_POLICY_x_g] = true, [ACQ_POLICY_o_g] = true};
    double bound = 0;
    for (unsigned t = 0; t < ACQ_N_POLICY_TENSORS; t++) {
        const acq_tensor *tensor = &policy->parameters.tensors[t];
        float *values = policy->parameters.values + tensor->offset;
        acq_random random = acq_random_start(seed, 0x706f6c69637900ULL + t);
        bool is_shift = t > 0 && is_gain[t - 1];
        if (tensor->cols > 0)
            bound = 1.0 / sqrt(tensor->cols);
        for (size_t i = 0; i < acq_tensor_get_length(tensor); i++) {
            double drawn = t == ACQ_POLICY_start ? draw_normal(&random)
                                                 : bound * (2.0 * acq_random_unit(&random) - 1.0);
            values[i] = is_gain[t] ? 1.0F : is_shift ? 0.0F : (float)drawn;
        }
    }
}

acq_status acq_policy_new(uint32_t dim, uint64_t seed, bool uses_pe, bool trainable,
                          acq_policy **out, acq_error *error)
{
    acq_policy *policy;
    acq_status status = new_zero(dim, uses_pe, trainable, "untrained", &policy, error);
    if (status != ACQ_OK)
        return status;
    draw_weights(policy, seed);
    acq_policy_pack(policy);
    *out = policy;
    return ACQ_OK;
}

static acq_status read_dim(const acq_safetensors *file, uint32_t *dim, acq_error *error)
{
    const char *format = acq_safetensors_get_metadata(file, "format");
    uint32_t cols;
    if (format == NULL || strcmp(format, FORMAT) != 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "this is no policy of anycq (format \"%.40s\", not \"%s\"); make one with "
                        "anycq train policy",
                        format == NULL ? "" : format, FORMAT);
    if (!acq_safetensors_get_shape(file, "start", dim, &cols) || cols != 0 ||
        *dim < ACQ_POLICY_DIM_LEAST || *dim > ACQ_POLICY_DIM_MOST)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "tensor \"start\" must be a vector of %d to %d numbers",
                        ACQ_POLICY_DIM_LEAST, ACQ_POLICY_DIM_MOST);
    char dim_text[16];
    const char *said = acq_safetensors_get_metadata(file, "dim");
    snprintf(dim_text, sizeof dim_text, "%u", *dim);
    if (said == NULL || strcmp(said, dim_text) != 0)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "the metadata say \"%.20s\" dimensions, the tensors have %u; the file is "
                        "damaged",
                        said == NULL ? "" : said, *dim);
    return ACQ_OK;
}

static acq_status read_labels(const acq_safetensors *file, bool *uses_pe, acq_error *error)
{
    const char *labels = acq_safetensors_get_metadata(file, "labels");
    *uses_pe = labels != NULL && strcmp(labels, LABELS_BOTH) == 0;
    if (*uses_pe || (labels != NULL && strcmp(labels, LABELS_LE) == 0))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INPUT,
                    "the metadata say labels \"%.20s\", not \"%s\" or \"%s\"; a newer version of "
                    "anycq may know them",
                    labels == NULL ? "" : labels, LABELS_BOTH, LABELS_LE);
}

/* Checks names, shapes and that values are finite; the metadata say dim and labels. */
static acq_status new_loaded(const acq_safetensors *file, const char *name, acq_policy **out,
                             acq_error *error)
{
    uint32_t dim;
    acq_policy *policy = NULL;
    bool uses_pe;
    acq_status status = read_dim(file, &dim, error);
    if (status == ACQ_OK)
        status = read_labels(file, &uses_pe, error);
    if (status == ACQ_OK)
        status = new_zero(dim, uses_pe, false, name, &policy, error);
    if (status == ACQ_OK)
        status = acq_safetensors_load(file, &policy->parameters, error);
    if (status != ACQ_OK) {
        acq_policy_free(policy);
        return status;
    }
    acq_policy_pack(policy);
    *out = policy;
    return ACQ_OK;
}

static acq_status read_policy(const char *path, acq_policy **out, acq_error *error)
{
    acq_safetensors *file;
    acq_status status = acq_safetensors_read(path, &file, error);
    if (status != ACQ_OK)
        return status;
    status = new_loaded(file, path, out, error);
    acq_safetensors_free(file);
    if (status == ACQ_ERR_INPUT)
        acq_error_set_file(error, path);
    return status;
}

acq_status acq_policy_open(const char *spec, uint64_t seed, acq_policy **out, acq_error *error)
{
    static const char untrained[] = "untrained";
    size_t length = sizeof untrained - 1;
    ACQ_REQUIRE(spec, error);
    ACQ_REQUIRE(out, error);
    if (strcmp(spec, "shipped") == 0)
        return acq_policy_new_shipped(out, error);
    if (strcmp(spec, untrained) == 0)
        return acq_policy_new(32, seed, true, false, out, error);
    if (strncmp(spec, untrained, length) == 0 && spec[length] == ':') {
        char *end;
        unsigned long dim = strtoul(spec + length + 1, &end, 10);
        if (*end != '\0' || end == spec + length + 1 || dim > ACQ_POLICY_DIM_MOST)
            return acq_fail(error, ACQ_ERR_USAGE,
                            "weights \"%.60s\": untrained:DIM needs a number from %d to %d", spec,
                            ACQ_POLICY_DIM_LEAST, ACQ_POLICY_DIM_MOST);
        return acq_policy_new((uint32_t)dim, seed, true, false, out, error);
    }
    return read_policy(spec, out, error);
}

enum { MOST_METADATA = 32 };

acq_status acq_policy_write(const acq_policy *policy, const char *path,
                            const acq_metadata *metadata, size_t n, acq_error *error)
{
    char dim[16];
    acq_metadata all[MOST_METADATA] = {
        {"format", FORMAT}, {"dim", dim}, {"labels", policy->uses_pe ? LABELS_BOTH : LABELS_LE}};
    if (n > MOST_METADATA - 3)
        return acq_fail(error, ACQ_ERR_LIMIT, "a policy file takes %d metadata entries at most",
                        MOST_METADATA - 3);
    snprintf(dim, sizeof dim, "%u", policy->dim);
    memcpy(all + 3, metadata, n * sizeof *metadata);
    return acq_safetensors_write(path, &policy->parameters, all, n + 3, error);
}

/* ---- the weights that ship with the library ----
 *
 * models/anycq-policy.safetensors as it was when the library was built, put among its constants by
 * the assembler. ACQ_SHIPPED_POLICY is the path of the file, which the build gives as a string. */

extern const unsigned char acq_shipped_policy_begin[], acq_shipped_policy_end[];

/* Local to the library: hidden, so that a shared one needs no relocation for them. */
__asm__(".pushsection .rodata,\"a\",%progbits\n"
        ".balign 64\n"
        ".globl acq_shipped_policy_begin\n"
        ".hidden acq_shipped_policy_begin\n"
        "acq_shipped_policy_begin:\n"
        ".incbin \"" ACQ_SHIPPED_POLICY "\"\n"
        ".globl acq_shipped_policy_end\n"
        ".hidden acq_shipped_policy_end\n"
        "acq_shipped_policy_end:\n"
        ".byte 0\n"
        ".popsection\n");

acq_status acq_policy_new_shipped(acq_policy **out, acq_error *error)
{
    acq_safetensors *file;
    size_t length = (uintptr_t)acq_shipped_policy_end - (uintptr_t)acq_shipped_policy_begin;
    acq_status status =
        acq_safetensors_read_memory(acq_shipped_policy_begin, length, "shipped", &file, error);
    if (status != ACQ_OK)
        return status;
    status = new_loaded(file, "shipped", out, error);
    acq_safetensors_free(file);
    return status;
}
