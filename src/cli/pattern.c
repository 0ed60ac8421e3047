/* pattern.c - see pattern.h. Works on a copy of the text, from both ends inwards. */
#include "cli/pattern.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"

typedef struct cutter {
    acq_pattern *pattern;
    acq_pattern_kind kind;
    acq_error *error;
} cutter;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Cuts spaces off [begin, end) and closes it with NUL. */
static char *trim(char *begin, char *end)
{
    while (begin < end && is_space(*begin))
        begin++;
    while (end > begin && is_space(end[-1]))
        end--;
    *end = '\0';
    return begin;
}

static acq_status fail_form(const cutter *c, const char *at, const char *problem)
{
    const char *form = c->kind == ACQ_PATTERN_LINK ? "write rel(head, ?) or rel(?, tail)"
                                                   : "write rel(head, tail)";
    return acq_fail_at(c->error, ACQ_ERR_PARSE, 1, (size_t)(at - c->pattern->bytes) + 1, "%s; %s",
                       problem, form);
}

/* Past the name in quotes or brackets that begins here; NULL when it does not end, `text` itself
 * when it is a bare one. */
static char *skip_marked(char *text)
{
    if (text[0] == '<') {
        char *end = strchr(text, '>');
        return end == NULL ? NULL : end + 1;
    }
    if (text[0] != '"')
        return text;
    for (char *c = text + 1; *c != '\0'; c++) {
        if (*c == '"')
            return c + 1;
        if (*c == '\\' && c[1] != '\0')
            c++;
    }
    return NULL;
}

static char unescape(char c)
{
    static const char from[] = "nrt\"\\", to[] = "\n\r\t\"\\";
    const char *at = strchr(from, c);
    return at == NULL ? '\0' : to[at - from];
}

/* The meaning of a name in quotes, in place; NULL after a bad escape, which *bad then points to. */
static char *unquote(char *name, const char *end, char **bad)
{
    char *to = name;
    for (char *from = name + 1; from < end - 1; from++) {
        char c = *from;
        if (c == '\\') {
            c = unescape(*++from);
            *bad = from - 1;
            if (c == '\0')
                return NULL;
        }
        *to++ = c;
    }
    *to = '\0';
    return name;
}

/* A whole trimmed name; `missing` says that there is none. */
static acq_status read_name(const cutter *c, char *text, const char *missing, const char **out)
{
    char *end = skip_marked(text), *bad = text;
    if (end == NULL)
        return fail_form(c, text, "the name that begins here does not end");
    if (end > text && *end != '\0')
        return fail_form(c, end, "something follows the name");
    if (text[0] == '"') {
        text = unquote(text, end, &bad);
        if (text == NULL)
            return fail_form(c, bad,
                             "unknown escape: a name in quotes knows \\\" \\\\ \\n \\r \\t");
    } else if (text[0] == '<') {
        end[-1] = '\0';
        text++;
        c->pattern->has_iri = c->pattern->has_iri || acq_iri_is_absolute(text, strlen(text));
    }
    if (text[0] == '\0')
        return fail_form(c, bad, missing);
    *out = text;
    return ACQ_OK;
}

/* Past "inverse (", or `text` itself. */
static char *skip_inverse(char *text)
{
    static const char word[] = "inverse";
    char *after = text + strlen(word);
    if (!acq_is_same_word(text, word, strlen(word)))
        return text;
    while (is_space(*after))
        after++;
    return *after == '(' ? after + 1 : text;
}

static acq_status read_relation(const cutter *c, char *begin, char *open)
{
    char *name = trim(begin, open);
    char *inner = skip_inverse(name);
    c->pattern->is_inverse = inner != name;
    if (inner != name) {
        char *end = inner + strlen(inner);
        if (end[-1] != ')')
            return fail_form(c, name, "inverse( is not closed");
        name = trim(inner, end - 1);
    }
    if (name[0] == '!')
        return fail_form(c, name,
                         "a ! negates, which only queries do: put a name that begins so in quotes");
    return read_name(c, name, "a relation is missing", &c->pattern->relation);
}

/* The parenthesis that opens the places: the first after the relation's name. */
static char *find_open(char *text)
{
    char *name = skip_inverse(text);
    while (is_space(*name))
        name++;
    char *after = skip_marked(name);
    return after == NULL ? NULL : strchr(after, '(');
}

/* "?" and blanks before a comma, or NULL. */
static char *comma_after_question(char *text)
{
    if (*text++ != '?')
        return NULL;
    while (is_space(*text))
        text++;
    return *text == ',' ? text : NULL;
}

/* A comma before blanks and "?" at the end, or NULL. */
static char *comma_before_question(char *text)
{
    char *c = text + strlen(text);
    if (c == text || *--c != '?')
        return NULL;
    while (c > text && is_space(c[-1]))
        c--;
    return c > text && c[-1] == ',' ? c - 1 : NULL;
}

static acq_status read_link(const cutter *c, char *text)
{
    char *end = text + strlen(text);
    char *comma = comma_after_question(text);
    bool asks_for_head = comma != NULL;
    if (comma == NULL)
        comma = comma_before_question(text);
    if (comma == NULL)
        return fail_form(c, text, "one of the two places must be ?");
    char *name = asks_for_head ? trim(comma + 1, end) : trim(text, comma);
    static const char missing[] = "one of the two places must be a name";
    if (strcmp(name, "?") == 0)
        return fail_form(c, name, missing);
    return read_name(c, name, missing, asks_for_head ? &c->pattern->tail : &c->pattern->head);
}

static acq_status read_fact(const cutter *c, char *text)
{
    char *end = text + strlen(text);
    char *after = skip_marked(text);
    if (after == NULL)
        return fail_form(c, text, "the name that begins here does not end");
    char *comma = strchr(after, ',');
    if (comma == NULL)
        return fail_form(c, end, "a fact has two names with a comma between them");
    char *second = trim(comma + 1, end);
    char *extra = skip_marked(second) == second ? strchr(second, ',') : NULL;
    if (extra != NULL)
        return fail_form(c, extra, "a second comma: put the name that holds one in quotes");
    char *first = trim(text, comma);
    if (strcmp(first, "?") == 0 || strcmp(second, "?") == 0)
        return fail_form(c, strcmp(first, "?") == 0 ? first : second, "? is no name");
    acq_status status = read_name(c, first, "the head is missing", &c->pattern->head);
    if (status == ACQ_OK)
        status = read_name(c, second, "the tail is missing", &c->pattern->tail);
    return status;
}

acq_status acq_pattern_init(acq_pattern *pattern, acq_pattern_kind kind, const char *text,
                            acq_error *error)
{
    *pattern = (acq_pattern){.bytes = acq_copy_string(text)};
    if (pattern->bytes == NULL)
        return acq_fail_memory(error);
    cutter c = {pattern, kind, error};
    char *begin = trim(pattern->bytes, pattern->bytes + strlen(text));
    char *open = find_open(begin);
    char *close = begin + strlen(begin);
    if (open == NULL)
        return fail_form(&c, close, "no ( opens the two places");
    if (close[-1] != ')')
        return fail_form(&c, close, "no ) at the end");
    char *places = trim(open + 1, close - 1);
    acq_status status = kind == ACQ_PATTERN_LINK ? read_link(&c, places) : read_fact(&c, places);
    return status == ACQ_OK ? read_relation(&c, begin, open) : status;
}

void acq_pattern_deinit(acq_pattern *pattern)
{
    acq_free(pattern->bytes);
    *pattern = (acq_pattern){0};
}
