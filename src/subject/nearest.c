/* SPDX-License-Identifier: MIT
 *
 * "Did you mean": the known word with the fewest single-letter insertions, deletions, replacements and
 * swaps. */
#include <string.h>

#include "subject/subject.h"

#define WORD_MOST 40

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Optimal string alignment distance; words that are too long are far from everything. */
static int distance(const char *a, const char *b)
{
    int n = (int)strlen(a), m = (int)strlen(b), d[WORD_MOST + 1][WORD_MOST + 1];
    if (n > WORD_MOST || m > WORD_MOST)
        return WORD_MOST;
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = i + j;
                continue;
            }
            d[i][j] =
                smaller(d[i - 1][j - 1] + (a[i - 1] != b[j - 1]), smaller(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = smaller(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

const char *nearest(const char *word, const char *const *known, int count)
{
    const char *best = NULL;
    int best_distance = (int)strlen(word) / 3 + 1; /* a third of the letters may be wrong, and one more */
    for (int i = 0; i < count; i++) {
        int found = distance(word, known[i]);
        if (found <= best_distance && (!best || found < best_distance)) {
            best = known[i];
            best_distance = found;
        }
    }
    return best;
}
