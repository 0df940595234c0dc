/* SPDX-License-Identifier: MIT
 *
 * circuit.c: circuits and optimisation: sparse matrices of short rows whose structure is symmetric, with a
 * few rows and columns (supply rails) that meet a large part of the others, or with the blocks of a saddle
 * point. */
#include "gen/families.h"

/* -------------------------------------------------------- circuit ----------------------------- */

/* Rail d is a row and column of its own, met by one node in each of `size` equal stretches of the matrix:
 * so a node can tell whether it is met, and the rail can list those it meets. */
#define RAILS_MOST 16

struct rail {
    int64_t at;   /* its row and column */
    int64_t size; /* nodes that it meets, itself not counted */
};

struct circuit {
    struct profile profile;       /* of what rows have besides the rails */
    int64_t n, hood, far, rails;  /* hood: nodes of a neighbourhood */
    struct rail rail[RAILS_MOST]; /* ascending at */
    uint64_t seed;
};

/* The node of stretch t that a rail meets: stretches cut the nodes without the rails into `size` parts. */
static int64_t met_in(const struct circuit *c, int64_t rail, int64_t t)
{
    int64_t nodes = c->n - c->rails, size = c->rail[rail].size;
    int64_t begin = t * nodes / size, end = (t + 1) * nodes / size;
    return begin + below(hash2(c->seed ^ 3, rail, t), end - begin);
}

static int meets(const struct circuit *c, int64_t rail, int64_t node)
{
    int64_t nodes = c->n - c->rails, size = c->rail[rail].size;
    return size > 0 && met_in(c, rail, ((node + 1) * size - 1) / nodes) == node;
}

/* Nodes are the rows without the rails; -1 for a rail. */
static int64_t node_of(const struct circuit *c, int64_t row)
{
    int64_t before = 0;
    while (before < c->rails && c->rail[before].at < row)
        before++;
    return before < c->rails && c->rail[before].at == row ? -1 : row - before;
}

static int64_t rail_of(const struct circuit *c, int64_t row)
{
    int64_t r = 0;
    while (c->rail[r].at != row)
        r++;
    return r;
}

static int64_t circuit_length(const void *self, int64_t row)
{
    const struct circuit *c = self;
    int64_t node = node_of(c, row);
    if (node < 0)
        return c->rail[rail_of(c, row)].size + 1;
    int64_t length = profile_length(&c->profile, node);
    for (int64_t r = 0; r < c->rails; r++)
        length += meets(c, r, node);
    return length;
}

/* Neighbour k of a node: its partner in pairing k of its neighbourhood, or of all nodes in `far` percent
 * of the cases.  Neighbourhoods of about 4 sigma nodes (a power of two: pairing is cheapest then) begin at
 * other places for odd k, so that they overlap. */
static int64_t neighbour(const struct circuit *c, int64_t node, int64_t k)
{
    int64_t nodes = c->n - c->rails, size = c->hood, shift = k % 2 ? size / 2 : 0;
    int64_t begin = (node + shift) / size * size - shift, end = begin + size < nodes ? begin + size : nodes;
    begin = begin < 0 ? 0 : begin;
    int64_t other = begin + pair_of(hash2(c->seed, begin, k), node - begin, end - begin);
    if (below(hash2(c->seed ^ 5, node < other ? node : other, k), 100) >= c->far)
        return other;
    return pair_of(hash1(c->seed ^ 9, k), node, nodes);
}

/* All columns are placed among the nodes; columns of rails, and the row's own, are put in between
 * afterwards. */
static int64_t circuit_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    const struct circuit *c = self;
    int64_t node = node_of(c, row), nodes = c->n - c->rails, count = 0, met = 0;
    int32_t own = (int32_t)node, rails[RAILS_MOST];
    if (node < 0) {
        int64_t rail = rail_of(c, row);
        for (; count < c->rail[rail].size; count++)
            col[count] = (int32_t)met_in(c, rail, count);
        rails[met++] = (int32_t)row;
    } else {
        for (int64_t k = 0; k < c->rails; k++)
            if (meets(c, k, node))
                rails[met++] = (int32_t)c->rail[k].at;
        for (; count < length - met - 1; count++) {
            int64_t other = neighbour(c, node, count);
            col[count] = (int32_t)(other - (other > node || other == nodes - 1));
        }
        sort_columns(col, count);
        settle(col, count, nodes - 1);
        insert_fixed(col, count++, &own, 1);
    }
    /* From node numbers to columns: past the rails that stand before; then the rails that are met. */
    for (int64_t k = 0, before = 0; k < count; k++) {
        while (before < c->rails && c->rail[before].at - before <= col[k])
            before++;
        col[k] += (int32_t)before;
    }
    for (int64_t k = 0; k < met; k++)
        col[count++] = rails[k];
    sort_columns(col, count);
    return count;
}

/* Rails halve in size from the longest on and stand at places spread over the matrix. */
static heddle_status read_rails(struct circuit *c, struct spec *spec)
{
    heddle_status status = HEDDLE_OK;
    c->rails = 3;
    if (c->n < 4 * c->rails)
        c->rails = 0;
    TRY(spec_int(spec, "dense", 0, c->n / 4 < RAILS_MOST ? c->n / 4 : RAILS_MOST, &c->rails));
    int64_t longest = c->n / 2;
    /* rails do not meet each other */
    TRY(spec_int(spec, "longest", 1, c->n - c->rails + (c->rails > 0), &longest));
    for (int64_t d = 0; d < c->rails; d++) {
        c->rail[d].at = c->n * (2 * d + 1) / (2 * c->rails);
        c->rail[d].size = (longest - 1) >> d;
    }
done:
    return status;
}

/* What is left for the profile of the nodes when the rails have had their share.  The longest of its rows
 * has `most` entries, the rails that it meets not counted. */
static heddle_status share_entries(struct options *o, const struct circuit *c)
{
    int64_t most = 40, nodes = c->n - c->rails;
    for (int64_t d = 0; d < c->rails; d++)
        o->nnz -= 2 * c->rail[d].size + 1;
    /* the diagonal and the rails are more than the mean of a small matrix */
    if (o->nnz < nodes && !o->nnz_given)
        o->nnz = nodes;
    if (o->nnz < nodes)
        return fail(HEDDLE_BAD_ARGUMENT,
                    "circuit: the diagonal and the dense rows and columns alone are %lld entries more",
                    (long long)(nodes - o->nnz));
    most = most < nodes && o->nnz <= most * nodes ? most : nodes;
    if (o->longest > 0 && o->longest - c->rails < most)
        most = o->longest > c->rails ? o->longest - c->rails : 0;
    o->rows = nodes, o->cols = most;
    o->shortest = o->shortest > 1 ? o->shortest : 1;
    o->longest = c->rails > 0 ? 0 : o->longest; /* the first rail is the longest row */
    return HEDDLE_OK;
}

heddle_status make_circuit(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 20000, .mean = 600, .shortest = 1};
    struct circuit c = {.far = 10};
    int64_t sigma = 300;
    TRY(options_read(&o, spec));
    TRY(options_square(&o, spec));
    c.n = o.rows, c.seed = (uint64_t)o.seed;
    TRY(spec_int(spec, "sigma", 1, SIZE_MOST, &sigma));
    c.hood = (int64_t)1 << bits_below(4 * sigma);
    TRY(spec_int(spec, "far", 0, 100, &c.far));
    TRY(read_rails(&c, spec));
    TRY(no_more_keys(spec));
    TRY(share_entries(&o, &c));
    struct profile_wish wish = options_wish(&o);
    wish.shape = SHAPE_EXPONENTIAL;
    if (o.deviation < 0 && o.rows > 0)
        wish.deviation = 60 * (o.nnz / o.rows - 1);
    TRY(family_profile(&c.profile, &wish, spec));
    struct maker m = {.rows = c.n, .cols = c.n, .seed = c.seed, .self = &c};
    m.length = circuit_length;
    m.place = circuit_place;
    m.weight = weight_symmetric;
    TRY(finish(A, &m, spec, value));
done:
    profile_free(&c.profile);
    return status;
}

/* -------------------------------------------------------- kkt --------------------------------- */

/* The saddle point of a constrained optimisation: H on the variables, in blocks of 2, constraints C and
 * their transpose, and a regularised zero block D, which is diagonal:
 *
 *     [ H  C' ]
 *     [ C  D  ]
 *
 * C is made first and transposed, so that the whole is symmetric in structure and in values. */
struct kkt {
    int64_t variables;
    struct csr C, T; /* T = C transposed */
};

static int64_t kkt_length(const void *self, int64_t row)
{
    const struct kkt *k = self;
    if (row >= k->variables) {
        int64_t i = row - k->variables;
        return csr_offset(&k->C, i + 1) - csr_offset(&k->C, i) + 1;
    }
    int64_t paired = (row ^ 1) < k->variables;
    return csr_offset(&k->T, row + 1) - csr_offset(&k->T, row) + 1 + paired;
}

static int64_t kkt_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    const struct kkt *k = self;
    int64_t count = 0;
    if (row < k->variables) {
        for (int64_t j = row & ~(int64_t)1; j <= (row | 1) && j < k->variables; j++)
            col[count++] = (int32_t)j;
        for (int64_t at = csr_offset(&k->T, row); count < length; at++)
            col[count++] = (int32_t)(k->T.col[at] + k->variables);
    } else {
        for (int64_t at = csr_offset(&k->C, row - k->variables); count < length - 1; at++)
            col[count++] = k->C.col[at];
        col[count++] = (int32_t)row;
    }
    return count;
}

/* C has the shape of a least-squares problem: rows follow a slanted line over the variables. */
static heddle_status make_constraints(struct csr *C, const struct options *o, const struct scatter *rule,
                                      const struct spec *spec)
{
    heddle_status status = HEDDLE_OK;
    struct profile profile = {0};
    struct profile_wish wish = options_wish(o);
    TRY(family_profile(&profile, &wish, spec));
    TRY(build_scatter(C, rule, o, &profile, HEDDLE_F32));
done:
    profile_free(&profile);
    return status;
}

heddle_status make_kkt(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 10000, .mean = 600};
    struct kkt k = {0};
    struct scatter rule = {.sigma = 100, .far = 5};
    int64_t share = 40;
    TRY(options_read(&o, spec));
    TRY(options_square(&o, spec));
    TRY(spec_int(spec, "sigma", 0, SIZE_MOST, &rule.sigma));
    TRY(spec_int(spec, "far", 0, 100, &rule.far));
    TRY(spec_int(spec, "share", 0, 90, &share));
    TRY(no_more_keys(spec));
    struct maker m = {.rows = o.rows, .cols = o.rows, .seed = (uint64_t)o.seed, .self = &k};
    int64_t constraints = o.rows * share / 100;
    k.variables = o.rows - constraints;
    int64_t rest = (o.nnz - o.rows - k.variables / 2 * 2) / 2, most = constraints * k.variables;
    if (o.nnz_given && (rest < 0 || rest > most))
        return fail(HEDDLE_BAD_ARGUMENT, "kkt: %lld entries are outside %lld..%lld for these sizes",
                    (long long)o.nnz, (long long)(o.rows + k.variables),
                    (long long)(o.rows + k.variables + 2 * most));
    o.nnz = rest < 0 ? 0 : rest < most ? rest : most;
    o.rows = constraints, o.cols = k.variables;
    o.longest -= o.longest > 1; /* the entry of D */
    o.shortest -= o.shortest > 0;
    if (o.shortest == 0)
        o.shortest = o.nnz >= constraints;
    TRY(make_constraints(&k.C, &o, &rule, spec));
    TRY(csr_transpose(&k.T, &k.C));
    m.length = kkt_length;
    m.place = kkt_place;
    m.weight = weight_symmetric;
    TRY(finish(A, &m, spec, value));
done:
    csr_free(&k.C);
    csr_free(&k.T);
    return status;
}
