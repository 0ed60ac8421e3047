/* read_nt.c - RDF, one statement a line: N-Triples, and N-Quads with a fourth term.
 *
 *   line      = [ subject predicate object [graph] "." ] [ "#" comment ]
 *   subject   = iri | blank
 *   predicate = iri
 *   object    = iri | blank | literal
 *   graph     = iri | blank
 *   iri       = "<" { character | escape } ">"
 *   literal   = '"' { character | escape } '"' [ "^^" iri | "@" language ]
 *   blank     = "_:" label
 *   escape    = \uXXXX | \UXXXXXXXX, in literals also \t \b \n \r \f \" \' \\
 *
 * with blanks and tabs between. After https://www.w3.org/TR/n-triples/, which is stricter than most
 * readers. A line is read in place; only terms with escapes are copied. */
#include "graph/text/reader.h"

#include <stdio.h>
#include <string.h>

#include "graph/text/rdf.h"
#include "base/text.h"

typedef struct cursor {
    acq_batch *batch;
    const char *line, *at, *end;
    size_t number;
    acq_text *buffers; /* one a term and one for a datatype, for what has escapes */
    acq_status status; /* what noting a bad line returned */
} cursor;

static bool bad(cursor *in, const char *place, const char *format, ...) ACQ_PRINTF(3, 4);

static bool bad(cursor *in, const char *place, const char *format, ...)
{
    char message[300];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    in->status =
        acq_batch_bad(in->batch, in->number, (size_t)(place - in->line) + 1, "%s", message);
    return false;
}

static void skip_blanks(cursor *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t'))
        in->at++;
}

static char peek(const cursor *in)
{
    return in->at < in->end ? *in->at : '\0';
}

/* Moves to the first byte that ends a run of plain characters. */
static const char *skip_plain(const cursor *in, const char *at, bool is_iri)
{
    if (is_iri) {
        while (at < in->end && acq_iri_allows((unsigned char)*at))
            at++;
    } else {
        while (at < in->end && *at != '"' && *at != '\\' && *at != '\r')
            at++;
    }
    return at;
}

static bool complain_inside(cursor *in, const char *open, const char *at, bool is_iri)
{
    if (is_iri && at == open + 1 && at < in->end && *at == '<')
        return bad(in, open, ACQ_NO_TRIPLE_TERMS);
    if (at == in->end)
        return bad(in, open,
                   is_iri ? "this IRI is never closed; add a >"
                          : "this quote is never closed; add a closing quote");
    if (*at == '\r')
        return bad(in, at, "a carriage return inside; write \\r, or end the line with \\n");
    if (*at == ' ')
        return bad(in, at, "an IRI cannot hold a blank; close it with > or write %%20");
    if (*at == '\0')
        return bad(in, at, "a NUL byte; is this a text file? Remove it");
    if ((unsigned char)*at < ' ')
        return bad(in, at, "an IRI cannot hold the control character 0x%02x; percent-encode it",
                   (unsigned)*at);
    return bad(in, at, "an IRI cannot hold %c; percent-encode it", *at);
}

/* What stands between the < > or quotes that begin at the cursor. */
static bool read_inside(cursor *in, bool is_iri, acq_text *buffer, const char **text,
                        size_t *length)
{
    const char *open = in->at, *run = in->at + 1, *at = run;
    char close = is_iri ? '>' : '"', reason[ACQ_REASON];
    bool has_escapes = false;
    for (;;) {
        at = skip_plain(in, at, is_iri);
        if (at == in->end || (*at != close && *at != '\\'))
            return complain_inside(in, open, at, is_iri);
        if (*at == close)
            break;
        if (!has_escapes)
            acq_text_clear(buffer);
        has_escapes = true;
        acq_text_add_bytes(buffer, run, (size_t)(at - run));
        if (!acq_rdf_unescape(&at, in->end, is_iri, buffer, reason))
            return bad(in, at, "%s", reason);
        run = at;
    }
    *text = run;
    *length = (size_t)(at - run);
    in->at = at + 1;
    if (!has_escapes)
        return true;
    acq_text_add_bytes(buffer, run, (size_t)(at - run));
    in->status = acq_text_finish(buffer, &in->batch->error);
    *text = buffer->bytes;
    *length = buffer->length;
    return in->status == ACQ_OK;
}

static bool read_blank(cursor *in, acq_rdf_term *out)
{
    const char *start = in->at + 2, *at = start;
    if (in->end - in->at < 2 || in->at[1] != ':')
        return bad(in, in->at, "a blank node is written _:label");
    for (size_t step = 1; at < in->end && step > 0; at += step)
        step = acq_rdf_name_step(at, at == start);
    while (at > start && at[-1] == '.')
        at--;
    if (at == start)
        return bad(in, start, "the label of a blank node begins with a letter, a digit or _");
    out->kind = ACQ_TERM_BLANK;
    out->text = start;
    out->length = (size_t)(at - start);
    in->at = at;
    return true;
}

static bool read_language(cursor *in, acq_rdf_term *out)
{
    const char *start = ++in->at;
    for (; in->at < in->end; in->at++) {
        char c = *in->at;
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool is_later = (c >= '0' && c <= '9') && memchr(start, '-', (size_t)(in->at - start));
        bool is_hyphen = c == '-' && in->at > start && in->at[-1] != '-';
        if (!is_letter && !is_later && !is_hyphen)
            break;
    }
    if (in->at == start || in->at[-1] == '-')
        return bad(in, start - 1, "a language is written like @en or @en-GB");
    out->language = start;
    out->language_length = (size_t)(in->at - start);
    return true;
}

/* literal ::= STRING_LITERAL_QUOTE ('^^' IRIREF | LANGTAG)?        with blanks between these */
static bool read_literal(cursor *in, acq_text *buffer, acq_text *type_buffer, acq_rdf_term *out)
{
    out->kind = ACQ_TERM_LITERAL;
    if (!read_inside(in, false, buffer, &out->text, &out->length))
        return false;
    skip_blanks(in);
    if (peek(in) == '@')
        return read_language(in, out);
    if (in->end - in->at < 2 || memcmp(in->at, "^^", 2) != 0)
        return true;
    const char *behind = in->at += 2;
    skip_blanks(in);
    if (peek(in) != '<')
        return bad(in, behind, "a datatype is a whole IRI, ^^<...>");
    return read_inside(in, true, type_buffer, &out->datatype, &out->datatype_length);
}

/* Says what could stand where something else does. */
static bool complain_term(cursor *in, int which)
{
    static const char *const wanted[] = {"a subject: an IRI in < > or a blank node like _:x",
                                         "a predicate: an IRI in < >",
                                         "an object: an IRI in < >, a blank node or a literal",
                                         "a . or a graph: an IRI in < > or a blank node"};
    char c = peek(in);
    if (in->at < in->end && c == '\0')
        return bad(in, in->at, "a NUL byte; is this a text file? Remove it");
    if (in->at == in->end || c == '#')
        return bad(in, in->at, "the line ends too early; expected %s", wanted[which]);
    if (c == '"')
        return bad(in, in->at, "a literal cannot stand here; expected %s", wanted[which]);
    if (c == '_' && which == 1)
        return bad(in, in->at, "a blank node cannot stand here; expected %s", wanted[which]);
    if (c == '@')
        return bad(in, in->at, "this is Turtle; name the file .ttl");
    if (c != '.' && memchr(in->at, ':', (size_t)(in->end - in->at)) != NULL)
        return bad(in, in->at, "expected %s; is this a prefixed name? Then name the file .ttl",
                   wanted[which]);
    return bad(in, in->at, "expected %s", wanted[which]);
}

static bool read_term(cursor *in, int which, acq_rdf_term *out)
{
    char c;
    skip_blanks(in);
    c = peek(in);
    *out = (acq_rdf_term){.line = in->number, .column = (size_t)(in->at - in->line) + 1};
    if (c == '<')
        return read_inside(in, true, &in->buffers[which], &out->text, &out->length);
    if (c == '_' && which != 1)
        return read_blank(in, out);
    if (c == '"' && which == 2)
        return read_literal(in, &in->buffers[2], &in->buffers[4], out);
    return complain_term(in, which);
}

/* The name of a graph. */
static bool read_graph(cursor *in, acq_rdf_term *graph)
{
    const char *start = in->at;
    if (!read_term(in, 3, graph))
        return false;
    if (graph->kind == ACQ_TERM_IRI && in->batch->rules->base == NULL &&
        !acq_iri_is_absolute(graph->text, graph->length))
        return bad(in, start,
                   "the name of the graph is relative; say with --base IRI what it is "
                   "relative to");
    return true;
}

/* The end of a statement, in N-Quads after an optional graph. */
static bool read_end(cursor *in, acq_rdf_term *graph, bool *has_graph)
{
    bool is_quads = in->batch->rules->syntax == ACQ_NQUADS;
    skip_blanks(in);
    *has_graph = peek(in) != '.' && is_quads;
    if (*has_graph && !read_graph(in, graph))
        return false;
    skip_blanks(in);
    if (peek(in) == '<' || (in->end - in->at >= 2 && memcmp(in->at, "_:", 2) == 0))
        return bad(in, in->at,
                   is_quads ? "a fifth term; end the statement with a ."
                            : "a fourth term; end the statement with a ., or name the "
                              "file .nq if it has graphs");
    if (peek(in) != '.')
        return bad(in, in->at, "expected a . at the end of the statement");
    in->at++;
    skip_blanks(in);
    if (in->at < in->end && *in->at != '#')
        return bad(in, in->at, "something follows the end of the statement; write one a line");
    return true;
}

static bool check_text(cursor *in)
{
    size_t length = (size_t)(in->end - in->line), valid = acq_utf8_check(in->line, length);
    if (valid < length)
        return bad(in, in->line + valid, "not UTF-8 (byte 0x%02x); convert the file to UTF-8",
                   (unsigned char)in->line[valid]);
    return true;
}

static acq_status parse_line(acq_batch *batch, const char *line, size_t length, size_t number,
                             bool is_text)
{
    cursor in = {.batch = batch, .line = line, .at = line, .end = line + length, .number = number};
    acq_rdf_term terms[4]; /* the last one: the graph */
    bool has_graph;
    in.buffers = batch->unescaped;
    skip_blanks(&in);
    if (in.at == in.end || *in.at == '#')
        return ACQ_OK;
    batch->counts.lines++;
    if (!is_text && !check_text(&in))
        return in.status;
    for (int i = 0; i < 3; i++) {
        if (!read_term(&in, i, &terms[i]))
            return in.status;
    }
    if (!read_end(&in, &terms[3], &has_graph))
        return in.status;
    acq_status status = acq_rdf_set_graph(batch, has_graph ? &terms[3] : NULL);
    return status == ACQ_OK ? acq_rdf_add(batch, terms) : status;
}

void acq_parse_nt(acq_batch *batch, const acq_piece *piece)
{
    acq_parse_lines(batch, piece, parse_line);
}
