/* parser.h - what the files of the SPARQL parser share: its tokens and its account of variables.
 *
 * SPARQL's variables may be unbound in a solution, ours never are. The two agree when every
 * variable that is selected or filtered is bound by a pattern in every solution of its group, so
 * the parser keeps account:
 *
 *   bindings   one entry per occurrence in a pattern, the current group's from its mark up; a
 *              UNION merges its branches: certain only if certain in all of them
 *   uses       occurrences in FILTER and NOT EXISTS, checked at the end of the group they belong
 *              to (the group outside of all NOT EXISTS), since a filter may stand before patterns
 */
#ifndef ACQ_QUERY_SPARQL_PARSER_H
#define ACQ_QUERY_SPARQL_PARSER_H

#include "base/text.h"
#include "query/builder.h"

/* ---- tokens, with their places ----
 *
 * word      SELECT, a, ... (keywords in any case of letters)
 * variable  ?x or $x; text is the name
 * iri       <...> with \uXXXX and \UXXXXXXXX; blanks are allowed, so that any name can be written
 * prefixed  prefix:local or prefix: ; text is the prefix with its colon, local what follows
 * number    digits
 * marks     { } ( ) . ; , * = != ! ^ && || / | + ? < > [ ] and pairs of those
 * # starts a comment. Literals and blank nodes are refused here. */
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

/* ---- the parser ---- */

typedef struct acq_sparql_binding {
    uint32_t word; /* symbol */
    bool is_certain;
} acq_sparql_binding;

typedef struct acq_sparql_use {
    uint32_t word;
    acq_input_place place;
    bool in_exists;
} acq_sparql_use;

/* What the last marking found about a variable: valid where `round` is the current one. */
typedef struct acq_sparql_mark {
    uint32_t round;
    uint32_t count; /* branches that bind it for certain */
    bool is_certain;
} acq_sparql_mark;

typedef struct acq_sparql {
    acq_sparql_lexer lexer;
    acq_builder builder;
    acq_sparql_binding *bindings;
    size_t n_bindings, bindings_capacity;
    acq_sparql_use *uses;
    size_t n_uses, uses_capacity;
    acq_sparql_mark *marks; /* by symbol */
    size_t marks_capacity;
    uint32_t round;
    bool in_exists;  /* inside a pattern of EXISTS or NOT EXISTS */
    acq_text base;   /* of relative IRIs; empty: none */
    acq_text full;   /* scratch for resolved names */
    size_t expanded; /* bytes of names made from prefixes and the base */
} acq_sparql;

#define ACQ_SPARQL_FAIL(p, place, ...)                                                             \
    acq_fail_at((p)->builder.error, ACQ_ERR_PARSE, (place).line, (place).column, __VA_ARGS__)

/* sparql_terms.c */
acq_status acq_sparql_fail_expected(acq_sparql *p, const char *expected);
acq_status acq_sparql_expect_mark(acq_sparql *p, const char *mark, const char *expected);
bool acq_sparql_is_word(const acq_sparql *p, const char *word);
bool acq_sparql_is_mark(const acq_sparql *p, const char *mark);
bool acq_sparql_is_name(const acq_sparql *p); /* IRI or prefixed name */
void acq_sparql_next(acq_sparql *p);
acq_status acq_sparql_read_name(acq_sparql *p, acq_symbol_kind kind, uint32_t *out);
acq_status acq_sparql_read_variable(acq_sparql *p, uint32_t *word);
acq_status acq_sparql_define_prefix(acq_sparql *p, const char *prefix, size_t length,
                                    acq_input_place place);
acq_term acq_sparql_get_term(const acq_sparql *p, uint32_t symbol);

/* sparql_bindings.c */
acq_status acq_sparql_bind(acq_sparql *p, uint32_t word, acq_input_place place);
acq_status acq_sparql_use_variable(acq_sparql *p, uint32_t word, acq_input_place place);
/* Marks the variables of bindings from..to; then get_mark tells about each. */
acq_status acq_sparql_mark_bindings(acq_sparql *p, size_t from, size_t to);
const acq_sparql_mark *acq_sparql_get_mark(const acq_sparql *p, uint32_t word); /* NULL: unbound */
/* Branch i of a UNION begins at starts[i]; its end is starts[i+1], starts[n] for the last. */
acq_status acq_sparql_merge_branches(acq_sparql *p, const size_t *starts, size_t n);
acq_status acq_sparql_check_uses(acq_sparql *p, size_t uses_from, size_t bindings_from);

/* sparql_group.c: "{" ... "}"; leaves a run of at least one node. */
acq_status acq_sparql_parse_group(acq_sparql *p, acq_run *run);

/* sparql_values.c: behind the word VALUES. */
acq_status acq_sparql_parse_values(acq_sparql *p, acq_run *run);

/* sparql_filter.c: behind the word FILTER. */
acq_status acq_sparql_parse_filter(acq_sparql *p, acq_run *run);

#endif
