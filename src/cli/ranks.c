/* ranks.c - the processes that mpirun has started together; see setup.h.
 *
 * Each rank reads the whole command line and opens the graph itself; they exchange nothing but
 * results (acq_ranks in anycq.h), by two operations. One is the bitwise "or" of arrays in which
 * each has left zero what others do: that gives the bytes of one process, in whatever order ranks
 * come. The other are sums, which the first rank gets and passes on, so that all have the same
 * bits.
 *
 * A rank that fails prints why and ends the others (MPI_Abort); one that is killed is noticed by
 * mpirun, which names its signal and ends the others. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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
