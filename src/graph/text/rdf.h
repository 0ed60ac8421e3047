/* rdf.h - inside the graph module: what RDF statements mean here, whatever file they come from.
 *
 *   IRI            an entity or relation; its key is the IRI without <>
 *   blank node     an entity, `_:label`; the labels of each of several files are told apart
 *   literal        left out and counted, or with --literals an entity, in N-Triples' spelling
 *   rdfs:label     what users see instead of the key; with --literals a fact as well
 *   urn:anycq:...  a plain name that an export has written so
 *   named graphs   merge; with --named-graphs it is kept which facts stand in which */
#ifndef ACQ_GRAPH_TEXT_RDF_H
#define ACQ_GRAPH_TEXT_RDF_H

#include "graph/text/batch.h"
#include "graph/text/pieces.h"

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

/* Statements that follow stand in the graph of this name; NULL: in none. */
acq_status acq_rdf_set_graph(acq_batch *batch, const acq_rdf_term *name);

/* The text of a plain literal in quotes, with the escapes of N-Triples. */
void acq_rdf_write_literal(acq_text *out, const char *text, size_t length);

/* Relative IRIs, and the IRIs that stand for plain names. */

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

/* ---- turtle ----
 *
 * Inside the graph module: the words of Turtle and TriG, read from a stream.
 *
 *   buffer  [ ... | word at hand, whole ...... | bytes not looked at yet ... | NUL ]
 *                 ^ start                      ^ at                          ^ end
 *
 * A NUL stands behind the last byte, so that scanning needs no test for the end: it stops at every
 * NUL and, if it is that one, asks for more, which moves the word at hand to the front. Memory is
 * that of the longest word. A function that returns false has left the reason in batch->error, with
 * its place. */

typedef struct acq_turtle {
    acq_stream *stream;
    acq_merger *merger;
    acq_batch *batch;
    char *buffer;
    size_t capacity;
    char *start, *at, *end;
    uint64_t offset;     /* of the buffer in the text */
    uint64_t line_start; /* of the line in which `start` is */
    size_t line;         /* its number, from 1 */
    bool has_started;
    bool has_ended;    /* there is nothing behind `end` */
    acq_status status; /* of the merger */
} acq_turtle;

/* The stream, the merger and the batch are borrowed. */
acq_status acq_turtle_init(acq_turtle *t, acq_stream *stream, acq_merger *merger, acq_batch *batch);
void acq_turtle_deinit(acq_turtle *t);

/* Something has failed. */
bool acq_turtle_is_over(const acq_turtle *t);

/* Notes what is wrong at a byte of the word at hand; false. The second is for what the grammar does
 * not allow; it says so. */
bool acq_turtle_fail(acq_turtle *t, const char *place, acq_status code, const char *format, ...)
    ACQ_PRINTF(4, 5);
bool acq_turtle_bad(acq_turtle *t, const char *place, const char *format, ...) ACQ_PRINTF(3, 4);

/* Skips blanks and comments and looks at the next byte; NUL at the end of the text and after a
 * failure. The next word begins here. */
char acq_turtle_next(acq_turtle *t);

/* Goes on behind the one byte that acq_turtle_next saw. */
void acq_turtle_take(acq_turtle *t);

/* Goes on behind these bytes, if they come next. */
bool acq_turtle_take_word(acq_turtle *t, const char *word);

/* A term with the place of the word at hand. */
acq_rdf_term acq_turtle_start_term(const acq_turtle *t, acq_term_kind kind);

/* Each of the next reads one word that begins here. Texts stay valid until the next word, or as
 * long as the buffer that they had to be put together in. */

/* <...> without its brackets. */
bool acq_turtle_read_iriref(acq_turtle *t, acq_text *buffer, const char **text, size_t *length);

/* The part of a prefixed name before its colon, or a bare word: then *is_prefix is false. */
bool acq_turtle_read_word(acq_turtle *t, size_t *length, bool *is_prefix);

/* How many letters from A to z stand next; they are read. */
size_t acq_turtle_read_letters(acq_turtle *t);

/* Appends what stands behind the colon, which is the next byte. */
bool acq_turtle_read_local(acq_turtle *t, acq_text *out);

/* _:label without _: */
bool acq_turtle_read_label(acq_turtle *t, const char **label, size_t *length);

/* The text of a string in quotes of any of the four kinds; in the buffer. */
bool acq_turtle_read_string(acq_turtle *t, acq_text *buffer);

/* @language without @ */
bool acq_turtle_read_language(acq_turtle *t, const char **language, size_t *length);

/* A number, from `start` to `at`; *type is the IRI of its type. */
bool acq_turtle_read_number(acq_turtle *t, const char **type);

#endif
