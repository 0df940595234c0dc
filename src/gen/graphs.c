/* SPDX-License-Identifier: MIT
 *
 * graphs.c: adjacency matrices of graphs: recursive (rmat), road networks, circuits.  A graph is usually
 * drawn edge by edge and then sorted; here each row draws its own edges, from the distribution that the
 * drawing by edges would give it or so that both ends of an edge find it, so that no list of edges is ever
 * held. */
#include "gen/families.h"

/* -------------------------------------------------------- rmat -------------------------------- */

/* An edge chooses one of four quadrants with probabilities a, b, c, d, then one of its quadrants, and so
 * on: each level fixes one bit of the row and of the column.  Given the row, the number of its edges is a
 * Poisson number whose mean depends on how many of the row's bits are 1, and the bits of its columns
 * follow level by level.  Repeated edges are merged.  The numbering is shuffled, else the first rows are
 * the longest. */
struct rmat {
    int64_t n, edges;
    int levels;
    int64_t a, b, c, d;        /* percent */
    struct poisson degree[64]; /* by the number of ones */
    int64_t most;              /* no row has more edges */
    uint64_t threshold[2];     /* of 65536: a column bit is 1, given the row bit */
    int shuffle;
    struct permutation number;
    uint64_t seed;
};

static void set_degrees(struct rmat *g)
{
    int64_t highest = 0;
    for (int ones = 0; ones <= g->levels; ones++) {
        int64_t expected = g->edges * 65536;
        for (int level = 0; level < g->levels; level++) {
            int64_t share = level < ones ? g->c + g->d : g->a + g->b;
            expected = expected / 100 * share + expected % 100 * share / 100;
        }
        g->degree[ones] = poisson_for(expected);
        highest = expected > highest ? expected : highest;
    }
    /* normal numbers end at eight deviations */
    g->most = (highest >> 16) + 64 + (root2((uint64_t)highest) >> 8) * 9;
    g->most = g->most < g->n ? g->most : g->n;
}

/* Edges that leave vertex v. */
static int64_t rmat_edges(const struct rmat *g, int64_t v)
{
    struct random r = random_for(~g->seed, v);
    int64_t count = random_poisson(&r, &g->degree[__builtin_popcountll((uint64_t)v)]);
    return count < g->most ? count : g->most;
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
    set_degrees(g);
done:
    return status;
}

heddle_status make_rmat(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 16384};
    struct rmat g;
    TRY(read_rmat(&g, &o, spec));
    struct maker m = {.rows = g.n, .cols = g.n, .seed = g.seed, .self = &g, .at_most = g.most + 1};
    m.length = rmat_length;
    m.place = rmat_place;
    TRY(finish(A, &m, spec, value));
done:
    return status;
}

/* -------------------------------------------------------- road -------------------------------- */

/* Roads are long paths with crossings.  Neighbours in the numbering are joined in most cases; crossings
 * join a node with others of its tile of 2^bits nodes: in layer k the nodes of a tile are paired by
 * flipping the bits of a mask, which both ends of an edge can work out.  Each layer is half as dense as
 * the one before.  A hub now and then has all layers, and so the largest degree. */
#define ROAD_LAYERS 62

struct road {
    int64_t n;
    int bits, layers;
    /* For i and i+1, then for the pairs of each layer: of 2^32, the probability of an edge, and a key for
     * its hash. */
    uint64_t chance[ROAD_LAYERS + 1], key[ROAD_LAYERS + 1];
    uint64_t tile_key;
};

static int is_hub(const struct road *g, int64_t i)
{
    return (i & (((int64_t)16 << g->bits) - 1)) == (int64_t)1 << g->bits >> 1;
}

/* Does the edge between low and high, low < high, exist?  Both ends come to the same answer. */
static int has_edge(const struct road *g, int kind, int64_t low, int64_t high)
{
    return mix(g->key[kind] + (uint64_t)low * 0xd1342543de82ef95u) >> 32 < g->chance[kind] ||
           is_hub(g, low) || is_hub(g, high);
}

/* Masks flip no bit below 4, so a partner is never a neighbour in the numbering, and the masks of a tile's
 * layers all differ: they follow each other, around the end, from a first one that differs from tile to
 * tile. */
static int64_t road_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    const struct road *g = self;
    int64_t count = 0, masks = ((int64_t)1 << g->bits >> 2) - 1;
    if (row > 0 && has_edge(g, 0, row - 1, row))
        col[count++] = (int32_t)(row - 1);
    if (row + 1 < g->n && has_edge(g, 0, row, row + 1))
        col[count++] = (int32_t)(row + 1);
    int64_t mask = g->layers > 0 ? below(mix(g->tile_key + (uint64_t)(row >> g->bits)), masks) : 0;
    for (int layer = 1; layer <= g->layers; layer++) {
        mask = mask < masks ? mask + 1 : 1;
        int64_t other = row ^ mask << 2;
        if (other < g->n && has_edge(g, layer, row < other ? row : other, row < other ? other : row))
            col[count++] = (int32_t)other;
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

/* 97 percent of the paths hold together if the mean degree allows; crossings make up the rest. */
static void set_chances(struct road *g, int64_t nnz)
{
    uint64_t degree = g->n > 0 ? (uint64_t)((nnz << 32) / g->n) : 0,
             full = (uint64_t)97 * ((uint64_t)1 << 32) / 100;
    g->chance[0] = degree / 2 < full ? degree / 2 : full;
    uint64_t rest = degree - 2 * g->chance[0];
    for (int layer = 1; layer <= g->layers; layer++) {
        g->chance[layer] = layer < g->layers ? rest / 2 : rest;
        rest -= g->chance[layer];
    }
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
    g.n = o.n;
    g.bits = bits_below(o.n / 2 + 1) < 12 ? bits_below(o.n / 2 + 1) : 12;
    int64_t masks = g.bits > 2 ? ((int64_t)1 << g.bits >> 2) - 1 : 0;
    g.layers = (int)(longest - 2 < masks ? longest - 2 : masks);
    g.tile_key = hash1((uint64_t)o.seed, -1);
    for (int kind = 0; kind <= g.layers; kind++)
        g.key[kind] = hash1((uint64_t)o.seed, kind);
    set_chances(&g, nnz);
    struct maker m = {.rows = o.n, .cols = o.n, .seed = (uint64_t)o.seed, .self = &g};
    m.length = road_length;
    m.place = road_place;
    m.weight = weight_symmetric;
    TRY(finish(A, &m, spec, value));
done:
    return status;
}
