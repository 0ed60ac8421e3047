/* synthetic.c - see synthetic.h. */
#include "synthetic.h"

#include <stdbool.h>
#include <string.h>

#include "common.h"

#include "base/hash.h"
#include "base/memory.h"

enum {
    N_CLASSES = 16,
    N_ORDERS = 16,
    NEIGHBOURHOOD = 24,
    MOST_OCTAVES = 27,
    PATIENCE = 8, /* draws of one triple before its tail is drawn from all entities alike */
};

static const uint64_t stream_of_classes = 0x636c6173ULL << 32; /* apart from those of the triples */

/* Ranks below n: octave j is taken by a word below bound[j]. */
typedef struct power_law {
    uint32_t n, n_octaves;
    uint64_t bound[MOST_OCTAVES];
} power_law;

/* Octave j has the ranks from 2^j - 1 on, and the last one less than all of its own. */
static uint32_t count_ranks(const power_law *law, uint32_t octave)
{
    uint32_t begin = 1U << octave, left = law->n + 1 - begin;
    return left < begin ? left : begin;
}

static power_law make_law(uint32_t n, double ratio)
{
    power_law law = {.n = n};
    double sums[MOST_OCTAVES], weight = 1.0, sum = 0.0;
    for (; law.n_octaves < MOST_OCTAVES && (1U << law.n_octaves) <= n; weight *= ratio) {
        sum += weight * count_ranks(&law, law.n_octaves) / (double)(1U << law.n_octaves);
        sums[law.n_octaves++] = sum;
    }
    for (uint32_t j = 0; j + 1 < law.n_octaves; j++)
        law.bound[j] = (uint64_t)(sums[j] / sum * 0x1.0p63) << 1;
    law.bound[law.n_octaves - 1] = UINT64_MAX;
    return law;
}

static uint32_t draw_rank(const power_law *law, acq_random *random)
{
    uint64_t word = acq_random_next(random);
    uint32_t octave = 0;
    while (octave + 1 < law->n_octaves && word >= law->bound[octave])
        octave++;
    return (1U << octave) - 1 + (uint32_t)acq_random_below(random, count_ranks(law, octave));
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A permutation of the entities for each salt: rank * step + shift, step prime to n. */
static uint32_t permute(const synthetic *graph, uint64_t rank, uint64_t step, uint64_t salt)
{
    uint64_t shift = acq_random_mix(graph->seed ^ salt) % graph->n_entities;
    return (uint32_t)((rank * step + shift) % graph->n_entities);
}

static uint64_t find_step(uint32_t n)
{
    uint64_t step = (uint64_t)n * 618 / 1000 + 1;
    while (common_divisor(step, n) != 1)
        step++;
    return step;
}

static uint64_t pack(synthetic_triple t)
{
    return (uint64_t)t.head << 38 | (uint64_t)t.relation << 26 | t.tail;
}

synthetic_triple synthetic_get(const synthetic *graph, uint32_t i)
{
    uint64_t word = graph->packed[i];
    return (synthetic_triple){.head = (uint32_t)(word >> 38),
                              .relation = (uint32_t)(word >> 26) & (SYNTHETIC_MOST_RELATIONS - 1),
                              .tail = (uint32_t)word & (SYNTHETIC_MOST_ENTITIES - 1)};
}

/* Neighbourhoods belong to a class, a few classes having most of them. */
static uint32_t get_class(const synthetic *graph, const power_law *classes, uint32_t entity)
{
    acq_random random = acq_random_start(graph->seed, stream_of_classes + entity / NEIGHBOURHOOD);
    return draw_rank(classes, &random);
}

/* What drawing needs: the laws, and the set of triples drawn so far as indices + 1 into packed. */
typedef struct drawing {
    synthetic *graph;
    power_law heads, relations, tails, classes;
    uint64_t step;
    uint32_t *slots;
    size_t slot_mask;
} drawing;

static bool insert(drawing *d, uint32_t i, uint64_t word)
{
    size_t at = acq_random_mix(word) & d->slot_mask;
    for (; d->slots[at] != 0; at = (at + 1) & d->slot_mask)
        if (d->graph->packed[d->slots[at] - 1] == word)
            return false;
    d->slots[at] = i + 1;
    d->graph->packed[i] = word;
    return true;
}

/* The first of every n_triples / n_entities triples gives each entity in turn a place as head. */
static uint32_t draw_head(const drawing *d, uint32_t i, acq_random *random)
{
    uint32_t share = d->graph->n_triples / d->graph->n_entities;
    if (i % share == 0 && i / share < d->graph->n_entities)
        return permute(d->graph, i / share, d->step, 1);
    return permute(d->graph, draw_rank(&d->heads, random), d->step, 2);
}

/* Every class of heads has relations of its own: those whose number leaves its rest. */
static uint32_t draw_relation(const drawing *d, uint32_t head, acq_random *random)
{
    uint32_t rank = draw_rank(&d->relations, random);
    uint32_t relation = rank - rank % N_CLASSES + get_class(d->graph, &d->classes, head);
    return relation < d->graph->n_relations ? relation : rank;
}

static uint32_t draw_tail(const drawing *d, const synthetic_triple *t, bool any, acq_random *random)
{
    uint32_t n = d->graph->n_entities;
    if (any)
        return (uint32_t)acq_random_below(random, n);
    if (acq_random_below(random, 3) == 0) {
        uint32_t begin = t->head - t->head % NEIGHBOURHOOD;
        uint32_t size = n - begin < NEIGHBOURHOOD ? n - begin : NEIGHBOURHOOD;
        return begin + (uint32_t)acq_random_below(random, size);
    }
    uint64_t order = 3 + acq_random_mix(t->relation) % N_ORDERS;
    return permute(d->graph, draw_rank(&d->tails, random), d->step, order);
}

static void draw_triple(drawing *d, uint32_t i)
{
    acq_random random = acq_random_start(d->graph->seed, i);
    synthetic_triple t = {.head = draw_head(d, i, &random)};
    for (uint32_t tries = 0;; tries++) {
        t.relation = draw_relation(d, t.head, &random);
        t.tail = draw_tail(d, &t, tries >= PATIENCE, &random);
        if (t.tail != t.head && insert(d, i, pack(t)))
            return;
    }
}

void synthetic_init(synthetic *graph)
{
    drawing d = {.graph = graph,
                 .heads = make_law(graph->n_entities, 1.5),
                 .relations = make_law(graph->n_relations, 1.0),
                 .tails = make_law(graph->n_entities, 1.0),
                 .classes = make_law(N_CLASSES, 1.0),
                 .step = find_step(graph->n_entities)};
    size_t n_slots = 1;
    while (n_slots < (size_t)graph->n_triples + graph->n_triples / 2)
        n_slots *= 2;
    graph->packed = acq_alloc(graph->n_triples, sizeof *graph->packed);
    d.slots = acq_zalloc(n_slots, sizeof *d.slots);
    d.slot_mask = n_slots - 1;
    if (graph->packed == NULL || d.slots == NULL)
        bench_die("out of memory");
    for (uint32_t i = 0; i < graph->n_triples; i++)
        draw_triple(&d, i);
    acq_free(d.slots);
}

void synthetic_deinit(synthetic *graph)
{
    acq_free(graph->packed);
    graph->packed = NULL;
}

uint32_t synthetic_draw_relation(const synthetic *graph, uint64_t random)
{
    return synthetic_get(graph, (uint32_t)(random % graph->n_triples)).relation;
}

static const char syllables[64][4] = {
    "ba",  "be",  "bo", "ca", "cel", "da", "dor", "el",  "fa", "fi",  "ga",  "gor", "ha",
    "hel", "in",  "ja", "jo", "ka",  "ki", "kor", "la",  "li", "lo",  "lun", "ma",  "mel",
    "mi",  "mo",  "na", "ne", "no",  "or", "pa",  "pel", "po", "qui", "ra",  "ri",  "ro",
    "sa",  "sel", "so", "ta", "ter", "ti", "to",  "tun", "u",  "va",  "vel", "vi",  "vo",
    "wa",  "wen", "xi", "ya", "yo",  "za", "zen", "é",   "ö",  "ñ",   "ša",  "ür"};

/* Syllables up to `most` bytes, a new word now and then. */
static size_t write_words(char *out, size_t most, uint64_t random)
{
    size_t n = 0;
    for (bool begins = true;; random = acq_random_mix(random)) {
        const char *syllable = syllables[random & 63];
        size_t length = strlen(syllable);
        if (n + length > most)
            return n;
        memcpy(out + n, syllable, length);
        if (begins && syllable[0] >= 'a' && syllable[0] <= 'z')
            out[n] = (char)(syllable[0] - 'a' + 'A');
        n += length;
        begins = n >= 6 && n + 4 < most && (random >> 6) % 4 == 0;
        if (begins)
            out[n++] = ' ';
    }
}

/* The number in base 36, which makes the name unique. */
static size_t write_number(char *out, uint32_t number)
{
    char digits[8];
    size_t n = 0;
    do {
        digits[n++] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
        number /= 36;
    } while (number > 0);
    for (size_t i = 0; i < n; i++)
        out[i] = digits[n - 1 - i];
    return n;
}

size_t synthetic_name_entity(const synthetic *graph, uint32_t entity,
                             char out[SYNTHETIC_NAME_BYTES])
{
    uint64_t random = acq_random_mix(graph->seed ^ ((uint64_t)entity << 32));
    char number[8];
    size_t n_digits = write_number(number, entity);
    size_t length = 12 + random % 10 + (random >> 8) % 10;
    size_t n = write_words(out, length - n_digits - 1, random >> 16);
    out[n++] = '_';
    memcpy(out + n, number, n_digits);
    n += n_digits;
    out[n] = '\0';
    return n;
}

size_t synthetic_name_relation(const synthetic *graph, uint32_t relation,
                               char out[SYNTHETIC_NAME_BYTES])
{
    uint64_t random = acq_random_mix(~graph->seed ^ relation);
    size_t n = write_words(out, 5 + random % 8, random >> 16);
    for (size_t i = 0; i < n; i++)
        if (out[i] == ' ')
            out[i] = '_';
        else if (out[i] >= 'A' && out[i] <= 'Z')
            out[i] = (char)(out[i] - 'A' + 'a');
    out[n++] = '_';
    n += write_number(out + n, relation);
    out[n] = '\0';
    return n;
}
