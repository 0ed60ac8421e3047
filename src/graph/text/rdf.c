/* rdf.c - see rdf.h. */
#include "graph/text/rdf.h"

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
