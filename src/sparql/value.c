/* value.c - see value.h: from keys to values, and their comparison. */
#include "sparql/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "graph/text/rdf.h"

static bool equals(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

static void fail(acq_value_room *room, acq_status status, const char *reason)
{
    if (room->failed != ACQ_OK)
        return;
    room->failed = status;
    room->reason = reason;
}

static void fail_digits(acq_value_room *room)
{
    fail(room, ACQ_ERR_LIMIT, "a number has more than 38 digits, which are not computed exactly");
}

acq_value acq_value_error(void)
{
    return (acq_value){.kind = ACQ_VALUE_ERROR};
}

acq_value acq_value_of_boolean(bool boolean)
{
    const char *text = boolean ? "true" : "false";
    return (acq_value){.kind = ACQ_VALUE_BOOLEAN,
                       .text = text,
                       .length = strlen(text),
                       .tag = ACQ_XSD "boolean",
                       .tag_length = strlen(ACQ_XSD "boolean"),
                       .boolean = boolean};
}

acq_value acq_value_of_string(const char *text, size_t length)
{
    return (acq_value){.kind = ACQ_VALUE_STRING,
                       .text = text,
                       .length = length,
                       .tag = ACQ_XSD "string",
                       .tag_length = strlen(ACQ_XSD "string")};
}

acq_value acq_value_of_iri(const char *text, size_t length)
{
    return (acq_value){.kind = ACQ_VALUE_IRI, .text = text, .length = length};
}

/* ---- literals of XML Schema's types ---- */

/* Types derived from integer, with their least and largest values. */
static bool fits_integer(const char *type, acq_decimal number)
{
    static const struct {
        const char *name;
        bool has_least, has_most;
        int64_t least;
        uint64_t most;
    } TYPES[] = {
        {"nonNegativeInteger", true, false, 0, 0},
        {"positiveInteger", true, false, 1, 0},
        {"nonPositiveInteger", false, true, 0, 0},
        {"long", true, true, INT64_MIN, INT64_MAX},
        {"int", true, true, INT32_MIN, INT32_MAX},
        {"short", true, true, INT16_MIN, INT16_MAX},
        {"byte", true, true, INT8_MIN, INT8_MAX},
        {"unsignedLong", true, true, 0, UINT64_MAX},
        {"unsignedInt", true, true, 0, UINT32_MAX},
        {"unsignedShort", true, true, 0, UINT16_MAX},
        {"unsignedByte", true, true, 0, UINT8_MAX},
    };
    if (strcmp(type, "integer") == 0)
        return true;
    if (strcmp(type, "negativeInteger") == 0)
        return number.digits < 0;
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (strcmp(type, TYPES[i].name) == 0)
            return (!TYPES[i].has_least || number.digits >= TYPES[i].least) &&
                   (!TYPES[i].has_most || number.digits <= (acq_int128)TYPES[i].most);
    }
    return false;
}

static bool is_integer_type(const char *type)
{
    static const char *const TYPES[] = {
        "integer",      "nonNegativeInteger", "positiveInteger", "nonPositiveInteger",
        "long",         "int",                "short",           "byte",
        "unsignedLong", "unsignedInt",        "unsignedShort",   "unsignedByte",
        "negativeInteger"};
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (strcmp(type, TYPES[i]) == 0)
            return true;
    }
    return false;
}

/* double = INF | -INF | NaN | decimal [e integer] */
static bool read_double(const char *text, size_t length, double *out)
{
    char buffer[512];
    size_t i = 0, digits = 0;
    if (equals(text, length, "INF") || equals(text, length, "+INF") ||
        equals(text, length, "-INF") || equals(text, length, "NaN")) {
        *out = text[0] == 'N' ? (double)NAN : text[0] == '-' ? -(double)INFINITY : (double)INFINITY;
        return true;
    }
    i += length > 0 && strchr("+-", text[0]) != NULL;
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
        digits++;
    i += i < length && text[i] == '.';
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
        digits++;
    if (digits > 0 && i < length && (text[i] == 'e' || text[i] == 'E')) {
        i++;
        i += i < length && strchr("+-", text[i]) != NULL;
        digits = 0;
        for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
            digits++;
    }
    if (digits == 0 || i < length || length >= sizeof buffer)
        return false;
    memcpy(buffer, text, length);
    buffer[length] = '\0';
    *out = acq_read_double(buffer, NULL);
    return true;
}

static bool read_digits(const char **at, const char *end, size_t least, size_t most, int64_t *out)
{
    size_t n = 0;
    for (*out = 0; *at < end && **at >= '0' && **at <= '9' && n < most; ++*at, n++)
        *out = *out * 10 + (**at - '0');
    return n >= least;
}

static bool take(const char **at, const char *end, char c)
{
    if (*at == end || **at != c)
        return false;
    ++*at;
    return true;
}

/* Days since 1970-01-01 of a date of the proleptic Gregorian calendar. */
static int64_t count_days(int64_t year, int64_t month, int64_t day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t of_era = year - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int64_t days_of_month(int64_t year, int64_t month)
{
    static const int64_t DAYS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return DAYS[month - 1] + (month == 2 && is_leap);
}

/* zone = "Z" | ("+" | "-") hh ":" mm; nothing: none */
static bool read_zone(const char **at, const char *end, bool *has_zone, int64_t *seconds)
{
    int64_t hours, minutes;
    *has_zone = *at < end;
    *seconds = 0;
    if (*at == end || take(at, end, 'Z'))
        return *at == end;
    bool is_minus = **at == '-';
    if (!take(at, end, '-') && !take(at, end, '+'))
        return false;
    if (!read_digits(at, end, 2, 2, &hours) || !take(at, end, ':') ||
        !read_digits(at, end, 2, 2, &minutes) || hours > 14 || minutes > 59 ||
        (hours == 14 && minutes > 0))
        return false;
    *seconds = (hours * 60 + minutes) * (is_minus ? -60 : 60);
    return *at == end;
}

/* date = [-]yyyy-mm-dd */
static bool read_date(const char **at, const char *end, int64_t *days)
{
    int64_t year, month, day;
    bool is_negative = take(at, end, '-');
    const char *start = *at;
    if (!read_digits(at, end, 4, 9, &year) || (*at - start > 4 && *start == '0') ||
        !take(at, end, '-') || !read_digits(at, end, 2, 2, &month) || !take(at, end, '-') ||
        !read_digits(at, end, 2, 2, &day) || month < 1 || month > 12)
        return false;
    year = is_negative ? -year : year;
    if (day < 1 || day > days_of_month(year, month))
        return false;
    *days = count_days(year, month, day);
    return true;
}

/* dateTime = date "T" hh:mm:ss[.s+] [zone] */
static bool read_datetime(const char *text, size_t length, acq_value *out)
{
    const char *at = text, *end = text + length;
    int64_t days, hours, minutes, seconds, zone, fraction = 0;
    int places = 0;
    if (!read_date(&at, end, &days) || !take(&at, end, 'T') ||
        !read_digits(&at, end, 2, 2, &hours) || !take(&at, end, ':') ||
        !read_digits(&at, end, 2, 2, &minutes) || !take(&at, end, ':') ||
        !read_digits(&at, end, 2, 2, &seconds))
        return false;
    if (take(&at, end, '.')) {
        const char *start = at;
        if (!read_digits(&at, end, 1, 15, &fraction))
            return false;
        places = (int)(at - start);
    }
    bool is_midnight = hours == 24 && minutes == 0 && seconds == 0 && fraction == 0;
    if (!read_zone(&at, end, &out->has_zone, &zone) || minutes > 59 || seconds > 59 ||
        (hours > 23 && !is_midnight))
        return false;
    acq_decimal total = {.digits = (acq_int128)days * 86400 + hours * 3600 + minutes * 60 +
                                   seconds - zone};
    for (; total.scale < places; total.scale++)
        total.digits *= 10;
    total.digits += fraction;
    out->decimal = total;
    return true;
}

/* date = yyyy-mm-dd [zone]: the second it begins at */
static bool read_day(const char *text, size_t length, acq_value *out)
{
    const char *at = text, *end = text + length;
    int64_t days, zone;
    if (!read_date(&at, end, &days) || !read_zone(&at, end, &out->has_zone, &zone))
        return false;
    out->decimal = (acq_decimal){.digits = (acq_int128)days * 86400 - zone};
    return true;
}

/* Without the blanks around it, which XML Schema takes off numbers and the like. */
static void collapse(const char **text, size_t *length)
{
    while (*length > 0 && strchr(" \t\r\n", **text) != NULL) {
        ++*text;
        --*length;
    }
    while (*length > 0 && strchr(" \t\r\n", (*text)[*length - 1]) != NULL)
        --*length;
}

static void read_number(acq_value_room *room, acq_value *value, const char *type, const char *text,
                        size_t length)
{
    bool is_valid = false, is_integer = is_integer_type(type);
    if (is_integer && memchr(text, '.', length) != NULL)
        return;
    if (!acq_decimal_read(text, length, &value->decimal, &is_valid) && is_valid)
        fail_digits(room);
    if (is_valid && (!is_integer || fits_integer(type, value->decimal)))
        value->kind = is_integer ? ACQ_VALUE_INTEGER : ACQ_VALUE_DECIMAL;
}

static void read_typed(acq_value_room *room, acq_value *value, const char *type)
{
    const char *text = value->text;
    size_t length = value->length;
    collapse(&text, &length);
    if (strcmp(type, "string") == 0) {
        value->kind = ACQ_VALUE_STRING;
    } else if (strcmp(type, "boolean") == 0) {
        value->boolean = equals(text, length, "true") || equals(text, length, "1");
        if (value->boolean || equals(text, length, "false") || equals(text, length, "0"))
            value->kind = ACQ_VALUE_BOOLEAN;
    } else if (strcmp(type, "decimal") == 0 || is_integer_type(type)) {
        read_number(room, value, type, text, length);
    } else if (strcmp(type, "double") == 0 && read_double(text, length, &value->real)) {
        value->kind = ACQ_VALUE_DOUBLE;
    } else if (strcmp(type, "float") == 0 && read_double(text, length, &value->real)) {
        value->real = (double)(float)value->real;
        value->kind = ACQ_VALUE_FLOAT;
    } else if (strcmp(type, "dateTime") == 0 && read_datetime(text, length, value)) {
        value->kind = ACQ_VALUE_DATETIME;
    } else if (strcmp(type, "date") == 0 && read_day(text, length, value)) {
        value->kind = ACQ_VALUE_DATE;
    }
}

acq_value acq_value_of_literal(acq_value_room *room, const char *text, size_t length,
                               const char *datatype, size_t datatype_length)
{
    acq_value value = {.kind = ACQ_VALUE_OTHER,
                       .text = text,
                       .length = length,
                       .tag = datatype,
                       .tag_length = datatype_length};
    char type[32];
    size_t n = strlen(ACQ_XSD);
    if (datatype_length > n && datatype_length - n < sizeof type &&
        memcmp(datatype, ACQ_XSD, n) == 0) {
        memcpy(type, datatype + n, datatype_length - n);
        type[datatype_length - n] = '\0';
        read_typed(room, &value, type);
    }
    return value;
}

/* ---- keys ---- */

/* The text between the quotes of a literal's key, which ends at *end. */
static const char *unescape(acq_value_room *room, const char *key, const char **end,
                            size_t *length)
{
    const char *at = key + 1;
    bool has_escape = false;
    for (; *at != '"' && *at != '\0'; at++) {
        if (*at == '\\' && at[1] != '\0') {
            has_escape = true;
            at++;
        }
    }
    *end = *at == '"' ? at + 1 : at;
    *length = (size_t)(at - key - 1);
    if (!has_escape)
        return key + 1;
    char *text = acq_arena_alloc(room->arena, *length + 1, 1);
    if (text == NULL) {
        fail(room, ACQ_ERR_MEMORY, "out of memory");
        *length = 0;
        return "";
    }
    size_t n = 0;
    for (const char *from = key + 1; from < at; from++) {
        char c = *from;
        if (c == '\\') {
            c = *++from;
            c = c == 'n' ? '\n' : c == 'r' ? '\r' : c;
        }
        text[n++] = c;
    }
    text[n] = '\0';
    *length = n;
    return text;
}

acq_value acq_value_of_key(acq_value_room *room, const char *key, bool is_plain)
{
    if (is_plain || (key[0] != '"' && strncmp(key, "_:", 2) != 0))
        return acq_value_of_iri(key, strlen(key));
    if (key[0] == '_')
        return (acq_value){.kind = ACQ_VALUE_BLANK, .text = key, .length = strlen(key)};
    const char *end;
    size_t length;
    const char *text = unescape(room, key, &end, &length);
    if (end[0] == '@')
        return (acq_value){.kind = ACQ_VALUE_TAGGED,
                           .text = text,
                           .length = length,
                           .tag = end + 1,
                           .tag_length = strlen(end + 1)};
    if (strncmp(end, "^^<", 3) == 0)
        return acq_value_of_literal(room, text, length, end + 3, strlen(end) - 4);
    return acq_value_of_string(text, length);
}

/* ---- tests and comparisons ---- */

int acq_value_test(const acq_value *value)
{
    switch (value->kind) {
    case ACQ_VALUE_BOOLEAN:
        return value->boolean;
    case ACQ_VALUE_STRING:
    case ACQ_VALUE_TAGGED:
        return value->length > 0;
    case ACQ_VALUE_INTEGER:
    case ACQ_VALUE_DECIMAL:
        return value->decimal.digits != 0;
    case ACQ_VALUE_FLOAT:
    case ACQ_VALUE_DOUBLE:
        return value->real != 0 && !isnan(value->real);
    case ACQ_VALUE_OTHER: { /* a boolean or number whose text is none is false */
        char type[32] = "";
        size_t n = strlen(ACQ_XSD);
        if (value->tag_length <= n || value->tag_length - n >= sizeof type ||
            memcmp(value->tag, ACQ_XSD, n) != 0)
            return -1;
        memcpy(type, value->tag + n, value->tag_length - n);
        bool is_known = strcmp(type, "boolean") == 0 || strcmp(type, "decimal") == 0 ||
                        strcmp(type, "double") == 0 || strcmp(type, "float") == 0 ||
                        is_integer_type(type);
        return is_known ? 0 : -1;
    }
    default:
        return -1;
    }
}

static bool is_exact(const acq_value *value)
{
    return value->kind == ACQ_VALUE_INTEGER || value->kind == ACQ_VALUE_DECIMAL;
}

static double get_real(const acq_value *value)
{
    return is_exact(value) ? acq_decimal_get_double(value->decimal) : value->real;
}

/* -1, 0, 1; 2: one is not a number. Both are of the wider of their types. */
static int compare_numbers(const acq_value *a, const acq_value *b)
{
    if (is_exact(a) && is_exact(b))
        return acq_decimal_compare(a->decimal, b->decimal);
    double x = get_real(a), y = get_real(b);
    if (a->kind != ACQ_VALUE_DOUBLE && b->kind != ACQ_VALUE_DOUBLE) {
        x = (double)(float)x;
        y = (double)(float)y;
    }
    return x < y ? -1 : x > y ? 1 : x == y ? 0 : 2;
}

static int compare_bytes(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t n = n_a < n_b ? n_a : n_b;
    int order = n == 0 ? 0 : memcmp(a, b, n);
    return order != 0 ? (order < 0 ? -1 : 1) : n_a < n_b ? -1 : n_a > n_b;
}

/* -1, 0, 1; 2: a time without a zone may be on either side of one with a zone. */
static int compare_times(const acq_value *a, const acq_value *b)
{
    static const acq_decimal MOST_ZONE = {.digits = 14 * 3600};
    int order = acq_decimal_compare(a->decimal, b->decimal);
    if (a->has_zone == b->has_zone)
        return order;
    acq_decimal minus = {.digits = -b->decimal.digits, .scale = b->decimal.scale}, apart;
    if (!acq_decimal_add(a->decimal, minus, &apart))
        return 2;
    apart.digits = apart.digits < 0 ? -apart.digits : apart.digits;
    return acq_decimal_compare(apart, MOST_ZONE) > 0 ? order : 2;
}

/* Compares two literals of one kind: -1, 0, 1; 2: neither; 3: they have no order. */
static int compare_kinds(const acq_value *a, const acq_value *b)
{
    if (acq_value_is_number(a) && acq_value_is_number(b))
        return compare_numbers(a, b);
    if (a->kind != b->kind)
        return 3;
    switch (a->kind) {
    case ACQ_VALUE_STRING:
        return compare_bytes(a->text, a->length, b->text, b->length);
    case ACQ_VALUE_BOOLEAN:
        return (int)a->boolean - (int)b->boolean;
    case ACQ_VALUE_DATETIME:
    case ACQ_VALUE_DATE: {
        int order = compare_times(a, b);
        return order == 2 ? 3 : order;
    }
    default:
        return 3;
    }
}

static bool is_time(const acq_value *value)
{
    return value->kind == ACQ_VALUE_DATETIME || value->kind == ACQ_VALUE_DATE;
}

bool acq_value_is_same(const acq_value *a, const acq_value *b)
{
    if (a->length != b->length || a->tag_length != b->tag_length ||
        acq_value_is_literal(a) != acq_value_is_literal(b) ||
        (a->kind == ACQ_VALUE_TAGGED) != (b->kind == ACQ_VALUE_TAGGED) ||
        (a->kind == ACQ_VALUE_IRI) != (b->kind == ACQ_VALUE_IRI))
        return false;
    return (a->length == 0 || memcmp(a->text, b->text, a->length) == 0) &&
           (a->tag_length == 0 || (a->kind == ACQ_VALUE_TAGGED
                                       ? acq_is_same_word(a->tag, b->tag, a->tag_length)
                                       : memcmp(a->tag, b->tag, a->tag_length) == 0));
}

int acq_value_equals(acq_value_room *room, const acq_value *a, const acq_value *b)
{
    (void)room;
    if (a->kind == ACQ_VALUE_ERROR || b->kind == ACQ_VALUE_ERROR)
        return -1;
    int order = compare_kinds(a, b);
    if (order != 3)
        return order == 0;
    if (acq_value_is_same(a, b))
        return 1;
    if (!acq_value_is_literal(a) || !acq_value_is_literal(b) || a->kind == ACQ_VALUE_TAGGED ||
        b->kind == ACQ_VALUE_TAGGED)
        return 0;
    bool is_unknown = a->kind == ACQ_VALUE_OTHER || b->kind == ACQ_VALUE_OTHER ||
                      (a->kind == b->kind && is_time(a));
    return is_unknown ? -1 : 0;
}

int acq_value_is_less(acq_value_room *room, const acq_value *a, const acq_value *b)
{
    (void)room;
    bool are_literals = acq_value_is_literal(a) && acq_value_is_literal(b);
    int order = are_literals ? compare_kinds(a, b) : 3;
    return order == 3 ? -1 : order == -1;
}

/* ---- arithmetic ---- */

static acq_value make_exact(acq_value_room *room, acq_decimal number, acq_value_kind kind)
{
    bool is_integer = kind == ACQ_VALUE_INTEGER;
    char text[ACQ_DECIMAL_TEXT];
    size_t length = acq_decimal_write(number, is_integer, text);
    const char *tag = is_integer ? ACQ_XSD "integer" : ACQ_XSD "decimal";
    acq_value value = {.kind = kind,
                       .text = acq_arena_copy_string(room->arena, text, length),
                       .length = length,
                       .tag = tag,
                       .tag_length = strlen(tag),
                       .decimal = number};
    if (value.text == NULL)
        fail(room, ACQ_ERR_MEMORY, "out of memory");
    return value;
}

/* The canonical text of a float or double, as short as it can be: 1.5E0. */
static void write_real(double number, bool is_double, char *out, size_t room)
{
    char text[64];
    int digits = 0;
    if (isnan(number) || isinf(number)) {
        snprintf(out, room, "%s", isnan(number) ? "NaN" : number < 0 ? "-INF" : "INF");
        return;
    }
    for (; digits < 17; digits++) {
        acq_format(text, sizeof text, "%.*e", digits, number);
        double back = acq_read_double(text, NULL);
        if (is_double ? back == number : (float)back == (float)number)
            break;
    }
    char *exponent = strchr(text, 'e');
    *exponent = '\0';
    snprintf(out, room, "%s%sE%ld", text, strchr(text, '.') == NULL ? ".0" : "",
             strtol(exponent + 1, NULL, 10));
}

static acq_value make_real(acq_value_room *room, double number, acq_value_kind kind)
{
    bool is_double = kind == ACQ_VALUE_DOUBLE;
    const char *tag = is_double ? ACQ_XSD "double" : ACQ_XSD "float";
    char text[96];
    write_real(number, is_double, text, sizeof text);
    acq_value value = {.kind = kind,
                       .text = acq_arena_copy_string(room->arena, text, strlen(text)),
                       .length = strlen(text),
                       .tag = tag,
                       .tag_length = strlen(tag),
                       .real = is_double ? number : (double)(float)number};
    if (value.text == NULL)
        fail(room, ACQ_ERR_MEMORY, "out of memory");
    return value;
}

static acq_value compute_exact(acq_value_room *room, char op, const acq_value *a,
                               const acq_value *b)
{
    acq_decimal x = a->decimal, y = b->decimal, out = {0};
    bool is_integer = a->kind == ACQ_VALUE_INTEGER && b->kind == ACQ_VALUE_INTEGER && op != '/';
    bool is_good;
    if (op == '/' && y.digits == 0)
        return acq_value_error();
    if (op == '-') {
        y.digits = -y.digits;
        op = '+';
    }
    if (op == '+')
        is_good = acq_decimal_add(x, y, &out);
    else
        is_good = op == '*' ? acq_decimal_multiply(x, y, &out) : acq_decimal_divide(x, y, &out);
    if (!is_good)
        fail_digits(room);
    return make_exact(room, out, is_integer ? ACQ_VALUE_INTEGER : ACQ_VALUE_DECIMAL);
}

acq_value acq_value_compute(acq_value_room *room, char op, const acq_value *a, const acq_value *b)
{
    if (!acq_value_is_number(a) || !acq_value_is_number(b))
        return acq_value_error();
    if (is_exact(a) && is_exact(b))
        return compute_exact(room, op, a, b);
    bool is_double = a->kind == ACQ_VALUE_DOUBLE || b->kind == ACQ_VALUE_DOUBLE;
    double x = get_real(a), y = get_real(b);
    if (!is_double) {
        x = (double)(float)x;
        y = (double)(float)y;
    }
    double out = op == '+' ? x + y : op == '-' ? x - y : op == '*' ? x * y : x / y;
    return make_real(room, out, is_double ? ACQ_VALUE_DOUBLE : ACQ_VALUE_FLOAT);
}

acq_value acq_value_negate(acq_value_room *room, const acq_value *a)
{
    if (!acq_value_is_number(a))
        return acq_value_error();
    if (is_exact(a))
        return make_exact(room,
                          (acq_decimal){.digits = -a->decimal.digits, .scale = a->decimal.scale},
                          a->kind);
    return make_real(room, -a->real, a->kind);
}

/* ---- casts ---- */

/* A number or boolean as a whole number or decimal. */
static acq_value cast_exact(acq_value_room *room, const acq_value *a, bool is_integer)
{
    acq_decimal number = a->decimal;
    char text[512];
    bool is_valid = false;
    if (a->kind == ACQ_VALUE_BOOLEAN) {
        number = (acq_decimal){.digits = a->boolean};
    } else if (!is_exact(a)) {
        if (isnan(a->real) || isinf(a->real))
            return acq_value_error();
        int n = acq_format(text, sizeof text, "%.36f", a->real);
        if (!acq_decimal_read(text, (size_t)n, &number, &is_valid) && !is_integer)
            fail_digits(room);
        if (is_integer) {
            n = acq_format(text, sizeof text, "%.0f", trunc(a->real));
            if (!acq_decimal_read(text, (size_t)n, &number, &is_valid))
                fail_digits(room);
        }
    }
    while (is_integer && number.scale > 0) {
        number.digits /= 10; /* toward 0 */
        number.scale--;
    }
    return make_exact(room, number, is_integer ? ACQ_VALUE_INTEGER : ACQ_VALUE_DECIMAL);
}

acq_value acq_value_cast(acq_value_room *room, const acq_value *a, const char *datatype)
{
    const char *type = datatype + strlen(ACQ_XSD);
    bool is_string = strcmp(type, "string") == 0, is_number = acq_value_is_number(a);
    if (a->kind == ACQ_VALUE_ERROR || a->kind == ACQ_VALUE_BLANK ||
        (a->kind == ACQ_VALUE_IRI && !is_string))
        return acq_value_error();
    if (is_string)
        return acq_value_of_string(a->text, a->length);
    if (a->kind == ACQ_VALUE_STRING) {
        acq_value made =
            acq_value_of_literal(room, a->text, a->length, datatype, strlen(datatype));
        return made.kind == ACQ_VALUE_OTHER ? acq_value_error() : made;
    }
    if (strcmp(type, "dateTime") == 0)
        return a->kind == ACQ_VALUE_DATETIME ? *a : acq_value_error();
    if (!is_number && a->kind != ACQ_VALUE_BOOLEAN)
        return acq_value_error();
    if (strcmp(type, "boolean") == 0)
        return acq_value_of_boolean(acq_value_test(a) == 1);
    if (strcmp(type, "integer") == 0 || strcmp(type, "decimal") == 0)
        return cast_exact(room, a, type[0] == 'i');
    double real = a->kind == ACQ_VALUE_BOOLEAN ? a->boolean : get_real(a);
    return make_real(room, real, type[0] == 'f' ? ACQ_VALUE_FLOAT : ACQ_VALUE_DOUBLE);
}

/* ---- the order of ORDER BY ---- */

static int rank_of(const acq_value *value)
{
    return acq_value_is_number(value) ? ACQ_VALUE_INTEGER : (int)value->kind;
}

int acq_value_compare(const acq_value *a, const acq_value *b)
{
    int rank_a = rank_of(a), rank_b = rank_of(b);
    if (rank_a != rank_b)
        return rank_a < rank_b ? -1 : 1;
    if (acq_value_is_literal(a)) {
        int order = is_time(a) ? acq_decimal_compare(a->decimal, b->decimal)
                               : compare_kinds(a, b);
        if (order == -1 || order == 1)
            return order;
        if (order == 2) { /* NaN comes first */
            bool nan_a = !is_exact(a) && isnan(a->real), nan_b = !is_exact(b) && isnan(b->real);
            if (nan_a != nan_b)
                return nan_a ? -1 : 1;
        }
        if (order == 0 && a->kind != ACQ_VALUE_OTHER)
            return 0;
    }
    int order = compare_bytes(a->text, a->length, b->text, b->length);
    return order != 0 ? order : compare_bytes(a->tag, a->tag_length, b->tag, b->tag_length);
}
