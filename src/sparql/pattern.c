/* pattern.c - see machine.h. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "sparql/machine.h"

#include <pcre2.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

struct acq_pattern {
    char *text, *flags;
    size_t length, n_flags;
    pcre2_code *code;
    pcre2_match_data *match;
    pcre2_match_context *limits;
};

typedef struct writer {
    const char *at, *end;
    acq_text out;
    bool is_dot_all, is_extended;
    bool is_bad;         /* no XPath */
    const char *refused; /* what PCRE2 cannot say */
} writer;

/* \p{...} or \P{...}: general categories only. */
static void write_category(writer *w)
{
    const char *close = w->end - w->at > 3 && w->at[2] == '{'
                            ? memchr(w->at, '}', (size_t)(w->end - w->at))
                            : NULL;
    size_t n = close == NULL ? 0 : (size_t)(close - w->at - 3);
    static const char FIRST[] = "LMNPZSC";
    if (n > 2 && w->at[3] == 'I' && w->at[4] == 's') {
        w->refused = "a regular expression with a Unicode block (\\p{Is...}) is not supported";
        return;
    }
    if (n < 1 || n > 2 || strchr(FIRST, w->at[3]) == NULL) {
        w->is_bad = true;
        return;
    }
    acq_text_add_bytes(&w->out, w->at, (size_t)(close + 1 - w->at));
    w->at = close + 1;
}

/* An escape; the classes differ from PCRE2's. */
static void write_escape(writer *w, bool in_class)
{
    static const struct {
        char name;
        const char *alone, *in_class;
    } CLASSES[] = {
        {'d', "\\p{Nd}", "\\p{Nd}"},
        {'D', "\\P{Nd}", "\\P{Nd}"},
        {'s', "[ \\t\\n\\r]", " \\t\\n\\r"},
        {'S', "[^ \\t\\n\\r]", NULL},
        {'w', "[^\\p{P}\\p{Z}\\p{C}]", NULL},
        {'W', "[\\p{P}\\p{Z}\\p{C}]", "\\p{P}\\p{Z}\\p{C}"},
    };
    char c = w->end - w->at > 1 ? w->at[1] : '\0';
    if (c == 'p' || c == 'P') {
        write_category(w);
        return;
    }
    for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++) {
        if (c != CLASSES[i].name)
            continue;
        const char *text = in_class ? CLASSES[i].in_class : CLASSES[i].alone;
        if (text == NULL)
            w->refused = "\\w and \\S in brackets of a regular expression are not supported";
        acq_text_add(&w->out, text == NULL ? "" : text);
        w->at += 2;
        return;
    }
    if (c == 'i' || c == 'I' || c == 'c' || c == 'C') {
        w->refused = "\\i and \\c in regular expressions are not supported";
    } else if (c >= '1' && c <= '9' && !in_class) {
        w->refused = "back-references in regular expressions are not supported";
    } else if (c == '\0' || strchr("nrt\\|.?*+(){}$-[]^", c) == NULL) {
        w->is_bad = true;
    } else {
        acq_text_add_bytes(&w->out, w->at, 2);
        w->at += 2;
    }
}

/* "[" ["^"] items "]" */
static void write_class(writer *w)
{
    acq_text_add_char(&w->out, *w->at++);
    if (w->at < w->end && *w->at == '^')
        acq_text_add_char(&w->out, *w->at++);
    bool is_first = true;
    for (; w->at < w->end && !w->is_bad && w->refused == NULL; is_first = false) {
        if (*w->at == ']') {
            w->is_bad = is_first;
            acq_text_add_char(&w->out, *w->at++);
            return;
        }
        if (*w->at == '[') {
            bool subtracts = !is_first && w->at[-1] == '-';
            w->refused = subtracts ? "classes that are subtracted in a regular expression are not "
                                     "supported"
                                   : NULL;
            w->is_bad = !subtracts;
        } else if (*w->at == '\\') {
            write_escape(w, true);
        } else {
            if (strchr("^&~", *w->at) != NULL)
                acq_text_add_char(&w->out, '\\');
            acq_text_add_char(&w->out, *w->at++);
        }
    }
    w->is_bad |= w->refused == NULL;
}

/* {n}, {n,} or {n,m} */
static void write_count(writer *w)
{
    const char *at = w->at + 1;
    size_t digits = 0;
    for (; at < w->end && *at >= '0' && *at <= '9'; at++)
        digits++;
    if (at < w->end && *at == ',') {
        for (at++; at < w->end && *at >= '0' && *at <= '9'; at++)
            ;
    }
    if (digits == 0 || at == w->end || *at != '}') {
        w->is_bad = true;
        return;
    }
    acq_text_add_bytes(&w->out, w->at, (size_t)(at + 1 - w->at));
    w->at = at + 1;
}

static void write_one(writer *w)
{
    char c = *w->at;
    bool is_quantified = w->out.length > 0 && w->at[-1] != '(' && w->at[-1] != '|';
    if (c == '\\') {
        write_escape(w, false);
    } else if (c == '[') {
        write_class(w);
    } else if (c == '.') {
        acq_text_add(&w->out, w->is_dot_all ? "(?s:.)" : "[^\\n\\r]");
        w->at++;
    } else if (c == '{') {
        write_count(w);
    } else if (c == '}' || c == ']') {
        w->is_bad = true;
    } else if (c == '(' && w->end - w->at > 1 && w->at[1] == '?') {
        w->is_bad = !(w->end - w->at > 2 && w->at[2] == ':');
        acq_text_add(&w->out, "(?:");
        w->at += 3;
    } else if (strchr("?*+", c) != NULL) {
        w->is_bad = !is_quantified;
        acq_text_add_char(&w->out, *w->at++);
        if (w->at < w->end && *w->at == '?') /* reluctant */
            acq_text_add_char(&w->out, *w->at++);
        else if (w->at < w->end && strchr("*+{", *w->at) != NULL)
            w->is_bad = true; /* possessive in PCRE2 */
    } else if (w->is_extended && strchr(" \t\r\n", c) != NULL) {
        w->at++;
    } else {
        if (c == '#')
            acq_text_add_char(&w->out, '\\');
        acq_text_add_char(&w->out, *w->at++);
    }
}

/* flags = {s | m | i | x | q} */
static bool read_flags(const char *flags, size_t n, writer *w, uint32_t *options)
{
    *options = PCRE2_UTF | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
    for (size_t i = 0; i < n; i++) {
        switch (flags[i]) {
        case 's':
            w->is_dot_all = true;
            break;
        case 'm':
            *options |= PCRE2_MULTILINE;
            break;
        case 'i':
            *options |= PCRE2_CASELESS;
            break;
        case 'x':
            w->is_extended = true;
            break;
        case 'q':
            *options |= PCRE2_LITERAL;
            break;
        default:
            return false;
        }
    }
    if (*options & PCRE2_LITERAL)
        *options &= PCRE2_LITERAL | PCRE2_UTF | PCRE2_CASELESS;
    return true;
}

static acq_status compile(acq_pattern *pattern, writer *w, uint32_t options)
{
    int code;
    PCRE2_SIZE place;
    pattern->code =
        pcre2_compile((PCRE2_SPTR)(w->out.length == 0 ? "" : w->out.bytes), w->out.length, options,
                      &code, &place, NULL);
    if (pattern->code == NULL) {
        w->is_bad = true;
        return ACQ_OK;
    }
    pattern->match = pcre2_match_data_create(1, NULL);
    pattern->limits = pcre2_match_context_create(NULL);
    if (pattern->match == NULL || pattern->limits == NULL)
        return ACQ_ERR_MEMORY;
    pcre2_set_match_limit(pattern->limits, 1000000);
    pcre2_set_heap_limit(pattern->limits, 16384);
    return ACQ_OK;
}

static acq_status make(acq_pattern *pattern, writer *w, uint32_t options)
{
    while (w->at < w->end && !w->is_bad && w->refused == NULL && !(options & PCRE2_LITERAL))
        write_one(w);
    if (options & PCRE2_LITERAL)
        acq_text_add_bytes(&w->out, w->at, (size_t)(w->end - w->at));
    if (w->out.failed)
        return ACQ_ERR_MEMORY;
    return w->is_bad || w->refused != NULL ? ACQ_OK : compile(pattern, w, options);
}

acq_status acq_pattern_new(const char *text, size_t length, const char *flags, size_t n_flags,
                           acq_pattern **out, const char **reason)
{
    writer w = {.at = text, .end = text + length};
    uint32_t options;
    acq_pattern *pattern = acq_zalloc(1, sizeof *pattern);
    *out = NULL;
    if (pattern == NULL)
        return ACQ_ERR_MEMORY;
    pattern->text = acq_alloc(length + 1, 1);
    pattern->flags = acq_alloc(n_flags + 1, 1);
    acq_status status =
        pattern->text == NULL || pattern->flags == NULL ? ACQ_ERR_MEMORY : ACQ_OK;
    if (status == ACQ_OK) {
        memcpy(pattern->text, text, length);
        memcpy(pattern->flags, flags, n_flags);
        pattern->length = length;
        pattern->n_flags = n_flags;
        w.is_bad = !read_flags(flags, n_flags, &w, &options);
        status = w.is_bad ? ACQ_OK : make(pattern, &w, options);
    }
    acq_text_deinit(&w.out);
    if (status == ACQ_OK && w.refused != NULL) {
        *reason = w.refused;
        status = ACQ_ERR_LIMIT;
    }
    if (status == ACQ_OK && !w.is_bad)
        *out = pattern;
    else
        acq_pattern_free(pattern);
    return status;
}

void acq_pattern_free(acq_pattern *pattern)
{
    if (pattern == NULL)
        return;
    pcre2_code_free(pattern->code);
    pcre2_match_data_free(pattern->match);
    pcre2_match_context_free(pattern->limits);
    acq_free(pattern->text);
    acq_free(pattern->flags);
    acq_free(pattern);
}

bool acq_pattern_is(const acq_pattern *pattern, const char *text, size_t length, const char *flags,
                    size_t n_flags)
{
    return pattern->length == length && pattern->n_flags == n_flags &&
           memcmp(pattern->text, text, length) == 0 &&
           memcmp(pattern->flags, flags, n_flags) == 0;
}

int acq_pattern_match(acq_pattern *pattern, const char *text, size_t length)
{
    int found = pcre2_match(pattern->code, (PCRE2_SPTR)text, length, 0, 0, pattern->match,
                            pattern->limits);
    return found >= 0 ? 1 : found == PCRE2_ERROR_NOMATCH ? 0 : -1;
}
