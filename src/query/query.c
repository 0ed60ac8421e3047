/* query.c - the entry for query text: checks the bytes, then picks the syntax. */
#include "query/query.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "query/input.h"
#include "query/text/parse.h"
#include "query/sparql/parse.h"

void acq_query_free(acq_query *query)
{
    if (query == NULL)
        return;
    acq_arena_deinit(&query->arena);
    acq_free(query);
}

/* Blanks and comments, which both syntaxes share. */
static size_t skip_blanks(const char *text, size_t length, size_t at)
{
    while (at < length && strchr(" \t\r\n#", text[at]) != NULL) {
        if (text[at] == '#') {
            const char *end = memchr(text + at, '\n', length - at);
            at = end == NULL ? length : (size_t)(end - text);
        } else {
            at++;
        }
    }
    return at;
}

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* A relation or a head may be called `select` or `ask`: then "(", a comparison or ":=" follows.
 * But SELECT ( before a "?" or "*" is SPARQL with an expression, which its parser explains. */
static bool is_text_after(const char *text, size_t length, size_t next)
{
    if (next + 1 < length && text[next] == ':' && text[next + 1] == '=')
        return true;
    if (next == length || strchr("(=!&|,", text[next]) == NULL)
        return false;
    while (next < length && strchr("?$*),\"<", text[next]) == NULL)
        next = skip_blanks(text, length, next + 1);
    return next == length || strchr("?$*", text[next]) == NULL;
}

static bool is_sparql(const char *text, size_t length)
{
    static const char *const FORMS[] = {"SELECT",    "ASK",      "PREFIX", "BASE",
                                        "CONSTRUCT", "DESCRIBE", "INSERT", "DELETE"};
    size_t start = skip_blanks(text, length, 0), end = start;
    while (end < length && is_word_char(text[end]))
        end++;
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        size_t n = strlen(FORMS[i]);
        if (n == end - start && acq_is_same_word(FORMS[i], text + start, n))
            return !is_text_after(text, length, skip_blanks(text, length, end));
    }
    return false;
}

acq_status acq_query_parse(const char *text, size_t length, acq_query **out, acq_error *error)
{
    acq_status status = acq_input_check(text, length, error);
    if (status != ACQ_OK)
        return status;
    if (is_sparql(text, length))
        return acq_query_parse_sparql(text, length, out, error);
    return acq_query_parse_text(text, length, out, error);
}
