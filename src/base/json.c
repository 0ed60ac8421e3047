/* json.c - see json.h. Recursive descent; the rule stands above each function. */
#include "base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

typedef struct reader {
    const char *text;
    size_t at, length;
    unsigned depth;
    bool is_loose;
    size_t n_repeated; /* loose: members that another one of the same name replaced */
    acq_arena *arena;
    acq_error *error;
} reader;

static acq_status fail(const reader *r, size_t at, const char *why)
{
    size_t line = 1, begin = 0;
    for (size_t i = 0; i < at && i < r->length; i++)
        if (r->text[i] == '\n') {
            line++;
            begin = i + 1;
        }
    return acq_fail_at(r->error, ACQ_ERR_INPUT, line, at - begin + 1, "%s", why);
}

static void skip_blanks(reader *r)
{
    while (r->at < r->length && strchr(" \t\n\r", r->text[r->at]) != NULL && r->text[r->at] != '\0')
        r->at++;
}

/* Takes the character if it comes next. */
static bool take(reader *r, char c)
{
    skip_blanks(r);
    bool is_next = r->at < r->length && r->text[r->at] == c;
    r->at += is_next;
    return is_next;
}

static acq_status add_value(reader *r, acq_json **out)
{
    *out = acq_arena_zalloc(r->arena, 1, sizeof **out);
    return *out == NULL ? acq_fail_memory(r->error) : ACQ_OK;
}

/* Four hexadecimal digits at r->at; -1: none. */
static int32_t read_hex(reader *r)
{
    int32_t code = 0;
    if (r->length - r->at < 4)
        return -1;
    for (size_t i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = memchr(digits, r->text[r->at + i], sizeof digits - 1);
        if (digit == NULL)
            return -1;
        int32_t value = (int32_t)(digit - digits);
        code = code * 16 + (value < 16 ? value : value - 6);
    }
    r->at += 4;
    return code;
}

/* What follows "\u": one unit of UTF-16, or a pair of them. */
static acq_status read_code(reader *r, char **to)
{
    size_t start = r->at;
    int32_t code = read_hex(r), low = 0;
    bool is_high = code >= 0xD800 && code < 0xDC00;
    if (is_high && r->length - r->at > 2 && memcmp(r->text + r->at, "\\u", 2) == 0) {
        r->at += 2;
        low = read_hex(r);
    }
    bool is_pair = is_high && low >= 0xDC00 && low < 0xE000;
    if (code <= 0 || (code >= 0xD800 && code < 0xE000 && !is_pair))
        return fail(r, start - 2, "this escape stands for no character that a text may hold");
    if (is_pair)
        code = 0x10000 + (code - 0xD800) * 0x400 + (low - 0xDC00);
    *to += acq_utf8_encode((uint32_t)code, *to);
    return ACQ_OK;
}

/* escape = "\" one of "\/bfnrtu */
static acq_status read_escape(reader *r, char **to)
{
    static const char marks[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (++r->at == r->length)
        return fail(r, r->at, "the text ends within a string");
    char c = r->text[r->at++];
    if (c == 'u')
        return read_code(r, to);
    const char *mark = c == '\0' ? NULL : strchr(marks, c);
    if (mark == NULL)
        return fail(r, r->at - 2, "unknown escape");
    *(*to)++ = meant[mark - marks];
    return ACQ_OK;
}

/* string = '"' {character | escape} '"'; an escape is never shorter than what it stands for */
static acq_status read_string(reader *r, const char **out)
{
    if (!take(r, '"'))
        return fail(r, r->at, "expected a string in quotes");
    size_t begin = r->at, end = begin;
    while (end < r->length && r->text[end] != '"')
        end += r->text[end] == '\\' ? 2 : 1;
    if (end >= r->length)
        return fail(r, begin - 1, "this string does not end");
    size_t good = acq_utf8_check(r->text + begin, end - begin);
    if (good < end - begin)
        return fail(r, begin + good, "a byte that is not UTF-8");
    char *to = acq_arena_alloc(r->arena, end - begin + 1, 1);
    if (to == NULL)
        return acq_fail_memory(r->error);
    *out = to;
    while (r->at < end) {
        char c = r->text[r->at];
        if ((unsigned char)c < ' ')
            return fail(r, r->at, "a control character in a string");
        acq_status status = c == '\\' ? read_escape(r, &to) : ACQ_OK;
        if (status != ACQ_OK)
            return status;
        if (c != '\\')
            *to++ = r->text[r->at++];
    }
    *to = '\0';
    r->at = end + 1;
    return ACQ_OK;
}

static size_t count_digits(const reader *r, size_t at)
{
    size_t n = 0;
    while (at + n < r->length && r->text[at + n] >= '0' && r->text[at + n] <= '9')
        n++;
    return n;
}

/* Length of the number at r->at by JSON's rules, 0: none. */
static size_t measure_number(const reader *r, bool *is_real)
{
    size_t at = r->at + (r->at < r->length && r->text[r->at] == '-');
    size_t whole = count_digits(r, at), digits;
    *is_real = false;
    if (whole == 0 || (whole > 1 && r->text[at] == '0'))
        return 0;
    at += whole;
    if (at < r->length && r->text[at] == '.') {
        *is_real = true;
        digits = count_digits(r, at + 1);
        if (digits == 0)
            return 0;
        at += 1 + digits;
    }
    if (at < r->length && (r->text[at] == 'e' || r->text[at] == 'E')) {
        *is_real = true;
        at++;
        at += at < r->length && (r->text[at] == '+' || r->text[at] == '-');
        digits = count_digits(r, at);
        if (digits == 0)
            return 0;
        at += digits;
    }
    return at - r->at;
}

/* number = ["-"] digits ["." digits] [exponent] */
static acq_status read_number(reader *r, acq_json *value)
{
    enum { MOST = 400 };
    char copy[MOST];
    bool is_real;
    size_t start = r->at, n = measure_number(r, &is_real);
    if (n == 0)
        return fail(r, start, "expected a value");
    if (n >= MOST)
        return fail(r, start, "a number of too many digits");
    memcpy(copy, r->text + start, n);
    copy[n] = '\0';
    r->at += n;
    value->kind = is_real ? ACQ_JSON_REAL : ACQ_JSON_INTEGER;
    errno = 0;
    if (is_real)
        value->real = acq_read_double(copy, NULL);
    else
        value->integer = strtoll(copy, NULL, 10);
    bool is_over = errno == ERANGE && (!is_real || value->real > 1 || value->real < -1);
    return is_over ? fail(r, start, "a number that is too large") : ACQ_OK;
}

static acq_status read_word(reader *r, acq_json *value)
{
    static const struct {
        const char *word;
        acq_json_kind kind;
    } words[] = {{"null", ACQ_JSON_NULL}, {"false", ACQ_JSON_FALSE}, {"true", ACQ_JSON_TRUE}};
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(words[i].word);
        if (r->length - r->at >= n && memcmp(r->text + r->at, words[i].word, n) == 0) {
            value->kind = words[i].kind;
            r->at += n;
            return ACQ_OK;
        }
    }
    return read_number(r, value);
}

/* A member and its place, so that members of one name keep their order. */
typedef struct named {
    acq_json *member;
    size_t place;
} named;

static int compare_names(const void *a, const void *b)
{
    const named *left = a, *right = b;
    int order = strcmp(left->member->name, right->member->name);
    return order != 0 ? order : (left->place > right->place) - (left->place < right->place);
}

/* Members without a name leave the object. */
static void drop_nameless(acq_json *object)
{
    acq_json **place = &object->first;
    object->n = 0;
    while (*place != NULL) {
        if ((*place)->name == NULL) {
            *place = (*place)->next;
            continue;
        }
        place = &(*place)->next;
        object->n++;
    }
}

/* The value of the later member moves to the first one's place. */
static void replace(acq_json *first, acq_json *later)
{
    acq_json value = *later;
    value.name = first->name;
    value.next = first->next;
    *first = value;
    later->name = NULL;
}

/* members: sorted. How many of them have the name of one before them? */
static size_t count_repeated(const named *members, size_t n)
{
    size_t n_repeated = 0;
    for (size_t i = 1; i < n; i++)
        n_repeated += strcmp(members[i - 1].member->name, members[i].member->name) == 0;
    return n_repeated;
}

static void keep_last(named *members, size_t n)
{
    size_t first = 0;
    for (size_t i = 1; i < n; i++) {
        if (strcmp(members[first].member->name, members[i].member->name) == 0)
            replace(members[first].member, members[i].member);
        else
            first = i;
    }
}

static acq_status check_names(reader *r, acq_json *object, size_t start)
{
    named *members = acq_alloc(object->n, sizeof *members);
    size_t n = 0;
    if (members == NULL)
        return acq_fail_memory(r->error);
    for (acq_json *member = object->first; member != NULL; member = member->next, n++)
        members[n] = (named){member, n};
    qsort(members, n, sizeof *members, compare_names);
    size_t n_repeated = count_repeated(members, n);
    if (n_repeated > 0 && r->is_loose) {
        keep_last(members, n);
        drop_nameless(object);
        r->n_repeated += n_repeated;
    }
    acq_free(members);
    return n_repeated > 0 && !r->is_loose ? fail(r, start, "an object has a name twice") : ACQ_OK;
}

static acq_status read_value(reader *r, acq_json *value);

/* part = [string ":"] value */
static acq_status read_part(reader *r, bool is_member, acq_json *part)
{
    acq_status status = ACQ_OK;
    if (is_member) {
        status = read_string(r, &part->name);
        if (status == ACQ_OK && !take(r, ':'))
            status = fail(r, r->at, "expected ':'");
    }
    return status == ACQ_OK ? read_value(r, part) : status;
}

/* parts = [part {"," part}] end */
static acq_status read_parts(reader *r, acq_json *value, char end)
{
    acq_json **place = &value->first;
    bool is_object = value->kind == ACQ_JSON_OBJECT;
    if (take(r, end))
        return ACQ_OK;
    do {
        acq_status status = add_value(r, place);
        if (status == ACQ_OK)
            status = read_part(r, is_object, *place);
        if (status != ACQ_OK)
            return status;
        place = &(*place)->next;
        value->n++;
    } while (take(r, ','));
    return take(r, end) ? ACQ_OK : fail(r, r->at, "expected ',' or the end of the list");
}

/* value = object | array | string | number | "null" | "false" | "true" */
static acq_status read_value(reader *r, acq_json *value)
{
    skip_blanks(r);
    size_t start = r->at;
    char c = start < r->length ? r->text[start] : '\0';
    if (c == '"') {
        value->kind = ACQ_JSON_TEXT;
        return read_string(r, &value->text);
    }
    if (c != '{' && c != '[')
        return read_word(r, value);
    if (r->depth++ == ACQ_JSON_MOST_DEPTH)
        return fail(r, start, "nested too deep");
    r->at++;
    value->kind = c == '{' ? ACQ_JSON_OBJECT : ACQ_JSON_ARRAY;
    acq_status status = read_parts(r, value, c == '{' ? '}' : ']');
    r->depth--;
    return status == ACQ_OK && c == '{' ? check_names(r, value, start) : status;
}

static acq_status parse(reader *r, const acq_json **out)
{
    acq_json *root;
    acq_status status = add_value(r, &root);
    if (status == ACQ_OK)
        status = read_value(r, root);
    skip_blanks(r);
    if (status == ACQ_OK && r->at < r->length)
        status = fail(r, r->at, "expected the end after the value");
    if (status == ACQ_OK)
        *out = root;
    return status;
}

acq_status acq_json_parse(const char *text, size_t length, acq_arena *arena, const acq_json **out,
                          acq_error *error)
{
    reader r = {.text = text, .length = length, .arena = arena, .error = error};
    return parse(&r, out);
}

acq_status acq_json_parse_loose(const char *text, size_t length, acq_arena *arena,
                                const acq_json **out, size_t *n_repeated, acq_error *error)
{
    static const char mark[] = "\xEF\xBB\xBF";
    bool has_mark = length >= 3 && memcmp(text, mark, 3) == 0;
    reader r = {.text = text,
                .at = has_mark ? 3 : 0,
                .length = length,
                .is_loose = true,
                .arena = arena,
                .error = error};
    acq_status status = parse(&r, out);
    if (status == ACQ_OK)
        *n_repeated = r.n_repeated;
    return status;
}

const acq_json *acq_json_get(const acq_json *object, const char *name)
{
    const acq_json *member = object->kind == ACQ_JSON_OBJECT ? object->first : NULL;
    while (member != NULL && strcmp(member->name, name) != 0)
        member = member->next;
    return member;
}
