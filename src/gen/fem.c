/* SPDX-License-Identifier: MIT
 *
 * fem.c: matrices of finite elements.  Unknowns come in groups (dof) that share their columns.  A node's
 * neighbours are those of a mesh that is numbered by lines and planes: a list of distances, nearest shell
 * first, of which a longer row takes more.  A distance is taken in both directions, so that the structure
 * is symmetric except where one row is longer than the other; row lengths follow a profile, so that any
 * published statistics can be matched. */
#include "gen/families.h"

#define SHELLS 3 /* a shell s holds the steps of at most s along each axis: (7^3 - 1) / 2 distances in all */
#define DISTANCES_MOST 171
#define SHUFFLE_MOST 1024

struct mesh {
    struct profile profile;
    int64_t n, dof, nodes; /* nodes: whole groups; the n % dof rows after them stand alone */
    int64_t plane, line;   /* the numbers of a neighbour in the next plane or line differ by this */
    int distances;
    int64_t distance[DISTANCES_MOST]; /* positive, distinct */
    int64_t shuffle;                  /* so many neighbouring numbers have changed places at random */
    int16_t there[SHUFFLE_MOST], back[SHUFFLE_MOST];
    int64_t far; /* percent of the neighbours that are anywhere */
    uint64_t seed;
};

static void add_distance(struct mesh *m, int64_t distance)
{
    for (int k = 0; k < m->distances; k++)
        if (m->distance[k] == distance)
            return;
    if (distance > 0)
        m->distance[m->distances++] = distance;
}

/* Steps (p, q, r) whose largest is s, for one shell s after the other; of a step and its reverse, the
 * positive one. */
static void list_distances(struct mesh *m)
{
    for (int s = 1; s <= SHELLS; s++)
        for (int p = 0; p <= s; p++)
            for (int q = p ? -s : 0; q <= s; q++)
                for (int r = p || q ? -s : 1; r <= s; r++)
                    if (p == s || q == s || q == -s || r == s || r == -s)
                        add_distance(m, p * m->plane + q * m->line + r);
}

static void list_shuffle(struct mesh *m)
{
    struct permutation order = permutation_for(m->seed ^ 11, m->shuffle);
    for (int64_t i = 0; i < m->shuffle; i++) {
        m->there[i] = (int16_t)permute(&order, i);
        m->back[m->there[i]] = (int16_t)i;
    }
}

/* The number that a node has after (or had before) the shuffle; the last few nodes keep theirs. */
static int64_t renumber(const struct mesh *m, const int16_t *table, int64_t node, int64_t nodes)
{
    int64_t first = node - node % m->shuffle;
    return first + m->shuffle <= nodes ? first + table[node - first] : node;
}

/* The columns of `count` neighbours of `own` among `nodes` nodes, count < nodes, and its own. */
static void place_neighbours(const struct mesh *m, int64_t own, int64_t nodes, int64_t count, int32_t *col)
{
    int64_t far = (count * m->far + below(hash1(m->seed, own), 100)) / 100, near = count - far, placed = 0;
    int64_t node = renumber(m, m->back, own, nodes);
    for (int k = 0; k < m->distances && placed < near; k++) {
        int64_t d = m->distance[k];
        int up = node + d < nodes, down = node >= d;
        if (placed + 1 == near && up && down) /* one direction only: nodes d apart make pairs of one mind */
            *(node / d % 2 ? &up : &down) = 0;
        if (up)
            col[placed++] = (int32_t)renumber(m, m->there, node + d, nodes);
        if (down)
            col[placed++] = (int32_t)renumber(m, m->there, node - d, nodes);
    }
    for (; placed < near; placed++) /* more than the list has: wherever there is room nearby */
        col[placed] = (int32_t)own;
    for (int64_t t = 0; t < far; t++)
        col[placed++] = (int32_t)pair_of(hash1(m->seed ^ 13, t), own, nodes);
    /* The node's own place is not for others: they are settled as if it did not exist. */
    for (int64_t k = 0; k < count; k++)
        col[k] -= col[k] > own || col[k] == nodes - 1;
    int32_t fixed = (int32_t)own;
    sort_columns(col, count);
    settle(col, count, nodes - 1);
    insert_fixed(col, count, &fixed, 1);
}

/* Node numbers become the columns of their groups, from the right, in place.  `surplus` columns too many
 * are left out of the first or last block, whichever is not the row's own. */
static void spread_blocks(int32_t *col, int64_t blocks, int64_t dof, int64_t own, int64_t surplus)
{
    int at_front = blocks > 1 && col[0] != own;
    int64_t out = blocks * dof - surplus;
    for (int64_t b = blocks; b-- > 0;) {
        int64_t first = (int64_t)col[b] * dof, kept = dof, skipped = 0;
        if (at_front && b == 0)
            kept -= surplus, skipped = surplus;
        if (!at_front && b == blocks - 1)
            kept -= surplus;
        for (int64_t d = kept; d-- > 0;)
            col[--out] = (int32_t)(first + skipped + d);
    }
}

/* A row that does not reach beyond its own group: the columns around its diagonal. */
static void place_within(int32_t *col, int64_t length, int64_t row, int64_t dof)
{
    int64_t first = row / dof * dof, start = row - length / 2;
    if (start > first + dof - length)
        start = first + dof - length;
    if (start < first)
        start = first;
    for (int64_t k = 0; k < length; k++)
        col[k] = (int32_t)(start + k);
}

static int64_t mesh_length(const void *self, int64_t row)
{
    const struct mesh *m = self;
    return profile_length(&m->profile, row);
}

static int64_t mesh_place(const void *self, int64_t row, int64_t length, int32_t *col)
{
    const struct mesh *m = self;
    int64_t dof = m->dof, blocks = (length + dof - 1) / dof;
    if (length == 0)
        return 0;
    /* beyond the whole groups, or so full that groups are no matter */
    if (row >= m->nodes * dof || blocks > m->nodes)
        place_neighbours(m, row, m->n, length - 1, col);
    else if (blocks == 1)
        place_within(col, length, row, dof);
    else {
        place_neighbours(m, row / dof, m->nodes, blocks - 1, col);
        spread_blocks(col, blocks, dof, row / dof, blocks * dof - length);
    }
    return length;
}

heddle_status make_blocks(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 9999, .mean = 4500, .shortest = 1};
    struct mesh mesh = {.dof = 3, .shuffle = 1};
    TRY(options_read(&o, spec));
    TRY(options_square(&o, spec));
    TRY(spec_int(spec, "dof", 1, 64, &mesh.dof));
    mesh.n = o.n = o.rows, mesh.nodes = o.n / mesh.dof, mesh.seed = (uint64_t)o.seed;
    mesh.line = root3(mesh.nodes), mesh.plane = mesh.line * mesh.line;
    TRY(spec_int(spec, "plane", 0, SIZE_MOST, &mesh.plane));
    TRY(spec_int(spec, "line", 0, SIZE_MOST, &mesh.line));
    TRY(spec_int(spec, "shuffle", 1, SHUFFLE_MOST, &mesh.shuffle));
    TRY(spec_int(spec, "far", 0, 100, &mesh.far));
    list_distances(&mesh);
    list_shuffle(&mesh);
    struct profile_wish wish = options_wish(&o);
    TRY(options_empty(&wish, &o, spec));
    TRY(no_more_keys(spec));
    wish.multiple = mesh.dof;
    wish.group = (o.run + mesh.dof - 1) / mesh.dof * mesh.dof;
    TRY(family_profile(&mesh.profile, &wish, spec));
    struct maker m = {.rows = o.n, .cols = o.n, .seed = mesh.seed, .self = &mesh};
    m.length = mesh_length;
    m.place = mesh_place;
    m.weight = weight_symmetric;
    TRY(finish(A, &m, spec, value));
done:
    profile_free(&mesh.profile);
    return status;
}
