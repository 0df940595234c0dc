/* SPDX-License-Identifier: MIT
 *
 * csr_to_tmpl: rows with a common template from CSR.
 *
 * Computes   the arrays that layout.h describes.  A hash a row; a table of hashes, each with its first row,
 *            which is the template; every row compared with its template entry by entry; the rows of a window
 *            sorted by template; then slices and rest.
 * Balance    a few lanes a row where entries are read, a block a window to sort, as many threads as a slice
 *            is high to copy values.
 * Memory     columns are read twice, values once.  Most rows have few templates: a table is asked far more
 *            often than it is written.
 * Order      bitwise the arrays that src/format makes: the first row of a hash is a minimum, everything else
 *            integers and copies.
 */
#define SHARE (TMPL_WINDOW / WINDOW_BLOCK) /* places of a thread */

/* While templates are found, behind the arrays of the source: for every row its place in the table (-1:
 * none), where its list begins and ends if it is a template, and its key; and what the windows take.  The
 * table is the workspace. */
enum { PLACE = 3, LIST, KEY, TOTALS };
/* While slices are made; lists are y, the rest's row and ptr workspace and prepared. */
enum { TO_SLICE = 3, TO_LIST_VAL = TOTALS, TO_ROW = 7 };
/* While values are filled; the rest's row and ptr as before. */
enum { TO_VAL = LIST, TO_REST_COL = KEY, TO_REST_VAL = TOTALS };

/* What a window takes: each an array of windows+1. */
enum { SLICES, LENGTHS, REST, ENTRIES, TALLIES };

/* Rows of a template have the same values, too (tmplv): a fact.  */
enum { VALUED };

/* Dimensions, beside those of the format. */
enum { LANES = 1, MASK /* of places of the table */, WINDOWS };

#include "convert/windows.h"

#ifdef HEDDLE_DEVICE

#define NO_LIST ((uint32_t)TMPL_OFFSETS)
#define ROW_BITS ((uint32_t)TMPL_WINDOW - 1)

/* The table: hashes (0: free), the first row of each as INT32_MAX - row (0: none yet), how many rows have it
 * (counted no further than matters), and behind them how many hashes there are. */
struct table {
    uint64_t *hash;
    int32_t *first, *rows, *distinct;
};
DEVICE struct table table_of(const struct product *p)
{
    const int64_t places = p->dim[MASK] + 1;
    struct table t;
    t.hash = (uint64_t *)p->workspace;
    t.first = (int32_t *)(t.hash + places);
    t.rows = t.first + places;
    t.distinct = t.rows + places;
    return t;
}

DEVICE struct tmpl_bits bits_at(const struct product *p, int64_t entry)
{
    const elem value = simt_readonly((const elem *)p->array[CSR_VAL] + entry);
    struct tmpl_bits bits = {0, 0};
    __builtin_memcpy(&bits, &value, sizeof value);
    return bits;
}

DEVICE int has_same_value(const struct product *p, int64_t a, int64_t b)
{
    const struct tmpl_bits of_a = bits_at(p, a), of_b = bits_at(p, b);
    return of_a.low == of_b.low && of_a.high == of_b.high;
}

/* The place of a hash, which is put there if need be; -1 where there are too many. */
DEVICE int32_t find_place(const struct table *t, int64_t mask, uint64_t hash)
{
    int32_t i = (int32_t)((int64_t)(hash >> 32) & mask);
    for (;;) {
        uint64_t seen = simt_atomic_load(t->hash + i);
        if (seen == 0) {
            if (simt_atomic_load(t->distinct) > TMPL_DISTINCT)
                return -1;
            seen = simt_atomic_cas(t->hash + i, (uint64_t)0, hash);
            if (seen == 0)
                simt_atomic_add(t->distinct, 1);
        }
        if (seen == 0 || seen == hash)
            return i;
        i = (int32_t)((i + 1) & mask);
    }
}

KERNEL(csr_to_tmpl_hash)(struct product p)
{
    const idx *col = (const idx *)p.array[CSR_COL];
    const struct table t = table_of(&p);
    const int lanes = (int)p.dim[LANES], lane = simt_lane() & (lanes - 1);
    for (int64_t i = simt_global_id() / lanes; i < p.rows; i += simt_global_size() / lanes) {
        const struct row r = row_at(&p, i);
        uint64_t hash = 0;
        for (int64_t k = r.n > TMPL_LONGEST ? r.n : lane; k < r.n; k += lanes) {
            const uint64_t spread = TMPL_SPREAD(k, (int64_t)simt_readonly(col + r.begin + k) - i);
            hash += TMPL_MIX(spread);
            if (p.fact[VALUED]) {
                const struct tmpl_bits bits = bits_at(&p, r.begin + k);
                const uint64_t valued = TMPL_SPREAD_VALUE(k, bits);
                hash += TMPL_MIX(valued);
            }
        }
        for (int by = lanes / 2; by > 0; by /= 2)
            hash += simt_shfl_xor(hash, by, lanes); /* unsigned: it may overflow */
        hash |= 1;
        if (lane == 0) {
            const int32_t place = r.n > TMPL_LONGEST ? -1 : find_place(&t, p.dim[MASK], hash);
            const int32_t first = (int32_t)(INT32_MAX - i);
            ((int32_t *)p.array[PLACE])[i] = place;
            if (place < 0)
                continue;
            if (simt_atomic_load(t.first + place) < first)
                simt_atomic_max(t.first + place, first);
            if (simt_atomic_load(t.rows + place) < TMPL_LEAST(p.dim[TMPL_HEIGHT]))
                simt_atomic_add(t.rows + place, 1);
        }
    }
}

/* How long the list of every row is: 0 unless it is a template, and enough rows have it.  A scan makes places
 * of them. */
KERNEL(csr_to_tmpl_lists)(struct product p)
{
    const struct table t = table_of(&p);
    int64_t *list = (int64_t *)p.array[LIST];
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size()) {
        const int32_t place = simt_readonly((const int32_t *)p.array[PLACE] + i);
        const int is_template =
            place >= 0 && simt_readonly((const int32_t *)t.first + place) == (int32_t)(INT32_MAX - i) &&
            simt_readonly((const int32_t *)t.rows + place) >= TMPL_LEAST(p.dim[TMPL_HEIGHT]);
        const int64_t n = is_template ? row_at(&p, i).n : 0;
        list[i + 1] = is_template && n == 0 ? 1 : n;
        if (i == 0)
            list[0] = 0;
    }
}

/* Every row beside its template. */
KERNEL(csr_to_tmpl_keys)(struct product p)
{
    const idx *col = (const idx *)p.array[CSR_COL];
    const struct table t = table_of(&p);
    const int64_t *list = (const int64_t *)p.array[LIST];
    const int lanes = (int)p.dim[LANES], lane = simt_lane() & (lanes - 1);
    for (int64_t i = simt_global_id() / lanes; i < p.rows; i += simt_global_size() / lanes) {
        const int32_t place = simt_readonly((const int32_t *)p.array[PLACE] + i);
        const int64_t first = place < 0 ? i : INT32_MAX - simt_readonly((const int32_t *)t.first + place);
        const int64_t at = simt_readonly(list + first), end = simt_readonly(list + first + 1);
        int32_t differs = place < 0 || at == end;
        if (!differs && first != i) {
            const struct row r = row_at(&p, i), model = row_at(&p, first);
            differs = r.n != model.n;
            for (int64_t k = differs ? r.n : lane; k < r.n; k += lanes)
                differs |=
                    simt_readonly(col + r.begin + k) - i != simt_readonly(col + model.begin + k) - first ||
                    (p.fact[VALUED] && !has_same_value(&p, r.begin + k, model.begin + k));
        }
        differs = wave_max_int(differs, lanes);
        if (lane == 0)
            ((uint32_t *)p.array[KEY])[i] =
                (differs ? NO_LIST : (uint32_t)at) << TMPL_WINDOW_BITS | ((uint32_t)i & ROW_BITS);
    }
}

/* ------------------------------ windows ------------------------------ */

/* Where place i stands among the rows of its template, from begin to end, and what becomes of it. */
struct run {
    int begin, end, kept; /* behind `kept` rows are of the rest */
};
DEVICE struct run run_at(const uint32_t *key, int n, int i, int64_t length, int height)
{
    const uint32_t list = key[i] & ~ROW_BITS;
    struct run r;
    r.begin = search_key(key, i, list);
    r.end = list == NO_LIST << TMPL_WINDOW_BITS ? n : i + search_key(key + i, n - i, list + TMPL_WINDOW);
    const int left = (r.end - r.begin) % height;
    const int all = left >= TMPL_LEAST(height) || length == 0;
    r.kept = list == NO_LIST << TMPL_WINDOW_BITS ? r.begin : all ? r.end : r.end - left;
    return r;
}

/* What the share of a thread takes, and written from `at` on unless `write` is 0. */
DEVICE struct tally do_share(const struct product *p, const uint32_t *key, int n, int64_t first,
                             struct tally at, const int write)
{
    const int height = (int)p->dim[TMPL_HEIGHT], from = simt_thread_id() * SHARE,
              to = from + SHARE < n ? from + SHARE : n;
    struct run run = {0, 0, 0};
    SIMT_ROLLED
    for (int i = from; i < to; i++) {
        const int32_t row = (int32_t)(first + (key[i] & ROW_BITS));
        const int64_t length = row_at(p, row).n;
        if (i == from || i >= run.end)
            run = run_at(key, n, i, length, height);
        if (i >= run.kept) {
            at.of[ENTRIES] += length;
            at.of[REST]++;
            if (write) {
                ((int32_t *)p->workspace)[at.of[REST] - 1] = row;
                ((int64_t *)p->prepared)[at.of[REST]] = at.of[ENTRIES];
            }
            continue;
        }
        const int lane = (i - run.begin) % height;
        if (lane == 0 && write) {
            uint32_t *slice = (uint32_t *)p->array[TO_SLICE] + TMPL_MEMBERS * at.of[SLICES];
            uint16_t *rows = (uint16_t *)p->array[TO_ROW] + height * at.of[SLICES];
            slice[TMPL_AT_VAL] = (uint32_t)at.of[LENGTHS];
            slice[TMPL_AT_OFFSET] = key[i] >> TMPL_WINDOW_BITS;
            slice[TMPL_AT_WINDOW] = (uint32_t)first;
            slice[TMPL_AT_LENGTH] = (uint32_t)length;
            for (int l = run.kept - i; l < height; l++)
                rows[l] = (uint16_t)(TMPL_OFF | (key[i] & ROW_BITS));
        }
        at.of[SLICES] += lane == 0;
        at.of[LENGTHS] += lane == 0 ? length : 0;
        if (write)
            ((uint16_t *)p->array[TO_ROW])[height * (at.of[SLICES] - 1) + lane] =
                (uint16_t)(key[i] & ROW_BITS);
    }
    return at;
}

KERNEL_BOUND(csr_to_tmpl_windows, WINDOW_BLOCK)(struct product p)
{
    SHARED(uint32_t, key, TMPL_WINDOW);
    for (int64_t window = simt_block_id(); window < p.dim[WINDOWS]; window += simt_grid_size()) {
        const int64_t first = window * TMPL_WINDOW;
        const int n = p.rows - first < TMPL_WINDOW ? (int)(p.rows - first) : TMPL_WINDOW;
        uint32_t *keys = (uint32_t *)p.array[KEY] + first;
        for (int i = simt_thread_id(); i < n; i += WINDOW_BLOCK)
            key[i] = keys[i];
        sort_keys(key, n);
        for (int i = simt_thread_id(); i < n; i += WINDOW_BLOCK)
            keys[i] = key[i];
        tally_leave(&p, window, do_share(&p, key, n, first, tally_none(), 0));
        simt_sync();
    }
}

KERNEL_BOUND(csr_to_tmpl_slices, WINDOW_BLOCK)(struct product p)
{
    SHARED(uint32_t, key, TMPL_WINDOW);
    for (int64_t window = simt_block_id(); window < p.dim[WINDOWS]; window += simt_grid_size()) {
        const int64_t first = window * TMPL_WINDOW;
        const int n = p.rows - first < TMPL_WINDOW ? (int)(p.rows - first) : TMPL_WINDOW;
        for (int i = simt_thread_id(); i < n; i += WINDOW_BLOCK)
            key[i] = simt_readonly((const uint32_t *)p.array[KEY] + first + i);
        simt_sync();
        const struct tally mine = do_share(&p, key, n, first, tally_none(), 0);
        do_share(&p, key, n, first, tally_before(&p, window, mine), 1);
        if (window == 0 && simt_thread_id() == 0)
            ((int64_t *)p.prepared)[0] = 0;
        simt_sync();
    }
}

/* Lists of the templates. */
KERNEL(csr_to_tmpl_offsets)(struct product p)
{
    const idx *col = (const idx *)p.array[CSR_COL];
    const int64_t *list = (const int64_t *)p.array[LIST];
    for (int64_t i = simt_global_id(); i < p.rows; i += simt_global_size()) {
        const int64_t at = simt_readonly(list + i), n = simt_readonly(list + i + 1) - at;
        const struct row r = row_at(&p, i);
        for (int64_t k = 0; k < n; k++) {
            ((int32_t *)p.y)[at + k] = r.n == 0 ? 0 : (int32_t)(simt_readonly(col + r.begin + k) - i);
            if (p.fact[VALUED])
                ((elem *)p.array[TO_LIST_VAL])[at + k] =
                    r.n == 0 ? 0 : simt_readonly((const elem *)p.array[CSR_VAL] + r.begin + k);
        }
    }
}

/* ------------------------------ values ------------------------------ */

/* So many threads a slice as it is high: each follows its row. */
KERNEL(csr_to_tmpl_values)(struct product p)
{
    const elem *val = (const elem *)p.array[CSR_VAL];
    const int64_t height = p.dim[TMPL_HEIGHT];
    for (int64_t t = simt_global_id(); t < p.dim[TMPL_SLICES] * height; t += simt_global_size()) {
        const uint32_t *slice = (const uint32_t *)p.array[TO_SLICE] + t / height * TMPL_MEMBERS;
        const uint32_t place = simt_readonly((const uint16_t *)p.array[TO_ROW] + t);
        const uint32_t row = simt_readonly(slice + TMPL_AT_WINDOW) + (place & ROW_BITS),
                       n = simt_readonly(slice + TMPL_AT_LENGTH);
        const int64_t from = simt_readonly((const off *)p.array[CSR_ROW_PTR] + row);
        elem *to = (elem *)p.array[TO_VAL] + simt_readonly(slice + TMPL_AT_VAL) * height + t % height;
        for (uint32_t k = 0; k < n; k++)
            to[k * height] = place & TMPL_OFF ? 0 : simt_readonly(val + from + k);
    }
}

KERNEL(csr_to_tmpl_rest)(struct product p)
{
    const int lanes = (int)p.dim[LANES], lane = simt_lane() & (lanes - 1);
    for (int64_t i = simt_global_id() / lanes; i < p.dim[TMPL_REST]; i += simt_global_size() / lanes) {
        const int64_t *rest_ptr = (const int64_t *)p.prepared;
        const int64_t to = simt_readonly(rest_ptr + i), n = simt_readonly(rest_ptr + i + 1) - to;
        const int32_t row = simt_readonly((const int32_t *)p.workspace + i);
        const int64_t from = simt_readonly((const off *)p.array[CSR_ROW_PTR] + row);
        for (int64_t k = lane; k < n; k += lanes) {
            ((idx *)p.array[TO_REST_COL])[to + k] = simt_readonly((const idx *)p.array[CSR_COL] + from + k);
            ((elem *)p.array[TO_REST_VAL])[to + k] = simt_readonly((const elem *)p.array[CSR_VAL] + from + k);
        }
    }
}

#else
#include "base/memory.h"

/* Everything that is found of a matrix, on the device; and in numbers.  The table and places in it are needed
 * until keys are there. */
struct templates {
    void *table, *place, *list, *key, *totals;
    int64_t height, windows;
    struct counted counted;
};

static void clear(const struct device *d, struct templates *t)
{
    device_free(d, t->table);
    device_free(d, t->place);
    device_free(d, t->list);
    device_free(d, t->key);
    device_free(d, t->totals);
}

static struct work work_of(const struct device *d, const struct csr *A, int64_t height, int valued)
{
    struct work w = work_moving("csr_to_tmpl", d, A);
    w.product.dim[TMPL_HEIGHT] = height;
    w.product.fact[VALUED] = valued;
    w.product.dim[LANES] = lanes_for(d, A->rows, A->nnz);
    return w;
}

/* Templates and, of each row, its own. */
static heddle_status find_templates(struct work *w, struct templates *t)
{
    heddle_status status;
    const struct device *d = w->device;
    int64_t rows = w->product.rows, most = rows < TMPL_DISTINCT ? rows : TMPL_DISTINCT, places = 16;
    int32_t distinct;
    while (places < 4 * most)
        places *= 2;
    int64_t bytes = places * (int64_t)(sizeof(uint64_t) + 2 * sizeof(int32_t));
    TRY(device_alloc(d, &t->table, bytes + (int64_t)sizeof distinct));
    TRY(device_fill(d, t->table, 0, bytes + (int64_t)sizeof distinct));
    TRY(device_alloc(d, &t->place, rows * (int64_t)sizeof(int32_t)));
    TRY(device_alloc(d, &t->list, (rows + 1) * (int64_t)sizeof(int64_t)));
    TRY(device_alloc(d, &t->key, rows * (int64_t)sizeof(uint32_t)));
    w->product.dim[MASK] = places - 1;
    w->product.workspace = t->table;
    w->product.array[PLACE] = t->place;
    w->product.array[LIST] = t->list;
    w->product.array[KEY] = t->key;
    TRY(gpu_run_over(w, "csr_to_tmpl_hash", rows * w->product.dim[LANES]));
    TRY(device_read(d, &distinct, (const char *)t->table + bytes, sizeof distinct));
    TRY(tmpl_few(distinct, 0));
    TRY(gpu_run_over(w, "csr_to_tmpl_lists", rows));
    TRY(gpu_scan(d, t->list, rows + 1));
    TRY(device_read(d, &t->counted.offsets, (const int64_t *)t->list + rows, sizeof t->counted.offsets));
    TRY(tmpl_few(distinct, t->counted.offsets));
    TRY(gpu_run_over(w, "csr_to_tmpl_keys", rows * w->product.dim[LANES]));
done:
    return status;
}

/* What slices are made of. */
static void use(struct work *w, const struct templates *t)
{
    w->product.array[LIST] = t->list;
    w->product.array[KEY] = t->key;
    w->product.array[TOTALS] = t->totals;
    w->product.dim[WINDOWS] = t->windows;
}

static heddle_status inspect(struct work *w, struct templates *t)
{
    heddle_status status;
    const struct device *d = w->device;
    int64_t total[TALLIES];
    t->height = w->product.dim[TMPL_HEIGHT];
    t->windows = (w->product.rows + TMPL_WINDOW - 1) / TMPL_WINDOW;
    if (t->windows == 0)
        return HEDDLE_OK;
    TRY(find_templates(w, t));
    use(w, t);
    TRY(count_windows(w, "csr_to_tmpl_windows", total, &t->totals));
    device_free(d, t->table); /* gpu_scan has waited */
    device_free(d, t->place);
    t->table = t->place = NULL;
    t->counted.slices = total[SLICES];
    t->counted.positions = total[LENGTHS] * w->product.dim[TMPL_HEIGHT];
    t->counted.rest_rows = total[REST];
    t->counted.rest = total[ENTRIES];
done:
    return status;
}

void gpu_tmpl_forget(const struct device *d, struct templates *t)
{
    if (t)
        clear(d, t);
    mem_free(t);
}

heddle_status gpu_tmpl_count(const struct device *d, struct counted *c, const struct csr *A, int64_t height,
                             int valued, struct templates **keep)
{
    heddle_status status;
    struct templates *t = NULL;
    struct work w = work_of(d, A, height, valued);
    TRY(NEW_ZEROED(t, 1));
    TRY(inspect(&w, t));
    *c = t->counted;
    if (keep && tmpl_covers(A, c->rest) == HEDDLE_OK) {
        gpu_tmpl_forget(d, *keep);
        *keep = t;
        t = NULL;
    }
done:
    gpu_tmpl_forget(d, t);
    return status;
}

heddle_status gpu_csr_to_tmpl_values(const struct device *d, struct stored *s, const struct csr *A)
{
    heddle_status status = HEDDLE_OK;
    struct work w = work_of(d, A, s->dim[TMPL_HEIGHT], s->format->valued);
    w.product.dim[TMPL_SLICES] = s->dim[TMPL_SLICES];
    w.product.array[TO_SLICE] = s->array[TMPL_SLICE];
    w.product.array[TO_ROW] = s->array[TMPL_ROW];
    w.product.array[TO_VAL] = s->array[TMPL_VAL];
    w.product.array[TO_REST_COL] = s->array[TMPL_REST_COL];
    w.product.array[TO_REST_VAL] = s->array[TMPL_REST_VAL];
    w.product.workspace = s->array[TMPL_REST_ROW];
    w.product.prepared = s->array[TMPL_REST_PTR];
    if (!s->format->valued)
        TRY(gpu_run_over(&w, "csr_to_tmpl_values", s->dim[TMPL_SLICES] * s->dim[TMPL_HEIGHT]));
    w.product.dim[TMPL_REST] = s->dim[TMPL_REST];
    w.product.dim[LANES] = lanes_for(d, s->dim[TMPL_REST], s->dim[TMPL_ENTRIES]);
    TRY(gpu_run_over(&w, "csr_to_tmpl_rest", s->dim[TMPL_REST] * w.product.dim[LANES]));
done:
    return status;
}

heddle_status gpu_csr_to_tmpl(const struct device *d, struct stored *s, const struct csr *A,
                              struct templates *kept)
{
    heddle_status status = HEDDLE_OK;
    struct templates found = {0};
    struct work w = work_of(d, A, s->dim[TMPL_HEIGHT], s->format->valued);
    if (A->rows == 0)
        return device_fill(d, s->array[TMPL_REST_PTR], 0, sizeof(int64_t));
    if (kept && kept->height == s->dim[TMPL_HEIGHT])
        use(&w, kept);
    else
        TRY(inspect(&w, &found));
    w.product.array[TO_SLICE] = s->array[TMPL_SLICE];
    w.product.array[TO_ROW] = s->array[TMPL_ROW];
    w.product.y = s->array[TMPL_OFFSET];
    w.product.workspace = s->array[TMPL_REST_ROW];
    w.product.prepared = s->array[TMPL_REST_PTR];
    TRY(run_windows(&w, "csr_to_tmpl_slices"));
    w.product.array[TO_LIST_VAL] = s->array[TMPL_VAL];
    TRY(gpu_run_over(&w, "csr_to_tmpl_offsets", A->rows));
    TRY(gpu_csr_to_tmpl_values(d, s, A));
    TRY(device_sync(d));
done:
    clear(d, &found);
    return status;
}
#endif
