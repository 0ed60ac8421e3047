/* parse.c - prologue, query forms and modifiers of the SPARQL subset. */

#include <string.h>

#include "base/memory.h"
#include "query/sparql/parser.h"

/* declaration = "PREFIX" prefix ":" iri | "BASE" iri */
static acq_status parse_declaration(acq_sparql *p)
{
    bool is_base = acq_sparql_is_word(p, "BASE");
    acq_sparql_next(p);
    acq_sparql_token prefix = p->lexer.token;
    if (!is_base) {
        if (prefix.kind != ACQ_SPARQL_PREFIXED || prefix.local_length > 0)
            return acq_sparql_fail_expected(p, "a prefix with its colon, as in PREFIX ex: <...>");
        acq_sparql_next(p);
    }
    if (p->lexer.token.kind != ACQ_SPARQL_IRI)
        return acq_sparql_fail_expected(p, "an IRI: <...>");
    if (!is_base)
        return acq_sparql_define_prefix(p, prefix.text, prefix.length, prefix.place);
    uint32_t iri;
    acq_status status = acq_sparql_read_name(p, ACQ_SYMBOL_CONSTANT, &iri);
    if (status != ACQ_OK)
        return status;
    acq_text_clear(&p->base);
    acq_text_add_bytes(&p->base, p->builder.symbols[iri].text, p->builder.symbols[iri].length);
    return acq_text_finish(&p->base, p->builder.error);
}

/* A selected variable: free, in the order of the list. */
static acq_status select_variable(acq_sparql *p)
{
    acq_sparql_token token = p->lexer.token;
    uint32_t word, variable;
    acq_status status = acq_sparql_read_variable(p, &word);
    if (status != ACQ_OK)
        return status;
    if (p->builder.symbols[word].binding != ACQ_NO_ID)
        return ACQ_SPARQL_FAIL(p, token.place, "?%s is selected twice; remove one",
                               acq_input_show(token.text, token.length).text);
    status = acq_builder_add_variable(&p->builder, ACQ_SYMBOL_FREE, token.text, token.length,
                                      token.place, &variable);
    if (status == ACQ_OK)
        p->builder.symbols[word].binding = variable;
    return status;
}

/* selection = ["DISTINCT"] ("*" | variable {variable}) */
static acq_status parse_selection(acq_sparql *p, bool *is_star)
{
    acq_status status = ACQ_OK;
    if (acq_sparql_is_word(p, "REDUCED"))
        return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                               "REDUCED is not supported; answers are always distinct");
    if (acq_sparql_is_word(p, "DISTINCT"))
        acq_sparql_next(p);
    *is_star = acq_sparql_is_mark(p, "*");
    if (*is_star) {
        acq_sparql_next(p);
        return ACQ_OK;
    }
    if (p->lexer.token.kind != ACQ_SPARQL_VARIABLE && !acq_sparql_is_mark(p, "("))
        return acq_sparql_fail_expected(p, "variables to select, or '*'");
    while (status == ACQ_OK && p->lexer.token.kind == ACQ_SPARQL_VARIABLE)
        status = select_variable(p);
    if (status == ACQ_OK && acq_sparql_is_mark(p, "("))
        return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                               "expressions and aggregates are not supported; select variables");
    return status;
}

static acq_status fail_selected(acq_sparql *p, const acq_symbol *symbol, bool is_possible)
{
    acq_shown shown = acq_input_show(symbol->text, symbol->length);
    if (is_possible)
        return ACQ_SPARQL_FAIL(p, symbol->place,
                               "?%s is selected, but not bound in every branch of the UNION; bind "
                               "it in all branches or select other variables",
                               shown.text);
    return ACQ_SPARQL_FAIL(p, symbol->place,
                           "?%s is selected, but no pattern binds it; add a triple with it",
                           shown.text);
}

/* Every selected variable must be bound in every solution. */
static acq_status check_selection(acq_sparql *p)
{
    acq_status status = acq_sparql_mark_bindings(p, 0, p->n_bindings);
    for (uint32_t i = 0; status == ACQ_OK && i < p->builder.n_symbols; i++) {
        const acq_symbol *word = &p->builder.symbols[i];
        if (word->kind != ACQ_SYMBOL_WORD || word->binding == ACQ_NO_ID ||
            p->builder.symbols[word->binding].kind != ACQ_SYMBOL_FREE)
            continue;
        const acq_sparql_mark *mark = acq_sparql_get_mark(p, i);
        if (mark == NULL || !mark->is_certain)
            status = fail_selected(p, &p->builder.symbols[word->binding], mark != NULL);
    }
    return status;
}

/* SELECT *: what the patterns bind is free. */
static acq_status select_all(acq_sparql *p, acq_input_place place)
{
    acq_status status = acq_sparql_mark_bindings(p, 0, p->n_bindings);
    if (status != ACQ_OK)
        return status;
    if (p->n_bindings == 0)
        return ACQ_SPARQL_FAIL(p, place, "SELECT * finds no variable; use ASK");
    for (size_t i = 0; i < p->n_bindings; i++) {
        acq_symbol *symbol = &p->builder.symbols[p->bindings[i].word];
        if (!acq_sparql_get_mark(p, p->bindings[i].word)->is_certain)
            return fail_selected(p, symbol, true);
        symbol->kind = ACQ_SYMBOL_FREE;
    }
    return ACQ_OK;
}

/* limit = "LIMIT" number */
static acq_status parse_limit(acq_sparql *p)
{
    uint64_t limit = 0;
    acq_sparql_next(p);
    const acq_sparql_token *token = &p->lexer.token;
    if (token->kind != ACQ_SPARQL_NUMBER)
        return acq_sparql_fail_expected(p, "a number after LIMIT");
    for (size_t i = 0; i < token->length; i++) {
        if (__builtin_mul_overflow(limit, 10, &limit) ||
            __builtin_add_overflow(limit, (uint64_t)(token->text[i] - '0'), &limit))
            return ACQ_SPARQL_FAIL(p, token->place, "this LIMIT is too large; leave it out");
    }
    if (limit == 0)
        return ACQ_SPARQL_FAIL(p, token->place, "LIMIT 0 asks for no answer; give at least 1");
    p->builder.query->limit = limit;
    acq_sparql_next(p);
    return ACQ_OK;
}

/* modifiers = [limit] */
static acq_status parse_modifiers(acq_sparql *p)
{
    static const char *const OTHERS[][2] = {
        {"ORDER", "answers come best first"},     {"GROUP", "aggregates are not supported either"},
        {"HAVING", "use FILTER on variables"},    {"OFFSET", "ask for more with LIMIT"},
        {"VALUES", "put VALUES between { and }"}, {"LIMIT", "LIMIT may stand once"},
    };
    acq_status status = acq_sparql_is_word(p, "LIMIT") ? parse_limit(p) : ACQ_OK;
    if (status != ACQ_OK || p->lexer.token.kind == ACQ_SPARQL_END)
        return status;
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (acq_sparql_is_word(p, OTHERS[i][0]))
            return ACQ_SPARQL_FAIL(p, p->lexer.token.place, "%s is not supported here; %s",
                                   OTHERS[i][0], OTHERS[i][1]);
    }
    return acq_sparql_fail_expected(p, "LIMIT or the end of the query");
}

static acq_status fail_form(acq_sparql *p)
{
    static const char *const OTHERS[] = {"CONSTRUCT", "DESCRIBE", "INSERT", "DELETE"};
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++) {
        if (acq_sparql_is_word(p, OTHERS[i]))
            return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                                   "%s is not supported; queries begin with SELECT or ASK",
                                   OTHERS[i]);
    }
    return acq_sparql_fail_expected(p, "SELECT or ASK");
}

/* form = ("SELECT" selection | "ASK") ["WHERE"] group modifiers */
static acq_status parse_form(acq_sparql *p, acq_run *run)
{
    acq_input_place place = p->lexer.token.place;
    acq_status status = ACQ_OK;
    bool is_select = acq_sparql_is_word(p, "SELECT"), is_star = false;
    if (!is_select && !acq_sparql_is_word(p, "ASK"))
        return fail_form(p);
    acq_sparql_next(p);
    if (is_select)
        status = parse_selection(p, &is_star);
    if (status != ACQ_OK)
        return status;
    if (acq_sparql_is_word(p, "FROM"))
        return ACQ_SPARQL_FAIL(p, p->lexer.token.place,
                               "FROM is not supported; the graph is given outside of the query");
    if (acq_sparql_is_word(p, "WHERE"))
        acq_sparql_next(p);
    status = acq_sparql_parse_group(p, run);
    if (status == ACQ_OK)
        status = parse_modifiers(p);
    if (status != ACQ_OK || !is_select)
        return status;
    return is_star ? select_all(p, place) : check_selection(p);
}

/* query = {declaration} form END */
static acq_status parse_query(acq_sparql *p, acq_query **out)
{
    acq_run run = {0};
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && (acq_sparql_is_word(p, "PREFIX") || acq_sparql_is_word(p, "BASE")))
        status = parse_declaration(p);
    if (status == ACQ_OK)
        status = parse_form(p, &run);
    if (status != ACQ_OK)
        return status;
    return acq_builder_finish(&p->builder, run, ACQ_SYMBOL_EXISTS, out);
}

acq_status acq_query_parse_sparql(const char *text, size_t length, acq_query **out,
                                  acq_error *error)
{
    acq_sparql p = {0};
    if (acq_builder_init(&p.builder, error) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    acq_sparql_lexer_init(&p.lexer, text, length);
    acq_status status = parse_query(&p, out);
    acq_sparql_lexer_deinit(&p.lexer);
    acq_builder_deinit(&p.builder);
    acq_text_deinit(&p.base);
    acq_text_deinit(&p.full);
    acq_free(p.bindings);
    acq_free(p.uses);
    acq_free(p.marks);
    return status;
}
