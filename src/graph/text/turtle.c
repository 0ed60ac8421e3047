/* turtle.c - the words of Turtle and TriG; see rdf.h. Above each function is its rule in
 * https://www.w3.org/TR/turtle/#sec-grammar-grammar, where
 *
 *   PN_CHARS_BASE  letters          PN_CHARS_U  those and _          PN_CHARS  those, digits and -
 */
#include "graph/text/rdf.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "graph/text/pieces.h"

enum { CHUNK = 128 * 1024, MARK = 3, PAD = 8, MOST_WORD = 64 << 20 };

/* What a byte may be without a closer look; bytes of characters beyond ASCII are in the first and
 * the last. */
enum { IN_IRI = 1, IN_NAME = 2, IN_STRING = 4 };

#define L (IN_IRI | IN_NAME | IN_STRING) /* letters, digits, _ - . */
#define P (IN_IRI | IN_STRING)           /* other characters of an IRI */
#define S (IN_STRING)                    /* characters of a string only */

static const unsigned char classes[256] = {
    0, S, S, S, S, S, S, S, S, S, 0, S, S, 0, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S, S,
    /*   ! " # $ % & ' ( ) * + , - . / */
    S, P, 0, P, P, P, P, IN_IRI, P, P, P, P, P, L, L, P,
    /* 0 ... 9 : ; < = > ? */
    L, L, L, L, L, L, L, L, L, L, P, P, S, P, S, P,
    /* @ A ... O P ... Z [ \ ] ^ _ */
    P, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, P, 0, P, S, L,
    /* ` a ... o p ... z { | } ~ */
    S, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L, S, S, S, P, P,
    /* beyond ASCII */
    P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P,
    P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P,
    P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P,
    P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P, P};

#undef L
#undef P
#undef S

acq_status acq_turtle_init(acq_turtle *t, acq_stream *stream, acq_merger *merger, acq_batch *batch)
{
    *t = (acq_turtle){.stream = stream, .merger = merger, .batch = batch, .line = 1};
    if (ACQ_RESERVE(t->buffer, t->capacity, CHUNK + PAD) != ACQ_OK)
        return acq_fail_memory(&batch->error);
    t->start = t->at = t->end = t->buffer;
    memset(t->end, 0, PAD);
    return ACQ_OK;
}

void acq_turtle_deinit(acq_turtle *t)
{
    acq_free(t->buffer);
}

bool acq_turtle_is_over(const acq_turtle *t)
{
    return t->status != ACQ_OK || t->batch->error.code != ACQ_OK;
}

static uint64_t offset_of(const acq_turtle *t, const char *place)
{
    return t->offset + (uint64_t)(place - t->buffer);
}

/* Counts the lines that end before `place`, in the word at hand. */
static void find_line(const acq_turtle *t, const char *place, size_t *line, uint64_t *line_start)
{
    const char *at = t->start, *stop;
    *line = t->line;
    *line_start = t->line_start;
    while (at < place && (stop = memchr(at, '\n', (size_t)(place - at))) != NULL) {
        at = stop + 1;
        ++*line;
        *line_start = offset_of(t, at);
    }
}

bool acq_turtle_fail(acq_turtle *t, const char *place, acq_status code, const char *format, ...)
{
    char message[400];
    size_t line;
    uint64_t line_start;
    bool is_nul = place < t->end && *place == '\0';
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    find_line(t, place, &line, &line_start);
    acq_fail_at(&t->batch->error, code, line, (size_t)(offset_of(t, place) - line_start) + 1, "%s",
                is_nul ? "this is a NUL byte; is this a text file? Remove it" : message);
    return false;
}

bool acq_turtle_bad(acq_turtle *t, const char *place, const char *format, ...)
{
    char reason[300];
    bool is_end = place == t->end && t->has_ended;
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return acq_turtle_fail(t, place, ACQ_ERR_PARSE, "not valid %s: %s%s; reading ends here",
                           t->batch->rules->syntax == ACQ_TRIG ? "TriG" : "Turtle",
                           is_end ? "the text ends too early; " : "", reason);
}

/* Moves the word at hand to the front, with room for a chunk behind what follows it. */
static bool make_room(acq_turtle *t)
{
    size_t kept = (size_t)(t->end - t->start), ahead = (size_t)(t->at - t->start);
    if (kept > MOST_WORD)
        return acq_turtle_fail(t, t->start, ACQ_ERR_LIMIT,
                               "this word has more than %d MB; close its quote or bracket",
                               MOST_WORD >> 20);
    if (t->start > t->buffer)
        memmove(t->buffer, t->start, kept);
    t->offset += (uint64_t)(t->start - t->buffer);
    bool has_room = ACQ_RESERVE(t->buffer, t->capacity, kept + CHUNK + PAD) == ACQ_OK;
    t->start = t->buffer;
    t->at = t->start + ahead;
    t->end = t->start + kept;
    if (!has_room)
        acq_fail_memory(&t->batch->error);
    return has_room;
}

/* At the start, enough to see a byte order mark, though a pipe may give less at a time. */
static bool read_chunk(acq_turtle *t, size_t *length)
{
    size_t need = t->has_started ? 1 : MARK, got = 1;
    acq_error *error = &t->batch->error;
    for (*length = 0; got > 0 && *length < need; *length += got) {
        if (acq_stream_read(t->stream, t->end + *length, CHUNK - *length, &got, error) != ACQ_OK)
            return false;
    }
    t->has_ended = got == 0;
    return true;
}

static bool skip_mark(acq_turtle *t, size_t *length)
{
    const char *text = t->end;
    acq_status status = acq_skip_mark(&text, length, &t->batch->error);
    t->start = t->at = t->end += text - t->end;
    t->line_start = offset_of(t, t->start);
    t->has_started = true;
    return status == ACQ_OK;
}

/* More bytes behind `end`. False at the end of the text, and when something is wrong. */
static bool refill(acq_turtle *t)
{
    size_t length;
    if (t->has_ended || acq_turtle_is_over(t))
        return false;
    if (!make_room(t) || !read_chunk(t, &length) || (!t->has_started && !skip_mark(t, &length)))
        return false;
    t->end += length;
    memset(t->end, 0, PAD);
    t->status = acq_merger_progress(t->merger, t->stream->done);
    return t->status == ACQ_OK && (t->end > t->at || refill(t));
}

/* Tries to have n bytes, PAD at most, from `at` on; what is missing is NUL. */
static void look_ahead(acq_turtle *t, size_t n)
{
    while ((size_t)(t->end - t->at) < n && refill(t))
        ;
}

/* Moves over bytes of a class. */
static void scan(acq_turtle *t, unsigned char class)
{
    do {
        while ((classes[(unsigned char)*t->at] & class) != 0)
            t->at++;
    } while (t->at == t->end && refill(t));
}

/* Moves behind the end of a comment's line, or to its end if that is not in the buffer yet. */
static char *skip_comment(acq_turtle *t, char *at)
{
    char *stop = memchr(at, '\n', (size_t)(t->end - at));
    while (stop == NULL) {
        t->start = t->at = t->end;
        if (!refill(t))
            return t->end;
        stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
    }
    return stop;
}

/* WS ::= #x20 | #x9 | #xD | #xA        comments from # to the end of the line */
char acq_turtle_next(acq_turtle *t)
{
    for (char *at = t->at;;) {
        if (*at == '#')
            at = skip_comment(t, at);
        if (*at == '\n') {
            t->line++;
            t->line_start = offset_of(t, ++at);
        } else if (*at == ' ' || *at == '\t' || *at == '\r') {
            at++;
        } else {
            t->start = t->at = at;
            if (at < t->end && *at == '\0')
                acq_turtle_bad(t, at, "expected text");
            if (*at != '\0' || !refill(t))
                return acq_turtle_is_over(t) ? '\0' : *t->at;
            at = t->at;
        }
    }
}

void acq_turtle_take(acq_turtle *t)
{
    t->start = ++t->at;
}

bool acq_turtle_take_word(acq_turtle *t, const char *word)
{
    size_t length = strlen(word);
    look_ahead(t, length);
    if (memcmp(t->at, word, length) != 0)
        return false;
    t->at += length;
    return true;
}

acq_rdf_term acq_turtle_start_term(const acq_turtle *t, acq_term_kind kind)
{
    return (acq_rdf_term){.kind = kind,
                          .line = t->line,
                          .column = (size_t)(offset_of(t, t->start) - t->line_start) + 1};
}

static bool check_utf8(acq_turtle *t, const char *text, size_t length)
{
    size_t valid = acq_utf8_check(text, length);
    if (valid == length)
        return true;
    return acq_turtle_fail(t, text + valid, ACQ_ERR_PARSE,
                           "not UTF-8 (byte 0x%02x); convert the file to UTF-8",
                           (unsigned char)text[valid]);
}

/* A part of the word at hand into the buffer, its escapes undone. */
static bool unescape(acq_turtle *t, const char *text, size_t length, bool is_iri, acq_text *buffer)
{
    char reason[ACQ_REASON];
    const char *end = text + length, *stop;
    acq_text_clear(buffer);
    while ((stop = memchr(text, '\\', (size_t)(end - text))) != NULL) {
        acq_text_add_bytes(buffer, text, (size_t)(stop - text));
        text = stop;
        if (!acq_rdf_unescape(&text, end, is_iri, buffer, reason))
            return acq_turtle_bad(t, text, "%s", reason);
    }
    acq_text_add_bytes(buffer, text, (size_t)(end - text));
    return acq_text_finish(buffer, &t->batch->error) == ACQ_OK;
}

static bool bad_iri(acq_turtle *t)
{
    if (*t->at == ' ' || *t->at == '\n' || *t->at == '\r')
        return acq_turtle_bad(t, t->at,
                              "an IRI cannot hold a blank: close it with > or write %%20");
    if (*t->at == '\0')
        return acq_turtle_bad(t, t->at, "close the IRI with >");
    return acq_turtle_bad(t, t->at,
                          "an IRI cannot hold this character: percent-encode it, or "
                          "close the IRI with >");
}

/* IRIREF ::= '<' ([^#x00-#x20<>"{}|^`\] | UCHAR)* '>' */
bool acq_turtle_read_iriref(acq_turtle *t, acq_text *buffer, const char **text, size_t *length)
{
    bool has_escapes = false;
    look_ahead(t, 2);
    if (t->at[1] == '<')
        return acq_turtle_fail(t, t->start, ACQ_ERR_PARSE, ACQ_NO_TRIPLE_TERMS);
    for (t->at++; scan(t, IN_IRI), *t->at == '\\'; t->at++)
        has_escapes = true;
    if (*t->at != '>')
        return bad_iri(t);
    *text = t->start + 1;
    *length = (size_t)(t->at++ - *text);
    if (!check_utf8(t, *text, *length) ||
        (has_escapes && !unescape(t, *text, *length, true, buffer)))
        return false;
    if (has_escapes) {
        *text = buffer->bytes;
        *length = buffer->length;
    }
    return true;
}

/* Bytes of the character beyond ASCII here, if a name may hold it. */
static size_t step_wide(acq_turtle *t, bool is_first)
{
    look_ahead(t, 4);
    size_t n = (size_t)(t->end - t->at);
    return acq_utf8_check(t->at, n < 4 ? n : 4) == 0 ? 0 : acq_rdf_name_step(t->at, is_first);
}

/* (PN_CHARS | '.')* */
static void scan_name(acq_turtle *t)
{
    for (size_t step = 1; step > 0; t->at += step) {
        scan(t, IN_NAME);
        step = (unsigned char)*t->at < 0x80 ? 0 : step_wide(t, false);
    }
}

/* A name does not end in a dot, which ends the statement then; \. belongs to it. */
static void leave_dots(acq_turtle *t)
{
    while (t->at > t->start + 1 && t->at[-1] == '.' && t->at[-2] != '\\')
        t->at--;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* PNAME_NS ::= PN_PREFIX? ':'        PN_PREFIX ::= PN_CHARS_BASE ((PN_CHARS | '.')* PN_CHARS)? */
bool acq_turtle_read_word(acq_turtle *t, size_t *length, bool *is_prefix)
{
    look_ahead(t, 1);
    bool is_name = is_letter(*t->at) || *t->at == ':' ||
                   ((unsigned char)*t->at >= 0x80 && step_wide(t, true) > 0);
    if (!is_name)
        return acq_turtle_bad(t, t->at, "expected an IRI in < > or a prefixed name");
    scan_name(t);
    *is_prefix = *t->at == ':';
    if (*is_prefix && t->at > t->start && t->at[-1] == '.')
        return acq_turtle_bad(t, t->at - 1, "a prefix does not end in a dot");
    if (!*is_prefix)
        leave_dots(t);
    *length = (size_t)(t->at - t->start);
    return true;
}

size_t acq_turtle_read_letters(acq_turtle *t)
{
    do {
        while (is_letter(*t->at))
            t->at++;
    } while (t->at == t->end && refill(t));
    return (size_t)(t->at - t->start);
}

/* PLX ::= '%' HEX HEX | '\' ( '_' | '~' | '.' | '-' | '!' | '$' | '&' | "'" | '(' | ')' | '*' | '+'
 *                           | ',' | ';' | '=' | '/' | '?' | '#' | '@' | '%' ) */
static bool skip_plx(acq_turtle *t)
{
    static const char hex[] = "0123456789abcdefABCDEF", escapes[] = "_~.-!$&'()*+,;=/?#@%";
    look_ahead(t, 3);
    if (*t->at == '%' && (t->at[1] == '\0' || strchr(hex, t->at[1]) == NULL || t->at[2] == '\0' ||
                          strchr(hex, t->at[2]) == NULL))
        return acq_turtle_bad(t, t->at, "a %% in a name needs two hexadecimal digits behind it");
    if (*t->at == '\\' && (t->at[1] == '\0' || strchr(escapes, t->at[1]) == NULL))
        return acq_turtle_bad(t, t->at, "a backslash in a name stands before one of %s", escapes);
    t->at += *t->at == '%' ? 3 : 2;
    return true;
}

/* Appends a part of the word at hand without its backslashes. */
static void add_local(acq_text *out, const char *text, const char *end)
{
    const char *stop;
    while ((stop = memchr(text, '\\', (size_t)(end - text))) != NULL) {
        acq_text_add_bytes(out, text, (size_t)(stop - text));
        acq_text_add_char(out, stop[1]);
        text = stop + 2;
    }
    acq_text_add_bytes(out, text, (size_t)(end - text));
}

/* PN_LOCAL ::= (PN_CHARS_U | ':' | [0-9] | PLX)
 *              ((PN_CHARS | '.' | ':' | PLX)* (PN_CHARS | ':' | PLX))? */
bool acq_turtle_read_local(acq_turtle *t, acq_text *out)
{
    size_t colon = (size_t)(t->at++ - t->start);
    look_ahead(t, 1);
    bool is_empty = *t->at == '.' || *t->at == '-' ||
                    ((unsigned char)*t->at >= 0x80 && step_wide(t, true) == 0);
    while (!is_empty) {
        scan_name(t);
        if (*t->at == ':')
            t->at++;
        else if (*t->at != '%' && *t->at != '\\')
            break;
        else if (!skip_plx(t))
            return false;
    }
    leave_dots(t);
    add_local(out, t->start + colon + 1, t->at);
    return true;
}

/* BLANK_NODE_LABEL ::= '_:' (PN_CHARS_U | [0-9]) ((PN_CHARS | '.')* PN_CHARS)? */
bool acq_turtle_read_label(acq_turtle *t, const char **label, size_t *length)
{
    look_ahead(t, 3);
    char first = t->at[1] == ':' ? t->at[2] : '\0';
    t->at += 2;
    if (first == '\0' || (!is_letter(first) && !is_digit(first) && first != '_' &&
                          ((unsigned char)first < 0x80 || step_wide(t, true) == 0)))
        return acq_turtle_bad(t, t->start, "a blank node is written _:label");
    scan_name(t);
    leave_dots(t);
    *label = t->start + 2;
    *length = (size_t)(t->at - *label);
    return true;
}

/* Do three quotes stand here? */
static bool has_long_quote(acq_turtle *t, char quote)
{
    look_ahead(t, 3);
    return t->at[0] == quote && t->at[1] == quote && t->at[2] == quote;
}

/* Moves to the quotes that close the string. */
static bool scan_string(acq_turtle *t, char quote, bool is_long)
{
    for (;; t->at++) {
        scan(t, IN_STRING);
        if (*t->at == quote && (!is_long || has_long_quote(t, quote)))
            return true;
        if (t->at == t->end)
            return acq_turtle_bad(t, t->at, "this quote is never closed");
        if (!is_long && (*t->at == '\n' || *t->at == '\r'))
            return acq_turtle_bad(t, t->at, "the quote is not closed on its line");
        look_ahead(t, 2);
        if (*t->at == '\\' && t->at + 1 < t->end)
            t->at++;
    }
}

/* String ::= '"' ([^#x22#x5C#xA#xD] | ECHAR | UCHAR)* '"'
 *          | "'" ([^#x27#x5C#xA#xD] | ECHAR | UCHAR)* "'"
 *          | '"""' (('"' | '""')? ([^"\] | ECHAR | UCHAR))* '"""'
 *          | "'''" (("'" | "''")? ([^'\] | ECHAR | UCHAR))* "'''" */
bool acq_turtle_read_string(acq_turtle *t, acq_text *buffer)
{
    char quote = *t->at;
    bool is_long = has_long_quote(t, quote);
    size_t width = is_long ? 3 : 1;
    t->at += width;
    if (!scan_string(t, quote, is_long))
        return false;
    const char *text = t->start + width;
    size_t length = (size_t)(t->at - text);
    if (!check_utf8(t, text, length) || !unescape(t, text, length, false, buffer))
        return false;
    t->at += width;
    if (is_long)
        find_line(t, t->at, &t->line, &t->line_start);
    t->start = t->at;
    return true;
}

/* LANGTAG ::= '@' [a-zA-Z]+ ('-' [a-zA-Z0-9]+)* */
bool acq_turtle_read_language(acq_turtle *t, const char **language, size_t *length)
{
    size_t n_parts = 1, n = 0; /* n: characters of this part */
    for (t->at++;; t->at++) {
        look_ahead(t, 1);
        if (is_letter(*t->at) || (n_parts > 1 && is_digit(*t->at))) {
            n++;
        } else if (*t->at == '-' && n > 0) {
            n_parts++;
            n = 0;
        } else {
            break;
        }
    }
    *language = t->start + 1;
    *length = (size_t)(t->at - *language);
    return n > 0 || acq_turtle_bad(t, t->at, "a language is written like @en or @en-GB");
}

static size_t skip_digits(acq_turtle *t)
{
    size_t n = 0;
    for (look_ahead(t, 1); is_digit(*t->at); look_ahead(t, 1)) {
        t->at++;
        n++;
    }
    return n;
}

/* Moves over EXPONENT ::= [eE] [+-]? [0-9]+ at a distance; false: there is none. */
static bool skip_exponent(acq_turtle *t, size_t distance)
{
    look_ahead(t, distance + 3);
    const char *at = t->at + distance;
    bool has_sign = at[1] == '+' || at[1] == '-';
    if ((*at != 'e' && *at != 'E') || !is_digit(at[has_sign ? 2 : 1]))
        return false;
    t->at += distance + (has_sign ? 2 : 1);
    skip_digits(t);
    return true;
}

/* INTEGER ::= [+-]? [0-9]+        DECIMAL ::= [+-]? [0-9]* '.' [0-9]+
 * DOUBLE ::= [+-]? ([0-9]+ '.' [0-9]* EXPONENT | '.' [0-9]+ EXPONENT | [0-9]+ EXPONENT) */
bool acq_turtle_read_number(acq_turtle *t, const char **type)
{
    t->at += *t->at == '+' || *t->at == '-';
    size_t n = skip_digits(t);
    look_ahead(t, 2);
    bool is_whole = *t->at != '.' || !is_digit(t->at[1]);
    *type = ACQ_XSD "integer";
    if (!is_whole) {
        t->at++;
        n += skip_digits(t);
        *type = ACQ_XSD "decimal";
    }
    if (n == 0)
        return acq_turtle_bad(t, t->start, "expected %s",
                              *t->start == '.' ? "an object" : "a digit");
    if (skip_exponent(t, 0) || (is_whole && *t->at == '.' && skip_exponent(t, 1)))
        *type = ACQ_XSD "double";
    return true;
}
