/* SPDX-License-Identifier: MIT
 *
 * graphs.c: adjacency matrices of graphs: recursive (rmat), road networks, circuits.  A graph is usually drawn edge by
 * edge and then sorted; here each row draws its own edges, from the distribution that the drawing by edges would give it
 * or so that both ends of an edge find it, so that no list of edges is ever held. */
#include "gen/families.h"

/* ------------------------------------------------------------------ rmat --------------------------------------- */

/* An edge chooses one of four quadrants with probabilities a, b, c, d, then one of its quadrants, and so on: each level
 * fixes one bit of the row and of the column.  Given the row, the number of its edges and the bits of its columns follow
 * level by level.  Repeated edges are merged.  The numbering is shuffled, else the first rows are the longest. */
struct rmat {
    int64_t n, edges;
    int levels;
    int64_t a, b, c, d;    /* percent */
    uint64_t threshold[2]; /* of 65536: a column bit is 1, given the row bit */
    int shuffle;
    struct permutation number;
    uint64_t seed;
};

/* Edges that leave vertex v: the expected number, rounded up or down at random. */
static int64_t rmat_edges(const struct rmat *g, int64_t v)
{
    int64_t expected = g->edges * 65536;
    for (int level = 0; level < g->levels; level++)
        expected = expected / 100 * (v >> level & 1 ? g->c + g->d : g->a + g->b) +
                   expected % 100 * (v >> level & 1 ? g->c + g->d : g->a + g->b) / 100;
    int64_t count = (expected + (int64_t)(hash1(~g->seed, v) >> 48)) >> 16;
    return count < g->n ? count : g->n;
}

static int64_t rmat_length(const void *self, int64_t row)
{
    const struct rmat *g = self;
    return rmat_edges(g, g->shuffle ? unpermute(&g->number, row) : row);
}

static int64_t rmat_column(const struct rmat *g, int64_t v, struct random *r)
{
    int64_t to = 0;
    uint64_t word = 0;
    for (int level = 0; level < g->levels; level++, word >>= 16) {
        if (level % 4 == 0)
            word = random_next(r);
        to |= (int64_t)((word & 65535) < g->threshold[v >> level & 1]) << level;
    }
    if (to >= g->n) /* not a power of two: the upper half repeats the lower one */
        to ^= (int64_t)1 << (g->levels - 1);
    return g->shuffle ? permute(&g->number, to) : to;
}

static int64_t rmat_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    const struct rmat *g = self;
    int64_t v = g->shuffle ? unpermute(&g->number, row) : row, kept = 0;
    struct random r = random_for(g->seed, row);
    for (int64_t k = 0; k < length; k++)
        col[k] = (int32_t)rmat_column(g, v, &r);
    sort_columns(col, length);
    for (int64_t k = 0; k < length; k++)
        if (k == 0 || col[k] != col[kept - 1])
            col[kept++] = col[k];
    return kept;
}

static heddle_status read_rmat(struct rmat *g, struct options *o, struct spec *spec)
{
    heddle_status status = HEDDLE_OK;
    int64_t degree = 1600, shuffle = 1;
    *g = (struct rmat){.a = 57, .b = 19, .c = 19};
    TRY(options_size(o, spec, 0, SIZE_MOST));
    TRY(spec_hundredths(spec, "degree", 0, 100000, &degree));
    g->edges = o->n * degree / 100;
    TRY(spec_int(spec, "edges", 0, (int64_t)1 << 40, &g->edges));
    TRY(spec_int(spec, "a", 1, 97, &g->a));
    TRY(spec_int(spec, "b", 1, 98 - g->a, &g->b));
    TRY(spec_int(spec, "c", 1, 99 - g->a - g->b, &g->c));
    TRY(spec_int(spec, "shuffle", 0, 1, &shuffle));
    g->n = o->n, g->seed = (uint64_t)o->seed, g->shuffle = (int)shuffle;
    g->d = 100 - g->a - g->b - g->c;
    g->levels = bits_below(g->n > 1 ? g->n : 1);
    g->threshold[0] = (uint64_t)(65536 * g->b / (g->a + g->b));
    g->threshold[1] = (uint64_t)(65536 * g->d / (g->c + g->d));
    g->number = permutation_for(g->seed, g->n);
done:
    return status;
}

heddle_status make_rmat(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 16384};
    struct rmat g;
    TRY(read_rmat(&g, &o, spec));
    /* No vertex has more edges than that of all bits 0 or that of all bits 1 would have, but for rounding. */
    int64_t zeros = rmat_edges(&g, 0), ones = rmat_edges(&g, ((int64_t)1 << g.levels) - 1);
    struct maker m = {.rows = g.n, .cols = g.n, .seed = g.seed, .self = &g, .at_most = (zeros > ones ? zeros : ones) + 1};
    m.length = rmat_length;
    m.place = rmat_place;
    TRY(finish(A, &m, spec, value));
done:
    return status;
}

/* ------------------------------------------------------------------ road --------------------------------------- */

/* Roads are long paths with crossings.  Neighbours in the numbering are joined in most cases; crossings join a node with
 * others of its tile of 2^bits nodes: in layer k the nodes of a tile are paired by flipping the bits of a mask, which
 * both ends of an edge can work out.  Each layer is half as dense as the one before.  A hub now and then has all layers,
 * and so the largest degree. */
#define ROAD_LAYERS 62

struct road {
    int64_t n;
    int bits, layers;
    uint64_t along;               /* of 2^32: probability that i and i+1 are joined */
    uint64_t across[ROAD_LAYERS]; /* and that a pair of a layer is */
    uint64_t seed;
};

static int is_hub(const struct road *g, int64_t i)
{
    return (i & (((int64_t)16 << g->bits) - 1)) == (int64_t)1 << g->bits >> 1;
}

static int joined_along(const struct road *g, int64_t i) /* i and i+1 */
{
    if (i < 0 || i + 1 >= g->n)
        return 0;
    return is_hub(g, i) || is_hub(g, i + 1) || hash1(g->seed, i) >> 32 < g->along;
}

/* The partner in a layer, or -1.  Masks flip no bit below 4, so a partner is never a neighbour in the numbering, and the
 * masks of a tile's layers differ. */
static int64_t partner(const struct road *g, int64_t i, int layer)
{
    int64_t masks = ((int64_t)1 << (g->bits - 2)) - 1;
    int64_t mask = (below(hash1(g->seed ^ 7, i >> g->bits), masks) + layer) % masks + 1;
    int64_t j = i ^ mask << 2, low = i < j ? i : j;
    if (j >= g->n)
        return -1;
    return is_hub(g, i) || is_hub(g, j) || hash2(g->seed, low, layer) >> 32 < g->across[layer] ? j : -1;
}

static int64_t road_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    const struct road *g = self;
    int64_t count = 0;
    if (joined_along(g, row - 1))
        col[count++] = (int32_t)(row - 1);
    if (joined_along(g, row))
        col[count++] = (int32_t)(row + 1);
    for (int layer = 0; layer < g->layers; layer++) {
        int64_t j = partner(g, row, layer);
        if (j >= 0)
            col[count++] = (int32_t)j;
    }
    sort_columns(col, count);
    (void)length;
    return count;
}

static int64_t road_length(const void *self, int64_t row)
{
    int32_t col[ROAD_LAYERS + 2];
    return road_place(self, row, 0, col);
}

heddle_status make_road(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 20000};
    struct road g = {0};
    int64_t mean = 212, longest = 9, nnz;
    TRY(options_size(&o, spec, 0, SIZE_MOST));
    TRY(spec_hundredths(spec, "mean", 0, 300, &mean));
    nnz = o.n * mean / 100;
    TRY(spec_int(spec, "nnz", 0, 3 * o.n, &nnz));
    TRY(spec_int(spec, "longest", 3, ROAD_LAYERS + 2, &longest));
    g.n = o.n, g.seed = (uint64_t)o.seed;
    g.bits = bits_below(o.n / 2 + 1) < 12 ? bits_below(o.n / 2 + 1) : 12;
    int64_t masks = g.bits > 2 ? ((int64_t)1 << (g.bits - 2)) - 1 : 0;
    g.layers = (int)(longest - 2 < masks ? longest - 2 : masks);
    uint64_t degree = o.n > 0 ? (uint64_t)((nnz << 32) / o.n) : 0, full = (uint64_t)97 * ((uint64_t)1 << 32) / 100;
    g.along = degree / 2 < full ? degree / 2 : full;
    uint64_t rest = degree - 2 * g.along;
    for (int layer = 0; layer < g.layers; layer++) {
        g.across[layer] = layer + 1 < g.layers ? rest / 2 : rest;
        rest -= g.across[layer];
    }
    struct maker m = {.rows = o.n, .cols = o.n, .seed = g.seed, .self = &g};
    m.length = road_length;
    m.place = road_place;
    m.weight = weight_symmetric;
    TRY(finish(A, &m, spec, value));
done:
    return status;
}
