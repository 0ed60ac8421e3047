/* expression.c - expressions of SPARQL: FILTER and ORDER BY.
 *
 *   or         = and {"||" and}
 *   and        = comparison {"&&" comparison}
 *   comparison = sum [("=" | "!=" | "<" | ">" | "<=" | ">=") sum | ["NOT"] "IN" list]
 *   sum        = product {("+" | "-") product}
 *   product    = unary {("*" | "/") unary}
 *   unary      = ["!" | "+" | "-"] primary
 *   primary    = "(" or ")" | call | ["NOT"] "EXISTS" group | variable | iri | literal */
#include <string.h>

#include "graph/text/rdf.h"
#include "query/sparql/parser.h"

typedef acq_sparql_expression expression;

/* Evaluating recurs as deep as the tree is: a limit holds for all of it. */
static acq_status set_depth(acq_sparql_parser *p, expression *e)
{
    uint32_t deepest = e->group == NULL ? 0 : e->group->depth;
    for (const expression *child = e->children; child != NULL; child = child->next)
        deepest = child->depth > deepest ? child->depth : deepest;
    e->depth = deepest + 1;
    p->deepest = p->deepest > e->depth ? p->deepest : e->depth;
    if (e->depth <= ACQ_SPARQL_MOST_DEPTH)
        return ACQ_OK;
    return acq_fail_at(p->error, ACQ_ERR_LIMIT, e->place.line, e->place.column,
                       "this expression is nested deeper than %d levels; split it",
                       (int)ACQ_SPARQL_MOST_DEPTH);
}

static acq_status new_expression(acq_sparql_parser *p, acq_sparql_op op, acq_input_place place,
                                 expression *children, expression **out)
{
    acq_status status = acq_sparql_count_element(p, place);
    if (status != ACQ_OK)
        return status;
    expression *e = ACQ_SPARQL_NEW(p, expression);
    if (e == NULL)
        return acq_fail_memory(p->error);
    *e = (expression){.op = op, .place = place, .children = children};
    *out = e;
    return set_depth(p, e);
}

typedef struct function {
    const char *name;
    acq_sparql_op op;
    size_t least, most;
} function;

static const function FUNCTIONS[] = {
#define ACQ_SPARQL_FUNCTION_ROW(id, name, least, most) {name, ACQ_SPARQL_OP_##id, least, most},
    ACQ_SPARQL_FUNCTIONS(ACQ_SPARQL_FUNCTION_ROW)
#undef ACQ_SPARQL_FUNCTION_ROW
};

static const function *find_function(const acq_sparql_parser *p)
{
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++) {
        if (acq_sparql_is_word(p, FUNCTIONS[i].name))
            return &FUNCTIONS[i];
    }
    return NULL;
}

/* "(" [or {"," or}] ")"; the last token before what follows is lexed as `outer` says. */
static acq_status parse_list(acq_sparql_parser *p, expression **out, size_t *n)
{
    bool outer = p->lexer.in_expression;
    expression **end = out;
    *n = 0;
    p->lexer.in_expression = true;
    acq_status status = acq_sparql_expect_mark(p, "(", "'('");
    while (status == ACQ_OK && !acq_sparql_is_mark(p, ")")) {
        status = acq_sparql_parse_expression(p, end);
        if (status != ACQ_OK)
            break;
        end = &(*end)->next;
        ++*n;
        if (acq_sparql_is_mark(p, ")"))
            break;
        status = acq_sparql_expect_mark(p, ",", "',' or ')'");
        if (status == ACQ_OK && acq_sparql_is_mark(p, ")"))
            status = acq_sparql_fail_expected(p, "an expression");
    }
    p->lexer.in_expression = outer;
    if (status == ACQ_OK)
        acq_sparql_next(p);
    return status;
}

/* "(" or ")" */
static acq_status parse_bracketed(acq_sparql_parser *p, expression **out)
{
    bool outer = p->lexer.in_expression;
    acq_status status = acq_sparql_enter(p, p->lexer.token.place);
    p->lexer.in_expression = true;
    acq_sparql_next(p);
    if (status == ACQ_OK)
        status = acq_sparql_parse_expression(p, out);
    p->lexer.in_expression = outer;
    if (status == ACQ_OK)
        status = acq_sparql_expect_mark(p, ")", "an operator or ')'");
    acq_sparql_leave(p);
    return status;
}

/* ["NOT"] "EXISTS" group */
static acq_status parse_exists(acq_sparql_parser *p, expression **out)
{
    acq_input_place place = p->lexer.token.place;
    bool is_negated = acq_sparql_is_word(p, "NOT");
    if (is_negated)
        acq_sparql_next(p);
    if (!acq_sparql_is_word(p, "EXISTS"))
        return acq_sparql_fail_expected(p, "EXISTS after NOT");
    acq_status status = acq_sparql_enter(p, place);
    if (status == ACQ_OK)
        status = new_expression(p, is_negated ? ACQ_SPARQL_OP_NOT_EXISTS : ACQ_SPARQL_OP_EXISTS,
                                place, NULL, out);
    acq_sparql_next(p);
    if (status == ACQ_OK)
        status = acq_sparql_parse_group(p, &(*out)->group);
    acq_sparql_leave(p);
    return status == ACQ_OK ? set_depth(p, *out) : status;
}

static acq_status fail_function(acq_sparql_parser *p)
{
    static const char *const AGGREGATES[] = {"COUNT", "SUM",    "MIN",         "MAX",
                                             "AVG",   "SAMPLE", "GROUP_CONCAT"};
    for (size_t i = 0; i < sizeof AGGREGATES / sizeof *AGGREGATES; i++) {
        if (acq_sparql_is_word(p, AGGREGATES[i]))
            return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                                   "the aggregate %s is not supported; count the answers outside",
                                   AGGREGATES[i]);
    }
    return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                           "the function %s is not supported; docs/grammar.md lists those that are",
                           acq_sparql_lexer_show(&p->lexer).text);
}

/* call = function "(" arguments ")" */
static acq_status parse_call(acq_sparql_parser *p, const function *f, expression **out)
{
    acq_input_place place = p->lexer.token.place;
    size_t n = 0;
    acq_status status = acq_sparql_enter(p, place);
    if (status == ACQ_OK)
        status = new_expression(p, f->op, place, NULL, out);
    acq_sparql_next(p);
    if (status == ACQ_OK)
        status = parse_list(p, &(*out)->children, &n);
    acq_sparql_leave(p);
    if (status == ACQ_OK && (n < f->least || n > f->most))
        return ACQ_SPARQL_FAIL(p, place, "%s takes %zu%s argument%s, not %zu", f->name, f->least,
                               f->most > f->least ? " or 3" : "", f->most > 1 ? "s" : "", n);
    const expression *first = status == ACQ_OK ? (*out)->children : NULL;
    if (first != NULL && f->op == ACQ_SPARQL_OP_BOUND &&
        (first->op != ACQ_SPARQL_OP_TERM || !first->term.is_variable))
        return ACQ_SPARQL_FAIL(p, place, "BOUND takes a variable");
    return status == ACQ_OK ? set_depth(p, *out) : status;
}

static bool is_cast(const acq_sparql_term *type)
{
    static const char *const TYPES[] = {"boolean", "integer", "decimal", "float",
                                        "double",  "string",  "dateTime"};
    size_t n = strlen(ACQ_XSD);
    for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
        if (strncmp(type->key, ACQ_XSD, n) == 0 && strcmp(type->key + n, TYPES[i]) == 0)
            return true;
    }
    return false;
}

/* iri [arguments]: a constant, or a cast */
static acq_status parse_iri(acq_sparql_parser *p, expression **out)
{
    acq_input_place place = p->lexer.token.place;
    size_t n = 0;
    acq_status status = new_expression(p, ACQ_SPARQL_OP_TERM, place, NULL, out);
    if (status == ACQ_OK)
        status = acq_sparql_read_iri(p, &(*out)->term);
    if (status != ACQ_OK || !acq_sparql_is_mark(p, "("))
        return status;
    if (!is_cast(&(*out)->term))
        return ACQ_SPARQL_FAIL(p, place, "the function <%s> is not supported",
                               acq_input_show((*out)->term.key, (*out)->term.length).text);
    (*out)->op = ACQ_SPARQL_OP_CAST;
    status = acq_sparql_enter(p, place);
    if (status == ACQ_OK)
        status = parse_list(p, &(*out)->children, &n);
    acq_sparql_leave(p);
    if (status == ACQ_OK && n != 1)
        return ACQ_SPARQL_FAIL(p, place, "a cast takes one argument, not %zu", n);
    return status == ACQ_OK ? set_depth(p, *out) : status;
}

static acq_status parse_primary(acq_sparql_parser *p, expression **out)
{
    acq_input_place place = p->lexer.token.place;
    const function *f = find_function(p);
    if (acq_sparql_is_mark(p, "("))
        return parse_bracketed(p, out);
    if (acq_sparql_is_word(p, "NOT") || acq_sparql_is_word(p, "EXISTS"))
        return parse_exists(p, out);
    if (f != NULL)
        return parse_call(p, f, out);
    if (acq_sparql_is_name(p))
        return parse_iri(p, out);
    bool is_variable = p->lexer.token.kind == ACQ_SPARQL_VARIABLE;
    if (!is_variable && !acq_sparql_is_literal(p, false))
        return p->lexer.token.kind == ACQ_SPARQL_WORD
                   ? fail_function(p)
                   : acq_sparql_fail_expected(p, "an expression: ?x, <...>, a literal, a function "
                                                 "or '('");
    acq_status status = new_expression(p, ACQ_SPARQL_OP_TERM, place, NULL, out);
    if (status != ACQ_OK)
        return status;
    return is_variable ? acq_sparql_read_variable(p, &(*out)->term)
                       : acq_sparql_read_literal(p, &(*out)->term);
}

static acq_status parse_unary(acq_sparql_parser *p, expression **out)
{
    acq_input_place place = p->lexer.token.place;
    bool is_not = acq_sparql_is_mark(p, "!"), is_minus = acq_sparql_is_mark(p, "-");
    if (!is_not && !is_minus && !acq_sparql_is_mark(p, "+"))
        return parse_primary(p, out);
    acq_status status = acq_sparql_enter(p, place);
    acq_sparql_next(p);
    expression *child = NULL;
    if (status == ACQ_OK)
        status = is_not ? parse_unary(p, &child) : parse_primary(p, &child);
    acq_sparql_leave(p);
    if (status != ACQ_OK)
        return status;
    return new_expression(p,
                          is_not     ? ACQ_SPARQL_OP_NOT
                          : is_minus ? ACQ_SPARQL_OP_MINUS
                                     : ACQ_SPARQL_OP_PLUS,
                          place, child, out);
}

/* Operators of one level, to the left: a - b - c is (a - b) - c. */
typedef struct level {
    const char *marks[2];
    acq_sparql_op ops[2];
    acq_status (*parse)(acq_sparql_parser *p, expression **out);
} level;

static acq_status parse_level(acq_sparql_parser *p, const level *of, expression **out)
{
    acq_status status = of->parse(p, out);
    while (status == ACQ_OK) {
        acq_input_place place = p->lexer.token.place;
        bool is_first = acq_sparql_is_mark(p, of->marks[0]);
        if (!is_first && !acq_sparql_is_mark(p, of->marks[1]))
            break;
        acq_sparql_next(p);
        status = of->parse(p, &(*out)->next);
        if (status == ACQ_OK)
            status = new_expression(p, of->ops[is_first ? 0 : 1], place, *out, out);
    }
    return status;
}

static acq_status parse_product(acq_sparql_parser *p, expression **out)
{
    static const level products = {
        {"*", "/"}, {ACQ_SPARQL_OP_MULTIPLY, ACQ_SPARQL_OP_DIVIDE}, parse_unary};
    return parse_level(p, &products, out);
}

static acq_status parse_sum(acq_sparql_parser *p, expression **out)
{
    static const level sums = {
        {"+", "-"}, {ACQ_SPARQL_OP_ADD, ACQ_SPARQL_OP_SUBTRACT}, parse_product};
    return parse_level(p, &sums, out);
}

/* Behind the first operand of IN or NOT IN. */
static acq_status parse_in(acq_sparql_parser *p, expression **out)
{
    acq_input_place place = p->lexer.token.place;
    bool is_negated = acq_sparql_is_word(p, "NOT");
    size_t n;
    if (is_negated)
        acq_sparql_next(p);
    if (!acq_sparql_is_word(p, "IN"))
        return acq_sparql_fail_expected(p, "IN after NOT");
    acq_sparql_next(p);
    acq_status status = parse_list(p, &(*out)->next, &n);
    return status == ACQ_OK
               ? new_expression(p, is_negated ? ACQ_SPARQL_OP_NOT_IN : ACQ_SPARQL_OP_IN, place,
                                *out, out)
               : status;
}

static acq_status parse_comparison(acq_sparql_parser *p, expression **out)
{
    static const struct {
        const char *mark;
        acq_sparql_op op;
    } OPS[] = {
        {"=", ACQ_SPARQL_OP_EQUAL},       {"!=", ACQ_SPARQL_OP_DIFFER},
        {"<", ACQ_SPARQL_OP_LESS},        {">", ACQ_SPARQL_OP_GREATER},
        {"<=", ACQ_SPARQL_OP_LESS_EQUAL}, {">=", ACQ_SPARQL_OP_GREATER_EQUAL},
    };
    acq_status status = parse_sum(p, out);
    acq_input_place place = p->lexer.token.place;
    if (status == ACQ_OK && (acq_sparql_is_word(p, "IN") || acq_sparql_is_word(p, "NOT")))
        return parse_in(p, out);
    for (size_t i = 0; status == ACQ_OK && i < sizeof OPS / sizeof *OPS; i++) {
        if (!acq_sparql_is_mark(p, OPS[i].mark))
            continue;
        acq_sparql_next(p);
        status = parse_sum(p, &(*out)->next);
        return status == ACQ_OK ? new_expression(p, OPS[i].op, place, *out, out) : status;
    }
    return status;
}

/* operand {mark operand}: one flat list, or the operand itself when it stands alone. */
static acq_status parse_chain(acq_sparql_parser *p, acq_sparql_op op, expression **out)
{
    const char *mark = op == ACQ_SPARQL_OP_OR ? "||" : "&&";
    acq_input_place place = p->lexer.token.place;
    expression *first = NULL, **end = &first;
    for (;;) {
        acq_status status = op == ACQ_SPARQL_OP_OR ? parse_chain(p, ACQ_SPARQL_OP_AND, end)
                                                   : parse_comparison(p, end);
        if (status != ACQ_OK)
            return status;
        end = &(*end)->next;
        if (!acq_sparql_is_mark(p, mark))
            break;
        acq_sparql_next(p);
    }
    *out = first;
    return first->next == NULL ? ACQ_OK : new_expression(p, op, place, first, out);
}

acq_status acq_sparql_parse_expression(acq_sparql_parser *p, acq_sparql_expression **out)
{
    return parse_chain(p, ACQ_SPARQL_OP_OR, out);
}

bool acq_sparql_begins_constraint(const acq_sparql_parser *p)
{
    return acq_sparql_is_mark(p, "(") || find_function(p) != NULL || acq_sparql_is_name(p) ||
           acq_sparql_is_word(p, "EXISTS") || acq_sparql_is_word(p, "NOT");
}

acq_status acq_sparql_parse_constraint(acq_sparql_parser *p, acq_sparql_expression **out)
{
    if (acq_sparql_begins_constraint(p)) {
        acq_input_place place = p->lexer.token.place;
        bool is_name = acq_sparql_is_name(p);
        acq_status status = parse_primary(p, out);
        if (status == ACQ_OK && is_name && (*out)->op != ACQ_SPARQL_OP_CAST)
            return ACQ_SPARQL_FAIL(p, place, "expected '(' and a condition here");
        return status;
    }
    if (p->lexer.token.kind == ACQ_SPARQL_WORD)
        return fail_function(p);
    return acq_sparql_fail_expected(p, "'(', a function, EXISTS or NOT EXISTS");
}
