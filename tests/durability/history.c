/* history.c - see history.h. */
#include "durability/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/import/import.h"

/* ---- facts ---- */

fact_text fact_spell(uint32_t fact)
{
    fact_text text;
    snprintf(text.head, sizeof text.head, "entity %u", fact % HISTORY_ENTITIES);
    fact /= HISTORY_ENTITIES;
    snprintf(text.tail, sizeof text.tail, "entity %u", fact % HISTORY_ENTITIES);
    fact /= HISTORY_ENTITIES;
    snprintf(text.relation, sizeof text.relation, "r%u", fact % HISTORY_RELATIONS);
    return text;
}

bool facts_has(const fact_set *facts, uint32_t fact)
{
    return (facts->bits[fact / 64] >> (fact % 64) & 1) != 0;
}

static void facts_set(fact_set *facts, uint32_t fact, bool is_there)
{
    uint64_t bit = 1ULL << (fact % 64);
    if (is_there)
        facts->bits[fact / 64] |= bit;
    else
        facts->bits[fact / 64] &= ~bit;
}

size_t facts_count(const fact_set *facts)
{
    size_t n = 0;
    for (size_t i = 0; i < sizeof facts->bits / sizeof facts->bits[0]; i++)
        n += acq_count_bits(facts->bits[i]);
    return n;
}

bool facts_equal(const fact_set *a, const fact_set *b)
{
    return a->exists == b->exists && memcmp(a->bits, b->bits, sizeof a->bits) == 0;
}

void facts_write(const fact_set *facts, const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL)
        abort();
    for (uint32_t i = 0; i < HISTORY_FACTS; i++) {
        fact_text text = fact_spell(i);
        if (facts_has(facts, i))
            fprintf(file, "%s\t%s\t%s\n", text.head, text.relation, text.tail);
    }
    if (fclose(file) != 0)
        abort();
}

/* The number in a name such as "entity 17", or `limit` when it is not one below it. */
static uint32_t parse_number(const char *name, const char *prefix, uint32_t limit)
{
    size_t n = strlen(prefix);
    char *end;
    if (strncmp(name, prefix, n) != 0 || name[n] == '\0')
        return limit;
    unsigned long number = strtoul(name + n, &end, 10);
    return *end == '\0' && number < limit ? (uint32_t)number : limit;
}

/* Names of a graph that cannot be read are not its own. */
static acq_status fail_name(const acq_graph *graph, const char *name, const char *other,
                            acq_error *error)
{
    acq_status status = acq_graph_get_failure(graph, error);
    return status != ACQ_OK ? status
                            : acq_fail(error, ACQ_ERR_INTERNAL, "wrong names: %s, %s", name, other);
}

static acq_status add_row(const acq_graph *graph, uint32_t relation, acq_ent head, acq_row row,
                          fact_set *out, acq_error *error)
{
    const char *name = acq_graph_get_entity_name(graph, head);
    uint32_t h = parse_number(name, "entity ", HISTORY_ENTITIES);
    for (size_t i = 0; i < row.n; i++) {
        const char *other = acq_graph_get_entity_name(graph, row.tails[i]);
        uint32_t t = parse_number(other, "entity ", HISTORY_ENTITIES);
        if (h == HISTORY_ENTITIES || t == HISTORY_ENTITIES)
            return fail_name(graph, name, other, error);
        facts_set(out, (relation * HISTORY_ENTITIES + t) * HISTORY_ENTITIES + h, true);
    }
    return ACQ_OK;
}

static acq_status add_relation(const acq_graph *graph, acq_rel id, fact_set *out, acq_error *error)
{
    const char *name = acq_graph_get_relation_name(graph, id);
    uint32_t relation = parse_number(name, "r", HISTORY_RELATIONS);
    const acq_links *links;
    acq_status status = acq_graph_open_links(graph, id, &links, error);
    if (status == ACQ_OK && relation == HISTORY_RELATIONS)
        return acq_fail(error, ACQ_ERR_INTERNAL, "wrong relation: %s", name);
    for (uint32_t i = 0; status == ACQ_OK && i < links->n_heads; i++)
        status =
            add_row(graph, relation, links->heads[i], acq_links_get_row_at(links, i), out, error);
    return status;
}

bool facts_read_graph(const acq_graph *graph, fact_set *out, acq_error *error)
{
    acq_status status = ACQ_OK;
    *out = (fact_set){.exists = true};
    for (acq_rel r = 0; status == ACQ_OK && r < acq_graph_get_n_relations(graph); r += 2)
        status = add_relation(graph, r, out, error);
    return status == ACQ_OK && acq_graph_get_failure(graph, error) == ACQ_OK;
}

bool facts_read(const char *path, fact_set *out, acq_error *error)
{
    acq_graph *graph;
    *out = (fact_set){0};
    if (access(path, F_OK) != 0)
        return true;
    if (acq_store_open(path, &graph, error) != ACQ_OK)
        return false;
    bool is_read = facts_read_graph(graph, out, error);
    acq_graph_free(graph);
    return is_read;
}

/* ---- steps ---- */

void history_start(test_history *history, uint64_t seed)
{
    *history =
        (test_history){.random = acq_random_start(seed, 1), .most_changed = HISTORY_MOST_CHANGED};
}

static uint32_t draw_fact(test_history *history)
{
    return (uint32_t)acq_random_below(&history->random, HISTORY_FACTS);
}

/* A fact that is there: the next one after a random place. There is at least one. */
static uint32_t draw_known_fact(test_history *history)
{
    uint32_t fact = draw_fact(history);
    while (!facts_has(&history->facts, fact))
        fact = (fact + 1) % HISTORY_FACTS;
    return fact;
}

static void draw_import(test_history *history)
{
    uint64_t most = history->most_imported >> acq_random_below(&history->random, 12);
    uint64_t n = 1 + acq_random_below(&history->random, most + 1);
    history->facts = (fact_set){.exists = true};
    for (uint64_t i = 0; i < n; i++)
        facts_set(&history->facts, draw_fact(history), true);
}

static void draw_changes(test_history *history, step_kind kind)
{
    test_step *step = &history->step;
    size_t n = 1 + (size_t)acq_random_below(&history->random, history->most_changed);
    if (acq_random_below(&history->random, 2) == 0)
        n = n % 4 + 1;
    bool is_there = kind == STEP_ADD;
    while (step->n < n && (is_there || facts_count(&history->facts) > 0)) {
        bool is_known = !is_there || (facts_count(&history->facts) > 0 &&
                                      acq_random_below(&history->random, 8) == 0);
        uint32_t fact = is_known ? draw_known_fact(history) : draw_fact(history);
        step->n_changed += facts_has(&history->facts, fact) != is_there;
        facts_set(&history->facts, fact, is_there);
        step->list[step->n++] = fact;
    }
}

static step_kind draw_kind(test_history *history)
{
    static const step_kind kinds[] = {STEP_ADD,    STEP_ADD,     STEP_ADD,    STEP_ADD,
                                      STEP_REMOVE, STEP_REMOVE,  STEP_REMOVE, STEP_COMPACT,
                                      STEP_IMPORT, STEP_COMPACT, STEP_ADD,    STEP_REMOVE};
    step_kind kind = kinds[acq_random_below(&history->random, sizeof kinds / sizeof kinds[0])];
    if (!history->facts.exists)
        return STEP_IMPORT;
    return kind == STEP_REMOVE && facts_count(&history->facts) == 0 ? STEP_ADD : kind;
}

void history_advance_with(test_history *history, step_kind kind)
{
    history->step = (test_step){.kind = kind};
    if (kind == STEP_IMPORT)
        draw_import(history);
    else if (kind != STEP_COMPACT)
        draw_changes(history, kind);
}

void history_advance(test_history *history)
{
    history_advance_with(history, draw_kind(history));
}

void history_advance_by(test_history *history, size_t n)
{
    for (size_t i = 0; i < n; i++)
        history_advance(history);
}

static acq_status import(const test_history *history, const char *store, const char *source,
                         acq_error *error)
{
    acq_import_params params = {
        .read.threads = 2, .memory_bytes = history->memory_bytes, .replace = true};
    acq_import_report report;
    facts_write(&history->facts, source);
    return acq_import(&source, 1, store, &params, &report, error);
}

static acq_status change(const test_step *step, acq_store_writer *writer, acq_error *error)
{
    fact_text texts[HISTORY_MOST_CHANGED];
    acq_store_fact list[HISTORY_MOST_CHANGED];
    acq_store_report report = {.size = sizeof report};
    size_t i_bad;
    for (size_t i = 0; i < step->n; i++) {
        texts[i] = fact_spell(step->list[i]);
        list[i] = (acq_store_fact){
            .head = texts[i].head, .relation = texts[i].relation, .tail = texts[i].tail};
    }
    acq_status status = step->kind == STEP_ADD
                            ? acq_store_add(writer, list, step->n, &report, &i_bad, error)
                            : acq_store_remove(writer, list, step->n, &report, &i_bad, error);
    if (status == ACQ_OK &&
        (report.changed != step->n_changed || report.changed + report.unchanged != step->n))
        return acq_fail(error, ACQ_ERR_INTERNAL, "%llu facts changed and not %llu of %zu",
                        (unsigned long long)report.changed, (unsigned long long)step->n_changed,
                        step->n);
    return status;
}

acq_status history_perform(const test_history *history, const char *store, const char *source,
                           acq_store_writer *writer, acq_error *error)
{
    acq_store_writer *own = NULL;
    uint64_t n_folded;
    acq_status status = ACQ_OK;
    if (history->step.kind == STEP_IMPORT)
        return import(history, store, source, error);
    if (writer == NULL)
        status = acq_store_writer_open(store, &own, error);
    if (status == ACQ_OK && history->step.kind == STEP_COMPACT)
        status = acq_store_compact(writer ? writer : own, &n_folded, error);
    else if (status == ACQ_OK)
        status = change(&history->step, writer ? writer : own, error);
    acq_store_writer_free(own);
    return status;
}
