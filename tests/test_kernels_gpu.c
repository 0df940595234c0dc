/* SPDX-License-Identifier: MIT
 *
 * A GPU kernel is tested by existing: every kernel x variant x operation x alpha and beta x awkward matrix x emulated device,
 * at both wave widths.  HEDDLE_TEST_DEVICES="cuda:0" (names between blanks) runs the same on other devices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "awkward.h"
#include "base/memory.h"
#include "convert/convert.h"
#include "plan/plan.h"
#include "test.h"

#define GUARD 8 /* entries before and behind y that must survive */
#define ENTRIES_MOST 20000 /* larger matrices take the emulator too long */

static const heddle_type types[VARIANT_COUNT][2] = {
#define VARIANT(name, real, off, value, offset) {value, offset},
#include "matrix/variants.def"
#undef VARIANT
};

static const struct scalars scalars[] = {{1, 0}, {-2, 0.5}, {1, 1}, {0, 3}, {0, 0}, {3, 0}};
#define SCALARS (int)(sizeof scalars / sizeof scalars[0])

/* One case: everything that a check needs to know and to name.  x, y and the view are on the device, the rest is here. */
struct trial {
    const char *name, *kernel, *matrix;
    struct device device;
    struct csr A, on_device;
    struct view view;
    heddle_op op;
    int64_t n_x, n_y;
    void *x, *y;              /* on the device; y with its guards */
    void *x_here, *y0, *got;  /* x; y before; y behind a product */
    struct exact *exact;      /* of op(A) x */
};

static int64_t y_bytes(const struct trial *t)
{
    return (t->n_y + 2 * GUARD) * (int64_t)type_size(t->A.value);
}

static char *at(const struct trial *t, void *p, int64_t i)
{
    return (char *)p + i * (int64_t)type_size(t->A.value);
}

static void trial_new(struct trial *t, const struct awkward *w, int variant, heddle_op op, int exact)
{
    CHECK_OK(awkward_make(&t->A, w, types[variant][0], types[variant][1]));
    if (!exact)
        awkward_randomise(&t->A, 7);
    t->matrix = w->name;
    t->op = op;
    t->n_x = op == HEDDLE_N ? w->cols : w->rows;
    t->n_y = op == HEDDLE_N ? w->rows : w->cols;
    t->x_here = awkward_vector(t->n_x, t->A.value, 3, exact);
    t->y0 = awkward_vector(t->n_y + 2 * GUARD, t->A.value, 4, exact);
    t->got = awkward_vector(t->n_y + 2 * GUARD, t->A.value, 5, exact);
    t->exact = mem_alloc(t->n_y, sizeof *t->exact);
    awkward_reference(t->exact, &t->A, op != HEDDLE_N, t->x_here);
    CHECK_OK(device_csr_upload(&t->device, &t->on_device, &t->A));
    CHECK_OK(device_alloc(&t->device, &t->x, t->n_x * (int64_t)type_size(t->A.value)));
    CHECK_OK(device_copy(&t->device, t->x, t->x_here, t->n_x * (int64_t)type_size(t->A.value)));
    CHECK_OK(device_alloc(&t->device, &t->y, y_bytes(t)));
    t->view = (struct view){.format = HEDDLE_CSR, .csr = t->on_device};
}

static void trial_free(struct trial *t)
{
    csr_free(&t->A);
    device_csr_free(&t->device, &t->on_device);
    device_free(&t->device, t->x);
    device_free(&t->device, t->y);
    mem_free(t->x_here);
    mem_free(t->y0);
    mem_free(t->got);
    mem_free(t->exact);
}

/* y0, with NaN instead where y must not be read. */
static void set_y(struct trial *t, double beta)
{
    memcpy(t->got, t->y0, (size_t)y_bytes(t));
    for (int64_t i = 0; beta == 0 && i < t->n_y; i++)
        awkward_put(t->got, t->A.value, i + GUARD, NAN);
    CHECK_OK(device_copy(&t->device, t->y, t->got, y_bytes(t)));
    CHECK_OK(device_sync(&t->device));
}

static int64_t wrong_entries(const struct trial *t, struct scalars s, int exact)
{
    int64_t wrong = 0;
    size_t guard = GUARD * type_size(t->A.value);
    for (int64_t i = 0; i < t->n_y; i++)
        wrong += !awkward_good(value_at(t->got, t->A.value, i + GUARD), &t->exact[i],
                               (struct awkward_scalars){s.alpha, s.beta}, value_at(t->y0, t->A.value, i + GUARD), t->A.value,
                               exact);
    wrong += memcmp(t->got, t->y0, guard) != 0;
    wrong += memcmp(at(t, t->got, t->n_y + GUARD), at(t, t->y0, t->n_y + GUARD), guard) != 0;
    return wrong;
}

/* One product with a bound kernel: `got` has the result. */
static void multiply(struct trial *t, struct bound *b, struct scalars s)
{
    set_y(t, s.beta);
    CHECK_OK(bound_run(b, s, t->x, at(t, t->y, GUARD)));
    CHECK_OK(device_read(&t->device, t->got, t->y, y_bytes(t)));
}

static void check_scalars(struct trial *t, struct bound *b, int exact, int pairs)
{
    for (int i = 0; i < pairs; i++) {
        multiply(t, b, scalars[i]);
        int64_t wrong = wrong_entries(t, scalars[i], exact);
        CHECK_THAT(wrong == 0, "%s on %s, '%s', op %d, type %d/%d, alpha %g, beta %g: %lld entries are wrong", t->kernel,
                   t->name, t->matrix, t->op, t->A.value, t->A.offset, scalars[i].alpha, scalars[i].beta, (long long)wrong);
    }
}

/* Does bound_new give the kernel or a good reason not to?  NULL: a reason. */
static struct bound *bind(struct trial *t)
{
    struct bound *b;
    heddle_status status = bound_new(&b, &t->device, t->kernel, &t->view, t->op);
    CHECK_THAT(status == HEDDLE_OK || (status == HEDDLE_NO_KERNEL && !b && heddle_last_error()[0]), "%s on %s, '%s': %s (%s)",
               t->kernel, t->name, t->matrix, heddle_status_name(status), heddle_last_error());
    return b;
}

/* ---- what is tried ---- */

/* The devices of a test; `hooked` ones look for races, and are the emulator's only. */
static const char *const emulated[] = {"emu:wave=32,seed=1", "emu:wave=64,seed=2", NULL};
static const char *const hooked[] = {"emu:wave=32,seed=3,races=1", "emu:wave=64,seed=4,races=1", NULL};

#define DEVICES_MOST 8

static void find_devices(const char *name[DEVICES_MOST], const char *const usual[])
{
    static char text[256];
    const char *asked = getenv("HEDDLE_TEST_DEVICES");
    int count = 0;
    if (asked && usual == emulated) {
        snprintf(text, sizeof text, "%s", asked);
        for (char *save = NULL, *word = strtok_r(text, " ", &save); word && count < DEVICES_MOST - 1; word = strtok_r(NULL, " ", &save))
            name[count++] = word;
    } else {
        for (; usual[count]; count++)
            name[count] = usual[count];
    }
    name[count] = NULL;
}

struct scope {
    const char *const *devices; /* emulated or hooked */
    unsigned variants;          /* bits */
    int exact;
    int64_t rows;               /* matrices with more, or as many columns, are left out: groups of lanes take the emulator long */
};
#define ALL_VARIANTS ((1u << VARIANT_COUNT) - 1)
#define ANY_ROWS INT64_MAX
#define FEW_ROWS 2100
#define TWO_VARIANTS (1u << VARIANT_f64_i32 | 1u << VARIANT_f32_o64) /* each type once: for what does not depend on types */

static int small_enough(const struct awkward *w)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < w->rows; i++)
        entries += w->length(i, w->rows, w->cols);
    return entries <= ENTRIES_MOST;
}

/* With HEDDLE_SLOW_TESTS=1, as `make check-full` sets it, everything meets everything. */
static int slow(void)
{
    return getenv("HEDDLE_SLOW_TESTS") != NULL;
}

static void on_device(const char *name, const struct scope *scope, int m, void (*body)(struct trial *t))
{
    struct gpu *gpu = NULL;
    CHECK_OK(gpu_open(&gpu, name));
    for (int variant = 0; gpu && variant < VARIANT_COUNT; variant++)
        for (int op = HEDDLE_N; op <= HEDDLE_T; op++) {
            struct trial t = {.name = name, .device = {.kind = DEVICE_gpu, .gpu = gpu}};
            if (!(scope->variants >> variant & 1))
                continue;
            trial_new(&t, &awkward[m], variant, (heddle_op)op, scope->exact);
            for (int k = 0; k < kernel_count(); k++)
                if (kernel_at(k)->device == DEVICE_gpu && awkward_wants(kernel_at(k)->name) &&
                    (op == HEDDLE_N || kernel_at(k)->ops & OPS_T || variant == VARIANT_f64_i32 || slow())) {
                    t.kernel = kernel_at(k)->name;
                    body(&t);
                }
            trial_free(&t);
        }
    gpu_close(gpu);
}

/* Runs `body` for each device x matrix x variant x op x kernel; but unless there is time, a kernel that does T only by way of an
 * explicit transpose shows that in one variant. */
static void for_all(struct scope scope, void (*body)(struct trial *t))
{
    const char *name[DEVICES_MOST];
    find_devices(name, scope.devices);
    for (int d = 0; name[d]; d++)
        for (int m = 0; m < awkward_count; m++)
            if (awkward[m].rows <= scope.rows && awkward[m].cols <= scope.rows && small_enough(&awkward[m]))
                on_device(name[d], &scope, m, body);
}

/* ---- properties ---- */

static void exactly(struct trial *t)
{
    struct bound *b = bind(t);
    if (b)
        check_scalars(t, b, 1, (t->A.rows <= FEW_ROWS && t->A.cols <= FEW_ROWS) || slow() ? SCALARS : 2);
    bound_free(b);
}

/* With NaN in y wherever beta is 0.  Large matrices meet two pairs of scalars, unless there is time, the others all. */
TEST(every_kernel_is_exact_on_small_integers)
{
    for_all((struct scope){emulated, ALL_VARIANTS, 1, ANY_ROWS}, exactly);
}

static void within_bounds(struct trial *t)
{
    struct bound *b = bind(t);
    if (b)
        check_scalars(t, b, 0, 2);
    bound_free(b);
}

TEST(every_kernel_is_within_the_error_bound_on_random_data)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 0, slow() ? ANY_ROWS : FEW_ROWS}, within_bounds);
}

static void two_products(struct trial *t)
{
    struct bound *b = bind(t);
    if (b)
        check_scalars(t, b, 1, 2);
    bound_free(b);
}

TEST(no_kernel_races_on_shared_or_global_memory)
{
    for_all((struct scope){hooked, TWO_VARIANTS, 1, FEW_ROWS}, two_products);
}

static void all_options(struct trial *t)
{
    const char *name = t->kernel;
    const struct option *o = kernel_options(kernel_by_name(name));
    for (int i = 0; o[i].name; i++)
        for (int j = 0; j < o[i].count; j++) {
            char spec[64], value[OPTION_SPELLED];
            option_spell(value, &o[i], o[i].value[j]);
            snprintf(spec, sizeof spec, "%s:%s=%s", name, o[i].name, value);
            t->kernel = spec;
            two_products(t);
        }
    t->kernel = name;
}

static int64_t seven_entries(int64_t i, int64_t rows, int64_t cols)
{
    (void)i;
    (void)rows;
    (void)cols;
    return 7;
}

/* A tenth of all entries within one line of y, a quarter within thirty others. */
static int64_t crowded_column(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    const int64_t part = (int64_t)(random % 100), other = (int64_t)(random / 100 % 1000000);
    (void)i;
    (void)j;
    (void)n;
    return part < 10 ? other % 16 : part < 35 ? 64 * (1 + other % 30) + other / 30 % 16 : other % cols;
}

/* Seven entries, and one row that goes into pieces. */
static int64_t seven_or_many_entries(int64_t i, int64_t rows, int64_t cols)
{
    return i == rows / 2 ? 9000 : seven_entries(i, rows, cols);
}

/* A third of all entries in 200 columns that lie far from each other. */
static int64_t popular_column(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    const int64_t other = (int64_t)(random / 3 % 1000000000);
    (void)i;
    (void)j;
    (void)n;
    return random % 3 == 0 ? other % 200 * (cols / 200) : other % cols;
}

/* Where a large share of all entries goes to one line of y, csr_weft adds up in copies of it, and where it goes to a few columns, in a
 * hoard of these; small matrices are not worth the sample that finds out, unless asked. */
TEST(copies_and_hoards_are_added_to_y_once)
{
    static const struct awkward lines = {"many crowded lines", "more lines than have copies", 3000, 100000, seven_entries, crowded_column};
    static const struct awkward popular = {"popular columns", "a hoard has them", 3000, 400000, seven_or_many_entries, popular_column};
    const struct awkward *const matrices[] = {&awkward[21], &awkward[20], &lines, &popular};
    static const char *const specs[] = {"csr_weft:way=1,sample=always", "csr_weft:way=1near,sample=always",
                                        "csr_weft:way=32,sample=always", "csr_weft:way=entries,sample=always"};
    static const char *const names[] = {"emu:wave=32,seed=5,races=1", "emu:wave=64,seed=6,races=1"};
    CHECK(strstr(awkward[20].name, "a wide matrix") && strstr(awkward[21].name, "a wide matrix"));
    for (int i = 0; i < 32 && awkward_wants("csr_weft"); i++) {
        struct gpu *gpu;
        CHECK_OK(gpu_open(&gpu, names[i % 2]));
        struct trial t = {.name = names[i % 2], .kernel = specs[i / 2 % 4], .device = {.kind = DEVICE_gpu, .gpu = gpu}};
        trial_new(&t, matrices[i / 8], i % 2 ? VARIANT_f32_o64 : VARIANT_f64_i32, HEDDLE_T, 1);
        two_products(&t);
        trial_free(&t);
        gpu_close(gpu);
    }
}

/* More entries than one block takes, be it in rows that are short, long or huge. */
static int64_t crowded_rows(int64_t i, int64_t rows, int64_t cols)
{
    (void)rows;
    return i < 600 ? 14 : i < 650 ? 300 : i == 1500 ? cols : i % 3 == 0;
}

static int64_t strewn_column(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    (void)n;
    (void)random;
    return (37 * i + 11 * j) % cols;
}

/* Every such matrix by every way, with blocks in another order. */
static void every_way(const char *kernel, const char *const *ways, size_t count, const char *more, const struct awkward *matrix,
                      heddle_op op)
{
    static const char *const names[] = {"emu:wave=32,seed=7,races=1", "emu:wave=64,seed=8,races=1"};
    for (size_t i = 0; i < 2 * count && awkward_wants(kernel); i++) {
        char spec[48];
        struct gpu *gpu;
        snprintf(spec, sizeof spec, "%s:way=%s%s", kernel, ways[i / 2], more);
        CHECK_OK(gpu_open(&gpu, names[i % 2]));
        struct trial t = {.name = names[i % 2], .kernel = spec, .device = {.kind = DEVICE_gpu, .gpu = gpu}};
        trial_new(&t, matrix, i % 2 ? VARIANT_f32_o64 : VARIANT_f64_i32, op, 1);
        two_products(&t);
        trial_free(&t);
        gpu_close(gpu);
    }
}

/* Rows that begin and end where pieces of 1024 entries do, and beside it. */
static int64_t rows_like_pieces(int64_t i, int64_t rows, int64_t cols)
{
    static const int64_t n[] = {1024, 2048, 1000, 24, 0, 1023, 1, 1025, 2047, 0, 3072, 1};
    (void)rows;
    (void)cols;
    return n[i % 12];
}

/* The same behind 5 entries, of which the first row has as many fewer: pieces are counted from a boundary of 32 on. */
static int64_t rows_off_lines(int64_t i, int64_t rows, int64_t cols)
{
    return i == 0 ? 5 : i < 16 ? 0 : rows_like_pieces(i - 16, rows, cols) - (i == 16 ? 5 : 0);
}

/* Rows of as many entries as a window, a capacity, a row that is not cut, or several pieces of csr_weave have in a small matrix (768, 960,
 * 1536), and beside it. */
static int64_t rows_at_limits(int64_t i, int64_t rows, int64_t cols)
{
    static const int64_t n[] = {768, 767, 769, 0, 960, 959, 961, 958, 1536, 1, 1537, 1535, 2304, 2305, 2303, 3072, 0, 24};
    (void)rows;
    (void)cols;
    return n[i % 18];
}

/* More short rows in a row block than it has threads, behind a long one. */
static int64_t many_short_rows(int64_t i, int64_t rows, int64_t cols)
{
    (void)rows;
    return i == 700 ? cols / 2 : i % 11 == 0 ? 40 : i % 2;
}

TEST(csr_weave_takes_every_row_block_once)
{
    static const struct awkward matrices[] = {
        {"crowded rows", "row blocks taken twice or not at all", 2600, 9000, crowded_rows, strewn_column},
        {"huge rows", "rows of more pieces than a block has threads", 2600, 600000, crowded_rows, strewn_column},
        {"rows like pieces", "rows that are cut where pieces end", 47, 4000, rows_like_pieces, strewn_column},
        {"rows off lines", "row blocks that begin within a line", 63, 4000, rows_off_lines, strewn_column},
        {"rows at limits", "a limit that is one too high or too low", 19, 4000, rows_at_limits, strewn_column},
        {"many short rows", "rows behind those that have threads", 5000, 9000, many_short_rows, strewn_column},
    };
    static const char *const ways[] = {"auto", "blocks"};
    for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++)
        every_way("csr_weave", ways, sizeof ways / sizeof ways[0], "", &matrices[i], HEDDLE_N);
}

/* Thousands of rows with next to nothing, of which a chunk has more than can be taken entry by entry if nobody sees to it, and one
 * that is full: its chunk is taken in pieces. */
static int64_t thin_rows(int64_t i, int64_t rows, int64_t cols)
{
    (void)rows;
    return i == 1500 ? cols : i % 3 == 0;
}

TEST(every_way_through_csr_weft_takes_every_chunk_once)
{
    static const struct awkward matrices[] = {
        {"crowded chunks", "chunks taken twice or not at all", 2600, 9000, crowded_rows, strewn_column},
        {"thin chunks", "more rows than there is room for", 9000, 9000, thin_rows, strewn_column},
        {"rows off lines", "pieces that begin within a line", 63, 4000, rows_off_lines, strewn_column},
    };
    static const char *const ways[] = {"1", "1near", "32", "256", "entries", "few"};
    for (int i = 0; i < 3; i++)
        every_way("csr_weft", ways, sizeof ways / sizeof ways[0], ",sample=always", &matrices[i], HEDDLE_T);
}

/* On small matrices, unless there is time. */
TEST(every_option_of_every_kernel_gives_the_same_product)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 1, slow() ? FEW_ROWS : 300}, all_options);
}

/* A matrix that is stored by columns, or as coordinates, is the same matrix. */
static void other_storage(struct trial *t)
{
    const struct device *d = &t->device;
    struct csr turned, turned_there;
    struct coo entries;
    void *row = NULL;
    CHECK_OK(csr_transpose(&turned, &t->A));
    CHECK_OK(coo_from_csr(&entries, &t->A));
    CHECK_OK(device_csr_upload(d, &turned_there, &turned));
    CHECK_OK(device_alloc(d, &row, entries.nnz * (int64_t)sizeof *entries.row));
    CHECK_OK(device_copy(d, row, entries.row, entries.nnz * (int64_t)sizeof *entries.row));
    struct view views[] = {
        {.format = HEDDLE_CSC, .csr = turned_there},
        {.format = HEDDLE_COO, .coo = {entries.rows, entries.cols, entries.nnz, entries.value, row, t->on_device.col,
                                       t->on_device.val}},
    };
    for (int i = 0; i < 2; i++) {
        t->view = views[i];
        two_products(t);
    }
    t->view = (struct view){.format = HEDDLE_CSR, .csr = t->on_device};
    device_free(d, row);
    device_csr_free(d, &turned_there);
    csr_free(&turned);
    coo_free(&entries);
}

TEST(a_matrix_stored_by_columns_or_as_coordinates_gives_the_same_product)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 1, FEW_ROWS}, other_storage);
}

/* Every launch on the emulator has an order of blocks and threads of its own. */
static void repeatable(struct trial *t)
{
    struct bound *b = kernel_by_name(t->kernel)->repeatable ? bind(t) : NULL;
    void *first = mem_alloc(y_bytes(t), 1);
    for (int i = 0; b && i < 3; i++) {
        multiply(t, b, (struct scalars){1.5, 0.25});
        if (i == 0)
            memcpy(first, t->got, (size_t)y_bytes(t));
        CHECK_THAT(memcmp(first, t->got, (size_t)y_bytes(t)) == 0, "%s, '%s' differs from run to run", t->kernel, t->matrix);
    }
    mem_free(first);
    bound_free(b);
}

TEST(repeatable_kernels_give_bitwise_the_same_result_again)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 0, FEW_ROWS}, repeatable);
}

/* alpha = 0: x and A are not read, even if they are not there. */
static void inputs_not_read(struct trial *t)
{
    struct bound *b = bind(t);
    if (b) {
        set_y(t, 2);
        CHECK_OK(bound_run(b, (struct scalars){0, 2}, (void *)(uintptr_t)8, at(t, t->y, GUARD)));
        CHECK_OK(device_read(&t->device, t->got, t->y, y_bytes(t)));
        CHECK_THAT(wrong_entries(t, (struct scalars){0, 2}, 1) == 0, "%s, '%s': alpha = 0", t->kernel, t->matrix);
    }
    bound_free(b);
}

TEST(alpha_zero_reads_neither_matrix_nor_x)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 1, FEW_ROWS}, inputs_not_read);
}

/* Puts one value into an array on the device. */
static void poke(struct trial *t, void *there, int64_t i, double value)
{
    double here;
    awkward_put(&here, t->A.value, 0, value);
    CHECK_OK(device_copy(&t->device, at(t, there, i), &here, (int64_t)type_size(t->A.value)));
    CHECK_OK(device_sync(&t->device));
}

/* NaN in a value, and Inf and NaN in x, show in exactly the entries of y that touch them: at the first and last place, which padding
 * would read, in the middle and anywhere. */
static void specials(struct trial *t)
{
    if (t->A.nnz == 0)
        return;
    uint64_t random = (uint64_t)t->A.nnz;
    const int64_t bad[2][2] = {{0, (int64_t)(test_random(&random) % (uint64_t)t->n_x)}, {t->n_x - 1, t->n_x / 2}};
    const int64_t bad_k = t->A.nnz / 3;
    double x_before[2], val_before = value_at(t->A.val, t->A.value, bad_k);
    awkward_put(t->A.val, t->A.value, bad_k, NAN);
    poke(t, t->on_device.val, bad_k, NAN);
    struct bound *b = bind(t);
    for (int i = 0; b && i < 2; i++) {
        int64_t wrong = 0;
        for (int k = 0; k < 2; k++) {
            x_before[k] = value_at(t->x_here, t->A.value, bad[i][k]);
            awkward_put(t->x_here, t->A.value, bad[i][k], k ? NAN : INFINITY);
            poke(t, t->x, bad[i][k], k ? NAN : INFINITY);
        }
        awkward_reference(t->exact, &t->A, t->op != HEDDLE_N, t->x_here);
        multiply(t, b, (struct scalars){1, 0});
        for (int64_t k = 0; k < t->n_y; k++) {
            double got = value_at(t->got, t->A.value, k + GUARD), want = (double)t->exact[k].sum;
            wrong += isnan(want) ? !isnan(got) : got != want;
        }
        CHECK_THAT(wrong == 0, "%s, '%s', op %d: Inf at x[%lld] and NaN at x[%lld] are in %lld wrong entries", t->kernel, t->matrix,
                   t->op, (long long)bad[i][0], (long long)bad[i][1], (long long)wrong);
        for (int k = 1; k >= 0; k--) { /* the two may be one */
            awkward_put(t->x_here, t->A.value, bad[i][k], x_before[k]);
            poke(t, t->x, bad[i][k], x_before[k]);
        }
    }
    bound_free(b);
    awkward_put(t->A.val, t->A.value, bad_k, val_before);
    poke(t, t->on_device.val, bad_k, val_before);
}

TEST(nan_and_inf_show_exactly_where_they_are_touched)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 1, FEW_ROWS}, specials);
}

/* A copy of `bytes` bytes that begins `by` bytes behind what alloc gives; *base is what to free. */
static void *shifted(struct trial *t, void **base, const void *here, int64_t bytes, int64_t by)
{
    CHECK_OK(device_alloc(&t->device, base, bytes + by));
    CHECK_OK(device_copy(&t->device, (char *)*base + by, here, bytes));
    return (char *)*base + by;
}

static void unaligned(struct trial *t)
{
    int64_t size = (int64_t)type_size(t->A.value), offset = (int64_t)type_size(t->A.offset);
    void *base[4], *x = t->x;
    t->view.csr.val = shifted(t, &base[0], t->A.val, t->A.nnz * size, size);
    t->view.csr.col = shifted(t, &base[1], t->A.col, t->A.nnz * 4, 4);
    t->view.csr.row_ptr = shifted(t, &base[2], t->A.row_ptr, (t->A.rows + 1) * offset, offset);
    t->x = shifted(t, &base[3], t->x_here, t->n_x * size, size);
    CHECK_OK(device_sync(&t->device));
    two_products(t);
    for (int i = 0; i < 4; i++)
        device_free(&t->device, base[i]);
    t->view.csr = t->on_device;
    t->x = x;
}

TEST(arrays_need_no_more_than_the_alignment_of_an_element)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 1, FEW_ROWS}, unaligned);
}

/* A device whose grids have two blocks: rows take several launches, and the threads of other kernels come round. */
TEST(a_grid_that_is_too_small_covers_all_rows)
{
    static const char *const specs[] = {"csr_naive", "csr_vector:lanes=2", "csr_vector:lanes=32", "csr_naive_t"};
    for (int i = 0; i < 4; i++) {
        struct gpu *gpu;
        CHECK_OK(gpu_open(&gpu, "emu:wave=64,seed=5"));
        ((struct gpu_head *)gpu)->info.grid = 2;
        struct trial t = {.device = {.kind = DEVICE_gpu, .gpu = gpu}};
        const struct kernel *kernel;
        int64_t option[OPTIONS_MOST];
        CHECK_OK(kernel_parse(&kernel, option, specs[i]));
        trial_new(&t, &awkward[awkward_count - 1], VARIANT_f64_i32, i < 3 ? HEDDLE_N : HEDDLE_T, 1);
        CHECK(t.A.rows > 2 * 256 && t.A.cols > 2 * 256);
        struct source source = {.csr = t.on_device};
        struct stored s;
        CHECK_OK(stored_size(&s, FORMAT_csr, &source, NULL));
        CHECK_OK(stored_build(&s, &source));
        struct work w = work_for(kernel, &t.device, &s, i >= 3, option);
        struct scalars sc = {1, 0.5};
        scalar_put(w.product.alpha, w.value, sc.alpha);
        scalar_put(w.product.beta, w.value, sc.beta);
        set_y(&t, 1);
        w.product.x = t.x;
        w.product.y = at(&t, t.y, GUARD);
        CHECK_OK(kernel->launch(&w));
        CHECK_OK(device_read(&t.device, t.got, t.y, y_bytes(&t)));
        CHECK_THAT(wrong_entries(&t, sc, 1) == 0, "%s", specs[i]);
        trial_free(&t);
        gpu_close(gpu);
    }
}

/* The same for row blocks, whose threads share memory: a block must not stage the next one before this one is summed. */
TEST(blocks_come_round_to_row_blocks_that_the_grid_does_not_cover)
{
    static const int64_t option[OPTIONS_MOST] = {128, 4};
    struct gpu *gpu;
    CHECK_OK(gpu_open(&gpu, "emu:wave=32,seed=6,races=1"));
    struct trial t = {.device = {.kind = DEVICE_gpu, .gpu = gpu}};
    trial_new(&t, &awkward[awkward_count - 1], VARIANT_f64_i32, HEDDLE_N, 1);
    struct source source = {.csr = t.on_device};
    struct stored s;
    CHECK_OK(stored_size(&s, FORMAT_csr, &source, NULL));
    CHECK_OK(stored_build(&s, &source));
    struct work w = work_for(kernel_by_name("csr_adaptive"), &t.device, &s, 0, option);
    CHECK_OK(device_alloc(&t.device, &w.product.prepared, work_held(&w)));
    CHECK_OK(w.kernel->prepare(&w));
    scalar_put(w.product.alpha, w.value, 1);
    scalar_put(w.product.beta, w.value, 0.5);
    set_y(&t, 1);
    w.product.x = t.x;
    w.product.y = at(&t, t.y, GUARD);
    CHECK_OK(gpu_run(&w, "csr_adaptive_128x4", 2, 128, 8192));
    CHECK_OK(device_read(&t.device, t.got, t.y, y_bytes(&t)));
    CHECK(wrong_entries(&t, (struct scalars){1, 0.5}, 1) == 0);
    device_free(&t.device, w.product.prepared);
    trial_free(&t);
    gpu_close(gpu);
}

/* The same for tiles, and for the carries that they leave. */
TEST(blocks_come_round_to_tiles_that_the_grid_does_not_cover)
{
    static const struct {
        const char *kernel, *entry, *carry;
    } cases[] = {{"csr_merge:items=7,block=128,search=block", "csr_merge7", "csr_merge_carry"},
                 {"csr5:sigma=8", "csr5_sigma8", "csr5_carry"}};
    for (int i = 0; i < 4; i++) {
        const struct kernel *kernel;
        int64_t option[OPTIONS_MOST];
        struct gpu *gpu;
        struct stored s;
        CHECK_OK(gpu_open(&gpu, i < 2 ? "emu:wave=32,seed=5" : "emu:wave=64,seed=6"));
        CHECK_OK(kernel_parse(&kernel, option, cases[i % 2].kernel));
        struct trial t = {.device = {.kind = DEVICE_gpu, .gpu = gpu}};
        trial_new(&t, &awkward[8], VARIANT_f64_i32, HEDDLE_N, 1);
        CHECK(strcmp(t.matrix, "huge row in the middle") == 0);
        struct source source = {.csr = t.on_device};
        CHECK_OK(device_stored_size(&t.device, &s, kernel->format, &source, option));
        CHECK_OK(device_stored_build(&t.device, &s, &source));
        struct work w = work_for(kernel, &t.device, &s, 0, option);
        int64_t block = i % 2 ? 64 : 128, tiles = i % 2 ? s.dim[CSR5_TILES] : w.product.parts;
        if (i % 2)
            w.product.parts = (tiles * s.dim[CSR5_OMEGA] + 63) / 64;
        CHECK(tiles > 10 && work_workspace(&w) > 0);
        CHECK_OK(device_alloc(&t.device, &w.product.workspace, work_workspace(&w)));
        scalar_put(w.product.alpha, w.value, 2);
        scalar_put(w.product.beta, w.value, -1);
        set_y(&t, 1);
        w.product.x = t.x;
        w.product.y = at(&t, t.y, GUARD);
        CHECK_OK(gpu_run(&w, cases[i % 2].entry, 3, (int)block, (7 * 128 + 2) * 8));
        CHECK_OK(gpu_run(&w, cases[i % 2].carry, 1, 64, 0));
        CHECK_OK(device_read(&t.device, t.got, t.y, y_bytes(&t)));
        CHECK_THAT(wrong_entries(&t, (struct scalars){2, -1}, 1) == 0, "%s", cases[i % 2].entry);
        device_free(&t.device, w.product.workspace);
        device_stored_free(&t.device, &s);
        trial_free(&t);
        gpu_close(gpu);
    }
}

TEST(a_corrupted_result_is_noticed)
{
    struct gpu *gpu;
    CHECK_OK(gpu_open(&gpu, "emu"));
    struct trial t = {.kernel = "csr_vector", .device = {.kind = DEVICE_gpu, .gpu = gpu}};
    trial_new(&t, &awkward[awkward_count - 1], VARIANT_f64_i32, HEDDLE_N, 0);
    struct bound *b = bind(&t);
    multiply(&t, b, (struct scalars){1, 0});
    CHECK(wrong_entries(&t, (struct scalars){1, 0}, 0) == 0);
    double *y = (double *)t.got + GUARD;
    y[100] *= 1 + 1e-12;
    CHECK(wrong_entries(&t, (struct scalars){1, 0}, 0) == 1);
    y[-1] = 0.123;
    CHECK(wrong_entries(&t, (struct scalars){1, 0}, 0) == 2);
    bound_free(b);
    trial_free(&t);
    gpu_close(gpu);
}
