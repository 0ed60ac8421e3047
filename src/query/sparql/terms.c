/* terms.c - names and variables of the SPARQL subset.
 *
 * Prefixes are word symbols "ex:" (no variable has a colon) whose binding is the symbol of the
 * IRI they stand for. Relative IRIs are resolved as in RFC 3986, 5.2, without dot segments, and
 * only after a BASE: without one <Christopher Nolan> is simply the name. */
#include <string.h>

#include "query/sparql/parser.h"

acq_status acq_sparql_fail_expected(acq_sparql *p, const char *expected)
{
    const acq_sparql_token *token = &p->lexer.token;
    if (token->kind == ACQ_SPARQL_BAD)
        return acq_sparql_lexer_fail(&p->lexer, p->builder.error);
    return ACQ_SPARQL_FAIL(p, token->place, "expected %s, found %s", expected,
                           acq_sparql_lexer_show(&p->lexer).text);
}

bool acq_sparql_is_word(const acq_sparql *p, const char *word)
{
    return acq_sparql_lexer_is_word(&p->lexer, word);
}

bool acq_sparql_is_mark(const acq_sparql *p, const char *mark)
{
    return acq_sparql_lexer_is_mark(&p->lexer, mark);
}

bool acq_sparql_is_name(const acq_sparql *p)
{
    return p->lexer.token.kind == ACQ_SPARQL_IRI || p->lexer.token.kind == ACQ_SPARQL_PREFIXED;
}

void acq_sparql_next(acq_sparql *p)
{
    acq_sparql_lexer_next(&p->lexer);
}

acq_status acq_sparql_expect_mark(acq_sparql *p, const char *mark, const char *expected)
{
    if (!acq_sparql_is_mark(p, mark))
        return acq_sparql_fail_expected(p, expected);
    acq_sparql_next(p);
    return ACQ_OK;
}

/* Length of "scheme:" at the start, 0 when there is none. */
static size_t scheme_length(const char *iri, size_t length)
{
    size_t n = 0;
    while (n < length && ((iri[n] >= 'a' && iri[n] <= 'z') || (iri[n] >= 'A' && iri[n] <= 'Z') ||
                          (n > 0 && strchr("0123456789+-.", iri[n]) != NULL)))
        n++;
    return n > 0 && n < length && iri[n] == ':' ? n + 1 : 0;
}

/* Bytes of `base` before the first of `marks` at or after `from`. */
static size_t length_before(const acq_text *base, size_t from, const char *marks)
{
    size_t n = from;
    while (n < base->length && strchr(marks, base->bytes[n]) == NULL)
        n++;
    return n;
}

/* How much of the base stays in front of a relative reference. */
static size_t kept_of_base(const acq_text *base, const char *iri, size_t length)
{
    size_t scheme = scheme_length(base->bytes, base->length);
    size_t path = scheme;
    if (base->length >= scheme + 2 && memcmp(base->bytes + scheme, "//", 2) == 0)
        path = length_before(base, scheme + 2, "/?#");
    if (length == 0 || iri[0] == '#')
        return length_before(base, path, "#");
    if (length >= 2 && iri[0] == '/' && iri[1] == '/')
        return scheme;
    if (iri[0] == '/')
        return path;
    size_t end = length_before(base, path, "?#");
    if (iri[0] == '?')
        return end;
    while (end > path && base->bytes[end - 1] != '/')
        end--;
    return end;
}

static bool has_dot_segment(const char *iri, size_t length)
{
    for (size_t i = 0; i < length && iri[i] != '?' && iri[i] != '#';) {
        const char *slash = memchr(iri + i, '/', length - i);
        size_t n = slash == NULL ? length - i : (size_t)(slash - iri) - i;
        if ((n == 1 && iri[i] == '.') || (n == 2 && iri[i] == '.' && iri[i + 1] == '.'))
            return true;
        i += n + 1;
    }
    return false;
}

static acq_status resolve_iri(acq_sparql *p, const acq_sparql_token *token)
{
    acq_text_clear(&p->full);
    if (p->base.length > 0 && scheme_length(token->text, token->length) == 0) {
        if (has_dot_segment(token->text, token->length))
            return ACQ_SPARQL_FAIL(p, token->place,
                                   "'.' and '..' in a relative IRI are not supported; write the "
                                   "IRI in full");
        acq_text_add_bytes(&p->full, p->base.bytes,
                           kept_of_base(&p->base, token->text, token->length));
    }
    acq_text_add_bytes(&p->full, token->text, token->length);
    if (!p->full.failed && p->full.length == 0)
        return ACQ_SPARQL_FAIL(p, token->place, "a name cannot be empty; write it between < and >");
    return ACQ_OK;
}

static acq_status resolve_prefixed(acq_sparql *p, const acq_sparql_token *token)
{
    uint32_t word;
    acq_status status = acq_builder_intern(&p->builder, ACQ_SYMBOL_WORD, token->text, token->length,
                                           token->place, &word);
    if (status != ACQ_OK)
        return status;
    uint32_t iri = p->builder.symbols[word].binding;
    if (iri == ACQ_NO_ID)
        return ACQ_SPARQL_FAIL(p, token->place,
                               "the prefix '%s' is not declared; add PREFIX %s <...> in front",
                               acq_input_show(token->text, token->length).text,
                               acq_input_show(token->text, token->length).text);
    acq_text_clear(&p->full);
    acq_text_add_bytes(&p->full, p->builder.symbols[iri].text, p->builder.symbols[iri].length);
    acq_text_add_bytes(&p->full, token->local, token->local_length);
    return ACQ_OK;
}

/* The current IRI or prefixed name in full, in p->full. */
static acq_status resolve(acq_sparql *p)
{
    const acq_sparql_token *token = &p->lexer.token;
    acq_status status =
        token->kind == ACQ_SPARQL_IRI ? resolve_iri(p, token) : resolve_prefixed(p, token);
    return status == ACQ_OK ? acq_text_finish(&p->full, p->builder.error) : status;
}

acq_status acq_sparql_read_name(acq_sparql *p, acq_symbol_kind kind, uint32_t *out)
{
    acq_input_place place = p->lexer.token.place;
    size_t n_symbols = p->builder.n_symbols;
    acq_status status = resolve(p);
    if (status != ACQ_OK)
        return status;
    status = acq_builder_intern(&p->builder, kind, p->full.bytes, p->full.length, place, out);
    if (status != ACQ_OK)
        return status;
    if (p->builder.n_symbols > n_symbols)
        p->expanded += p->full.length;
    if (p->expanded > ACQ_MOST_TEXT)
        return acq_fail_at(p->builder.error, ACQ_ERR_LIMIT, place.line, place.column,
                           "the names of the query, written in full, have more than %d bytes; "
                           "split the query",
                           (int)ACQ_MOST_TEXT);
    acq_sparql_next(p);
    return ACQ_OK;
}

acq_status acq_sparql_read_variable(acq_sparql *p, uint32_t *word)
{
    const acq_sparql_token *token = &p->lexer.token;
    acq_status status = acq_builder_intern(&p->builder, ACQ_SYMBOL_WORD, token->text, token->length,
                                           token->place, word);
    if (status == ACQ_OK)
        acq_sparql_next(p);
    return status;
}

/* The current token is the IRI. A prefix may be declared again. */
acq_status acq_sparql_define_prefix(acq_sparql *p, const char *prefix, size_t length,
                                    acq_input_place place)
{
    uint32_t word, iri;
    acq_status status =
        acq_builder_intern(&p->builder, ACQ_SYMBOL_WORD, prefix, length, place, &word);
    if (status == ACQ_OK)
        status = acq_sparql_read_name(p, ACQ_SYMBOL_CONSTANT, &iri);
    if (status == ACQ_OK)
        p->builder.symbols[word].binding = iri;
    return status;
}

acq_term acq_sparql_get_term(const acq_sparql *p, uint32_t symbol)
{
    uint32_t binding = p->builder.symbols[symbol].binding;
    return (acq_term){.id = binding != ACQ_NO_ID ? binding : symbol};
}
