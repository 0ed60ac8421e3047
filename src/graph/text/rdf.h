/* rdf.h - inside the graph module: what RDF statements mean here, whatever file they come from.
 *
 *   IRI            an entity or relation; its key is the IRI without <>
 *   blank node     an entity, `_:label`; the labels of each of several files are told apart
 *   literal        left out and counted, or with --literals an entity, in N-Triples' spelling
 *   rdfs:label     what users see instead of the key; with --literals a fact as well
 *   urn:anycq:...  a plain name that an export has written so
 *   named graphs   merge */
#ifndef ACQ_GRAPH_TEXT_RDF_H
#define ACQ_GRAPH_TEXT_RDF_H

#include "graph/text/batch.h"

#define ACQ_RDFS_LABEL "http://www.w3.org/2000/01/rdf-schema#label"
#define ACQ_XSD        "http://www.w3.org/2001/XMLSchema#"

/* The message about statements about statements. */
#define ACQ_NO_TRIPLE_TERMS                                                                        \
    "triple terms of RDF 1.2 (<< >>, {| |}) are not read; give the statement a node of its own"

typedef enum acq_term_kind { ACQ_TERM_IRI, ACQ_TERM_BLANK, ACQ_TERM_LITERAL } acq_term_kind;

typedef struct acq_rdf_term {
    acq_term_kind kind;
    const char *text; /* IRI without <>, label without _:, text without quotes; no escapes left */
    size_t length;
    const char *datatype; /* of a literal, an IRI; NULL: none */
    size_t datatype_length;
    const char *language; /* of a literal; NULL: none */
    size_t language_length;
    size_t line, column;
} acq_rdf_term;

/* Adds a statement to the batch, or notes why it is bad. Terms are UTF-8. */
acq_status acq_rdf_add(acq_batch *batch, const acq_rdf_term terms[3]);

/* The text of a plain literal in quotes, with the escapes of N-Triples. */
void acq_rdf_write_literal(acq_text *out, const char *text, size_t length);

/* Relative IRIs, and the IRIs that stand for plain names (terms.c). */

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

/* <urn:anycq:NAME> is how a plain name is written in RDF, percent-encoded (write.c). */
bool acq_iri_is_plain_name(const char *iri, size_t length);

/* Appends that name; false when a % has no two hex digits behind it. */
bool acq_iri_decode_plain_name(acq_text *out, const char *iri, size_t length);

/* Of a hexadecimal digit; -1: it is none. */
static inline int acq_hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Room for why a term is bad. */
enum { ACQ_REASON = 120 };

/* Undoes the escape whose backslash is at *at into `out` and moves behind it; false: reason. */
bool acq_rdf_unescape(const char **at, const char *end, bool is_iri, acq_text *out,
                      char reason[ACQ_REASON]);

/* Bytes of the character that well-formed text begins with if a name may hold it (PN_CHARS or a
 * dot; as the first PN_CHARS_U or a digit), else 0. */
size_t acq_rdf_name_step(const char *at, bool is_first);

#endif
