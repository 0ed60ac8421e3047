/* query_instance.c - any bytes as an instance, and as a formula, of an otherwise good query file.
 * Whatever they are, the good instances around them are read: an instance without a meaning never
 * takes its file with it. The first byte chooses the task. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "eval/files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const acq_bench_limits limits = {.n_entities = 1000, .n_relations = 100};

static const char *const good[] = {
    [ACQ_TASK_QAC] = "[{\"r1\": 7, \"s1\": 12}, {\"f1\": [[3]]}, {\"f1\": [[4], [5]]}]",
    [ACQ_TASK_QAR] = "[{\"r1\": 7, \"s1\": 12}, {\"f1\": [[3]]}, \"e\"]",
};

/* Can the bytes stand where a value does, as deep as they will? */
static bool is_value(const char *bytes, size_t length)
{
    acq_arena arena;
    acq_text text;
    const acq_json *root;
    size_t n_repeated;
    acq_arena_init(&arena);
    acq_text_init(&text);
    acq_text_add(&text, "[[");
    acq_text_add_bytes(&text, bytes, length);
    acq_text_add(&text, "]]");
    bool is_good = acq_json_parse_loose(text.bytes, text.length, &arena, &root, &n_repeated,
                                        NULL) == ACQ_OK &&
                   root->n == 1 && root->first->n == 1;
    acq_text_deinit(&text);
    acq_arena_deinit(&arena);
    return is_good;
}

/* How many of the file's instances are the good one? */
static size_t count_good(const acq_bench_file *file)
{
    size_t n = 0;
    for (size_t i = 0; i < file->n_instances; i++) {
        const acq_bench_instance *one = &file->instances[i];
        const acq_bench_formula *formula = &file->formulas[one->formula];
        n += strcmp(formula->text, "r1(s1,f1)") == 0 && one->ids[0] == 7 && one->ids[1] == 12 &&
             one->correct.n == 1 && one->correct.values[0] == 3;
    }
    return n;
}

static void check_file(const acq_text *text, acq_bench_task task, size_t n_good)
{
    acq_bench_file *file = NULL;
    acq_error error = {0};
    acq_status status = acq_bench_file_parse(text->bytes, text->length, "fuzz.json", task, limits,
                                             &file, &error);
    assert(status == ACQ_OK);
    (void)status;
    assert(count_good(file) >= n_good);
    acq_bench_file_free(file);
}

static void check_instance(const char *bytes, size_t length, acq_bench_task task)
{
    acq_text text;
    acq_text_init(&text);
    acq_text_format(&text, "{\"r1(s1,f1)\": [%s, ", good[task]);
    acq_text_add_bytes(&text, bytes, length);
    acq_text_format(&text, ", %s]}", good[task]);
    check_file(&text, task, 2);
    acq_text_deinit(&text);
}

/* The bytes as a formula: a string of the JSON, if they can be one without an escape. */
static void check_formula(const char *bytes, size_t length, acq_bench_task task)
{
    acq_text text;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)bytes[i] < ' ' || bytes[i] == '"' || bytes[i] == '\\')
            return;
    if (acq_utf8_check(bytes, length) < length || (length == 5 && memcmp(bytes, "atoms", 5) == 0) ||
        (length == 9 && memcmp(bytes, "r1(s1,f1)", 9) == 0))
        return;
    acq_text_init(&text);
    acq_text_format(&text, "{\"r1(s1,f1)\": [%s], \"", good[task]);
    acq_text_add_bytes(&text, bytes, length);
    acq_text_format(&text, "\": [%s]}", good[task]);
    check_file(&text, task, 1);
    acq_text_deinit(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    acq_bench_task task = data[0] % 2 == 0 ? ACQ_TASK_QAC : ACQ_TASK_QAR;
    const char *bytes = (const char *)data + 1;
    if (is_value(bytes, size - 1))
        check_instance(bytes, size - 1, task);
    check_formula(bytes, size - 1, task);
    return 0;
}
