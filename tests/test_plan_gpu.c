/* SPDX-License-Identifier: MIT
 *
 * Plans on GPUs: what runs at once, what is converted on the device, what is checked there, and what is refused; on the
 * emulator, at both wave widths.  HEDDLE_TEST_DEVICES="cuda:0" runs the same on another device. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "awkward.h"
#include "base/memory.h"
#include "convert/convert.h"
#include "convert/service.h"
#include "gen/gen.h"
#include "plan/run.h"
#include "test.h"

static const heddle_type types[VARIANT_COUNT][2] = {
#define VARIANT(name, real, off, value, offset) {value, offset},
#include "matrix/variants.def"
#undef VARIANT
};

/* Runs `body` on an open device of each width, or on the one that is asked for. */
static void on_devices(void (*body)(const struct device *d))
{
    const char *asked = getenv("HEDDLE_TEST_DEVICES"), *names[] = {"emu:wave=32,seed=1", "emu:wave=64,seed=2"};
    for (int i = 0; i < (asked ? 1 : 2); i++) {
        struct device d = {.kind = DEVICE_gpu};
        int64_t live = mem_live();
        CHECK_OK(gpu_open(&d.gpu, asked ? asked : names[i]));
        if (d.gpu)
            body(&d);
        gpu_close(d.gpu);
        CHECK_THAT(mem_live() == live, "%lld allocations are left", (long long)(mem_live() - live));
    }
}

static const struct awkward *matrix(const char *name)
{
    for (int i = 0; i < awkward_count; i++)
        if (strcmp(awkward[i].name, name) == 0)
            return &awkward[i];
    return NULL;
}

/* A matrix here and there. */
struct pair {
    struct csr here;
    struct view there; /* CSR */
};

static void pair_new(struct pair *p, const struct device *d, const char *name)
{
    CHECK_OK(awkward_make(&p->here, matrix(name), HEDDLE_F64, HEDDLE_I32));
    p->there = (struct view){.format = HEDDLE_CSR};
    CHECK_OK(device_csr_upload(d, &p->there.csr, &p->here));
    CHECK_OK(look_new(&p->there.look, d, &p->there));
}

static void pair_free(struct pair *p, const struct device *d)
{
    csr_free(&p->here);
    look_free(&p->there.look, d);
    device_csr_free(d, &p->there.csr);
}

/* Zeroed double precision on the device. */
static void *zeros(const struct device *d, int64_t n)
{
    void *p;
    CHECK_OK(device_alloc(d, &p, n * 8));
    CHECK_OK(device_fill(d, p, 0, n * 8));
    return p;
}

/* ---- immediate ---- */

/* What the immediate products with A ask for. */
static struct room room_new(const struct device *d, const struct view *A)
{
    struct room room = immediate_room(d, A);
    room.workspace = zeros(d, (room.workspace_bytes + 7) / 8);
    room.counters = zeros(d, (room.counters_bytes + 7) / 8);
    return room;
}

static void room_free(const struct device *d, struct room *room)
{
    device_free(d, room->workspace);
    device_free(d, room->counters);
}

/* Runs the immediate product, or nothing but its error. */
static const char *ran_at_once(const struct device *d, const struct view *A, heddle_op op)
{
    const char *ran = "nothing";
    int64_t n = view_rows(A) > view_cols(A) ? view_rows(A) : view_cols(A);
    struct room room = room_new(d, A);
    void *x = zeros(d, n), *y = zeros(d, n);
    CHECK_OK(immediate_load(d, A));
    CHECK_OK(immediate_run(d, A, op, (struct scalars){1, 0}, x, y, &room, &ran));
    CHECK_OK(device_sync(d));
    device_free(d, x);
    device_free(d, y);
    room_free(d, &room);
    return ran;
}

static void takes_what_balances(const struct device *d)
{
    static const struct {
        const char *matrix, *n, *t;
    } expected[] = {
        {"even rows", "csr_weave", "csr_weft"}, {"1 x 5000, full", "csr_weave", "csr_weft"},
        {"no entries", "scale", "scale"},         {"0 x 0", "scale", "scale"},
        {"9 x 0", "scale", "scale"},
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct pair A;
        pair_new(&A, d, expected[i].matrix);
        const char *n = ran_at_once(d, &A.there, HEDDLE_N), *t = ran_at_once(d, &A.there, HEDDLE_H);
        CHECK_THAT(strcmp(n, expected[i].n) == 0, "N of '%s' ran %s", expected[i].matrix, n);
        CHECK_THAT(strcmp(t, expected[i].t) == 0, "H of '%s' ran %s", expected[i].matrix, t);
        A.there.format = HEDDLE_CSC;
        CHECK(strcmp(ran_at_once(d, &A.there, HEDDLE_T), expected[i].n) == 0);
        CHECK(strcmp(ran_at_once(d, &A.there, HEDDLE_N), expected[i].t) == 0);
        pair_free(&A, d);
    }
}

TEST(the_immediate_product_balances_whatever_it_meets)
{
    on_devices(takes_what_balances);
}

/* y = op(A) x for a view, by the immediate product or a bound kernel: as many entries wrong. */
static int64_t wrong(const struct device *d, const struct view *A, const struct csr *here, heddle_op op, struct bound *b)
{
    int64_t n_x = op == HEDDLE_N ? here->cols : here->rows, n_y = op == HEDDLE_N ? here->rows : here->cols, count = 0;
    double *x = awkward_vector(n_x, HEDDLE_F64, 3, 1), *y = awkward_vector(n_y, HEDDLE_F64, 4, 1);
    struct exact *want = mem_alloc(n_y, sizeof *want);
    void *x_there = zeros(d, n_x), *y_there = zeros(d, n_y);
    const char *ran;
    struct scalars s = {2, -1};
    struct room room = room_new(d, A);
    CHECK_OK(device_copy(d, x_there, x, n_x * 8));
    CHECK_OK(device_copy(d, y_there, y, n_y * 8));
    CHECK_OK(b ? bound_run(b, s, x_there, y_there) : immediate_run(d, A, op, s, x_there, y_there, &room, &ran));
    double *got = awkward_vector(n_y, HEDDLE_F64, 5, 1);
    CHECK_OK(device_read(d, got, y_there, n_y * 8));
    awkward_reference(want, here, op != HEDDLE_N, x);
    for (int64_t i = 0; i < n_y; i++)
        count += !awkward_good(got[i], &want[i], (struct awkward_scalars){s.alpha, s.beta}, y[i], HEDDLE_F64, 1);
    device_free(d, x_there);
    device_free(d, y_there);
    room_free(d, &room);
    mem_free(x);
    mem_free(y);
    mem_free(got);
    mem_free(want);
    return count;
}

/* Rows of the entries on the device, as a COO view that shares columns and values. */
static struct view as_coo(const struct device *d, const struct view *A)
{
    struct view v = {.format = HEDDLE_COO};
    void *row;
    CHECK_OK(device_alloc(d, &row, A->csr.nnz * 4));
    CHECK_OK(gpu_csr_to_coo(d, row, &A->csr));
    v.coo = (struct coo){A->csr.rows, A->csr.cols, A->csr.nnz, A->csr.value, row, A->csr.col, A->csr.val};
    return v;
}

static void immediate_is_right(const struct device *d)
{
    static const char *const names[] = {"even rows", "tall", "huge first row", "repeated columns", "1 x 5000, full", "no entries"};
    for (int i = 0; i < 6; i++) {
        struct pair A;
        pair_new(&A, d, names[i]);
        struct view coo = as_coo(d, &A.there);
        for (int op = HEDDLE_N; op <= HEDDLE_H; op++) {
            CHECK_THAT(wrong(d, &A.there, &A.here, (heddle_op)op, NULL) == 0, "'%s', op %d", names[i], op);
            CHECK_THAT(wrong(d, &coo, &A.here, (heddle_op)op, NULL) == 0, "'%s' as COO, op %d", names[i], op);
        }
        device_free(d, coo.coo.row);
        pair_free(&A, d);
    }
}

TEST(the_immediate_product_is_right_for_every_storage)
{
    on_devices(immediate_is_right);
}

/* Are n words on the device all 0? */
static int all_zero(const struct device *d, const void *p, int64_t n)
{
    uint64_t *here = mem_alloc(n, sizeof *here), any = 0;
    CHECK_OK(device_read(d, here, p, n * 8));
    for (int64_t i = 0; i < n; i++)
        any |= here[i];
    mem_free(here);
    return any == 0;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A handle has one room for all of its matrices: whatever a product leaves in the counters, another one would meet. */
static void leaves_the_counters_as_they_were(const struct device *d)
{
    static const char *const specs[] = {"grid2d:n=70", "dense:rows=3,cols=12000", "arrow:n=9000", "rmat:n=4096,degree=12"};
    enum { MATRICES = 4, N = 12000 };
    const int times = getenv("HEDDLE_TEST_DEVICES") ? 300 : 2;
    struct csr here[MATRICES];
    struct view there[MATRICES];
    struct room room = {0};
    void *x = zeros(d, N), *y = zeros(d, N);
    double *values = awkward_vector(N, HEDDLE_F64, 3, 1), *first[MATRICES], *got = mem_alloc(N, sizeof *got);
    CHECK_OK(device_copy(d, x, values, N * 8));
    for (int i = 0; i < MATRICES; i++) {
        CHECK_OK(gen_matrix(&here[i], specs[i], HEDDLE_F64));
        there[i] = (struct view){.format = HEDDLE_CSR};
        CHECK_OK(device_csr_upload(d, &there[i].csr, &here[i]));
        CHECK_OK(look_new(&there[i].look, d, &there[i]));
        CHECK_OK(immediate_load(d, &there[i]));
        const struct room more = immediate_room(d, &there[i]);
        room.workspace_bytes = larger(room.workspace_bytes, more.workspace_bytes);
        room.counters_bytes = larger(room.counters_bytes, more.counters_bytes);
        first[i] = mem_alloc(N, sizeof *first[i]);
    }
    const int64_t counters = (room.counters_bytes + 7) / 8;
    room.workspace = zeros(d, (room.workspace_bytes + 7) / 8);
    room.counters = zeros(d, counters);
    int differ = 0, left = 0;
    for (int k = 0; k < times * MATRICES; k++) {
        const char *ran;
        const int i = k % MATRICES;
        CHECK_OK(immediate_run(d, &there[i], HEDDLE_N, (struct scalars){1, 0}, x, y, &room, &ran));
        CHECK_OK(device_read(d, k < MATRICES ? first[i] : got, y, here[i].rows * 8));
        differ += k >= MATRICES && memcmp(first[i], got, (size_t)here[i].rows * 8) != 0;
        left += !all_zero(d, room.counters, counters);
    }
    CHECK_THAT(differ == 0, "%d of %d products differ from the first", differ, times * MATRICES);
    CHECK_THAT(left == 0, "%d of %d products leave something in the counters", left, times * MATRICES);
    for (int i = 0; i < MATRICES; i++) {
        mem_free(first[i]);
        csr_free(&here[i]);
        look_free(&there[i].look, d);
        device_csr_free(d, &there[i].csr);
    }
    mem_free(values);
    mem_free(got);
    device_free(d, x);
    device_free(d, y);
    room_free(d, &room);
}

TEST(a_product_leaves_the_counters_of_a_handle_as_they_were)
{
    on_devices(leaves_the_counters_as_they_were);
}

static void allocates_nothing(const struct device *d)
{
    struct pair A;
    pair_new(&A, d, "even rows");
    struct view views[] = {A.there, as_coo(d, &A.there)};
    struct room rooms[] = {room_new(d, &views[0]), room_new(d, &views[1])};
    struct bound *b;
    void *x = zeros(d, 2048), *y = zeros(d, 2048);
    CHECK_OK(bound_new(&b, d, "ellr", &A.there, HEDDLE_N));
    for (int i = 0; i < 2; i++)
        for (int op = HEDDLE_N; op <= HEDDLE_T; op++)
            for (int alpha = 0; alpha <= 1; alpha++) {
                const char *ran;
                CHECK_OK(immediate_load(d, &views[i]));
                mem_fail_after(0);
                CHECK_OK(immediate_run(d, &views[i], (heddle_op)op, (struct scalars){alpha, 2}, x, y, &rooms[i], &ran));
                CHECK_OK(bound_run(b, (struct scalars){alpha, 2}, x, y));
                mem_fail_after(-1);
            }
    CHECK_OK(device_sync(d));
    bound_free(b);
    room_free(d, &rooms[0]);
    room_free(d, &rooms[1]);
    device_free(d, x);
    device_free(d, y);
    device_free(d, views[1].coo.row);
    pair_free(&A, d);
}

TEST(a_product_allocates_nothing_once_its_kernels_are_loaded)
{
    on_devices(allocates_nothing);
}

/* Pointers that would end the program if the host followed them. */
static void follows_no_pointer(const struct device *d)
{
    void *nowhere = (void *)(uintptr_t)8;
    struct view A = {.format = HEDDLE_CSR,
                     .csr = {.rows = 300, .cols = 300, .nnz = 900, .value = HEDDLE_F64, .offset = HEDDLE_I32, .row_ptr = nowhere,
                             .col = nowhere, .val = nowhere}};
    static const char *const kernels[] = {"csr_naive", "csr_vector", "csr_naive_t"};
    const char *ran;
    void *y = zeros(d, 300);
    CHECK_OK(immediate_load(d, &A));
    CHECK_OK(immediate_run(d, &A, HEDDLE_N, (struct scalars){0, 2}, nowhere, y, &(struct room){0}, &ran));
    CHECK(strcmp(ran, "scale") == 0);
    for (int i = 0; i < 3; i++) {
        struct bound *b;
        CHECK_OK(bound_new(&b, d, kernels[i], &A, i < 2 ? HEDDLE_N : HEDDLE_T));
        CHECK_OK(bound_run(b, (struct scalars){0, 0}, nowhere, y));
        bound_free(b);
    }
    CHECK_OK(device_sync(d));
    device_free(d, y);
}

TEST(the_host_follows_no_pointer_of_the_device)
{
    on_devices(follows_no_pointer);
}

/* ---- conversions ---- */

static int same(const struct device *d, const void *there, const void *here, int64_t bytes)
{
    char *copy = mem_alloc(bytes, 1);
    CHECK_OK(device_read(d, copy, there, bytes));
    int equal = bytes == 0 || memcmp(copy, here, (size_t)bytes) == 0;
    mem_free(copy);
    return equal;
}

static int same_csr(const struct device *d, const struct csr *there, const struct csr *here)
{
    return there->rows == here->rows && there->cols == here->cols && there->nnz == here->nnz && there->offset == here->offset &&
           same(d, there->row_ptr, here->row_ptr, (here->rows + 1) * (int64_t)type_size(here->offset)) &&
           same(d, there->col, here->col, here->nnz * 4) &&
           same(d, there->val, here->val, here->nnz * (int64_t)type_size(here->value));
}

/* A format with options, or NULL: the initial ones.  The host is told for which device it makes the format. */
static void check_options(const struct device *d, enum format_id id, const struct csr *there, const struct csr *here,
                          const char *name, const int64_t *option)
{
    struct device cpu = {.threads = 2};
    struct source from = {.csr = *there};
    struct source from_here = {.csr = *here, .omega = gpu_info_of(d->gpu)->wave, .sigma = gpu_arch(d->gpu)->sigma};
    struct stored s, t;
    heddle_status want = device_stored_size(&cpu, &t, id, &from_here, option);
    char text[512];
    snprintf(text, sizeof text, "%s", want ? heddle_last_error() : "");
    heddle_status got = device_stored_size(d, &s, id, &from, option);
    CHECK_THAT(got == want && (!want || strcmp(text, heddle_last_error()) == 0), "%s of '%s': %s", format_at(id)->name, name,
               heddle_last_error());
    if (got != HEDDLE_OK || want != HEDDLE_OK)
        return;
    CHECK_OK(device_stored_build(&cpu, &t, &from_here));
    CHECK_OK(device_stored_build(d, &s, &from));
    for (int i = 0; s.format->array[i]; i++)
        CHECK_THAT(s.bytes[i] == t.bytes[i] && same(d, s.array[i], t.array[i], s.bytes[i]), "%s of '%s': %s differs",
                   s.format->name, name, s.format->array[i]);
    CHECK(memcmp(s.dim, t.dim, sizeof s.dim) == 0);
    device_stored_free(d, &s);
    device_stored_free(&cpu, &t);
}

/* With every value of every option, the others at their initial values.  Those choose what is stored, not its types. */
static void check_format(const struct device *d, enum format_id id, const struct csr *there, const struct csr *here,
                         const char *name)
{
    const struct option *o = here->value == HEDDLE_F32 && here->offset == HEDDLE_I32 ? format_at(id)->options : NULL;
    int64_t option[OPTIONS_MOST] = {0};
    check_options(d, id, there, here, name, NULL);
    for (int i = 0; o && o[i].name; i++)
        for (int j = 0; j < o[i].count; j++) {
            for (int k = 0; o[k].name; k++)
                option[k] = o[k].initial;
            option[i] = o[i].value[j];
            if (option[i] != o[i].initial)
                check_options(d, id, there, here, name, option);
        }
    /* split=percent: the initial split, with its limit, leaves matrices as small as these no ELL part. */
    for (int64_t n = 0; o && id == FORMAT_hyb && n <= 100; n += 50)
        check_options(d, id, there, here, name, (const int64_t[OPTIONS_MOST]){1, n});
}

static void converts(const struct device *d)
{
    for (int m = 0; m < awkward_count; m++)
        for (int v = 0; v < VARIANT_COUNT; v++) {
            struct csr here, there, turned, turned_there, rows, rows_there;
            struct coo entries;
            CHECK_OK(awkward_make(&here, &awkward[m], types[v][0], types[v][1]));
            CHECK_OK(device_csr_upload(d, &there, &here));
            for (int id = 0; id < FORMAT_COUNT; id++)
                if (id != FORMAT_group)
                    check_format(d, (enum format_id)id, &there, &here, awkward[m].name);
            CHECK_OK(csr_transpose(&turned, &here));
            CHECK_OK(device_csr_transpose(d, &turned_there, &there));
            CHECK_THAT(same_csr(d, &turned_there, &turned), "the transpose of '%s'", awkward[m].name);
            CHECK_OK(coo_from_csr(&entries, &here));
            CHECK_OK(csr_from_coo(&rows, &entries));
            struct view coo = as_coo(d, &(struct view){.format = HEDDLE_CSR, .csr = there});
            CHECK_OK(device_csr_from_coo(d, &rows_there, &coo.coo));
            CHECK_THAT(same_csr(d, &rows_there, &rows), "'%s' to COO and back", awkward[m].name);
            device_free(d, coo.coo.row);
            device_csr_free(d, &there);
            device_csr_free(d, &turned_there);
            device_csr_free(d, &rows_there);
            csr_free(&here);
            csr_free(&turned);
            csr_free(&rows);
            coo_free(&entries);
        }
}

TEST(conversions_on_the_device_are_bitwise_those_of_the_host)
{
    on_devices(converts);
}

/* ---- looking at a matrix ---- */

/* Same status, same text. */
static void check_same_verdict(const struct device *d, const struct csr *here)
{
    struct csr there;
    char text[512];
    CHECK_OK(device_csr_upload(d, &there, here));
    heddle_status want = csr_validate(here);
    snprintf(text, sizeof text, "%s", want ? heddle_last_error() : "");
    heddle_status got = device_csr_validate(d, &there);
    CHECK_THAT(got == want && (!want || strcmp(text, heddle_last_error()) == 0), "'%s', not '%s'", heddle_last_error(), text);
    device_csr_free(d, &there);
}

static void put_offset(struct csr *A, int64_t i, int64_t value)
{
    if (A->offset == HEDDLE_I64)
        ((int64_t *)A->row_ptr)[i] = value;
    else
        ((int32_t *)A->row_ptr)[i] = (int32_t)value;
}

static void finds_the_first_bad(const struct device *d)
{
    for (int v = 0; v < VARIANT_COUNT; v++) {
        struct csr A;
        CHECK_OK(awkward_make(&A, matrix("staircase"), types[v][0], types[v][1]));
        check_same_verdict(d, &A);
        static const int64_t columns[] = {-1, 400, INT32_MAX, INT32_MIN};
        for (int i = 0; i < 4; i++) { /* later ones first, so that the first moves */
            A.col[A.nnz - 1 - i * 50000] = (int32_t)columns[i];
            check_same_verdict(d, &A);
        }
        A.col[0] = -7;
        check_same_verdict(d, &A);
        put_offset(&A, A.rows, A.nnz + 1);
        check_same_verdict(d, &A);
        put_offset(&A, 1299, 5);
        check_same_verdict(d, &A);
        put_offset(&A, 700, -3);
        check_same_verdict(d, &A);
        put_offset(&A, 0, 1);
        check_same_verdict(d, &A);
        csr_free(&A);
        for (int m = 0; m < awkward_count; m++) {
            CHECK_OK(awkward_make(&A, &awkward[m], types[v][0], types[v][1]));
            check_same_verdict(d, &A);
            csr_free(&A);
        }
    }
}

TEST(a_check_on_the_device_finds_the_same_fault_and_says_the_same)
{
    on_devices(finds_the_first_bad);
}

static void finds_the_first_bad_entry(const struct device *d)
{
    static const struct {
        int64_t at;
        int32_t row, col;
    } faults[] = {{8000, 3, 400}, {7000, 1300, 3}, {6999, -1, -1}, {10, 5, -5}};
    struct pair A;
    struct coo here;
    char text[512];
    pair_new(&A, d, "staircase");
    CHECK_OK(coo_from_csr(&here, &A.here));
    struct view there = as_coo(d, &A.there);
    CHECK_OK(device_coo_validate(d, &there.coo));
    for (int i = 0; i < 4; i++) {
        here.row[faults[i].at] = faults[i].row;
        here.col[faults[i].at] = faults[i].col;
        CHECK_OK(device_copy(d, there.coo.row, here.row, here.nnz * 4));
        CHECK_OK(device_copy(d, there.coo.col, here.col, here.nnz * 4));
        CHECK_STATUS(coo_validate(&here), HEDDLE_BAD_MATRIX);
        snprintf(text, sizeof text, "%s", heddle_last_error());
        CHECK_FAILS(device_coo_validate(d, &there.coo), HEDDLE_BAD_MATRIX, text);
    }
    device_free(d, there.coo.row);
    coo_free(&here);
    pair_free(&A, d);
}

TEST(a_check_of_coordinates_on_the_device_says_the_same)
{
    on_devices(finds_the_first_bad_entry);
}

static void counts_rows(const struct device *d)
{
    struct device cpu = {.threads = 2};
    for (int m = 0; m < awkward_count; m++)
        for (int v = 0; v < VARIANT_COUNT; v++) {
            struct csr here, there;
            heddle_lengths want, got;
            CHECK_OK(awkward_make(&here, &awkward[m], types[v][0], types[v][1]));
            CHECK_OK(device_csr_upload(d, &there, &here));
            CHECK_OK(device_row_lengths(&cpu, &want, &here));
            CHECK_OK(device_row_lengths(d, &got, &there));
            CHECK_THAT(got.shortest == want.shortest && got.longest == want.longest && got.empty == want.empty &&
                           got.mean == want.mean && fabs(got.deviation - want.deviation) <= 1e-12 * want.deviation,
                       "'%s': %lld to %lld, %lld empty, mean %g, deviation %.17g (not %.17g)", awkward[m].name,
                       (long long)got.shortest, (long long)got.longest, (long long)got.empty, got.mean, got.deviation,
                       want.deviation);
            device_csr_free(d, &there);
            csr_free(&here);
        }
}

TEST(row_lengths_are_those_of_the_host)
{
    on_devices(counts_rows);
}

/* ---- bound and planned ---- */

static void refuses(const struct device *d)
{
    struct device cpu = {.threads = 2};
    struct pair A;
    struct bound *b;
    int wave = gpu_info_of(d->gpu)->wave;
    pair_new(&A, d, "even rows");
    CHECK_FAILS(bound_new(&b, d, "cpu_csr", &A.there, HEDDLE_N), HEDDLE_NO_KERNEL, "runs on a cpu");
    CHECK_FAILS(bound_new(&b, &cpu, "csr_vector", &(struct view){.format = HEDDLE_CSR, .csr = A.here}, HEDDLE_N), HEDDLE_NO_KERNEL,
                "runs on a gpu");
    CHECK_FAILS(bound_new(&b, d, "csr_naive_t", &A.there, HEDDLE_N), HEDDLE_NO_KERNEL, "only");
    CHECK_FAILS(bound_new(&b, d, "csr_vector:lanes=3", &A.there, HEDDLE_N), HEDDLE_BAD_ARGUMENT, "0 2 4 8");
    if (wave == 32)
        CHECK_FAILS(bound_new(&b, d, "csr_vector:lanes=64", &A.there, HEDDLE_N), HEDDLE_NO_KERNEL, "has 32");
    CHECK(b == NULL);
    int32_t bad = 5000;
    CHECK_OK(device_copy(d, A.there.csr.col + 77, &bad, sizeof bad));
    CHECK_FAILS(bound_new(&b, d, "ell", &A.there, HEDDLE_N), HEDDLE_BAD_MATRIX, "entry 77, in row 11, has column 5000");
    CHECK_FAILS(bound_new(&b, d, "csr_vector", &A.there, HEDDLE_T), HEDDLE_BAD_MATRIX, "entry 77");
    CHECK(b == NULL);
    pair_free(&A, d);
}

TEST(what_cannot_run_is_refused_with_the_reason)
{
    on_devices(refuses);
}

static void describes(const struct device *d)
{
    struct pair A;
    struct bound *b;
    struct bound_info info;
    pair_new(&A, d, "even rows");
    CHECK_OK(bound_new(&b, d, "csr_vector:lanes=16", &A.there, HEDDLE_N));
    bound_describe(b, &info);
    CHECK(strcmp(info.kernel, "csr_vector:lanes=16") == 0 && info.bytes == 0 && info.convert_ms == 0 && info.repeatable);
    CHECK(wrong(d, &A.there, &A.here, HEDDLE_N, b) == 0);
    bound_free(b);
    CHECK_OK(bound_new(&b, d, "ellr", &A.there, HEDDLE_T));
    bound_describe(b, &info);
    CHECK(strcmp(info.format, "ellr") == 0 && info.transposed && info.convert_ms > 0);
    CHECK(info.bytes == 2048 * (7 * 12 + 4));
    CHECK(wrong(d, &A.there, &A.here, HEDDLE_T, b) == 0);
    bound_free(b);
    pair_free(&A, d);
}

TEST(a_bound_kernel_tells_what_it_holds)
{
    on_devices(describes);
}

/* A kernel on a transpose that others shared, then its own, beside one that made it for itself; with other values, too. */
static void adopts(const struct device *d)
{
    static const char *const kernels[] = {"csr_naive", "csr_adaptive", "ellr"};
    struct pair A;
    pair_new(&A, d, "tall");
    struct view views[] = {A.there, as_coo(d, &A.there)};
    for (int i = 0; i < 6; i++) {
        const struct view *v = &views[i / 3];
        struct view turned = {.format = HEDDLE_CSR};
        struct bound *alone, *b;
        struct bound_info want, got;
        CHECK_OK(bound_new(&alone, d, kernels[i % 3], v, HEDDLE_T));
        CHECK_OK(bound_turn(&turned.csr, d, v));
        CHECK_OK(bound_new(&b, d, kernels[i % 3], &turned, HEDDLE_N));
        bound_adopt(b, &turned.csr, v, 5);
        bound_describe(alone, &want);
        bound_describe(b, &got);
        CHECK_THAT(got.transposed && got.bytes == want.bytes && got.convert_ms >= 5 && bound_refers(b) == bound_refers(alone),
                   "%s holds %lld bytes, not %lld", kernels[i % 3], (long long)got.bytes, (long long)want.bytes);
        CHECK(wrong(d, v, &A.here, HEDDLE_T, b) == 0);
        ((double *)A.here.val)[7] += 3;
        CHECK_OK(device_copy(d, A.there.csr.val, A.here.val, A.here.nnz * 8));
        CHECK_OK(bound_update(b, v));
        CHECK_THAT(wrong(d, v, &A.here, HEDDLE_T, b) == 0, "%s keeps old values", kernels[i % 3]);
        bound_free(alone);
        bound_free(b);
    }
    device_free(d, views[1].coo.row);
    pair_free(&A, d);
}

TEST(a_kernel_may_take_over_a_transpose_that_was_made_for_several)
{
    on_devices(adopts);
}

static void measures_with_something(const struct device *d)
{
    struct pair A;
    struct vectors v = {0};
    double x = 0;
    pair_new(&A, d, "even rows");
    CHECK_OK(vectors_new(&v, d, &A.there, HEDDLE_CACHE_UNKNOWN));
    CHECK_OK(device_read(d, &x, v.x, sizeof x));
    CHECK(x > 1e-6 && x < 1e6);
    vectors_free(&v, d);
    pair_free(&A, d);
}

TEST(plans_do_not_measure_with_zeros)
{
    on_devices(measures_with_something);
}

static void plans(const struct device *d)
{
    static const char *const names[] = {"even rows", "staircase", "tall", "huge first row", "no entries"};
    for (int m = 0; m < 5; m++) {
        struct pair A;
        pair_new(&A, d, names[m]);
        struct view views[] = {A.there, as_coo(d, &A.there)};
        for (int i = 0; i < 12; i += m < 1 ? 1 : 3) {
            heddle_op op = i % 2 ? HEDDLE_T : HEDDLE_N;
            heddle_plan_options o = {.deterministic = i / 2 % 2,
                                     .expected_products = i / 4 % 3 == 2 ? 1 : m + i < 2 ? 1000000 : 100};
            const struct view *v = &views[i / 4 % 3 == 1];
            struct bound *b;
            heddle_plan_desc desc;
            CHECK_OK(plan_choose(&b, &desc, d, v, op, &o));
            CHECK_THAT(b && wrong(d, v, &A.here, op, b) == 0, "'%s', %s for op %d", names[m], desc.kernel, op);
            CHECK_THAT(!o.deterministic || desc.deterministic, "'%s', %s for op %d", names[m], desc.kernel, op);
            CHECK(strncmp(desc.kernel, "cpu_", 4) != 0);
            bound_free(b);
        }
        device_free(d, views[1].coo.row);
        pair_free(&A, d);
    }
}

TEST(a_plan_is_right_and_keeps_what_it_promises)
{
    on_devices(plans);
}

static void keeps_limits(const struct device *d)
{
    struct pair A;
    struct bound *b;
    heddle_plan_desc desc;
    pair_new(&A, d, "even rows");
    CHECK_OK(plan_choose(&b, &desc, d, &A.there, HEDDLE_N, &(heddle_plan_options){.memory_limit = -1}));
    CHECK(desc.bytes == 0);
    bound_free(b);
    CHECK_FAILS(plan_choose(&b, &desc, d, &A.there, HEDDLE_T, &(heddle_plan_options){.memory_limit = -1, .deterministic = 1}),
                HEDDLE_NO_KERNEL, "no deterministic kernel fits");
    CHECK_FAILS(plan_choose(&b, &desc, d, &A.there, HEDDLE_T, &(heddle_plan_options){.kernel = "csr_naive_t", .deterministic = 1}),
                HEDDLE_NO_KERNEL, "not deterministic");
    CHECK_OK(plan_choose(&b, &desc, d, &A.there, HEDDLE_N, &(heddle_plan_options){.kernel = "ell"}));
    CHECK(strcmp(desc.kernel, "ell") == 0 && desc.prepare_ms > 0 && desc.product_ms > 0 && desc.immediate_ms > 0);
    bound_free(b);
    pair_free(&A, d);
}

TEST(a_plan_keeps_within_its_limits)
{
    on_devices(keeps_limits);
}

/* ---- offsets at the end of their type ---- */

#define LAST_ROWS 5
#define LAST_COLS 7
static const int32_t last_length[LAST_ROWS] = {40, 1, 0, 64, 30};

/* The last rows of a matrix with INT32_MAX entries, as it would lie in memory; only what they have is there. */
struct last_rows {
    void *row_ptr, *col, *val, *x, *y;
    struct stored stored;
    double sum[2][LAST_COLS]; /* N: by row, T: by column, for x = 1 */
};

static void *copied(const struct device *d, const void *from, int64_t bytes)
{
    void *p;
    CHECK_OK(device_alloc(d, &p, bytes));
    CHECK_OK(device_copy(d, p, from, bytes));
    return p;
}

static void last_rows_new(struct last_rows *l, const struct device *d)
{
    int32_t row_ptr[LAST_ROWS + 1] = {INT32_MAX}, col[256];
    double val[256], ones[LAST_COLS] = {1, 1, 1, 1, 1, 1, 1};
    int n = 0;
    *l = (struct last_rows){0};
    for (int i = 0; i < LAST_ROWS; i++)
        for (int k = 0; k < last_length[i]; k++, n++) {
            col[n] = (3 * n + i) % LAST_COLS;
            val[n] = 1 + n % 5;
            l->sum[0][i] += val[n];
            l->sum[1][col[n]] += val[n];
        }
    row_ptr[0] -= n;
    for (int i = 0; i < LAST_ROWS; i++)
        row_ptr[i + 1] = row_ptr[i] + last_length[i];
    l->row_ptr = copied(d, row_ptr, sizeof row_ptr);
    l->col = copied(d, col, n * 4);
    l->val = copied(d, val, n * 8);
    l->x = copied(d, ones, sizeof ones);
    l->y = zeros(d, LAST_COLS);
    l->stored = (struct stored){.format = format_at(FORMAT_csr), .rows = LAST_ROWS, .cols = LAST_COLS, .nnz = INT32_MAX,
                                .value = HEDDLE_F64, .offset = HEDDLE_I32};
    l->stored.array[CSR_ROW_PTR] = l->row_ptr;
    l->stored.array[CSR_COL] = (void *)((uintptr_t)l->col - 4 * (uintptr_t)row_ptr[0]);
    l->stored.array[CSR_VAL] = (void *)((uintptr_t)l->val - 8 * (uintptr_t)row_ptr[0]);
}

static void last_rows_free(struct last_rows *l, const struct device *d)
{
    void *all[] = {l->row_ptr, l->col, l->val, l->x, l->y};
    for (int i = 0; i < 5; i++)
        device_free(d, all[i]);
}

static void counts_to_the_end(const struct device *d)
{
    static const char *const specs[] = {"csr_naive", "csr_vector", "csr_vector:lanes=2", "csr_vector:lanes=16",
                                        "csr_classical:lanes=8,rows=4", "csr_classical", "csr_naive_t"};
    struct last_rows l;
    last_rows_new(&l, d);
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        const struct kernel *kernel;
        int64_t option[OPTIONS_MOST];
        double y[LAST_COLS];
        CHECK_OK(kernel_parse(&kernel, option, specs[i]));
        int turned = kernel->ops == OPS_T;
        struct work w = work_for(kernel, d, &l.stored, turned, option);
        scalar_put(w.product.alpha, HEDDLE_F64, 1);
        scalar_put(w.product.beta, HEDDLE_F64, 0);
        w.product.x = l.x;
        w.product.y = l.y;
        CHECK_OK(kernel->prepare ? kernel->prepare(&w) : HEDDLE_OK);
        CHECK_OK(kernel->launch(&w));
        CHECK_OK(device_read(d, y, l.y, sizeof y));
        for (int k = 0; k < (turned ? LAST_COLS : LAST_ROWS); k++)
            CHECK_THAT(y[k] == l.sum[turned][k], "%s: y[%d] is %g, not %g", specs[i], k, y[k], l.sum[turned][k]);
    }
    last_rows_free(&l, d);
}

TEST(offsets_may_reach_the_end_of_their_type)
{
    on_devices(counts_to_the_end);
}

TEST(padded_formats_refuse_rows_that_they_cannot_count)
{
    static const enum format_id formats[] = {FORMAT_ell, FORMAT_ellr};
    struct stored s;
    struct source A = {.csr = {.rows = 1, .cols = 9, .nnz = INT32_MAX, .value = HEDDLE_F32, .offset = HEDDLE_I32},
                       .longest = INT32_MAX};
    for (int i = 0; i < 2; i++)
        CHECK_FAILS(stored_size(&s, formats[i], &A, NULL), HEDDLE_NO_KERNEL, "in 32 bits");
}

/* On a device that has only so much memory: what a plan of "even rows" ends with. */
static heddle_status plan_on(int64_t memory, heddle_plan_desc *desc, int64_t *held)
{
    struct device d = {.kind = DEVICE_gpu};
    char name[64];
    struct pair A;
    struct bound *b = NULL;
    snprintf(name, sizeof name, "emu:memory=%lld", (long long)memory);
    CHECK_OK(gpu_open(&d.gpu, name));
    pair_new(&A, &d, "even rows");
    *held = csr_bytes(&A.here) + A.there.look.bytes;
    heddle_status status = plan_choose(&b, desc, &d, &A.there, HEDDLE_N, &(heddle_plan_options){.expected_products = 1000000});
    CHECK((b != NULL) == (status == HEDDLE_OK));
    if (b && desc->product_ms > 0)
        CHECK(wrong(&d, &A.there, &A.here, HEDDLE_N, b) == 0);
    bound_free(b);
    pair_free(&A, &d);
    gpu_close(d.gpu);
    return status;
}

TEST(a_plan_passes_over_what_does_not_fit_into_the_device)
{
    heddle_plan_desc desc;
    int64_t held = 0, vectors = 64 << 10;
    CHECK_OK(plan_on(1 << 30, &desc, &held));
    CHECK(desc.product_ms > 0);
    CHECK_OK(plan_on(held + vectors + 4096, &desc, &held)); /* no room for a second copy of A */
    CHECK_THAT(desc.bytes < held / 2 && desc.product_ms > 0, "%s holds %lld bytes", desc.kernel, (long long)desc.bytes);
    CHECK_OK(plan_on(held + 1024, &desc, &held)); /* none for x and y: nothing is measured */
    CHECK(desc.product_ms == 0 && strcmp(desc.format, "csr") == 0);
}

/* ---- failures ---- */

struct request {
    const struct device *device;
    const struct view *A;
    const char *kernel;
    heddle_op op;
};

static heddle_status bind_once(void *argument)
{
    struct request *r = argument;
    struct bound *b;
    heddle_status status = bound_new(&b, r->device, r->kernel, r->A, r->op);
    bound_free(b);
    return status;
}

static heddle_status plan_once(void *argument)
{
    struct request *r = argument;
    struct bound *b;
    heddle_plan_desc desc;
    heddle_status status = plan_choose(&b, &desc, r->device, r->A, r->op, &(heddle_plan_options){.kernel = r->kernel});
    CHECK((b != NULL) == (status == HEDDLE_OK));
    bound_free(b);
    return status;
}

/* A plan passes over what it has no memory for: whichever single allocation fails, it ends with a kernel that is right. */
static void one_failure(struct request *r, const struct csr *here, int n)
{
    struct bound *b;
    heddle_plan_desc desc;
    int64_t live = mem_live();
    mem_fail_after(n);
    heddle_status status = plan_choose(&b, &desc, r->device, r->A, r->op, &(heddle_plan_options){.expected_products = 100});
    mem_fail_after(-1);
    CHECK_THAT(status == HEDDLE_OK, "allocation %d failing ends in %s", n, heddle_last_error());
    CHECK(!b || wrong(r->device, r->A, here, r->op, b) == 0);
    bound_free(b);
    CHECK_THAT(mem_live() == live, "allocation %d failing leaks %lld blocks", n, (long long)(mem_live() - live));
}

/* What a device has found once it keeps until it is closed, so everything is found before allocations are counted. */
static void find_everything(struct request r)
{
    for (int k = 0; k < kernel_count(); k++) {
        r.kernel = kernel_at(k)->name;
        bind_once(&r);
    }
    r.kernel = NULL;
    CHECK_OK(plan_once(&r));
}

/* The emulator's memory is the host's, so that its allocations fail like all others; a real GPU's cannot be made to. */
TEST(every_allocation_may_fail)
{
    struct device d = {.kind = DEVICE_gpu};
    struct pair A;
    CHECK_OK(gpu_open(&d.gpu, "emu"));
    pair_new(&A, &d, "repeated columns");
    struct view views[] = {A.there, as_coo(&d, &A.there)};
    for (int i = 0; i < 4; i++)
        find_everything((struct request){&d, &views[i / 2], NULL, i % 2 ? HEDDLE_T : HEDDLE_N});
    for (int i = 0; i < 4; i++) {
        struct request r = {&d, &views[i / 2], NULL, i % 2 ? HEDDLE_T : HEDDLE_N};
        for (int n = 0; n < 24; n++)
            one_failure(&r, &A.here, n);
        for (int k = 0; k < kernel_count(); k++) {
            struct bound *b;
            r.kernel = kernel_at(k)->name;
            heddle_status status = bound_new(&b, &d, r.kernel, r.A, r.op);
            bound_free(b);
            if (status == HEDDLE_OK) {
                CHECK(test_every_allocation(bind_once, &r) > 1);
                CHECK(test_every_allocation(plan_once, &r) > 1);
            }
        }
    }
    device_free(&d, views[1].coo.row);
    pair_free(&A, &d);
    gpu_close(d.gpu);
}
