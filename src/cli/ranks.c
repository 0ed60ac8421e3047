/* ranks.c - processes that share the work of a command: those that mpirun has started together, and
 * those that leave their parts in files; see setup.h.
 *
 * Each rank reads the whole command line and opens the graph itself; they exchange nothing but
 * results (acq_ranks in anycq.h), by two operations. One is the bitwise "or" of arrays in which
 * each has left zero what others do: that gives the bytes of one process, in whatever order ranks
 * come. The other are sums, which the first rank gets and passes on, so that all have the same
 * bits.
 *
 * A rank that fails prints why and ends the others (MPI_Abort); one that is killed is noticed by
 * mpirun, which names its signal and ends the others.
 *
 * A shard writes down what it would exchange; where shards are put together, a process that does no
 * part of the work reads that. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/memory.h"
#include "cli/setup.h"

#ifdef ACQ_MPI

#include <mpi.h>

enum { PIECE = 1 << 28 }; /* bytes of one message: MPI counts with int */

static acq_ranks ranks;
static bool has_begun;
static int own_stderr = -1; /* of ranks but the first */
static FILE *kept;          /* what they print */

static acq_status join(void *context, void *bytes, size_t n, acq_error *error)
{
    (void)context;
    for (size_t at = 0; at < n; at += PIECE) {
        int piece = (int)(n - at < PIECE ? n - at : PIECE);
        if (MPI_Allreduce(MPI_IN_PLACE, (char *)bytes + at, piece, MPI_BYTE, MPI_BOR,
                          MPI_COMM_WORLD) != MPI_SUCCESS)
            return acq_fail(error, ACQ_ERR_IO, "the ranks cannot exchange their results");
    }
    return ACQ_OK;
}

static acq_status sum(void *context, float *values, size_t n, acq_error *error)
{
    (void)context;
    for (size_t at = 0; at < n; at += PIECE) {
        int piece = (int)(n - at < PIECE ? n - at : PIECE);
        const void *own = ranks.rank == 0 ? MPI_IN_PLACE : values + at;
        if (MPI_Reduce(own, values + at, piece, MPI_FLOAT, MPI_SUM, 0, MPI_COMM_WORLD) !=
                MPI_SUCCESS ||
            MPI_Bcast(values + at, piece, MPI_FLOAT, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
            return acq_fail(error, ACQ_ERR_IO, "the ranks cannot add up their results");
    }
    return ACQ_OK;
}

/* mpirun says so; MPI is not asked elsewhere, which would cost each command a tenth of a second. */
static bool was_started_together(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") != NULL || getenv("PMI_RANK") != NULL ||
           getenv("PMIX_RANK") != NULL;
}

static acq_status silence(acq_error *error)
{
    kept = tmpfile();
    own_stderr = dup(STDERR_FILENO);
    bool is_good = kept != NULL && own_stderr >= 0 && freopen("/dev/null", "w", stdout) != NULL &&
                   dup2(fileno(kept), STDERR_FILENO) >= 0;
    return is_good ? ACQ_OK : acq_fail(error, ACQ_ERR_IO, "a rank cannot keep what it prints");
}

acq_status acq_ranks_begin(acq_error *error)
{
    int rank = 0, n = 1, level;
    if (!was_started_together())
        return ACQ_OK;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return acq_fail(error, ACQ_ERR_IO, "MPI cannot be started");
    has_begun = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    ranks = (acq_ranks){.rank = (uint32_t)rank, .n = (uint32_t)n, .join = join, .sum = sum};
    return rank == 0 ? ACQ_OK : silence(error);
}

/* What the first rank says of a failure that all have is enough: the others wait a little. */
static void show_kept(void)
{
    char line[1024];
    if (kept == NULL)
        return;
    sleep(1);
    fflush(stderr);
    rewind(kept);
    while (fgets(line, sizeof line, kept) != NULL)
        dprintf(own_stderr, "rank %u of %u: %s", ranks.rank, ranks.n, line);
}

int acq_ranks_end(int code)
{
    bool is_failure = code != ACQ_EXIT_YES && code != ACQ_EXIT_NO && code != ACQ_EXIT_UNDECIDED;
    if (!has_begun)
        return code;
    if (is_failure) {
        show_kept();
        MPI_Abort(MPI_COMM_WORLD, code);
    }
    MPI_Finalize();
    return ranks.rank == 0 ? code : 0;
}

const acq_ranks *acq_ranks_get(void)
{
    return ranks.n > 1 ? &ranks : NULL;
}

acq_status acq_ranks_wait(acq_error *error)
{
    if (ranks.n < 2 || MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_IO, "the ranks cannot wait for each other");
}

#else

acq_status acq_ranks_begin(acq_error *error)
{
    const char *n = getenv("OMPI_COMM_WORLD_SIZE");
    if (n == NULL || strtol(n, NULL, 10) < 2)
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_USAGE,
                    "this anycq was built without MPI; build it with -DACQ_MPI=ON, or use --shard");
}

int acq_ranks_end(int code)
{
    return code;
}

const acq_ranks *acq_ranks_get(void)
{
    return NULL;
}

acq_status acq_ranks_wait(acq_error *error)
{
    (void)error;
    return ACQ_OK;
}

#endif

/* ---- shards ---- */

acq_status acq_shard_parse(const char *text, uint32_t *part, uint32_t *of_parts, acq_error *error)
{
    enum { MOST = 100000 };
    char *end = NULL;
    unsigned long i = 0, n = 0;
    if (text == NULL)
        return ACQ_OK;
    if (isdigit((unsigned char)text[0]))
        i = strtoul(text, &end, 10);
    if (end != NULL && *end == '/' && isdigit((unsigned char)end[1]))
        n = strtoul(end + 1, &end, 10);
    if (end == NULL || *end != '\0' || i < 1 || n < i || n > MOST)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "option --shard needs two numbers up to %d, like 1/8 to 8/8, not "
                        "\"%.100s\"",
                        MOST, text);
    *part = (uint32_t)i;
    *of_parts = (uint32_t)n;
    return ACQ_OK;
}

/* Nothing comes from others: their part stays zero. */
static acq_status write_down(void *context, void *bytes, size_t n, acq_error *error)
{
    acq_shared_work *work = context;
    uint64_t length = n;
    acq_text_add_bytes(&work->joined, (const char *)&length, sizeof length);
    acq_text_add_bytes(&work->joined, bytes, n);
    return acq_text_finish(&work->joined, error);
}

static acq_status read_back(void *context, void *bytes, size_t n, acq_error *error)
{
    acq_shared_work *work = context;
    for (size_t k = 0; k < work->n_shards; k++) {
        const acq_work_shard *shard = &work->shards[k];
        const char *from = (const char *)shard->bytes + work->at;
        uint64_t length = 0;
        if (shard->length - work->at >= sizeof length)
            memcpy(&length, from, sizeof length);
        if (length != n || shard->length - work->at - sizeof length < n)
            return acq_fail(error, ACQ_ERR_INPUT,
                            "shard %zu of %zu has other questions; make it again", k + 1,
                            work->n_shards);
        for (size_t i = 0; i < n; i++)
            ((char *)bytes)[i] |= from[sizeof length + i];
    }
    work->at += sizeof(uint64_t) + n;
    return ACQ_OK;
}

/* Options that change nothing in what a shard holds. */
static bool is_free(enum acq_option_id id)
{
    static const enum acq_option_id all[] = {
        ACQ_OPTION_work_shard, ACQ_OPTION_work_merge, ACQ_OPTION_output, ACQ_OPTION_threads,
        ACQ_OPTION_time,       ACQ_OPTION_memory,     ACQ_OPTION_json,   ACQ_OPTION_output_format};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == id)
            return true;
    return false;
}

static void print_words(const acq_words *words, acq_text *out)
{
    for (size_t i = 0; i < words->n; i++) {
        char *bytes = NULL;
        size_t n = 0;
        acq_text_format(out, " %s", words->items[i]);
        if (acq_file_get_kind(words->items[i]) == ACQ_FILE_REGULAR &&
            acq_file_read(words->items[i], &bytes, &n, NULL) == ACQ_OK)
            acq_text_format(out, " (%016llx)", (unsigned long long)acq_hash_bytes(bytes, n, 1));
        acq_free(bytes);
    }
}

static void print_value(const acq_options *options, const acq_option *option, acq_text *out)
{
    const void *value = (const char *)options + option->offset;
    if (option->kind == ACQ_KIND_TEXT)
        acq_text_format(out, " %s", *(const char *const *)value);
    else if (option->kind == ACQ_KIND_LIST)
        print_words(value, out);
    else if (option->kind == ACQ_KIND_COUNT)
        acq_text_format(out, " %llu", (unsigned long long)*(const uint64_t *)value);
    else if (option->kind != ACQ_KIND_FLAG)
        acq_text_format(out, " %.17g", *(const double *)value);
}

/* What was asked, the content of the query files and the graph: what all shards must have alike. */
static void print_identity(const acq_options *options, const acq_graph *graph, acq_text *out)
{
    acq_text_format(out, "eval %s\ngraph %016llx\n", options->args.items[0],
                    (unsigned long long)acq_graph_get_fingerprint(graph));
    for (unsigned i = 0; i < ACQ_N_OPTIONS; i++) {
        if (!options->given[i] || is_free((enum acq_option_id)i))
            continue;
        acq_text_format(out, "--%s", acq_option_get(i)->name);
        print_value(options, acq_option_get(i), out);
        acq_text_add_char(out, '\n');
    }
}

static acq_status check_shared(const acq_options *options, acq_error *error)
{
    bool is_shard = options->work_shard != NULL, is_merge = options->work_merge.n > 0;
    if (is_shard && (is_merge || acq_ranks_get() != NULL))
        return acq_fail(error, ACQ_ERR_USAGE, "ranks, --shard and --merge are three ways; use one");
    if (is_shard && options->output == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "say where to write the shard: -o FILE");
    if (!is_shard && options->output != NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "-o is for --shard; tables go to standard output");
    return is_shard ? acq_setup_check_output(options, options->output, error) : ACQ_OK;
}

acq_status acq_shared_work_init(acq_shared_work *work, const acq_options *options,
                                const acq_graph *graph, acq_error *error)
{
    uint32_t part = 0, of_parts = 0;
    *work = (acq_shared_work){.is_shard = options->work_shard != NULL,
                              .is_merge = options->work_merge.n > 0};
    acq_status status = check_shared(options, error);
    if (status == ACQ_OK)
        status = acq_shard_parse(options->work_shard, &part, &of_parts, error);
    if (status != ACQ_OK || (!work->is_shard && !work->is_merge))
        return status;
    print_identity(options, graph, &work->identity);
    work->ranks = (acq_ranks){.rank = part - 1, .n = of_parts, .join = write_down, .context = work};
    if (!work->is_merge)
        return acq_text_finish(&work->identity, error);
    size_t n = options->work_merge.n;
    work->ranks =
        (acq_ranks){.rank = (uint32_t)n, .n = (uint32_t)n, .join = read_back, .context = work};
    work->shards = acq_zalloc(n, sizeof *work->shards);
    status =
        work->shards == NULL ? acq_fail_memory(error) : acq_text_finish(&work->identity, error);
    if (status == ACQ_OK)
        status = acq_work_shards_read(options->work_merge.items, n, work->identity.bytes,
                                      work->shards, error);
    work->n_shards = status == ACQ_OK ? n : 0;
    return status;
}

const acq_ranks *acq_shared_work_get_ranks(const acq_shared_work *work)
{
    return work->is_shard || work->is_merge ? &work->ranks : acq_ranks_get();
}

acq_status acq_shared_work_finish(const acq_shared_work *work, const acq_options *options,
                                  acq_output *output, acq_error *error)
{
    acq_work_shard shard = {.part = work->ranks.rank,
                            .of = work->ranks.n,
                            .identity = work->identity.bytes,
                            .bytes = work->joined.bytes,
                            .length = work->joined.length};
    acq_status status = acq_work_shard_write(options->output, &shard, error);
    if (status == ACQ_OK)
        acq_report_note(output,
                        "%s: shard %u of %u; the same with --merge and all of them prints "
                        "the table",
                        options->output, shard.part + 1, shard.of);
    return status;
}

void acq_shared_work_deinit(acq_shared_work *work)
{
    acq_text_deinit(&work->identity);
    acq_text_deinit(&work->joined);
    acq_work_shards_deinit(work->shards, work->n_shards);
    acq_free(work->shards);
    *work = (acq_shared_work){0};
}
