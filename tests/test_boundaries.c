/* SPDX-License-Identifier: MIT
 *
 * Where pages change their way: rows and matrices of exactly as many entries as something holds, and of
 * one more or less; grids that are too small for the matrix, so that blocks come round; offsets that do
 * not fit into 32 bits.  Integers, so that results are exact. csr_weave and csr_weft, whose capacities
 * follow the device, have tests of their own (test_kernels_gpu.c). */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "bench/guarded.h"
#include "trial.h"

static const char *const devices[] = {"emu:wave=32,seed=11", "emu:wave=64,seed=12"};

/* A product on a GPU device; its y, laid out full of NaN between guards, must be exact. */
static void is_exact(const struct device *d, const char *kernel, const struct csr *A, heddle_op op,
                     const char *what)
{
    struct csr there = {0};
    struct guarded y = {0};
    struct bound *b = NULL;
    int whole = 0;
    int64_t outside, size = (int64_t)type_size(A->value), wrong = 0;
    int64_t n_x = op == HEDDLE_N ? A->cols : A->rows, n_y = op == HEDDLE_N ? A->rows : A->cols;
    void *x = awkward_vector(n_x, A->value, 3, 1), *got = awkward_vector(n_y, A->value, 4, 1),
         *x_there = NULL;
    struct exact *exact = mem_alloc(n_y, sizeof *exact);
    awkward_reference(exact, A, op != HEDDLE_N, x);
    for (int64_t i = 0; i < n_y; i++)
        awkward_put(got, A->value, i, NAN);
    CHECK_OK(device_csr_upload(d, &there, A));
    CHECK_OK(device_alloc(d, &x_there, n_x * size));
    CHECK_OK(device_copy(d, x_there, x, n_x * size));
    CHECK_OK(guarded_new(&y, d, n_y * size));
    CHECK_OK(guarded_set(&y, got));
    heddle_status status = bound_new(&b, d, kernel, &(struct view){.format = HEDDLE_CSR, .csr = there}, op);
    CHECK_THAT(status == HEDDLE_OK || status == HEDDLE_NO_KERNEL, "%s, %s: %s", kernel, what,
               heddle_last_error());
    if (status == HEDDLE_OK) {
        CHECK_OK(bound_run(b, (struct scalars){.alpha = 1}, x_there, y.y));
        CHECK_OK(guarded_get(&y, got, &whole, &outside));
        for (int64_t i = 0; i < n_y; i++)
            wrong += !awkward_good(value_at(got, A->value, i), &exact[i], (struct awkward_scalars){1, 0}, 0,
                                   A->value, 1);
        CHECK_THAT(whole && wrong == 0, "%s, op %d, %s: %lld entries are wrong%s", kernel, op, what,
                   (long long)wrong, whole ? "" : ", and it wrote outside of y");
    }
    bound_free(b);
    guarded_free(&y);
    device_free(d, x_there);
    device_csr_free(d, &there);
    mem_free(x), mem_free(got), mem_free(exact);
}

static int skipped(const struct kernel *k)
{
    return k->device != DEVICE_gpu || !awkward_wants(k->name) || strncmp(k->name, "csr_we", 6) == 0;
}

/* Every kernel that computes op without a transpose of its own. */
static void every_kernel(const struct device *d, const struct csr *A, const char *what)
{
    for (int k = 0; k < kernel_count(); k++)
        if (!skipped(kernel_at(k)))
            is_exact(d, kernel_at(k)->name, A, kernel_at(k)->ops & OPS_N ? HEDDLE_N : HEDDLE_T, what);
    if (awkward_wants("csr5")) /* where its own rule has small tiles, too */
        is_exact(d, "csr5:sigma=16", A, HEDDLE_N, what);
}

static struct device device_of(const char *name)
{
    struct device d = {.kind = DEVICE_gpu};
    CHECK_OK(gpu_open(&d.gpu, name));
    return d;
}

/* All of them on two devices, with values of another type on each. */
static void on_both(const char *const names[2], const struct awkward *w)
{
    for (int i = 0; i < 2; i++) {
        struct device d = device_of(names[i]);
        struct csr A;
        CHECK_OK(awkward_make(&A, w, i ? HEDDLE_F32 : HEDDLE_F64, HEDDLE_I32));
        every_kernel(&d, &A, w->name);
        csr_free(&A);
        gpu_close(d.gpu);
    }
}

/* ---- capacities ---- */

static int64_t capacity; /* of the matrices below */

static int64_t beside(int64_t i, int64_t rows, int64_t cols)
{
    const int64_t n[] = {capacity, 1, capacity - 1, 0, capacity + 1, 2, 0};
    return (void)rows, (void)cols, n[i % 7];
}
static int64_t exactly(int64_t i, int64_t rows, int64_t cols)
{
    return (void)rows, (void)cols, i == 1 ? capacity - 3 : i == 2 ? 3 : 0;
}
static int64_t one_more(int64_t i, int64_t rows, int64_t cols)
{
    return (void)rows, (void)cols, i == 1 ? capacity - 3 : i == 2 ? 4 : 0;
}
static int64_t strewn(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return (void)n, (void)random, (37 * i + 11 * j) % cols;
}

/* Lanes, waves, blocks and slices; tiles of csr_merge (5, 7, 9 items, 128 and 256 threads), blocks of
 * csr_adaptive (128 to 512 threads by 4 and 8, and four of these), chunks of csr_hola, tiles of csr5, bins
 * of csr_to_sell. */
static const int64_t capacities[] = {4,    8,    16,   32,   64,   128,  256,  512,  640,  768,  896,
                                     1024, 1152, 1280, 1792, 2048, 2304, 2560, 3072, 4096, 8192, 16384};

TEST(rows_and_matrices_of_exactly_a_capacity_and_one_more_are_exact)
{
    static const struct awkward shapes[] = {{"rows beside", "", 7, 0, beside, strewn},
                                            {"all exactly", "", 5, 0, exactly, strewn},
                                            {"all and one", "", 5, 0, one_more, strewn}};
    for (int i = 0; i < 2; i++) {
        struct device d = device_of(devices[i]);
        for (size_t k = 0; k < sizeof capacities / sizeof capacities[0]; k++)
            for (int s = 0; s < 3; s++) {
                struct awkward w = shapes[s];
                struct csr A;
                char what[64];
                capacity = capacities[k];
                w.cols = capacity + 2;
                if ((capacity > 4096 && s > 0 && !trial_slow()) || (capacity > 4096 && i == 1))
                    continue;
                if (trial_brief() && (int)k % 2 != i) /* every other one at each wave width */
                    continue;
                snprintf(what, sizeof what, "%s %lld", w.name, (long long)capacity);
                CHECK_OK(awkward_make(&A, &w, (k + (size_t)s) % 2 ? HEDDLE_F32 : HEDDLE_F64, HEDDLE_I32));
                every_kernel(&d, &A, what);
                csr_free(&A);
            }
        gpu_close(d.gpu);
    }
}

/* One entry in many rows: a block has far more rows than entries, and looks for those that have some. */
static int64_t seldom(int64_t i, int64_t rows, int64_t cols)
{
    return (void)rows, (void)cols, i % 613 == 5 || i % 1999 == 7;
}

TEST(rows_with_entries_are_found_among_very_many_without)
{
    static const struct awkward w = {"few in many", "", 40000, 300, seldom, strewn};
    on_both(devices, &w);
}

/* The last carry of a row that is longer than all else, at the end and before short rows; hooks see to it
 * that blocks which join its pieces fence them. */
static int64_t last_carry(int64_t i, int64_t rows, int64_t cols)
{
    return (void)rows, (void)cols, i == 2 ? 20000 : i == 4 ? 20001 : i % 2;
}

TEST(the_last_carry_of_a_row_of_20000_is_added_once)
{
    static const struct awkward w = {"row of 20,000", "a lost last carry", 5, 20010, last_carry, strewn};
    struct device d = device_of("emu:wave=32,seed=11,races=1");
    struct csr A;
    CHECK_OK(awkward_make(&A, &w, HEDDLE_F64, HEDDLE_I32));
    every_kernel(&d, &A, w.name);
    if (awkward_wants("csr_weave"))
        is_exact(&d, "csr_weave", &A, HEDDLE_N, w.name);
    if (awkward_wants("csr_weft"))
        is_exact(&d, "csr_weft", &A, HEDDLE_T, w.name);
    csr_free(&A);
    gpu_close(d.gpu);
}

/* Several waves share a long row: it is seen by the launch that scales y for them before they add to it. */
struct scaled_watch {
    struct gpu_watch watch;
    int scaled;
};

static heddle_status see_scale(struct gpu_watch *watch, const char *entry)
{
    ((struct scaled_watch *)watch)->scaled += strstr(entry, "_scale") != NULL;
    return HEDDLE_OK;
}

TEST(a_long_row_is_shared_by_waves)
{
    static const struct awkward w = {"row of 20,000", "work that is not even", 5, 20010, last_carry, strewn};
    static const char *const shares[] = {"csr_balance", "csr_ginkgo"};
    struct device d = device_of(devices[0]);
    struct csr A;
    CHECK_OK(awkward_make(&A, &w, HEDDLE_F64, HEDDLE_I32));
    for (int i = 0; i < 2; i++) {
        struct scaled_watch seen = {{see_scale}, 0};
        ((struct gpu_head *)d.gpu)->watch = &seen.watch;
        if (awkward_wants(shares[i])) {
            is_exact(&d, shares[i], &A, HEDDLE_N, w.name);
            CHECK_THAT(seen.scaled == 1, "%s: %d launches scale y", shares[i], seen.scaled);
        }
    }
    ((struct gpu_head *)d.gpu)->watch = NULL;
    csr_free(&A);
    gpu_close(d.gpu);
}

/* Rows of which a block of threads has several each, up to the last of the matrix: hooks see loads behind
 * their offsets. */
static int64_t short_rows(int64_t i, int64_t rows, int64_t cols)
{
    return (void)rows, (void)cols, 1 + i % 3 / 2;
}

TEST(more_rows_than_a_block_has_threads_are_read_and_none_behind)
{
    static const struct awkward w = {"short rows", "offsets behind the last", 700, 90, short_rows, strewn};
    static const char *const hooked[] = {"emu:wave=32,seed=13,races=1", "emu:wave=64,seed=14,races=1"};
    on_both(hooked, &w);
}

/* Row blocks of as many rows as csr_weft has a table for, and of one more, in turn: two of these are empty,
 * so that rows and entries come to the window of a large matrix, 2048. */
static int64_t a_table_and_more(int64_t i, int64_t rows, int64_t cols)
{
    const int64_t k = i % 2049;
    return (void)rows, (void)cols, k != 1524 && k != 1724;
}

TEST(row_blocks_of_exactly_a_table_of_rows_and_one_more_are_exact)
{
    static const struct awkward w = {
        "a table of rows", "a row too many", 15 * 2049, 90, a_table_and_more, strewn};
    static const char *const small[] = {"emu:wave=32,threads=1,seed=15", "emu:wave=64,threads=1,seed=16"},
                             *const ways[] = {"csr_weft:way=entries", "csr_weft:way=cached",
                                              "csr_weave:way=blocks"};
    for (int i = 0; i < 6; i++) {
        struct device d = device_of(small[i % 2]);
        struct csr A;
        CHECK_OK(awkward_make(&A, &w, HEDDLE_F64, HEDDLE_I32));
        if (awkward_wants(i < 4 ? "csr_weft" : "csr_weave"))
            is_exact(&d, ways[i / 2], &A, i < 4 ? HEDDLE_T : HEDDLE_N, w.name);
        csr_free(&A);
        gpu_close(d.gpu);
    }
}

/* ---- blocks that come round ---- */

/* What is launched with the grid's limit in mind is right with any; a kernel may refuse, but not be wrong. */
TEST(blocks_of_every_kernel_come_round_where_grids_are_small)
{
    static const char *const names[] = {"even rows", "huge row in the middle", "power law",
                                        "scattered entries"};
    for (int i = 0; i < 2; i++) {
        struct device d = device_of(devices[i]);
        ((struct gpu_head *)d.gpu)->info.grid = 3;
        for (int m = 0; m < awkward_count; m++)
            for (size_t k = 0; k < 4; k++) {
                struct csr A;
                if (strcmp(awkward[m].name, names[k]) != 0 || (int)k % 2 != i)
                    continue;
                CHECK_OK(awkward_make(&A, &awkward[m], HEDDLE_F64, HEDDLE_I32));
                every_kernel(&d, &A, awkward[m].name);
                if (awkward_wants("csr_weave"))
                    is_exact(&d, "csr_weave:way=blocks", &A, HEDDLE_N, awkward[m].name);
                if (awkward_wants("csr_weft"))
                    is_exact(&d, "csr_weft:way=entries", &A, HEDDLE_T, awkward[m].name);
                csr_free(&A);
            }
        gpu_close(d.gpu);
    }
}

/* ---- offsets beyond 2^31 ---- */

#define FAR (((int64_t)1 << 31) + 5)
#define FAR_ROWS 300

/* Rows that begin behind 2^31 entries which belong to none: pages of them are never touched, and take no
 * memory.  No such matrix passes heddle_check, but what a kernel does row by row must not care. */
struct far {
    struct csr A;
    int64_t row_ptr[FAR_ROWS + 1];
    float x[FAR_ROWS], y[FAR_ROWS], want[FAR_ROWS];
};

static void far_new(struct far *f, heddle_op op)
{
    const int64_t each = 7, nnz = FAR + FAR_ROWS * each, cols = 90;
    void *map[2];
    for (int i = 0; i < 2; i++) {
        map[i] = mmap(NULL, (size_t)nnz * 4, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (map[i] == MAP_FAILED)
            abort();
    }
    int32_t *col = map[0];
    float *val = map[1];
    for (int64_t i = 0; i < FAR_ROWS; i++) {
        f->x[i] = (float)(i % 5 - 2);
        f->y[i] = NAN;
        f->want[i] = 0;
    }
    for (int64_t i = 0; i <= FAR_ROWS; i++)
        f->row_ptr[i] = FAR + i * each;
    for (int64_t i = 0; i < FAR_ROWS; i++)
        for (int64_t k = f->row_ptr[i]; k < f->row_ptr[i + 1]; k++) {
            col[k] = (int32_t)((i * 13 + k * 29) % cols);
            val[k] = (float)(1 + k % 3);
            if (op == HEDDLE_N)
                f->want[i] += val[k] * f->x[col[k]];
            else
                f->want[col[k]] += val[k] * f->x[i];
        }
    f->A = (struct csr){.rows = FAR_ROWS,
                        .cols = cols,
                        .nnz = nnz,
                        .value = HEDDLE_F32,
                        .offset = HEDDLE_I64,
                        .row_ptr = f->row_ptr,
                        .col = col,
                        .val = val};
}

static void far_end(struct far *f, heddle_op op, const char *kernel)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < (op == HEDDLE_N ? f->A.rows : f->A.cols); i++)
        wrong += f->y[i] != f->want[i];
    CHECK_THAT(wrong == 0, "%s: %lld entries are wrong behind %lld others", kernel, (long long)wrong,
               (long long)FAR);
    munmap(f->A.col, (size_t)f->A.nnz * 4);
    munmap(f->A.val, (size_t)f->A.nnz * 4);
}

static void far_rows(const struct device *d, const char *kernel, heddle_op op)
{
    struct far f;
    struct bound *b;
    far_new(&f, op);
    CHECK_OK(bound_new(&b, d, kernel, &(struct view){.format = HEDDLE_CSR, .csr = f.A}, op));
    if (b)
        CHECK_OK(bound_run(b, (struct scalars){.alpha = 1}, f.x, f.y));
    bound_free(b);
    far_end(&f, op, kernel);
}

/* The kernels of csr_weave that read rows directly, as its launch would refuse such offsets. */
static void far_directly(const struct device *d)
{
    static const char *const entries[] = {
        "csr_weave1", "csr_weave1_deep", "csr_weave1_passing", "csr_weave1_deep_passing", "csr_weave2",
        "csr_weave4", "csr_weave8",      "csr_weave16",        "csr_weave16_passing",     "csr_weave32"};
    const float one = 1;
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        struct far f;
        far_new(&f, HEDDLE_N);
        struct work w = {.page = "csr_weave", .device = d, .variant = VARIANT_f32_o64, .value = HEDDLE_F32};
        w.product =
            (struct product){.rows = f.A.rows,
                             .cols = f.A.cols,
                             .nnz = f.A.nnz,
                             .x = f.x,
                             .y = f.y,
                             .array = {[CSR_ROW_PTR] = f.row_ptr, [CSR_COL] = f.A.col, [CSR_VAL] = f.A.val}};
        memcpy(w.product.alpha, &one, sizeof one);
        CHECK_OK(gpu_run_rows(&w, entries[i], atoi(entries[i] + strlen("csr_weave"))));
        far_end(&f, HEDDLE_N, entries[i]);
    }
}

TEST(rows_behind_2_to_the_31_entries_are_exact)
{
    static const char *const by_rows[] = {"csr_naive", "csr_vector", "csr_vector:lanes=32", "csr_naive_t"};
    struct device cpu = {.threads = 2, .isa = cpu_this()->isa};
    for (int i = 0; i < 2; i++) {
        /* its memory is the host's: pages read these arrays where they are */
        struct device d = device_of(devices[i]);
        for (size_t k = 0; k < sizeof by_rows / sizeof by_rows[0]; k++)
            far_rows(&d, by_rows[k], k == 3 ? HEDDLE_T : HEDDLE_N);
        if (awkward_wants("csr_weave"))
            far_directly(&d);
        gpu_close(d.gpu);
    }
    far_rows(&cpu, "cpu_csr", HEDDLE_N);
    if (getenv("HEDDLE_SLOW_TESTS"))
        far_rows(&cpu, "cpu_csr_t", HEDDLE_T); /* shares out all entries, also those of no row: 12 s */
}

/* ---- more than 2^31 entries ---- */

/* Entries repeat after a PERIOD: col and val are one small file, mapped again and again. */
#define PERIOD ((int64_t)1 << 18)
#define PERIODS ((int64_t)12289)
#define HUGE_ROWS 61
#define HUGE_COLS 97

static void *mapped_again(const void *period, int64_t bytes)
{
    int file = memfd_create("period", 0);
    char *p =
        mmap(NULL, (size_t)(bytes * PERIODS), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(p != MAP_FAILED && write(file, period, (size_t)bytes) == bytes);
    for (int64_t i = 0; p != MAP_FAILED && i < PERIODS; i++)
        CHECK(mmap(p + i * bytes, (size_t)bytes, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED);
    close(file);
    return p;
}

/* Long rows, and short ones behind them all. */
static int64_t huge_offset(int64_t row)
{
    const int64_t nnz = PERIOD * PERIODS, left = HUGE_ROWS - row;
    return left <= 10 ? nnz - 7 * left : nnz / HUGE_ROWS * row + 11 * (row > 0);
}

/* The sums of a row's values in each column. */
static void sums_of_row(double *sum, int64_t row, const int32_t *col, const double *val)
{
    for (int64_t k = huge_offset(row), end = huge_offset(row + 1), whole; k < end; k += whole * PERIOD) {
        whole = k % PERIOD == 0 ? (end - k) / PERIOD : 0;
        if (whole == 0)
            sum[col[k % PERIOD]] += val[k % PERIOD], k++;
        for (int64_t i = 0; i < (whole ? PERIOD : 0); i++)
            sum[col[i]] += (double)whole * val[i];
    }
}

static void huge_product(const struct device *d, const struct kernel *k, const struct csr *A,
                         double sum[HUGE_ROWS][HUGE_COLS])
{
    const int transposed = !(k->ops & OPS_N);
    double x[HUGE_COLS], y[HUGE_COLS], want[HUGE_COLS] = {0};
    struct bound *b = NULL;
    int64_t wrong = 0;
    for (int64_t i = 0; i < HUGE_COLS; i++)
        x[i] = (double)(i % 5 - 2), y[i] = NAN;
    for (int64_t i = 0; i < HUGE_ROWS; i++)
        for (int64_t j = 0; j < HUGE_COLS; j++)
            want[transposed ? j : i] += sum[i][j] * x[transposed ? i : j];
    CHECK_OK(bound_new(&b, d, k->name, &(struct view){.format = HEDDLE_CSR, .csr = *A},
                       transposed ? HEDDLE_T : HEDDLE_N));
    if (b)
        CHECK_OK(bound_run(b, (struct scalars){.alpha = 1}, x, y));
    for (int64_t i = 0; i < (transposed ? HUGE_COLS : HUGE_ROWS); i++)
        wrong += y[i] != want[i];
    CHECK_THAT(b && wrong == 0, "%s: %lld entries are wrong", k->name, (long long)wrong);
    bound_free(b);
}

TEST(more_than_2_to_the_31_entries_are_multiplied_on_cpus)
{
    static double sum[HUGE_ROWS][HUGE_COLS];
    if (!trial_slow()) /* seconds for each kernel */
        return;
    struct device cpu = {.threads = 4, .isa = cpu_this()->isa}; /* one begins behind 2^31 */
    int32_t *col = mem_alloc(PERIOD, sizeof *col);
    double *val = mem_alloc(PERIOD, sizeof *val);
    int64_t row_ptr[HUGE_ROWS + 1];
    for (int64_t i = 0; i < PERIOD; i++) {
        col[i] = (int32_t)((i * 29 + i / 1000) % HUGE_COLS);
        val[i] = (double)(1 + i % 3);
    }
    for (int64_t i = 0; i <= HUGE_ROWS; i++) {
        row_ptr[i] = huge_offset(i);
        if (i < HUGE_ROWS)
            sums_of_row(sum[i], i, col, val);
    }
    struct csr A = {.rows = HUGE_ROWS,
                    .cols = HUGE_COLS,
                    .nnz = PERIOD * PERIODS,
                    .value = HEDDLE_F64,
                    .offset = HEDDLE_I64,
                    .row_ptr = row_ptr,
                    .col = mapped_again(col, PERIOD * (int64_t)sizeof *col),
                    .val = mapped_again(val, PERIOD * (int64_t)sizeof *val)};
    for (int k = 0; k < kernel_count(); k++)
        if (kernel_at(k)->device == DEVICE_cpu && kernel_at(k)->format == FORMAT_csr &&
            awkward_wants(kernel_at(k)->name))
            huge_product(&cpu, kernel_at(k), &A, sum);
    munmap(A.col, (size_t)(PERIOD * PERIODS) * sizeof *col);
    munmap(A.val, (size_t)(PERIOD * PERIODS) * sizeof *val);
    mem_free(col), mem_free(val);
}
