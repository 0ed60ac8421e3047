/* terms.c - names, variables, blank nodes and literals of SPARQL.
 *
 * Relative IRIs are resolved as in RFC 3986 after a BASE; without one <Christopher Nolan> is simply
 * the name. Blank nodes of patterns are variables: one for each label, which may occur in one block
 * of triples only, and one for each []. */
#include <string.h>

#include "base/memory.h"
#include "graph/text/rdf.h"
#include "query/query.h"
#include "query/sparql/parser.h"

acq_status acq_sparql_fail_expected(acq_sparql_parser *p, const char *expected)
{
    const acq_sparql_token *token = &p->lexer.token;
    if (token->kind == ACQ_SPARQL_BAD)
        return acq_scan_fail(&p->lexer.in, p->error);
    return ACQ_SPARQL_FAIL(p, token->place, "expected %s, found %s", expected,
                           acq_sparql_lexer_show(&p->lexer).text);
}

bool acq_sparql_is_word(const acq_sparql_parser *p, const char *word)
{
    const acq_sparql_token *token = &p->lexer.token;
    return token->kind == ACQ_SPARQL_WORD && token->length == strlen(word) &&
           acq_is_same_word(token->text, word, token->length);
}

bool acq_sparql_is_mark(const acq_sparql_parser *p, const char *mark)
{
    const acq_sparql_token *token = &p->lexer.token;
    return token->kind == ACQ_SPARQL_MARK && token->source_length == strlen(mark) &&
           memcmp(token->source, mark, token->source_length) == 0;
}

bool acq_sparql_is_name(const acq_sparql_parser *p)
{
    return p->lexer.token.kind == ACQ_SPARQL_IRI || p->lexer.token.kind == ACQ_SPARQL_PREFIXED;
}

void acq_sparql_next(acq_sparql_parser *p)
{
    acq_sparql_lexer_next(&p->lexer);
}

acq_status acq_sparql_expect_mark(acq_sparql_parser *p, const char *mark, const char *expected)
{
    if (!acq_sparql_is_mark(p, mark))
        return acq_sparql_fail_expected(p, expected);
    acq_sparql_next(p);
    return ACQ_OK;
}

acq_status acq_sparql_enter(acq_sparql_parser *p, acq_input_place place)
{
    if (p->depth == ACQ_SPARQL_MOST_NESTING)
        return acq_fail_at(p->error, ACQ_ERR_LIMIT, place.line, place.column,
                           "nested deeper than %d levels; flatten the formula",
                           (int)ACQ_SPARQL_MOST_NESTING);
    p->depth++;
    return ACQ_OK;
}

void acq_sparql_leave(acq_sparql_parser *p)
{
    p->depth--;
}

acq_status acq_sparql_count_element(acq_sparql_parser *p, acq_input_place place)
{
    if (p->n_elements == ACQ_SPARQL_MOST_ELEMENTS)
        return acq_fail_at(p->error, ACQ_ERR_LIMIT, place.line, place.column,
                           "more than %d triples, conditions and values; split the query",
                           (int)ACQ_SPARQL_MOST_ELEMENTS);
    p->n_elements++;
    return ACQ_OK;
}

/* ---- names ---- */

/* A copy of p->full in the query's arena: one of each name. What names grow to by prefixes and the
 * base is limited as texts are. */
static acq_status keep_full(acq_sparql_parser *p, acq_input_place place, const char **out)
{
    const acq_text *full = &p->full;
    uint32_t id;
    if (acq_text_finish(full, p->error) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    if (full->length > ACQ_NAME_MOST)
        return acq_fail_at(p->error, ACQ_ERR_LIMIT, place.line, place.column,
                           "this name is longer than the limit of %d bytes", (int)ACQ_NAME_MOST);
    id = acq_names_find(&p->keys, full->bytes, full->length);
    if (id != ACQ_NO_ID) {
        *out = p->texts[id];
        return ACQ_OK;
    }
    p->expanded += full->length;
    if (p->expanded > ACQ_MOST_TEXT)
        return acq_fail_at(p->error, ACQ_ERR_LIMIT, place.line, place.column,
                           "the names of the query, written in full, have more than %d bytes; "
                           "split the query",
                           (int)ACQ_MOST_TEXT);
    *out = acq_arena_copy_string(&p->query->arena, full->bytes, full->length);
    if (*out == NULL || acq_names_add(&p->keys, full->bytes, full->length, 1, &id) != ACQ_OK ||
        ACQ_RESERVE(p->texts, p->texts_capacity, (size_t)id + 1) != ACQ_OK)
        return acq_fail_memory(p->error);
    p->texts[id] = *out;
    return ACQ_OK;
}

static bool is_relative(const acq_sparql_parser *p, const acq_sparql_token *token)
{
    return p->base.length > 0 && !acq_iri_is_absolute(token->text, token->length);
}

/* The IRI of the current token in p->full. */
static acq_status spell_iri(acq_sparql_parser *p)
{
    const acq_sparql_token *token = &p->lexer.token;
    acq_text_clear(&p->full);
    if (token->kind == ACQ_SPARQL_IRI && is_relative(p, token)) {
        acq_iri_resolve(&p->full, token->text, token->length, p->base.bytes);
    } else if (token->kind == ACQ_SPARQL_IRI) {
        acq_text_add_bytes(&p->full, token->text, token->length);
    } else {
        uint32_t id = acq_names_find(&p->prefixes, token->text, token->length);
        if (id == ACQ_NO_ID)
            return ACQ_SPARQL_FAIL(p, token->place,
                                   "the prefix '%s' is not declared; add PREFIX %s <...> in front",
                                   acq_input_show(token->text, token->length).text,
                                   acq_input_show(token->text, token->length).text);
        acq_text_add(&p->full, p->iris[id]);
        acq_text_add_bytes(&p->full, token->local, token->local_length);
    }
    return p->full.failed ? acq_fail_memory(p->error) : ACQ_OK;
}

acq_status acq_sparql_define_prefix(acq_sparql_parser *p, const char *prefix, size_t length)
{
    uint32_t id;
    acq_status status = acq_names_find(&p->prefixes, prefix, length) != ACQ_NO_ID
                            ? ACQ_OK
                            : acq_names_add(&p->prefixes, prefix, length, 1, &id);
    if (status != ACQ_OK)
        return acq_fail_memory(p->error);
    id = acq_names_find(&p->prefixes, prefix, length);
    if (ACQ_RESERVE(p->iris, p->iris_capacity, (size_t)id + 1) != ACQ_OK)
        return acq_fail_memory(p->error);
    acq_input_place place = p->lexer.token.place;
    status = spell_iri(p);
    if (status == ACQ_OK)
        status = keep_full(p, place, &p->iris[id]);
    acq_sparql_next(p);
    return status;
}

acq_status acq_sparql_read_iri(acq_sparql_parser *p, acq_sparql_term *out)
{
    acq_input_place place = p->lexer.token.place;
    acq_status status = spell_iri(p);
    *out = (acq_sparql_term){.place = place};
    if (status == ACQ_OK && p->full.length == 0)
        return ACQ_SPARQL_FAIL(p, place, "this name is empty; write it between < and >");
    if (status == ACQ_OK)
        status = keep_full(p, place, &out->key);
    out->length = p->full.length;
    acq_sparql_next(p);
    return status;
}

acq_status acq_sparql_make_iri(acq_sparql_parser *p, const char *iri, acq_sparql_term *out)
{
    acq_text_clear(&p->full);
    acq_text_add(&p->full, iri);
    *out = (acq_sparql_term){.place = p->lexer.token.place, .length = strlen(iri)};
    return keep_full(p, out->place, &out->key);
}

/* ---- variables and blank nodes ---- */

/* The variable with this name, "?x" or "_:b", new or known. */
static acq_status find_variable(acq_sparql_parser *p, const char *name, size_t length,
                                acq_input_place place, acq_sparql_term *out)
{
    acq_sparql_query *query = p->query;
    uint32_t id = acq_names_find(&p->variables, name, length);
    *out = (acq_sparql_term){.is_variable = true, .place = place, .variable = id};
    if (id != ACQ_NO_ID)
        return ACQ_OK;
    if (length > ACQ_NAME_MOST)
        return acq_fail_at(p->error, ACQ_ERR_LIMIT, place.line, place.column,
                           "this name is longer than the limit of %d bytes", (int)ACQ_NAME_MOST);
    if (acq_names_add(&p->variables, name, length, 1, &out->variable) != ACQ_OK ||
        ACQ_RESERVE(query->names, query->variables_capacity, (size_t)query->n_variables + 1) !=
            ACQ_OK ||
        ACQ_RESERVE(p->label_blocks, p->labels_capacity, (size_t)query->n_variables + 1) != ACQ_OK)
        return acq_fail_memory(p->error);
    bool is_blank = name[0] == '_';
    size_t skipped = is_blank ? 2 : 1;
    char *text = acq_arena_copy_string(&query->arena, name + skipped, length - skipped);
    if (text == NULL)
        return acq_fail_memory(p->error);
    p->label_blocks[query->n_variables] = p->block;
    query->names[query->n_variables++] = (acq_sparql_name){
        .text = text, .length = length - skipped, .place = place, .is_blank = is_blank};
    return ACQ_OK;
}

acq_status acq_sparql_read_variable(acq_sparql_parser *p, acq_sparql_term *out)
{
    acq_sparql_token token = p->lexer.token;
    acq_text_clear(&p->full);
    acq_text_add_char(&p->full, '?');
    acq_text_add_bytes(&p->full, token.text, token.length);
    acq_status status = acq_text_finish(&p->full, p->error);
    if (status == ACQ_OK)
        status = find_variable(p, p->full.bytes, p->full.length, token.place, out);
    acq_sparql_next(p);
    return status;
}

acq_status acq_sparql_make_blank(acq_sparql_parser *p, acq_input_place place, acq_sparql_term *out)
{
    acq_text_clear(&p->full);
    acq_text_format(&p->full, "_: %u", p->n_fresh++); /* no label has a blank in it */
    acq_status status = acq_text_finish(&p->full, p->error);
    return status == ACQ_OK ? find_variable(p, p->full.bytes, p->full.length, place, out) : status;
}

acq_status acq_sparql_read_label(acq_sparql_parser *p, acq_sparql_term *out)
{
    acq_sparql_token token = p->lexer.token;
    acq_text_clear(&p->full);
    acq_text_add(&p->full, "_:");
    acq_text_add_bytes(&p->full, token.text, token.length);
    acq_status status = acq_text_finish(&p->full, p->error);
    if (status == ACQ_OK)
        status = find_variable(p, p->full.bytes, p->full.length, token.place, out);
    if (status == ACQ_OK && p->label_blocks[out->variable] != p->block)
        return ACQ_SPARQL_FAIL(p, token.place,
                               "the blank node _:%s occurs in two blocks of triples, which SPARQL "
                               "does not allow; use a variable",
                               acq_input_show(token.text, token.length).text);
    acq_sparql_next(p);
    return status;
}

/* ---- literals ---- */

bool acq_sparql_is_literal(const acq_sparql_parser *p, bool signs)
{
    acq_sparql_kind kind = p->lexer.token.kind;
    return kind == ACQ_SPARQL_STRING || kind == ACQ_SPARQL_NUMBER ||
           acq_sparql_is_word(p, "true") || acq_sparql_is_word(p, "false") ||
           (signs && (acq_sparql_is_mark(p, "+") || acq_sparql_is_mark(p, "-")));
}

/* string = text [language | "^^" iri]; its key in p->full. */
static acq_status spell_string(acq_sparql_parser *p)
{
    acq_text key = {0};
    acq_status status = ACQ_OK;
    acq_rdf_write_literal(&key, p->lexer.token.text, p->lexer.token.length);
    acq_sparql_next(p);
    if (p->lexer.token.kind == ACQ_SPARQL_LANGUAGE) {
        acq_text_add_char(&key, '@');
        acq_text_add_bytes(&key, p->lexer.token.text, p->lexer.token.length);
        acq_sparql_next(p);
    } else if (acq_sparql_is_mark(p, "^^")) {
        acq_sparql_next(p);
        acq_sparql_term type = {.key = ACQ_XSD "string"};
        status = acq_sparql_is_name(p) ? acq_sparql_read_iri(p, &type)
                                       : acq_sparql_fail_expected(p, "a datatype behind ^^");
        if (status == ACQ_OK && strcmp(type.key, ACQ_XSD "string") != 0) {
            acq_text_add(&key, "^^<");
            acq_text_add_bytes(&key, type.key, type.length);
            acq_text_add_char(&key, '>');
        }
    }
    acq_text_clear(&p->full);
    acq_text_add_bytes(&p->full, key.bytes == NULL ? "" : key.bytes, key.length);
    p->full.failed |= key.failed;
    acq_text_deinit(&key);
    return status;
}

/* number = ["+" | "-"] digits...; its key in p->full. */
static acq_status spell_number(acq_sparql_parser *p)
{
    acq_text_clear(&p->full);
    acq_text_add_char(&p->full, '"');
    if (p->lexer.token.kind == ACQ_SPARQL_MARK) {
        size_t end = p->lexer.in.at;
        acq_text_add_bytes(&p->full, p->lexer.token.source, 1);
        acq_sparql_next(p);
        if (p->lexer.token.kind != ACQ_SPARQL_NUMBER ||
            p->lexer.token.source != p->lexer.in.text + end)
            return acq_sparql_fail_expected(p, "a number right behind its sign");
    }
    const acq_sparql_token *token = &p->lexer.token;
    const char *type = "integer";
    if (memchr(token->text, 'e', token->length) != NULL ||
        memchr(token->text, 'E', token->length) != NULL)
        type = "double";
    else if (memchr(token->text, '.', token->length) != NULL)
        type = "decimal";
    acq_text_add_bytes(&p->full, token->text, token->length);
    acq_text_format(&p->full, "\"^^<" ACQ_XSD "%s>", type);
    acq_sparql_next(p);
    return ACQ_OK;
}

acq_status acq_sparql_read_literal(acq_sparql_parser *p, acq_sparql_term *out)
{
    acq_input_place place = p->lexer.token.place;
    acq_status status = ACQ_OK;
    if (p->lexer.token.kind == ACQ_SPARQL_STRING) {
        status = spell_string(p);
    } else if (p->lexer.token.kind == ACQ_SPARQL_WORD) {
        acq_text_clear(&p->full);
        acq_text_format(&p->full, "\"%s\"^^<" ACQ_XSD "boolean>",
                        acq_sparql_is_word(p, "true") ? "true" : "false");
        acq_sparql_next(p);
    } else {
        status = spell_number(p);
    }
    *out = (acq_sparql_term){.is_literal = true, .place = place, .length = p->full.length};
    return status == ACQ_OK ? keep_full(p, place, &out->key) : status;
}
