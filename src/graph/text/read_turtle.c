/* read_turtle.c - RDF in Turtle and TriG, parsed by serd.
 *
 *   stream ─▶ bytes, one at a time ─▶ serd ─▶ statements ─▶ batch ─▶ merger, whenever it is full
 *
 * Giving bytes one at a time costs a third of serd's speed and buys what serd does not offer: the
 * line of a statement, and a watch on its recursion: text that is nested too deeply would overflow
 * the stack. Turtle has no place to go on after an error, so the first one ends the reading; serd
 * itself carries on after some, and those end it too.
 *
 * serd keeps _:b1 for the nodes it makes up and gives a _:b1 of the text on as _:B1. It notices a
 * _:B1 of the text behind that, but not one before; the bytes tell which of the two were written.
 */
#include "graph/text/reader.h"

#include <serd/serd.h>
#include <stdio.h>
#include <string.h>

#include "graph/text/bytes.h"
#include "graph/text/iri.h"
#include "graph/text/rdf.h"
#include "base/utf8.h"

#define BLANK_CLASH "found both `b'" /* serd's words, as far as they matter */
#define XSD_INTEGER "http://www.w3.org/2001/XMLSchema#integer"

enum { MOST_CHUNKS = 1024, MOST_STACK = 256 * 1024 };

typedef struct turtle {
    acq_bytes bytes;
    acq_merger *merger;
    acq_batch *batch;
    SerdEnv *env;
    unsigned n_chunks;             /* since the last statement */
    uint32_t last;                 /* the last four bytes */
    bool has_small_b, has_large_b; /* the text has a label like b1, like B1 */
    uintptr_t bottom;              /* of the stack */
    acq_status status;             /* of the merger */
} turtle;

static bool is_over(const turtle *t)
{
    return t->status != ACQ_OK || t->batch->error.code != ACQ_OK;
}

static bool fail_here(turtle *t, acq_status status, const char *format, ...) ACQ_PRINTF(3, 4);

/* The first failure counts; serd gets nothing more to read. */
static bool fail_here(turtle *t, acq_status status, const char *format, ...)
{
    char message[400];
    size_t line, column;
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    acq_bytes_get_place(&t->bytes, &line, &column);
    acq_fail_at(&t->batch->error, status, line, column, "%s", message);
    t->bytes.end = t->bytes.at;
    return false;
}

/* Has more for serd; false at the end or when something is wrong. */
static bool refill(turtle *t)
{
    if (is_over(t) || t->bytes.has_ended)
        return false;
    if (++t->n_chunks > MOST_CHUNKS)
        return fail_here(t, ACQ_ERR_LIMIT, "64 MB without a statement end here; is this text?");
    if (acq_bytes_refill(&t->bytes, &t->batch->error) != ACQ_OK)
        return false;
    t->status = acq_merger_progress(t->merger, t->bytes.stream->done);
    return t->status == ACQ_OK && !t->bytes.has_ended;
}

static bool is_deep(const turtle *t)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    return (here < t->bottom ? t->bottom - here : here - t->bottom) > MOST_STACK;
}

/* Notes the labels that serd does not tell apart. */
static void watch(turtle *t, char c)
{
    uint32_t before = t->last;
    t->last = before << 8 | (unsigned char)c;
    if (c < '0' || c > '9' || (before >> 8 & 0xffff) != ('_' << 8 | ':'))
        return;
    t->has_small_b |= (before & 0xff) == 'b';
    t->has_large_b |= (before & 0xff) == 'B';
}

/* A SerdSource: the next byte. */
static size_t give_byte(void *out, size_t size, size_t n, void *self)
{
    turtle *t = self;
    (void)size;
    (void)n;
    if (is_deep(t))
        fail_here(t, ACQ_ERR_LIMIT,
                  "brackets are nested too deeply here; name the blank nodes inside");
    if (t->bytes.at == t->bytes.end && !refill(t))
        return 0;
    *(char *)out = acq_bytes_take(&t->bytes);
    watch(t, *(char *)out);
    return 1;
}

/* A SerdStreamErrorFunc: our errors have been noted already. */
static int has_error(void *self)
{
    (void)self;
    return 0;
}

/* serd's words, by how they begin, and ours where they help more. */
static const char *explain(const turtle *t, const char *reason)
{
    static const char *const words[][2] = {
        {"bad verb", "a subject is an IRI or a blank node, a predicate an IRI"},
        {"expected digit", "an object or a closing bracket is missing"},
        {"expected prefixed name", "this is neither an IRI in < > nor a prefixed name"},
        {"invalid IRI character", "an IRI cannot hold this character: percent-encode it, or close "
                                  "the IRI with >"},
        {"line end in short string", "the quote is not closed on its line"},
        {BLANK_CLASH, "serd cannot tell the blank nodes _:b1 and _:B1 apart: rename one"},
        {"syntax does not support graphs", "there are no graphs in Turtle: name the file .trig"},
        {"invalid UTF-8", "this is not UTF-8"},
    };
    if (t->bytes.has_ended)
        return "the text ends too early";
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strncmp(reason, words[i][0], strlen(words[i][0])) == 0)
            return words[i][1];
    }
    return reason;
}

static void fail_syntax(turtle *t, const char *reason)
{
    fail_here(t, ACQ_ERR_PARSE, "not valid %s: %s; correct it, what follows cannot be read",
              t->batch->rules->syntax == ACQ_TRIG ? "TriG" : "Turtle", explain(t, reason));
}

/* Places are ours: serd counts columns from 1 on the first line and from 0 on the others. */
static SerdStatus note_error(void *self, const SerdError *serd)
{
    turtle *t = self;
    char reason[200];
    if (is_over(t))
        return SERD_SUCCESS;
    vsnprintf(reason, sizeof reason, serd->fmt, *serd->args);
    reason[strcspn(reason, "\n")] = '\0';
    for (char *p = reason; *p != '\0'; p++) {
        if (*p < ' ' || *p > '~')
            *p = '?'; /* a byte of the text, maybe half a character */
    }
    fail_syntax(t, reason);
    return SERD_SUCCESS;
}

static SerdStatus set_base(void *self, const SerdNode *uri)
{
    turtle *t = self;
    t->n_chunks = 0;
    return serd_env_set_base_uri(t->env, uri);
}

static SerdStatus set_prefix(void *self, const SerdNode *name, const SerdNode *uri)
{
    turtle *t = self;
    t->n_chunks = 0;
    return serd_env_set_prefix(t->env, name, uri);
}

/* Writes name:rest as the IRI that it stands for. */
static bool expand_prefix(turtle *t, const SerdNode *node, acq_text *out)
{
    SerdChunk prefix, rest;
    const char *name = (const char *)node->buf;
    if (serd_env_expand(t->env, node, &prefix, &rest) != SERD_SUCCESS) {
        int n = (int)strcspn(name, ":");
        int shown = n < 100 ? n : 100;
        return fail_here(t, ACQ_ERR_PARSE,
                         "the prefix \"%.*s:\" is not declared; add a line @prefix %.*s: <...> .",
                         shown, name, shown, name);
    }
    acq_text_add_bytes(out, (const char *)prefix.buf, prefix.len);
    acq_text_add_bytes(out, (const char *)rest.buf, rest.len);
    return true;
}

/* An IRI in whatever way it is written; `buffer` is used for what has to be put together. */
static bool read_iri(turtle *t, const SerdNode *node, acq_text *buffer, const char **text,
                     size_t *length)
{
    const SerdNode *base = serd_env_get_base_uri(t->env, NULL);
    bool is_short = node->type == SERD_CURIE;
    *text = (const char *)node->buf;
    *length = node->n_bytes;
    if (!is_short && (base->n_bytes == 0 || acq_iri_is_absolute(*text, *length)))
        return true;
    acq_text_clear(buffer);
    if (is_short && !expand_prefix(t, node, buffer))
        return false;
    if (!is_short)
        acq_iri_resolve(buffer, *text, *length, (const char *)base->buf);
    *text = buffer->bytes;
    *length = buffer->length;
    return acq_text_finish(buffer, &t->batch->error) == ACQ_OK;
}

/* serd forgets the type of an integer that ends a statement, as in `5.`: no quote was read. */
static bool is_bare(const turtle *t)
{
    char last = t->bytes.at[-1], before = t->bytes.at[-2];
    return last != '"' && last != '\'' && before != '"' && before != '\'';
}

static bool read_literal(turtle *t, const SerdNode *datatype, const SerdNode *language,
                         acq_term *out)
{
    out->kind = ACQ_TERM_LITERAL;
    if (language != NULL && language->buf != NULL) {
        out->language = (const char *)language->buf;
        out->language_length = language->n_bytes;
    } else if (datatype != NULL && datatype->buf != NULL) {
        return read_iri(t, datatype, &t->batch->unescaped[4], &out->datatype,
                        &out->datatype_length);
    } else if (is_bare(t)) {
        out->datatype = XSD_INTEGER;
        out->datatype_length = strlen(XSD_INTEGER);
    }
    return true;
}

/* Is this label b1 or B1 of the text, and could it be either? */
static bool is_ambiguous(const turtle *t, const SerdNode *node)
{
    return t->has_small_b && t->has_large_b && node->type == SERD_BLANK && node->n_bytes > 1 &&
           node->buf[0] == 'B' && node->buf[1] >= '0' && node->buf[1] <= '9';
}

static bool read_term(turtle *t, const SerdNode *node, acq_text *buffer, acq_term *out)
{
    *out = (acq_term){.kind = node->type == SERD_BLANK ? ACQ_TERM_BLANK : ACQ_TERM_IRI,
                      .text = (const char *)node->buf,
                      .length = node->n_bytes};
    if (acq_utf8_check(out->text, out->length) < out->length)
        return fail_here(t, ACQ_ERR_PARSE,
                         "an escape here stands for no character (half a surrogate pair); write "
                         "the character itself");
    if (is_ambiguous(t, node)) {
        fail_syntax(t, BLANK_CLASH);
        return false;
    }
    if (node->type != SERD_URI && node->type != SERD_CURIE)
        return true;
    return read_iri(t, node, buffer, &out->text, &out->length);
}

static acq_status add(turtle *t, acq_term terms[3])
{
    size_t line, column;
    acq_bytes_get_place(&t->bytes, &line, &column);
    for (int i = 0; i < 3; i++)
        terms[i].column = column;
    return acq_rdf_add(t->batch, terms, line);
}

static acq_status hand_over(turtle *t)
{
    acq_status status = acq_merger_take(t->merger, t->batch);
    acq_batch_clear(t->batch);
    return status;
}

static SerdStatus take_statement(void *self, SerdStatementFlags flags, const SerdNode *graph,
                                 const SerdNode *subject, const SerdNode *predicate,
                                 const SerdNode *object, const SerdNode *datatype,
                                 const SerdNode *language)
{
    turtle *t = self;
    acq_batch *batch = t->batch;
    acq_term terms[3];
    (void)flags;
    t->n_chunks = 0;
    if (is_over(t))
        return SERD_ERR_UNKNOWN;
    batch->counts.lines++;
    if (graph != NULL && graph->buf != NULL && batch->rules->syntax == ACQ_TURTLE)
        fail_here(t, ACQ_ERR_PARSE, "Turtle has no graphs; name the file .trig");
    else if (read_term(t, subject, &batch->unescaped[0], &terms[0]) &&
             read_term(t, predicate, &batch->unescaped[1], &terms[1]) &&
             read_term(t, object, &batch->unescaped[2], &terms[2]) &&
             (object->type != SERD_LITERAL || read_literal(t, datatype, language, &terms[2])) &&
             add(t, terms) == ACQ_OK && acq_batch_is_full(batch))
        t->status = hand_over(t);
    return is_over(t) ? SERD_ERR_UNKNOWN : SERD_SUCCESS;
}

static void parse(turtle *t, SerdReader *reader)
{
    t->bottom = (uintptr_t)__builtin_frame_address(0);
    serd_reader_set_strict(reader, true);
    serd_reader_set_error_sink(reader, note_error, t);
    SerdStatus result = serd_reader_read_source(reader, give_byte, has_error, t,
                                                (const uint8_t *)t->bytes.stream->name, 1);
    if (result != SERD_SUCCESS && t->last != 0 && !is_over(t)) /* nothing at all is no error yet */
        fail_syntax(t, (const char *)serd_strerror(result));
}

static SerdEnv *new_env(const char *base)
{
    if (base == NULL)
        return serd_env_new(NULL);
    SerdNode node = serd_node_from_string(SERD_URI, (const uint8_t *)base);
    return serd_env_new(&node);
}

acq_status acq_read_turtle(acq_stream *stream, acq_merger *merger, acq_batch *batch)
{
    const acq_rules *rules = batch->rules;
    turtle t = {.merger = merger, .batch = batch};
    SerdReader *reader = serd_reader_new(rules->syntax == ACQ_TRIG ? SERD_TRIG : SERD_TURTLE, &t,
                                         NULL, set_base, set_prefix, take_statement, NULL);
    t.env = new_env(rules->base);
    if (reader == NULL || t.env == NULL)
        acq_fail_memory(&batch->error);
    else if (acq_bytes_init(&t.bytes, stream, &batch->error) == ACQ_OK)
        parse(&t, reader);
    serd_reader_free(reader);
    serd_env_free(t.env);
    acq_bytes_deinit(&t.bytes);
    return t.status == ACQ_OK ? acq_merger_take(merger, batch) : t.status;
}
