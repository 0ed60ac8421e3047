/* scale.c - how long planted queries (planted.h) take on a graph, and whether they are answered.
 *
 *   bench_scale GRAPH QUERIES.txt
 *
 * Prints one JSON line. GRAPH is a store, or anything the product reads.
 *
 *   open     opening the graph
 *   first    open, look the names up, load relations, search, verify. Both in a process of its own,
 *            over N_FIRST queries; once with the file in the page cache, once ("cold") after the
 *            kernel was asked to forget it; processor time is that of the former
 *   warm     parse, look up, search, verify: each query the median of its BENCH_RUNS runs, after a
 *            pass over all of them that also checks: a planted query is answered, its planted
 *            tuple is accepted as an answer, and one without an answer is proved to have none */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common.h"
#include "queries.h"

#include "base/memory.h"
#include "eval/eval.h"
#include "store/store.h"

enum { N_FIRST = 20 };

typedef struct session {
    acq_graph *graph;
    acq_predictor *predictor;
} session;

static void open_session(session *s, const char *path)
{
    acq_error error = {0};
    acq_read_params params = {.strict = true};
    bench_need(acq_graph_open_path(path, &params, &s->graph, NULL, &error), &error);
    bench_need(acq_predictor_new_observed(s->graph, &s->predictor, &error), &error);
}

static void close_session(session *s)
{
    acq_predictor_free(s->predictor);
    acq_graph_free(s->graph);
}

static acq_query *bind(const session *s, const char *text)
{
    acq_query *query;
    acq_error error = {0};
    bench_need(acq_query_parse(text, strlen(text), &query, &error), &error);
    bench_need(acq_query_bind(query, s->graph, NULL, 0, &error), &error);
    return query;
}

typedef struct counters {
    size_t memory; /* bytes at the peak of the search */
    uint64_t nodes, revisions;
} counters;

/* From text to a verified result. */
static acq_outcome ask(const session *s, const char *text, counters *out)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    acq_error error = {0};
    acq_query *query = bind(s, text);
    bench_need(acq_engine_ask(query, s->predictor, &params, &result, &error), &error);
    acq_outcome outcome = result.outcome;
    *out = (counters){result.effort.memory_peak, result.effort.nodes, result.effort.revisions};
    acq_engine_result_deinit(&result);
    acq_query_free(query);
    return outcome;
}

/* ---- checks ---- */

/* The values behind "# planted", or NULL: the query has no answer. */
static const char *planted_values(const acq_line *line)
{
    const char *comment = strstr(line->text, "# planted");
    if (comment == NULL && strstr(line->text, "# none") == NULL)
        bench_die("line %zu does not say '# planted' or '# none'", line->number);
    return comment;
}

static acq_ent next_value(const session *s, const char **text, size_t line)
{
    const char *begin = strchr(*text, '"');
    const char *end = begin == NULL ? NULL : strchr(begin + 1, '"');
    if (end == NULL)
        bench_die("line %zu: a planted value is missing", line);
    *text = end + 1;
    acq_ent value = acq_graph_find_entity(s->graph, begin + 1, (size_t)(end - begin - 1));
    if (value == ACQ_NO_ID)
        bench_die("line %zu: a planted value is not in the graph", line);
    return value;
}

static void check_planted(const session *s, const acq_line *line, const char *values)
{
    acq_engine_params params = ACQ_ENGINE_DEFAULT;
    acq_engine_result result;
    acq_error error = {0};
    acq_query *query = bind(s, line->text);
    acq_ent *tuple = acq_alloc(query->n_free, sizeof *tuple);
    if (tuple == NULL)
        bench_die("out of memory");
    for (uint32_t i = 0; i < query->n_free; i++)
        tuple[i] = next_value(s, &values, line->number);
    bench_need(acq_engine_check(query, s->predictor, tuple, &params, &result, &error), &error);
    if (result.outcome != ACQ_ANSWERED)
        bench_die("line %zu: the planted answer is not accepted", line->number);
    acq_engine_result_deinit(&result);
    acq_free(tuple);
    acq_query_free(query);
}

static size_t check_all(const session *s, const bench_lines *lines)
{
    size_t n_planted = 0;
    counters unused;
    for (size_t i = 0; i < lines->n; i++) {
        const acq_line *line = &lines->items[i];
        const char *values = planted_values(line);
        acq_outcome outcome = ask(s, line->text, &unused);
        if (outcome != (values == NULL ? ACQ_NONE : ACQ_ANSWERED))
            bench_die("line %zu: outcome %d is wrong", line->number, (int)outcome);
        if (values != NULL)
            check_planted(s, line, values);
        n_planted += values != NULL;
    }
    return n_planted;
}

/* ---- a process of its own ---- */

/* ms since the start */
typedef struct first_times {
    double open, answered, cpu;
} first_times;

/* Without effect, which is no error, on some file systems. */
static void forget_pages(const char *path)
{
    int file = open(path, O_RDONLY);
    if (file < 0)
        bench_die("cannot open %s: %s", path, strerror(errno));
    (void)fdatasync(file);
    (void)posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
}

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

_Noreturn static void run_first(const char *path, const char *text, int out)
{
    session s;
    counters unused;
    double begin = bench_now_ms(), cpu_begin = cpu_ms();
    open_session(&s, path);
    first_times times = {.open = bench_now_ms() - begin};
    (void)ask(&s, text, &unused);
    times.answered = bench_now_ms() - begin;
    times.cpu = cpu_ms() - cpu_begin;
    _exit(write(out, &times, sizeof times) == (ssize_t)sizeof times ? 0 : 1);
}

static first_times fork_first(const char *path, const char *text)
{
    int ends[2], state;
    first_times times;
    if (pipe(ends) != 0)
        bench_die("no pipe: %s", strerror(errno));
    pid_t child = fork();
    if (child < 0)
        bench_die("no process: %s", strerror(errno));
    if (child == 0)
        run_first(path, text, ends[1]);
    close(ends[1]);
    bool is_read = read(ends[0], &times, sizeof times) == (ssize_t)sizeof times;
    close(ends[0]);
    if (waitpid(child, &state, 0) != child || state != 0 || !is_read)
        bench_die("a first query failed");
    return times;
}

typedef struct first_result {
    acq_times open, answered, cpu;
} first_result;

static first_result measure_first(const char *path, const bench_lines *lines, bool cold)
{
    double open_ms[N_FIRST], answered[N_FIRST], cpu[N_FIRST];
    first_result result;
    for (size_t i = 0; i < N_FIRST; i++) {
        if (cold)
            forget_pages(path);
        first_times times = fork_first(path, lines->items[i * lines->n / N_FIRST].text);
        open_ms[i] = times.open;
        answered[i] = times.answered;
        cpu[i] = times.cpu;
    }
    acq_metrics_measure_times(open_ms, N_FIRST, &result.open);
    acq_metrics_measure_times(answered, N_FIRST, &result.answered);
    acq_metrics_measure_times(cpu, N_FIRST, &result.cpu);
    return result;
}

/* ---- warm ---- */

typedef struct warm_result {
    acq_times ms, memory;    /* memory in MB */
    double nodes, revisions; /* per query */
    size_t slowest;          /* line */
} warm_result;

static double *new_numbers(size_t n)
{
    double *numbers = acq_alloc(n, sizeof *numbers);
    if (numbers == NULL)
        bench_die("out of memory");
    return numbers;
}

static warm_result measure_warm(const session *s, const bench_lines *lines)
{
    size_t n = lines->n, slowest = 0;
    double *runs = new_numbers(n * BENCH_RUNS), *ms = new_numbers(n), *memory = new_numbers(n);
    warm_result result = {0};
    for (size_t i = 0; i < n * BENCH_RUNS; i++) {
        size_t query = i % n, run = i / n;
        counters found;
        double begin = bench_now_ms();
        (void)ask(s, lines->items[query].text, &found);
        runs[query * BENCH_RUNS + run] = bench_now_ms() - begin;
        memory[query] = (double)found.memory / 1e6;
        result.nodes += (double)found.nodes / (double)(n * BENCH_RUNS);
        result.revisions += (double)found.revisions / (double)(n * BENCH_RUNS);
    }
    for (size_t i = 0; i < n; i++) {
        ms[i] = bench_median(runs + i * BENCH_RUNS, BENCH_RUNS);
        slowest = ms[i] > ms[slowest] ? i : slowest;
    }
    result.slowest = lines->items[slowest].number;
    acq_metrics_measure_times(ms, n, &result.ms);
    acq_metrics_measure_times(memory, n, &result.memory);
    acq_free(runs);
    acq_free(ms);
    acq_free(memory);
    return result;
}

static double get_peak_mb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1e3;
}

static json_t *pack(const acq_times *times)
{
    return json_pack("{s:f, s:f, s:f, s:f}", "mean", times->mean, "p50", times->p50, "p99",
                     times->p99, "max", times->max);
}

static json_t *pack_first(const first_result *cached, const first_result *cold)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "open", pack(&cached->open), "open_cold",
                     pack(&cold->open), "first", pack(&cached->answered), "first_cold",
                     pack(&cold->answered), "first_cpu", pack(&cached->cpu));
}

static json_t *pack_warm(const warm_result *warm)
{
    return json_pack("{s:o, s:o, s:f, s:f, s:I}", "warm", pack(&warm->ms), "memory_mb",
                     pack(&warm->memory), "nodes", warm->nodes, "revisions", warm->revisions,
                     "slowest_line", (json_int_t)warm->slowest);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        bench_die("bench_scale GRAPH QUERIES.txt");
    bench_lines lines;
    session s;
    bench_lines_init(&lines, argv[2]);
    first_result cached = measure_first(argv[1], &lines, false);
    first_result cold = measure_first(argv[1], &lines, true);
    open_session(&s, argv[1]);
    size_t n_planted = check_all(&s, &lines);
    warm_result warm = measure_warm(&s, &lines);
    json_t *line =
        json_pack("{s:s, s:I, s:I, s:I, s:I, s:f}", "kind", "queries", "entities",
                  (json_int_t)acq_graph_get_n_entities(s.graph), "facts",
                  (json_int_t)acq_graph_get_n_facts(s.graph), "queries", (json_int_t)lines.n,
                  "planted", (json_int_t)n_planted, "process_mb", get_peak_mb());
    json_object_update_new(line, pack_first(&cached, &cold));
    json_object_update_new(line, pack_warm(&warm));
    bench_print_line(line);
    close_session(&s);
    bench_lines_deinit(&lines);
    return 0;
}
