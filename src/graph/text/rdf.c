/* rdf.c - see rdf.h. */
#include "graph/text/rdf.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define XSD_STRING ACQ_XSD "string"

static bool equals(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

/* The statement at hand; functions that return bool leave in `status` why they say false. */
typedef struct statement {
    acq_batch *batch;
    acq_status status; /* ACQ_OK: the line is bad, and parsing goes on */
} statement;

/* The longest piece of an IRI that a message shows. */
static int shown(size_t length)
{
    return length < 200 ? (int)length : 200;
}

static bool decode_name(statement *s, const acq_rdf_term *term, acq_text *out)
{
    acq_batch *batch = s->batch;
    if (!acq_iri_decode_plain_name(out, term->text, term->length))
        s->status = acq_batch_bad(
            batch, term->line, term->column,
            "a %% in <%.*s> has no two hexadecimal digits behind it; write %%25 for a %%",
            shown(term->length), term->text);
    else if (out->length == 0)
        s->status =
            acq_batch_bad(batch, term->line, term->column, "<urn:anycq:> has no name; give it one");
    else if (memchr(out->bytes, '\0', out->length) != NULL ||
             acq_utf8_check(out->bytes, out->length) < out->length)
        s->status = acq_batch_bad(batch, term->line, term->column,
                                  "the name in <%.*s> is not UTF-8 text; correct it",
                                  shown(term->length), term->text);
    else
        return true;
    return false;
}

/* Appends a whole IRI of the term, resolved if need be. */
static bool add_iri(statement *s, const acq_rdf_term *term, const char *iri, size_t length,
                    acq_text *out)
{
    const char *base = s->batch->rules->base;
    if (acq_iri_is_absolute(iri, length))
        acq_text_add_bytes(out, iri, length);
    else if (base != NULL)
        acq_iri_resolve(out, iri, length, base);
    else
        s->status =
            acq_batch_bad(s->batch, term->line, term->column,
                          "the IRI <%.*s> is relative; say with --base IRI what it is relative to",
                          shown(length), iri);
    return base != NULL || acq_iri_is_absolute(iri, length);
}

static bool add_literal(statement *s, const acq_rdf_term *term, acq_text *out)
{
    acq_rdf_write_literal(out, term->text, term->length);
    if (term->language != NULL) {
        acq_text_add_char(out, '@');
        acq_text_add_bytes(out, term->language, term->language_length);
    } else if (term->datatype != NULL &&
               !equals(term->datatype, term->datatype_length, XSD_STRING)) {
        acq_text_add(out, "^^<");
        if (!add_iri(s, term, term->datatype, term->datatype_length, out))
            return false;
        acq_text_add_char(out, '>');
    }
    return true;
}

static bool write_key(statement *s, const acq_rdf_term *term, bool is_plain, acq_text *out)
{
    if (is_plain)
        return decode_name(s, term, out);
    if (term->kind == ACQ_TERM_IRI)
        return add_iri(s, term, term->text, term->length, out);
    if (term->kind == ACQ_TERM_LITERAL)
        return add_literal(s, term, out);
    acq_text_add(out, "_:");
    acq_text_add(out, s->batch->rules->blank_prefix);
    acq_text_add_bytes(out, term->text, term->length);
    return true;
}

/* The key of a term: most IRIs as they stand, anything else in `buffer`. */
static bool make_key(statement *s, const acq_rdf_term *term, acq_text *buffer, acq_field *out)
{
    bool is_iri = term->kind == ACQ_TERM_IRI;
    bool is_plain = is_iri && acq_iri_is_plain_name(term->text, term->length);
    *out = (acq_field){.line = term->line, .column = term->column};
    out->raw = out->name = term->text;
    out->raw_length = out->length = term->length;
    s->batch->is_rdf = s->batch->is_rdf || !is_plain;
    if (is_iri && !is_plain && acq_iri_is_absolute(term->text, term->length))
        return true;
    acq_text_clear(buffer);
    if (!write_key(s, term, is_plain, buffer))
        return false;
    s->status = acq_text_finish(buffer, &s->batch->error);
    out->raw = out->name = buffer->bytes;
    out->raw_length = out->length = buffer->length;
    return s->status == ACQ_OK;
}

static acq_label_rank rank_of(const acq_rdf_term *literal)
{
    if (literal->language == NULL)
        return literal->datatype == NULL ||
                       equals(literal->datatype, literal->datatype_length, XSD_STRING)
                   ? ACQ_LABEL_PLAIN
                   : ACQ_LABEL_OTHER;
    bool is_english = literal->language_length >= 2 && acq_is_same_word(literal->language, "en", 2);
    return is_english && (literal->language_length == 2 || literal->language[2] == '-')
               ? ACQ_LABEL_ENGLISH
               : ACQ_LABEL_OTHER;
}

/* False also when the label is bad. */
static bool add_label(statement *s, const acq_field *key, const acq_rdf_term *label)
{
    uint64_t bad = s->batch->counts.bad;
    acq_field text = {label->text,   label->length, label->text,
                      label->length, label->line,   label->column};
    s->status = acq_batch_add_label(s->batch, key, &text, rank_of(label));
    if (s->status != ACQ_OK || s->batch->counts.bad > bad)
        return false;
    s->batch->counts.labels++;
    return true;
}

acq_status acq_rdf_add(acq_batch *batch, const acq_rdf_term terms[3])
{
    statement s = {.batch = batch};
    bool is_literal = terms[2].kind == ACQ_TERM_LITERAL, is_fact = true;
    bool is_label = is_literal && equals(terms[1].text, terms[1].length, ACQ_RDFS_LABEL);
    acq_field fields[3];
    if (is_literal && !batch->rules->literals) {
        is_fact = false;
        batch->counts.literals += !is_label;
    }
    size_t n_keys = is_fact ? 3 : is_label ? 1 : 0;
    for (size_t i = 0; i < n_keys; i++) {
        if (!make_key(&s, &terms[i], &batch->keys[i], &fields[i]))
            return s.status;
    }
    if (is_label && !add_label(&s, &fields[0], &terms[2]))
        return s.status;
    return is_fact ? acq_batch_add_triple(batch, fields, true) : ACQ_OK;
}

acq_status acq_rdf_set_graph(acq_batch *batch, const acq_rdf_term *name)
{
    statement s = {.batch = batch};
    acq_field key;
    if (!batch->rules->graphs)
        return ACQ_OK;
    if (name == NULL)
        return acq_batch_set_graph(batch, NULL);
    return make_key(&s, name, &batch->keys[0], &key) ? acq_batch_set_graph(batch, &key) : s.status;
}

void acq_rdf_write_literal(acq_text *out, const char *text, size_t length)
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
        case '\0': /* names hold none */
            acq_text_add(out, "\\u0000");
            break;
        default:
            acq_text_add_char(out, text[i]);
        }
    }
    acq_text_add_char(out, '"');
}

/* ---- terms ----
 *
 * How the terms of RDF are spelled: relative IRIs, escapes, names; see rdf.h.
 *
 * IRIs are put together by RFC 3986, section 5.2; those that are whole stay as they are: two
 * spellings of one resource are two entities. */

static const char PLAIN[] = "urn:anycq:";

/* scheme ":" [ "//" authority ] path [ "?" query ] [ "#" fragment ]; a piece that is not there has
 * no text. */
typedef struct piece {
    const char *text;
    size_t length;
} piece;

typedef struct parts {
    piece scheme, authority, path, query, fragment;
} parts;

/* Cuts `rest` before the first `c`; what stands behind it is returned. */
static piece cut(piece *rest, char c)
{
    const char *at = rest->length == 0 ? NULL : memchr(rest->text, c, rest->length);
    if (at == NULL)
        return (piece){0};
    size_t length = (size_t)(at - rest->text);
    piece behind = {at + 1, rest->length - length - 1};
    rest->length = length;
    return behind;
}

static parts split(const char *iri, size_t length)
{
    parts of = {.path = {iri, length}};
    of.fragment = cut(&of.path, '#');
    of.query = cut(&of.path, '?');
    if (acq_iri_is_absolute(of.path.text, of.path.length)) {
        of.scheme = of.path;
        of.path = cut(&of.scheme, ':');
    }
    if (of.path.length >= 2 && memcmp(of.path.text, "//", 2) == 0) {
        const char *start = of.path.text + 2, *end = of.path.text + of.path.length;
        const char *slash = memchr(start, '/', (size_t)(end - start));
        slash = slash == NULL ? end : slash;
        of.authority = (piece){start, (size_t)(slash - start)};
        of.path = (piece){slash, (size_t)(end - slash)};
    }
    return of;
}

static bool begins(const char *text, size_t length, const char *word)
{
    size_t n = strlen(word);
    return length >= n && memcmp(text, word, n) == 0;
}

/* Where the last segment of a path begins, its slash included. */
static size_t last_segment(const char *path, size_t length)
{
    while (length > 0 && path[length - 1] != '/')
        length--;
    return length > 0 ? length - 1 : 0;
}

/* Takes the segments . and .. out of a path, in place; returns its new length (5.2.4). */
static size_t remove_dots(char *path, size_t length)
{
    size_t from = 0, to = 0;
    while (from < length) {
        const char *at = path + from;
        size_t left = length - from;
        if (begins(at, left, "../") || begins(at, left, "./")) {
            from += at[1] == '/' ? 2 : 3;
        } else if (begins(at, left, "/./")) {
            from += 2;
        } else if (begins(at, left, "/../")) {
            from += 3;
            to = last_segment(path, to);
        } else if ((left == 2 || left == 3) && memcmp(at, "/..", left) == 0) { /* at the end */
            to = left == 3 ? last_segment(path, to) : to;
            path[to++] = '/';
            from = length;
        } else if ((left == 1 && *at == '.') || (left == 2 && memcmp(at, "..", 2) == 0)) {
            from = length;
        } else {
            do
                path[to++] = path[from++];
            while (from < length && path[from] != '/');
        }
    }
    return to;
}

static void add_piece(acq_text *out, piece of, const char *before)
{
    if (of.text == NULL)
        return;
    acq_text_add(out, before);
    acq_text_add_bytes(out, of.text, of.length);
}

/* Length of a path up to and including its last slash. */
static size_t folder_of(piece path)
{
    while (path.length > 0 && path.text[path.length - 1] != '/')
        path.length--;
    return path.length;
}

/* The path beside that of the base (5.2.3), without dots. */
static void add_path(acq_text *out, const parts *base, const parts *given)
{
    size_t start = out->length;
    bool is_beside =
        given->authority.text == NULL && !begins(given->path.text, given->path.length, "/");
    if (is_beside && base->authority.text != NULL && base->path.length == 0)
        acq_text_add_char(out, '/');
    else if (is_beside)
        acq_text_add_bytes(out, base->path.text, folder_of(base->path));
    acq_text_add_bytes(out, given->path.text, given->path.length);
    if (!out->failed && out->length > start)
        out->length = start + remove_dots(out->bytes + start, out->length - start);
    if (!out->failed)
        out->bytes[out->length] = '\0';
}

void acq_iri_resolve(acq_text *out, const char *iri, size_t length, const char *base_iri)
{
    parts given = split(iri, length), base = split(base_iri, strlen(base_iri));
    bool has_authority = given.authority.text != NULL, has_path = given.path.length > 0;
    acq_text_add_bytes(out, base.scheme.text, base.scheme.length);
    acq_text_add_char(out, ':');
    add_piece(out, has_authority ? given.authority : base.authority, "//");
    if (has_authority || has_path)
        add_path(out, &base, &given);
    else
        acq_text_add_bytes(out, base.path.text, base.path.length);
    add_piece(out, has_authority || has_path || given.query.text != NULL ? given.query : base.query,
              "?");
    add_piece(out, given.fragment, "#");
}

acq_status acq_iri_check_base(const char *base, acq_error *error)
{
    bool is_good = acq_iri_is_absolute(base, strlen(base));
    for (const char *p = base; is_good && *p != '\0'; p++)
        is_good = acq_iri_allows((unsigned char)*p);
    if (is_good)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "the base \"%.200s\" is not a whole IRI; give one like http://example.org/",
                    base);
}

bool acq_iri_is_plain_name(const char *iri, size_t length)
{
    size_t n = sizeof PLAIN - 1;
    return length >= n && memcmp(iri, PLAIN, n) == 0;
}

bool acq_iri_decode_plain_name(acq_text *out, const char *iri, size_t length)
{
    for (size_t i = sizeof PLAIN - 1; i < length; i++) {
        if (iri[i] != '%') {
            acq_text_add_char(out, iri[i]);
            continue;
        }
        int high = length - i > 2 ? acq_hex_value(iri[i + 1]) : -1;
        int low = length - i > 2 ? acq_hex_value(iri[i + 2]) : -1;
        if (high < 0 || low < 0)
            return false;
        acq_text_add_char(out, (char)(high << 4 | low));
        i += 2;
    }
    return true;
}

/* The character that the hexadecimal digits behind \\u or \\U stand for. */
static bool read_code(const char *at, const char *end, uint32_t *code, char reason[ACQ_REASON])
{
    int n = at[1] == 'u' ? 4 : 8;
    *code = 0;
    for (int i = 0; i < n; i++) {
        int digit = at + 2 + i < end ? acq_hex_value(at[2 + i]) : -1;
        if (digit < 0) {
            snprintf(reason, ACQ_REASON, "\\%c needs %d hexadecimal digits behind it", at[1], n);
            return false;
        }
        *code = *code << 4 | (uint32_t)digit;
    }
    if (*code <= 0x10FFFF && (*code < 0xD800 || *code > 0xDFFF))
        return true;
    snprintf(reason, ACQ_REASON, "%.*s is no character; write the character itself", n + 2, at);
    return false;
}

bool acq_rdf_unescape(const char **at, const char *end, bool is_iri, acq_text *out,
                      char reason[ACQ_REASON])
{
    static const char names[] = "tbnrf\"'\\", values[] = "\t\b\n\r\f\"'\\";
    char c = *at + 1 < end ? (*at)[1] : '\0', bytes[4];
    const char *simple = c == '\0' || is_iri ? NULL : strchr(names, c);
    uint32_t code;
    if (simple != NULL) {
        acq_text_add_char(out, values[simple - names]);
        *at += 2;
        return true;
    }
    if (c != 'u' && c != 'U') {
        snprintf(reason, ACQ_REASON,
                 "a backslash stands before %s; double one that is meant as it is",
                 is_iri ? "u or U in an IRI" : "one of t b n r f \" ' \\ u U");
        return false;
    }
    if (!read_code(*at, end, &code, reason))
        return false;
    if (is_iri && !acq_iri_allows(code)) {
        snprintf(reason, ACQ_REASON, "an IRI cannot hold the character U+%04X; percent-encode it",
                 code);
        return false;
    }
    acq_text_add_bytes(out, bytes, acq_utf8_encode(code, bytes));
    *at += c == 'u' ? 6 : 10;
    return true;
}

/* PN_CHARS beyond ASCII. */
static bool is_name_character(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        {0xB7, 0xB7},     {0xC0, 0xD6},     {0xD8, 0xF6},      {0xF8, 0x37D},    {0x37F, 0x1FFF},
        {0x200C, 0x200D}, {0x203F, 0x2040}, {0x2070, 0x218F},  {0x2C00, 0x2FEF}, {0x3001, 0xD7FF},
        {0xF900, 0xFDCF}, {0xFDF0, 0xFFFD}, {0x10000, 0xEFFFF}};
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    }
    return false;
}

size_t acq_rdf_name_step(const char *at, bool is_first)
{
    size_t length;
    char c = *at;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_')
        return 1;
    if ((unsigned char)c < 0x80)
        return !is_first && (c == '-' || c == '.');
    uint32_t character = acq_utf8_decode(at, &length);
    bool is_later = character == 0xB7 || (character >= 0x300 && character <= 0x36F) ||
                    character == 0x203F || character == 0x2040;
    return is_name_character(character) && !(is_first && is_later) ? length : 0;
}
