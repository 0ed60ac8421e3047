/* generate.c - see generate.h: parameters, many tries on many threads, the file. */
#include "generate/generate.h"

#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/threads.h"
#include "generate/parts.h"
#include "graph/build.h"

enum {
    TRIES_PER_THREAD = 8,   /* between two looks at the clock */
    TRIES_PER_QUERY = 2000, /* before a graph is said to have no more */
    LEAST_TRIES = 20000,
    SEARCH_WORK = 30000000, /* of listing a query's answers: tenths of a second */
};

/* The paper's table of splits. */
typedef struct split {
    uint32_t hubs, n_hub;
    double p_const, p_out;
} split;

static const split splits[] = {{3, 2, .6, .95}, {4, 3, .8, .97}, {5, 4, 1.0, .99}};

static const char *const kinds[] = {[ACQ_GENERATE_QAC] = "qac",
                                    [ACQ_GENERATE_QAR] = "qar",
                                    [ACQ_GENERATE_SMALL] = "small",
                                    [ACQ_GENERATE_CQA] = "cqa"};

/* ---- parameters ---- */

static unsigned find_kind(const char *name)
{
    unsigned i = 0;
    while (i < sizeof kinds / sizeof *kinds && (name == NULL || strcmp(kinds[i], name) != 0))
        i++;
    return i;
}

static const split *find_split(uint32_t hubs)
{
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++)
        if (splits[i].hubs == hubs)
            return &splits[i];
    return NULL;
}

static acq_status check_words(const acq_generate_params *params, acq_error *error)
{
    if (params->kind == NULL || find_kind(params->kind) == sizeof kinds / sizeof *kinds)
        return acq_fail(error, ACQ_ERR_USAGE, "no kind \"%.60s\"; use qac, qar, small or cqa",
                        params->kind == NULL ? "" : params->kind);
    if (find_split(params->hubs) == NULL)
        return acq_fail(error, ACQ_ERR_USAGE, "no split of %u hubs; use 3, 4 or 5", params->hubs);
    if (params->type != NULL && acq_small_type_find(params->type) == ACQ_N_SMALL_TYPES)
        return acq_fail(error, ACQ_ERR_USAGE,
                        "no type \"%.60s\"; use 1p 2p 3p 2i 3i ip pi 2in 3in inp pin pni 2u or up",
                        params->type);
    if (strcmp(params->form, "json") != 0 && strcmp(params->form, "text") != 0)
        return acq_fail(error, ACQ_ERR_USAGE, "no form \"%.60s\"; use json or text", params->form);
    if (strcmp(params->form, "text") == 0 && strcmp(params->kind, "cqa") == 0)
        return acq_fail(error, ACQ_ERR_USAGE, "cqa has no form text; use small, or json");
    return ACQ_OK;
}

static acq_status check_numbers(const acq_generate_params *params, acq_error *error)
{
    if (params->free_variables > 3)
        return acq_fail(error, ACQ_ERR_USAGE, "1 to 3 free variables, not %u",
                        params->free_variables);
    if (params->terms < 2 || params->terms > 200)
        return acq_fail(error, ACQ_ERR_USAGE, "2 to 200 terms besides the hubs, not %u",
                        params->terms);
    if (!(params->constants >= 0) || !(params->leaves >= 0 && params->leaves <= 1))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "the share of leaves left out must lie between 0 and 1, that of constants "
                        "must not be negative");
    return ACQ_OK;
}

acq_status acq_generate_settle(acq_generate_params *params, acq_error *error)
{
    bool is_cqa = params->kind != NULL && strcmp(params->kind, "cqa") == 0;
    params->hubs = params->hubs == 0 ? 3 : params->hubs;
    params->free_variables = params->free_variables == 0 ? 1 : params->free_variables;
    params->count = params->count == 0 ? 100 : params->count;
    params->terms = params->terms == 0 ? 15 : params->terms;
    params->answers = params->answers > 0 ? params->answers : is_cqa ? 1000 : 500;
    params->form = params->form == NULL ? "json" : params->form;
    params->threads = params->threads > 0 ? params->threads : acq_threads_available();
    if (params->type == NULL && !is_cqa)
        params->type = "2p";
    const split *preset = find_split(params->hubs);
    if (preset != NULL && params->constants < 0)
        params->constants = preset->p_const;
    if (preset != NULL && params->leaves < 0)
        params->leaves = preset->p_out;
    acq_status status = check_words(params, error);
    if (status == ACQ_OK && params->of_parts > 0 &&
        (params->part < 1 || params->part > params->of_parts || params->n_shards > 0 ||
         params->ranks != NULL))
        return acq_fail(error, ACQ_ERR_USAGE,
                        "shard %u of %u: a number of 1 to %u, of one process that puts no shards "
                        "together",
                        params->part, params->of_parts, params->of_parts);
    return status == ACQ_OK ? check_numbers(params, error) : status;
}

/* ---- many tries ---- */

typedef struct generation {
    acq_item_source source;
    const acq_ranks *ranks; /* that share the tries of a round; NULL: none */
    uint32_t of;            /* shards, of which this is number `part`; 1: no shard */
    uint32_t part;
    acq_text record;        /* of a shard: its tries */
    acq_work_shard *shards; /* that are put together; NULL: none */
    size_t n_shards;
    size_t *places; /* in each of them */
    bool *is_there; /* tries of the round that a shard has made */
    unsigned n_threads;
    size_t n_tries, most_tries; /* of a round */
    const acq_graph *observed, *complete;
    uint64_t n_observed, n_complete; /* facts */
    acq_base_room **rooms;           /* one per thread */
    acq_error *errors;
    acq_item *items; /* of the present round */
    acq_item_wish *wishes;
    acq_item *kept; /* good ones, in the order of their tries */
    size_t n_kept, kept_capacity;
    acq_generate_report report;
    uint64_t next_number;
    int64_t deadline_ns;
} generation;

static bool is_of_other_part(const generation *g, size_t i)
{
    return g->wishes[i].number % g->of != g->part;
}

static acq_status make_one(void *context, size_t i, unsigned thread)
{
    generation *g = context;
    if (acq_ranks_is_others(g->ranks, i) || is_of_other_part(g, i) || g->is_there[i])
        return ACQ_OK;
    return acq_item_make(&g->source, g->rooms[thread], g->wishes[i], &g->items[i],
                         &g->errors[thread]);
}

static void count_fate(acq_generate_report *report, acq_item_fate fate)
{
    report->n_tries++;
    report->n_unfit += fate == ACQ_ITEM_UNFIT;
    report->n_easy_only += fate == ACQ_ITEM_EASY_ONLY;
    report->n_costly += fate == ACQ_ITEM_COSTLY;
    report->n_no_set += fate == ACQ_ITEM_NO_SET;
}

static void add_counts(acq_generate_report *sum, const acq_generate_report *one)
{
    sum->n_queries += one->n_queries;
    sum->n_negative += one->n_negative;
    sum->n_trivial += one->n_trivial;
    sum->n_candidates += one->n_candidates;
    sum->n_easy += one->n_easy;
    sum->n_hard += one->n_hard;
    sum->n_wrong += one->n_wrong;
    sum->n_unseen += one->n_unseen;
    sum->n_capped += one->n_capped;
    sum->n_checked += one->n_checked;
    sum->terms += one->terms;
    sum->atoms += one->atoms;
    sum->constants += one->constants;
}

static acq_status keep(generation *g, acq_item *item)
{
    if (ACQ_RESERVE(g->kept, g->kept_capacity, g->n_kept + 1) != ACQ_OK)
        return ACQ_ERR_MEMORY;
    add_counts(&g->report, &item->counts);
    g->kept[g->n_kept++] = *item;
    *item = (acq_item){0};
    return ACQ_OK;
}

/* ---- items of other ranks ---- */

typedef struct packed_item {
    uint64_t at; /* in the round */
    acq_item_fate fate;
    acq_generate_report counts;
    size_t formula, body; /* bytes that follow */
} packed_item;

static void pack_item(const acq_item *item, size_t i, acq_text *out)
{
    packed_item head = {i, item->fate, item->counts, item->formula.length, item->body.length};
    acq_text_add_bytes(out, (const char *)&head, sizeof head);
    if (head.formula > 0)
        acq_text_add_bytes(out, item->formula.bytes, head.formula);
    if (head.body > 0)
        acq_text_add_bytes(out, item->body.bytes, head.body);
}

static void unpack_item(const packed_item *head, const char *texts, acq_item *out)
{
    out->fate = head->fate;
    out->counts = head->counts;
    acq_text_add_bytes(&out->formula, texts, head->formula);
    acq_text_add_bytes(&out->body, texts + head->formula, head->body);
}

static void pack_items(const generation *g, acq_text *out)
{
    for (size_t i = 0; i < g->n_tries; i++)
        if (!acq_ranks_is_others(g->ranks, i))
            pack_item(&g->items[i], i, out);
}

static acq_status unpack_items(generation *g, const char *bytes, size_t n, acq_error *error)
{
    packed_item head;
    bool has_failed = false;
    for (size_t at = 0; at < n; at += head.formula + head.body) {
        memcpy(&head, bytes + at, sizeof head);
        at += sizeof head;
        if (!acq_ranks_is_others(g->ranks, head.at) || head.fate != ACQ_ITEM_GOOD) {
            g->items[head.at].fate = head.fate;
            continue;
        }
        acq_item *item = &g->items[head.at];
        unpack_item(&head, bytes + at, item);
        has_failed = has_failed || item->formula.failed || item->body.failed;
    }
    return has_failed ? acq_fail_memory(error) : ACQ_OK;
}

static acq_status exchange_items(generation *g, acq_error *error)
{
    acq_text own = {0};
    if (g->ranks == NULL)
        return ACQ_OK;
    pack_items(g, &own);
    void *all = own.bytes;
    size_t n = own.length;
    acq_status status =
        own.failed ? acq_fail_memory(error) : acq_ranks_gather(g->ranks, &all, &n, NULL, error);
    if (status == ACQ_OK)
        status = unpack_items(g, all, n, error);
    acq_free(all);
    return status;
}

/* ---- shards ----
 *
 * Shard k of n makes the tries whose number modulo n is k until it has its share of good ones, and
 * writes what came of each. Whoever puts the shards together goes through all tries in their order,
 * takes those that a shard has and makes the others: the result is that of one run. */

typedef struct packed_try {
    uint64_t number;
    uint32_t fate, has_item; /* a packed_item follows */
} packed_try;

static void record_tries(generation *g)
{
    for (size_t i = 0; i < g->n_tries && g->of > 1; i++) {
        const acq_item *item = &g->items[i];
        bool is_good = item->fate == ACQ_ITEM_GOOD;
        packed_try one = {g->wishes[i].number, item->fate, is_good};
        if (is_of_other_part(g, i))
            continue;
        acq_text_add_bytes(&g->record, (const char *)&one, sizeof one);
        if (is_good)
            pack_item(item, i, &g->record);
    }
}

/* The try at the place of a shard; false: there is none, or none that is whole. */
static bool read_try(const acq_work_shard *shard, size_t at, packed_try *one, packed_item *head,
                     size_t *end)
{
    const char *bytes = shard->bytes;
    *head = (packed_item){0};
    *end = at + sizeof *one;
    if (*end > shard->length)
        return false;
    memcpy(one, bytes + at, sizeof *one);
    if (one->has_item == 0)
        return true;
    if (sizeof *head > shard->length - *end)
        return false;
    memcpy(head, bytes + *end, sizeof *head);
    *end += sizeof *head;
    if (head->formula > shard->length - *end || head->body > shard->length - *end - head->formula)
        return false;
    *end += head->formula + head->body;
    return true;
}

/* Tries of a shard come in the order of their numbers, as they are asked for. */
static acq_status take_try(generation *g, size_t i, acq_error *error)
{
    uint64_t number = g->wishes[i].number;
    size_t k = (size_t)(number % g->n_shards), end = 0;
    const acq_work_shard *shard = &g->shards[k];
    packed_try one = {0};
    packed_item head;
    while (read_try(shard, g->places[k], &one, &head, &end) && one.number < number)
        g->places[k] = end;
    g->is_there[i] = end <= shard->length && g->places[k] < shard->length && one.number == number;
    if (!g->is_there[i])
        return ACQ_OK;
    g->items[i].fate = (acq_item_fate)one.fate;
    if (one.has_item != 0)
        unpack_item(&head, (const char *)shard->bytes + end - head.formula - head.body,
                    &g->items[i]);
    g->places[k] = end;
    return g->items[i].formula.failed || g->items[i].body.failed ? acq_fail_memory(error) : ACQ_OK;
}

static acq_status take_tries(generation *g, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (size_t i = 0; i < g->n_tries && g->shards != NULL && status == ACQ_OK; i++)
        status = take_try(g, i, error);
    return status;
}

/* ---- rounds ---- */

/* One round of tries with the same wish; *n_left falls by the items that were taken. */
static acq_status run_round(generation *g, acq_item_wish wish, size_t *n_left, acq_error *error)
{
    size_t n = g->n_tries;
    memset(g->items, 0, n * sizeof *g->items);
    for (size_t i = 0; i < n; i++) {
        g->wishes[i] = wish;
        g->wishes[i].number = g->next_number++;
    }
    acq_status status = take_tries(g, error);
    if (status == ACQ_OK)
        status = acq_threads_run(g->n_threads, n, make_one, g);
    for (unsigned i = 0; i < g->n_threads && status != ACQ_OK; i++)
        if (g->errors[i].code == status && error != NULL && error->code == ACQ_OK)
            *error = g->errors[i];
    if (status == ACQ_OK)
        status = exchange_items(g, error);
    if (status == ACQ_OK)
        record_tries(g);
    for (size_t i = 0; i < n; i++) {
        if (status == ACQ_OK && *n_left > 0 && !is_of_other_part(g, i)) {
            count_fate(&g->report, g->items[i].fate);
            if (g->items[i].fate == ACQ_ITEM_GOOD) {
                status = keep(g, &g->items[i]) == ACQ_OK ? ACQ_OK : acq_fail_memory(error);
                --*n_left;
            }
        }
        acq_item_deinit(&g->items[i]);
    }
    return status;
}

/* By the clock of the first rank. */
static bool is_over(const generation *g, acq_status *status, acq_error *error)
{
    bool over = g->deadline_ns > 0 && acq_clock_ns() >= g->deadline_ns;
    *status = acq_ranks_follow(g->ranks, &over, sizeof over, error);
    return over;
}

static acq_status tell(const generation *g, uint64_t total, acq_error *error)
{
    const acq_generate_params *params = g->source.params;
    acq_progress now = {.phase = "generating", .done = g->n_kept, .total = total};
    if (params->progress == NULL || params->progress(params->context, &now))
        return ACQ_OK;
    return acq_fail(error, ACQ_ERR_INTERRUPTED, "interrupted");
}

/* Good tries that are wanted: of a shard a few more than its share, by how unequal shares come
 * out. */
static size_t get_share(const generation *g)
{
    double share = ceil((double)g->source.params->count / g->of);
    return (size_t)(g->of == 1 ? share : share + ceil(sqrt(share)));
}

/* `count` items of one wish. The numbers of tries begin where the wish's own begin, so one kind of
 * query does not depend on how many of another were asked for. */
static acq_status run_wish(generation *g, acq_item_wish wish, uint64_t total, acq_error *error)
{
    size_t n_left = get_share(g);
    uint64_t first = ((uint64_t)wish.type * 2 + wish.is_negative) << 40;
    uint64_t most = g->source.params->count * TRIES_PER_QUERY;
    most = most < LEAST_TRIES ? LEAST_TRIES : most;
    acq_status status = ACQ_OK;
    g->next_number = first;
    while (n_left > 0 && status == ACQ_OK && g->next_number - first < most) {
        if (is_over(g, &status, error))
            break;
        uint64_t left = most - (g->next_number - first);
        g->n_tries = left < g->most_tries ? (size_t)left : g->most_tries;
        if (status == ACQ_OK)
            status = run_round(g, wish, &n_left, error);
        if (status == ACQ_OK)
            status = tell(g, total, error);
    }
    return status;
}

static acq_status run_wishes(generation *g, acq_error *error)
{
    const acq_generate_params *params = g->source.params;
    acq_status status = ACQ_OK;
    bool is_small = g->source.kind == ACQ_GENERATE_SMALL || g->source.kind == ACQ_GENERATE_CQA;
    bool is_one = !is_small || params->type != NULL;
    unsigned begin = is_small && is_one ? acq_small_type_find(params->type) : 0;
    unsigned end = is_one ? begin + 1 : ACQ_N_SMALL_TYPES;
    unsigned n_signs = g->source.kind == ACQ_GENERATE_QAR ? 2 : 1;
    for (unsigned type = begin; type < end; type++)
        for (unsigned sign = 0; sign < n_signs && status == ACQ_OK; sign++)
            status = run_wish(g, (acq_item_wish){.type = type, .is_negative = sign == 1},
                              params->count * n_signs * (end - begin), error);
    return status;
}

/* ---- the file ---- */

/* Positive and negative queries in turn, as in the published files. */
static void interleave(const generation *g, size_t *order)
{
    size_t n_positive = g->n_kept - (size_t)g->report.n_negative, p = 0, q = n_positive;
    for (size_t i = 0; i < g->n_kept; i++) {
        bool wants_negative = i % 2 == 1;
        bool takes_negative = (wants_negative && q < g->n_kept) || p == n_positive;
        order[i] = takes_negative ? q++ : p++;
    }
}

static void write_group(const generation *g, const size_t *order, size_t first, bool *done,
                        acq_text *out)
{
    const acq_text *formula = &g->kept[order[first]].formula;
    acq_text_format(out, "\"%s\": [", formula->bytes);
    for (size_t i = first; i < g->n_kept; i++) {
        const acq_item *item = &g->kept[order[i]];
        if (done[i] || item->formula.length != formula->length ||
            memcmp(item->formula.bytes, formula->bytes, formula->length) != 0)
            continue;
        done[i] = true;
        acq_text_add(out, i == first ? "" : ", ");
        acq_text_add_bytes(out, item->body.bytes, item->body.length);
    }
    acq_text_add_char(out, ']');
}

static void write_json(const generation *g, const size_t *order, bool *done, acq_text *out)
{
    acq_text_add(out, "{");
    for (size_t i = 0; i < g->n_kept; i++) {
        if (done[i])
            continue;
        acq_text_add(out, i == 0 ? "" : ",\n");
        write_group(g, order, i, done, out);
    }
    acq_text_add(out, g->source.kind == ACQ_GENERATE_CQA ? "}\n" : ",\n\"atoms\": \"written\"}\n");
}

static acq_status write_file(const generation *g, const char *path, acq_error *error)
{
    acq_text out;
    size_t *order = acq_alloc(g->n_kept, sizeof *order);
    bool *done = acq_zalloc(g->n_kept, sizeof *done);
    acq_status status = order == NULL || done == NULL ? acq_fail_memory(error) : ACQ_OK;
    acq_text_init(&out);
    if (status == ACQ_OK)
        interleave(g, order);
    if (status == ACQ_OK && strcmp(g->source.params->form, "json") == 0)
        write_json(g, order, done, &out);
    else if (status == ACQ_OK)
        for (size_t i = 0; i < g->n_kept; i++)
            acq_text_add_bytes(&out, g->kept[order[i]].body.bytes, g->kept[order[i]].body.length);
    if (status == ACQ_OK)
        status = acq_text_finish(&out, error);
    if (status == ACQ_OK)
        status = acq_new_file_write(path, "the queries", out.bytes, out.length, error);
    acq_text_deinit(&out);
    acq_free(order);
    acq_free(done);
    return status;
}

/* What is equal in all shards. */
static void print_identity(const generation *g, acq_text *out)
{
    const acq_generate_params *p = g->source.params;
    acq_text_format(out, "generate %s%s%s\nobserved %016llx\ncomplete %016llx\n", p->kind,
                    p->type == NULL ? "" : " --type ", p->type == NULL ? "" : p->type,
                    (unsigned long long)acq_graph_get_fingerprint(g->observed),
                    (unsigned long long)acq_graph_get_fingerprint(g->complete));
    acq_text_format(out, "--hubs %u\n--free %u\n--count %llu\n--seed %llu\n--terms %u\n", p->hubs,
                    p->free_variables, (unsigned long long)p->count, (unsigned long long)p->seed,
                    p->terms);
    acq_text_format(out, "--constants %.17g\n--leaves %.17g\n--answers %llu\n--form %s\n",
                    p->constants, p->leaves, (unsigned long long)p->answers, p->form);
    acq_text_format(out,
                    "--from-unobserved %d\n--one-per-pair %d\n--published-sets %d\n--near %d\n",
                    p->from_unobserved, p->one_per_pair, p->published_sets, p->near_negatives);
}

static acq_status write_shard(const generation *g, const char *path, acq_error *error)
{
    acq_text identity = {0};
    print_identity(g, &identity);
    acq_work_shard shard = {.part = g->part,
                            .of = g->of,
                            .identity = identity.bytes,
                            .bytes = g->record.bytes,
                            .length = g->record.length};
    acq_status status = identity.failed || g->record.failed
                            ? acq_fail_memory(error)
                            : acq_work_shard_write(path, &shard, error);
    acq_text_deinit(&identity);
    return status;
}

static acq_status open_shards(generation *g, acq_error *error)
{
    const acq_generate_params *params = g->source.params;
    acq_text identity = {0};
    if (params->n_shards == 0)
        return ACQ_OK;
    print_identity(g, &identity);
    g->shards = acq_zalloc(params->n_shards, sizeof *g->shards);
    g->places = acq_zalloc(params->n_shards, sizeof *g->places);
    acq_status status = g->shards == NULL || g->places == NULL || identity.failed
                            ? acq_fail_memory(error)
                            : acq_work_shards_read(params->shards, params->n_shards, identity.bytes,
                                                   g->shards, error);
    g->n_shards = status == ACQ_OK ? params->n_shards : 0;
    acq_text_deinit(&identity);
    return status;
}

/* ---- everything ---- */

static acq_status open_rooms(generation *g, const acq_graph *observed, acq_error *error)
{
    size_t n = (size_t)g->n_threads * TRIES_PER_THREAD * (g->ranks == NULL ? g->of : g->ranks->n);
    acq_status status = acq_ranks_follow(g->ranks, &n, sizeof n, error);
    if (status != ACQ_OK)
        return status;
    g->most_tries = n;
    g->rooms = acq_zalloc(g->n_threads, sizeof(acq_base_room *));
    g->errors = acq_zalloc(g->n_threads, sizeof *g->errors);
    g->items = acq_zalloc(n, sizeof *g->items);
    g->wishes = acq_zalloc(n, sizeof *g->wishes);
    g->is_there = acq_zalloc(n, sizeof *g->is_there);
    if (g->rooms == NULL || g->errors == NULL || g->items == NULL || g->wishes == NULL ||
        g->is_there == NULL)
        return acq_fail_memory(error);
    for (unsigned i = 0; i < g->n_threads && status == ACQ_OK; i++)
        status = acq_base_room_new(g->source.sampler, observed, &g->rooms[i], error);
    return status;
}

static void deinit(generation *g)
{
    for (unsigned i = 0; g->rooms != NULL && i < g->n_threads; i++)
        acq_base_room_free(g->rooms[i]);
    for (size_t i = 0; i < g->n_kept; i++)
        acq_item_deinit(&g->kept[i]);
    acq_free(g->rooms);
    acq_free(g->errors);
    acq_free(g->items);
    acq_free(g->wishes);
    acq_free(g->is_there);
    acq_free(g->places);
    acq_work_shards_deinit(g->shards, g->n_shards);
    acq_free(g->shards);
    acq_text_deinit(&g->record);
    acq_free(g->kept);
}

static void settle_means(acq_generate_report *report)
{
    double n = report->n_queries > 0 ? (double)report->n_queries : 1.0;
    report->terms /= n;
    report->atoms /= n;
    report->constants /= n;
}

static acq_status fail_empty(const generation *g, acq_error *error)
{
    const acq_generate_report *r = &g->report;
    if (g->n_complete <= g->n_observed)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "no query has a hard answer: the complete graph has %llu facts and the "
                        "observed one %llu; it must have more, are they swapped?",
                        (unsigned long long)g->n_complete, (unsigned long long)g->n_observed);
    if (r->n_unfit == r->n_tries)
        return acq_fail(error, ACQ_ERR_INPUT,
                        "no query in %llu places: nowhere are facts joined as it needs; use fewer "
                        "terms, another type, or a larger graph",
                        (unsigned long long)r->n_tries);
    return acq_fail(error, ACQ_ERR_INPUT,
                    "no query in %llu places: %llu do not fit, %llu have no hard answer; use fewer "
                    "terms, or a complete graph with more new facts",
                    (unsigned long long)r->n_tries, (unsigned long long)r->n_unfit,
                    (unsigned long long)r->n_easy_only);
}

static acq_status generate(generation *g, const acq_graph *observed, const char *path,
                           acq_error *error)
{
    acq_status status = open_rooms(g, observed, error);
    if (status == ACQ_OK)
        status = open_shards(g, error);
    if (status == ACQ_OK)
        status = run_wishes(g, error);
    if (status == ACQ_OK && g->n_kept == 0 && g->of == 1)
        status = fail_empty(g, error);
    settle_means(&g->report);
    if (status != ACQ_OK || !acq_ranks_is_first(g->ranks))
        return status;
    return g->of > 1 ? write_shard(g, path, error) : write_file(g, path, error);
}

static acq_base_params choose_base(const acq_generate_params *params)
{
    return (acq_base_params){.n_hubs = find_split(params->hubs)->n_hub,
                             .n_min = params->terms,
                             .p_const = params->constants,
                             .p_out = params->leaves,
                             .from_unobserved = params->from_unobserved,
                             .one_per_pair = params->one_per_pair};
}

acq_status acq_generate_run(const acq_graph *observed, const acq_graph *complete, const char *path,
                            const acq_generate_params *params, acq_generate_report *report,
                            acq_error *error)
{
    acq_sampler *sampler = NULL;
    acq_predictor *seen = NULL, *whole = NULL;
    generation g = {.n_threads = params->threads,
                    .ranks = params->ranks,
                    .part = params->of_parts > 1 ? params->part - 1 : 0,
                    .of = params->of_parts > 1 ? params->of_parts : 1,
                    .observed = observed,
                    .complete = complete,
                    .n_observed = acq_graph_get_n_facts(observed),
                    .n_complete = acq_graph_get_n_facts(complete)};
    acq_status status = g.n_complete == 0
                            ? acq_fail(error, ACQ_ERR_INPUT, "the complete graph has no fact")
                            : acq_sampler_new(complete, &sampler, error);
    if (status == ACQ_OK)
        status = acq_predictor_new_observed(observed, &seen, error);
    if (status == ACQ_OK)
        status = acq_predictor_new_observed(complete, &whole, error);
    g.source = (acq_item_source){.params = params,
                                 .kind = (acq_generate_kind)find_kind(params->kind),
                                 .base = choose_base(params),
                                 .worlds = {observed, seen, whole, SEARCH_WORK},
                                 .sampler = sampler};
    g.deadline_ns = params->seconds > 0 ? acq_clock_get_deadline(params->seconds) : 0;
    if (status == ACQ_OK)
        status = generate(&g, observed, path, error);
    *report = g.report;
    deinit(&g);
    acq_predictor_free(seen);
    acq_predictor_free(whole);
    acq_sampler_free(sampler);
    return status;
}

/* ---- one dictionary ---- */

static acq_status copy_names(const acq_graph *graph, acq_graph_builder *builder, acq_error *error)
{
    acq_status status = ACQ_OK;
    for (acq_ent e = 0; e < acq_graph_get_n_entities(graph) && status == ACQ_OK; e++) {
        const char *key = acq_graph_get_entity_key(graph, e);
        status = acq_graph_builder_set_entity(builder, e, key, strlen(key), error);
    }
    for (acq_rel r = 0; r < acq_graph_get_n_relations(graph) && status == ACQ_OK; r++) {
        const char *key = acq_graph_get_relation_key(graph, r);
        if (acq_graph_is_named(graph, r))
            status = acq_graph_builder_set_relation(builder, r, key, strlen(key), error);
    }
    return status == ACQ_OK ? acq_graph_get_failure(graph, error) : status;
}

static acq_status copy_facts(const acq_predictor *facts, acq_graph_builder *builder,
                             acq_error *error)
{
    acq_status status = ACQ_OK;
    for (acq_rel r = 0; r < acq_graph_get_n_relations(facts->graph) && status == ACQ_OK; r += 2) {
        const acq_links *links;
        status = acq_predictor_open_links(facts, r, &links, error);
        for (uint32_t i = 0; status == ACQ_OK && i < links->n_heads; i++) {
            acq_row row = acq_links_get_row_at(links, i);
            for (size_t j = 0; j < row.n && status == ACQ_OK; j++)
                status = acq_graph_builder_add_fact(builder, links->heads[i], r, row.tails[j]);
        }
    }
    return status;
}

acq_status acq_generate_align(const acq_graph *observed, const acq_graph *complete, acq_graph **own,
                              acq_error *error)
{
    acq_predictor *facts = NULL;
    *own = NULL;
    if (acq_graph_get_dictionary_fingerprint(observed) ==
        acq_graph_get_dictionary_fingerprint(complete))
        return ACQ_OK;
    acq_graph_builder *builder = acq_graph_builder_new();
    acq_status status = builder == NULL ? acq_fail_memory(error) : ACQ_OK;
    if (status == ACQ_OK)
        status = acq_predictor_new_perfect(observed, complete, "complete", &facts, NULL, error);
    if (status == ACQ_OK)
        status = copy_names(observed, builder, error);
    if (status == ACQ_OK && copy_facts(facts, builder, error) != ACQ_OK)
        status = acq_fail_memory(error);
    if (status == ACQ_OK)
        status = acq_graph_builder_finish(builder, own, error);
    acq_predictor_free(facts);
    acq_graph_builder_free(builder);
    return status;
}
