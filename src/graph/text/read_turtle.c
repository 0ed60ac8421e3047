/* read_turtle.c - RDF in Turtle and TriG: the grammar over the words of turtle.c, after
 * https://www.w3.org/TR/turtle/ and https://www.w3.org/TR/trig/.
 *
 *   stream ─▶ words ─▶ statements ─▶ batch ─▶ merger, whenever the batch is full
 *
 * Brackets and lists nest by a stack of our own, not by recursion: a frame for the statement and
 * one for each bracket that is open. The texts of their subjects and predicates lie in one string
 * that grows and shrinks with the stack:
 *
 *   e:a e:r [ e:s ( e:x       frames  STATEMENT a r │ BRACKET b1 s │ LIST b2
 *
 * Turtle has no place to go on after an error, so the first one ends the reading; a statement that
 * is well formed but cannot be taken, for example with a relative IRI, is left out like a bad line.
 *
 * Nodes that brackets make are called _:b1, _:b2, ...; so a _:b1 of the text is called _:B1, and if
 * the text has both _:b1 and _:B1, the second of the two _:b0_1. Memory is that of the prefixes, those labels and the longest word. */
#include "graph/text/rdf.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "graph/text/reader.h"

#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

#define NO_GRAPHS "Turtle has no graphs; name the file .trig"

enum { MOST_NESTING = 1000, LABEL_ROOM = 24 };

/* A subject or predicate; its text is in reader.texts. */
typedef struct node {
    acq_term_kind kind;
    size_t start, length;
    size_t line, column;
} node;

typedef enum frame_kind { STATEMENT, BRACKET, LIST } frame_kind;

typedef struct frame {
    frame_kind kind;
    bool has_verb; /* of a statement: its subject is complete */
    node subject, verb;
} frame;

typedef struct prefix {
    size_t start, length; /* in reader.prefix_iris */
} prefix;

typedef struct reader {
    acq_turtle text;
    frame *frames;
    size_t n_frames, frames_capacity;
    acq_text texts;
    acq_names prefixes;
    prefix *prefix_list; /* by id in prefixes */
    size_t prefixes_capacity;
    acq_text prefix_iris;
    acq_text base;          /* empty: none */
    acq_names labels;       /* of the text, like B1; a b in place of the B for those like b1 */
    uint64_t n_made;        /* nodes made for brackets and lists */
    char label[LABEL_ROOM]; /* of the last of them */
} reader;

static bool fail_memory(reader *r)
{
    acq_fail_memory(&r->text.batch->error);
    return false;
}

static bool is_trig(const reader *r)
{
    return r->text.batch->rules->syntax == ACQ_TRIG;
}

/* Statements. */

static acq_rdf_term term_of(const reader *r, const node *of)
{
    return (acq_rdf_term){.kind = of->kind,
                          .text = r->texts.bytes + of->start,
                          .length = of->length,
                          .line = of->line,
                          .column = of->column};
}

static bool add(reader *r, const acq_rdf_term terms[3])
{
    acq_batch *batch = r->text.batch;
    batch->counts.lines++;
    if (acq_rdf_add(batch, terms) != ACQ_OK)
        return false;
    if (acq_batch_is_full(batch)) {
        r->text.status = acq_merger_take(r->text.merger, batch);
        acq_batch_clear(batch);
        acq_batch_trim(batch);
    }
    return r->text.status == ACQ_OK;
}

/* subject verb object; the verb may be one that the grammar implies. */
static bool emit(reader *r, const char *verb, const acq_rdf_term *object)
{
    const frame *top = &r->frames[r->n_frames - 1];
    acq_rdf_term terms[3] = {term_of(r, &top->subject), {0}, *object};
    if (verb == NULL)
        terms[1] = term_of(r, &top->verb);
    else
        terms[1] = (acq_rdf_term){
            .text = verb, .length = strlen(verb), .line = object->line, .column = object->column};
    return add(r, terms);
}

/* Nodes and frames. */

/* Puts a term's text behind the others. */
static bool set_node(reader *r, node *of, const acq_rdf_term *term)
{
    *of = (node){term->kind, r->texts.length, term->length, term->line, term->column};
    acq_text_add_bytes(&r->texts, term->text, term->length);
    return acq_text_finish(&r->texts, &r->text.batch->error) == ACQ_OK;
}

static acq_rdf_term make_node(reader *r)
{
    acq_rdf_term made = acq_turtle_start_term(&r->text, ACQ_TERM_BLANK);
    made.length =
        (size_t)snprintf(r->label, sizeof r->label, "b%llu", (unsigned long long)++r->n_made);
    made.text = r->label;
    return made;
}

static bool push(reader *r, frame_kind kind, const acq_rdf_term *subject)
{
    acq_turtle *t = &r->text;
    if (r->n_frames > MOST_NESTING)
        return acq_turtle_fail(t, t->start, ACQ_ERR_LIMIT,
                               "brackets are nested more than %d deep; name the nodes inside",
                               MOST_NESTING);
    if (ACQ_RESERVE(r->frames, r->frames_capacity, r->n_frames + 1) != ACQ_OK)
        return fail_memory(r);
    frame *top = &r->frames[r->n_frames++];
    *top = (frame){.kind = kind};
    return subject == NULL || set_node(r, &top->subject, subject);
}

static void pop(reader *r)
{
    r->texts.length = r->frames[--r->n_frames].subject.start;
}

/* IRIs and literals. */

static bool find_prefix(reader *r, size_t length, prefix *out)
{
    acq_turtle *t = &r->text;
    uint32_t id = acq_names_find(&r->prefixes, t->start, length);
    int shown = length < 100 ? (int)length : 100;
    if (id == ACQ_NO_ID)
        return acq_turtle_fail(t, t->start, ACQ_ERR_PARSE,
                               "the prefix \"%.*s:\" is not declared; add a line @prefix %.*s: "
                               "<...> .",
                               shown, t->start, shown, t->start);
    *out = r->prefix_list[id];
    return true;
}

/* Makes a relative IRI whole, if there is a base. */
static bool resolve(reader *r, acq_text *buffer, const char **text, size_t *length)
{
    acq_text whole;
    if (r->base.length == 0 || acq_iri_is_absolute(*text, *length))
        return true;
    acq_text_init(&whole);
    acq_iri_resolve(&whole, *text, *length, r->base.bytes);
    acq_text_clear(buffer);
    acq_text_add_bytes(buffer, whole.length == 0 ? "" : whole.bytes, whole.length);
    bool is_whole = !whole.failed && !buffer->failed;
    acq_text_deinit(&whole);
    *text = buffer->bytes;
    *length = buffer->length;
    return is_whole || fail_memory(r);
}

/* PrefixedName ::= PNAME_LN | PNAME_NS, of which the part before the colon was read. */
static bool read_prefixed(reader *r, size_t length, acq_text *buffer, const char **text,
                          size_t *n_text)
{
    prefix of = {0};
    if (!find_prefix(r, length, &of))
        return false;
    acq_text_clear(buffer);
    acq_text_add_bytes(buffer, r->prefix_iris.bytes + of.start, of.length);
    if (!acq_turtle_read_local(&r->text, buffer))
        return false;
    *text = buffer->bytes;
    *n_text = buffer->length;
    return acq_text_finish(buffer, &r->text.batch->error) == ACQ_OK;
}

/* IRIREF, made whole. */
static bool read_iriref(reader *r, acq_text *buffer, const char **text, size_t *length)
{
    return acq_turtle_read_iriref(&r->text, buffer, text, length) &&
           resolve(r, buffer, text, length);
}

/* iri ::= IRIREF | PrefixedName */
static bool read_iri(reader *r, acq_text *buffer, const char **text, size_t *length)
{
    acq_turtle *t = &r->text;
    size_t n_word;
    bool is_prefix;
    if (*t->at == '<')
        return read_iriref(r, buffer, text, length);
    if (!acq_turtle_read_word(t, &n_word, &is_prefix))
        return false;
    if (!is_prefix)
        return acq_turtle_bad(t, t->start, "\"%.*s\" is neither an IRI in < > nor a prefixed name",
                              n_word < 60 ? (int)n_word : 60, t->start);
    return read_prefixed(r, n_word, buffer, text, length);
}

/* What a label of the text is called; see the head of this file. */
static bool settle_label(reader *r, acq_text *buffer, acq_rdf_term *out)
{
    char claimed = out->text[0], other = claimed == 'b' ? 'B' : 'b';
    uint32_t id;
    acq_text_clear(buffer);
    acq_text_add_bytes(buffer, out->text, out->length);
    if (acq_text_finish(buffer, &r->text.batch->error) != ACQ_OK)
        return false;
    buffer->bytes[0] = other;
    bool is_second = acq_names_find(&r->labels, buffer->bytes, buffer->length) != ACQ_NO_ID;
    buffer->bytes[0] = claimed;
    if (!is_second && acq_names_add(&r->labels, buffer->bytes, buffer->length, 1, &id) != ACQ_OK)
        return fail_memory(r);
    buffer->bytes[0] = 'B';
    if (is_second) {
        acq_text_clear(buffer);
        acq_text_add(buffer, "b0_");
        acq_text_add_bytes(buffer, out->text + 1, out->length - 1);
    }
    out->text = buffer->bytes;
    out->length = buffer->length;
    return acq_text_finish(buffer, &r->text.batch->error) == ACQ_OK;
}

/* BlankNode ::= BLANK_NODE_LABEL | ANON, of which this is the first. */
static bool read_blank(reader *r, acq_text *buffer, acq_rdf_term *out)
{
    out->kind = ACQ_TERM_BLANK;
    if (!acq_turtle_read_label(&r->text, &out->text, &out->length))
        return false;
    bool is_made_up = out->length > 1 && (out->text[0] == 'b' || out->text[0] == 'B') &&
                      out->text[1] >= '0' && out->text[1] <= '9';
    if (!is_made_up || out->length > ACQ_NAME_MOST)
        return true;
    return settle_label(r, buffer, out);
}

/* RDFLiteral ::= String (LANGTAG | '^^' iri)? */
static bool read_literal(reader *r, acq_rdf_term *out)
{
    acq_turtle *t = &r->text;
    acq_text *buffer = &t->batch->unescaped[2];
    if (!acq_turtle_read_string(t, buffer))
        return false;
    out->text = buffer->bytes;
    out->length = buffer->length;
    char c = acq_turtle_next(t);
    if (c == '@')
        return acq_turtle_read_language(t, &out->language, &out->language_length);
    if (!acq_turtle_take_word(t, "^^"))
        return !acq_turtle_is_over(t);
    acq_turtle_next(t);
    return read_iri(r, &t->batch->unescaped[4], &out->datatype, &out->datatype_length);
}

static bool set_type(acq_rdf_term *literal, const char *type)
{
    literal->kind = ACQ_TERM_LITERAL;
    literal->datatype = type;
    literal->datatype_length = strlen(type);
    return true;
}

/* NumericLiteral ::= INTEGER | DECIMAL | DOUBLE */
static bool read_number(reader *r, acq_rdf_term *out)
{
    acq_turtle *t = &r->text;
    const char *type;
    if (!acq_turtle_read_number(t, &type))
        return false;
    out->text = t->start;
    out->length = (size_t)(t->at - t->start);
    return set_type(out, type);
}

/* BooleanLiteral ::= 'true' | 'false', or a prefixed name. */
static bool read_bare(reader *r, acq_rdf_term *out)
{
    acq_turtle *t = &r->text;
    size_t length;
    bool is_prefix;
    if (!acq_turtle_read_word(t, &length, &is_prefix))
        return false;
    if (is_prefix)
        return read_prefixed(r, length, &t->batch->unescaped[2], &out->text, &out->length);
    if ((length != 4 || memcmp(t->start, "true", 4) != 0) &&
        (length != 5 || memcmp(t->start, "false", 5) != 0))
        return acq_turtle_bad(t, t->start, "\"%.*s\" is neither an IRI in < > nor a prefixed name",
                              length < 60 ? (int)length : 60, t->start);
    out->text = t->start;
    out->length = length;
    return set_type(out, ACQ_XSD "boolean");
}

/* Triples. Each step reads a part of a statement and says what comes next. */

typedef enum step { VERB, OBJECT, BEHIND_OBJECT, BEHIND_SUBJECT, ENDED } step;

static frame *top_of(reader *r)
{
    return &r->frames[r->n_frames - 1];
}

/* blankNodePropertyList ::= '[' predicateObjectList ']'        ANON ::= '[' WS* ']'
 * The node stands as an object, or as the subject of a statement that has no verb yet. */
static step open_bracket(reader *r)
{
    acq_turtle *t = &r->text;
    frame *parent = top_of(r);
    bool is_subject = !parent->has_verb && parent->kind == STATEMENT;
    acq_rdf_term made = make_node(r);
    acq_turtle_take(t);
    bool is_empty = acq_turtle_next(t) == ']';
    if (is_subject ? !set_node(r, &parent->subject, &made)
                   : !emit(r, parent->kind == LIST ? RDF "first" : NULL, &made))
        return ENDED;
    if (is_empty) {
        acq_turtle_take(t);
        return is_subject ? VERB : BEHIND_OBJECT;
    }
    return push(r, BRACKET, &made) ? VERB : ENDED;
}

/* collection ::= '(' object* ')' */
static step open_list(reader *r)
{
    acq_turtle *t = &r->text;
    frame *parent = top_of(r);
    bool is_subject = !parent->has_verb && parent->kind == STATEMENT;
    acq_rdf_term first = acq_turtle_start_term(t, ACQ_TERM_IRI);
    acq_turtle_take(t);
    bool is_empty = acq_turtle_next(t) == ')';
    if (is_empty) {
        acq_turtle_take(t);
        first.text = RDF "nil";
        first.length = strlen(first.text);
    } else {
        first = make_node(r);
    }
    if (is_subject ? !set_node(r, &parent->subject, &first)
                   : !emit(r, parent->kind == LIST ? RDF "first" : NULL, &first))
        return ENDED;
    if (is_empty)
        return is_subject ? VERB : BEHIND_OBJECT;
    return push(r, LIST, &first) ? OBJECT : ENDED;
}

/* subject ::= iri | BlankNode | collection, and blankNodePropertyList */
static step read_subject(reader *r)
{
    acq_turtle *t = &r->text;
    acq_text *buffer = &t->batch->unescaped[0];
    char c = *t->at;
    acq_rdf_term subject = acq_turtle_start_term(t, ACQ_TERM_IRI);
    if (!push(r, STATEMENT, NULL))
        return ENDED;
    if (c == '[')
        return open_bracket(r);
    if (c == '(')
        return open_list(r);
    if (c == '"' || c == '\'' || (c >= '0' && c <= '9')) {
        acq_turtle_bad(t, t->start, "a literal cannot be a subject");
        return ENDED;
    }
    bool is_read = c == '_' ? read_blank(r, buffer, &subject)
                            : read_iri(r, buffer, &subject.text, &subject.length);
    return is_read && set_node(r, &top_of(r)->subject, &subject) ? VERB : ENDED;
}

/* verb ::= predicate | 'a'        predicate ::= iri */
static bool read_verb(reader *r, acq_rdf_term *out)
{
    acq_turtle *t = &r->text;
    acq_text *buffer = &t->batch->unescaped[1];
    size_t length = 0;
    bool is_prefix = false;
    if (*t->at == '<')
        return read_iriref(r, buffer, &out->text, &out->length);
    if (strchr("_\"'[](){},;.=", *t->at) == NULL && !acq_turtle_read_word(t, &length, &is_prefix))
        return false;
    if (is_prefix)
        return read_prefixed(r, length, buffer, &out->text, &out->length);
    out->text = RDF "type";
    out->length = strlen(out->text);
    return (length == 1 && *t->start == 'a') ||
           acq_turtle_bad(t, t->start, "expected a predicate, which is an IRI");
}

static step take_verb(reader *r)
{
    acq_turtle *t = &r->text;
    char c = acq_turtle_next(t);
    acq_rdf_term verb = acq_turtle_start_term(t, ACQ_TERM_IRI);
    frame *top = top_of(r);
    if (c == '{' && !is_trig(r)) {
        acq_turtle_fail(t, t->start, ACQ_ERR_PARSE, NO_GRAPHS);
        return ENDED;
    }
    if (!read_verb(r, &verb))
        return ENDED;
    r->texts.length = top->has_verb ? top->verb.start : r->texts.length;
    top->has_verb = true;
    return set_node(r, &top->verb, &verb) ? OBJECT : ENDED;
}

/* object ::= iri | BlankNode | collection | blankNodePropertyList | literal */
static step take_object(reader *r)
{
    acq_turtle *t = &r->text;
    char c = acq_turtle_next(t);
    acq_rdf_term object = acq_turtle_start_term(t, ACQ_TERM_IRI);
    acq_text *buffer = &t->batch->unescaped[2];
    bool is_read = false;
    if (c == '[')
        return open_bracket(r);
    if (c == '(')
        return open_list(r);
    if (c == '<') {
        is_read = read_iriref(r, buffer, &object.text, &object.length);
    } else if (c == '_') {
        is_read = read_blank(r, buffer, &object);
    } else if (c == '"' || c == '\'') {
        object.kind = ACQ_TERM_LITERAL;
        is_read = read_literal(r, &object);
    } else if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.') {
        is_read = read_number(r, &object);
    } else if (c == ',' || c == ';' || c == ']' || c == ')' || c == '}' || c == '\0') {
        acq_turtle_bad(t, t->start, "expected an object");
    } else {
        is_read = read_bare(r, &object);
    }
    const char *verb = top_of(r)->kind == LIST ? RDF "first" : NULL;
    return is_read && emit(r, verb, &object) ? BEHIND_OBJECT : ENDED;
}

/* Behind an object of a list: its next cell, or its end. */
static step go_on_list(reader *r, char c)
{
    acq_turtle *t = &r->text;
    acq_rdf_term rest = acq_turtle_start_term(t, ACQ_TERM_IRI);
    frame *top = top_of(r);
    if (c == ')') {
        acq_turtle_take(t);
        rest.text = RDF "nil";
        rest.length = strlen(rest.text);
    } else {
        rest = make_node(r);
    }
    if (!emit(r, RDF "rest", &rest))
        return ENDED;
    if (c != ')') {
        r->texts.length = top->subject.start;
        return set_node(r, &top->subject, &rest) ? OBJECT : ENDED;
    }
    pop(r);
    return top_of(r)->has_verb || top_of(r)->kind == LIST ? BEHIND_OBJECT : VERB;
}

static step close_bracket(reader *r, char c)
{
    acq_turtle *t = &r->text;
    if (c != ']') {
        acq_turtle_bad(t, t->start, "expected a , ; or ] behind the object");
        return ENDED;
    }
    acq_turtle_take(t);
    pop(r);
    return top_of(r)->has_verb || top_of(r)->kind == LIST ? BEHIND_OBJECT : BEHIND_SUBJECT;
}

/* predicateObjectList ::= verb objectList (';' (verb objectList)?)*
 * objectList ::= object (',' object)* */
static step go_on(reader *r)
{
    acq_turtle *t = &r->text;
    char c = acq_turtle_next(t);
    bool has_semicolon = c == ';';
    if (acq_turtle_is_over(t))
        return ENDED;
    if (top_of(r)->kind == LIST)
        return go_on_list(r, c);
    if (c == ',') {
        acq_turtle_take(t);
        return OBJECT;
    }
    while (c == ';') {
        acq_turtle_take(t);
        c = acq_turtle_next(t);
    }
    if (has_semicolon && c != '.' && c != ']' && c != '}' && c != '\0')
        return VERB;
    return top_of(r)->kind == BRACKET ? close_bracket(r, c) : ENDED;
}

/* triples ::= subject predicateObjectList | blankNodePropertyList predicateObjectList?
 * Begins with the subject, or behind it. */
static bool read_triples(reader *r, step now)
{
    acq_turtle *t = &r->text;
    while (now != ENDED && !acq_turtle_is_over(t)) {
        if (now == VERB)
            now = take_verb(r);
        else if (now == OBJECT)
            now = take_object(r);
        else if (now == BEHIND_OBJECT)
            now = go_on(r);
        else
            now = acq_turtle_next(t) == '.' || *t->at == '}' ? ENDED : VERB;
    }
    r->n_frames = 0;
    acq_text_clear(&r->texts);
    return !acq_turtle_is_over(t);
}

/* The dot behind triples. */
static bool read_dot(reader *r)
{
    acq_turtle *t = &r->text;
    char c = acq_turtle_next(t);
    if (c == '.') {
        acq_turtle_take(t);
        return true;
    }
    if (c == '~' || acq_turtle_take_word(t, "{|"))
        return acq_turtle_fail(t, t->start, ACQ_ERR_PARSE, ACQ_NO_TRIPLE_TERMS);
    return acq_turtle_bad(t, t->start, "expected a , ; or . behind the object");
}

/* Graphs. */

/* wrappedGraph ::= '{' triplesBlock? '}'        triplesBlock ::= triples ('.' triplesBlock?)? */
static bool read_graph(reader *r)
{
    acq_turtle *t = &r->text;
    if (acq_turtle_next(t) != '{')
        return acq_turtle_bad(t, t->start, "expected a { behind the name of the graph");
    acq_turtle_take(t);
    for (char c; (c = acq_turtle_next(t)) != '}';) {
        if (c == '\0')
            return acq_turtle_bad(t, t->start, "expected a }");
        if (!read_triples(r, read_subject(r)))
            return false;
        if (acq_turtle_next(t) != '}' && !read_dot(r))
            return false;
    }
    acq_turtle_take(t);
    return true;
}

/* Is this the name of a graph? A list is none, nor is a bracket with something in it. */
static bool names_graph(reader *r, char c, step now)
{
    return is_trig(r) && now == VERB && c != '(' && r->n_frames == 1 &&
           acq_turtle_next(&r->text) == '{';
}

/* Statements that follow stand in the graph that the subject at hand names. */
static bool name_graph(reader *r)
{
    acq_rdf_term name = term_of(r, &r->frames[0].subject);
    r->text.status = acq_rdf_set_graph(r->text.batch, &name);
    return r->text.status == ACQ_OK;
}

/* triplesOrGraph ::= labelOrSubject (wrappedGraph | predicateObjectList '.')
 * triples2 ::= blankNodePropertyList predicateObjectList? '.' | collection predicateObjectList '.'
 */
static bool read_block(reader *r, char c, bool is_graph)
{
    step now = read_subject(r);
    if (is_graph || names_graph(r, c, now)) {
        if (acq_turtle_is_over(&r->text) || !name_graph(r))
            return false;
        r->n_frames = 0;
        acq_text_clear(&r->texts);
        return read_graph(r) && acq_rdf_set_graph(r->text.batch, NULL) == ACQ_OK;
    }
    return read_triples(r, now) && read_dot(r);
}

/* Directives. */

static bool declare(reader *r, const char *name, size_t n_name, const char *iri, size_t length)
{
    uint32_t id;
    size_t known = r->prefixes.n_ids;
    if (ACQ_RESERVE(r->prefix_list, r->prefixes_capacity, known + 1) != ACQ_OK ||
        acq_names_add(&r->prefixes, name, n_name, 1, &id) != ACQ_OK)
        return fail_memory(r);
    prefix *of = &r->prefix_list[id];
    if (id == known)
        *of = (prefix){.start = r->prefix_iris.length};
    if (length > of->length) /* else it takes the place of the one before */
        of->start = r->prefix_iris.length;
    of->length = length;
    if (of->start == r->prefix_iris.length)
        acq_text_add_bytes(&r->prefix_iris, iri, length);
    else
        memcpy(r->prefix_iris.bytes + of->start, iri, length);
    return acq_text_finish(&r->prefix_iris, &r->text.batch->error) == ACQ_OK;
}

/* prefixID ::= '@prefix' PNAME_NS IRIREF '.'        sparqlPrefix ::= "PREFIX" PNAME_NS IRIREF */
static bool read_prefix(reader *r)
{
    acq_turtle *t = &r->text;
    acq_text *buffer = &t->batch->unescaped[0], *name = &t->batch->unescaped[1];
    const char *iri;
    size_t n_word, length;
    bool is_prefix;
    acq_turtle_next(t);
    if (!acq_turtle_read_word(t, &n_word, &is_prefix))
        return false;
    if (!is_prefix || n_word > ACQ_NAME_MOST)
        return acq_turtle_bad(t, t->at, "expected a prefix with a colon, like ex:");
    acq_text_clear(name);
    acq_text_add_bytes(name, t->start, n_word);
    acq_turtle_take(t);
    if (acq_turtle_next(t) != '<')
        return acq_turtle_bad(t, t->start, "expected the IRI of the prefix in < >");
    return acq_text_finish(name, &t->batch->error) == ACQ_OK &&
           read_iriref(r, buffer, &iri, &length) &&
           declare(r, name->bytes, name->length, iri, length);
}

/* base ::= '@base' IRIREF '.'        sparqlBase ::= "BASE" IRIREF
 * Relative to none it is none: the statements that use it are bad. */
static bool read_base(reader *r)
{
    acq_turtle *t = &r->text;
    const char *iri;
    size_t length;
    if (acq_turtle_next(t) != '<')
        return acq_turtle_bad(t, t->start, "expected an IRI in < > as the base");
    if (!read_iriref(r, &t->batch->unescaped[0], &iri, &length))
        return false;
    if (!acq_iri_is_absolute(iri, length))
        return true;
    acq_text_clear(&r->base);
    acq_text_add_bytes(&r->base, iri, length);
    return acq_text_finish(&r->base, &t->batch->error) == ACQ_OK;
}

static bool is_word(const acq_turtle *t, size_t length, const char *word)
{
    return length == strlen(word) && acq_is_same_word(t->start, word, length);
}

/* directive ::= prefixID | base        Its word is of letters alone, so that a prefix may follow at
 * once: @prefixé: */
static bool read_directive(reader *r)
{
    acq_turtle *t = &r->text;
    acq_turtle_take(t);
    size_t length = acq_turtle_read_letters(t);
    bool is_base = length == 4 && memcmp(t->start, "base", 4) == 0;
    if (!is_base && (length != 6 || memcmp(t->start, "prefix", 6) != 0))
        return acq_turtle_bad(t, t->start, "there are only @prefix and @base");
    if (!(is_base ? read_base(r) : read_prefix(r)))
        return false;
    if (acq_turtle_next(t) != '.')
        return acq_turtle_bad(t, t->start, "expected a . behind the IRI");
    acq_turtle_take(t);
    return true;
}

/* Is this one of SPARQL's words, which any case may have? Then it is read; else it is not. */
static bool take_keyword(reader *r, char c, char *keyword)
{
    acq_turtle *t = &r->text;
    size_t length = 0;
    bool is_prefix = true;
    *keyword = '\0';
    if (strchr("pPbBgG", c) == NULL)
        return true;
    if (!acq_turtle_read_word(t, &length, &is_prefix))
        return false;
    if (!is_prefix && (is_word(t, length, "prefix") || is_word(t, length, "base")))
        *keyword = (char)(c | 0x20);
    if (!is_prefix && is_word(t, length, "graph"))
        *keyword = 'g';
    if (*keyword == '\0')
        t->at = t->start;
    return true;
}

/* statement ::= directive | triples '.'        block ::= triplesOrGraph | wrappedGraph | triples2
 *                                                        | "GRAPH" labelOrSubject wrappedGraph */
static bool read_statement(reader *r, char c)
{
    acq_turtle *t = &r->text;
    char keyword;
    if (c == '@')
        return read_directive(r);
    if (c == '{' && is_trig(r))
        return read_graph(r);
    if (!take_keyword(r, c, &keyword))
        return false;
    if (c == '{' || (keyword == 'g' && !is_trig(r)))
        return acq_turtle_fail(t, t->start, ACQ_ERR_PARSE, NO_GRAPHS);
    if (keyword == 'p')
        return read_prefix(r);
    if (keyword == 'b')
        return read_base(r);
    if (keyword == 'g')
        c = acq_turtle_next(t);
    if (keyword == 'g' && c == '(')
        return acq_turtle_bad(t, t->start, "a list cannot name a graph");
    return read_block(r, c, keyword == 'g');
}

static void read_document(reader *r)
{
    const char *base = r->text.batch->rules->base;
    if (base != NULL)
        acq_text_add(&r->base, base);
    if (acq_text_finish(&r->base, &r->text.batch->error) != ACQ_OK)
        return;
    for (char c; (c = acq_turtle_next(&r->text)) != '\0';) {
        if (!read_statement(r, c))
            return;
    }
}

acq_status acq_read_turtle(acq_stream *stream, acq_merger *merger, acq_batch *batch)
{
    reader r = {0};
    acq_text_init(&r.texts);
    acq_text_init(&r.prefix_iris);
    acq_text_init(&r.base);
    if (acq_turtle_init(&r.text, stream, merger, batch) == ACQ_OK)
        read_document(&r);
    acq_status status = r.text.status;
    acq_turtle_deinit(&r.text);
    acq_free(r.frames);
    acq_free(r.prefix_list);
    acq_names_deinit(&r.prefixes);
    acq_names_deinit(&r.labels);
    acq_text_deinit(&r.texts);
    acq_text_deinit(&r.prefix_iris);
    acq_text_deinit(&r.base);
    return status == ACQ_OK ? acq_merger_take(merger, batch) : status;
}
