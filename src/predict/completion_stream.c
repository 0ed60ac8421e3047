/* completion_stream.c - a relation's block from pieces of links that need not fit into memory.
 *
 *   count: links of each head ─▶ heads and offsets are known, and are put into the file
 *   heads in ranges of about `most` links: gather the range's links from all pieces, sort, put
 *   tails and codes behind those of the range before
 *   read the block again for its checksum
 *
 * Nothing is written but the file itself, so there is nothing to clean up. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "graph/build.h"
#include "predict/completion_file.h"

typedef struct stream {
    acq_completion_writer *writer;
    const acq_link_pieces *pieces;
    const acq_links *observed; /* of the even relation */
    acq_rel relation;          /* the direction that is written */
    size_t most;
    uint32_t n_entities, n_heads;
    uint64_t n_links;
    uint32_t *counts; /* by head */
    acq_link *links, *scratch;
    size_t room;
    acq_ent first, end; /* heads of the range */
    size_t n;           /* links gathered */
} stream;

typedef void (*visit_fn)(stream *s, acq_ent head, acq_ent tail, uint16_t code);

static void visit(stream *s, visit_fn to, acq_link link, bool is_observed)
{
    bool is_turned = s->relation % 2 == 1;
    acq_ent head = is_turned ? link.tail : link.head, tail = is_turned ? link.head : link.tail;
    if (head < s->first || head >= s->end)
        return;
    uint16_t code = acq_completion_writer_encode(s->writer, link.score, is_observed);
    if (code != 0)
        to(s, head, tail, code);
}

static acq_status visit_all(stream *s, visit_fn to, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < s->pieces->n && status == ACQ_OK; i++) {
        const acq_link *links = NULL;
        size_t n = 0;
        status = s->pieces->read(s->pieces->context, i, &links, &n, error);
        for (size_t j = 0; j < n && status == ACQ_OK; j++)
            visit(s, to, links[j], false);
    }
    for (uint32_t i = 0; i < s->observed->n_heads && status == ACQ_OK; i++) {
        acq_row row = acq_links_get_row_at(s->observed, i);
        for (size_t j = 0; j < row.n; j++)
            visit(s, to, (acq_link){s->observed->heads[i], row.tails[j], 1.0F}, true);
    }
    return status;
}

static void count_one(stream *s, acq_ent head, acq_ent tail, uint16_t code)
{
    (void)tail;
    (void)code;
    s->n_heads += s->counts[head]++ == 0;
    s->n_links++;
}

static void take_one(stream *s, acq_ent head, acq_ent tail, uint16_t code)
{
    if (s->n < s->room)
        s->links[s->n] = (acq_link){head, tail, (float)code};
    s->n++;
}

static acq_status put(stream *s, const void *bytes, size_t length, uint64_t at, acq_error *error)
{
    acq_completion_output *output = &s->writer->output;
    return acq_new_file_put(&output->file, bytes, length, output->at + at, error);
}

/* Heads that have links, then where their rows begin. */
static acq_status put_heads(stream *s, acq_error *error)
{
    uint32_t *words = acq_alloc(2 * (size_t)s->n_heads + 1, sizeof *words);
    uint32_t n = 0, at = 0;
    if (words == NULL)
        return acq_fail_memory(error);
    for (acq_ent e = 0; e < s->n_entities; e++) {
        if (s->counts[e] == 0)
            continue;
        words[n] = e;
        words[s->n_heads + n++] = at;
        at += s->counts[e];
    }
    words[2 * (size_t)s->n_heads] = at;
    acq_status status = put(s, words, (2 * (size_t)s->n_heads + 1) * sizeof *words, 0, error);
    acq_free(words);
    return status;
}

/* Heads from s->end on with about `most` links; false: there are none left. */
static bool choose_range(stream *s)
{
    size_t n = 0;
    s->first = s->end;
    while (s->end < s->n_entities && (n == 0 || n + s->counts[s->end] <= s->most))
        n += s->counts[s->end++];
    s->room = n;
    return n > 0;
}

static acq_status put_range(stream *s, uint64_t before, acq_error *error)
{
    uint64_t tails_at = (2 * (uint64_t)s->n_heads + 1) * sizeof(uint32_t);
    uint64_t codes_at = tails_at + s->n_links * sizeof(uint32_t);
    acq_ent *tails = acq_alloc(s->n, sizeof *tails);
    uint16_t *codes = acq_alloc(s->n, sizeof *codes);
    acq_status status = tails == NULL || codes == NULL ? acq_fail_memory(error) : ACQ_OK;
    for (size_t i = 0; i < s->n && status == ACQ_OK; i++) {
        tails[i] = s->links[i].tail;
        codes[i] = (uint16_t)s->links[i].score;
    }
    if (status == ACQ_OK)
        status = put(s, tails, s->n * sizeof *tails, tails_at + before * sizeof *tails, error);
    if (status == ACQ_OK)
        status = put(s, codes, s->n * sizeof *codes, codes_at + before * sizeof *codes, error);
    acq_free(tails);
    acq_free(codes);
    return status;
}

static acq_status check_range(const stream *s, acq_error *error)
{
    bool is_good = s->n == s->room;
    for (size_t i = 1; i < s->n && is_good; i++)
        is_good =
            s->links[i - 1].head != s->links[i].head || s->links[i - 1].tail != s->links[i].tail;
    return is_good
               ? ACQ_OK
               : acq_fail(error, ACQ_ERR_INPUT,
                          "links of relation %u cannot be stored: one is there twice, or pieces "
                          "change",
                          s->relation);
}

/* The links of the heads of one range. */
static acq_status run_range(stream *s, uint64_t before, acq_error *error)
{
    s->links = acq_alloc(s->room, sizeof *s->links);
    s->scratch = acq_alloc(s->room, sizeof *s->scratch);
    s->n = 0;
    acq_status status = s->links == NULL || s->scratch == NULL ? acq_fail_memory(error)
                                                               : visit_all(s, take_one, error);
    if (status == ACQ_OK && s->n <= s->room)
        acq_links_sort(s->links, s->scratch, s->n, s->n_entities);
    if (status == ACQ_OK)
        status = check_range(s, error);
    if (status == ACQ_OK)
        status = put_range(s, before, error);
    acq_free(s->links);
    acq_free(s->scratch);
    return status;
}

/* Of the block as it lies in the file; what was not put, the filling at its end, is zero. */
static acq_status hash_block(const stream *s, uint64_t length, uint64_t *out, acq_error *error)
{
    enum { CHUNK = 1 << 20 };
    const acq_completion_output *output = &s->writer->output;
    char *bytes = acq_alloc(CHUNK, 1);
    if (bytes == NULL)
        return acq_fail_memory(error);
    uint64_t hash = acq_hash_start((uint64_t)s->relation + 1);
    acq_status status = ACQ_OK;
    for (uint64_t at = 0; at < length && status == ACQ_OK;) {
        size_t n = length - at < CHUNK ? (size_t)(length - at) : CHUNK;
        memset(bytes, 0, n);
        ssize_t got = pread(output->file.file, bytes, n, (off_t)(output->at + at));
        bool is_short = got >= 0 && (size_t)got < n && at + n < length;
        if (got < 0 || is_short)
            status = acq_fail(error, ACQ_ERR_IO, "cannot read the completion: %s", strerror(errno));
        hash = acq_hash_go_on(hash, bytes, n);
        at += n;
    }
    *out = acq_hash_end(hash, bytes, length); /* nothing is left: lengths are multiples of 8 */
    acq_free(bytes);
    return status;
}

static acq_status fill_end(stream *s, uint64_t length, acq_error *error)
{
    static const char zeros[8];
    uint64_t end = (2 * (uint64_t)s->n_heads + 1 + s->n_links) * sizeof(uint32_t) +
                   s->n_links * sizeof(uint16_t);
    return end == length ? ACQ_OK : put(s, zeros, (size_t)(length - end), end, error);
}

static acq_status put_direction(stream *s, acq_error *error)
{
    s->n_heads = 0;
    s->n_links = 0;
    s->first = 0;
    s->end = s->n_entities;
    memset(s->counts, 0, s->n_entities * sizeof *s->counts);
    acq_status status = visit_all(s, count_one, error);
    if (status == ACQ_OK && s->n_links >= UINT32_MAX)
        status = acq_fail(error, ACQ_ERR_LIMIT, "relation %u has too many links", s->relation);
    if (status == ACQ_OK)
        status = put_heads(s, error);
    uint64_t before = 0, checksum = 0;
    for (s->end = 0; status == ACQ_OK && choose_range(s); before += s->room)
        status = run_range(s, before, error);
    uint64_t length = acq_completion_block_length(s->n_heads, (uint32_t)s->n_links);
    if (status == ACQ_OK)
        status = fill_end(s, length, error);
    if (status == ACQ_OK)
        status = hash_block(s, length, &checksum, error);
    return status == ACQ_OK
               ? acq_completion_output_note(&s->writer->output, s->relation, s->n_heads,
                                            (uint32_t)s->n_links, checksum, error)
               : status;
}

acq_status acq_completion_writer_add_pieces(acq_completion_writer *writer, acq_rel relation,
                                            const acq_link_pieces *pieces, size_t most,
                                            acq_error *error)
{
    stream s = {.writer = writer,
                .pieces = pieces,
                .relation = relation & ~1U,
                .most = most,
                .n_entities = writer->output.header.n_entities};
    acq_status status = acq_completion_writer_check(writer, s.relation, error);
    if (status == ACQ_OK)
        status = acq_graph_open_links(writer->graph, s.relation, &s.observed, error);
    s.counts = acq_alloc(s.n_entities, sizeof *s.counts);
    if (status == ACQ_OK && s.counts == NULL)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        status = put_direction(&s, error);
    s.relation = acq_inverse(s.relation);
    if (status == ACQ_OK)
        status = put_direction(&s, error);
    acq_free(s.counts);
    return status;
}
