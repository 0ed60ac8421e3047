/* lexer.c - see sparql_lexer.h. One token of look-ahead; linear in the text. */
#include "query/sparql/parser.h"

#include <string.h>

#include "base/text.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c) ||
           (unsigned char)c >= 0x80;
}

static acq_input_place place_at(const acq_sparql_lexer *lexer, size_t at)
{
    return (acq_input_place){lexer->line, (uint32_t)(at - lexer->line_start + 1)};
}

#define FAIL_AT(lexer, offset, ...)                                                                \
    fail_token(lexer, acq_fail_at(&(lexer)->problem, ACQ_ERR_PARSE, place_at(lexer, offset).line,  \
                                  place_at(lexer, offset).column, __VA_ARGS__))

static void fail_token(acq_sparql_lexer *lexer, acq_status status)
{
    lexer->problem.code = status;
    lexer->token.kind = ACQ_SPARQL_BAD;
}

acq_status acq_sparql_lexer_fail(const acq_sparql_lexer *lexer, acq_error *error)
{
    const acq_error *problem = &lexer->problem;
    return acq_fail_at(error, problem->code, problem->line, problem->column, "%s",
                       problem->message);
}

void acq_sparql_lexer_init(acq_sparql_lexer *lexer, const char *text, size_t length)
{
    *lexer = (acq_sparql_lexer){.text = text, .length = length, .line = 1};
    acq_text_init(&lexer->decoded);
    acq_sparql_lexer_next(lexer);
}

void acq_sparql_lexer_deinit(acq_sparql_lexer *lexer)
{
    acq_text_deinit(&lexer->decoded);
}

static void skip_blanks(acq_sparql_lexer *lexer)
{
    bool in_comment = false;
    for (; lexer->at < lexer->length; lexer->at++) {
        char c = lexer->text[lexer->at];
        if (c == '\n') {
            in_comment = false;
            lexer->line++;
            lexer->line_start = lexer->at + 1;
        } else if (c == '#') {
            in_comment = true;
        } else if (!in_comment && c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

static void take(acq_sparql_lexer *lexer, acq_sparql_kind kind, size_t length)
{
    lexer->token.kind = kind;
    lexer->token.source_length = length;
    lexer->at += length;
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
    size_t digits = at + 1 < end && lexer->text[at + 1] == 'u'   ? 4
                    : at + 1 < end && lexer->text[at + 1] == 'U' ? 8
                                                                 : 0;
    uint32_t code = 0;
    if (digits == 0 || at + 2 + digits > end)
        return 0;
    for (size_t i = 0; i < digits; i++) {
        int value = hex_value(lexer->text[at + 2 + i]);
        if (value < 0)
            return 0;
        code = code << 4 | (uint32_t)value;
    }
    char bytes[4];
    size_t n = code == 0 ? 0 : acq_utf8_write(code, bytes);
    if (n == 0)
        return 0;
    acq_text_add_bytes(&lexer->decoded, bytes, n);
    return 2 + digits;
}

static void finish_decoded(acq_sparql_lexer *lexer, const char **text, size_t *length)
{
    acq_text_add_bytes(&lexer->decoded, "", 0);
    if (acq_text_finish(&lexer->decoded, &lexer->problem) != ACQ_OK)
        fail_token(lexer, ACQ_ERR_MEMORY);
    *text = lexer->decoded.bytes;
    *length = lexer->decoded.length;
}

/* The text between < and >, escapes replaced. */
static void decode_iri(acq_sparql_lexer *lexer, size_t begin, size_t end)
{
    acq_text_clear(&lexer->decoded);
    for (size_t i = begin; i < end;) {
        const char *next = memchr(lexer->text + i, '\\', end - i);
        size_t stop = next == NULL ? end : (size_t)(next - lexer->text);
        acq_text_add_bytes(&lexer->decoded, lexer->text + i, stop - i);
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

/* "<" that compares instead of opening a name. */
static bool is_less(const acq_sparql_lexer *lexer)
{
    size_t next = lexer->at + 1;
    return next == lexer->length || strchr(" \t\r\n=?$", lexer->text[next]) != NULL;
}

/* iri = "<" any characters but "<", ">" and line ends ">" */
static void read_iri(acq_sparql_lexer *lexer)
{
    size_t start = lexer->at, i = start + 1;
    if (is_less(lexer)) {
        FAIL_AT(lexer, start, "'<' does not compare here: FILTER knows = and != only");
        return;
    }
    while (i < lexer->length && strchr("<>\n", lexer->text[i]) == NULL)
        i++;
    if (i == lexer->length || lexer->text[i] != '>') {
        FAIL_AT(lexer, start, "the name that begins with '<' does not end on this line; add '>'");
        return;
    }
    lexer->token.text = lexer->text + start + 1;
    lexer->token.length = i - start - 1;
    if (memchr(lexer->token.text, '\\', lexer->token.length) != NULL)
        decode_iri(lexer, start + 1, i);
    if (lexer->token.kind != ACQ_SPARQL_BAD)
        take(lexer, ACQ_SPARQL_IRI, i + 1 - start);
}

/* variable = ("?" | "$") name */
static void read_variable(acq_sparql_lexer *lexer)
{
    size_t start = lexer->at + 1, end = start;
    while (end < lexer->length && is_name_char(lexer->text[end]))
        end++;
    if (end == start && lexer->text[start - 1] == '$') {
        FAIL_AT(lexer, start - 1, "'$' needs a name: $x");
        return;
    }
    lexer->token.text = lexer->text + start;
    lexer->token.length = end - start;
    take(lexer, end == start ? ACQ_SPARQL_MARK : ACQ_SPARQL_VARIABLE, end - start + 1);
}

static bool is_local_char(const acq_sparql_lexer *lexer, size_t at)
{
    char c = lexer->text[at];
    return is_name_char(c) || strchr(":-%.\\", c) != NULL;
}

/* Local names escape punctuation with a backslash; %XX stays as it is. */
static void decode_local(acq_sparql_lexer *lexer, size_t begin, size_t end)
{
    acq_text_clear(&lexer->decoded);
    for (size_t i = begin; i < end; i++) {
        if (lexer->text[i] == '\\')
            i++;
        acq_text_add_char(&lexer->decoded, lexer->text[i]);
    }
    finish_decoded(lexer, &lexer->token.local, &lexer->token.local_length);
}

/* local = (name character | "-" | ":" | "%" | "." | "\" punctuation)*, no "." at the end */
static size_t find_local_end(acq_sparql_lexer *lexer, size_t begin, bool *escapes)
{
    size_t end = begin, last = begin;
    while (end < lexer->length && is_local_char(lexer, end)) {
        bool is_escape = lexer->text[end] == '\\';
        if (is_escape && (end + 1 == lexer->length ||
                          strchr("_~.-!$&'()*+,;=/?#@%", lexer->text[end + 1]) == NULL)) {
            FAIL_AT(lexer, end, "a bad escape in a prefixed name; write the name as <...>");
            return end;
        }
        *escapes |= is_escape;
        end += is_escape ? 2 : 1;
        if (is_escape || lexer->text[end - 1] != '.')
            last = end;
    }
    return last;
}

/* prefixed = [name] ":" [local] */
static void read_prefixed(acq_sparql_lexer *lexer, size_t colon)
{
    size_t start = lexer->at;
    bool escapes = false;
    if (colon == start + 1 && lexer->text[start] == '_') {
        FAIL_AT(lexer, start, "blank nodes are not supported; use a variable");
        return;
    }
    size_t end = find_local_end(lexer, colon + 1, &escapes);
    if (lexer->token.kind == ACQ_SPARQL_BAD)
        return;
    lexer->token.text = lexer->text + start;
    lexer->token.length = colon + 1 - start;
    lexer->token.local = lexer->text + colon + 1;
    lexer->token.local_length = end - colon - 1;
    if (escapes)
        decode_local(lexer, colon + 1, end);
    if (lexer->token.kind != ACQ_SPARQL_BAD)
        take(lexer, ACQ_SPARQL_PREFIXED, end - start);
}

/* A word, a number or the prefix of a name. */
static void read_word(acq_sparql_lexer *lexer)
{
    size_t start = lexer->at, end = start, last = start;
    bool digits = true;
    for (; end < lexer->length &&
           (is_name_char(lexer->text[end]) || lexer->text[end] == '-' || lexer->text[end] == '.');
         end++) {
        if (lexer->text[end] != '.' && lexer->text[end] != '-')
            last = end + 1;
    }
    if (end < lexer->length && lexer->text[end] == ':' && last == end) {
        read_prefixed(lexer, end);
        return;
    }
    for (end = start; end < lexer->length && is_name_char(lexer->text[end]); end++)
        digits &= is_digit(lexer->text[end]);
    lexer->token.text = lexer->text + start;
    lexer->token.length = end - start;
    take(lexer, digits ? ACQ_SPARQL_NUMBER : ACQ_SPARQL_WORD, end - start);
}

static void read_mark(acq_sparql_lexer *lexer)
{
    static const char *const PAIRS[] = {"!=", "&&", "||", ">=", "^^"};
    const char *text = lexer->text + lexer->at;
    size_t n = 1;
    for (size_t i = 0; i < sizeof PAIRS / sizeof *PAIRS; i++) {
        if (lexer->length - lexer->at >= 2 && memcmp(PAIRS[i], text, 2) == 0)
            n = 2;
    }
    if (strchr("\"'", text[0]) != NULL) {
        FAIL_AT(lexer, lexer->at,
                "literals are not supported: facts link entities; write a name as <...>");
    } else if (strchr("{}().;,*=!^&|/+-<>[]@", text[0]) == NULL) {
        FAIL_AT(lexer, lexer->at, "unexpected character '%s'; a name goes in <...>",
                acq_input_show(text, 1).text);
    } else {
        lexer->token.text = text;
        lexer->token.length = n;
        take(lexer, ACQ_SPARQL_MARK, n);
    }
}

void acq_sparql_lexer_next(acq_sparql_lexer *lexer)
{
    if (lexer->token.kind == ACQ_SPARQL_BAD)
        return;
    skip_blanks(lexer);
    lexer->token = (acq_sparql_token){.kind = ACQ_SPARQL_END,
                                      .place = place_at(lexer, lexer->at),
                                      .source = lexer->text + lexer->at};
    if (lexer->at == lexer->length)
        return;
    char c = lexer->text[lexer->at];
    if (c == '<')
        read_iri(lexer);
    else if (c == '?' || c == '$')
        read_variable(lexer);
    else if (c == ':')
        read_prefixed(lexer, lexer->at);
    else if (is_name_char(c))
        read_word(lexer);
    else
        read_mark(lexer);
}

bool acq_sparql_lexer_is_word(const acq_sparql_lexer *lexer, const char *word)
{
    const acq_sparql_token *token = &lexer->token;
    return token->kind == ACQ_SPARQL_WORD && token->length == strlen(word) &&
           acq_is_same_word(token->text, word, token->length);
}

bool acq_sparql_lexer_is_mark(const acq_sparql_lexer *lexer, const char *mark)
{
    const acq_sparql_token *token = &lexer->token;
    return token->kind == ACQ_SPARQL_MARK && token->source_length == strlen(mark) &&
           memcmp(token->source, mark, token->source_length) == 0;
}

acq_shown acq_sparql_lexer_show(const acq_sparql_lexer *lexer)
{
    acq_shown shown = {.text = "the end of the query"};
    if (lexer->token.kind == ACQ_SPARQL_END)
        return shown;
    acq_shown inner = acq_input_show(lexer->token.source, lexer->token.source_length);
    size_t n = strlen(inner.text);
    shown.text[0] = '\'';
    memcpy(shown.text + 1, inner.text, n);
    memcpy(shown.text + 1 + n, "'", 2);
    return shown;
}
