/* suggest.c - the nearest known name for one that is not known.
 *
 * Three ways to be near, compared by one cost (case of ASCII letters ignored):
 *   equal but for case      0
 *   Damerau-Levenshtein     distance, up to 1 + length / 4 (adjacent letters may swap places)
 *   part of the name        the text is a prefix, suffix or inner part of the known name, at
 *                           least 3 bytes long: 1 at a word boundary, so `girona` finds
 *                           `concept_city_girona`, more inside a word
 *   all but a gloss         the distance to `Paris` of `Paris (capital of France)`, plus 1
 * Ties go to the shorter name, then the lower id. Names whose length alone is too far are skipped;
 * the others cost O(length) by words of 64 bits, or O(length * limit) for longer texts: 60,000
 * names take milliseconds. */
#include "graph/parts.h"

#include <string.h>

enum { LONGEST = 255, WORD = 64, BEST_LIMIT = 1 + LONGEST / 4, LEAST_PART = 3, INNER_COST = 3 };

typedef struct wanted {
    unsigned char text[LONGEST]; /* lower case */
    size_t length;
    size_t limit;
    uint64_t places[256]; /* bit i: this byte stands at i; for lengths up to a word */
} wanted;

static unsigned char lower(char c)
{
    unsigned char u = (unsigned char)c;
    return u >= 'A' && u <= 'Z' ? (unsigned char)(u + ('a' - 'A')) : u;
}

static bool is_word(char c)
{
    unsigned char u = lower(c);
    return (u >= 'a' && u <= 'z') || (u >= '0' && u <= '9') || u >= 0x80;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The whole column of the distance table in two words, differences of +1 and -1 downwards
 * (Hyyro 2003, with transpositions). 1 <= length <= 64. */
static size_t word_distance(const wanted *want, const char *name, size_t n)
{
    uint64_t up = ~0ULL, down = 0, diagonal = 0, previous = 0;
    uint64_t last = 1ULL << (want->length - 1);
    size_t distance = want->length;
    for (size_t j = 0; j < n; j++) {
        uint64_t same = want->places[lower(name[j])];
        uint64_t swapped = ((~diagonal & same) << 1) & previous;
        diagonal = (((same & up) + up) ^ up) | same | down | swapped;
        uint64_t right = down | ~(diagonal | up), left = diagonal & up;
        distance += (right & last) != 0;
        distance -= (left & last) != 0;
        right = right << 1 | 1;
        up = left << 1 | ~(diagonal | right);
        down = right & diagonal;
        previous = same;
    }
    return distance;
}

/* Rows i-2, i-1 and i of the distance table, only within `limit` of the diagonal. */
static size_t band_distance(const wanted *want, const char *name, size_t n, size_t limit)
{
    size_t rows[3][LONGEST + BEST_LIMIT + 2];
    size_t far = limit + 1;
    for (size_t j = 0; j <= n; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= want->length; i++) {
        size_t *now = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        size_t from = i > limit ? i - limit : 1, to = smaller(i + limit, n), least = far;
        now[from - 1] = from == 1 ? i : far;
        for (size_t j = from; j <= to; j++) {
            unsigned char a = want->text[i - 1], b = lower(name[j - 1]);
            size_t up = j < i + limit ? above[j] + 1 : far;
            size_t cost = smaller(smaller(up, now[j - 1] + 1), above[j - 1] + (a != b));
            if (i > 1 && j > 1 && a == lower(name[j - 2]) && want->text[i - 2] == b)
                cost = smaller(cost, two_above[j - 2] + 1);
            now[j] = cost;
            least = smaller(least, cost);
        }
        if (least > limit)
            return far;
    }
    return rows[want->length % 3][n];
}

static bool matches_at(const wanted *want, const char *name)
{
    for (size_t i = 0; i < want->length; i++) {
        if (lower(name[i]) != want->text[i])
            return false;
    }
    return true;
}

/* Cost of `want` as a part of the name; `far` when it is none. */
static size_t part_cost(const wanted *want, const char *name, size_t n, size_t far)
{
    size_t best = far;
    if (want->length < LEAST_PART)
        return far;
    for (size_t at = 0; at + want->length <= n; at++) {
        if (lower(name[at]) != want->text[0] || !matches_at(want, name + at))
            continue;
        bool starts = at == 0 || !is_word(name[at - 1]);
        bool ends = at + want->length == n || !is_word(name[at + want->length]);
        best = smaller(best, starts && ends ? 1 : starts || ends ? 2 : INNER_COST);
    }
    return best;
}

/* Edit distance within the limits, else `far`. */
static size_t typo_cost(const wanted *want, const char *name, size_t n, size_t limit, size_t far)
{
    size_t difference = n > want->length ? n - want->length : want->length - n;
    size_t band = smaller(want->limit, limit);
    if (difference > band)
        return far;
    size_t distance =
        want->length <= WORD ? word_distance(want, name, n) : band_distance(want, name, n, band);
    return distance <= band && distance < want->length ? distance : far;
}

static size_t cost_of(const wanted *want, const char *name, size_t n, size_t limit)
{
    size_t far = limit + 1;
    size_t cost = smaller(part_cost(want, name, n, far), typo_cost(want, name, n, limit, far));
    const char *gloss = memchr(name, '(', n);
    if (gloss != NULL && gloss > name) {
        size_t bare = (size_t)(gloss - name);
        bare -= name[bare - 1] == ' ';
        cost = smaller(cost, typo_cost(want, name, bare, limit, far) + 1);
    }
    return cost;
}

static const char *suggest(const acq_names *names, const char *name, size_t length)
{
    wanted want = {.length = length, .limit = 1 + length / 4};
    const char *best = NULL;
    size_t best_cost = (size_t)BEST_LIMIT + 1, best_length = SIZE_MAX;
    if (length == 0 || length > LONGEST)
        return NULL;
    for (size_t i = 0; i < length; i++) {
        want.text[i] = lower(name[i]);
        if (i < WORD)
            want.places[want.text[i]] |= 1ULL << i;
    }
    for (size_t id = 0; id < names->n_ids; id++) {
        const char *known = acq_names_get(names, (uint32_t)id);
        size_t n = names->entries[id].length;
        if (known == NULL)
            continue;
        size_t cost = cost_of(&want, known, n, smaller(best_cost, BEST_LIMIT));
        if (cost < best_cost || (cost == best_cost && best != NULL && n < best_length)) {
            best = known;
            best_cost = cost;
            best_length = n;
        }
    }
    return best;
}

const char *acq_graph_suggest_entity(const acq_graph *graph, const char *name, size_t length)
{
    return suggest(&graph->entities, name, length);
}

const char *acq_graph_suggest_relation(const acq_graph *graph, const char *name, size_t length)
{
    return suggest(&graph->relations, name, length);
}
