/* batches.c - see batches.h. */
#include "durability/batches.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/budget.h"
#include "base/hash.h"

enum { N_ITEMS = 500 };

void board_complain(const setting *s, const char *format, ...)
{
    va_list arguments;
    if (atomic_exchange(&s->board->is_wrong, true))
        return;
    va_start(arguments, format);
    vsnprintf(s->board->what, sizeof s->board->what, format, arguments);
    va_end(arguments);
    atomic_store(&s->board->is_over, true);
}

bool board_is_over(const setting *s)
{
    return acq_clock_ns() > s->end || atomic_load(&s->board->is_over);
}

void batch_make(uint64_t seed, uint64_t number, batch *out)
{
    acq_random random = acq_random_start(seed, number);
    out->number = number;
    out->n = 1 + (size_t)acq_random_below(&random, BATCH_MOST_PAIRS);
    uint64_t first = acq_random_below(&random, N_ITEMS);
    snprintf(out->name, sizeof out->name, "batch %llu", (unsigned long long)number);
    snprintf(out->slot, sizeof out->slot, "slot %u", (unsigned)(number % BATCH_SLOTS));
    for (size_t i = 0; i < out->n; i++)
        snprintf(out->items[i], sizeof out->items[i], "item %u",
                 (unsigned)((first + i * 7) % N_ITEMS));
}

static size_t list_facts(const batch *b, acq_store_fact *out)
{
    size_t n = 0;
    out[n++] = (acq_store_fact){.head = "clock", .relation = "made", .tail = b->name};
    for (size_t i = 0; i < b->n; i++) {
        out[n++] = (acq_store_fact){.head = b->items[i], .relation = "left", .tail = b->slot};
        out[n++] = (acq_store_fact){.head = b->slot, .relation = "right", .tail = b->items[i]};
    }
    return n;
}

static bool change(const setting *s, acq_store_writer *writer, uint64_t number, bool is_added)
{
    acq_store_fact facts[2 * BATCH_MOST_PAIRS + 1];
    acq_store_report report = {.size = sizeof report};
    acq_error error = {0};
    size_t i_bad;
    batch b;
    batch_make(s->seed, number, &b);
    size_t n = list_facts(&b, facts);
    acq_status status = is_added ? acq_store_add(writer, facts, n, &report, &i_bad, &error)
                                 : acq_store_remove(writer, facts, n, &report, &i_bad, &error);
    if (status != ACQ_OK)
        board_complain(s, "writing batch %llu: %s", (unsigned long long)number, error.message);
    else if (report.changed != n)
        board_complain(s, "batch %llu changed %llu facts and not %zu", (unsigned long long)number,
                       (unsigned long long)report.changed, n);
    return status == ACQ_OK;
}

bool batch_add(const setting *s, acq_store_writer *writer, uint64_t number)
{
    atomic_store(&s->board->begun, number);
    bool done = change(s, writer, number, true);
    atomic_store(&s->board->added, number);
    return done;
}

static bool remove_batch(const setting *s, acq_store_writer *writer, uint64_t number)
{
    atomic_store(&s->board->leaving, number);
    bool done = change(s, writer, number, false);
    atomic_store(&s->board->removed, number);
    return done;
}

static bool compact(const setting *s, acq_store_writer *writer)
{
    acq_error error = {0};
    uint64_t n_folded;
    if (acq_store_compact(writer, &n_folded, &error) == ACQ_OK)
        return true;
    board_complain(s, "compacting: %s", error.message);
    return false;
}

/* One stretch of work with one handle. */
static bool write_some(const setting *s, acq_random *random)
{
    acq_store_writer *writer;
    acq_error error = {0};
    if (acq_store_writer_open(s->store, &writer, &error) != ACQ_OK) {
        board_complain(s, "opening a writer: %s", error.message);
        return false;
    }
    bool done = true;
    uint64_t n = 1 + acq_random_below(random, 30);
    for (uint64_t i = 0; done && i < n && !board_is_over(s); i++) {
        done = batch_add(s, writer, atomic_load(&s->board->added) + 1);
        while (done &&
               atomic_load(&s->board->added) - atomic_load(&s->board->removed) > BATCH_MOST_KEPT)
            done = remove_batch(s, writer, atomic_load(&s->board->removed) + 1);
        if (done && acq_random_below(random, 12) == 0)
            done = compact(s, writer);
    }
    acq_store_writer_free(writer);
    return done;
}

void *batch_write_all(void *context)
{
    const setting *s = context;
    acq_random random = acq_random_start(s->seed, 0);
    while (!board_is_over(s) && write_some(s, &random))
        ;
    return NULL;
}
