/* pattern.c - see pattern.h. Works on a copy of the text, from both ends inwards. */
#include "cli/pattern.h"

#include <string.h>

#include "base/memory.h"

#define FORM "write rel(head, ?) or rel(?, tail)"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Cuts spaces off [begin, *end) and closes it with NUL. */
static char *trim(char *begin, char *end)
{
    while (begin < end && is_space(*begin))
        begin++;
    while (end > begin && is_space(end[-1]))
        end--;
    *end = '\0';
    return begin;
}

/* Unquotes in place; what is not quoted stays. */
static char *unquote(char *name)
{
    size_t n = strlen(name);
    if (n < 2 || name[0] != '"' || name[n - 1] != '"')
        return name;
    char *to = name;
    for (char *from = name + 1; from < name + n - 1; from++) {
        if (*from == '\\' && from + 1 < name + n - 1)
            from++;
        *to++ = *from;
    }
    *to = '\0';
    return name;
}

/* The parenthesis that opens the arguments: the first outside quotes, after inverse(...). */
static char *find_open(char *text, bool *is_inverse)
{
    static const char word[] = "inverse(";
    *is_inverse = strncmp(text, word, sizeof word - 1) == 0;
    bool is_quoted = false;
    unsigned n_skipped = *is_inverse ? 1 : 0;
    for (char *c = text; *c != '\0'; c++) {
        if (*c == '\\' && is_quoted && c[1] != '\0')
            c++;
        else if (*c == '"')
            is_quoted = !is_quoted;
        else if (*c == '(' && !is_quoted && n_skipped-- == 0)
            return c;
    }
    return NULL;
}

static acq_status fail_form(const acq_pattern *pattern, const char *at, const char *problem,
                            acq_error *error)
{
    return acq_fail_at(error, ACQ_ERR_PARSE, 1, (size_t)(at - pattern->bytes) + 1, "%s; " FORM,
                       problem);
}

static acq_status read_relation(acq_pattern *pattern, char *begin, char *open, acq_error *error)
{
    char *name = trim(begin, open);
    if (pattern->is_inverse) {
        size_t n = strlen(name);
        if (name[n - 1] != ')')
            return fail_form(pattern, name, "inverse( is not closed", error);
        name = trim(name + strlen("inverse("), name + n - 1);
    }
    pattern->relation = unquote(name);
    if (pattern->relation[0] == '\0')
        return fail_form(pattern, name, "a relation is missing", error);
    return ACQ_OK;
}

/* begin .. end: what stands between the parentheses. */
static acq_status read_arguments(acq_pattern *pattern, char *begin, char *end, acq_error *error)
{
    char *text = trim(begin, end);
    size_t n = strlen(text);
    char *after = text + 1;
    while (text[0] == '?' && is_space(*after))
        after++;
    char *before = text + (n > 0 ? n - 1 : 0);
    while (before > text && *before == '?' && is_space(before[-1]))
        before--;
    if (text[0] == '?' && *after == ',') {
        pattern->asks_for_head = true;
        text = trim(after + 1, text + n);
    } else if (n > 0 && text[n - 1] == '?' && before > text && before[-1] == ',') {
        text = trim(text, before - 1);
    } else {
        return fail_form(pattern, text, "one of the two places must be ?", error);
    }
    if (text[0] == '\0' || strcmp(text, "?") == 0)
        return fail_form(pattern, text, "one of the two places must be a name", error);
    pattern->entity = unquote(text);
    return ACQ_OK;
}

acq_status acq_pattern_init(acq_pattern *pattern, const char *text, acq_error *error)
{
    *pattern = (acq_pattern){.bytes = acq_copy_string(text)};
    if (pattern->bytes == NULL)
        return acq_fail_memory(error);
    char *begin = trim(pattern->bytes, pattern->bytes + strlen(text));
    char *open = find_open(begin, &pattern->is_inverse);
    char *close = begin + strlen(begin);
    if (open == NULL)
        return fail_form(pattern, close, "no ( in the pattern", error);
    if (close[-1] != ')')
        return fail_form(pattern, close, "the pattern does not end with )", error);
    acq_status status = read_arguments(pattern, open + 1, close - 1, error);
    return status == ACQ_OK ? read_relation(pattern, begin, open, error) : status;
}

void acq_pattern_deinit(acq_pattern *pattern)
{
    acq_free(pattern->bytes);
    *pattern = (acq_pattern){0};
}
