/* SPDX-License-Identifier: MIT
 *
 * grids.c: matrices of regular structure: stencils on grids, Markov chains on grids, bands, diagonals,
 * arrows, dense.  Everything about a row follows from its number; only values may be random. */
#include "gen/families.h"

/* -------------------------------------------------------- stencils ---------------------------- */

/* A box of points with dof unknowns each; an unknown is coupled to all unknowns of the neighbours, its own
 * included. */
struct lattice_grid {
    int64_t side[3]; /* x runs fastest */
    int64_t dof;
    int neighbours;  /* those below */
    int step[27][3]; /* in ascending order of the neighbour's number */
    int64_t points;  /* of the stencil, the point itself included */
};

/* A stencil point belongs to it by how many of its coordinates differ, and by the sign of the diagonal for
 * 7 in 2-D. */
static int in_stencil(int64_t points, int dimensions, const int *step)
{
    int moved = (step[0] != 0) + (step[1] != 0) + (step[2] != 0);
    if (dimensions == 2 && points == 7) /* triangles: both axes and one of the diagonals */
        return moved <= 1 || step[0] == step[1];
    if (points == 4)
        return moved == 1;
    return points == 9 || points == 27 || moved <= 1;
}

static void set_stencil(struct lattice_grid *g, int dimensions, int64_t points)
{
    g->points = points;
    for (int z = dimensions == 3 ? -1 : 0; z <= (dimensions == 3 ? 1 : 0); z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++) {
                int *step = g->step[g->neighbours];
                step[0] = x, step[1] = y, step[2] = z;
                g->neighbours += in_stencil(points, dimensions, step);
            }
}

/* The point `step` away from `at`, or -1 outside of the grid. */
static int64_t neighbour(const struct lattice_grid *g, const int64_t *at, const int *step)
{
    int64_t number = 0;
    for (int d = 2; d >= 0; d--) {
        int64_t to = at[d] + step[d];
        if (to < 0 || to >= g->side[d])
            return -1;
        number = number * g->side[d] + to;
    }
    return number;
}

static void locate(const struct lattice_grid *g, int64_t point, int64_t *at)
{
    at[0] = point % g->side[0];
    at[1] = point / g->side[0] % g->side[1];
    at[2] = point / g->side[0] / g->side[1];
}

static int64_t grid_length(const void *self, int64_t row)
{
    const struct lattice_grid *g = self;
    int64_t at[3], count = 0;
    locate(g, row / g->dof, at);
    for (int k = 0; k < g->neighbours; k++)
        count += neighbour(g, at, g->step[k]) >= 0;
    return count * g->dof;
}

static int64_t grid_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    const struct lattice_grid *g = self;
    int64_t at[3], count = 0;
    locate(g, row / g->dof, at);
    for (int k = 0; k < g->neighbours; k++) {
        int64_t point = neighbour(g, at, g->step[k]);
        for (int64_t d = 0; point >= 0 && d < g->dof; d++)
            col[count++] = (int32_t)(point * g->dof + d);
    }
    (void)length;
    return count;
}

/* -1 to the neighbours and their number on the diagonal, within each of the dof; -1/8 across. */
static int32_t weight_laplace(const struct maker *m, int64_t row, int64_t col)
{
    const struct lattice_grid *g = m->self;
    if (row == col)
        return (int32_t)(g->points - 1) * 1024;
    return row % g->dof == col % g->dof ? -1024 : -128;
}

static heddle_status read_grid(struct lattice_grid *g, struct maker *m, struct spec *spec, int dimensions,
                               int64_t points)
{
    static const char *const names[] = {"nx", "ny", "nz"};
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = dimensions == 2 ? 100 : 30};
    int64_t size = 1;
    TRY(options_size(&o, spec, 1, SIZE_MOST));
    for (int d = 0; d < 3; d++) {
        g->side[d] = d < dimensions ? o.n : 1;
        if (d < dimensions)
            TRY(spec_int(spec, names[d], 1, SIZE_MOST, &g->side[d]));
    }
    g->dof = 1;
    TRY(spec_int(spec, "dof", 1, 1024, &g->dof));
    for (int d = 0; d < 3; d++) /* each factor and the product so far are below 2^31 */
        if ((size *= g->side[d]) > SIZE_MOST)
            return fail(HEDDLE_BAD_ARGUMENT, "%s: the grid has more than %lld points", spec->name,
                        (long long)SIZE_MOST);
    if (size * g->dof > SIZE_MOST)
        return fail(HEDDLE_BAD_ARGUMENT, "%s: the grid has more than %lld unknowns", spec->name,
                    (long long)SIZE_MOST);
    set_stencil(g, dimensions, points);
    *m = (struct maker){.rows = size * g->dof, .cols = size * g->dof, .seed = (uint64_t)o.seed, .self = g};
    m->length = grid_length;
    m->place = grid_place;
done:
    return status;
}

static heddle_status read_values(struct maker *m, struct spec *spec)
{
    enum { LAPLACE, RANDOM, FULL };
    int64_t values = LAPLACE;
    heddle_status status = spec_choice(spec, "values", "laplace|random|full|complex", &values);
    m->weight = values == LAPLACE ? weight_laplace : weight_symmetric;
    m->full = values == FULL;
    return status;
}

heddle_status make_grid2d(struct csr *A, struct spec *spec, heddle_type value)
{
    static const int64_t points[] = {5, 9, 7, 4};
    heddle_status status = HEDDLE_OK;
    struct lattice_grid g = {0};
    struct maker m;
    int64_t choice = 0;
    TRY(spec_choice(spec, "points", "5|9|7|4", &choice));
    TRY(read_grid(&g, &m, spec, 2, points[choice]));
    TRY(read_values(&m, spec));
    TRY(finish(A, &m, spec, value));
done:
    return status;
}

heddle_status make_grid3d(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct lattice_grid g = {0};
    struct maker m;
    int64_t choice = 0;
    TRY(spec_choice(spec, "points", "7|27", &choice));
    TRY(read_grid(&g, &m, spec, 3, choice ? 27 : 7));
    TRY(read_values(&m, spec));
    TRY(finish(A, &m, spec, value));
done:
    return status;
}

/* A Markov chain that walks on a grid, as in a model of an epidemic: rates to the four neighbours and no
 * diagonal. */
heddle_status make_markov(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct lattice_grid g = {0};
    struct maker m;
    TRY(read_grid(&g, &m, spec, 2, 4));
    m.weight = weight_rate;
    TRY(finish(A, &m, spec, value));
done:
    return status;
}

/* Positive and at most 1; that to a neighbour differs from that back. */
int32_t weight_rate(const struct maker *m, int64_t row, int64_t col)
{
    int32_t w = weight_random(m, row, col);
    return w < 0 ? -w : w;
}

/* -------------------------------------------------------- diagonals --------------------------- */

/* `count` full diagonals, `step` apart: band has step 1. */
struct diagonals {
    int64_t n, lower, upper, step; /* diagonals -lower*step, ..., upper*step */
};

/* The first and last diagonal that meet row i. */
static int64_t first_diagonal(const struct diagonals *d, int64_t row)
{
    int64_t k = row / d->step;
    return k < d->lower ? -k : -d->lower;
}
static int64_t last_diagonal(const struct diagonals *d, int64_t row)
{
    int64_t k = (d->n - 1 - row) / d->step;
    return k < d->upper ? k : d->upper;
}

static int64_t diagonals_length(const void *self, int64_t row)
{
    return last_diagonal(self, row) - first_diagonal(self, row) + 1;
}

static int64_t diagonals_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    const struct diagonals *d = self;
    int64_t first = row + first_diagonal(d, row) * d->step;
    for (int64_t k = 0; k < length; k++)
        col[k] = (int32_t)(first + k * d->step);
    return length;
}

static heddle_status make_diagonals(struct csr *A, struct spec *spec, heddle_type value, struct diagonals *d,
                                    int64_t seed)
{
    struct maker m = {.rows = d->n, .cols = d->n, .seed = (uint64_t)seed, .self = d};
    m.length = diagonals_length;
    m.place = diagonals_place;
    m.weight = d->lower == d->upper ? weight_symmetric : weight_random;
    return finish(A, &m, spec, value);
}

heddle_status make_band(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 10000};
    struct diagonals d = {.step = 1};
    int64_t width = 4;
    TRY(options_size(&o, spec, 0, SIZE_MOST));
    TRY(spec_int(spec, "width", 0, SIZE_MOST, &width));
    d.n = o.n, d.lower = d.upper = width;
    TRY(spec_int(spec, "lower", 0, SIZE_MOST, &d.lower));
    TRY(spec_int(spec, "upper", 0, SIZE_MOST, &d.upper));
    TRY(make_diagonals(A, spec, value, &d, o.seed));
done:
    return status;
}

heddle_status make_diagonal(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 10000};
    struct diagonals d = {0};
    int64_t count = 1;
    TRY(options_size(&o, spec, 0, SIZE_MOST));
    TRY(spec_int(spec, "count", 1, 1001, &count));
    d.n = o.n;
    d.step = o.n > 100 ? o.n / 100 : 1;
    TRY(spec_int(spec, "step", 1, SIZE_MOST, &d.step));
    d.lower = count / 2, d.upper = count - 1 - d.lower;
    TRY(make_diagonals(A, spec, value, &d, o.seed));
done:
    return status;
}

/* -------------------------------------------------------- arrow, dense ------------------------ */

/* `width` full rows and columns in front, and the diagonal. */
struct arrow {
    int64_t n, width;
};

static int64_t arrow_length(const void *self, int64_t row)
{
    const struct arrow *a = self;
    return row < a->width ? a->n : a->width + 1;
}

static int64_t arrow_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    const struct arrow *a = self;
    for (int64_t k = 0; k < length; k++)
        col[k] = (int32_t)k;
    if (row >= a->width)
        col[a->width] = (int32_t)row;
    return length;
}

heddle_status make_arrow(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 10000};
    struct arrow a = {.width = 1};
    TRY(options_size(&o, spec, 0, SIZE_MOST));
    TRY(spec_int(spec, "width", 0, SIZE_MOST, &a.width));
    a.n = o.n;
    struct maker m = {.rows = o.n, .cols = o.n, .seed = (uint64_t)o.seed, .self = &a};
    m.length = arrow_length;
    m.place = arrow_place;
    m.weight = weight_symmetric;
    TRY(finish(A, &m, spec, value));
done:
    return status;
}

static int64_t dense_length(const void *self, int64_t row)
{
    (void)row;
    return *(const int64_t *)self;
}

static int64_t dense_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    (void)self, (void)row;
    for (int64_t k = 0; k < length; k++)
        col[k] = (int32_t)k;
    return length;
}

heddle_status make_dense(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 200};
    TRY(options_size(&o, spec, 0, SIZE_MOST));
    o.rows = o.cols = o.n;
    TRY(spec_int(spec, "rows", 0, SIZE_MOST, &o.rows));
    TRY(spec_int(spec, "cols", 0, SIZE_MOST, &o.cols));
    struct maker m = {.rows = o.rows, .cols = o.cols, .seed = (uint64_t)o.seed, .self = &o.cols};
    m.length = dense_length;
    m.place = dense_place;
    TRY(finish(A, &m, spec, value));
done:
    return status;
}
