/* SPDX-License-Identifier: MIT
 *
 * A GPU kernel is tested by existing: every kernel x variant x operation x alpha and beta x awkward matrix
 * x emulated device, at both wave widths.  HEDDLE_TEST_DEVICES="cuda:0" (names between blanks) runs the
 * same on other devices. */
#include <stdlib.h>
#include <string.h>

#include "trial.h"

#define ENTRIES_MOST 20000 /* larger matrices take the emulator too long */

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
        for (char *save = NULL, *word = strtok_r(text, " ", &save); word && count < DEVICES_MOST - 1;
             word = strtok_r(NULL, " ", &save))
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
    int64_t rows; /* matrices with more, or as many columns, are left out: groups of lanes take the
                   * emulator long */
    int turns;    /* each matrix meets one wave width, half of them the one, half the other */
};
#define ANY_ROWS INT64_MAX
#define FEW_ROWS 2100
#define A_BLOCK 300 /* no more than a block or two of the kernels take */

/* Every kernel reaches beyond its first block in the first of the properties; the others go on with less
 * under AddressSanitizer. */
static int64_t few_rows(void)
{
    return trial_brief() ? A_BLOCK : FEW_ROWS;
}

/* Every size of values and of offsets: where a kernel reads and writes depends on these. */
#define SIZES (TWO_VARIANTS | 1u << VARIANT_c64_i32 | 1u << VARIANT_f16_i32)

/* Does a variant meet a matrix on device d?  Unless there is time, two of them do and, where a matrix takes
 * more than a few blocks, each at one of the wave widths; others meet the smallest, at one of the widths. */
static int meets(int variant, int d, int m)
{
    const int64_t size = awkward[m].rows > awkward[m].cols ? awkward[m].rows : awkward[m].cols;
    const int is_usual = TWO_VARIANTS >> variant & 1;
    if (trial_slow() || size <= (is_usual ? few_rows() : A_BLOCK))
        return is_usual || trial_has_turn(d + variant, m);
    return is_usual && trial_has_turn(d + variant, m / 2);
}

static int small_enough(const struct awkward *w)
{
    int64_t entries = 0;
    for (int64_t i = 0; i < w->rows; i++)
        entries += w->length(i, w->rows, w->cols);
    return entries <= ENTRIES_MOST;
}

static void on_device(struct gpu *gpu, const char *name, const struct scope *scope, int d, int m,
                      void (*body)(struct trial *t))
{
    for (int variant = 0; variant < VARIANT_COUNT; variant++)
        for (int op = HEDDLE_N; op <= (int)trial_last_op(variant); op++) {
            struct trial t = {.name = name, .device = {.kind = DEVICE_gpu, .gpu = gpu}};
            if (!(scope->variants >> variant & 1) || !meets(variant, d, m))
                continue;
            trial_new(&t, &awkward[m], variant, (heddle_op)op, scope->exact);
            for (int k = 0; k < kernel_count(); k++)
                if (kernel_at(k)->device == DEVICE_gpu && awkward_wants(kernel_at(k)->name) &&
                    kernel_has(kernel_at(k), t.A.value) &&
                    (op == HEDDLE_N || kernel_at(k)->ops & OPS_T || variant == VARIANT_f64_i32 ||
                     trial_slow())) {
                    t.kernel = kernel_at(k)->name;
                    body(&t);
                }
            trial_free(&t);
        }
}

/* Runs `body` for each device x matrix x variant x op x kernel; but unless there is time, a kernel that
 * does T only by way of an explicit transpose shows that in one variant, and under AddressSanitizer matrices
 * always meet one wave width. */
static void for_all(struct scope scope, void (*body)(struct trial *t))
{
    const char *name[DEVICES_MOST];
    find_devices(name, scope.devices);
    for (int d = 0; name[d]; d++) {
        struct gpu *gpu = NULL;
        CHECK_OK(gpu_open(&gpu, name[d]));
        for (int m = 0; gpu && m < awkward_count; m++)
            if (awkward[m].rows <= scope.rows && awkward[m].cols <= scope.rows && small_enough(&awkward[m]) &&
                (trial_has_turn(d, m) || !(scope.turns || trial_brief())))
                on_device(gpu, name[d], &scope, d, m, body);
        gpu_close(gpu);
    }
}

/* ---- properties ---- */

/* All pairs of scalars, unless there is no time for them: then two, and on small matrices all in double
 * precision, real and complex.  They all occur in test_scalars.c, too. */
static void exactly(struct trial *t)
{
    const int few = t->A.rows <= A_BLOCK && t->A.cols <= A_BLOCK && t->A.offset == HEDDLE_I32 &&
                    (t->A.value == HEDDLE_F64 || t->A.value == HEDDLE_C64);
    trial_products(t, 1, trial_slow() || (few && !trial_brief()) ? SCALARS : 2);
}

/* With NaN in y wherever beta is 0. */
TEST(every_kernel_is_exact_on_small_integers)
{
    for_all((struct scope){emulated, trial_brief() ? SIZES : MOST_VARIANTS, 1,
                           trial_brief() ? FEW_ROWS : ANY_ROWS, .turns = 0},
            exactly);
}

static void within_bounds(struct trial *t)
{
    trial_products(t, 0, 2);
}

TEST(every_kernel_is_within_the_error_bound_on_random_data)
{
    if (trial_brief()) {
        test_skip("other values lie at the same addresses");
        return;
    }
    for_all((struct scope){emulated, TWO_VARIANTS, 0, trial_slow() ? ANY_ROWS : few_rows(), .turns = 1},
            within_bounds);
}

static void two_products(struct trial *t)
{
    trial_products(t, 1, 2);
}

TEST(no_kernel_races_on_shared_or_global_memory)
{
    for_all((struct scope){hooked, SIZES, 1, few_rows(), .turns = 1}, two_products);
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

/* Where columns repeat csr_weft adds up in a cache of y, and those with a large share of all entries in
 * registers. */
TEST(what_was_added_up_is_added_to_y_once)
{
    static const struct awkward lines = {
        "many crowded lines", "columns that share places in the cache", 3000, 100000, seven_entries,
        crowded_column};
    static const struct awkward popular = {
        "popular columns", "hot ones have a sum of their own", 3000, 400000, seven_or_many_entries,
        popular_column};
    const struct awkward *const matrices[] = {&awkward[21], &awkward[20], &lines, &popular};
    static const char *const specs[] = {"csr_weft", "csr_weft:way=cached", "csr_weft:way=hot",
                                        "csr_weft:way=alike"};
    static const char *const names[] = {"emu:wave=32,seed=5,races=1", "emu:wave=64,seed=6,races=1"};
    CHECK(strstr(awkward[20].name, "a wide matrix") && strstr(awkward[21].name, "a wide matrix"));
    for (int i = 0; i < 32 && awkward_wants("csr_weft"); i++) {
        struct gpu *gpu;
        CHECK_OK(gpu_open(&gpu, names[i % 2]));
        struct trial t = {
            .name = names[i % 2], .kernel = specs[i / 2 % 4], .device = {.kind = DEVICE_gpu, .gpu = gpu}};
        trial_new(&t, matrices[i / 8], i % 2 ? VARIANT_f32_o64 : VARIANT_f64_i32, HEDDLE_T, 1);
        two_products(&t);
        trial_free(&t);
        gpu_close(gpu);
    }
}

/* Whoever adds to a sum that is not finite says so, and others do at the same time. */
TEST(what_is_said_of_a_sum_that_is_not_finite_does_not_race)
{
    static const char *const kernels[] = {"coo_fixed", "csr_fixed_t"}, *const matrices[] = {"1 x 5000, full",
                                                                                            "5000 x 1, full"};
    for (int i = 0; i < 4; i++) {
        struct gpu *gpu;
        CHECK_OK(gpu_open(&gpu, hooked[i % 2]));
        struct trial t = {
            .name = hooked[i % 2], .kernel = kernels[i / 2], .device = {.kind = DEVICE_gpu, .gpu = gpu}};
        trial_new(&t, trial_matrix(matrices[i / 2]), VARIANT_f64_i32, i / 2 ? HEDDLE_T : HEDDLE_N, 1);
        if (awkward_wants(kernels[i / 2]))
            trial_specials(&t);
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
static void every_way(const char *kernel, const char *const *ways, size_t count, const char *more,
                      const struct awkward *matrix, heddle_op op)
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

/* The same behind 5 entries, of which the first row has as many fewer: pieces are counted from a boundary
 * of 32 on. */
static int64_t rows_off_lines(int64_t i, int64_t rows, int64_t cols)
{
    return i == 0 ? 5 : i < 16 ? 0 : rows_like_pieces(i - 16, rows, cols) - (i == 16 ? 5 : 0);
}

/* Rows of as many entries as a window, a capacity, a row that is not cut, or several pieces of csr_weave
 * have in a small matrix (768, 960, 1536), and beside it. */
static int64_t rows_at_limits(int64_t i, int64_t rows, int64_t cols)
{
    static const int64_t n[] = {768, 767,  769,  0,    960,  959,  961,  958, 1536,
                                1,   1537, 1535, 2304, 2305, 2303, 3072, 0,   24};
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

/* Long ones that are about as long as each other, for 16 lanes each, and enough to fill a small device. */
static int64_t long_even_rows(int64_t i, int64_t rows, int64_t cols)
{
    (void)rows;
    (void)cols;
    return 64 + i % 9;
}

TEST(csr_weave_takes_every_row_block_once)
{
    static const struct awkward matrices[] = {
        {"crowded rows", "row blocks taken twice or not at all", 2600, 9000, crowded_rows, strewn_column},
        {"huge rows", "rows of more pieces than a block has threads", 2600, 600000, crowded_rows,
         strewn_column},
        {"rows like pieces", "rows that are cut where pieces end", 47, 4000, rows_like_pieces, strewn_column},
        {"rows off lines", "row blocks that begin within a line", 63, 4000, rows_off_lines, strewn_column},
        {"rows at limits", "a limit that is one too high or too low", 19, 4000, rows_at_limits,
         strewn_column},
        {"many short rows", "rows behind those that have threads", 5000, 9000, many_short_rows,
         strewn_column},
        {"long even rows", "entries of the next row", 300, 4000, long_even_rows, strewn_column},
    };
    static const char *const ways[] = {"auto", "blocks", "passing"};
    for (size_t i = 0; i < sizeof matrices / sizeof matrices[0]; i++)
        every_way("csr_weave", ways, sizeof ways / sizeof ways[0], "", &matrices[i], HEDDLE_N);
}

/* Thousands of rows with next to nothing, so that a row block is taken in strips, and one that is full: it
 * is cut into pieces. */
static int64_t thin_rows(int64_t i, int64_t rows, int64_t cols)
{
    (void)rows;
    return i == 1500 ? cols : i % 3 == 0;
}

TEST(every_way_through_csr_weft_takes_every_entry_once)
{
    static const struct awkward matrices[] = {
        {"crowded rows", "row blocks taken twice or not at all", 2600, 9000, crowded_rows, strewn_column},
        {"thin rows", "more rows than there is room for", 9000, 9000, thin_rows, strewn_column},
        {"rows off lines", "pieces that begin within a line", 63, 4000, rows_off_lines, strewn_column},
    };
    static const char *const ways[] = {"auto", "entries", "cached", "hot", "rows", "alike", "alike_long"};
    for (int i = 0; i < 3; i++)
        every_way("csr_weft", ways, sizeof ways / sizeof ways[0], "", &matrices[i], HEDDLE_T);
}

static void all_options(struct trial *t)
{
    trial_options(t, 2);
}

/* On small matrices, unless there is time. */
TEST(every_option_of_every_kernel_gives_the_same_product)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 1, trial_slow() ? FEW_ROWS : A_BLOCK, .turns = 1},
            all_options);
}

static void other_storage(struct trial *t)
{
    trial_other_storage(t, 2);
}

TEST(a_matrix_stored_by_columns_or_as_coordinates_gives_the_same_product)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 1, trial_slow() ? FEW_ROWS : A_BLOCK, .turns = 0},
            other_storage);
}

/* Every launch on the emulator has an order of blocks and threads of its own. */
TEST(repeatable_kernels_give_bitwise_the_same_result_again)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 0, few_rows(), .turns = 1}, trial_repeatable);
}

TEST(alpha_zero_reads_neither_matrix_nor_x)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 1, few_rows(), .turns = 1}, trial_inputs_not_read);
}

TEST(nan_and_inf_show_exactly_where_they_are_touched)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 1, few_rows(), .turns = 1}, trial_specials);
}

static void unaligned(struct trial *t)
{
    trial_unaligned(t, 2);
}

TEST(arrays_need_no_more_than_the_alignment_of_an_element)
{
    for_all((struct scope){emulated, TWO_VARIANTS, 1, few_rows(), .turns = 1}, unaligned);
}
