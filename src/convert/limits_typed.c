/* SPDX-License-Identifier: MIT
 *
 * The loops of limits.h on a CPU. */
#include <string.h>

#include "base/thread.h"
#include "convert/limits.h"
#include "matrix/variant.h"

#define LANES 32 /* running sums: enough independent vectors to keep many loads in flight */

/* Keeps the loads from being left out. */
static void use(const struct limit_work *w, const real *sum)
{
    real total = 0;
    for (int lane = 0; lane < LANES; lane++)
        total += sum[lane];
    if (total == -1)
        *(real *)w->y = total;
}

static void read_part(const struct limit_work *w, const struct team *team)
{
    const real *x = w->x;
    int64_t end = part_begin(w->count, team->thread + 1, team->threads);
    real sum[LANES] = {0};
    for (int64_t i = part_begin(w->count, team->thread, team->threads); i + LANES <= end; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            sum[lane] += x[i + lane];
    use(w, sum);
}

static void gather_part(const struct limit_work *w, const struct team *team)
{
    const real *x = w->x;
    int64_t end = part_begin(w->count, team->thread + 1, team->threads);
    real sum[LANES] = {0};
    for (int64_t i = part_begin(w->count, team->thread, team->threads); i + LANES <= end; i += LANES)
        for (int lane = 0; lane < LANES; lane++)
            sum[lane] += x[w->index[i + lane]];
    use(w, sum);
}

static void copy_part(const struct limit_work *w, const struct team *team)
{
    int64_t begin = part_begin(w->count, team->thread, team->threads);
    int64_t end = part_begin(w->count, team->thread + 1, team->threads);
    memcpy((real *)w->y + begin, (const real *)w->x + begin, (size_t)(end - begin) * sizeof(real));
}

const struct limit_functions TYPED(limit_functions) = {
    .loop = {[LIMIT_READ] = read_part, [LIMIT_COPY] = copy_part, [LIMIT_GATHER] = gather_part}};
