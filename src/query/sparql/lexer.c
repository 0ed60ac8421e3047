/* lexer.c - the tokens of SPARQL, see parser.h. One token of look-ahead; linear in the text. */
#include "query/sparql/parser.h"

#include <string.h>

#include "base/text.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#define FAIL_AT(lexer, offset, ...)                                                                \
    ((lexer)->token.kind = ACQ_SPARQL_BAD, ACQ_SCAN_NOTE(&(lexer)->in, offset, __VA_ARGS__))

void acq_sparql_lexer_init(acq_sparql_lexer *lexer, const char *text, size_t length)
{
    *lexer = (acq_sparql_lexer){0};
    acq_scan_init(&lexer->in, text, length);
    acq_sparql_lexer_next(lexer);
}

void acq_sparql_lexer_deinit(acq_sparql_lexer *lexer)
{
    acq_scan_deinit(&lexer->in);
}

static void take(acq_sparql_lexer *lexer, acq_sparql_kind kind, size_t length)
{
    lexer->token.kind = kind;
    lexer->token.source_length = length;
    lexer->in.at += length;
}

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* \uXXXX or \UXXXXXXXX at `at`; returns its length, 0 when it is malformed. */
static size_t decode_unicode(acq_sparql_lexer *lexer, size_t at, size_t end)
{
    size_t digits = at + 1 < end && lexer->in.text[at + 1] == 'u'   ? 4
                    : at + 1 < end && lexer->in.text[at + 1] == 'U' ? 8
                                                                    : 0;
    uint32_t code = 0;
    if (digits == 0 || at + 2 + digits > end)
        return 0;
    for (size_t i = 0; i < digits; i++) {
        int value = hex_value(lexer->in.text[at + 2 + i]);
        if (value < 0)
            return 0;
        code = code << 4 | (uint32_t)value;
    }
    char bytes[4];
    if (code == 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return 0;
    acq_text_add_bytes(&lexer->in.decoded, bytes, acq_utf8_encode(code, bytes));
    return 2 + digits;
}

static void finish_decoded(acq_sparql_lexer *lexer, const char **text, size_t *length)
{
    acq_text_add_bytes(&lexer->in.decoded, "", 0);
    if (acq_text_finish(&lexer->in.decoded, &lexer->in.problem) != ACQ_OK)
        lexer->token.kind = ACQ_SPARQL_BAD;
    *text = lexer->in.decoded.bytes;
    *length = lexer->in.decoded.length;
}

/* The text between < and >, escapes replaced. */
static void decode_iri(acq_sparql_lexer *lexer, size_t begin, size_t end)
{
    acq_text_clear(&lexer->in.decoded);
    for (size_t i = begin; i < end;) {
        const char *next = memchr(lexer->in.text + i, '\\', end - i);
        size_t stop = next == NULL ? end : (size_t)(next - lexer->in.text);
        acq_text_add_bytes(&lexer->in.decoded, lexer->in.text + i, stop - i);
        if (next == NULL)
            break;
        size_t n = decode_unicode(lexer, stop, end);
        if (n == 0) {
            FAIL_AT(lexer, stop,
                    "a bad escape in <...>; only \\uXXXX and \\UXXXXXXXX of a character are known");
            return;
        }
        i = stop + n;
    }
    finish_decoded(lexer, &lexer->token.text, &lexer->token.length);
}

/* Bytes of the IRI that SPARQL's grammar sees at "<", with both brackets; 0: none. */
static size_t strict_iri(const acq_sparql_lexer *lexer)
{
    size_t i = lexer->in.at + 1;
    while (i < lexer->in.length && (unsigned char)lexer->in.text[i] > ' ' &&
           strchr("<>\"{}|^`", lexer->in.text[i]) == NULL)
        i++;
    return i < lexer->in.length && lexer->in.text[i] == '>' ? i + 1 - lexer->in.at : 0;
}

/* Bytes of a name in brackets, of any characters but "<", ">" and line ends; 0: none. What begins
 * like the rest of a comparison is none. */
static size_t plain_name(const acq_sparql_lexer *lexer)
{
    size_t i = lexer->in.at + 1;
    if (i == lexer->in.length || strchr(" \t\r\n=?$", lexer->in.text[i]) != NULL)
        return 0;
    while (i < lexer->in.length && strchr("<>\n", lexer->in.text[i]) == NULL)
        i++;
    return i < lexer->in.length && lexer->in.text[i] == '>' ? i + 1 - lexer->in.at : 0;
}

static void read_mark(acq_sparql_lexer *lexer);

/* iri = "<" characters ">"; blanks and the like only in names without a scheme */
static void read_iri(acq_sparql_lexer *lexer)
{
    size_t start = lexer->in.at, n = strict_iri(lexer);
    bool is_strict = n > 0;
    if (n == 0 && !lexer->compares)
        n = plain_name(lexer);
    if (n == 0 && (lexer->compares || (start + 1 < lexer->in.length &&
                                       strchr(" =?$<", lexer->in.text[start + 1]) != NULL))) {
        read_mark(lexer);
        return;
    }
    if (n == 0) {
        FAIL_AT(lexer, start, "the name that begins with '<' does not end on this line; add '>'");
        return;
    }
    lexer->token.text = lexer->in.text + start + 1;
    lexer->token.length = n - 2;
    if (!is_strict && acq_iri_is_absolute(lexer->token.text, lexer->token.length)) {
        FAIL_AT(lexer, start, "this IRI has a character that IRIs do not have; write it as %%XX");
        return;
    }
    if (memchr(lexer->token.text, '\\', lexer->token.length) != NULL)
        decode_iri(lexer, start + 1, start + n - 1);
    if (lexer->token.kind != ACQ_SPARQL_BAD)
        take(lexer, ACQ_SPARQL_IRI, n);
}

/* variable = ("?" | "$") name */
static void read_variable(acq_sparql_lexer *lexer)
{
    size_t start = lexer->in.at + 1, end = start;
    while (end < lexer->in.length && acq_scan_is_name_char(lexer->in.text[end]))
        end++;
    if (end == start && lexer->in.text[start - 1] == '$') {
        FAIL_AT(lexer, start - 1, "'$' needs a name: $x");
        return;
    }
    lexer->token.text = lexer->in.text + start;
    lexer->token.length = end - start;
    take(lexer, end == start ? ACQ_SPARQL_MARK : ACQ_SPARQL_VARIABLE, end - start + 1);
}

static bool is_local_char(const acq_sparql_lexer *lexer, size_t at)
{
    char c = lexer->in.text[at];
    return acq_scan_is_name_char(c) || (c != '\0' && strchr(":-%.\\", c) != NULL);
}

/* Local names escape punctuation with a backslash; %XX stays as it is. */
static void decode_local(acq_sparql_lexer *lexer, size_t begin, size_t end)
{
    acq_text_clear(&lexer->in.decoded);
    for (size_t i = begin; i < end; i++) {
        if (lexer->in.text[i] == '\\')
            i++;
        acq_text_add_char(&lexer->in.decoded, lexer->in.text[i]);
    }
    finish_decoded(lexer, &lexer->token.local, &lexer->token.local_length);
}

static bool is_percent(const acq_sparql_lexer *lexer, size_t at)
{
    return at + 2 < lexer->in.length && hex_value(lexer->in.text[at + 1]) >= 0 &&
           hex_value(lexer->in.text[at + 2]) >= 0;
}

/* local = (name character | "-" | ":" | "%" | "." | "\" punctuation)*, no "." at the end */
static size_t find_local_end(acq_sparql_lexer *lexer, size_t begin, bool *escapes)
{
    size_t end = begin, last = begin;
    while (end < lexer->in.length && is_local_char(lexer, end)) {
        bool is_escape = lexer->in.text[end] == '\\';
        if (is_escape && (end + 1 == lexer->in.length ||
                          strchr("_~.-!$&'()*+,;=/?#@%", lexer->in.text[end + 1]) == NULL)) {
            FAIL_AT(lexer, end, "a bad escape in a prefixed name; write the name as <...>");
            return end;
        }
        if (lexer->in.text[end] == '%' && !is_percent(lexer, end)) {
            FAIL_AT(lexer, end, "a %% in a prefixed name needs two hexadecimal digits behind it");
            return end;
        }
        *escapes |= is_escape;
        end += is_escape ? 2 : 1;
        if (is_escape || lexer->in.text[end - 1] != '.')
            last = end;
    }
    return last;
}

/* blank = "_:" name, with dots and dashes inside */
static void read_label(acq_sparql_lexer *lexer)
{
    size_t start = lexer->in.at + 2, end = start, last = start;
    for (; end < lexer->in.length && (acq_scan_is_name_char(lexer->in.text[end]) ||
                                      (end > start && strchr("-.", lexer->in.text[end]) != NULL));
         end++) {
        if (lexer->in.text[end] != '.')
            last = end + 1;
    }
    if (last == start) {
        FAIL_AT(lexer, lexer->in.at, "a blank node needs a label behind _:");
        return;
    }
    lexer->token.text = lexer->in.text + start;
    lexer->token.length = last - start;
    take(lexer, ACQ_SPARQL_BLANK, last - lexer->in.at);
}

/* prefixed = [name] ":" [local] */
static void read_prefixed(acq_sparql_lexer *lexer, size_t colon)
{
    size_t start = lexer->in.at;
    bool escapes = false;
    if (colon == start + 1 && lexer->in.text[start] == '_') {
        read_label(lexer);
        return;
    }
    size_t end = find_local_end(lexer, colon + 1, &escapes);
    if (lexer->token.kind == ACQ_SPARQL_BAD)
        return;
    lexer->token.text = lexer->in.text + start;
    lexer->token.length = colon + 1 - start;
    lexer->token.local = lexer->in.text + colon + 1;
    lexer->token.local_length = end - colon - 1;
    if (escapes)
        decode_local(lexer, colon + 1, end);
    if (lexer->token.kind != ACQ_SPARQL_BAD)
        take(lexer, ACQ_SPARQL_PREFIXED, end - start);
}

static size_t skip_digits(const acq_sparql_lexer *lexer, size_t at)
{
    while (at < lexer->in.length && is_digit(lexer->in.text[at]))
        at++;
    return at;
}

/* number = digits | [digits] "." digits | (digits "." [digits] | "." digits | digits) exponent;
 * 0 when none begins here */
static size_t number_length(const acq_sparql_lexer *lexer)
{
    size_t end = skip_digits(lexer, lexer->in.at), whole = end;
    if (end < lexer->in.length && lexer->in.text[end] == '.') {
        end = skip_digits(lexer, end + 1);
        if (end == whole + 1 && whole == lexer->in.at)
            return 0;
    }
    size_t plain = end == whole + 1 ? whole : end; /* "1." is the number 1 and a dot */
    if (end < lexer->in.length && (lexer->in.text[end] == 'e' || lexer->in.text[end] == 'E')) {
        size_t digits = end + 1;
        if (digits < lexer->in.length && strchr("+-", lexer->in.text[digits]) != NULL)
            digits++;
        size_t last = skip_digits(lexer, digits);
        if (last > digits)
            return last - lexer->in.at;
    }
    return plain - lexer->in.at;
}

static void read_number(acq_sparql_lexer *lexer, size_t n)
{
    lexer->token.text = lexer->in.text + lexer->in.at;
    lexer->token.length = n;
    take(lexer, ACQ_SPARQL_NUMBER, n);
}

/* A word or the prefix of a name. */
static void read_word(acq_sparql_lexer *lexer)
{
    size_t start = lexer->in.at, end = start, last = start;
    for (; end < lexer->in.length && (acq_scan_is_name_char(lexer->in.text[end]) ||
                                      lexer->in.text[end] == '-' || lexer->in.text[end] == '.');
         end++) {
        if (lexer->in.text[end] != '.')
            last = end + 1;
    }
    if (end < lexer->in.length && lexer->in.text[end] == ':' && last == end &&
        lexer->in.text[start] != '_') {
        read_prefixed(lexer, end);
        return;
    }
    if (lexer->in.text[start] == '_' && start + 1 < lexer->in.length &&
        lexer->in.text[start + 1] == ':') {
        read_label(lexer);
        return;
    }
    for (end = start; end < lexer->in.length && acq_scan_is_name_char(lexer->in.text[end]); end++)
        ;
    lexer->token.text = lexer->in.text + start;
    lexer->token.length = end - start;
    take(lexer, ACQ_SPARQL_WORD, end - start);
}

/* @language = "@" letters {"-" letters or digits} */
static void read_language(acq_sparql_lexer *lexer)
{
    size_t start = lexer->in.at + 1, end = start;
    bool is_good = true, begins = true;
    for (; end < lexer->in.length; end++) {
        char c = lexer->in.text[end];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!is_letter && !(is_digit(c) && memchr(lexer->in.text + start, '-', end - start)) &&
            c != '-')
            break;
        is_good &= !(begins && c == '-');
        begins = c == '-';
    }
    if (!is_good || begins) {
        FAIL_AT(lexer, lexer->in.at, "a language looks like @en or @en-GB");
        return;
    }
    lexer->token.text = lexer->in.text + start;
    lexer->token.length = end - start;
    take(lexer, ACQ_SPARQL_LANGUAGE, end - lexer->in.at);
}

/* The escape at `at` of a string; returns its length, 0 when it is malformed. */
static size_t decode_escape(acq_sparql_lexer *lexer, size_t at)
{
    static const char names[] = "tbnrf\"'\\", values[] = "\t\b\n\r\f\"'\\";
    char c = at + 1 < lexer->in.length ? lexer->in.text[at + 1] : '\0';
    const char *known = c == '\0' ? NULL : strchr(names, c);
    if (known == NULL)
        return decode_unicode(lexer, at, lexer->in.length);
    acq_text_add_char(&lexer->in.decoded, values[known - names]);
    return 2;
}

static void end_string(acq_sparql_lexer *lexer, size_t end)
{
    for (size_t i = lexer->in.at; i < end; i++) {
        if (lexer->in.text[i] == '\n') {
            lexer->in.line++;
            lexer->in.line_start = i + 1;
        }
    }
    finish_decoded(lexer, &lexer->token.text, &lexer->token.length);
    if (lexer->token.kind != ACQ_SPARQL_BAD)
        take(lexer, ACQ_SPARQL_STRING, end - lexer->in.at);
}

/* string = '"' ... '"' | "'" ... "'" | the same with three quotes, over several lines */
static void read_string(acq_sparql_lexer *lexer)
{
    char quote = lexer->in.text[lexer->in.at];
    size_t n = 1, i;
    if (lexer->in.length - lexer->in.at >= 3 && lexer->in.text[lexer->in.at + 1] == quote &&
        lexer->in.text[lexer->in.at + 2] == quote)
        n = 3;
    acq_text_clear(&lexer->in.decoded);
    for (i = lexer->in.at + n; i < lexer->in.length;) {
        char c = lexer->in.text[i];
        bool ends =
            c == quote && (n == 1 || (lexer->in.length - i >= 3 && lexer->in.text[i + 1] == c &&
                                      lexer->in.text[i + 2] == c));
        if (ends) {
            end_string(lexer, i + n);
            return;
        }
        if (n == 1 && (c == '\n' || c == '\r'))
            break;
        size_t step = c == '\\' ? decode_escape(lexer, i) : 1;
        if (step == 0) {
            FAIL_AT(lexer, lexer->in.at,
                    "a bad escape in this string; known are \\t \\b \\n \\r \\f \\\" \\' \\\\ "
                    "\\uXXXX and \\UXXXXXXXX");
            return;
        }
        if (c != '\\')
            acq_text_add_char(&lexer->in.decoded, c);
        i += step;
    }
    FAIL_AT(lexer, lexer->in.at, "this string does not end%s; add %s", n == 1 ? " on its line" : "",
            n == 3         ? "three quotes"
            : quote == '"' ? "\""
                           : "'");
}

static void read_mark(acq_sparql_lexer *lexer)
{
    static const char *const PAIRS[] = {"!=", "&&", "||", ">=", "<=", "^^"};
    const char *text = lexer->in.text + lexer->in.at;
    size_t n = 1;
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++) {
        if (lexer->in.length - lexer->in.at >= 2 && memcmp(PAIRS[i], text, 2) == 0)
            n = 2;
    }
    if (lexer->in.length - lexer->in.at >= 2 &&
        ((memcmp(text, "<<", 2) == 0 && !lexer->compares) || memcmp(text, "{|", 2) == 0)) {
        FAIL_AT(lexer, lexer->in.at,
                "triple terms (<< >>, {| |}) are not supported; facts are about entities");
    } else if (strchr("{}().;,*=!^&|/+-<>[]", text[0]) == NULL) {
        FAIL_AT(lexer, lexer->in.at, "unexpected character '%s'; a name goes in <...>",
                acq_input_show(text, 1).text);
    } else {
        lexer->token.text = text;
        lexer->token.length = n;
        take(lexer, ACQ_SPARQL_MARK, n);
    }
}

/* May the token end an operand of a comparison? */
static bool is_operand(const acq_sparql_token *token)
{
    switch (token->kind) {
    case ACQ_SPARQL_VARIABLE:
    case ACQ_SPARQL_IRI:
    case ACQ_SPARQL_PREFIXED:
    case ACQ_SPARQL_STRING:
    case ACQ_SPARQL_LANGUAGE:
    case ACQ_SPARQL_NUMBER:
    case ACQ_SPARQL_WORD:
        return true;
    default:
        return token->kind == ACQ_SPARQL_MARK && token->source[0] == ')';
    }
}

void acq_sparql_lexer_next(acq_sparql_lexer *lexer)
{
    if (lexer->token.kind == ACQ_SPARQL_BAD)
        return;
    lexer->compares = lexer->in_expression && is_operand(&lexer->token);
    acq_scan_skip_blanks(&lexer->in);
    lexer->token = (acq_sparql_token){.kind = ACQ_SPARQL_END,
                                      .place = acq_scan_get_place(&lexer->in, lexer->in.at),
                                      .source = lexer->in.text + lexer->in.at};
    if (lexer->in.at == lexer->in.length)
        return;
    char c = lexer->in.text[lexer->in.at];
    size_t number = is_digit(c) || c == '.' ? number_length(lexer) : 0;
    if (number > 0)
        read_number(lexer, number);
    else if (c == '<')
        read_iri(lexer);
    else if (c == '"' || c == '\'')
        read_string(lexer);
    else if (c == '@')
        read_language(lexer);
    else if (c == '?' || c == '$')
        read_variable(lexer);
    else if (c == ':')
        read_prefixed(lexer, lexer->in.at);
    else if (acq_scan_is_name_char(c))
        read_word(lexer);
    else
        read_mark(lexer);
}

acq_shown acq_sparql_lexer_show(const acq_sparql_lexer *lexer)
{
    const acq_sparql_token *token = &lexer->token;
    return acq_scan_show(token->source, token->source_length, token->kind == ACQ_SPARQL_END);
}
