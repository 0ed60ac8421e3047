/* lexer.h - tokens of the text and benchmark syntaxes, with their places.
 *
 * word     [A-Za-z_ or beyond ASCII] [A-Za-z0-9_ or beyond ASCII]*
 * name     "..." with \" \\ \n \r \t, or <...>; both on one line, not empty
 * marks    ( ) , . & | ! = != := :-
 * reserved exists forall not and or inverse, in any case of letters
 * # starts a comment up to the end of the line. */
#ifndef ACQ_QUERY_TEXT_LEXER_H
#define ACQ_QUERY_TEXT_LEXER_H

#include "base/text.h"
#include "query/input.h"

typedef enum acq_token_kind {
    ACQ_TOKEN_END,
    ACQ_TOKEN_WORD,
    ACQ_TOKEN_NAME, /* quoted or <...> */
    ACQ_TOKEN_OPEN,
    ACQ_TOKEN_CLOSE,
    ACQ_TOKEN_COMMA,
    ACQ_TOKEN_DOT,
    ACQ_TOKEN_AND, /* & or the word */
    ACQ_TOKEN_OR,
    ACQ_TOKEN_NOT,
    ACQ_TOKEN_EQUAL,
    ACQ_TOKEN_DIFFERENT,
    ACQ_TOKEN_DEFINE, /* := or :- */
    ACQ_TOKEN_EXISTS,
    ACQ_TOKEN_FORALL,
    ACQ_TOKEN_INVERSE,
    ACQ_TOKEN_BAD, /* in.problem says why */
} acq_token_kind;

typedef struct acq_token {
    acq_token_kind kind;
    acq_input_place place;
    const char *source; /* as written */
    size_t source_length;
    const char *text; /* WORD and NAME: the meaning; valid until the next token */
    size_t length;
} acq_token;

typedef struct acq_lexer {
    acq_scan in;
    acq_token token; /* the current one */
} acq_lexer;

/* text has passed acq_input_check. The first token is read. */
void acq_lexer_init(acq_lexer *lexer, const char *text, size_t length);
void acq_lexer_deinit(acq_lexer *lexer);

/* Reads the next token. After BAD or END it stays there. */
void acq_lexer_next(acq_lexer *lexer);

/* Is the token after the current one a "("? */
bool acq_lexer_opens_next(acq_lexer *lexer);

/* The current token in a message: 'x' in quotes, or "the end of the query". */
acq_shown acq_lexer_show(const acq_lexer *lexer);

/* Would `text` be read as one WORD token? */
bool acq_lexer_is_word(const char *text, size_t length);

#endif
