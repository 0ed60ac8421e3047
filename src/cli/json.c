/* json.c - see json.h. */
#include "cli/json.h"

#include <string.h>

#include "base/utf8.h"

enum { DIGITS = 6 }; /* of a real number: link scores are floats */

static json_t *repaired(const char *text, size_t length)
{
    acq_text copy;
    acq_text_init(&copy);
    while (length > 0) {
        size_t good = acq_utf8_check(text, length);
        acq_text_add_bytes(&copy, text, good);
        text += good;
        length -= good;
        if (length > 0) {
            acq_text_add(&copy, "\xef\xbf\xbd");
            text++;
            length--;
        }
    }
    json_t *value = copy.failed ? NULL : json_stringn(copy.bytes, copy.length);
    acq_text_deinit(&copy);
    return value;
}

json_t *acq_json_text(const char *text)
{
    size_t length = strlen(text);
    if (acq_utf8_check(text, length) == length)
        return json_stringn_nocheck(text, length);
    return repaired(text, length);
}

json_t *acq_json_count(uint64_t n)
{
    return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

json_t *acq_json_hash(uint64_t hash)
{
    return json_sprintf("%016llx", (unsigned long long)hash);
}

void acq_json_set_read(json_t *object, const acq_read_report *report)
{
    json_object_set_new(object, "lines", acq_json_count(report->lines));
    json_object_set_new(object, "left_out", acq_json_count(report->bad));
    json_object_set_new(object, "duplicates", acq_json_count(report->duplicates));
    json_object_set_new(object, "inverses_added", acq_json_count(report->completed));
    json_object_set_new(object, "literals_left_out", acq_json_count(report->literals));
    json_object_set_new(object, "labels", acq_json_count(report->labels));
}

static int add_bytes(const char *bytes, size_t length, void *out)
{
    acq_text_add_bytes(out, bytes, length);
    return ((acq_text *)out)->failed ? -1 : 0;
}

void acq_json_add(acq_text *out, json_t *value)
{
    if (value == NULL ||
        json_dump_callback(value, add_bytes, out, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) != 0)
        out->failed = true;
    json_decref(value);
}

void acq_json_add_line(acq_text *out, json_t *value)
{
    acq_json_add(out, value);
    acq_text_add_char(out, '\n');
}
