/* SPDX-License-Identifier: MIT
 *
 * fem.c: matrices of finite elements on unstructured meshes.  Unknowns come in groups (dof) that share their columns;
 * a node's neighbours stand in nine short runs, as a numbering by planes and lines of a mesh gives: three lines in each
 * of three planes.  Row lengths follow a profile, so that any published length statistics can be matched. */
#include "gen/families.h"

#define RUNS 9

struct mesh {
    struct profile profile;
    int64_t n, dof, nodes; /* nodes: whole groups; the n % dof rows after them stand alone */
    int64_t plane, line;   /* distances, in nodes */
    int64_t far;           /* percent of the neighbours that are anywhere */
    uint64_t seed;
};

/* Wishes for `count` neighbours of a node out of `nodes`, itself not among them.  A run's place wanders a little from
 * one patch of the mesh to the next, and its first node from one node to the next. */
static void place_neighbours(const struct mesh *m, int64_t node, int64_t nodes, int64_t count, int32_t *col)
{
    struct random r = random_for(m->seed, node);
    for (int64_t k = 0, run = 0; run < RUNS; run++) {
        int64_t end = count * (run + 1) / RUNS, half = (end - k) / 2;
        int64_t drift = below(hash2(m->seed, node / 64, run), 1 + m->line / 2) - m->line / 4;
        int64_t start = node + (run / 3 - 1) * m->plane + (run % 3 - 1) * m->line - half + (run == RUNS / 2 ? 0 : drift);
        for (; k < end; k++) {
            start += random_percent(&r, 25);
            col[k] = m->far > 0 && random_percent(&r, m->far) ? (int32_t)random_below(&r, nodes)
                                                              : reflect(start, nodes);
            start++;
        }
    }
    sort_columns(col, count);
    settle(col, count, nodes);
}

/* Node numbers become the columns of their groups, from the right, in place.  `surplus` columns too many are left out of
 * the first or last block, whichever is not the row's own. */
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
    if (row >= m->nodes * dof || blocks > m->nodes) { /* beyond the whole groups, or so full that groups are no matter */
        int32_t own = (int32_t)row;
        place_neighbours(m, row, m->n - 1, length - 1, col);
        insert_fixed(col, length - 1, &own, 1);
        return length;
    }
    if (blocks == 1) {
        place_within(col, length, row, dof);
        return length;
    }
    /* The node's own columns are always there; the others are placed as if the node did not exist. */
    int32_t own = (int32_t)(row / dof);
    place_neighbours(m, own, m->nodes - 1, blocks - 1, col);
    insert_fixed(col, blocks - 1, &own, 1);
    spread_blocks(col, blocks, dof, own, blocks * dof - length);
    return length;
}

heddle_status make_blocks(struct csr *A, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct options o = {.n = 9999, .mean = 4500, .shortest = 1};
    struct mesh mesh = {.dof = 3};
    TRY(options_read(&o, spec));
    TRY(options_square(&o, spec));
    TRY(spec_int(spec, "dof", 1, 64, &mesh.dof));
    mesh.n = o.n = o.rows, mesh.nodes = o.n / mesh.dof, mesh.seed = (uint64_t)o.seed;
    mesh.line = root3(mesh.nodes), mesh.plane = mesh.line * mesh.line;
    TRY(spec_int(spec, "plane", 0, SIZE_MOST, &mesh.plane));
    TRY(spec_int(spec, "line", 0, SIZE_MOST, &mesh.line));
    TRY(spec_int(spec, "far", 0, 100, &mesh.far));
    TRY(no_more_keys(spec));
    struct profile_wish wish = options_wish(&o);
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
