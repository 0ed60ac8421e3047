/* parser.h - what the files of the SPARQL parser share: its tokens and its state. */
#ifndef ACQ_QUERY_SPARQL_PARSER_H
#define ACQ_QUERY_SPARQL_PARSER_H

#include "base/text.h"
#include "graph/names.h"
#include "query/sparql/syntax.h"

/* ---- tokens, with their places ----
 *
 * word      SELECT, a, ... (keywords in any case of letters)
 * variable  ?x or $x; text is the name
 * iri       <...> with \uXXXX and \UXXXXXXXX; a name without a scheme may hold blanks
 * prefixed  prefix:local or prefix: ; text is the prefix with its colon, local what follows
 * blank     _:label; text is the label
 * string    any of the four kinds of quotes; text has no escapes left
 * language  @en; text without the @
 * number    digits, perhaps with a point and an exponent, without a sign
 * marks     { } ( ) . ; , * = != ! ^ ^^ && || / | + - ? < > <= >= [ ]
 * # starts a comment. */
typedef enum acq_sparql_kind {
    ACQ_SPARQL_END,
    ACQ_SPARQL_WORD,
    ACQ_SPARQL_VARIABLE,
    ACQ_SPARQL_IRI,
    ACQ_SPARQL_PREFIXED,
    ACQ_SPARQL_BLANK,
    ACQ_SPARQL_STRING,
    ACQ_SPARQL_LANGUAGE,
    ACQ_SPARQL_NUMBER,
    ACQ_SPARQL_MARK,
    ACQ_SPARQL_BAD, /* in.problem says why */
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
    acq_scan in;
    bool in_expression;     /* set by the parser before it asks for the next token */
    bool compares;          /* a "<" here is an operator: an operand stands before it */
    acq_sparql_token token; /* the current one */
} acq_sparql_lexer;

/* text has passed acq_input_check. The first token is read. */
void acq_sparql_lexer_init(acq_sparql_lexer *lexer, const char *text, size_t length);
void acq_sparql_lexer_deinit(acq_sparql_lexer *lexer);

/* Reads the next token. After BAD or END it stays there. */
void acq_sparql_lexer_next(acq_sparql_lexer *lexer);

/* The current token in a message. */
acq_shown acq_sparql_lexer_show(const acq_sparql_lexer *lexer);

/* ---- the parser ---- */

typedef struct acq_sparql_parser {
    acq_sparql_lexer lexer;
    acq_sparql_query *query;
    acq_error *error;
    acq_names variables;      /* "?x", "_:b" and, of blank nodes, their labels */
    acq_names prefixes;       /* "ex:"; iris[id] is what it stands for */
    const char **iris;        /* */
    size_t iris_capacity;     /* */
    uint32_t *label_blocks;   /* by variable: the block of triples that a blank node occurs in */
    size_t labels_capacity;   /* */
    acq_names keys;           /* names and literals so far; texts[id] is its copy in the arena */
    const char **texts;       /* */
    size_t texts_capacity;    /* */
    acq_text base;            /* of relative IRIs; empty: none */
    acq_text full;            /* scratch for names and keys */
    size_t expanded;          /* bytes of names made from prefixes and the base */
    uint32_t block, n_blocks; /* of triples: the current one, all so far */
    uint32_t depth, n_elements;
    uint32_t deepest; /* expression of the group at hand */
    uint32_t n_fresh; /* blank nodes without a label, so far */
} acq_sparql_parser;

#define ACQ_SPARQL_FAIL(p, place, ...)                                                             \
    acq_fail_at((p)->error, ACQ_ERR_PARSE, (place).line, (place).column, __VA_ARGS__)

#define ACQ_SPARQL_NEW(p, type) ((type *)acq_arena_zalloc(&(p)->query->arena, 1, sizeof(type)))

/* terms.c */
acq_status acq_sparql_fail_expected(acq_sparql_parser *p, const char *expected);
acq_status acq_sparql_expect_mark(acq_sparql_parser *p, const char *mark, const char *expected);
bool acq_sparql_is_word(const acq_sparql_parser *p, const char *word);
bool acq_sparql_is_mark(const acq_sparql_parser *p, const char *mark);
bool acq_sparql_is_name(const acq_sparql_parser *p); /* IRI or prefixed name */
void acq_sparql_next(acq_sparql_parser *p);
acq_status acq_sparql_enter(acq_sparql_parser *p, acq_input_place place);
void acq_sparql_leave(acq_sparql_parser *p);
acq_status acq_sparql_count_element(acq_sparql_parser *p, acq_input_place place);
acq_status acq_sparql_define_prefix(acq_sparql_parser *p, const char *prefix, size_t length);
acq_status acq_sparql_read_iri(acq_sparql_parser *p, acq_sparql_term *out);
acq_status acq_sparql_read_variable(acq_sparql_parser *p, acq_sparql_term *out);
acq_status acq_sparql_make_blank(acq_sparql_parser *p, acq_input_place place, acq_sparql_term *out);
acq_status acq_sparql_read_label(acq_sparql_parser *p, acq_sparql_term *out);
acq_status acq_sparql_make_iri(acq_sparql_parser *p, const char *iri, acq_sparql_term *out);

/* A literal, if one begins here: a string, a number (with a sign if `signs`), true or false. */
bool acq_sparql_is_literal(const acq_sparql_parser *p, bool signs);
acq_status acq_sparql_read_literal(acq_sparql_parser *p, acq_sparql_term *out);

/* triples.c: subject and its properties, in a pattern or a template. */
acq_status acq_sparql_parse_triples(acq_sparql_parser *p, acq_sparql_element ***end);
bool acq_sparql_begins_triple(const acq_sparql_parser *p);

/* group.c: "{" ... "}" */
acq_status acq_sparql_parse_group(acq_sparql_parser *p, acq_sparql_group **out);
/* Behind the word VALUES. */
acq_status acq_sparql_parse_values(acq_sparql_parser *p, acq_sparql_element **out);

/* expression.c */
acq_status acq_sparql_parse_expression(acq_sparql_parser *p, acq_sparql_expression **out);
/* "(" expression ")", a call, EXISTS or NOT EXISTS: what FILTER and ORDER BY take. */
acq_status acq_sparql_parse_constraint(acq_sparql_parser *p, acq_sparql_expression **out);
bool acq_sparql_begins_constraint(const acq_sparql_parser *p);

#endif
