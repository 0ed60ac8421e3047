/* lexer.h - tokens of the SPARQL subset, with their places.
 *
 * word      SELECT, a, ... (keywords in any case of letters)
 * variable  ?x or $x; text is the name
 * iri       <...> with \uXXXX and \UXXXXXXXX; blanks are allowed, so that any name can be written
 * prefixed  prefix:local or prefix: ; text is the prefix with its colon, local what follows
 * number    digits
 * marks     { } ( ) . ; , * = != ! ^ && || / | + ? < > [ ] and pairs of those
 * # starts a comment. Literals and blank nodes are refused here. */
#ifndef ACQ_QUERY_SPARQL_LEXER_H
#define ACQ_QUERY_SPARQL_LEXER_H

#include "base/text.h"
#include "query/input.h"

typedef enum acq_sparql_kind {
    ACQ_SPARQL_END,
    ACQ_SPARQL_WORD,
    ACQ_SPARQL_VARIABLE,
    ACQ_SPARQL_IRI,
    ACQ_SPARQL_PREFIXED,
    ACQ_SPARQL_NUMBER,
    ACQ_SPARQL_MARK,
    ACQ_SPARQL_BAD, /* acq_sparql_lexer_fail says why */
} acq_sparql_kind;

typedef struct acq_sparql_token {
    acq_sparql_kind kind;
    acq_input_place place;
    const char *source; /* as written */
    size_t source_length;
    const char *text; /* the meaning; valid until the next token */
    size_t length;
    const char *local; /* PREFIXED */
    size_t local_length;
} acq_sparql_token;

typedef struct acq_sparql_lexer {
    const char *text;
    size_t length, at, line_start;
    uint32_t line;
    acq_sparql_token token; /* the current one */
    acq_text decoded;       /* of an IRI or local name with escapes */
    acq_error problem;      /* of a BAD token */
} acq_sparql_lexer;

/* text has passed acq_input_check. The first token is read. */
void acq_sparql_lexer_init(acq_sparql_lexer *lexer, const char *text, size_t length);
void acq_sparql_lexer_deinit(acq_sparql_lexer *lexer);

/* Reads the next token. After BAD or END it stays there. */
void acq_sparql_lexer_next(acq_sparql_lexer *lexer);

/* The error of a BAD current token, as the caller's. */
acq_status acq_sparql_lexer_fail(const acq_sparql_lexer *lexer, acq_error *error);

/* Is the current token this keyword, this mark? */
bool acq_sparql_lexer_is_word(const acq_sparql_lexer *lexer, const char *word);
bool acq_sparql_lexer_is_mark(const acq_sparql_lexer *lexer, const char *mark);

/* The current token in a message. */
acq_shown acq_sparql_lexer_show(const acq_sparql_lexer *lexer);

#endif
