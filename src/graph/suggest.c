/* suggest.c - the nearest known name for one that is not known.
 *
 * Three ways to be near, compared by one cost (case of ASCII letters and accents of Latin ones
 * ignored):
 *   equal but for these     0
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

#include "base/budget.h"

enum {
    LONGEST = 255,
    ROOM = 512,
    WORD = 64,
    BEST_LIMIT = 1 + LONGEST / 4,
    LEAST_PART = 3,
    INNER_COST = 3
};

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

/* U+00C0 to U+017F without their accents. */
static const char PLAIN[3][65] = {
    "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty",
    "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlL",
    "lLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs"};

/* A text of n <= ROOM bytes without accents; returns its length. */
static size_t make_plain(const char *text, size_t n, char *out)
{
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_accented = c >= 0xC3 && c <= 0xC5 && i + 1 < n;
        if (is_accented)
            c = (unsigned char)PLAIN[c - 0xC3U][(unsigned char)text[++i] & 63U];
        out[length++] = (char)c;
    }
    return length;
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

/* Rows i-2, i-1 and i of the distance table, only within `limit` of the diagonal. n is within it
 * too, so every cell that is read was written, which clang-tidy does not see.
 * NOLINTBEGIN(clang-analyzer-core.*) */
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
/* NOLINTEND(clang-analyzer-core.*) */

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

/* The best name so far: its id, and whether it is a relation's or an entity's is the caller's. */
typedef struct nearest {
    wanted want;
    uint32_t id;
    size_t cost, length;
    int64_t deadline_ns;
    unsigned until_clock; /* names to look at before the clock is read */
    bool is_exact;        /* the name itself was met, though it could not be found */
} nearest;

enum { NAMES_PER_CLOCK = 10000 };
static const int64_t PATIENCE_NS = 10000000000;

static bool start(nearest *n, const char *name, size_t length)
{
    char plain[LONGEST];
    bool fits = length > 0 && length <= LONGEST;
    length = fits ? make_plain(name, length, plain) : 0;
    *n = (nearest){.want = {.length = length, .limit = 1 + length / 4},
                   .id = ACQ_NO_ID,
                   .cost = (size_t)BEST_LIMIT + 1,
                   .length = SIZE_MAX,
                   .deadline_ns = acq_clock_ns() + PATIENCE_NS,
                   .until_clock = NAMES_PER_CLOCK};
    for (size_t i = 0; i < length; i++) {
        n->want.text[i] = lower(plain[i]);
        if (i < WORD)
            n->want.places[n->want.text[i]] |= 1ULL << i;
    }
    return fits;
}

static void offer(nearest *n, uint32_t id, const char *name, size_t length)
{
    char plain[ROOM];
    size_t n_plain = length <= ROOM ? make_plain(name, length, plain) : length;
    size_t cost =
        cost_of(&n->want, length <= ROOM ? plain : name, n_plain, smaller(n->cost, BEST_LIMIT));
    bool wins = cost < n->cost || (cost == n->cost && n->id != ACQ_NO_ID &&
                                   (length < n->length || (length == n->length && id < n->id)));
    if (!wins)
        return;
    n->id = id;
    n->cost = cost;
    n->length = length;
}

static void offer_all(nearest *n, const acq_names *names)
{
    for (uint32_t id = 0; id < names->n_ids; id++) {
        const char *name = acq_names_get(names, id);
        if (name != NULL)
            offer(n, id, name, names->entries[id].length);
    }
}

typedef struct stored_search {
    nearest nearest;
    const char *name;
    size_t length;
} stored_search;

static bool offer_stored(void *context, acq_ent entity, const char *name, size_t length)
{
    stored_search *search = context;
    nearest *n = &search->nearest;
    if (length == search->length && memcmp(name, search->name, length) == 0)
        n->is_exact = true;
    offer(n, entity, name, length);
    if (--n->until_clock > 0)
        return true;
    n->until_clock = NAMES_PER_CLOCK;
    return acq_clock_ns() < n->deadline_ns;
}

/* Walks over all names, for ten seconds at most (5 million take half of one). A name that is met
 * here but was not found by the index means that the index is damaged. */
static const char *suggest_stored(const acq_graph *graph, const char *name, size_t length)
{
    stored_search search = {.name = name, .length = length};
    acq_error error = {0};
    if (!start(&search.nearest, name, length))
        return NULL;
    if (acq_graph_each_name(graph, "", 0, offer_stored, &search, &error) == ACQ_OK &&
        search.nearest.is_exact)
        acq_fail(&error, ACQ_ERR_INPUT,
                 "the store is damaged: its index of names lacks a name "
                 "that it has; make it anew from its sources");
    if (error.code != ACQ_OK)
        acq_graph_set_failure(graph, &error);
    return search.nearest.id == ACQ_NO_ID ? NULL
                                          : acq_graph_get_entity_name(graph, search.nearest.id);
}

const char *acq_graph_suggest_entity(const acq_graph *graph, const char *name, size_t length)
{
    nearest n;
    if (graph == NULL || name == NULL)
        return NULL;
    if (graph->ops != NULL)
        return suggest_stored(graph, name, length);
    if (!start(&n, name, length))
        return NULL;
    offer_all(&n, &graph->entities);
    offer_all(&n, &graph->entity_labels);
    return n.id == ACQ_NO_ID ? NULL : acq_graph_get_entity_name(graph, n.id);
}

const char *acq_graph_suggest_relation(const acq_graph *graph, const char *name, size_t length)
{
    nearest n;
    if (graph == NULL || name == NULL || !start(&n, name, length))
        return NULL;
    offer_all(&n, &graph->relations);
    offer_all(&n, &graph->relation_labels);
    return n.id == ACQ_NO_ID ? NULL : acq_graph_get_relation_name(graph, n.id);
}
