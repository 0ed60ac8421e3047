/* expression.c - see machine.h. SPARQL 1.1, section 17: true || error is true, false && error is
 * false, anything else with an error is an error. */
#include "sparql/machine.h"

#include <string.h>
#include <stdlib.h>
#include <unicase.h>

#include "base/text.h"
#include "graph/text/rdf.h"

typedef acq_sparql_expression expression;
typedef acq_expression_scope scope;

static acq_value of_test(int test)
{
    return test < 0 ? acq_value_error() : acq_value_of_boolean(test == 1);
}

static void fail(scope *s, acq_status status, const char *reason)
{
    if (s->room.failed != ACQ_OK)
        return;
    s->room.failed = status;
    s->room.reason = reason;
}

/* `decides` is the value that decides whatever the others are: true of an OR. */
static acq_value evaluate_chain(scope *s, const expression *e, bool decides)
{
    bool has_error = false;
    for (const expression *child = e->children; child != NULL; child = child->next) {
        acq_value value = acq_expression_evaluate(s, child);
        int test = acq_value_test(&value);
        if (test == (int)decides)
            return acq_value_of_boolean(decides);
        has_error |= test < 0;
    }
    return has_error ? acq_value_error() : acq_value_of_boolean(!decides);
}

/* x IN (a, b): x = a || x = b; an error in x is one even where nothing is listed */
static acq_value evaluate_in(scope *s, const expression *e, bool is_negated)
{
    acq_value left = acq_expression_evaluate(s, e->children);
    bool has_error = left.kind == ACQ_VALUE_ERROR;
    for (const expression *child = e->children->next; child != NULL; child = child->next) {
        acq_value right = acq_expression_evaluate(s, child);
        int equal = acq_value_equals(&s->room, &left, &right);
        if (equal == 1)
            return acq_value_of_boolean(!is_negated);
        has_error |= equal < 0;
    }
    return has_error ? acq_value_error() : acq_value_of_boolean(is_negated);
}

static acq_value evaluate_order(scope *s, const expression *e)
{
    acq_value a = acq_expression_evaluate(s, e->children);
    acq_value b = acq_expression_evaluate(s, e->children->next);
    acq_value_room *room = &s->room;
    bool swaps = e->op == ACQ_SPARQL_OP_GREATER || e->op == ACQ_SPARQL_OP_GREATER_EQUAL;
    const acq_value *low = swaps ? &b : &a, *high = swaps ? &a : &b;
    int less = acq_value_is_less(room, low, high);
    if (less != 0 || e->op == ACQ_SPARQL_OP_LESS || e->op == ACQ_SPARQL_OP_GREATER)
        return of_test(less);
    return of_test(acq_value_equals(room, low, high));
}

static acq_value evaluate_equal(scope *s, const expression *e, bool is_negated)
{
    acq_value a = acq_expression_evaluate(s, e->children);
    acq_value b = acq_expression_evaluate(s, e->children->next);
    int equal = acq_value_equals(&s->room, &a, &b);
    return of_test(equal < 0 ? -1 : equal ^ (int)is_negated);
}

/* ---- functions of strings ---- */

static bool is_string(const acq_value *value)
{
    return value->kind == ACQ_VALUE_STRING || value->kind == ACQ_VALUE_TAGGED;
}

/* Two strings that functions take together: the second has no language, or that of the first. */
static bool are_compatible(const acq_value *a, const acq_value *b)
{
    if (!is_string(a) || !is_string(b))
        return false;
    return b->kind == ACQ_VALUE_STRING ||
           (a->kind == ACQ_VALUE_TAGGED && a->tag_length == b->tag_length &&
            acq_is_same_word(a->tag, b->tag, a->tag_length));
}

static acq_value evaluate_part(scope *s, const expression *e)
{
    acq_value a = acq_expression_evaluate(s, e->children);
    acq_value b = acq_expression_evaluate(s, e->children->next);
    if (!are_compatible(&a, &b))
        return acq_value_error();
    bool fits = a.length >= b.length, holds;
    if (b.length == 0)
        holds = true;
    else if (e->op == ACQ_SPARQL_OP_CONTAINS)
        holds = fits && memmem(a.text, a.length, b.text, b.length) != NULL;
    else if (e->op == ACQ_SPARQL_OP_STRSTARTS)
        holds = fits && memcmp(a.text, b.text, b.length) == 0;
    else
        holds = fits && memcmp(a.text + a.length - b.length, b.text, b.length) == 0;
    return acq_value_of_boolean(holds);
}

static acq_value make_integer(scope *s, size_t number)
{
    char text[32];
    int n = acq_format(text, sizeof text, "%zu", number);
    char *copy = acq_arena_copy_string(s->room.arena, text, (size_t)n);
    if (copy == NULL) {
        fail(s, ACQ_ERR_MEMORY, "out of memory");
        return acq_value_error();
    }
    return acq_value_of_literal(&s->room, copy, (size_t)n, ACQ_XSD "integer",
                                strlen(ACQ_XSD "integer"));
}

static acq_value count_characters(scope *s, const acq_value *a)
{
    size_t n = 0;
    if (!is_string(a))
        return acq_value_error();
    for (size_t i = 0; i < a->length; i++)
        n += ((unsigned char)a->text[i] & 0xC0) != 0x80;
    return make_integer(s, n);
}

static acq_value change_case(scope *s, const acq_value *a, bool is_upper)
{
    if (!is_string(a))
        return acq_value_error();
    size_t length = 0;
    const uint8_t *text = (const uint8_t *)a->text;
    uint8_t *changed = is_upper ? u8_toupper(text, a->length, NULL, NULL, NULL, &length)
                                : u8_tolower(text, a->length, NULL, NULL, NULL, &length);
    char *copy = changed == NULL
                     ? NULL
                     : acq_arena_copy_string(s->room.arena, (const char *)changed, length);
    free(changed);
    if (copy == NULL)
        fail(s, ACQ_ERR_MEMORY, "out of memory");
    acq_value out = *a;
    out.text = copy == NULL ? "" : copy;
    out.length = copy == NULL ? 0 : length;
    return out;
}

/* langMatches: "*" is any language, "en" also en-GB */
static acq_value match_language(const acq_value *tag, const acq_value *range)
{
    if (tag->kind != ACQ_VALUE_STRING || range->kind != ACQ_VALUE_STRING)
        return acq_value_error();
    if (range->length == 1 && range->text[0] == '*')
        return acq_value_of_boolean(tag->length > 0);
    bool begins = tag->length >= range->length && range->length > 0 &&
                  acq_is_same_word(tag->text, range->text, range->length);
    return acq_value_of_boolean(
        (begins && (tag->length == range->length || tag->text[range->length] == '-')) ||
        (range->length == 0 && tag->length == 0));
}

static acq_value evaluate_regex(scope *s, const expression *e)
{
    acq_value text = acq_expression_evaluate(s, e->children);
    acq_value pattern = acq_expression_evaluate(s, e->children->next);
    acq_value flags = acq_value_of_string("", 0);
    if (e->children->next->next != NULL)
        flags = acq_expression_evaluate(s, e->children->next->next);
    if (!is_string(&text) || pattern.kind != ACQ_VALUE_STRING || flags.kind != ACQ_VALUE_STRING)
        return acq_value_error();
    if (s->pattern == NULL || !acq_pattern_is(s->pattern, pattern.text, pattern.length, flags.text,
                                              flags.length)) {
        const char *reason = "out of memory";
        acq_pattern_free(s->pattern);
        acq_status status = acq_pattern_new(pattern.text, pattern.length, flags.text, flags.length,
                                            &s->pattern, &reason);
        if (status != ACQ_OK) {
            s->pattern = NULL;
            fail(s, status, reason);
        }
    }
    if (s->pattern == NULL)
        return acq_value_error();
    int matches = acq_pattern_match(s->pattern, text.text, text.length);
    if (matches < 0)
        fail(s, ACQ_ERR_LIMIT, "a regular expression takes too many steps; write a simpler one");
    return of_test(matches);
}

/* ---- other functions ---- */

static acq_value get_datatype(const acq_value *a)
{
    static const char LANG_STRING[] = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
    if (!acq_value_is_literal(a))
        return acq_value_error();
    return a->kind == ACQ_VALUE_TAGGED ? acq_value_of_iri(LANG_STRING, sizeof LANG_STRING - 1)
                                       : acq_value_of_iri(a->tag, a->tag_length);
}

static acq_value get_language(const acq_value *a)
{
    if (!acq_value_is_literal(a))
        return acq_value_error();
    return a->kind == ACQ_VALUE_TAGGED ? acq_value_of_string(a->tag, a->tag_length)
                                       : acq_value_of_string("", 0);
}

static acq_value test_kind(const expression *e, const acq_value *a)
{
    if (a->kind == ACQ_VALUE_ERROR)
        return *a;
    bool holds = e->op == ACQ_SPARQL_OP_ISBLANK     ? a->kind == ACQ_VALUE_BLANK
                 : e->op == ACQ_SPARQL_OP_ISLITERAL ? acq_value_is_literal(a)
                 : e->op == ACQ_SPARQL_OP_ISNUMERIC ? acq_value_is_number(a)
                                                    : a->kind == ACQ_VALUE_IRI;
    return acq_value_of_boolean(holds);
}

static acq_value get_text(const acq_value *a)
{
    return a->kind == ACQ_VALUE_ERROR || a->kind == ACQ_VALUE_BLANK
               ? acq_value_error()
               : acq_value_of_string(a->text, a->length);
}

/* Functions of one argument. */
static acq_value evaluate_unary(scope *s, const expression *e)
{
    acq_value a = acq_expression_evaluate(s, e->children);
    int test;
    switch (e->op) {
    case ACQ_SPARQL_OP_NOT:
        test = acq_value_test(&a);
        return of_test(test < 0 ? -1 : !test);
    case ACQ_SPARQL_OP_PLUS:
        return acq_value_is_number(&a) ? a : acq_value_error();
    case ACQ_SPARQL_OP_MINUS:
        return acq_value_negate(&s->room, &a);
    case ACQ_SPARQL_OP_CAST:
        return acq_value_cast(&s->room, &a, e->term.key);
    case ACQ_SPARQL_OP_STR:
        return get_text(&a);
    case ACQ_SPARQL_OP_LANG:
        return get_language(&a);
    case ACQ_SPARQL_OP_DATATYPE:
        return get_datatype(&a);
    case ACQ_SPARQL_OP_BOUND:
        return acq_value_of_boolean(a.kind != ACQ_VALUE_ERROR);
    case ACQ_SPARQL_OP_STRLEN:
        return count_characters(s, &a);
    case ACQ_SPARQL_OP_LCASE:
    case ACQ_SPARQL_OP_UCASE:
        return change_case(s, &a, e->op == ACQ_SPARQL_OP_UCASE);
    default:
        return test_kind(e, &a);
    }
}

/* Functions of two arguments. */
static acq_value evaluate_binary(scope *s, const expression *e)
{
    acq_value a = acq_expression_evaluate(s, e->children);
    acq_value b = acq_expression_evaluate(s, e->children->next);
    switch (e->op) {
    case ACQ_SPARQL_OP_SAMETERM:
        return a.kind == ACQ_VALUE_ERROR || b.kind == ACQ_VALUE_ERROR
                   ? acq_value_error()
                   : acq_value_of_boolean(acq_value_is_same(&a, &b));
    case ACQ_SPARQL_OP_LANGMATCHES:
        return match_language(&a, &b);
    case ACQ_SPARQL_OP_ADD:
        return acq_value_compute(&s->room, '+', &a, &b);
    case ACQ_SPARQL_OP_SUBTRACT:
        return acq_value_compute(&s->room, '-', &a, &b);
    case ACQ_SPARQL_OP_MULTIPLY:
        return acq_value_compute(&s->room, '*', &a, &b);
    default:
        return acq_value_compute(&s->room, '/', &a, &b);
    }
}

acq_value acq_expression_evaluate(acq_expression_scope *s, const acq_sparql_expression *e)
{
    if (s->room.failed != ACQ_OK)
        return acq_value_error();
    switch (e->op) {
    case ACQ_SPARQL_OP_TERM:
        return s->get_term(s->context, &e->term);
    case ACQ_SPARQL_OP_OR:
    case ACQ_SPARQL_OP_AND:
        return evaluate_chain(s, e, e->op == ACQ_SPARQL_OP_OR);
    case ACQ_SPARQL_OP_EQUAL:
    case ACQ_SPARQL_OP_DIFFER:
        return evaluate_equal(s, e, e->op == ACQ_SPARQL_OP_DIFFER);
    case ACQ_SPARQL_OP_LESS:
    case ACQ_SPARQL_OP_GREATER:
    case ACQ_SPARQL_OP_LESS_EQUAL:
    case ACQ_SPARQL_OP_GREATER_EQUAL:
        return evaluate_order(s, e);
    case ACQ_SPARQL_OP_IN:
    case ACQ_SPARQL_OP_NOT_IN:
        return evaluate_in(s, e, e->op == ACQ_SPARQL_OP_NOT_IN);
    case ACQ_SPARQL_OP_EXISTS:
    case ACQ_SPARQL_OP_NOT_EXISTS:
        return acq_value_of_boolean(s->exists(s->context, e) == (e->op == ACQ_SPARQL_OP_EXISTS));
    case ACQ_SPARQL_OP_REGEX:
        return evaluate_regex(s, e);
    case ACQ_SPARQL_OP_CONTAINS:
    case ACQ_SPARQL_OP_STRSTARTS:
    case ACQ_SPARQL_OP_STRENDS:
        return evaluate_part(s, e);
    case ACQ_SPARQL_OP_ADD:
    case ACQ_SPARQL_OP_SUBTRACT:
    case ACQ_SPARQL_OP_MULTIPLY:
    case ACQ_SPARQL_OP_DIVIDE:
    case ACQ_SPARQL_OP_SAMETERM:
    case ACQ_SPARQL_OP_LANGMATCHES:
        return evaluate_binary(s, e);
    default:
        return evaluate_unary(s, e);
    }
}

void acq_expression_scope_deinit(acq_expression_scope *s)
{
    acq_pattern_free(s->pattern);
    s->pattern = NULL;
}
