/* sort_runs.c - writing runs through one buffer, merging them through a heap of cursors.
 *
 * The heap holds each run's next link; taking the least and putting the same run's next one in
 * its place costs O(log runs). The bytes are in the machine's own order: nobody else reads them. */
#include "store/import/sort.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#define ACQ_RADIX_ITEM      acq_fact_key
#define ACQ_RADIX_KEY(link) (link)
#include "base/radix.h"

void acq_fact_key_sort(acq_fact_key *links, acq_fact_key *scratch, size_t n, unsigned id_bits)
{
    radix_sort(links, scratch, n, id_bits);
}

size_t acq_fact_key_unique(acq_fact_key *links, size_t n)
{
    size_t kept = n > 0;
    for (size_t i = 1; i < n; i++) {
        if (links[i] != links[kept - 1])
            links[kept++] = links[i];
    }
    return kept;
}

size_t acq_fact_key_unite(const acq_fact_key *a, size_t n_a, const acq_fact_key *b, size_t n_b,
                          acq_fact_key *out)
{
    size_t n = 0, i = 0, j = 0;
    while (i < n_a && j < n_b) {
        acq_fact_key least = a[i] < b[j] ? a[i] : b[j];
        i += a[i] == least;
        j += b[j] == least;
        out[n++] = least;
    }
    if (i < n_a)
        memcpy(out + n, a + i, (n_a - i) * sizeof *out);
    n += n_a - i;
    if (j < n_b)
        memcpy(out + n, b + j, (n_b - j) * sizeof *out);
    return n + n_b - j;
}

enum {
    WRITE_WORDS = 1 << 15, /* 256 KB */
    LEAST_WORDS = 1 << 9,  /* 4 KB: a page */
    MOST_WORDS = 1 << 16,  /* 512 KB: longer reads are no faster */
};

typedef struct run {
    uint64_t start, end; /* words of the file */
    unsigned direction;
} run;

/* Reads one run during the merge. */
typedef struct cursor {
    uint64_t *words; /* its share of the buffers */
    size_t at, n;    /* in words */
    uint64_t next, end;
    uint64_t left; /* links of the current pair */
    uint32_t pair;
} cursor;

typedef struct node {
    acq_fact_key link;
    uint32_t pair;
    uint32_t i_run;
} node;

struct acq_runs {
    const char *folder;
    int file;
    uint64_t end; /* words written */
    run *runs;
    size_t n_runs, runs_capacity;
    uint64_t *pending; /* WRITE_WORDS */
    size_t n_pending;

    uint64_t *buffers; /* while merging, like the rest */
    size_t buffer_words;
    cursor *cursors;
    node *heap;
    size_t n_heap;
};

acq_runs *acq_runs_new(const char *folder)
{
    acq_runs *runs = acq_zalloc(1, sizeof *runs);
    if (runs == NULL)
        return NULL;
    runs->folder = folder;
    runs->file = -1;
    return runs;
}

static void free_merge(acq_runs *runs)
{
    acq_free(runs->buffers);
    acq_free(runs->cursors);
    acq_free(runs->heap);
    runs->buffers = NULL;
    runs->cursors = NULL;
    runs->heap = NULL;
    runs->n_heap = 0;
}

void acq_runs_free(acq_runs *runs)
{
    if (runs == NULL)
        return;
    free_merge(runs);
    acq_free(runs->pending);
    acq_free(runs->runs);
    if (runs->file >= 0)
        close(runs->file);
    acq_free(runs);
}

void acq_runs_clear(acq_runs *runs)
{
    free_merge(runs);
    runs->n_runs = 0;
    runs->end = 0;
}

size_t acq_runs_get_n(const acq_runs *runs)
{
    return runs->n_runs;
}

/* Where the file system has no nameless files: a name that is taken away at once. */
static int open_named(const char *folder)
{
    size_t room = strlen(folder) + 32;
    char *name = acq_alloc(room, 1);
    if (name == NULL) {
        errno = ENOMEM;
        return -1;
    }
    snprintf(name, room, "%s/.anycq-sort-XXXXXX", folder);
    int file = mkostemp(name, O_CLOEXEC);
    if (file >= 0)
        (void)unlink(name);
    acq_free(name);
    return file;
}

static acq_status open_file(acq_runs *runs, acq_error *error)
{
    runs->file = open(runs->folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (runs->file < 0)
        runs->file = open_named(runs->folder);
    if (runs->file >= 0)
        return ACQ_OK;
    if (errno == ENOMEM)
        return acq_fail_memory(error);
    acq_status status =
        acq_fail(error, ACQ_ERR_IO,
                 "cannot make a temporary file for sorting: %s; the folder must be writable",
                 strerror(errno));
    acq_error_set_file(error, runs->folder);
    return status;
}

static acq_status flush(acq_runs *runs, acq_error *error)
{
    const char *bytes = (const char *)runs->pending;
    size_t left = runs->n_pending * sizeof *runs->pending;
    off_t at = (off_t)((runs->end - runs->n_pending) * sizeof *runs->pending);
    while (left > 0) {
        ssize_t done = pwrite(runs->file, bytes, left, at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            acq_status status = acq_fail(
                error, ACQ_ERR_IO,
                "cannot write sorted facts to a temporary file: %s; free some space or allow more "
                "memory",
                done < 0 ? strerror(errno) : "nothing was written");
            acq_error_set_file(error, runs->folder);
            return status;
        }
        bytes += done;
        at += done;
        left -= (size_t)done;
    }
    runs->n_pending = 0;
    return ACQ_OK;
}

static acq_status put_words(acq_runs *runs, const uint64_t *words, size_t n, acq_error *error)
{
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && n > 0) {
        size_t room = WRITE_WORDS - runs->n_pending;
        size_t piece = n < room ? n : room;
        memcpy(runs->pending + runs->n_pending, words, piece * sizeof *words);
        runs->n_pending += piece;
        runs->end += piece;
        words += piece;
        n -= piece;
        if (runs->n_pending == WRITE_WORDS)
            status = flush(runs, error);
    }
    return status;
}

acq_status acq_runs_start(acq_runs *runs, unsigned direction, acq_error *error)
{
    if (runs->pending == NULL)
        runs->pending = acq_alloc(WRITE_WORDS, sizeof *runs->pending);
    if (runs->pending == NULL ||
        ACQ_RESERVE(runs->runs, runs->runs_capacity, runs->n_runs + 1) != ACQ_OK)
        return acq_fail_memory(error);
    runs->n_pending = 0;
    runs->runs[runs->n_runs++] =
        (run){.start = runs->end, .end = runs->end, .direction = direction};
    return runs->file >= 0 ? ACQ_OK : open_file(runs, error);
}

acq_status acq_runs_put(acq_runs *runs, uint32_t pair, const acq_fact_key *links, size_t n,
                        acq_error *error)
{
    uint64_t head[2] = {pair, n};
    if (n == 0)
        return ACQ_OK;
    acq_status status = put_words(runs, head, 2, error);
    return status == ACQ_OK ? put_words(runs, links, n, error) : status;
}

acq_status acq_runs_end(acq_runs *runs, acq_error *error)
{
    acq_status status = flush(runs, error);
    runs->runs[runs->n_runs - 1].end = runs->end;
    return status;
}

/* Fills the cursor's buffer with what follows in its run. */
static acq_status refill(const acq_runs *runs, cursor *c, acq_error *error)
{
    uint64_t left = c->end - c->next;
    size_t want = left < runs->buffer_words ? (size_t)left : runs->buffer_words;
    size_t bytes = want * sizeof *c->words, got = 0;
    while (got < bytes) {
        ssize_t done = pread(runs->file, (char *)c->words + got, bytes - got,
                             (off_t)(c->next * sizeof *c->words + got));
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return acq_fail(error, ACQ_ERR_IO, "cannot read sorted facts back: %s",
                            done < 0 ? strerror(errno) : "the temporary file was cut");
        got += (size_t)done;
    }
    c->at = 0;
    c->n = want;
    c->next += want;
    return ACQ_OK;
}

static acq_status next_word(const acq_runs *runs, cursor *c, uint64_t *out, acq_error *error)
{
    acq_status status = c->at < c->n ? ACQ_OK : refill(runs, c, error);
    if (status == ACQ_OK)
        *out = c->words[c->at++];
    return status;
}

static bool is_at_end(const cursor *c)
{
    return c->left == 0 && c->at == c->n && c->next == c->end;
}

/* The cursor's next link and its pair; the caller knows that there is one. */
static acq_status advance(const acq_runs *runs, cursor *c, node *out, acq_error *error)
{
    uint64_t pair = c->pair;
    acq_status status = ACQ_OK;
    if (c->left == 0) {
        status = next_word(runs, c, &pair, error);
        if (status == ACQ_OK)
            status = next_word(runs, c, &c->left, error);
        c->pair = (uint32_t)pair;
    }
    if (status == ACQ_OK)
        status = next_word(runs, c, &out->link, error);
    c->left--;
    out->pair = c->pair;
    return status;
}

static bool is_before(const node *a, const node *b)
{
    return a->pair != b->pair ? a->pair < b->pair : a->link < b->link;
}

/* Puts `moved` where it belongs at or below place i, which is free. */
static void sift_down(acq_runs *runs, size_t i, node moved)
{
    node *heap = runs->heap;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= runs->n_heap)
            break;
        if (child + 1 < runs->n_heap && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &moved))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = moved;
}

static acq_status fill_heap(acq_runs *runs, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; status == ACQ_OK && i < runs->n_runs; i++) {
        cursor *c = &runs->cursors[i];
        *c = (cursor){.words = runs->buffers + i * runs->buffer_words,
                      .next = runs->runs[i].start,
                      .end = runs->runs[i].end};
        if (is_at_end(c))
            continue;
        node *last = &runs->heap[runs->n_heap++];
        last->i_run = (uint32_t)i;
        status = advance(runs, c, last, error);
    }
    for (size_t i = runs->n_heap / 2; status == ACQ_OK && i-- > 0;)
        sift_down(runs, i, runs->heap[i]);
    return status;
}

acq_status acq_runs_merge(acq_runs *runs, size_t memory_bytes, acq_error *error)
{
    size_t words = memory_bytes / sizeof *runs->buffers / (runs->n_runs + 1);
    runs->buffer_words =
        words < LEAST_WORDS ? LEAST_WORDS : (words > MOST_WORDS ? MOST_WORDS : words);
    acq_free(runs->pending);
    runs->pending = NULL;
    free_merge(runs);
    runs->buffers = acq_alloc(runs->n_runs, runs->buffer_words * sizeof *runs->buffers);
    runs->cursors = acq_alloc(runs->n_runs, sizeof *runs->cursors);
    runs->heap = acq_alloc(runs->n_runs, sizeof *runs->heap);
    if (runs->buffers == NULL || runs->cursors == NULL || runs->heap == NULL)
        return acq_fail_memory(error);
    return fill_heap(runs, error);
}

/* Takes the least link off the heap and lets its run's next one take part. */
static acq_status pop(acq_runs *runs, acq_error *error)
{
    node moved = runs->heap[0];
    cursor *c = &runs->cursors[moved.i_run];
    acq_status status = ACQ_OK;
    if (is_at_end(c))
        moved = runs->heap[--runs->n_heap];
    else
        status = advance(runs, c, &moved, error);
    if (status == ACQ_OK && runs->n_heap > 0)
        sift_down(runs, 0, moved);
    return status;
}

acq_status acq_runs_next(acq_runs *runs, acq_run_item *out, bool *found, acq_error *error)
{
    acq_status status = ACQ_OK;
    *found = runs->n_heap > 0;
    if (!*found)
        return ACQ_OK;
    *out = (acq_run_item){.link = runs->heap[0].link, .pair = runs->heap[0].pair};
    while (status == ACQ_OK && runs->n_heap > 0 && runs->heap[0].link == out->link &&
           runs->heap[0].pair == out->pair) {
        out->given[runs->runs[runs->heap[0].i_run].direction]++;
        status = pop(runs, error);
    }
    return status;
}
