/* export.c - `anycq export`: the facts of any graph as text, to standard output or to a file that
 * appears when it is whole. */
#include "cli/setup.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

/* A sink of text that compresses on the way to another. The same text gives the same bytes: no name
 * and no time goes into the header. */
typedef struct gzip_sink {
    z_stream stream;
    acq_put_fn next;
    void *context; /* for next */
    bool is_open;
} gzip_sink;

enum { ROOM = 1 << 14, LARGEST_PIECE = 1 << 30, GZIP_WINDOW = 15 + 16, MEMORY_LEVEL = 8 };

static voidpf allocate(voidpf context, uInt n, uInt size)
{
    (void)context;
    return acq_alloc(n, size);
}

static void release(voidpf context, voidpf block)
{
    (void)context;
    acq_free(block);
}

static acq_status gzip_init(gzip_sink *gzip, acq_put_fn next, void *context, acq_error *error)
{
    *gzip = (gzip_sink){
        .next = next, .context = context, .stream = {.zalloc = allocate, .zfree = release}};
    int code = deflateInit2(&gzip->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW,
                            MEMORY_LEVEL, Z_DEFAULT_STRATEGY);
    gzip->is_open = code == Z_OK;
    return gzip->is_open ? ACQ_OK : acq_fail_memory(error);
}

/* Compresses what the stream was given and passes on what comes out. */
static acq_status run(gzip_sink *gzip, int flush, acq_error *error)
{
    unsigned char room[ROOM];
    acq_status status = ACQ_OK;
    do {
        gzip->stream.next_out = room;
        gzip->stream.avail_out = ROOM;
        (void)deflate(&gzip->stream, flush); /* with input or room it cannot fail */
        size_t n = ROOM - gzip->stream.avail_out;
        if (n > 0)
            status = gzip->next(gzip->context, (const char *)room, n, error);
    } while (status == ACQ_OK && gzip->stream.avail_out == 0);
    return status;
}

static acq_status put_gzip(void *self, const char *bytes, size_t length, acq_error *error)
{
    gzip_sink *gzip = self;
    acq_status status = ACQ_OK;
    while (status == ACQ_OK && length > 0) {
        size_t piece = length < LARGEST_PIECE ? length : LARGEST_PIECE;
        gzip->stream.next_in = (Bytef *)bytes;
        gzip->stream.avail_in = (uInt)piece;
        status = run(gzip, Z_NO_FLUSH, error);
        bytes += piece;
        length -= piece;
    }
    return status;
}

static acq_status gzip_finish(gzip_sink *gzip, acq_error *error)
{
    return run(gzip, Z_FINISH, error);
}

static void gzip_deinit(gzip_sink *gzip)
{
    if (gzip->is_open)
        (void)deflateEnd(&gzip->stream);
    *gzip = (gzip_sink){0};
}

/* Endings of -o and values of --format. N-Triples are Turtle and N-Quads too. */
static const struct {
    const char *name;
    const char *format;
    bool is_option;
} formats[] = {
    {"tsv", "tsv", true}, {"txt", "tsv", false}, {"csv", "csv", true},  {"nt", "nt", true},
    {"ttl", "nt", false}, {"nq", "nt", false},   {"trig", "nt", false},
};

enum { N_FORMATS = sizeof formats / sizeof *formats };

typedef struct target {
    acq_new_file file; /* with -o */
    uint64_t at;
    acq_put_fn put;
    gzip_sink gzip; /* with .gz */
    acq_reading *reading;
} target;

static bool ends_with(const char *path, size_t length, const char *ending)
{
    size_t n = strlen(ending);
    return length > n && path[length - n - 1] == '.' &&
           acq_is_same_word(path + length - n, ending, n);
}

static bool is_compressed(const char *path)
{
    return path != NULL && ends_with(path, strlen(path), "gz");
}

static acq_status check_format(const acq_options *options, acq_error *error)
{
    if (options->format == NULL)
        return ACQ_OK;
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (formats[i].is_option && strcmp(formats[i].name, options->format) == 0)
            return ACQ_OK;
    }
    return acq_fail(error, ACQ_ERR_USAGE, "no format \"%.100s\"; use tsv, csv or nt",
                    options->format);
}

static const char *choose_format(const acq_options *options, const acq_graph *graph)
{
    const char *path = options->output == NULL ? "" : options->output;
    size_t length = strlen(path) - (is_compressed(path) ? strlen(".gz") : 0);
    for (size_t i = 0; i < N_FORMATS; i++) {
        bool is_it = options->format == NULL ? ends_with(path, length, formats[i].name)
                                             : strcmp(formats[i].name, options->format) == 0;
        if (is_it)
            return formats[i].format;
    }
    return acq_graph_is_rdf(graph) ? "nt" : "tsv";
}

static acq_status put_output(void *self, const char *bytes, size_t length, acq_error *error)
{
    (void)self;
    while (length > 0) {
        ssize_t done = write(STDOUT_FILENO, bytes, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return acq_fail(error, ACQ_ERR_IO, "cannot write to standard output: %s",
                            strerror(errno));
        bytes += done;
        length -= (size_t)done;
    }
    return ACQ_OK;
}

static acq_status put_file(void *self, const char *bytes, size_t length, acq_error *error)
{
    target *t = self;
    acq_status status = acq_new_file_put(&t->file, bytes, length, t->at, error);
    t->at += length;
    return status;
}

/* Text on its way: compressed or not, to a file or to standard output. */
static acq_status put_text(void *self, const char *bytes, size_t length, acq_error *error)
{
    target *t = self;
    return t->gzip.is_open ? put_gzip(&t->gzip, bytes, length, error)
                           : t->put(t, bytes, length, error);
}

static bool show(void *self, const acq_progress *now)
{
    return acq_reading_show_stage(((target *)self)->reading, now);
}

static acq_status write_text(const acq_options *options, const acq_graph *graph, target *t,
                             uint64_t *n_facts, acq_error *error)
{
    acq_status status = ACQ_OK;
    acq_graph_write_params params;
    acq_graph_write_params_init(&params);
    params.format = choose_format(options, graph);
    params.put = put_text;
    params.progress = show;
    params.context = t;
    t->put = options->output == NULL ? put_output : put_file;
    if (is_compressed(options->output))
        status = gzip_init(&t->gzip, t->put, t, error);
    if (status == ACQ_OK)
        status = acq_graph_write(graph, &params, n_facts, error);
    return status == ACQ_OK && t->gzip.is_open ? gzip_finish(&t->gzip, error) : status;
}

static acq_status write_file(const acq_options *options, const acq_graph *graph, target *t,
                             uint64_t *n_facts, acq_error *error)
{
    acq_status status = acq_new_file_init(&t->file, options->output, "the facts", error);
    if (status != ACQ_OK)
        return status;
    char *half = acq_copy_string(t->file.temporary); /* finish frees the name */
    if (half == NULL)
        return acq_fail_memory(error);
    acq_interrupt_hold((const char *const *)&half, 1);
    status = write_text(options, graph, t, n_facts, error);
    if (status == ACQ_OK)
        status = acq_new_file_finish(&t->file, error);
    acq_interrupt_release();
    acq_free(half);
    return status;
}

/* What the text cannot hold. */
static void note_losses(const acq_options *options, const acq_graph *graph, acq_output *output)
{
    bool is_nt = strcmp(choose_format(options, graph), "nt") == 0;
    if (acq_graph_get_n_relations(graph) > 1 && acq_graph_is_named(graph, 1))
        acq_report_note(output, "each fact is written once, by the first relation of its pair; the "
                                "names of inverse relations are left out");
    if (acq_graph_is_rdf(graph) && !is_nt)
        acq_report_note(output, "labels are left out; --format nt keeps them");
}

static acq_status export(const acq_options *options, acq_output *output, acq_graph **graph,
                         acq_error *error)
{
    acq_status status = check_format(options, error);
    if (status == ACQ_OK)
        status = acq_setup_read_graph(options, options->args.items[0], output, graph, NULL, error);
    if (status != ACQ_OK)
        return status;
    acq_reading reading;
    target t = {.reading = &reading};
    uint64_t n_facts = 0;
    acq_reading_init(&reading, output);
    status = options->output == NULL ? write_text(options, *graph, &t, &n_facts, error)
                                     : write_file(options, *graph, &t, &n_facts, error);
    acq_reading_finish(&reading, "", NULL);
    gzip_deinit(&t.gzip);
    acq_new_file_deinit(&t.file);
    if (status != ACQ_OK)
        return status;
    note_losses(options, *graph, output);
    if (options->output != NULL)
        acq_report_note(output, "%s: %llu facts", options->output, (unsigned long long)n_facts);
    return ACQ_OK;
}

int acq_cli_export(const acq_options *options)
{
    acq_error error = {0};
    acq_output output;
    acq_graph *graph = NULL;
    acq_output_init(&output);
    int code = ACQ_EXIT_YES;
    if (export(options, &output, &graph, &error) != ACQ_OK)
        code = acq_report_stop(&output, options, &error);
    acq_graph_free(graph);
    return acq_output_finish(&output, code);
}
