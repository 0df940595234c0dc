/* SPDX-License-Identifier: MIT
 *
 * The look: what a matrix on a GPU is known by since its creation. */
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "convert/look.h"
#include "heddle.h"
#include "test.h"

/* A matrix of one entry a row on the emulator, but for the offsets. */
enum { ROWS = 5000 };
static int32_t offsets[ROWS + 1], columns[ROWS];
static double values[ROWS], x[ROWS], y[ROWS];

static void plain_matrix(void)
{
    for (int i = 0; i < ROWS; i++) {
        offsets[i] = columns[i] = i;
        values[i] = 1 + i % 3;
        x[i] = 2;
    }
    offsets[ROWS] = ROWS;
}

static heddle_matrix *matrix_on(heddle *h)
{
    heddle_matrix *A;
    CHECK_OK(heddle_csr(
        &A, h,
        &(heddle_csr_desc){
            .rows = ROWS, .cols = ROWS, .nnz = ROWS, .row_ptr = offsets, .col = columns, .val = values}));
    return A;
}

/* No product follows offsets that lead nowhere, and heddle_check still tells where they are. */
static void refused(heddle *h, const char *where)
{
    heddle_matrix *A = matrix_on(h);
    memset(y, 0x55, sizeof y);
    double before = y[0];
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, x, NULL, y), HEDDLE_BAD_MATRIX, "heddle_check");
    CHECK(y[0] == before);
    CHECK_FAILS(heddle_check(h, A), HEDDLE_BAD_MATRIX, where);
    heddle_matrix_free(A);
}

TEST(offsets_that_lead_nowhere_are_found_at_creation)
{
    static const struct {
        int at;
        int32_t offset;
        const char *where;
    } bad[] = {{17, 16 - 5, "16"}, {2500, -3, "2500"}, {4999, 2000000000, ""},
               {1, INT32_MIN, ""}, {0, 1, ""},         {ROWS / 2, ROWS + 1, ""},
               {0, -5, ""},        {1, -1, ""}};
    heddle *h;
    CHECK_OK(heddle_open(&h, "emu"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        plain_matrix();
        offsets[bad[i].at] = bad[i].offset;
        refused(h, bad[i].where);
    }
    heddle_close(h);
}

/* Arrays that lie on the device are not copied, and their last offset is known by the look alone. */
TEST(the_last_offset_on_a_device_is_checked_too)
{
    heddle *h;
    heddle_matrix *A;
    void *at[3];
    CHECK_OK(heddle_open(&h, "emu"));
    for (int wrong = -1; wrong <= 1; wrong++) {
        const void *const from[3] = {offsets, columns, values};
        const int64_t bytes[3] = {sizeof offsets, sizeof columns, sizeof values};
        plain_matrix();
        offsets[ROWS] += wrong;
        for (int i = 0; i < 3; i++) {
            CHECK_OK(device_alloc(&h->device, &at[i], bytes[i]));
            CHECK_OK(device_copy(&h->device, at[i], from[i], bytes[i]));
        }
        heddle_status status = heddle_csr(&A, h,
                                          &(heddle_csr_desc){.rows = ROWS,
                                                             .cols = ROWS,
                                                             .nnz = ROWS,
                                                             .row_ptr = at[0],
                                                             .col = at[1],
                                                             .val = at[2],
                                                             .where = HEDDLE_ON_DEVICE});
        if (wrong)
            CHECK_FAILS(status, HEDDLE_BAD_ARGUMENT, wrong < 0 ? "row_ptr[5000] is 4999" : "is 5001");
        CHECK(wrong ? !A : status == HEDDLE_OK);
        heddle_matrix_free(A);
        for (int i = 0; i < 3; i++)
            device_free(&h->device, at[i]);
    }
    heddle_close(h);
}

TEST(no_garbage_leads_out_of_the_arrays)
{
    uint64_t random = 88172645463325252u;
    heddle *h;
    CHECK_OK(heddle_open(&h, "emu:wave=64,seed=3"));
    for (int round = 0; round < 60; round++) {
        plain_matrix();
        for (int i = 0; i < ROWS; i += 1 + round * 7) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            offsets[i] = round % 3 == 0 ? (int32_t)random
                                        : (int32_t)(random % (round % 3 == 1 ? ROWS + 1 : 3 * ROWS)) -
                                              (round % 3 == 2 ? ROWS : 0);
        }
        offsets[ROWS] = ROWS;
        heddle_matrix *A = matrix_on(h);
        if (heddle_check(h, A) != HEDDLE_OK)
            CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, x, NULL, y), HEDDLE_BAD_MATRIX, "heddle_check");
        heddle_matrix_free(A);
    }
    heddle_close(h);
}

/* Offsets of 64 bits: what a window's last row would seem to have is more than anyone can write, or count. */
TEST(no_garbage_of_64_bits_keeps_a_look_busy)
{
    static int64_t wide[ROWS + 1];
    const int64_t far = (int64_t)1 << 60;
    heddle *h;
    CHECK_OK(heddle_open(&h, "emu"));
    for (int ends = 0; ends < 2; ends++) { /* it begins far before all others, or ends far behind them */
        heddle_matrix *A;
        plain_matrix();
        for (int row = 0; row <= ROWS; row++)
            wide[row] = row > 4990 ? ends ? far : ROWS : row > 2500 && !ends ? -far : 0;
        wide[ROWS] = ROWS;
        CHECK_OK(heddle_csr(&A, h,
                            &(heddle_csr_desc){.rows = ROWS,
                                               .cols = ROWS,
                                               .nnz = ROWS,
                                               .row_ptr = wide,
                                               .col = columns,
                                               .val = values,
                                               .types.offset = HEDDLE_I64}));
        CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, x, NULL, y), HEDDLE_BAD_MATRIX, "heddle_check");
        CHECK_FAILS(heddle_check(h, A), HEDDLE_BAD_MATRIX, "");
        heddle_matrix_free(A);
    }
    heddle_close(h);
}

/* Every third row seems to end where the matrix does, and the next to begin where it was: together the pieces
 * of these are far more than there is room for. */
TEST(more_pieces_than_a_matrix_can_have_find_no_room)
{
    enum { STEP = 2000, SPIKES = 255, ENTRIES = SPIKES * STEP };
    static int32_t zigzag[SPIKES + 1], zero[ENTRIES];
    static double ones[ENTRIES];
    heddle *h;
    CHECK_OK(heddle_open(&h, "emu:wave=64,seed=5"));
    for (int i = 0; i <= SPIKES; i++)
        zigzag[i] = i % 3 == 2 || i == SPIKES ? ENTRIES : i * STEP;
    heddle_matrix *A;
    CHECK_OK(heddle_csr(
        &A, h,
        &(heddle_csr_desc){
            .rows = SPIKES, .cols = SPIKES, .nnz = ENTRIES, .row_ptr = zigzag, .col = zero, .val = ones}));
    CHECK_FAILS(heddle_mv(h, HEDDLE_N, NULL, A, x, NULL, y), HEDDLE_BAD_MATRIX, "heddle_check");
    CHECK_FAILS(heddle_check(h, A), HEDDLE_BAD_MATRIX, "row_ptr");
    heddle_matrix_free(A);
    heddle_close(h);
}

/* What is held stays below a hundredth of the matrix and 64 KB, also where rows are cut, empty, or short. */
TEST(a_look_holds_next_to_nothing)
{
    static const char *const specs[] = {"grid2d:n=150",
                                        "circuit:n=15000,longest=8000",
                                        "empty:n=200000,share=99",
                                        "dense:rows=40,cols=9000",
                                        "powerlaw:n=60000,mean=12,longest=30000",
                                        "random:n=300,mean=9"};
    heddle *h;
    CHECK_OK(heddle_open(&h, "emu"));
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        heddle_matrix *A;
        heddle_matrix_desc d;
        CHECK_OK(heddle_generate(&A, h, specs[i], HEDDLE_F32));
        CHECK_OK(heddle_matrix_info(A, &d));
        CHECK_THAT(d.look_bytes > 0 && d.look_bytes < d.bytes / 100 + 65536, "%s: %lld of %lld bytes",
                   specs[i], (long long)d.look_bytes, (long long)d.bytes);
        CHECK(d.look_ms > 0);
        heddle_matrix_free(A);
    }
    heddle_close(h);
}

TEST(coordinates_empty_matrices_and_cpus_have_no_look)
{
    heddle *h[2];
    heddle_matrix *A;
    heddle_matrix_desc d;
    static const int64_t none[4];
    CHECK_OK(heddle_open(&h[0], "cpu"));
    CHECK_OK(heddle_open(&h[1], "emu"));
    plain_matrix();
    CHECK_OK(heddle_coo(
        &A, h[1],
        &(heddle_coo_desc){
            .rows = ROWS, .cols = ROWS, .nnz = ROWS, .row = columns, .col = columns, .val = values}));
    CHECK_OK(heddle_matrix_info(A, &d));
    CHECK(d.look_bytes == 0);
    heddle_matrix_free(A);
    CHECK_OK(heddle_csr(
        &A, h[1], &(heddle_csr_desc){.rows = 3, .cols = 3, .row_ptr = none, .types.offset = HEDDLE_I64}));
    CHECK_OK(heddle_matrix_info(A, &d));
    CHECK(d.look_bytes == 0);
    CHECK_OK(heddle_mv(h[1], HEDDLE_N, NULL, A, x, NULL, y));
    CHECK(y[0] == 0 && y[2] == 0);
    heddle_matrix_free(A);
    A = matrix_on(h[0]);
    CHECK_OK(heddle_matrix_info(A, &d));
    CHECK(d.look_bytes == 0 && d.look_ms == 0);
    heddle_matrix_free(A);
    heddle_close(h[0]);
    heddle_close(h[1]);
}

/* Row blocks of windows of so many rows and entries, found with grids of at most so many threads; returns
 * how many.  There are few windows, or so many that they are counted before. */
enum { FEW = 4, MANY = 2, BLOCKS_MOST = 4 * ROWS / MANY };
static int64_t look_within(struct row_block got[BLOCKS_MOST], int window, int64_t threads, int delays)
{
    const struct row_cut cut = {.window = window,
                                .capacity = 2 * window,
                                .whole = 2 * window,
                                .piece = window,
                                .threads = 32,
                                .delays = delays};
    struct looked looked = {{0}, 0};
    heddle *h;
    CHECK_OK(heddle_open(&h, "emu:threads=1"));
    ((struct gpu_head *)h->device.gpu)->info.grid_threads = threads;
    struct work w = {.device = &h->device, .variant = VARIANT_f64_i32, .value = HEDDLE_F64};
    void *row_ptr;
    CHECK_OK(device_alloc(&h->device, &row_ptr, sizeof offsets));
    CHECK_OK(device_copy(&h->device, row_ptr, offsets, sizeof offsets));
    w.product = (struct product){.rows = ROWS, .cols = ROWS, .nnz = ROWS, .array = {row_ptr}};
    CHECK_OK(device_alloc(&h->device, &w.product.prepared, look_bytes(&w, cut)));
    CHECK_OK(gpu_look(&looked, &w, cut));
    const int64_t blocks = looked.result[LOOKED_BLOCKS];
    CHECK(looked.result[LOOKED_BAD] == 0 && blocks >= ROWS / window && blocks <= BLOCKS_MOST);
    CHECK_OK(device_read(&h->device, got, w.product.prepared, blocks * (int64_t)sizeof *got));
    device_free(&h->device, row_ptr);
    device_free(&h->device, w.product.prepared);
    heddle_close(h);
    return blocks;
}

TEST(a_look_whose_grid_is_too_small_covers_all_windows)
{
    static struct row_block some[BLOCKS_MOST], all[BLOCKS_MOST];
    plain_matrix();
    for (int i = 1; i < ROWS; i++) /* rows of 0 to 24 entries: one, several or no block each */
        offsets[i] = i / 25 * 25 + (i % 25 < 20 ? 0 : i % 5);
    for (int window = MANY; window <= FEW; window += FEW - MANY) {
        const int64_t blocks = look_within(all, window, GRID_THREADS, 0);
        CHECK(look_within(some, window, 1024, 0) == blocks);
        CHECK(memcmp(some, all, (size_t)blocks * sizeof *all) == 0);
    }
}

/* The same row blocks by what look.h says of them, one window after the other; returns how many. */
static int64_t blocks_by_hand(struct row_block got[BLOCKS_MOST], int size)
{
    int64_t blocks = 0, pieces = 0;
    for (int row = 0, window = 0, end; row < ROWS; row = end, window++) {
        for (end = row; end < ROWS && offsets[end] + end < (window + 1) * size; end++)
            ;
        const int rest = end > row && offsets[end] - offsets[row] + end - row > 2 * size, head = end - rest;
        if (head > row) /* the lanes that sum a row are the look's to choose */
            got[blocks++] = (struct row_block){offsets[row], row, head - row > 1};
        if (rest && offsets[end] - offsets[head] <= 2 * size)
            got[blocks++] = (struct row_block){offsets[head], head, ONE_ROW};
        for (int k = offsets[head]; rest && offsets[end] - offsets[head] > 2 * size && k < offsets[end];
             k += size)
            got[blocks++] = (struct row_block){k, head, (int32_t)(-1 - pieces++)};
    }
    return blocks;
}

TEST(row_blocks_are_what_they_should_be)
{
    static struct row_block got[BLOCKS_MOST], want[BLOCKS_MOST];
    static const int longest[] = {1, 3, 9, 30, 700, 5000}; /* up to more windows than a wave has lanes */
    for (int round = 0; round < 12; round++) {
        const int size = round < 6 ? FEW : MANY;
        plain_matrix();
        for (int i = 1, n = longest[round % 6], since = 0; i < ROWS; i++, since++) {
            offsets[i] = since == n || (n < ROWS && i % 97 == 0) ? i : offsets[i - 1];
            since = offsets[i] == i ? 0 : since;
        }
        const int64_t blocks = look_within(got, size, round % 2 ? 1024 : GRID_THREADS, 0);
        CHECK(blocks == blocks_by_hand(want, size));
        for (int64_t i = 0; i < blocks; i++)
            CHECK(got[i].begin == want[i].begin && got[i].row == want[i].row &&
                  (got[i].work > 0 ? want[i].work == 1 : got[i].work == want[i].work));
    }
}

TEST(rows_that_wait_for_a_long_one_are_summed_by_more_lanes)
{
    enum { LONG = 30, WINDOW = 64 };
    static struct row_block got[BLOCKS_MOST];
    for (int round = 0; round < 4; round++) {
        const int delays = round % 2, at = round < 2 ? 20 : 100; /* of the first window, or another */
        plain_matrix();
        for (int i = at + 1; i < ROWS; i++)
            offsets[i] = i + LONG - 1 < ROWS ? i + LONG - 1 : ROWS;
        const int64_t blocks = look_within(got, WINDOW, GRID_THREADS, delays);
        for (int64_t i = 0; i + 1 < blocks; i++)
            if (delays && got[i].row <= at && at < got[i + 1].row)
                CHECK(got[i].work > 1);
            else
                CHECK(got[i].work == 1);
    }
}

/* What is counted of the columns of ROWS rows with EACH entries, as immediate products have it, at a wave
 * width, for values of a type.  Returns how many caches the row blocks share on this device. */
enum { EACH = 4 };
static int64_t look_at_columns(struct looked *looked, const char *device, heddle_type value,
                               int32_t (*column)(int row, int entry))
{
    static int32_t ptr[ROWS + 1], col[ROWS * EACH];
    heddle *h;
    void *arrays[2];
    for (int k = 0; k <= ROWS * EACH; k++) {
        if (k % EACH == 0)
            ptr[k / EACH] = k;
        if (k < ROWS * EACH)
            col[k] = column(k / EACH, k % EACH);
    }
    CHECK_OK(heddle_open(&h, device));
    const struct device *d = &h->device;
    CHECK_OK(device_alloc(d, &arrays[0], sizeof ptr));
    CHECK_OK(device_copy(d, arrays[0], ptr, sizeof ptr));
    CHECK_OK(device_alloc(d, &arrays[1], sizeof col));
    CHECK_OK(device_copy(d, arrays[1], col, sizeof col));
    struct work w = {.device = d, .variant = variant_of(value, HEDDLE_I32), .value = value};
    w.product =
        (struct product){.rows = ROWS, .cols = ROWS, .nnz = ROWS * EACH, .array = {arrays[0], arrays[1]}};
    CHECK_OK(device_alloc(d, &w.product.prepared, look_held(&w)));
    CHECK_OK(gpu_look(looked, &w, look_cut(&w)));
    CHECK(looked->result[LOOKED_ENTRIES] > ROWS && looked->result[LOOKED_ROWS] > ROWS / EACH);
    int64_t hot[HOT_MOST];
    CHECK_OK(device_copy(d, hot, (char *)w.product.prepared + looked->hot_at, sizeof hot));
    CHECK_OK(device_sync(d));
    CHECK(memcmp(hot, looked->result + LOOKED_HOT, sizeof hot) == 0);
    const int64_t blocks = looked->result[LOOKED_BLOCKS],
                  together = TOGETHER(blocks, look_at_once(&w), TOGETHER_MOST(vector_size(value)));
    device_free(d, w.product.prepared);
    device_free(d, arrays[0]);
    device_free(d, arrays[1]);
    heddle_close(h);
    return (blocks + together - 1) / together;
}

static int32_t of_a_band(int row, int entry)
{
    return (row + entry) % ROWS;
}
static int32_t of_rows_alike(int row, int entry)
{
    return (void)row, 1000 * entry;
}
static int32_t of_no_order(int row, int entry)
{
    return (int32_t)(((unsigned)row * EACH + (unsigned)entry) * 2654435761u >> 8) % ROWS;
}
/* A quarter of the entries in column 7, an eighth in column 4001; no other column of 200 has a 64th. */
static int32_t of_two_hot_columns(int row, int entry)
{
    return entry == 0 ? 7 : entry == 1 && row % 2 ? 4001 : 20 * ((row * 3 + entry * 77) % 200);
}

TEST(columns_are_counted_as_they_are)
{
    static const char *const devices[] = {"emu:wave=32,seed=3", "emu:wave=64,seed=4,races=1"};
    for (int i = 0; i < 2; i++) {
        struct looked looked;
        const int64_t *const of = looked.result, wave = 32 << i;
        look_at_columns(&looked, devices[i], HEDDLE_F64, of_a_band);
        CHECK(of[LOOKED_NEXT] > of[LOOKED_ROWS] * 9 / 10 && of[LOOKED_ALIKE] == 0 && of[LOOKED_HOT] == -1);
        CHECK(of[LOOKED_CLOSE] > of[LOOKED_ENTRIES] * (wave - 2) / wave &&
              of[LOOKED_CLOSE] < of[LOOKED_ENTRIES] - of[LOOKED_ENTRIES] / wave + wave);
        CHECK(of[LOOKED_CACHED] > of[LOOKED_ENTRIES] * 6 / 10 &&
              of[LOOKED_CACHED] <= of[LOOKED_ENTRIES] * 3 / 4);
        const int64_t caches = look_at_columns(&looked, devices[i], HEDDLE_F64, of_rows_alike);
        CHECK(of[LOOKED_ALIKE] > of[LOOKED_ROWS] * 9 / 10 && of[LOOKED_NEXT] == 0 && of[LOOKED_CLOSE] == 0);
        CHECK(of[LOOKED_CACHED] > of[LOOKED_ENTRIES] * 9 / 10 && of[LOOKED_CACHED] < of[LOOKED_ENTRIES]);
        /* each cache meets the EACH columns for the first time once */
        CHECK_THAT(of[LOOKED_ENTRIES] - of[LOOKED_CACHED] == EACH * caches, "%lld of %lld, %lld caches",
                   (long long)of[LOOKED_CACHED], (long long)of[LOOKED_ENTRIES], (long long)caches);
        CHECK(of[LOOKED_CROWDED] > 13000 && of[LOOKED_CROWDED] < 20000); /* of 65536: one line of four */
        for (int k = 0; k < HOT_MOST; k++)
            CHECK(of[LOOKED_HOT + k] >= 0 && of[LOOKED_HOT + k] % 1000 == 0 &&
                  (k == 0 || of[LOOKED_HOT + k] != of[LOOKED_HOT + k - 1]));
        look_at_columns(&looked, devices[i], HEDDLE_F64, of_no_order);
        CHECK(of[LOOKED_CLOSE] < of[LOOKED_ENTRIES] / 20 && of[LOOKED_CROWDED] < 65536 / 20 &&
              of[LOOKED_HOT] == -1);
        look_at_columns(&looked, devices[i], HEDDLE_F64, of_two_hot_columns);
        CHECK_THAT(of[LOOKED_HOT] == 7 && of[LOOKED_HOT + 1] == 4001 && of[LOOKED_HOT + 2] == -1 &&
                       of[LOOKED_HOT + 3] == -1,
                   "%lld %lld %lld", (long long)of[LOOKED_HOT], (long long)of[LOOKED_HOT + 1],
                   (long long)of[LOOKED_HOT + 2]);
        CHECK_THAT(of[LOOKED_CROWDED] > 15000 && of[LOOKED_CROWDED] < 18500, "%lld",
                   (long long)of[LOOKED_CROWDED]);
    }
}

static int apart;
static int32_t of_two_columns(int row, int entry)
{
    return (void)row, entry % 2 * apart;
}
static int32_t of_256_columns(int row, int entry)
{
    return (row * EACH + entry) % 256;
}

/* Of two columns that fall on one place of the cache it has one. */
TEST(places_and_lines_are_as_many_as_numbers_of_the_vectors_fit)
{
    static const heddle_type types[] = {HEDDLE_F32, HEDDLE_F64,  HEDDLE_C32, HEDDLE_C64,
                                        HEDDLE_F16, HEDDLE_BF16, F32_F64};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct looked looked;
        const int64_t *const of = looked.result, size = (int64_t)vector_size(types[i]);
        for (apart = 1024; apart < ROWS; apart *= 2) {
            look_at_columns(&looked, "emu:wave=32,seed=5", types[i], of_two_columns);
            const int64_t cached = of[LOOKED_CACHED] * 100 / of[LOOKED_ENTRIES];
            CHECK_THAT(apart % CACHE_PLACES(size) ? cached > 95 : cached > 45 && cached <= 50,
                       "%s, %d apart: %lld %%", value_name(types[i]), apart, (long long)cached);
        }
        look_at_columns(&looked, "emu:wave=64,seed=6", types[i], of_256_columns);
        const int64_t mean = 65536 / 256 * 128 / size;
        CHECK_THAT(of[LOOKED_CROWDED] >= mean && of[LOOKED_CROWDED] < mean * 3 / 2, "%s: %lld, not %lld",
                   value_name(types[i]), (long long)of[LOOKED_CROWDED], (long long)mean);
    }
}

/* Which kernel of csr_weft a matrix gets follows from what the look counted. */
struct seen {
    struct gpu_watch watch;
    char entry[64];
};

static heddle_status see(struct gpu_watch *watch, const char *entry)
{
    struct seen *s = (struct seen *)watch;
    snprintf(s->entry, sizeof s->entry, "%s", entry);
    return HEDDLE_OK;
}

TEST(the_way_of_the_transposed_product_follows_from_what_was_counted)
{
    static const struct {
        const char *spec, *entry;
    } cases[] = {
        {"grid2d:n=60", "csr_weft_rows"},                 /* short rows, neighbours add to neighbours */
        {"grid3d:n=6,points=27,dof=3", "csr_weft_alike"}, /* three rows with the same columns */
        {"dense:rows=64,cols=1500", "csr_weft_alike_long"},
        {"dense:rows=12,cols=20000", "csr_weft_entries"}, /* few rows, each for many blocks */
        {"powerlaw:n=3000,mean=12,longest=2500", "csr_weft_entries"},
    };
    heddle *h;
    struct seen seen = {.watch.launched = see};
    CHECK_OK(heddle_open(&h, "emu"));
    ((struct gpu_head *)h->device.gpu)->watch = &seen.watch;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        heddle_matrix *A;
        heddle_matrix_desc d;
        CHECK_OK(heddle_generate(&A, h, cases[i].spec, HEDDLE_F64));
        CHECK_OK(heddle_matrix_info(A, &d));
        double *in = calloc((size_t)d.rows, sizeof *in), *out = calloc((size_t)d.cols, sizeof *out);
        CHECK_OK(heddle_mv(h, HEDDLE_T, NULL, A, in, NULL, out));
        CHECK_THAT(strcmp(seen.entry, cases[i].entry) == 0, "%s: %s", cases[i].spec, seen.entry);
        free(in);
        free(out);
        heddle_matrix_free(A);
    }
    ((struct gpu_head *)h->device.gpu)->watch = NULL;
    heddle_close(h);
}
