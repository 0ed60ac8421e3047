/* pieces.c - see parts.h. The links of a large graph, some thousand rows at a time.
 *
 *   rows of one relation ─▶ candidates ─▶ p ─▶ a piece at the end of FOLDER/whole.pieces
 *   all pieces of a relation, and its facts ─▶ a block of the completion, the reasons
 *
 * A piece is written at once and has a checksum: whoever resumes reads the file up to the first
 * piece that is not whole and goes on behind it. A piece names its rows, so that it is known which
 * of them are done. Relations with few rows come first: where the time does not suffice, the rest
 * of the largest ones is left out. Memory: a piece, then some million links, and what is kept of
 * all for reasons. */
#include "fit/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/budget.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/threads.h"
#include "calibrate/reasons.h"
#include "predict/completion.h"

enum { MOST_ROWS = 4096, LEAST_ROWS = 32, MOST_SORTED = 1 << 24 };

static const double PLANNED = .28;     /* of the time: what ComplEx may take */
static const double PIECE_SECONDS = 2; /* about; an interrupt loses no more than that */
static const double LAST = .88;        /* of the time: then what is there is put together */

typedef struct piece_head {
    uint64_t stamp; /* of the graph and the calibrator */
    uint32_t relation, first, n_rows, n_links, n_kept, unused;
    uint64_t checksum; /* of the bytes behind it, seeded with the numbers before */
} piece_head;

typedef struct piece {
    piece_head head;
    off_t at; /* of its bytes */
} piece;

/* How many rows a relation has, and how many of them are done. */
typedef struct rows_state {
    acq_rel relation; /* even */
    uint32_t n, done;
} rows_state;

typedef struct completing {
    const acq_pieces_job *job;
    acq_rel n_relations;
    acq_candidates_session *session;
    acq_ent *heads;
    rows_state *rows; /* one for each pair, by their number of rows */
    int file;
    uint64_t stamp;
    off_t end;
    piece *pieces;
    size_t n_pieces, capacity;
    double row_seconds; /* what a row takes */
    int64_t deadline_ns;
    uint64_t n_rows, n_done;
} completing;

static acq_status fail_io(const char *path, const char *what, acq_error *error)
{
    acq_fail(error, ACQ_ERR_IO, "cannot be %s: %s", what, strerror(errno));
    acq_error_set_file(error, path);
    return ACQ_ERR_IO;
}

/* ---- the plan ---- */

/* Both directions; 0: they cannot be read. */
static double count_rows(const acq_graph *graph)
{
    acq_status status = ACQ_OK;
    double n = 0;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph) && status == ACQ_OK; r++) {
        const acq_links *links;
        status = acq_graph_open_links(graph, r, &links, NULL);
        n += status == ACQ_OK ? links->n_heads : 0;
    }
    return status == ACQ_OK ? n : 0;
}

bool acq_fit_is_large(const acq_graph *graph)
{
    static const double MOST_CELLS = 2e10; /* of rows of all entities: NELL has half as many */
    return count_rows(graph) * acq_graph_get_n_entities(graph) > MOST_CELLS;
}

/* A fit that is gone on with has the models that it began with. */
static bool began_with_complex(const acq_fit_params *params, bool *is_known)
{
    char *path = params->folder == NULL ? NULL : acq_fit_make_path(params, "fit", "options");
    char *text = NULL;
    size_t length = 0;
    *is_known =
        params->resume && path != NULL && acq_file_read(path, &text, &length, NULL) == ACQ_OK;
    bool is_there = *is_known && strstr(text, "pieces of complex") != NULL;
    acq_free(text);
    acq_free(path);
    return is_there;
}

/* Is there time to see all facts twice, with two milliseconds for a batch? Vectors that are hardly
 * trained tell nothing. */
static bool has_time_for_complex(const acq_graph *graph, const acq_fit_params *params)
{
    static const double STEP = .002, EPOCHS = 2;
    bool is_known, is_there = began_with_complex(params, &is_known);
    double seconds = EPOCHS * STEP * count_rows(graph) / params->complex.batch;
    if (is_known)
        return is_there;
    return params->seconds <= 0 || PLANNED * params->seconds >= seconds;
}

void acq_fit_plan_pieces(const acq_graph *graph, acq_fit_params *params)
{
    enum { TOP = 20, RANK = 64, SMALL_RANK = 32, MANY_ENTITIES = 2000000 };
    uint32_t rank = acq_graph_get_n_entities(graph) > MANY_ENTITIES ? SMALL_RANK : RANK;
    char text[256], time[32] = "", model[48] = "";
    params->rows = ACQ_ROWS_LARGER;
    params->top = params->top < TOP ? params->top : TOP;
    params->complex.rank = params->complex.rank < rank ? params->complex.rank : rank;
    params->use_nbfnet = params->use_ultra = params->use_rulebook = false;
    if (params->ranks == NULL)
        params->complex.buckets =
            acq_train_complex_count_buckets(graph, params->complex.rank, acq_memory_get_most());
    if (params->chooses && params->use_neighbours && !has_time_for_complex(graph, params))
        params->use_complex = false;
    if (params->seconds > 0)
        acq_format(time, sizeof time, " in %.0f s", params->seconds);
    if (params->use_complex && params->complex.buckets > 1)
        acq_format(model, sizeof model, "ComplEx of rank %u in %u buckets, ", params->complex.rank,
                   params->complex.buckets);
    else if (params->use_complex)
        acq_format(model, sizeof model, "ComplEx of rank %u, ", params->complex.rank);
    acq_format(text, sizeof text, "fitted in pieces%s, by %srules and similar entities", time,
               model);
    if (params->note != NULL)
        params->note(params->note_context, text);
}

static uint64_t count_all_rows(const acq_candidates_maker *maker, acq_rel n_relations)
{
    uint64_t n = 0;
    for (acq_rel r = 0; r < n_relations; r += 2)
        n += acq_candidates_count_rows(maker, r);
    return n;
}

/* What some rows took. */
typedef struct rows_trial {
    uint64_t n_rows, n_candidates;
    double seconds;
} rows_trial;

/* Rows of the trial, relation by relation. */
static acq_status try_rows(const acq_candidates_maker *maker, acq_rel n_relations, acq_ent *heads,
                           rows_trial *trial, acq_error *error)
{
    acq_candidates_session *session = NULL;
    int64_t before = acq_clock_ns();
    acq_status status = acq_candidates_session_new(maker, &session, error);
    for (acq_rel r = 0; r < n_relations && status == ACQ_OK; r += 2) {
        acq_candidates found = {0};
        acq_rel side = acq_candidates_find_side(maker, r);
        acq_row_want want = {
            .relation = side, .heads = heads, .stop = acq_candidates_get_stop(maker)};
        want.n = acq_candidates_list_heads(maker, side, heads);
        status = acq_candidates_session_collect(session, &want, &found, error);
        trial->n_candidates += found.n;
        trial->n_rows += want.n;
        acq_candidates_deinit(&found);
    }
    acq_candidates_session_free(session);
    trial->seconds = 1e-9 * (double)(acq_clock_ns() - before);
    return status;
}

/* Of a row, in the sample: the likely candidates and some others. */
static double get_row_bytes(const acq_candidates_maker *maker, const rows_trial *trial)
{
    static const double LIKELY = 10;
    double found = (double)trial->n_candidates / fmax(1, (double)trial->n_rows);
    return fmin(found, LIKELY) * sizeof(float) * acq_candidates_get_n_features(maker);
}

/* As many as there is time and memory for: the more links were held out of them, the better trees
 * tell the likely ones apart. */
acq_status acq_fit_draw_rows(acq_candidates_maker *maker, acq_rel n_relations,
                             const acq_fit_params *params, double *row_seconds, acq_error *error)
{
    static const double TRIED = 2000, USUAL = 150000, MOST = 1e6, LEAST = 5000, SHARE = .12,
                        MEMORY = .2;
    double n_rows = (double)count_all_rows(maker, n_relations), n = USUAL;
    rows_trial trial = {0};
    acq_ent *heads = acq_alloc(acq_candidates_get_n_entities(maker), sizeof *heads);
    if (heads == NULL)
        return acq_fail_memory(error);
    acq_candidates_set_row_share(maker, fmin(1, TRIED / fmax(1, n_rows)));
    acq_status status = try_rows(maker, n_relations, heads, &trial, error);
    acq_free(heads);
    *row_seconds = trial.seconds / fmax(1, (double)trial.n_rows);
    if (params->seconds > 0)
        n = fmin(MOST, SHARE * params->seconds / *row_seconds);
    n = fmin(n, MEMORY * (double)acq_memory_get_most() / fmax(1, get_row_bytes(maker, &trial)));
    n = fmax(LEAST, n);
    acq_candidates_set_row_share(maker, n < n_rows ? n / n_rows : 0);
    return status;
}

/* ---- the file of pieces ---- */

static size_t get_length(const piece_head *head)
{
    return head->n_links * sizeof(acq_link) + head->n_kept * sizeof(acq_kept_link);
}

static uint64_t hash_piece(const piece_head *head, const void *bytes)
{
    uint64_t seed = acq_hash_bytes(head, offsetof(piece_head, checksum), 1);
    return acq_hash_bytes(bytes, get_length(head), seed);
}

static bool read_all(int file, void *out, size_t length, off_t at)
{
    for (char *to = out; length > 0;) {
        ssize_t n = pread(file, to, length, at);
        if (n <= 0)
            return false;
        to += n;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

static bool write_all(int file, const void *bytes, size_t length, off_t at)
{
    for (const char *from = bytes; length > 0;) {
        ssize_t n = pwrite(file, from, length, at);
        if (n <= 0)
            return false;
        from += n;
        at += n;
        length -= (size_t)n;
    }
    return true;
}

static acq_status note_piece(completing *c, const piece_head *head, acq_error *error)
{
    if (ACQ_RESERVE(c->pieces, c->capacity, c->n_pieces + 1) != ACQ_OK)
        return acq_fail_memory(error);
    off_t at = c->end + (off_t)sizeof *head;
    c->pieces[c->n_pieces++] = (piece){*head, at};
    c->end = at + (off_t)get_length(head);
    for (acq_rel i = 0; i < c->n_relations / 2; i++)
        if (c->rows[i].relation == head->relation)
            c->rows[i].done = head->first + head->n_rows;
    c->n_done += head->n_rows;
    return ACQ_OK;
}

/* Is the piece that begins at the end so far whole, and of this fit? */
static acq_status read_piece(completing *c, off_t length, bool *is_whole, acq_error *error)
{
    piece_head head;
    off_t at = c->end + (off_t)sizeof head;
    *is_whole = at <= length && read_all(c->file, &head, sizeof head, c->end) &&
                head.stamp == c->stamp && head.relation < c->n_relations &&
                (off_t)get_length(&head) <= length - at;
    if (!*is_whole)
        return ACQ_OK;
    char *bytes = acq_alloc(get_length(&head), 1);
    if (bytes == NULL)
        return acq_fail_memory(error);
    *is_whole = read_all(c->file, bytes, get_length(&head), at) &&
                hash_piece(&head, bytes) == head.checksum;
    acq_free(bytes);
    return *is_whole ? note_piece(c, &head, error) : ACQ_OK;
}

static acq_status open_pieces(completing *c, const char *path, acq_error *error)
{
    struct stat about;
    bool is_whole = true;
    c->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (c->file < 0 || fstat(c->file, &about) != 0)
        return fail_io(path, "opened", error);
    acq_status status = ACQ_OK;
    while (c->job->params->resume && is_whole && status == ACQ_OK)
        status = read_piece(c, about.st_size, &is_whole, error);
    return status == ACQ_OK && ftruncate(c->file, c->end) != 0 ? fail_io(path, "cut", error)
                                                               : status;
}

/* ---- rows ---- */

/* Those from the floor on, in the direction of the even relation. */
static size_t list_links(const acq_candidates *found, const float *odds, double floor,
                         acq_link *out)
{
    bool is_turned = found->relation % 2 == 1;
    size_t n = 0;
    for (size_t i = 0; i < found->n; i++) {
        float p = (float)acq_boost_to_probability((double)odds[i]);
        if ((double)p >= floor)
            out[n++] = (acq_link){is_turned ? found->tails[i] : found->heads[i],
                                  is_turned ? found->heads[i] : found->tails[i],
                                  fminf(p, ACQ_SCORE_UNOBSERVED_MOST)};
    }
    return n;
}

/* The piece after its head: links, then what is kept of them for reasons. */
static acq_status write_piece(completing *c, piece_head *head, const acq_link *links,
                              const acq_kept_link *kept, acq_error *error)
{
    size_t n_links = head->n_links * sizeof *links, n_kept = head->n_kept * sizeof *kept;
    char *bytes = acq_alloc(sizeof *head + n_links + n_kept, 1), *body = bytes + sizeof *head;
    if (bytes == NULL)
        return acq_fail_memory(error);
    if (n_links > 0)
        memcpy(body, links, n_links);
    if (n_kept > 0)
        memcpy(body + n_links, kept, n_kept);
    head->checksum = hash_piece(head, body);
    memcpy(bytes, head, sizeof *head);
    acq_status status = write_all(c->file, bytes, sizeof *head + n_links + n_kept, c->end)
                            ? note_piece(c, head, error)
                            : fail_io(c->job->params->folder, "written to", error);
    acq_free(bytes);
    return status;
}

static acq_status keep_piece(completing *c, const acq_candidates *found, piece_head *head,
                             acq_error *error)
{
    acq_kept_link *kept = NULL;
    size_t n_kept = 0;
    float *odds = acq_alloc(found->n, sizeof *odds);
    acq_link *links = acq_alloc(found->n, sizeof *links);
    acq_status status = odds == NULL || links == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK)
        status = acq_fit_score_links(found, c->job->rule, c->job->params->n_threads, odds);
    if (status == ACQ_OK)
        status = acq_kept_measure(c->job->maker, found,
                                  acq_link_rule_get_judge(c->job->rule, found->relation), odds,
                                  &kept, &n_kept, error);
    if (status == ACQ_OK) {
        head->n_links = (uint32_t)list_links(found, odds, c->job->params->floor, links);
        head->n_kept = (uint32_t)n_kept;
        status = write_piece(c, head, links, kept, error);
    }
    acq_free(kept);
    acq_free(links);
    acq_free(odds);
    return status;
}

static size_t choose_rows(const completing *c)
{
    double n = c->row_seconds > 0 ? PIECE_SECONDS / c->row_seconds : LEAST_ROWS;
    return (size_t)fmax(LEAST_ROWS, fmin(MOST_ROWS, n));
}

static acq_status run_piece(completing *c, acq_rel side, uint32_t first, size_t n, acq_error *error)
{
    int64_t before = acq_clock_ns();
    acq_candidates found = {0};
    acq_row_want want = {
        .relation = side, .heads = c->heads + first, .n = n, .stop = c->job->params->stop};
    piece_head head = {
        .stamp = c->stamp, .relation = side & ~1U, .first = first, .n_rows = (uint32_t)n};
    acq_status status = acq_candidates_session_collect(c->session, &want, &found, error);
    if (status == ACQ_OK)
        status = keep_piece(c, &found, &head, error);
    acq_candidates_deinit(&found);
    double seconds = 1e-9 * (double)(acq_clock_ns() - before) / (double)n;
    c->row_seconds = c->row_seconds > 0 ? .7 * c->row_seconds + .3 * seconds : seconds;
    return status;
}

static bool is_late(const completing *c)
{
    return acq_clock_ns() > c->deadline_ns;
}

static acq_status run_relation(completing *c, const rows_state *rows, acq_error *error)
{
    acq_rel side = acq_candidates_find_side(c->job->maker, rows->relation);
    size_t n = acq_candidates_list_heads(c->job->maker, side, c->heads);
    acq_status status = ACQ_OK;
    while (rows->done < n && status == ACQ_OK && !is_late(c)) {
        size_t left = n - rows->done, some = choose_rows(c);
        status = acq_link_progress_tell(c->job->progress, "scoring links", (double)c->n_done,
                                        (double)c->n_rows, error);
        if (status == ACQ_OK)
            status = run_piece(c, side, rows->done, left < some ? left : some, error);
    }
    return status;
}

static int compare_rows(const void *a, const void *b)
{
    const rows_state *x = a, *y = b;
    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return (x->relation > y->relation) - (x->relation < y->relation);
}

static void list_rows(completing *c)
{
    for (acq_rel r = 0; r < c->n_relations; r += 2) {
        acq_rel side = acq_candidates_find_side(c->job->maker, r);
        uint32_t n = (uint32_t)acq_candidates_list_heads(c->job->maker, side, c->heads);
        c->rows[r / 2] = (rows_state){.relation = r, .n = n};
        c->n_rows += n;
    }
    qsort(c->rows, c->n_relations / 2, sizeof *c->rows, compare_rows);
}

/* ---- putting together ---- */

/* The pieces of one relation, read one at a time. */
typedef struct gathered {
    const completing *c;
    size_t *places; /* in c->pieces */
    size_t n;
    acq_link *links; /* of the last one read */
    size_t capacity;
} gathered;

static acq_status read_links(void *context, size_t i, const acq_link **links, size_t *n,
                             acq_error *error)
{
    gathered *all = context;
    const piece *one = &all->c->pieces[all->places[i]];
    if (ACQ_RESERVE(all->links, all->capacity, one->head.n_links) != ACQ_OK)
        return acq_fail_memory(error);
    *links = all->links;
    *n = one->head.n_links;
    return read_all(all->c->file, all->links, *n * sizeof **links, one->at)
               ? ACQ_OK
               : fail_io(all->c->job->params->folder, "read", error);
}

/* What is kept of them for reasons. */
static acq_status put_kept(const gathered *all, acq_rel relation, acq_kept_writer *writer,
                           acq_error *error)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n; i++)
        n += all->c->pieces[all->places[i]].head.n_kept;
    acq_kept_link *kept = acq_alloc(n, sizeof *kept);
    acq_status status = kept == NULL ? acq_fail_memory(error) : ACQ_OK;
    n = 0;
    for (size_t i = 0; i < all->n && status == ACQ_OK; i++) {
        const piece *one = &all->c->pieces[all->places[i]];
        off_t at = one->at + (off_t)(one->head.n_links * sizeof(acq_link));
        if (!read_all(all->c->file, kept + n, one->head.n_kept * sizeof *kept, at))
            status = fail_io(all->c->job->params->folder, "read", error);
        n += one->head.n_kept;
    }
    if (status == ACQ_OK)
        status = acq_kept_writer_put(writer, relation, kept, n, error);
    acq_free(kept);
    return status;
}

static acq_status put_relation(const completing *c, acq_completion_writer *writer,
                               acq_kept_writer *kept, acq_rel relation, acq_error *error)
{
    gathered all = {.c = c, .places = acq_alloc(c->n_pieces, sizeof *all.places)};
    if (all.places == NULL)
        return acq_fail_memory(error);
    for (size_t i = 0; i < c->n_pieces; i++)
        if (c->pieces[i].head.relation == relation) {
            all.places[all.n++] = i;
            c->job->report->links += c->pieces[i].head.n_links;
        }
    acq_link_pieces pieces = {all.n, read_links, &all};
    acq_status status =
        acq_completion_writer_add_pieces(writer, relation, &pieces, MOST_SORTED, error);
    if (status == ACQ_OK)
        status = put_kept(&all, relation, kept, error);
    acq_free(all.links);
    acq_free(all.places);
    return status;
}

static acq_status attach(acq_completion_writer *writer, acq_kept_writer *kept,
                         const acq_cover *cover, acq_error *error)
{
    void *bytes = NULL;
    size_t length = 0;
    acq_status status = acq_kept_writer_finish(kept, cover, &bytes, &length, error);
    if (status == ACQ_OK)
        status = acq_completion_writer_attach_reasons(writer, bytes, length, error);
    acq_free(bytes);
    return status;
}

static acq_status put_together(const completing *c, const char *path, acq_error *error)
{
    acq_completion_params params = {
        .predictor = "fit", .floor = c->job->params->floor, .has_reasons = true};
    acq_completion_writer *writer = NULL;
    acq_kept_writer *kept = NULL;
    void *packed = NULL;
    acq_status status =
        acq_calibrator_write_memory(c->job->calibrator, &packed, &params.calibrator_length, error);
    params.calibrator = packed;
    c->job->report->links = 0;
    if (status == ACQ_OK)
        status = acq_completion_writer_open(path, c->job->graph, &params, &writer, error);
    if (status == ACQ_OK)
        status = acq_kept_writer_new(c->job->maker, &kept, error);
    for (acq_rel r = 0; r < c->n_relations && status == ACQ_OK; r += 2)
        status = put_relation(c, writer, kept, r, error);
    if (status == ACQ_OK)
        status = attach(writer, kept, c->job->calibrator->cover, error);
    if (status == ACQ_OK)
        status = acq_completion_writer_finish(writer, error);
    acq_completion_writer_close(writer);
    acq_kept_writer_free(kept);
    acq_free(packed);
    return status;
}

/* ---- the whole ---- */

static acq_status start(completing *c, acq_error *error)
{
    const acq_pieces_job *job = c->job;
    void *packed = NULL;
    size_t length = 0;
    acq_status status = acq_calibrator_write_memory(job->calibrator, &packed, &length, error);
    if (status == ACQ_OK)
        c->stamp = acq_hash_bytes(packed, length, acq_graph_get_fingerprint(job->graph));
    acq_free(packed);
    c->heads = acq_alloc(acq_graph_get_n_entities(job->graph), sizeof *c->heads);
    c->rows = acq_zalloc(c->n_relations / 2 + 1, sizeof *c->rows);
    if (status == ACQ_OK && (c->heads == NULL || c->rows == NULL))
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        status = acq_candidates_session_new(job->maker, &c->session, error);
    if (status != ACQ_OK)
        return status;
    list_rows(c);
    char *path = acq_fit_make_path(job->params, "whole", "pieces");
    status = path == NULL ? acq_fail_memory(error) : open_pieces(c, path, error);
    acq_free(path);
    return status;
}

acq_status acq_fit_write_pieces(const acq_pieces_job *job, const char *path, acq_error *error)
{
    const acq_fit_params *params = job->params;
    completing c = {.job = job,
                    .n_relations = acq_graph_get_n_relations(job->graph),
                    .file = -1,
                    .deadline_ns = INT64_MAX,
                    .row_seconds = job->row_seconds};
    if (params->seconds > 0)
        c.deadline_ns = params->begin_ns + (int64_t)(1e9 * LAST * params->seconds);
    acq_status status = start(&c, error);
    for (acq_rel i = 0; i < c.n_relations / 2 && status == ACQ_OK; i++)
        status = run_relation(&c, &c.rows[i], error);
    if (status == ACQ_OK)
        status = put_together(&c, path, error);
    job->report->n_rows = c.n_done;
    job->report->all_rows = c.n_rows;
    acq_candidates_session_free(c.session);
    if (c.file >= 0)
        close(c.file);
    acq_free(c.pieces);
    acq_free(c.rows);
    acq_free(c.heads);
    return status;
}
