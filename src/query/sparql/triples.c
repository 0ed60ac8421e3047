/* triples.c - triples of SPARQL: subjects, property paths, objects, [] and collections. */
#include <string.h>

#include "query/sparql/parser.h"

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

/* Where triples are appended; a template takes no paths. */
typedef acq_sparql_element **list_end;

static acq_status parse_node(acq_sparql_parser *p, const char *expected, list_end *end,
                             acq_sparql_term *out);
static acq_status parse_properties(acq_sparql_parser *p, acq_sparql_term subject, list_end *end);

static acq_status push_triple(acq_sparql_parser *p, acq_sparql_term subject, acq_sparql_path *path,
                              acq_sparql_term object, list_end *end)
{
    acq_status status = acq_sparql_count_element(p, path->place);
    if (status != ACQ_OK)
        return status;
    acq_sparql_element *triple = ACQ_SPARQL_NEW(p, acq_sparql_element);
    if (triple == NULL)
        return acq_fail_memory(p->error);
    *triple = (acq_sparql_element){.kind = ACQ_ELEMENT_TRIPLE,
                                   .place = subject.place,
                                   .subject = subject,
                                   .path = path,
                                   .object = object};
    **end = triple;
    *end = &triple->next;
    return ACQ_OK;
}

static acq_status new_path(acq_sparql_parser *p, acq_path_kind kind, acq_sparql_path *children,
                           acq_sparql_path **out)
{
    acq_sparql_path *path = ACQ_SPARQL_NEW(p, acq_sparql_path);
    if (path == NULL)
        return acq_fail_memory(p->error);
    *path = (acq_sparql_path){.kind = kind,
                              .children = children,
                              .place = children == NULL ? p->lexer.token.place : children->place};
    *out = path;
    return ACQ_OK;
}

static acq_status push_link(acq_sparql_parser *p, acq_sparql_term subject, const char *iri,
                            acq_sparql_term object, list_end *end)
{
    acq_sparql_path *path = NULL;
    acq_status status = new_path(p, ACQ_PATH_LINK, NULL, &path);
    if (status != ACQ_OK)
        return status;
    status = acq_sparql_make_iri(p, iri, &path->term);
    return status == ACQ_OK ? push_triple(p, subject, path, object, end) : status;
}

/* collection = "(" node {node} ")" */
static acq_status parse_collection(acq_sparql_parser *p, list_end *end, acq_sparql_term *out)
{
    acq_input_place place = p->lexer.token.place;
    acq_sparql_term cell = {0}, item = {0}, after = {0};
    acq_status status = acq_sparql_enter(p, place);
    acq_sparql_next(p);
    if (status == ACQ_OK && acq_sparql_is_mark(p, ")")) {
        status = acq_sparql_make_iri(p, RDF "nil", out);
    } else if (status == ACQ_OK) {
        status = acq_sparql_make_blank(p, place, &cell);
        *out = cell;
        while (status == ACQ_OK && !acq_sparql_is_mark(p, ")")) {
            status = parse_node(p, "a term of the collection or ')'", end, &item);
            if (status == ACQ_OK)
                status = push_link(p, cell, RDF "first", item, end);
            bool is_last = acq_sparql_is_mark(p, ")");
            if (status == ACQ_OK)
                status = is_last ? acq_sparql_make_iri(p, RDF "nil", &after)
                                 : acq_sparql_make_blank(p, place, &after);
            if (status == ACQ_OK)
                status = push_link(p, cell, RDF "rest", after, end);
            cell = after;
        }
    }
    if (status == ACQ_OK)
        acq_sparql_next(p);
    acq_sparql_leave(p);
    return status;
}

/* brackets = "[" [properties] "]" */
static acq_status parse_brackets(acq_sparql_parser *p, list_end *end, acq_sparql_term *out,
                                 bool *is_bare)
{
    acq_input_place place = p->lexer.token.place;
    acq_status status = acq_sparql_enter(p, place);
    acq_sparql_next(p);
    if (status == ACQ_OK)
        status = acq_sparql_make_blank(p, place, out);
    *is_bare = acq_sparql_is_mark(p, "]");
    if (status == ACQ_OK && !*is_bare)
        status = parse_properties(p, *out, end);
    if (status == ACQ_OK)
        status = acq_sparql_expect_mark(p, "]", "']'");
    acq_sparql_leave(p);
    return status;
}

/* term = variable | iri | prefixed | blank | literal */
static acq_status parse_term(acq_sparql_parser *p, const char *expected, acq_sparql_term *out)
{
    acq_sparql_kind kind = p->lexer.token.kind;
    if (kind == ACQ_SPARQL_VARIABLE)
        return acq_sparql_read_variable(p, out);
    if (acq_sparql_is_name(p))
        return acq_sparql_read_iri(p, out);
    if (kind == ACQ_SPARQL_BLANK)
        return acq_sparql_read_label(p, out);
    if (acq_sparql_is_literal(p, true))
        return acq_sparql_read_literal(p, out);
    return acq_sparql_fail_expected(p, expected);
}

/* node = term | collection | brackets */
static acq_status parse_node(acq_sparql_parser *p, const char *expected, list_end *end,
                             acq_sparql_term *out)
{
    bool is_bare;
    if (acq_sparql_is_mark(p, "["))
        return parse_brackets(p, end, out, &is_bare);
    if (acq_sparql_is_mark(p, "("))
        return parse_collection(p, end, out);
    return parse_term(p, expected, out);
}

/* ---- paths ---- */

static acq_status parse_path(acq_sparql_parser *p, acq_sparql_path **out);

/* link = iri | "a" */
static acq_status parse_link(acq_sparql_parser *p, acq_sparql_path **out)
{
    acq_status status = new_path(p, ACQ_PATH_LINK, NULL, out);
    if (status != ACQ_OK)
        return status;
    const acq_sparql_token *token = &p->lexer.token;
    if (token->kind == ACQ_SPARQL_WORD && token->length == 1 && token->text[0] == 'a') {
        status = acq_sparql_make_iri(p, RDF "type", &(*out)->term);
        acq_sparql_next(p);
        return status;
    }
    if (!acq_sparql_is_name(p))
        return acq_sparql_fail_expected(p, "a relation: <...>, prefix:name or a");
    return acq_sparql_read_iri(p, &(*out)->term);
}

/* one of a negated set = ["^"] link */
static acq_status parse_negated_link(acq_sparql_parser *p, acq_sparql_path **out)
{
    if (!acq_sparql_is_mark(p, "^"))
        return parse_link(p, out);
    acq_sparql_path *link;
    acq_sparql_next(p);
    acq_status status = parse_link(p, &link);
    return status == ACQ_OK ? new_path(p, ACQ_PATH_INVERSE, link, out) : status;
}

/* negated = "!" (one | "(" [one {"|" one}] ")") */
static acq_status parse_negated(acq_sparql_parser *p, acq_sparql_path **out)
{
    acq_input_place place = p->lexer.token.place;
    acq_sparql_path *links = NULL, **end = &links;
    acq_sparql_next(p);
    bool is_list = acq_sparql_is_mark(p, "(");
    if (is_list)
        acq_sparql_next(p);
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && !(is_list && acq_sparql_is_mark(p, ")"))) {
        status = parse_negated_link(p, end);
        if (status == ACQ_OK)
            end = &(*end)->next;
        if (status != ACQ_OK || !is_list || acq_sparql_is_mark(p, ")"))
            break;
        status = acq_sparql_expect_mark(p, "|", "'|' or ')'");
        if (status == ACQ_OK && acq_sparql_is_mark(p, ")"))
            status = acq_sparql_fail_expected(p, "a relation");
    }
    if (status == ACQ_OK && is_list)
        acq_sparql_next(p);
    if (status == ACQ_OK)
        status = new_path(p, ACQ_PATH_NEGATED, links, out);
    if (status == ACQ_OK)
        (*out)->place = place;
    return status;
}

/* primary = link | negated | "(" path ")" */
static acq_status parse_primary(acq_sparql_parser *p, acq_sparql_path **out)
{
    if (acq_sparql_is_mark(p, "!"))
        return parse_negated(p, out);
    if (!acq_sparql_is_mark(p, "("))
        return parse_link(p, out);
    acq_status status = acq_sparql_enter(p, p->lexer.token.place);
    acq_sparql_next(p);
    if (status == ACQ_OK)
        status = parse_path(p, out);
    if (status == ACQ_OK)
        status = acq_sparql_expect_mark(p, ")", "')'");
    acq_sparql_leave(p);
    return status;
}

/* elt = ["^"] primary ["?" | "*" | "+"] */
static acq_status parse_elt(acq_sparql_parser *p, acq_sparql_path **out)
{
    bool is_inverse = acq_sparql_is_mark(p, "^");
    if (is_inverse)
        acq_sparql_next(p);
    acq_status status = parse_primary(p, out);
    if (status != ACQ_OK)
        return status;
    if (acq_sparql_is_mark(p, "?") || acq_sparql_is_mark(p, "*") || acq_sparql_is_mark(p, "+")) {
        char mark = p->lexer.token.source[0];
        status = new_path(p,
                          mark == '?'   ? ACQ_PATH_OPTIONAL
                          : mark == '*' ? ACQ_PATH_ANY
                                        : ACQ_PATH_SOME,
                          *out, out);
        acq_sparql_next(p);
    }
    return status == ACQ_OK && is_inverse ? new_path(p, ACQ_PATH_INVERSE, *out, out) : status;
}

/* A list of parts with a mark between them; one part stays as it is. */
static acq_status parse_list(acq_sparql_parser *p, acq_path_kind kind, acq_sparql_path **out)
{
    const char *mark = kind == ACQ_PATH_SEQUENCE ? "/" : "|";
    acq_sparql_path *parts = NULL, **end = &parts;
    size_t n = 0;
    for (;;) {
        acq_status status = kind == ACQ_PATH_SEQUENCE ? parse_elt(p, end)
                                                      : parse_list(p, ACQ_PATH_SEQUENCE, end);
        if (status == ACQ_OK)
            status = acq_sparql_count_element(p, (*end)->place);
        if (status != ACQ_OK)
            return status;
        end = &(*end)->next;
        n++;
        if (!acq_sparql_is_mark(p, mark))
            break;
        acq_sparql_next(p);
    }
    *out = parts;
    return n == 1 ? ACQ_OK : new_path(p, kind, parts, out);
}

/* path = sequence {"|" sequence};  sequence = elt {"/" elt} */
static acq_status parse_path(acq_sparql_parser *p, acq_sparql_path **out)
{
    return parse_list(p, ACQ_PATH_ALTERNATIVE, out);
}

/* verb = variable | path */
static acq_status parse_verb(acq_sparql_parser *p, acq_sparql_path **out)
{
    if (p->lexer.token.kind != ACQ_SPARQL_VARIABLE)
        return parse_path(p, out);
    acq_status status = new_path(p, ACQ_PATH_VARIABLE, NULL, out);
    return status == ACQ_OK ? acq_sparql_read_variable(p, &(*out)->term) : status;
}

/* ---- triples ---- */

/* objects = node {"," node} */
static acq_status parse_objects(acq_sparql_parser *p, acq_sparql_term subject,
                                acq_sparql_path *path, list_end *end)
{
    for (;;) {
        acq_sparql_term object = {0};
        acq_status status =
            parse_node(p, "an object: ?x, <...>, prefix:name or a literal", end, &object);
        if (status == ACQ_OK)
            status = push_triple(p, subject, path, object, end);
        if (status != ACQ_OK || !acq_sparql_is_mark(p, ","))
            return status;
        acq_sparql_next(p);
    }
}

static bool begins_verb(const acq_sparql_parser *p)
{
    const acq_sparql_token *token = &p->lexer.token;
    return token->kind == ACQ_SPARQL_VARIABLE || acq_sparql_is_name(p) ||
           (token->kind == ACQ_SPARQL_WORD && token->length == 1 && token->text[0] == 'a') ||
           acq_sparql_is_mark(p, "^") || acq_sparql_is_mark(p, "!") || acq_sparql_is_mark(p, "(");
}

/* properties = verb objects {";" [verb objects]} */
static acq_status parse_properties(acq_sparql_parser *p, acq_sparql_term subject, list_end *end)
{
    acq_sparql_path *path = NULL;
    acq_status status;
    do {
        status = parse_verb(p, &path);
        if (status == ACQ_OK)
            status = parse_objects(p, subject, path, end);
        if (status != ACQ_OK || !acq_sparql_is_mark(p, ";"))
            return status;
        while (acq_sparql_is_mark(p, ";"))
            acq_sparql_next(p);
    } while (begins_verb(p));
    return ACQ_OK;
}

bool acq_sparql_begins_triple(const acq_sparql_parser *p)
{
    acq_sparql_kind kind = p->lexer.token.kind;
    return kind == ACQ_SPARQL_VARIABLE || kind == ACQ_SPARQL_BLANK || acq_sparql_is_name(p) ||
           acq_sparql_is_literal(p, true) || acq_sparql_is_mark(p, "[") ||
           acq_sparql_is_mark(p, "(");
}

/* triples = node properties | "[" properties "]" [properties] | collection [properties] */
acq_status acq_sparql_parse_triples(acq_sparql_parser *p, list_end *end)
{
    acq_sparql_term subject = {0};
    acq_status status;
    bool is_bare = true, is_collection = acq_sparql_is_mark(p, "(");
    if (acq_sparql_is_mark(p, "["))
        status = parse_brackets(p, end, &subject, &is_bare);
    else
        status = parse_node(p, "a subject: ?x, <...> or prefix:name", end, &subject);
    if (status != ACQ_OK)
        return status;
    bool may_end = !is_bare || (is_collection && subject.is_variable);
    return may_end && !begins_verb(p) ? ACQ_OK : parse_properties(p, subject, end);
}
