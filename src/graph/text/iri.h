/* iri.h - relative IRIs, and the IRIs that stand for plain names. */
#ifndef ACQ_GRAPH_TEXT_IRI_H
#define ACQ_GRAPH_TEXT_IRI_H

#include "base/text.h"

/* Begins with a scheme, as in http: or urn: */
bool acq_iri_is_absolute(const char *iri, size_t length);

/* Appends what a relative IRI means beside an absolute base (RFC 3986, section 5). */
void acq_iri_resolve(acq_text *out, const char *iri, size_t length, const char *base);

/* A base that a user gave: absolute, and of characters that an IRI may have. */
acq_status acq_iri_check_base(const char *base, acq_error *error);

/* Is the character allowed in an IRI of N-Triples and Turtle? */
static inline bool acq_iri_allows(uint32_t c)
{
    return c > 0x20 && c != '<' && c != '>' && c != '"' && c != '{' && c != '}' && c != '|' &&
           c != '^' && c != '`' && c != '\\';
}

/* <urn:anycq:NAME> is how a plain name is written in RDF, percent-encoded (write_names.h). */
bool acq_iri_is_plain_name(const char *iri, size_t length);

/* Appends that name; false when a % has no two hex digits behind it. */
bool acq_iri_decode_plain_name(acq_text *out, const char *iri, size_t length);

#endif
