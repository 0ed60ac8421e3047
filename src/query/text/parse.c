/* parse.c - recursive descent over the text syntax; the rule stands above each function.
 *
 * Bare words: one that the head or an enclosing exists lists is that variable. Any other is a
 * name if the query has an exists anywhere, else a variable: existential below a head, free
 * without one. Which of the two is known at the end only, so such words stay words until
 * acq_builder_finish. exists may stand wherever its polarity is positive; it is pulled to the
 * front by giving every listed variable a symbol of its own. */
#include "query/builder.h"

#include "base/memory.h"
#include "query/text/lexer.h"

/* What a word meant before an exists list took it. */
typedef struct shadow {
    uint32_t word, binding;
} shadow;

typedef struct parser {
    acq_lexer lexer;
    acq_builder builder;
    shadow *shadows;
    size_t n_shadows, shadows_capacity;
    bool has_head, has_exists;
    bool is_datalog;  /* the head ends with ":-" */
    bool is_negative; /* under an odd number of negations */
} parser;

#define FAIL(p, place, ...)                                                                        \
    acq_fail_at((p)->builder.error, ACQ_ERR_PARSE, (place).line, (place).column, __VA_ARGS__)

static acq_token_kind kind_of(const parser *p)
{
    return p->lexer.token.kind;
}

/* The current token is not what the grammar wants: the lexer's own error, or ours. */
static acq_status fail_expected(parser *p, const char *expected)
{
    if (kind_of(p) == ACQ_TOKEN_BAD)
        return acq_scan_fail(&p->lexer.in, p->builder.error);
    return FAIL(p, p->lexer.token.place, "expected %s, found %s", expected,
                acq_lexer_show(&p->lexer).text);
}

static bool is_name_or_word(const parser *p)
{
    return kind_of(p) == ACQ_TOKEN_WORD || kind_of(p) == ACQ_TOKEN_NAME;
}

/* The same behind a word, where a second one looks like a name with a space. */
static acq_status fail_behind(parser *p, const char *expected, const char *otherwise)
{
    if (kind_of(p) == ACQ_TOKEN_BAD)
        return acq_scan_fail(&p->lexer.in, p->builder.error);
    return FAIL(p, p->lexer.token.place, "expected %s, found %s%s", expected,
                acq_lexer_show(&p->lexer).text,
                is_name_or_word(p) ? "; a name with spaces goes in quotes" : otherwise);
}

static acq_status expect(parser *p, acq_token_kind kind, const char *expected)
{
    if (kind_of(p) != kind)
        return fail_expected(p, expected);
    acq_lexer_next(&p->lexer);
    return ACQ_OK;
}

static acq_status intern_token(parser *p, acq_symbol_kind kind, uint32_t *out)
{
    const acq_token *token = &p->lexer.token;
    return acq_builder_intern(&p->builder, kind, token->text, token->length, token->place, out);
}

static acq_status fail_reserved_term(parser *p)
{
    acq_shown shown = acq_lexer_show(&p->lexer);
    return FAIL(p, p->lexer.token.place,
                "%s is a reserved word; to use it as a name put it in quotes", shown.text);
}

static bool is_reserved(const parser *p)
{
    const acq_token *token = &p->lexer.token;
    return token->text != NULL && kind_of(p) != ACQ_TOKEN_WORD && kind_of(p) != ACQ_TOKEN_NAME &&
           kind_of(p) != ACQ_TOKEN_BAD;
}

/* term = WORD | NAME */
static acq_status parse_term(parser *p, const char *expected, acq_term *out)
{
    if (is_reserved(p))
        return fail_reserved_term(p);
    if (!is_name_or_word(p))
        return fail_expected(p, expected);
    bool is_word = kind_of(p) == ACQ_TOKEN_WORD;
    acq_status status = intern_token(p, is_word ? ACQ_SYMBOL_WORD : ACQ_SYMBOL_CONSTANT, &out->id);
    if (status != ACQ_OK)
        return status;
    const acq_symbol *symbol = &p->builder.symbols[out->id];
    if (is_word && symbol->binding != ACQ_NO_ID)
        out->id = symbol->binding;
    acq_lexer_next(&p->lexer);
    return ACQ_OK;
}

/* The variable list of a head or of exists: declares the current word. */
static acq_status declare(parser *p, acq_symbol_kind kind, size_t list_start)
{
    if (is_reserved(p))
        return FAIL(p, p->lexer.token.place,
                    "%s is a reserved word and cannot be a variable; choose another",
                    acq_lexer_show(&p->lexer).text);
    if (kind_of(p) == ACQ_TOKEN_NAME)
        return FAIL(p, p->lexer.token.place,
                    "%s is a name, but this list holds variables; write it as a bare word",
                    acq_lexer_show(&p->lexer).text);
    if (kind_of(p) != ACQ_TOKEN_WORD)
        return fail_expected(p, "a variable");
    uint32_t word, variable;
    acq_token token = p->lexer.token;
    if (intern_token(p, ACQ_SYMBOL_WORD, &word) != ACQ_OK ||
        ACQ_RESERVE(p->shadows, p->shadows_capacity, p->n_shadows + 1) != ACQ_OK)
        return acq_fail_memory(p->builder.error);
    uint32_t binding = p->builder.symbols[word].binding;
    if (binding != ACQ_NO_ID && binding >= list_start)
        return FAIL(p, token.place, "'%s' is listed twice; remove one",
                    acq_input_show(token.text, token.length).text);
    if (acq_builder_add_variable(&p->builder, kind, token.text, token.length, token.place,
                                 &variable) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    p->shadows[p->n_shadows++] = (shadow){word, binding};
    p->builder.symbols[word].binding = variable;
    acq_lexer_next(&p->lexer);
    return ACQ_OK;
}

/* variables = WORD {"," WORD} */
static acq_status parse_variables(parser *p, acq_symbol_kind kind, const char *after)
{
    size_t list_start = p->builder.n_symbols;
    for (;;) {
        acq_status status = declare(p, kind, list_start);
        if (status != ACQ_OK)
            return status;
        if (kind_of(p) == ACQ_TOKEN_WORD)
            return fail_expected(p, after);
        if (kind_of(p) != ACQ_TOKEN_COMMA)
            return ACQ_OK;
        acq_lexer_next(&p->lexer);
    }
}

static acq_status parse_formula(parser *p, acq_run *run);

static void close_scope(parser *p, size_t mark)
{
    while (p->n_shadows > mark) {
        shadow last = p->shadows[--p->n_shadows];
        p->builder.symbols[last.word].binding = last.binding;
    }
}

/* exists_list = "exists" variables "." */
static acq_status parse_exists_list(parser *p)
{
    p->has_exists = true;
    acq_lexer_next(&p->lexer);
    acq_status status =
        parse_variables(p, ACQ_SYMBOL_EXISTS, "',' or '.' after the variable of exists");
    if (status != ACQ_OK)
        return status;
    return expect(p, ACQ_TOKEN_DOT, "',' or '.' after the variable of exists");
}

/* exists = exists_list formula */
static acq_status parse_exists(parser *p, acq_run *run)
{
    acq_input_place place = p->lexer.token.place;
    size_t mark = p->n_shadows;
    if (p->is_negative)
        return FAIL(p, place,
                    "exists under a negation says \"for all\", which is not supported; move the "
                    "exists in front of the negation if you mean that");
    acq_status status = acq_builder_enter(&p->builder, place);
    if (status == ACQ_OK)
        status = parse_exists_list(p);
    if (status == ACQ_OK)
        status = parse_formula(p, run);
    acq_builder_leave(&p->builder, 1);
    close_scope(p, mark);
    return status;
}

/* group = "(" formula ")" */
static acq_status parse_group(parser *p, acq_run *run)
{
    acq_input_place place = p->lexer.token.place;
    acq_status status = acq_builder_enter(&p->builder, place);
    if (status != ACQ_OK)
        return status;
    acq_lexer_next(&p->lexer);
    status = parse_formula(p, run);
    if (status != ACQ_OK)
        return status;
    if (kind_of(p) == ACQ_TOKEN_END)
        return FAIL(p, place, "this '(' is never closed; add ')'");
    acq_builder_leave(&p->builder, 1);
    return expect(p, ACQ_TOKEN_CLOSE, "'&', '|' or ')'");
}

/* arguments = "(" term "," term ")" */
static acq_status parse_arguments(parser *p, acq_term *left, acq_term *right)
{
    acq_lexer_next(&p->lexer);
    acq_status status = parse_term(p, "the first argument (a variable or a name)", left);
    if (status != ACQ_OK)
        return status;
    if (kind_of(p) == ACQ_TOKEN_CLOSE)
        return fail_expected(
            p, "',' and a second argument (relations link two things; a head is followed by ':=')");
    if (kind_of(p) != ACQ_TOKEN_COMMA)
        return fail_behind(p, "',' after the first argument", "");
    acq_lexer_next(&p->lexer);
    status = parse_term(p, "the second argument (a variable or a name)", right);
    if (status != ACQ_OK)
        return status;
    if (kind_of(p) == ACQ_TOKEN_COMMA)
        return fail_expected(p, "')' after the second argument: relations link two things");
    if (kind_of(p) != ACQ_TOKEN_CLOSE)
        return fail_behind(p, "')' after the second argument", "");
    acq_lexer_next(&p->lexer);
    return ACQ_OK;
}

static acq_status push_atom(parser *p, uint32_t relation, acq_input_place place)
{
    acq_term left = {0}, right = {0};
    acq_status status = parse_arguments(p, &left, &right);
    if (status != ACQ_OK)
        return status;
    return acq_builder_push_atom(&p->builder, ACQ_NODE_ATOM, relation, left, right, place);
}

/* inverse = "inverse" "(" (WORD | NAME | inverse) ")" */
static acq_status parse_inverse(parser *p, uint32_t *relation)
{
    size_t opened = 0;
    for (; kind_of(p) == ACQ_TOKEN_INVERSE; opened++) {
        acq_lexer_next(&p->lexer);
        acq_status status = expect(p, ACQ_TOKEN_OPEN, "'(' and a relation after inverse");
        if (status != ACQ_OK)
            return status;
    }
    if (!is_name_or_word(p))
        return is_reserved(p) ? fail_reserved_term(p) : fail_expected(p, "a relation");
    acq_symbol_kind kind = opened % 2 == 1 ? ACQ_SYMBOL_INVERSE : ACQ_SYMBOL_RELATION;
    acq_status status = intern_token(p, kind, relation);
    if (status != ACQ_OK)
        return status;
    acq_lexer_next(&p->lexer);
    if (kind_of(p) == ACQ_TOKEN_COMMA)
        return fail_expected(p, "')': inverse(relation)(x, y) takes one relation (a relation "
                                "called inverse goes in quotes)");
    for (; opened > 0; opened--) {
        status = expect(p, ACQ_TOKEN_CLOSE, "')' after the relation of inverse");
        if (status != ACQ_OK)
            return status;
    }
    if (kind_of(p) != ACQ_TOKEN_OPEN)
        return fail_expected(p, "the arguments of the inverse: inverse(relation)(x, y)");
    return ACQ_OK;
}

/* comparison = term ("=" | "!=") term */
static acq_status parse_comparison(parser *p, acq_run *run)
{
    acq_token first = p->lexer.token;
    acq_shown shown = acq_lexer_show(&p->lexer);
    acq_term left = {0}, right = {0};
    acq_status status = parse_term(p, "a term", &left);
    if (status != ACQ_OK)
        return status;
    acq_token_kind operator= kind_of(p);
    if (operator!= ACQ_TOKEN_EQUAL && operator!= ACQ_TOKEN_DIFFERENT) {
        char expected[sizeof shown.text + 32];
        acq_format(expected, sizeof expected, "'(', '=' or '!=' after %s", shown.text);
        return fail_behind(p, expected, "; an atom is relation(x, y)");
    }
    acq_lexer_next(&p->lexer);
    status = parse_term(p, "a variable or a name to compare with", &right);
    if (status == ACQ_OK)
        status = acq_builder_push_atom(&p->builder, ACQ_NODE_EQUAL, 0, left, right, first.place);
    if (status == ACQ_OK && operator== ACQ_TOKEN_DIFFERENT)
        status = acq_builder_negate(&p->builder, *run, first.place);
    return status;
}

/* atom = (WORD | NAME | inverse) arguments */
static acq_status parse_atom(parser *p)
{
    acq_input_place place = p->lexer.token.place;
    uint32_t relation = 0;
    acq_status status;
    if (kind_of(p) == ACQ_TOKEN_INVERSE) {
        status = parse_inverse(p, &relation);
    } else {
        status = intern_token(p, ACQ_SYMBOL_RELATION, &relation);
        acq_lexer_next(&p->lexer);
    }
    return status == ACQ_OK ? push_atom(p, relation, place) : status;
}

static acq_status fail_forall(parser *p)
{
    return FAIL(p, p->lexer.token.place,
                "forall: universal quantification is not supported; only exists is");
}

/* primary = group | exists | atom | comparison */
static acq_status parse_primary(parser *p, bool is_negated, acq_run *run)
{
    *run = acq_run_single(p->builder.n_stack);
    switch (kind_of(p)) {
    case ACQ_TOKEN_OPEN:
        return parse_group(p, run);
    case ACQ_TOKEN_EXISTS:
        return parse_exists(p, run);
    case ACQ_TOKEN_FORALL:
        return fail_forall(p);
    case ACQ_TOKEN_INVERSE:
        return parse_atom(p);
    case ACQ_TOKEN_WORD:
    case ACQ_TOKEN_NAME:
        if (acq_lexer_opens_next(&p->lexer))
            return parse_atom(p);
        if (is_negated)
            return FAIL(p, p->lexer.token.place,
                        "'!' needs an atom or parentheses; write !(x = y), or x != y");
        return parse_comparison(p, run);
    default:
        return fail_expected(p, "an atom like relation(x, y), '!', '(' or exists");
    }
}

/* negation = "!" negation | primary; no comparison right behind "!" */
static acq_status parse_negation(parser *p, acq_run *run)
{
    acq_input_place place = p->lexer.token.place;
    if (kind_of(p) != ACQ_TOKEN_NOT)
        return parse_primary(p, false, run);
    acq_status status = acq_builder_enter(&p->builder, place);
    if (status != ACQ_OK)
        return status;
    acq_lexer_next(&p->lexer);
    p->is_negative = !p->is_negative;
    status = kind_of(p) == ACQ_TOKEN_NOT ? parse_negation(p, run) : parse_primary(p, true, run);
    p->is_negative = !p->is_negative;
    acq_builder_leave(&p->builder, 1);
    if (status != ACQ_OK)
        return status;
    status = acq_builder_negate(&p->builder, *run, place);
    *run = acq_run_single(run->mark);
    return status;
}

static acq_status take_negation(void *p, acq_run *run)
{
    return parse_negation(p, run);
}

static bool take_separator(void *parser_, acq_node_kind node)
{
    parser *p = parser_;
    bool is_and = kind_of(p) == ACQ_TOKEN_AND || kind_of(p) == ACQ_TOKEN_COMMA;
    if (node == ACQ_NODE_AND ? !is_and : kind_of(p) != ACQ_TOKEN_OR)
        return false;
    acq_lexer_next(&p->lexer);
    return true;
}

/* conjunction = negation {("&" | ",") negation} */
static acq_status parse_conjunction(void *p, acq_run *run)
{
    acq_chain chain = {p, ACQ_NODE_AND, take_negation, take_separator};
    return acq_builder_chain(&((parser *)p)->builder, &chain, run);
}

/* formula = conjunction {"|" conjunction} */
static acq_status parse_formula(parser *p, acq_run *run)
{
    acq_chain chain = {p, ACQ_NODE_OR, parse_conjunction, take_separator};
    return acq_builder_chain(&p->builder, &chain, run);
}

static bool is_head_token(acq_token_kind kind)
{
    return kind == ACQ_TOKEN_WORD || kind == ACQ_TOKEN_NAME || kind == ACQ_TOKEN_OPEN ||
           kind == ACQ_TOKEN_CLOSE || kind == ACQ_TOKEN_COMMA;
}

/* Does a ":=" or ":-" follow nothing but what a head is made of? Other errors are left to the
 * parser. */
static acq_status find_head(parser *p, bool *found)
{
    acq_lexer lexer;
    acq_lexer_init(&lexer, p->lexer.in.text, p->lexer.in.length);
    while (is_head_token(lexer.token.kind))
        acq_lexer_next(&lexer);
    *found = lexer.token.kind == ACQ_TOKEN_DEFINE;
    acq_status status = lexer.in.problem.code == ACQ_ERR_MEMORY ? ACQ_ERR_MEMORY : ACQ_OK;
    acq_lexer_deinit(&lexer);
    return status == ACQ_OK ? ACQ_OK : acq_fail_memory(p->builder.error);
}

/* head = WORD ["(" [variables] ")"] (":=" | ":-"); the second, of Datalog, allows a "." at the end
 */
static acq_status parse_head(parser *p)
{
    acq_lexer *lexer = &p->lexer;
    if (kind_of(p) != ACQ_TOKEN_WORD)
        return fail_expected(p, "the query's name, as in Q(x) := ...");
    p->builder.query->name =
        acq_arena_copy_string(&p->builder.query->arena, lexer->token.text, lexer->token.length);
    if (p->builder.query->name == NULL)
        return acq_fail_memory(p->builder.error);
    acq_lexer_next(lexer);
    if (kind_of(p) == ACQ_TOKEN_OPEN) {
        acq_lexer_next(lexer);
        acq_status status = ACQ_OK;
        if (kind_of(p) != ACQ_TOKEN_CLOSE)
            status = parse_variables(p, ACQ_SYMBOL_FREE, "',' or ')' after the variable");
        if (status == ACQ_OK)
            status = expect(p, ACQ_TOKEN_CLOSE, "',' or ')' after the variable");
        if (status != ACQ_OK)
            return status;
    }
    p->has_head = true;
    p->is_datalog = lexer->token.source_length == 2 && lexer->token.source[1] == '-';
    return expect(p, ACQ_TOKEN_DEFINE, "':=' after the head");
}

static acq_status fail_rest(parser *p)
{
    if (kind_of(p) == ACQ_TOKEN_CLOSE)
        return FAIL(p, p->lexer.token.place, "this ')' closes nothing; remove it or add '('");
    if (kind_of(p) == ACQ_TOKEN_DEFINE)
        return FAIL(p, p->lexer.token.place, "':=' belongs after the head, once: Q(x) := formula");
    if (kind_of(p) == ACQ_TOKEN_FORALL)
        return fail_forall(p);
    return fail_expected(p, "'&', '|' or the end of the query");
}

/* query = [head] {exists_list} formula ["."] END; lists in front do not count as nesting */
static acq_status parse_query(parser *p, acq_query **out)
{
    acq_run run = {0};
    bool has_head;
    if (kind_of(p) == ACQ_TOKEN_END)
        return FAIL(p, p->lexer.token.place,
                    "the query is empty; write for example Q(x) := relation(x, \"name\")");
    acq_status status = find_head(p, &has_head);
    if (status == ACQ_OK && has_head)
        status = parse_head(p);
    while (status == ACQ_OK && kind_of(p) == ACQ_TOKEN_EXISTS)
        status = parse_exists_list(p);
    if (status == ACQ_OK)
        status = parse_formula(p, &run);
    if (status == ACQ_OK && p->is_datalog && kind_of(p) == ACQ_TOKEN_DOT)
        acq_lexer_next(&p->lexer);
    if (status == ACQ_OK && kind_of(p) != ACQ_TOKEN_END)
        status = fail_rest(p);
    if (status != ACQ_OK)
        return status;
    acq_symbol_kind words_are = p->has_exists ? ACQ_SYMBOL_CONSTANT
                                : p->has_head ? ACQ_SYMBOL_EXISTS
                                              : ACQ_SYMBOL_FREE;
    return acq_builder_finish(&p->builder, run, words_are, out);
}

acq_status acq_query_parse_text(const char *text, size_t length, acq_query **out, acq_error *error)
{
    parser p = {0};
    if (acq_builder_init(&p.builder, error) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_lexer_init(&p.lexer, text, length);
    acq_status status = parse_query(&p, out);
    acq_lexer_deinit(&p.lexer);
    acq_builder_deinit(&p.builder);
    acq_free(p.shadows);
    return status;
}
