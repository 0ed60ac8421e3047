/* read_benchmark.c - a benchmark graph: kgindex.json, its dictionary, and lines of three ids.
 *
 *   {"e": {"name": id, ...}, "r": {"name": id, ...}}
 *   line = "" | head "\t" relation "\t" tail       decimal, below the counts of kgindex.json
 *
 * n names have the ids 0 .. n-1, each once; relation 2k+1 is the inverse of 2k, so there is an
 * even number of relations. Other members are ignored. A wrong index is always an error: no
 * line could be trusted without it. A line costs one pass over its digits; one that is not of this
 * form is looked at again to say why.
 *
 * The index is read twice, in place: the first pass checks its JSON (RFC 8259) and counts the
 * names, the second takes them. No tree is made, so its memory is that of the names. */
#include "graph/text/reader.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "graph/text/rdf.h"

enum { MOST_DEEP = 512 };

static const char *const KINDS[2] = {"entity", "relation"};
static const char *const KEYS[2] = {"e", "r"};

typedef struct index_reader {
    const char *start, *at, *end;
    acq_names *names[2]; /* of entities and relations */
    size_t counts[2];
    bool has[2];   /* the member is there and an object */
    bool is_taken; /* this is the second pass */
    acq_text text; /* the name at hand, if it has escapes */
    acq_error *error;
} index_reader;

/* Notes what is wrong at a byte; false. */
static bool bad_json(const index_reader *in, const char *place, const char *reason)
{
    size_t line = 1;
    const char *start = in->start, *stop;
    while ((stop = memchr(start, '\n', (size_t)(place - start))) != NULL) {
        start = stop + 1;
        line++;
    }
    acq_fail_at(in->error, ACQ_ERR_PARSE, line, (size_t)(place - start) + 1,
                "not valid JSON: %s; correct it", place == in->end ? "it ends too early" : reason);
    return false;
}

/* The next byte that is no white space; NUL at the end. */
static char peek(index_reader *in)
{
    while (in->at < in->end &&
           (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r'))
        in->at++;
    return in->at < in->end ? *in->at : '\0';
}

static bool take(index_reader *in, char c, const char *reason)
{
    if (peek(in) != c)
        return bad_json(in, in->at, reason);
    in->at++;
    return true;
}

/* \uXXXX, or two of them for a character beyond the first 65,536. */
static bool read_code(index_reader *in, const char **at)
{
    uint32_t code[2] = {0, 0};
    char bytes[4];
    for (int i = 0; i < 2; i++) {
        for (int j = 2; j < 6; j++) {
            int digit = *at + j < in->end ? acq_hex_value((*at)[j]) : -1;
            if (digit < 0)
                return bad_json(in, *at, "\\u needs four hexadecimal digits behind it");
            code[i] = code[i] << 4 | (uint32_t)digit;
        }
        *at += 6;
        bool is_pair = i == 0 && code[0] >= 0xD800 && code[0] < 0xDC00 && in->end - *at >= 2 &&
                       memcmp(*at, "\\u", 2) == 0;
        if (!is_pair)
            break;
    }
    bool is_low = code[1] >= 0xDC00 && code[1] < 0xE000;
    if (is_low)
        code[0] = 0x10000 + ((code[0] - 0xD800) << 10) + (code[1] - 0xDC00);
    if (code[0] == 0 || (code[0] >= 0xD800 && code[0] < 0xE000) || (code[1] != 0 && !is_low))
        return bad_json(in, *at - 6, "this escape stands for no character of a name");
    acq_text_add_bytes(&in->text, bytes, acq_utf8_encode(code[0], bytes));
    return true;
}

static bool read_escape(index_reader *in, const char **at)
{
    static const char names[] = "\"\\/bfnrt", values[] = "\"\\/\b\f\n\r\t";
    char c = *at + 1 < in->end ? (*at)[1] : '\0';
    if (c == 'u')
        return read_code(in, at);
    const char *found = c == '\0' ? NULL : strchr(names, c);
    if (found == NULL)
        return bad_json(in, *at, "a backslash stands before one of \" \\ / b f n r t u");
    acq_text_add_char(&in->text, values[found - names]);
    *at += 2;
    return true;
}

/* string = '"' { character | escape } '"'; in place, or in in->text if there are escapes. */
static bool read_string(index_reader *in, const char **text, size_t *length)
{
    if (!take(in, '"', "expected a name in quotes"))
        return false;
    const char *run = in->at, *at = run;
    bool has_escapes = false;
    acq_text_clear(&in->text);
    for (;;) {
        while (at < in->end && *at != '"' && *at != '\\' && (unsigned char)*at >= ' ')
            at++;
        if (at == in->end || (unsigned char)*at < ' ')
            return bad_json(in, at, "a control character in a name; write it as \\u00XX");
        if (*at == '"')
            break;
        has_escapes = true;
        acq_text_add_bytes(&in->text, run, (size_t)(at - run));
        if (!read_escape(in, &at))
            return false;
        run = at;
    }
    in->at = at + 1;
    *text = run;
    *length = (size_t)(at - run);
    if (!has_escapes)
        return true;
    acq_text_add_bytes(&in->text, run, (size_t)(at - run));
    *text = in->text.bytes;
    *length = in->text.length;
    return acq_text_finish(&in->text, in->error) == ACQ_OK;
}

static size_t skip_digits(index_reader *in)
{
    const char *start = in->at;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9')
        in->at++;
    return (size_t)(in->at - start);
}

/* number = [ "-" ] digits [ "." digits ] [ ( "e" | "E" ) [ "+" | "-" ] digits ] */
static bool skip_number(index_reader *in)
{
    const char *start = in->at;
    in->at += *in->at == '-';
    bool has_zero = in->at < in->end && *in->at == '0';
    size_t n = skip_digits(in);
    bool is_good = n == 1 || (n > 1 && !has_zero);
    if (is_good && in->at < in->end && *in->at == '.') {
        in->at++;
        is_good = skip_digits(in) > 0;
    }
    if (is_good && in->at < in->end && (*in->at == 'e' || *in->at == 'E')) {
        in->at++;
        in->at += in->at < in->end && (*in->at == '+' || *in->at == '-');
        is_good = skip_digits(in) > 0;
    }
    return is_good || bad_json(in, in->at == in->end ? in->at : start, "expected a value");
}

static bool skip_word(index_reader *in)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(in->end - in->at) >= n && memcmp(in->at, words[i], n) == 0) {
            in->at += n;
            return true;
        }
    }
    return bad_json(in, in->at, "expected a value");
}

/* A value that is neither an object nor an array. */
static bool skip_scalar(index_reader *in)
{
    const char *text;
    size_t length;
    char c = peek(in);
    if (c == '"')
        return read_string(in, &text, &length);
    return c == '-' || (c >= '0' && c <= '9') ? skip_number(in) : skip_word(in);
}

/* The name of a member and its colon. */
static bool skip_key(index_reader *in)
{
    const char *text;
    size_t length;
    return read_string(in, &text, &length) && take(in, ':', "expected a colon");
}

/* Opens arrays and objects until a value has been skipped, or one of them is empty. */
static bool skip_openings(index_reader *in, char closing[MOST_DEEP], size_t *depth)
{
    for (char c; (c = peek(in)) == '{' || c == '[';) {
        if (*depth == MOST_DEEP)
            return bad_json(in, in->at, "it is nested too deeply");
        closing[*depth] = c == '{' ? '}' : ']';
        in->at++;
        if (peek(in) == closing[(*depth)++])
            return true;
        if (c == '{' && !skip_key(in))
            return false;
    }
    return skip_scalar(in);
}

/* Any value, with a stack of the brackets that are open. */
static bool skip_value(index_reader *in)
{
    char closing[MOST_DEEP];
    size_t depth = 0;
    do {
        if (!skip_openings(in, closing, &depth))
            return false;
        while (depth > 0 && peek(in) == closing[depth - 1]) {
            in->at++;
            depth--;
        }
        if (depth > 0 && (!take(in, ',', "expected a comma or a closing bracket") ||
                          (closing[depth - 1] == '}' && !skip_key(in))))
            return false;
    } while (depth > 0);
    return true;
}

/* The id that stands at the cursor, once its JSON has been checked. */
static acq_status read_index_id(const index_reader *in, int kind, const char *name, size_t length,
                                uint32_t *id)
{
    size_t n = in->counts[kind], digits = strspn(in->at, "-0123456789");
    int shown = length < 100 ? (int)length : 100;
    uint64_t value = 0;
    if (digits == 0 || strchr(".eE", in->at[digits]) != NULL)
        return acq_fail(in->error, ACQ_ERR_INPUT,
                        "the id of %s \"%.*s\" is not a whole number; make it one from 0 to %zu",
                        KINDS[kind], shown, name, n - 1);
    for (size_t i = 0; i < digits && value < n; i++)
        value = in->at[i] == '-' ? n : value * 10 + (uint64_t)(in->at[i] - '0');
    if (value >= n)
        return acq_fail(
            in->error, ACQ_ERR_INPUT,
            "the id of %s \"%.*s\" is %.*s; the ids of %zu names must run from 0 to %zu "
            "without a gap",
            KINDS[kind], shown, name, digits < 40 ? (int)digits : 40, in->at, n, n - 1);
    *id = (uint32_t)value;
    return ACQ_OK;
}

static acq_status set_name(const index_reader *in, int kind, const char *name, size_t length)
{
    uint32_t id = 0;
    int shown = length < 100 ? (int)length : 100;
    if (length == 0)
        return acq_fail(in->error, ACQ_ERR_INPUT, "%s has an empty name; name it", KINDS[kind]);
    if (length > ACQ_NAME_MOST)
        return acq_fail(in->error, ACQ_ERR_LIMIT,
                        "%s \"%.60s...\" has %zu bytes; a name may have up to %d, shorten it",
                        KINDS[kind], name, length, ACQ_NAME_MOST);
    if (acq_names_find(in->names[kind], name, length) != ACQ_NO_ID)
        return acq_fail(in->error, ACQ_ERR_INPUT, "%s \"%.*s\" stands there twice; keep one",
                        KINDS[kind], shown, name);
    acq_status status = read_index_id(in, kind, name, length, &id);
    if (status != ACQ_OK)
        return status;
    return acq_dictionary_set(in->names[kind], KINDS[kind], id, name, length, in->error);
}

/* "name": id of a member e or r. */
static bool read_pair(index_reader *in, int kind)
{
    const char *name = NULL;
    size_t length = 0;
    if (!read_string(in, &name, &length) || !take(in, ':', "expected a colon"))
        return false;
    peek(in);
    if (in->is_taken && set_name(in, kind, name, length) != ACQ_OK)
        return false;
    in->counts[kind] += !in->is_taken;
    return skip_value(in);
}

/* object = "{" [ pair { "," pair } ] "}", of names or of anything. */
static bool read_object(index_reader *in, int kind, bool (*read)(index_reader *in, int kind))
{
    if (!take(in, '{', "expected an object"))
        return false;
    if (peek(in) == '}') {
        in->at++;
        return true;
    }
    do {
        if (!read(in, kind))
            return false;
    } while (peek(in) == ',' && in->at++ < in->end);
    return take(in, '}', "expected a comma or a closing bracket");
}

static bool read_member(index_reader *in, int unused)
{
    const char *key;
    size_t length;
    (void)unused;
    if (!read_string(in, &key, &length))
        return false;
    int kind = length != 1 ? 2 : *key == 'e' ? 0 : *key == 'r' ? 1 : 2;
    if (!take(in, ':', "expected a colon"))
        return false;
    if (kind == 2 || peek(in) != '{')
        return skip_value(in);
    if (in->has[kind] && !in->is_taken)
        return bad_json(in, in->at, "this member stands there twice");
    in->has[kind] = true;
    return read_object(in, kind, read_pair);
}

/* The whole text, once; a value that is no object has no members. */
static bool read_pass(index_reader *in)
{
    in->at = in->start;
    if (!(peek(in) == '{' ? read_object(in, 0, read_member) : skip_value(in)))
        return false;
    peek(in);
    return in->at == in->end || bad_json(in, in->at, "something follows the end");
}

static acq_status check_counts(const index_reader *in)
{
    for (int kind = 0; kind < 2; kind++) {
        if (!in->has[kind])
            return acq_fail(in->error, ACQ_ERR_INPUT,
                            "the member \"%s\" is missing or not an object; it maps the name of "
                            "each %s to its id",
                            KEYS[kind], KINDS[kind]);
        if (in->counts[kind] == 0)
            return acq_fail(in->error, ACQ_ERR_INPUT, "the member \"%s\" is empty; name each %s",
                            KEYS[kind], KINDS[kind]);
        if (in->counts[kind] >= ACQ_NO_ID - 1)
            return acq_fail(in->error, ACQ_ERR_LIMIT, "too many names; ids have 32 bits");
    }
    if (in->counts[1] % 2 != 0)
        return acq_fail(in->error, ACQ_ERR_INPUT,
                        "there are %zu relations, an odd number; each relation 2k needs its "
                        "inverse 2k+1",
                        in->counts[1]);
    return ACQ_OK;
}

static acq_status read_twice(index_reader *in)
{
    size_t length = (size_t)(in->end - in->start), valid = acq_utf8_check(in->start, length);
    if (valid < length) {
        bad_json(in, in->start + valid, "this is not UTF-8");
        return ACQ_ERR_PARSE;
    }
    bool is_read = read_pass(in);
    acq_status status = is_read ? check_counts(in) : ACQ_ERR_PARSE;
    in->is_taken = true;
    if (status == ACQ_OK)
        is_read = read_pass(in);
    return status != ACQ_OK || is_read ? status : ACQ_ERR_PARSE;
}

acq_status acq_read_index(acq_dictionary *dictionary, const char *bytes, size_t length,
                          acq_error *error)
{
    acq_error own = {0};
    acq_status status = acq_skip_mark(&bytes, &length, error);
    if (status != ACQ_OK)
        return status;
    index_reader in = {.start = bytes,
                       .end = bytes + length,
                       .names = {&dictionary->entities, &dictionary->relations},
                       .error = error == NULL ? &own : error};
    acq_text_init(&in.text);
    status = read_twice(&in);
    acq_text_deinit(&in.text);
    return status == ACQ_OK ? ACQ_OK : in.error->code;
}

/* Reads an id that ends at a tab or the end; false leaves the reason to complain_id. */
static bool read_id(const char **at, const char *end, uint32_t limit, uint32_t *out)
{
    uint64_t value = 0;
    const char *p = *at;
    for (; p < end && *p >= '0' && *p <= '9' && value < limit; p++)
        value = value * 10 + (uint64_t)(*p - '0');
    if (p == *at || value >= limit || (p < end && *p != '\t'))
        return false;
    *out = (uint32_t)value;
    *at = p;
    return true;
}

static size_t count_fields(const char *line, size_t length, size_t *fourth)
{
    size_t count = 1;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\t' && ++count == 4)
            *fourth = i + 2;
    }
    return count;
}

static acq_status complain_id(acq_batch *batch, size_t number, size_t column, int which,
                              const char *text, size_t length)
{
    static const char *const what[3] = {"head", "relation", "tail"};
    uint32_t limit = which == 1 ? batch->rules->n_relations : batch->rules->n_entities;
    size_t digits = 0;
    while (digits < length && text[digits] >= '0' && text[digits] <= '9')
        digits++;
    int shown = length < 40 ? (int)length : 40;
    if (length == 0)
        return acq_batch_bad(batch, number, column, "the %s is empty; give its id", what[which]);
    if (digits < length)
        return acq_batch_bad(batch, number, column,
                             "the %s is not an id; write a number of kgindex.json, 0 to %u",
                             what[which], limit - 1);
    return acq_batch_bad(batch, number, column,
                         "the %s id %.*s is out of range; kgindex.json has 0 to %u", what[which],
                         shown, text, limit - 1);
}

/* Says what is wrong with the first bad field of a line. */
static acq_status complain(acq_batch *batch, const char *line, size_t length, size_t number)
{
    size_t fourth = 0;
    size_t count = count_fields(line, length, &fourth);
    if (count != 3)
        return acq_batch_bad_count(batch, number, count < 3 ? length + 1 : fourth, count);
    const char *start = line, *end = line + length;
    for (int which = 0; which < 3; which++) {
        const char *stop = memchr(start, '\t', (size_t)(end - start));
        size_t width = (size_t)((stop == NULL ? end : stop) - start);
        uint32_t limit = which == 1 ? batch->rules->n_relations : batch->rules->n_entities;
        const char *at = start;
        uint32_t id;
        if (!read_id(&at, start + width, limit, &id))
            return complain_id(batch, number, (size_t)(start - line) + 1, which, start, width);
        start += width + 1;
    }
    return acq_fail(&batch->error, ACQ_ERR_INTERNAL, "a good line was taken for a bad one");
}

static acq_status parse_line(acq_batch *batch, const char *line, size_t length, size_t number,
                             bool is_text)
{
    const acq_syntax_rules *rules = batch->rules;
    const char *at = line, *end = line + length;
    acq_triple fact;
    (void)is_text; /* digits are */
    batch->counts.lines++;
    if (!read_id(&at, end, rules->n_entities, &fact.head) || at++ == end ||
        !read_id(&at, end, rules->n_relations, &fact.relation) || at++ == end ||
        !read_id(&at, end, rules->n_entities, &fact.tail) || at != end)
        return complain(batch, line, length, number);
    return acq_batch_add_fact(batch, fact);
}

void acq_parse_ids(acq_batch *batch, const acq_piece *piece)
{
    acq_parse_lines(batch, piece, parse_line);
}
