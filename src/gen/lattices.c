/* SPDX-License-Identifier: MIT
 *
 * lattices.c: two applications whose structure is arithmetic: quarks on a lattice, and tomography. */
#include "gen/families.h"

#include "base/memory.h"

/* -------------------------------------------------------- qcd --------------------------------- */

/* The hopping term of lattice quantum chromodynamics: 4 spins and 3 colours on every site of a periodic
 * 4-D lattice.  A row meets all colours of each of its 8 neighbours.  In the three directions of space two
 * spins take part; in that of time the spin matrix is diagonal, so that a spin hops forward or backward
 * only: 6 * 2 * 3 + 3 = 39 entries, always. */
#define SPINS 4
#define COLOURS 3
#define QCD_ROW 39

struct lattice {
    int64_t side[4];
};

/* The site one step (1 or -1) away in direction d, around the end. */
static int64_t hop(const struct lattice *l, int64_t site, int d, int step)
{
    int64_t stride = 1;
    for (int k = 0; k < d; k++)
        stride *= l->side[k];
    int64_t at = site / stride % l->side[d], to = (at + step + l->side[d]) % l->side[d];
    return site + (to - at) * stride;
}

static int64_t qcd_length(const void *self, int64_t row)
{
    (void)self, (void)row;
    return QCD_ROW;
}

static int64_t qcd_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    static const int other_spin[3] = {3, 2, 1}; /* xor: which spin a direction of space mixes in */
    int64_t site = row / (SPINS * COLOURS), spin = row / COLOURS % SPINS, count = 0;
    for (int d = 0; d < 4; d++)
        for (int step = -1; step <= 1; step += 2) {
            if (d == 3 && (spin < 2) != (step < 0))
                continue;
            int64_t to = hop(self, site, d, step);
            for (int64_t c = 0; c < COLOURS; c++) {
                col[count++] = (int32_t)((to * SPINS + spin) * COLOURS + c);
                if (d < 3)
                    col[count++] = (int32_t)((to * SPINS + (spin ^ other_spin[d])) * COLOURS + c);
            }
        }
    sort_columns(col, count);
    (void)length;
    return count;
}

heddle_status make_qcd(struct csr *A, struct spec *spec, heddle_type value)
{
    static const char *const names[] = {"nx", "ny", "nz", "nt"};
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 4};
    struct lattice l;
    int64_t sites = 1;
    TRY(options_size(&o, spec, 3, 115)); /* both neighbours of a site in a direction must be different */
    for (int d = 0; d < 4; d++) {
        l.side[d] = o.n;
        TRY(spec_int(spec, names[d], 3, 100000, &l.side[d]));
        sites *= l.side[d];
        if (sites > SIZE_MOST / (SPINS * COLOURS))
            return fail(HEDDLE_BAD_ARGUMENT, "qcd: the lattice has more than %lld sites",
                        (long long)(SIZE_MOST / (SPINS * COLOURS)));
    }
    struct maker m = {
        .rows = sites * SPINS * COLOURS, .cols = sites * SPINS * COLOURS, .seed = (uint64_t)o.seed};
    m.self = &l;
    m.length = qcd_length;
    m.place = qcd_place;
    TRY(finish(A, &m, spec, value));
done:
    return status;
}

/* -------------------------------------------------------- tomography -------------------------- */

/* Weighted back-projection: a row is a pixel of an n x n image, a column one of n detector bins at one of
 * the angles of a tilt series from -span/2 to span/2.  At each angle a pixel falls between two bins and
 * takes from both; where it falls off the detector it takes from one or none. */
struct tilt {
    int64_t n, angles;
    int64_t *cosine, *sine; /* size angles, at FRACTION bits */
};

/* The bins [*first, *last] that a pixel sees at an angle.  Coordinates count half pixels from the centre. */
static void bins_at(const struct tilt *t, int64_t pixel, int64_t angle, int64_t *first, int64_t *last)
{
    int64_t x = 2 * (pixel % t->n) - (t->n - 1), y = 2 * (pixel / t->n) - (t->n - 1);
    int64_t place = x * t->cosine[angle] + y * t->sine[angle] + (t->n - 1) * ONE;
    int64_t bin = floor_div(place, 2 * ONE);
    *first = bin < 0 ? 0 : bin;
    *last = bin + 1 < t->n ? bin + 1 : t->n - 1;
}

static int64_t tilt_length(const void *self, int64_t row)
{
    const struct tilt *t = self;
    int64_t count = 0, first, last;
    for (int64_t a = 0; a < t->angles; a++) {
        bins_at(t, row, a, &first, &last);
        count += last >= first ? last - first + 1 : 0;
    }
    return count;
}

static int64_t tilt_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    const struct tilt *t = self;
    int64_t count = 0, first, last;
    for (int64_t a = 0; a < t->angles; a++) {
        bins_at(t, row, a, &first, &last);
        for (int64_t bin = first; bin <= last; bin++)
            col[count++] = (int32_t)(a * t->n + bin);
    }
    (void)length;
    return count;
}

heddle_status make_tomography(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 32};
    struct tilt t = {0};
    int64_t span = 150;
    TRY(options_size(&o, spec, 1, 46340)); /* n^2 < 2^31 */
    t.n = t.angles = o.n;
    TRY(spec_int(spec, "angles", 1, SIZE_MOST / o.n, &t.angles));
    TRY(spec_int(spec, "span", 1, 180, &span));
    TRY(no_more_keys(spec));
    TRY(NEW(t.cosine, t.angles));
    TRY(NEW(t.sine, t.angles));
    for (int64_t a = 0; a < t.angles; a++) {
        int64_t turns = span * ONE / 360 * a / t.angles - span * ONE / 720;
        t.sine[a] = sine(turns);
        t.cosine[a] = sine(turns + ONE / 4);
    }
    struct maker m = {.rows = t.n * t.n, .cols = t.n * t.angles, .seed = (uint64_t)o.seed, .self = &t};
    m.length = tilt_length;
    m.place = tilt_place;
    m.weight = weight_rate;
    TRY(finish(A, &m, spec, value));
done:
    mem_free(t.cosine);
    mem_free(t.sine);
    return status;
}
