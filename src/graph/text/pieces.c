/* pieces.c - one file of lines, parsed on several threads.
 *
 *   cutter ─▶ slot 0 [ piece | batch ] ─▶ merger          reading: one thread at a time, in order
 *             slot 1 [ piece | batch ]                    parsing: all threads
 *             ...                                         merging: one thread at a time, in order
 *
 * No thread has a fixed task. Each merges if the next batch in order is ready, else reads and
 * parses the next piece if a slot is free, else waits; so a slow sink or a slow disk leaves the
 * other work to all threads. Memory is bounded by the number of slots.
 *
 * Piece number k uses slot k % n_slots, from the moment its reading starts until it is merged.
 * All counters and flags are guarded by one lock, which is not held during any of the work. */
#include "graph/text/reader.h"

#include <pthread.h>
#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "graph/text/pieces.h"

/* ---- pieces ----
 *
 * A line that is too long is read to its end in the memory that it has
 * already filled, so that the lines behind it can be read. */

enum { KEPT_BYTES = 4 * ACQ_PIECE_BYTES };

void acq_cutter_init(acq_cutter *cutter, acq_stream *stream, size_t piece_bytes)
{
    *cutter = (acq_cutter){.stream = stream,
                           .piece_bytes = piece_bytes == 0 ? ACQ_PIECE_BYTES : piece_bytes};
}

void acq_cutter_deinit(acq_cutter *cutter)
{
    acq_free(cutter->rest);
}

/* Appends up to `target` bytes in all, fewer only at the end of the stream. */
static acq_status fill(acq_cutter *cutter, acq_piece *piece, size_t target, acq_error *error)
{
    if (ACQ_RESERVE(piece->bytes, piece->capacity, target) != ACQ_OK)
        return acq_fail_memory(error);
    while (piece->length < target && !cutter->has_ended) {
        size_t got;
        acq_status status = acq_stream_read(cutter->stream, piece->bytes + piece->length,
                                            target - piece->length, &got, error);
        if (status != ACQ_OK)
            return status;
        piece->length += got;
        cutter->has_ended = got == 0;
    }
    return ACQ_OK;
}

static acq_status start_piece(acq_cutter *cutter, acq_piece *piece, acq_error *error)
{
    if (ACQ_RESERVE(piece->bytes, piece->capacity, cutter->rest_length) != ACQ_OK)
        return acq_fail_memory(error);
    if (cutter->rest_length > 0)
        memcpy(piece->bytes, cutter->rest, cutter->rest_length);
    piece->length = cutter->rest_length;
    piece->is_first = !cutter->has_started;
    piece->is_long = false;
    cutter->rest_length = 0;
    cutter->has_started = true;
    return ACQ_OK;
}

/* Keeps what follows the last line end for the next piece; false: there is no line end. */
static bool cut(acq_cutter *cutter, acq_piece *piece, acq_status *status)
{
    const char *stop = memrchr(piece->bytes, '\n', piece->length);
    if (stop == NULL)
        return false;
    size_t kept = (size_t)(stop - piece->bytes) + 1, rest = piece->length - kept;
    *status = ACQ_RESERVE(cutter->rest, cutter->rest_capacity, rest);
    if (*status == ACQ_OK && rest > 0)
        memcpy(cutter->rest, stop + 1, rest);
    cutter->rest_length = rest;
    piece->length = kept;
    return true;
}

/* Reads over the rest of a line; what follows its end is kept for the next piece. */
static acq_status skip_line(acq_cutter *cutter, acq_piece *piece, acq_error *error)
{
    acq_status status = ACQ_OK;
    const char *stop = NULL;
    while (status == ACQ_OK && stop == NULL && !cutter->has_ended) {
        piece->length = 0;
        status = fill(cutter, piece, cutter->piece_bytes, error);
        if (status == ACQ_OK)
            stop = memchr(piece->bytes, '\n', piece->length);
    }
    size_t rest = stop == NULL ? 0 : piece->length - (size_t)(stop + 1 - piece->bytes);
    if (status == ACQ_OK && ACQ_RESERVE(cutter->rest, cutter->rest_capacity, rest) != ACQ_OK)
        status = acq_fail_memory(error);
    if (status == ACQ_OK && rest > 0)
        memcpy(cutter->rest, stop + 1, rest);
    cutter->rest_length = rest;
    piece->length = 0;
    piece->is_long = true;
    return status;
}

/* Reads on until there is a line end to cut at. */
static acq_status take_lines(acq_cutter *cutter, acq_piece *piece, acq_error *error)
{
    size_t target = cutter->piece_bytes;
    for (;;) {
        acq_status status = fill(cutter, piece, target, error);
        if (status != ACQ_OK || cutter->has_ended)
            return status;
        if (cut(cutter, piece, &status))
            return status == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
        if (piece->length >= ACQ_LINE_MOST)
            return skip_line(cutter, piece, error);
        target = 2 * piece->length < ACQ_LINE_MOST ? 2 * piece->length : ACQ_LINE_MOST;
    }
}

static acq_status end_piece(acq_cutter *cutter, acq_piece *piece, acq_status status)
{
    piece->done = cutter->stream->done;
    cutter->has_ended = cutter->has_ended || status != ACQ_OK;
    return status;
}

/* The next piece; the last one may be empty and may lack its line end. After a failure nothing
 * more comes. */
static acq_status cutter_next(acq_cutter *cutter, acq_piece *piece, acq_error *error)
{
    acq_status status = start_piece(cutter, piece, error);
    if (status == ACQ_OK)
        status = take_lines(cutter, piece, error);
    return end_piece(cutter, piece, status);
}

/* Gives back the memory of a piece that was parsed, if a long line has made it large. */
static void piece_trim(acq_piece *piece)
{
    if (piece->capacity <= KEPT_BYTES)
        return;
    acq_free(piece->bytes);
    piece->bytes = NULL;
    piece->length = piece->capacity = 0;
}

acq_status acq_cutter_extend(acq_cutter *cutter, acq_piece *piece, acq_error *error)
{
    piece->is_first = piece->is_first || !cutter->has_started;
    cutter->has_started = true;
    return end_piece(cutter, piece,
                     fill(cutter, piece, piece->length + cutter->piece_bytes, error));
}

acq_status acq_skip_mark(const char **bytes, size_t *length, acq_error *error)
{
    if (*length >= 3 && memcmp(*bytes, "\xEF\xBB\xBF", 3) == 0) {
        *bytes += 3;
        *length -= 3;
    } else if (*length >= 2 &&
               (memcmp(*bytes, "\xFF\xFE", 2) == 0 || memcmp(*bytes, "\xFE\xFF", 2) == 0)) {
        return acq_fail_at(error, ACQ_ERR_INPUT, 1, 1,
                           "the text is UTF-16; convert the file to UTF-8");
    }
    return ACQ_OK;
}

/* ---- pipeline ---- */

enum { MOST_THREADS = 64, SLOTS_PER_THREAD = 2 };

typedef struct slot {
    acq_piece piece;
    acq_batch batch;
    bool is_parsed;
} slot;

typedef struct pipeline {
    acq_cutter *cutter;
    acq_merger *merger;
    acq_syntax_rules *rules;
    acq_parse_fn parse;
    slot *slots;
    size_t n_slots;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t changed;
    size_t n_read, n_merged; /* pieces whose reading has begun, or whose merging has ended */
    bool is_reading, is_merging, has_ended;
    acq_status status; /* the first failure of the merger ends everything */
} pipeline;

static slot *slot_of(pipeline *p, size_t piece)
{
    return &p->slots[piece % p->n_slots];
}

static bool is_done(const pipeline *p)
{
    return p->status != ACQ_OK || (p->has_ended && p->n_merged == p->n_read);
}

static bool can_merge(pipeline *p)
{
    return !p->is_merging && p->n_merged < p->n_read && slot_of(p, p->n_merged)->is_parsed;
}

static bool can_read(const pipeline *p)
{
    return !p->is_reading && !p->has_ended && p->n_read - p->n_merged < p->n_slots;
}

/* Called with the lock held, like the next; both give it up while they work. */
static void merge_next(pipeline *p)
{
    slot *s = slot_of(p, p->n_merged);
    p->is_merging = true;
    pthread_mutex_unlock(&p->lock);
    acq_status status = acq_merger_take(p->merger, &s->batch);
    if (status == ACQ_OK)
        status = acq_merger_progress(p->merger, s->piece.done);
    pthread_mutex_lock(&p->lock);
    s->is_parsed = false;
    p->n_merged++;
    p->is_merging = false;
    p->status = status;
    pthread_cond_broadcast(&p->changed);
}

static void read_next(pipeline *p)
{
    slot *s = slot_of(p, p->n_read++);
    p->is_reading = true;
    pthread_mutex_unlock(&p->lock);
    acq_batch_clear(&s->batch);
    acq_status status = cutter_next(p->cutter, &s->piece, &s->batch.error);
    pthread_mutex_lock(&p->lock);
    p->is_reading = false;
    p->has_ended = p->cutter->has_ended;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    if (status == ACQ_OK && s->piece.is_first) /* nobody else works yet */
        acq_table_look(p->rules, p->merger, s->piece.bytes, s->piece.length);
    if (status == ACQ_OK)
        p->parse(&s->batch, &s->piece);
    piece_trim(&s->piece);
    acq_batch_trim(&s->batch);
    pthread_mutex_lock(&p->lock);
    s->is_parsed = true;
    pthread_cond_broadcast(&p->changed);
}

static void *work(void *argument)
{
    pipeline *p = argument;
    pthread_mutex_lock(&p->lock);
    while (!is_done(p)) {
        if (can_merge(p))
            merge_next(p);
        else if (can_read(p))
            read_next(p);
        else
            pthread_cond_wait(&p->changed, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* Helpers come only after the first piece, and only if there is a second. */
static void work_together(pipeline *p, unsigned n_threads)
{
    pthread_t helpers[MOST_THREADS];
    unsigned n = 0;
    pthread_mutex_lock(&p->lock);
    read_next(p);
    bool is_small = p->has_ended;
    pthread_mutex_unlock(&p->lock);
    while (!is_small && n + 1 < n_threads && pthread_create(&helpers[n], NULL, work, p) == 0)
        n++;
    work(p);
    while (n > 0)
        pthread_join(helpers[--n], NULL);
}

static void free_slots(pipeline *p)
{
    for (size_t i = 0; i < p->n_slots; i++) {
        acq_free(p->slots[i].piece.bytes);
        acq_batch_deinit(&p->slots[i].batch);
    }
    acq_free(p->slots);
}

acq_status acq_pipeline_run(acq_cutter *cutter, acq_merger *merger, acq_syntax_rules *rules,
                            acq_parse_fn parse, unsigned n_threads)
{
    pipeline p = {.cutter = cutter, .merger = merger, .rules = rules, .parse = parse};
    if (n_threads == 0)
        n_threads = acq_threads_available();
    if (n_threads > MOST_THREADS)
        n_threads = MOST_THREADS;
    p.n_slots = n_threads == 1 ? 1 : (size_t)n_threads * SLOTS_PER_THREAD;
    p.slots = acq_zalloc(p.n_slots, sizeof *p.slots);
    if (p.slots == NULL)
        return acq_fail_memory(merger->error);
    for (size_t i = 0; i < p.n_slots; i++)
        acq_batch_init(&p.slots[i].batch, rules);
    pthread_mutex_init(&p.lock, NULL);
    pthread_cond_init(&p.changed, NULL);
    work_together(&p, n_threads);
    pthread_cond_destroy(&p.changed);
    pthread_mutex_destroy(&p.lock);
    free_slots(&p);
    return p.status;
}
