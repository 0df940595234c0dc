/* SPDX-License-Identifier: MIT
 *
 * stats_typed.c: the parts of csr_statistics that look at every row or entry.  Sums run over a fixed
 * number of parts, in order, so that a statistic is the same number on every machine. */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/memory.h"
#include "matrix/typed.h"

/* ---- lengths of rows ---- */

struct lengths {
    const struct csr *A;
    double mean;
    heddle_lengths part[PARTS]; /* `deviation` holds the sum of squares */
};

static void part_lengths(void *argument, int part)
{
    struct lengths *s = argument;
    const off *row_ptr = s->A->row_ptr;
    heddle_lengths *l = &s->part[part];
    l->shortest = INT64_MAX;
    for (int64_t i = part_row(s->A, part), end = part_row(s->A, part + 1); i < end; i++) {
        int64_t n = row_ptr[i + 1] - row_ptr[i];
        double from_mean = (double)n - s->mean;
        l->shortest = n < l->shortest ? n : l->shortest;
        l->longest = n > l->longest ? n : l->longest;
        l->empty += n == 0;
        l->deviation += from_mean * from_mean;
    }
}

void TYPED(lengths)(heddle_lengths *lengths, const struct csr *A)
{
    *lengths = (heddle_lengths){0};
    if (A->rows == 0)
        return;
    struct lengths s = {.A = A, .mean = (double)A->nnz / (double)A->rows};
    parts_run(PARTS, part_lengths, &s);
    lengths->shortest = INT64_MAX;
    for (int i = 0; i < PARTS; i++) {
        const heddle_lengths *l = &s.part[i];
        lengths->shortest = l->shortest < lengths->shortest ? l->shortest : lengths->shortest;
        lengths->longest = l->longest > lengths->longest ? l->longest : lengths->longest;
        lengths->empty += l->empty;
        lengths->deviation += l->deviation;
    }
    lengths->mean = s.mean;
    lengths->deviation = sqrt(lengths->deviation / (double)A->rows);
}

/* ---- where the entries lie ---- */

struct positions {
    const struct csr *A, *T; /* T: the transpose, for symmetry only */
    struct {
        int64_t lower, upper, diagonal, repeats;
        int64_t outside, mirrored, equal, opposite,
            conjugated; /* off-diagonal entries, and those with a partner */
    } part[PARTS];
};

static void part_positions(void *argument, int part)
{
    struct positions *s = argument;
    const off *row_ptr = s->A->row_ptr;
    const int32_t *col = s->A->col;
    for (int64_t i = part_row(s->A, part), last = part_row(s->A, part + 1); i < last; i++) {
        int64_t begin = row_ptr[i], end = row_ptr[i + 1];
        if (begin == end)
            continue;
        int64_t lower = i - col[begin], upper = col[end - 1] - i; /* sorted: the ends are the extremes */
        s->part[part].lower = lower > s->part[part].lower ? lower : s->part[part].lower;
        s->part[part].upper = upper > s->part[part].upper ? upper : s->part[part].upper;
        int diagonal = 0;
        for (int64_t k = begin; k < end; k++) {
            diagonal |= col[k] == i;
            s->part[part].repeats += k > begin && col[k] == col[k - 1];
        }
        s->part[part].diagonal += diagonal;
    }
}

void TYPED(positions)(heddle_stats *stats, const struct csr *A)
{
    struct positions s = {.A = A};
    parts_run(PARTS, part_positions, &s);
    for (int i = 0; i < PARTS; i++) {
        stats->lower_bandwidth =
            s.part[i].lower > stats->lower_bandwidth ? s.part[i].lower : stats->lower_bandwidth;
        stats->upper_bandwidth =
            s.part[i].upper > stats->upper_bandwidth ? s.part[i].upper : stats->upper_bandwidth;
        stats->diagonal += s.part[i].diagonal;
        stats->repeats += s.part[i].repeats;
    }
}

/* Row i of A and row i of T = Aᵀ, both sorted, are walked side by side: a column in both is a pair (i,j),
 * (j,i). */
static void part_symmetry(void *argument, int part)
{
    struct positions *s = argument;
    const off *a_ptr = s->A->row_ptr, *t_ptr = s->T->row_ptr;
    const int32_t *a_col = s->A->col, *t_col = s->T->col;
    const elem *a_val = s->A->val, *t_val = s->T->val;
    for (int64_t i = part_row(s->A, part), last = part_row(s->A, part + 1); i < last; i++) {
        int64_t t = t_ptr[i];
        for (int64_t k = a_ptr[i]; k < a_ptr[i + 1]; k++) {
            if (a_col[k] == i)
                continue;
            s->part[part].outside++;
            while (t < t_ptr[i + 1] && t_col[t] < a_col[k])
                t++;
            if (t == t_ptr[i + 1] || t_col[t] != a_col[k])
                continue;
            s->part[part].mirrored++;
            const real of_a = widen(a_val[k]), of_t = widen(t_val[t]);
            s->part[part].equal += of_a == of_t;
            s->part[part].opposite += of_a == -of_t;
            s->part[part].conjugated += of_a == conjugate(of_t);
            t++; /* repeats pair up in order */
        }
    }
}

void TYPED(symmetry)(heddle_stats *stats, const struct csr *A, const struct csr *T)
{
    struct positions s = {.A = A, .T = T};
    int64_t outside = 0, mirrored = 0, equal = 0, opposite = 0, conjugated = 0;
    parts_run(PARTS, part_symmetry, &s);
    for (int i = 0; i < PARTS; i++) {
        outside += s.part[i].outside;
        mirrored += s.part[i].mirrored;
        equal += s.part[i].equal;
        opposite += s.part[i].opposite;
        conjugated += s.part[i].conjugated;
    }
    /* Nothing off the diagonal: symmetric, trivially. */
    stats->pattern_symmetry = outside ? (double)mirrored / (double)outside : 1;
    stats->numeric_symmetry = outside ? (double)equal / (double)outside : 1;
    stats->numeric_skew = outside ? (double)opposite / (double)outside : 1;
    stats->hermitian_symmetry = outside ? (double)conjugated / (double)outside : 1;
}

/* ---- distinct values ---- */

#define DISTINCT_MOST 65537
#define SLOTS (1 << 18) /* four times as many as are ever taken: probes stay short */

struct values {
    uint64_t *bits; /* size SLOTS; values as their bits, plus one, 0 marks a free slot */
    int64_t count;
};

struct distinct {
    const struct csr *A;
    int parts;
    struct values set[8];
    atomic_int full; /* one part alone has seen enough */
};

/* Adds a value that is not there yet; returns whether the set may take more. */
static int add_bits(struct values *v, uint64_t bits)
{
    uint64_t slot = (bits * UINT64_C(0x9e3779b97f4a7c15)) >> 46;
    for (; v->bits[slot] != bits; slot = (slot + 1) % SLOTS)
        if (v->bits[slot] == 0) {
            v->bits[slot] = bits;
            v->count++;
            break;
        }
    return v->count < DISTINCT_MOST;
}

/* Of the 128 bits of a complex f64 there are 64 left, mixed so that two of so few values do not meet by
 * chance. */
static uint64_t bits_of(const elem *value)
{
    uint64_t bits[2] = {0, 0};
    memcpy(bits, value, sizeof *value);
    bits[1] *= UINT64_C(0xd6e8feb86659fd93);
    bits[1] = (bits[1] ^ bits[1] >> 32) * UINT64_C(0xd6e8feb86659fd93);
    /* the one value whose bits are all ones, a NaN, shares the free mark and is not counted */
    return (bits[0] ^ bits[1]) + 1;
}

static void collect_part(void *argument, int part)
{
    struct distinct *d = argument;
    const elem *val = d->A->val;
    for (int64_t k = part_begin(d->A->nnz, part, d->parts), end = part_begin(d->A->nnz, part + 1, d->parts);
         k < end; k++) {
        if (k % 4096 == 0 && atomic_load(&d->full))
            return;
        uint64_t bits = bits_of(&val[k]);
        if (bits && !add_bits(&d->set[part], bits)) {
            atomic_store(&d->full, 1);
            return;
        }
    }
}

heddle_status TYPED(distinct)(int64_t *count, const struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    int threads = threads_default();
    struct distinct d = {.A = A, .parts = threads < 8 ? threads : 8};
    for (int i = 0; i < d.parts; i++)
        TRY(NEW_ZEROED(d.set[i].bits, SLOTS));
    parts_run(d.parts, collect_part, &d);
    for (int i = 1; i < d.parts && !d.full; i++)
        for (int64_t slot = 0; slot < SLOTS && !d.full; slot++)
            if (d.set[i].bits[slot] && !add_bits(&d.set[0], d.set[i].bits[slot]))
                d.full = 1;
    *count = d.full ? DISTINCT_MOST : d.set[0].count;
done:
    for (int i = 0; i < d.parts; i++)
        mem_free(d.set[i].bits);
    return status;
}
