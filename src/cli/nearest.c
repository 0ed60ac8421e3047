/* nearest.c - edit distance with transpositions (optimal string alignment) on short words. */
#include "cli/nearest.h"

#include <string.h>

enum { LONGEST = 63 };

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Rows i-2, i-1 and i of the usual table. */
static size_t edit_distance(const char *a, size_t n, const char *b, size_t m)
{
    size_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *second = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t change = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = least(change, 1 + least(above[j], row[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = least(row[j], second[j - 2] + 1);
        }
    }
    return rows[n % 3][m];
}

void acq_nearest_init(acq_nearest *nearest, const char *word)
{
    *nearest = (acq_nearest){.word = word, .distance = SIZE_MAX};
}

void acq_nearest_offer(acq_nearest *nearest, const char *known)
{
    size_t n = strlen(nearest->word), m = strlen(known);
    if (n == 0 || n > LONGEST || m > LONGEST)
        return;
    size_t shorter = least(n, m), longer = n + m - shorter;
    size_t distance = edit_distance(nearest->word, n, known, m);
    bool begins = shorter >= 2 && strncmp(nearest->word, known, shorter) == 0;
    if (begins)
        distance = least(distance, 1);
    if (distance <= (longer + 2) / 3 && distance < nearest->distance) {
        nearest->best = known;
        nearest->distance = distance;
    }
}
