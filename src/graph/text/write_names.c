/* write_names.c - see write_names.h. */
#include "graph/text/write_names.h"

#include <string.h>

#include "graph/text/iri.h"

bool acq_write_name_tsv(acq_text *out, const char *name)
{
    if (name[strcspn(name, "\t\n\r")] != '\0')
        return false;
    acq_text_add(out, name);
    return true;
}

void acq_write_name_csv(acq_text *out, const char *name)
{
    if (name[strcspn(name, ",\"\n\r")] == '\0') {
        acq_text_add(out, name);
        return;
    }
    acq_text_add_char(out, '"');
    for (size_t n; name[n = strcspn(name, "\"")] != '\0'; name += n + 1) {
        acq_text_add_bytes(out, name, n);
        acq_text_add(out, "\"\"");
    }
    acq_text_add(out, name);
    acq_text_add_char(out, '"');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* IRIREF of N-Triples, absolute. */
static bool is_iri(const char *name, size_t length)
{
    if (!acq_iri_is_absolute(name, length))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!acq_iri_allows((unsigned char)name[i]))
            return false;
    }
    return true;
}

/* _:label, of which ours is the part that no reader disputes. */
static bool is_blank(const char *name)
{
    if (strncmp(name, "_:", 2) != 0)
        return false;
    const char *label = name + 2;
    size_t n = 0;
    while (is_letter(label[n]) || is_digit(label[n]) || label[n] == '_' ||
           (n > 0 && (label[n] == '-' || label[n] == '.')) || (unsigned char)label[n] >= 0x80)
        n++;
    return n > 0 && label[n] == '\0' && label[n - 1] != '.';
}

/* What may follow the closing quote: nothing, @language or ^^<datatype>. */
static bool is_literal_end(const char *end)
{
    if (end[0] == '@') {
        size_t n = 1;
        while (is_letter(end[n]) || (n > 1 && (is_digit(end[n]) || end[n] == '-')))
            n++;
        return n > 1 && end[n] == '\0';
    }
    if (strncmp(end, "^^<", 3) == 0) {
        size_t n = strlen(end);
        return end[n - 1] == '>' && is_iri(end + 3, n - 4);
    }
    return end[0] == '\0';
}

/* "..." in the escapes of N-Triples. */
static bool is_literal(const char *name)
{
    if (name[0] != '"')
        return false;
    size_t i = 1;
    while (name[i] != '\0' && name[i] != '"' && name[i] != '\n' && name[i] != '\r')
        i += name[i] == '\\' && name[i + 1] != '\0' ? 2 : 1;
    return name[i] == '"' && is_literal_end(name + i + 1);
}

static void add_encoded(acq_text *out, const char *name)
{
    static const char hex[] = "0123456789ABCDEF";
    acq_text_add(out, "<urn:anycq:");
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        if (is_letter(*name) || is_digit(*name) || strchr("-._~", *name) != NULL) {
            acq_text_add_char(out, *name);
        } else {
            char code[3] = {'%', hex[c >> 4], hex[c & 15]};
            acq_text_add_bytes(out, code, sizeof code);
        }
    }
    acq_text_add_char(out, '>');
}

/* A name in our own scheme is encoded once more, so that reading it back gives the same. */
void acq_write_name_nt(acq_text *out, const char *name, acq_name_place place, bool is_rdf)
{
    size_t length = strlen(name);
    if ((is_rdf && place != ACQ_PLACE_RELATION && is_blank(name)) ||
        (is_rdf && place == ACQ_PLACE_TAIL && is_literal(name))) {
        acq_text_add_bytes(out, name, length);
    } else if (!acq_iri_is_plain_name(name, length) && is_iri(name, length)) {
        acq_text_add_char(out, '<');
        acq_text_add_bytes(out, name, length);
        acq_text_add_char(out, '>');
    } else {
        add_encoded(out, name);
    }
}

void acq_write_literal_nt(acq_text *out, const char *text, size_t length)
{
    acq_text_add_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '"':
        case '\\':
            acq_text_add_char(out, '\\');
            acq_text_add_char(out, text[i]);
            break;
        case '\n':
            acq_text_add(out, "\\n");
            break;
        case '\r':
            acq_text_add(out, "\\r");
            break;
        default:
            acq_text_add_char(out, text[i]);
        }
    }
    acq_text_add_char(out, '"');
}
