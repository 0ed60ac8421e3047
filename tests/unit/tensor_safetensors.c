/* tensor_safetensors.c - files that are read, files that are refused with their message, what is
 * written, and every failed allocation. Files are built here: a header, then bytes of data. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/memory.h"
#include "tensor/safetensors.h"

enum { ROOM = 4096, MOST_ALLOCATIONS = 1000 };

typedef struct content {
    char bytes[ROOM];
    size_t length;
} content;

/* Data byte i is i % 251 / 4, so that every float is finite. */
static content build(const char *header, size_t data_length)
{
    content file = {.length = 8 + strlen(header) + data_length};
    uint64_t length = strlen(header);
    assert_true(file.length <= ROOM);
    memcpy(file.bytes, &length, 8);
    memcpy(file.bytes + 8, header, length);
    for (size_t i = 0; i < data_length; i++)
        file.bytes[8 + length + i] = (char)(i % 251 / 4);
    return file;
}

static acq_status read_content(const content *file, acq_safetensors **out, acq_error *error)
{
    char *exact = malloc(file->length == 0 ? 1 : file->length); /* for the address sanitizer */
    memcpy(exact, file->bytes, file->length);
    acq_status status =
        acq_safetensors_read_memory(exact, file->length, "m.safetensors", out, error);
    free(exact);
    return status;
}

static char folder[] = "anycq-safetensors-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL || chdir(folder) != 0 ? -1 : 0;
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("..") != 0 || rmdir(folder) != 0 ? -1 : 0;
}

static void save(const char *path, const void *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static content load(const char *path)
{
    content found = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    found.length = fread(found.bytes, 1, ROOM, file);
    fclose(file);
    return found;
}

#define T(name, dtype, shape, offsets)                                                             \
    "\"" name "\":{\"dtype\":\"" dtype "\",\"shape\":" shape ",\"data_offsets\":" offsets "}"

/* ---- good files ---- */

static void test_tensors_come_in_the_order_of_their_places(void **state)
{
    (void)state;
    content file = build(
        "{" T("late", "F32", "[3]", "[24,36]") "," T("early", "F32", "[2,3]", "[0,24]") "}   ", 36);
    acq_safetensors *read = NULL;
    uint32_t rows, cols;
    assert_int_equal(read_content(&file, &read, NULL), ACQ_OK);
    assert_int_equal(acq_safetensors_get_n(read), 2);
    assert_string_equal(acq_safetensors_get_name(read, 0), "early");
    assert_true(acq_safetensors_get_shape(read, "early", &rows, &cols));
    assert_true(rows == 2 && cols == 3);
    assert_true(acq_safetensors_get_shape(read, "late", &rows, &cols));
    assert_true(rows == 3 && cols == 0);
    assert_false(acq_safetensors_get_shape(read, "none", &rows, &cols));
    assert_null(acq_safetensors_get_metadata(read, "any"));
    acq_safetensors_free(read);
}

/* Legal in the format, though no network here has such tensors. */
static void test_scalars_empty_tensors_and_more_dimensions_are_read(void **state)
{
    (void)state;
    content file =
        build("{" T("scalar", "F32", "[]", "[0,4]") "," T("none", "F32", "[0]", "[4,4]") "," T(
                  "cube", "F32", "[1,2,2]", "[4,20]") "," T("flat", "F32", "[2,0]", "[20,20]") "}",
              20);
    acq_safetensors *read = NULL;
    uint32_t rows, cols;
    assert_int_equal(read_content(&file, &read, NULL), ACQ_OK);
    assert_int_equal(acq_safetensors_get_n(read), 4);
    assert_false(acq_safetensors_get_shape(read, "scalar", &rows, &cols));
    assert_false(acq_safetensors_get_shape(read, "cube", &rows, &cols));
    assert_false(acq_safetensors_get_shape(read, "flat", &rows, &cols));
    assert_true(acq_safetensors_get_shape(read, "none", &rows, &cols));
    assert_true(rows == 0 && cols == 0);
    acq_safetensors_free(read);
}

static void test_metadata_are_texts(void **state)
{
    (void)state;
    content file = build("{\"__metadata__\":{\"a\":\"one\\ntwo\",\"\":\"\xc3\xa9\"}}", 0);
    acq_safetensors *read = NULL;
    assert_int_equal(read_content(&file, &read, NULL), ACQ_OK);
    assert_int_equal(acq_safetensors_get_n(read), 0);
    assert_string_equal(acq_safetensors_get_metadata(read, "a"), "one\ntwo");
    assert_string_equal(acq_safetensors_get_metadata(read, ""), "\xc3\xa9");
    assert_null(acq_safetensors_get_metadata(read, "b"));
    acq_safetensors_free(read);
    acq_safetensors_free(NULL);
}

/* The header's length is no multiple of 4 here. */
static void test_tensors_at_odd_places_are_loaded(void **state)
{
    (void)state;
    const acq_shape shapes[] = {{"b", 2, 0}, {"a", 1, 3}};
    const char *header =
        "{" T("a", "F32", "[1,3]", "[0,12]") "," T("b", "F32", "[2]", "[12,20]") "}";
    acq_parameters parameters;
    acq_safetensors *read = NULL;
    acq_error error = {0};
    assert_int_equal(acq_parameters_init(&parameters, shapes, 2), ACQ_OK);
    for (size_t pad = 0; pad < 4; pad++) {
        char padded[ROOM];
        float expected[5];
        snprintf(padded, sizeof padded, "%s%.*s", header, (int)pad, "    ");
        content file = build(padded, 20);
        memcpy(expected, file.bytes + file.length - 20, 20);
        assert_int_equal(read_content(&file, &read, &error), ACQ_OK);
        assert_int_equal(acq_safetensors_load(read, &parameters, &error), ACQ_OK);
        assert_memory_equal(parameters.values + parameters.tensors[1].offset, expected, 12);
        assert_memory_equal(parameters.values + parameters.tensors[0].offset, expected + 3, 8);
        acq_safetensors_free(read);
    }
    acq_parameters_deinit(&parameters);
}

/* ---- bad files ---- */

typedef struct bad_header {
    const char *header;
    size_t data_length;
    const char *message; /* the first part of it */
} bad_header;

#define A4       T("a", "F32", "[1]", "[0,4]")
#define BAD_JSON "its header is not valid JSON: "

static const bad_header bad_headers[] = {
    /* JSON */
    {"{", 0, "this is not a safetensors file, or it is damaged"},
    {"{ ", 0, BAD_JSON},
    {"{]", 0, BAD_JSON},
    {"{}}", 0, BAD_JSON},
    {"{} x", 0, BAD_JSON},
    {"{\"a\":}", 0, BAD_JSON},
    {"{\"a\":1,}", 0, BAD_JSON},
    {"{'a':1}", 0, BAD_JSON},
    {"{\"a\":tru}", 0, BAD_JSON},
    {"{\"a\":\x1b[31m}", 0, BAD_JSON "line 1, column 6: expected a value"},
    {"{" A4 "," A4 "}", 4, BAD_JSON "line 1, column 1: an object has a name twice"},
    {"{\"a\\u0000b\":{}}", 0, BAD_JSON "line 1, column 4: this escape stands for no character that a text may hold"},
    {"{\"__metadata__\":{\"k\":\"a\\u0000\"}}", 0, BAD_JSON},
    {"{\"a\xff\":{}}", 0, BAD_JSON},
    {"{\"a\xed\xa0\x80\":{}}", 0, BAD_JSON},
    {"{\"a\n\":{}}", 0, BAD_JSON},
    {"{" T("a", "F32", "[99999999999999999999]", "[0,4]") "}", 4, BAD_JSON},
    {"{" T("a", "F32", "[1]", "[0,1e999]") "}", 4, BAD_JSON},
    /* members */
    {"{\"a\":1}", 0, "tensor \"a\" must be an object with dtype, shape and data_offsets"},
    {"{\"a\":null}", 0, "tensor \"a\" must be an object"},
    {"{\"a\":[]}", 0, "tensor \"a\" must be an object"},
    {"{\"a\":{}}", 0, "tensor \"a\" has no member \"dtype\""},
    {"{\"a\":{\"dtype\":\"F32\"}}", 0, "tensor \"a\" has no member \"shape\""},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", 0, "tensor \"a\" has no member \"data_offsets\""},
    {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"x\":1}}", 4,
     "tensor \"a\" has members besides dtype, shape and data_offsets"},
    {"{" T("a\\u001b[2J", "F32", "[1]", "[0,4]") "}", 4,
     "the name of tensor 1 holds a control character"},
    {"{" A4 "," T("b\\u007f", "F32", "[1]", "[4,8]") "}", 8,
     "the name of tensor 2 holds a control character"},
    /* dtypes */
    {"{" T("a", "BF16", "[2]", "[0,4]") "}", 4,
     "tensor \"a\" has dtype BF16; only F32 is read, so convert it first"},
    {"{" T("a", "F16", "[2]", "[0,4]") "}", 4, "tensor \"a\" has dtype F16;"},
    {"{" T("a", "F64", "[1]", "[0,8]") "}", 8, "tensor \"a\" has dtype F64;"},
    {"{" T("a", "I64", "[1]", "[0,8]") "}", 8, "tensor \"a\" has dtype I64;"},
    {"{" T("a", "f32", "[1]", "[0,4]") "}", 4, "tensor \"a\" has dtype f32;"},
    {"{" T("a", "", "[1]", "[0,4]") "}", 4, "tensor \"a\" has dtype ;"},
    {"{" T("a", "\\u001b", "[1]", "[0,4]") "}", 4, "tensor \"a\" has dtype ?;"},
    {"{\"a\":{\"dtype\":32,\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
     "tensor \"a\": \"dtype\" must be a text"},
    /* shapes */
    {"{" T("a", "F32", "1", "[0,4]") "}", 4, "tensor \"a\": \"shape\" must be a list of numbers"},
    {"{" T("a", "F32", "{}", "[0,4]") "}", 4, "tensor \"a\": \"shape\" must be a list of numbers"},
    {"{" T("a", "F32", "[-1]", "[0,4]") "}", 4,
     "tensor \"a\": \"shape\" must hold whole numbers from 0 on"},
    {"{" T("a", "F32", "[1.0]", "[0,4]") "}", 4,
     "tensor \"a\": \"shape\" must hold whole numbers from 0 on"},
    {"{" T("a", "F32", "[\"1\"]", "[0,4]") "}", 4,
     "tensor \"a\": \"shape\" must hold whole numbers from 0 on"},
    {"{" T("a", "F32", "[[1]]", "[0,4]") "}", 4, "tensor \"a\": \"shape\" must hold"},
    {"{" T("a", "F32", "[1,1,1,1,1,1,1,1,1]", "[0,4]") "}", 4,
     "tensor \"a\" has 9 dimensions; at most 8 are read"},
    {"{" T("a", "F32", "[4611686018427387905]", "[0,4]") "}", 4,
     "tensor \"a\": the shape [4611686018427387905] is too large"},
    {"{" T("a", "F32", "[4294967296,4294967296]", "[0,0]") "}", 0,
     "tensor \"a\": the shape [4294967296, 4294967296] is too large"},
    {"{" T("a", "F32", "[9223372036854775807,9223372036854775807,2]", "[0,4]") "}", 4,
     "tensor \"a\": the shape [9223372036854775807, 9223372036854775807, 2] is too large"},
    {"{" T("a", "F32", "[2]", "[0,4]") "}", 4,
     "tensor \"a\" of shape [2] needs 8 bytes, but has 4"},
    {"{" T("a", "F32", "[0]", "[0,4]") "}", 4,
     "tensor \"a\" of shape [0] needs 0 bytes, but has 4"},
    {"{" T("a", "F32", "[]", "[0,0]") "}", 0, "tensor \"a\" of shape [] needs 4 bytes, but has 0"},
    {"{" T("a", "F32", "[1]", "[0,5]") "}", 5,
     "tensor \"a\" of shape [1] needs 4 bytes, but has 5"},
    /* places */
    {"{" T("a", "F32", "[1]", "[0]") "}", 4,
     "tensor \"a\": \"data_offsets\" must be two whole numbers from 0 on"},
    {"{" T("a", "F32", "[1]", "[0,4,8]") "}", 4, "tensor \"a\": \"data_offsets\" must be two"},
    {"{" T("a", "F32", "[1]", "4") "}", 4, "tensor \"a\": \"data_offsets\" must be two"},
    {"{" T("a", "F32", "[1]", "[-4,0]") "}", 4, "tensor \"a\": \"data_offsets\" must be two"},
    {"{" T("a", "F32", "[1]", "[0,4.0]") "}", 4, "tensor \"a\": \"data_offsets\" must be two"},
    {"{" T("a", "F32", "[1]", "[4,0]") "}", 4, "tensor \"a\" ends before it begins"},
    {"{" A4 "}", 3,
     "tensor \"a\" ends at byte 4 of the data, but there are only 3; the file is cut off"},
    {"{" A4 "}", 0, "tensor \"a\" ends at byte 4 of the data, but there are only 0"},
    {"{" T("a", "F32", "[1]", "[9223372036854775803,9223372036854775807]") "}", 4,
     "tensor \"a\" ends at byte 9223372036854775807 of the data, but there are only 4"},
    {"{" A4 "}", 5, "1 bytes follow the last tensor; copy or make the file again"},
    {"{}", 1, "1 bytes follow the last tensor"},
    {"{" T("a", "F32", "[1]", "[4,8]") "}", 8,
     "bytes 0 to 4 of the data, before tensor \"a\", are of no tensor"},
    {"{" A4 "," T("b", "F32", "[1]", "[8,12]") "}", 12,
     "bytes 4 to 8 of the data, before tensor \"b\", are of no tensor"},
    {"{" A4 "," T("b", "F32", "[1]", "[0,4]") "}", 4, "tensors \"a\" and \"b\" overlap"},
    {"{" T("b", "F32", "[2]", "[2,10]") "," T("a", "F32", "[2]", "[0,8]") "}", 10,
     "tensors \"a\" and \"b\" overlap"},
    {"{" T("b", "F32", "[0]", "[4,4]") "," T("a", "F32", "[2]", "[0,8]") "}", 8,
     "tensors \"a\" and \"b\" overlap"},
    /* metadata */
    {"{\"__metadata__\":1}", 0, "__metadata__ must be an object of texts"},
    {"{\"__metadata__\":[]}", 0, "__metadata__ must be an object of texts"},
    {"{\"__metadata__\":{\"k\":1}}", 0, "__metadata__: the value of \"k\" must be a text"},
    {"{\"__metadata__\":{\"k\":{}}}", 0, "__metadata__: the value of \"k\" must be a text"},
    {"{\"__metadata__\":{\"\\u001b\":null}}", 0, "__metadata__: the value of \"?\" must be a text"},
    {"{\"__metadata__\":{\"k\":\"\",\"k\":\"\"}}", 0, BAD_JSON},
};

static void assert_refused(const content *file, const char *message)
{
    acq_safetensors *read = NULL;
    acq_error error = {0};
    acq_status status = read_content(file, &read, &error);
    if (status == ACQ_OK || strncmp(error.message, message, strlen(message)) != 0)
        fail_msg("\"%s\" instead of \"%s\"", error.message, message);
    assert_int_equal(error.code, status);
    assert_true(status == ACQ_ERR_INPUT || status == ACQ_ERR_LIMIT);
    assert_string_equal(error.file, "m.safetensors");
    assert_null(read);
}

static void test_bad_headers_are_refused_with_the_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_headers / sizeof bad_headers[0]; i++) {
        content file = build(bad_headers[i].header, bad_headers[i].data_length);
        assert_refused(&file, bad_headers[i].message);
    }
}

static void test_bad_frames_are_refused_with_the_reason(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *message;
    } cases[] = {
        {"", 0, "the file is empty; expected a safetensors file"},
        {"\2", 1, "this is not a safetensors file, or it is damaged; expected the length of a"},
        {"\2\0\0\0\0\0\0\0", 8, "this is not a safetensors file"},
        {"\0\0\0\0\0\0\0\0{}", 10, "this is not a safetensors file"},
        {"\2\0\0\0\0\0\0\0[]", 10, "this is not a safetensors file"},
        {"\3\0\0\0\0\0\0\0 {}", 11, "this is not a safetensors file"},
        {"\3\0\0\0\0\0\0\0{}", 10, "the file is cut off within its header; copy or make it again"},
        {"\0\xe1\xf5\5\0\0\0\0{}", 10, "the file is cut off within its header"},
        {"\1\xe1\xf5\5\0\0\0\0{}", 10, "its header would have 100000001 bytes; at most 100000000"},
        {"\377\377\377\377\377\377\377\377{}", 10, "its header would have 18446744073709551615"},
        {"PK\3\4\0\0\0\0\0\0\0\0", 12,
         "this is a zip archive (torch.save writes such), not a "
         "safetensors file; name or make one that is"},
        {"PK\3\4", 4, "this is a zip archive"},
        {"\200\2}q\0X\1\0\0\0aq", 12, "this is a Python pickle, not a safetensors file"},
        {"\200\5\225\0\0\0\0\0\0\0\0", 11, "this is a Python pickle, not"},
        {"\37\213\10\0\0\0\0\0\0\3", 10, "this is compressed by gzip, not a safetensors file"},
        {"\223NUMPY\1\0v\0", 10, "this is a NumPy array, not"},
        {"GGUF\3\0\0\0\0\0", 10, "this is a GGUF model, not"},
        {"\211HDF\r\n\32\n\0\0", 10, "this is an HDF5 file, not"},
        {"SQLite format 3", 16, "this is an SQLite database, not"},
        {"alpha\tlikes\tbeta\n", 17, "this is not a safetensors file"},
        {"{\"a\": {\"dtype\": 1}}", 19, "this is not a safetensors file"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        content file = {.length = cases[i].length};
        memcpy(file.bytes, cases[i].bytes, cases[i].length);
        assert_refused(&file, cases[i].message);
    }
}

static void test_depth_is_limited(void **state)
{
    (void)state;
    char header[ROOM / 2] = "{\"a\":";
    memset(header + 5, '[', sizeof header - 6);
    content file = build(header, 0);
    assert_refused(&file, BAD_JSON);
    char *deep = malloc(100000);
    acq_safetensors *read = NULL;
    acq_error error = {0};
    uint64_t length = 100000 - 8;
    memset(deep, '[', 100000);
    memcpy(deep, &length, 8);
    memcpy(deep + 8, "{\"a\":", 5);
    assert_int_equal(acq_safetensors_read_memory(deep, 100000, "deep", &read, &error),
                     ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "nested too deep"));
    free(deep);
}

static void test_what_is_no_file_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path, *message;
    } cases[] = {{"none.safetensors", "there is no such file; check the path"},
                 {"empty/none", "there is no such file; check the path"},
                 {".", "this is a folder; name a safetensors file"},
                 {"pipe", "this is not a regular file; name a safetensors file"},
                 {"empty", "the file is empty; expected a safetensors file"},
                 {"text", "this is not a safetensors file"}};
    save("empty", "", 0);
    save("text", "some text, longer than a frame\n", 31);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        acq_safetensors *read = NULL;
        acq_error error = {0};
        assert_int_equal(acq_safetensors_read(cases[i].path, &read, &error), ACQ_ERR_INPUT);
        assert_memory_equal(error.message, cases[i].message, strlen(cases[i].message));
        assert_string_equal(error.file, cases[i].path);
        assert_null(read);
    }
    unlink("empty");
    unlink("text");
    unlink("pipe");
}

/* ---- loading ---- */

static const acq_shape small_shapes[] = {{"a", 2, 3}, {"b", 3, 0}};

static void assert_not_loaded(content file, const char *message)
{
    acq_parameters parameters;
    acq_safetensors *read = NULL;
    acq_error error = {0};
    assert_int_equal(acq_parameters_init(&parameters, small_shapes, 2), ACQ_OK);
    for (size_t i = 0; i < parameters.n; i++)
        parameters.values[i] = 7;
    assert_int_equal(read_content(&file, &read, &error), ACQ_OK);
    assert_int_equal(acq_safetensors_load(read, &parameters, &error), ACQ_ERR_INPUT);
    assert_string_equal(error.message, message);
    assert_string_equal(error.file, "m.safetensors");
    for (size_t i = 0; i < parameters.n; i++)
        assert_true(parameters.values[i] == 7);
    acq_safetensors_free(read);
    acq_parameters_deinit(&parameters);
}

#define OTHER "; these weights are of another network"

static void test_other_networks_are_refused_and_nothing_is_changed(void **state)
{
    (void)state;
    const char *a = T("a", "F32", "[2,3]", "[0,24]");
    char header[ROOM];
    snprintf(header, sizeof header, "{%s}", a);
    assert_not_loaded(build(header, 24),
                      "there is no tensor \"b\" (expected with shape [3])" OTHER);
    assert_not_loaded(build("{}", 0),
                      "there is no tensor \"a\" (expected with shape [2, 3])" OTHER);
    snprintf(header, sizeof header, "{%s,%s}", a, T("b", "F32", "[3,1]", "[24,36]"));
    assert_not_loaded(build(header, 36), "tensor \"b\" has shape [3, 1], expected [3]" OTHER);
    snprintf(header, sizeof header, "{%s,%s}", a, T("b", "F32", "[]", "[24,28]"));
    assert_not_loaded(build(header, 28), "tensor \"b\" has shape [], expected [3]" OTHER);
    snprintf(header, sizeof header, "{%s,%s,%s}", a, T("b", "F32", "[3]", "[24,36]"),
             T("c", "F32", "[0]", "[36,36]"));
    assert_not_loaded(build(header, 36), "tensor \"c\" was not expected" OTHER);
    assert_not_loaded(build("{" T("a", "F32", "[3,2]", "[0,24]") "}", 24),
                      "tensor \"a\" has shape [3, 2], expected [2, 3]" OTHER);
}

static void test_values_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        content file =
            build("{" T("a", "F32", "[2,3]", "[0,24]") "," T("b", "F32", "[3]", "[24,36]") "}", 36);
        memcpy(file.bytes + file.length - 8, &bad[i], 4);
        assert_not_loaded(file, i == 0 ? "tensor \"b\": value 2 of 3 is not a number; weights must "
                                         "be finite"
                                       : "tensor \"b\": value 2 of 3 is infinite; weights must be "
                                         "finite");
    }
}

/* ---- writing ---- */

static void fill(acq_parameters *parameters, uint64_t seed)
{
    acq_random random = acq_random_start(seed, 0);
    for (size_t i = 0; i < parameters->n_tensors; i++) {
        const acq_tensor *tensor = &parameters->tensors[i];
        for (size_t j = 0; j < acq_tensor_get_length(tensor); j++)
            parameters->values[tensor->offset + j] = (float)acq_random_unit(&random) - .5F;
    }
}

static void test_the_bytes_written_are_known(void **state)
{
    (void)state;
    const acq_metadata metadata[] = {{"format", "x"}};
    acq_parameters parameters;
    float values[9] = {1, 2, 3, 4, 5, 6, -1, 0, 1e-40F};
    assert_int_equal(acq_parameters_init(&parameters, small_shapes, 2), ACQ_OK);
    memcpy(parameters.values, values, 24);
    memcpy(parameters.values + parameters.tensors[1].offset, values + 6, 12);
    assert_int_equal(acq_safetensors_write("known", &parameters, metadata, 1, NULL), ACQ_OK);
    content expected =
        build("{\"__metadata__\":{\"format\":\"x\",\"digest\":\"acq64:eb017f2436d7d597\"}," T(
                  "a", "F32", "[2,3]", "[0,24]") "," T("b", "F32", "[3]", "[24,36]") "}",
              36);
    memcpy(expected.bytes + expected.length - 36, values, 36);
    content found = load("known");
    assert_int_equal(found.length, expected.length);
    assert_memory_equal(found.bytes, expected.bytes, expected.length);
    assert_int_equal((expected.length - 36) % 8, 0);
    unlink("known");
    acq_parameters_deinit(&parameters);
}

static void test_what_is_written_is_read_back(void **state)
{
    (void)state;
    const acq_shape shapes[] = {
        {"one/two.weight", 17, 5}, {"\xe2\x82\xac \"\\", 3, 0}, {"empty", 0, 0}, {"x", 1, 1}};
    const acq_metadata metadata[] = {{"text", "tab\t \"quoted\" \\ \xf0\x9f\x98\x80 end\n"},
                                     {"", ""}};
    acq_parameters parameters, again;
    acq_safetensors *read = NULL;
    acq_error error = {0};
    assert_int_equal(acq_parameters_init(&parameters, shapes, 4), ACQ_OK);
    assert_int_equal(acq_parameters_init(&again, shapes, 4), ACQ_OK);
    fill(&parameters, 1);
    assert_int_equal(acq_safetensors_write("back", &parameters, metadata, 2, &error), ACQ_OK);
    assert_int_equal(acq_safetensors_read("back", &read, &error), ACQ_OK);
    assert_int_equal(acq_safetensors_load(read, &again, &error), ACQ_OK);
    assert_memory_equal(parameters.values, again.values, parameters.n * sizeof(float));
    assert_string_equal(acq_safetensors_get_metadata(read, "text"), metadata[0].value);
    assert_string_equal(acq_safetensors_get_metadata(read, ""), "");
    content first = load("back");
    assert_int_equal(acq_safetensors_write("back", &again, metadata, 2, &error), ACQ_OK);
    content second = load("back");
    assert_memory_equal(first.bytes, second.bytes, ROOM);
    acq_safetensors_free(read);
    acq_parameters_deinit(&parameters);
    acq_parameters_deinit(&again);
    unlink("back");
}

static void test_memory_holds_the_bytes_of_a_file(void **state)
{
    (void)state;
    const acq_metadata metadata[] = {{"key", "value"}};
    acq_parameters parameters;
    void *bytes = NULL;
    size_t length = 0;
    assert_int_equal(acq_parameters_init(&parameters, small_shapes, 2), ACQ_OK);
    fill(&parameters, 2);
    assert_int_equal(acq_safetensors_write("memory", &parameters, metadata, 1, NULL), ACQ_OK);
    assert_int_equal(acq_safetensors_write_memory(&parameters, metadata, 1, &bytes, &length, NULL),
                     ACQ_OK);
    content file = load("memory");
    assert_int_equal(length, file.length);
    assert_memory_equal(bytes, file.bytes, length);
    acq_free(bytes);
    acq_parameters_deinit(&parameters);
    unlink("memory");
}

static void test_one_tensor_can_be_copied_out_of_many(void **state)
{
    (void)state;
    content file =
        build("{" T("a", "F32", "[2,3]", "[0,24]") "," T("b", "F32", "[2]", "[24,32]") "}", 32);
    acq_safetensors *read = NULL;
    float values[6], expected[2];
    acq_error error = {0};
    assert_int_equal(read_content(&file, &read, NULL), ACQ_OK);
    assert_int_equal(acq_safetensors_copy_tensor(read, &(acq_shape){"b", 2, 0}, values, NULL),
                     ACQ_OK);
    memcpy(expected, file.bytes + file.length - sizeof expected, sizeof expected);
    assert_memory_equal(values, expected, sizeof expected);
    assert_int_equal(acq_safetensors_copy_tensor(read, &(acq_shape){"a", 3, 2}, values, &error),
                     ACQ_ERR_INPUT);
    assert_non_null(strstr(error.message, "has shape"));
    assert_string_equal(error.file, "m.safetensors");
    assert_int_equal(acq_safetensors_copy_tensor(read, &(acq_shape){"c", 2, 0}, values, NULL),
                     ACQ_ERR_INPUT);
    acq_safetensors_free(read);
}

/* A path in the metadata may hold any bytes; the file must stay readable. */
static void test_bytes_that_are_not_utf8_are_replaced(void **state)
{
    (void)state;
    static const struct {
        const char *written, *read;
    } cases[] = {{"a\xff"
                  "b",
                  "a\xef\xbf\xbd"
                  "b"},
                 {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\xe0\x9f\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\xf0\x8f\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\xf5\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
                 {"\x80", "\xef\xbf\xbd"},
                 {"\xf4\x8f\xbf\xbf\xe0\xa0\x80\xed\x9f\xbf\xc2\x80", NULL}};
    acq_parameters parameters;
    assert_int_equal(acq_parameters_init(&parameters, small_shapes, 2), ACQ_OK);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const acq_metadata metadata = {"k", cases[i].written};
        acq_safetensors *read = NULL;
        assert_int_equal(acq_safetensors_write("utf8", &parameters, &metadata, 1, NULL), ACQ_OK);
        assert_int_equal(acq_safetensors_read("utf8", &read, NULL), ACQ_OK);
        assert_string_equal(acq_safetensors_get_metadata(read, "k"),
                            cases[i].read == NULL ? cases[i].written : cases[i].read);
        acq_safetensors_free(read);
    }
    unlink("utf8");
    acq_parameters_deinit(&parameters);
}

static void test_writing_to_an_impossible_place_is_an_error(void **state)
{
    (void)state;
    acq_parameters parameters;
    acq_error folder_error = {0}, error = {0};
    assert_int_equal(acq_parameters_init(&parameters, small_shapes, 2), ACQ_OK);
    assert_int_equal(acq_safetensors_write("no/such/folder", &parameters, NULL, 0, &error),
                     ACQ_ERR_IO);
    assert_string_equal(error.file, "no/such/folder");
    assert_int_equal(acq_safetensors_write(".", &parameters, NULL, 0, &folder_error),
                     ACQ_ERR_USAGE);
    acq_parameters_deinit(&parameters);
}

/* ---- damage and faults ---- */

/* Files of others have no digest, or one of another kind. */
static void test_files_without_our_digest_are_read(void **state)
{
    (void)state;
    static const char *const metadata[] = {"", "\"__metadata__\":{\"digest\":\"sha256:00\"},"};
    for (size_t i = 0; i < 2; i++) {
        char header[200];
        acq_safetensors *read = NULL;
        snprintf(header, sizeof header, "{%s" T("a", "F32", "[2,3]", "[0,24]") "}", metadata[i]);
        content made = build(header, 24);
        assert_int_equal(read_content(&made, &read, NULL), ACQ_OK);
        acq_safetensors_free(read);
    }
}

/* Any byte changed, any length: read or refused, never anything else; a change in the tensors is
 * always noticed. */
static void test_damage_is_read_or_refused(void **state)
{
    (void)state;
    const acq_metadata metadata[] = {{"k", "v"}};
    acq_parameters parameters;
    size_t n_read = 0, n_refused = 0;
    assert_int_equal(acq_parameters_init(&parameters, small_shapes, 2), ACQ_OK);
    fill(&parameters, 2);
    assert_int_equal(acq_safetensors_write("whole", &parameters, metadata, 1, NULL), ACQ_OK);
    content whole = load("whole");
    for (size_t i = 0; i < whole.length; i++) {
        static const char masks[] = {1, 2, 0x10, 0x40, (char)0x80, (char)0xff};
        for (size_t j = 0; j < sizeof masks; j++) {
            acq_safetensors *read = NULL;
            acq_error error = {0};
            content damaged = whole;
            damaged.bytes[i] ^= masks[j];
            bool is_data = i >= whole.length - 36;
            if (read_content(&damaged, &read, &error) == ACQ_OK)
                (void)acq_safetensors_load(read, &parameters, &error);
            assert_true(!is_data || strstr(error.message, "the tensors are damaged") != NULL);
            n_read += error.code == ACQ_OK;
            n_refused += error.code != ACQ_OK && error.message[0] != '\0';
            acq_safetensors_free(read);
        }
    }
    assert_int_equal(n_read + n_refused, whole.length * 6);
    assert_true(n_read > 10 && n_refused > 200);
    for (size_t length = 0; length < whole.length; length++) {
        content cut = whole;
        cut.length = length;
        assert_refused(&cut, "");
    }
    unlink("whole");
    acq_parameters_deinit(&parameters);
}

#ifdef ACQ_FAULTS
static acq_status write_and_read(const acq_parameters *parameters, acq_safetensors **read,
                                 acq_error *error)
{
    const acq_metadata metadata[] = {{"key", "value"}};
    acq_status status = acq_safetensors_write("faults", parameters, metadata, 1, error);
    return status == ACQ_OK ? acq_safetensors_read("faults", read, error) : status;
}

static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    acq_parameters parameters;
    acq_status status = ACQ_ERR_MEMORY;
    size_t n = 1;
    content file = build("{\"__metadata__\":{\"k\":\"v\"}," A4 "}", 4);
    assert_int_equal(acq_parameters_init(&parameters, small_shapes, 2), ACQ_OK);
    assert_int_equal(acq_safetensors_write("faults", &parameters, NULL, 0, NULL), ACQ_OK);
    for (; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_safetensors *read = NULL;
        acq_error error = {0};
        acq_faults_fail_at(n);
        status = write_and_read(&parameters, &read, &error);
        acq_faults_fail_at(0);
        assert_int_equal(error.code, status);
        assert_true(status == ACQ_OK || (status == ACQ_ERR_MEMORY && read == NULL));
        acq_safetensors_free(read);
    }
    assert_true(status == ACQ_OK && n > 6);
    status = ACQ_ERR_MEMORY;
    for (n = 1; status != ACQ_OK && n < MOST_ALLOCATIONS; n++) {
        acq_safetensors *read = NULL;
        acq_faults_fail_at(n);
        status = read_content(&file, &read, NULL);
        acq_faults_fail_at(0);
        assert_true(status == ACQ_OK || (status == ACQ_ERR_MEMORY && read == NULL));
        acq_safetensors_free(read);
    }
    assert_int_equal(status, ACQ_OK);
    unlink("faults");
    acq_parameters_deinit(&parameters);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors_come_in_the_order_of_their_places),
        cmocka_unit_test(test_scalars_empty_tensors_and_more_dimensions_are_read),
        cmocka_unit_test(test_metadata_are_texts),
        cmocka_unit_test(test_tensors_at_odd_places_are_loaded),
        cmocka_unit_test(test_bad_headers_are_refused_with_the_reason),
        cmocka_unit_test(test_bad_frames_are_refused_with_the_reason),
        cmocka_unit_test(test_depth_is_limited),
        cmocka_unit_test(test_what_is_no_file_is_refused),
        cmocka_unit_test(test_other_networks_are_refused_and_nothing_is_changed),
        cmocka_unit_test(test_values_that_are_not_finite_are_refused),
        cmocka_unit_test(test_the_bytes_written_are_known),
        cmocka_unit_test(test_what_is_written_is_read_back),
        cmocka_unit_test(test_memory_holds_the_bytes_of_a_file),
        cmocka_unit_test(test_one_tensor_can_be_copied_out_of_many),
        cmocka_unit_test(test_bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(test_writing_to_an_impossible_place_is_an_error),
        cmocka_unit_test(test_files_without_our_digest_are_read),
        cmocka_unit_test(test_damage_is_read_or_refused),
#ifdef ACQ_FAULTS
        cmocka_unit_test(test_every_failed_allocation_is_reported),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
