/* terms.c - names and variables of the SPARQL subset, and which variables the patterns of a group
 * bind (parser.h). Marking costs one step per binding of the group, and happens once per UNION, per
 * MINUS and per group with a filter.
 *
 * Prefixes are word symbols "ex:" (no variable has a colon) whose binding is the symbol of the
 * IRI they stand for. Relative IRIs are resolved as in RFC 3986, 5.2, without dot segments, and
 * only after a BASE: without one <Christopher Nolan> is simply the name. */
#include "query/sparql/parser.h"

#include <string.h>

#include "base/memory.h"

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

/* ---- bindings ---- */

acq_status acq_sparql_use_variable(acq_sparql *p, uint32_t word, acq_input_place place)
{
    if (ACQ_RESERVE(p->uses, p->uses_capacity, p->n_uses + 1) != ACQ_OK)
        return acq_fail_memory(p->builder.error);
    p->uses[p->n_uses++] =
        (acq_sparql_use){.word = word, .place = place, .in_exists = p->in_exists};
    return ACQ_OK;
}

/* Inside NOT EXISTS a pattern binds nothing that the outside could see: it also uses. */
acq_status acq_sparql_bind(acq_sparql *p, uint32_t word, acq_input_place place)
{
    if (ACQ_RESERVE(p->bindings, p->bindings_capacity, p->n_bindings + 1) != ACQ_OK)
        return acq_fail_memory(p->builder.error);
    p->bindings[p->n_bindings++] = (acq_sparql_binding){.word = word, .is_certain = true};
    return p->in_exists ? acq_sparql_use_variable(p, word, place) : ACQ_OK;
}

static acq_status start_round(acq_sparql *p)
{
    size_t known = p->marks_capacity;
    if (ACQ_RESERVE(p->marks, p->marks_capacity, p->builder.n_symbols) != ACQ_OK)
        return acq_fail_memory(p->builder.error);
    for (; known < p->marks_capacity; known++)
        p->marks[known] = (acq_sparql_mark){0};
    p->round++;
    return ACQ_OK;
}

static acq_sparql_mark *touch(acq_sparql *p, uint32_t word)
{
    acq_sparql_mark *mark = &p->marks[word];
    if (mark->round != p->round)
        *mark = (acq_sparql_mark){.round = p->round};
    return mark;
}

acq_status acq_sparql_mark_bindings(acq_sparql *p, size_t from, size_t to)
{
    acq_status status = start_round(p);
    for (size_t i = from; status == ACQ_OK && i < to; i++)
        touch(p, p->bindings[i].word)->is_certain |= p->bindings[i].is_certain;
    return status;
}

const acq_sparql_mark *acq_sparql_get_mark(const acq_sparql *p, uint32_t word)
{
    return word < p->marks_capacity && p->marks[word].round == p->round ? &p->marks[word] : NULL;
}

/* Counts, for each variable, the branches in which some binding of it is certain. */
static acq_status count_branches(acq_sparql *p, const size_t *starts, size_t n)
{
    acq_status status = start_round(p);
    for (size_t branch = 0; status == ACQ_OK && branch < n; branch++) {
        for (size_t i = starts[branch]; i < starts[branch + 1]; i++) {
            acq_sparql_mark *mark = touch(p, p->bindings[i].word);
            if (p->bindings[i].is_certain && mark->count == branch)
                mark->count++;
        }
    }
    return status;
}

acq_status acq_sparql_merge_branches(acq_sparql *p, const size_t *starts, size_t n)
{
    acq_status status = count_branches(p, starts, n);
    if (status != ACQ_OK)
        return status;
    size_t kept = starts[0];
    for (size_t i = starts[0]; i < starts[n]; i++) {
        acq_sparql_mark *mark = &p->marks[p->bindings[i].word];
        if (mark->round != p->round)
            continue;
        p->bindings[kept++] =
            (acq_sparql_binding){.word = p->bindings[i].word, .is_certain = mark->count == n};
        mark->round = 0; /* once is enough */
    }
    p->n_bindings = kept;
    return ACQ_OK;
}

static acq_status fail_use(acq_sparql *p, const acq_sparql_use *use, bool is_possible)
{
    const acq_symbol *symbol = &p->builder.symbols[use->word];
    acq_shown shown = acq_input_show(symbol->text, symbol->length);
    if (is_possible)
        return ACQ_SPARQL_FAIL(p, use->place,
                               "?%s is not bound in every branch of the UNION; bind it outside of "
                               "the UNION or in all branches",
                               shown.text);
    if (use->in_exists)
        return ACQ_SPARQL_FAIL(p, use->place,
                               "?%s occurs in EXISTS or NOT EXISTS only: universal quantification "
                               "is not supported; bind it in a pattern of the group outside",
                               shown.text);
    return ACQ_SPARQL_FAIL(p, use->place,
                           "no pattern of this group binds ?%s; add a triple or VALUES with it",
                           shown.text);
}

acq_status acq_sparql_check_uses(acq_sparql *p, size_t uses_from, size_t bindings_from)
{
    if (uses_from == p->n_uses)
        return ACQ_OK;
    acq_status status = acq_sparql_mark_bindings(p, bindings_from, p->n_bindings);
    for (size_t i = uses_from; status == ACQ_OK && i < p->n_uses; i++) {
        const acq_sparql_mark *mark = acq_sparql_get_mark(p, p->uses[i].word);
        if (mark == NULL || !mark->is_certain)
            status = fail_use(p, &p->uses[i], mark != NULL);
    }
    p->n_uses = uses_from;
    return status;
}
