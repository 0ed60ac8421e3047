/* input.c - see input.h. */
#include "query/input.h"

#include <stdio.h>
#include <string.h>

#include "query/query.h"

static acq_status fail_encoding(const char *text, size_t at, acq_error *error)
{
    size_t line = 1, line_start = 0;
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') {
            line++;
            line_start = i + 1;
        }
    }
    size_t column = at - line_start + 1;
    if (text[at] == '\0')
        return acq_fail_at(error, ACQ_ERR_PARSE, line, column,
                           "a query cannot contain a NUL byte; remove it");
    return acq_fail_at(error, ACQ_ERR_PARSE, line, column,
                       "byte 0x%02X is not valid UTF-8; save the query as UTF-8",
                       (unsigned char)text[at]);
}

acq_status acq_input_check(const char *text, size_t length, acq_error *error)
{
    if (length > ACQ_MOST_TEXT)
        return acq_fail_at(error, ACQ_ERR_LIMIT, 1, 1,
                           "the query has %zu bytes, the limit is %d; split it", length,
                           (int)ACQ_MOST_TEXT);
    size_t good = acq_utf8_check(text, length);
    const char *nul = good == 0 ? NULL : memchr(text, '\0', good);
    if (nul != NULL)
        return fail_encoding(text, (size_t)(nul - text), error);
    return good == length ? ACQ_OK : fail_encoding(text, good, error);
}

acq_shown acq_input_show(const char *text, size_t length)
{
    enum { MOST = 60 };
    acq_shown shown = {0};
    size_t used = 0;
    for (size_t i = 0; i < length;) {
        unsigned char byte = (unsigned char)text[i];
        size_t n = acq_utf8_length(text + i, length - i);
        bool plain = n != 0 && byte >= 0x20 && byte != 0x7F;
        size_t need = plain ? n : 4;
        if (used + need > MOST) {
            memcpy(shown.text + used, "...", 3);
            break;
        }
        if (plain)
            memcpy(shown.text + used, text + i, n);
        else
            snprintf(shown.text + used, 5, "\\x%02X", byte);
        used += need;
        i += plain ? n : 1;
    }
    return shown;
}

/* ---- lexers ---- */

void acq_scan_init(acq_scan *scan, const char *text, size_t length)
{
    *scan = (acq_scan){.text = text, .length = length, .line = 1};
    acq_text_init(&scan->decoded);
}

void acq_scan_deinit(acq_scan *scan)
{
    acq_text_deinit(&scan->decoded);
}

void acq_scan_skip_blanks(acq_scan *scan)
{
    bool in_comment = false;
    for (; scan->at < scan->length; scan->at++) {
        char c = scan->text[scan->at];
        if (c == '\n') {
            in_comment = false;
            scan->line++;
            scan->line_start = scan->at + 1;
        } else if (c == '#') {
            in_comment = true;
        } else if (!in_comment && c != ' ' && c != '\t' && c != '\r') {
            return;
        }
    }
}

acq_input_place acq_scan_get_place(const acq_scan *scan, size_t at)
{
    return (acq_input_place){scan->line, (uint32_t)(at - scan->line_start + 1)};
}

acq_status acq_scan_fail(const acq_scan *scan, acq_error *error)
{
    const acq_error *problem = &scan->problem;
    return acq_fail_at(error, problem->code, problem->line, problem->column, "%s",
                       problem->message);
}

acq_shown acq_scan_show(const char *source, size_t length, bool is_end)
{
    acq_shown shown = {.text = "the end of the query"};
    if (is_end)
        return shown;
    acq_shown inner = acq_input_show(source, length);
    size_t n = strlen(inner.text);
    shown.text[0] = '\'';
    memcpy(shown.text + 1, inner.text, n);
    memcpy(shown.text + 1 + n, "'", 2);
    return shown;
}

bool acq_scan_is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9') ||
           (unsigned char)c >= 0x80;
}
