/* SPDX-License-Identifier: MIT
 *
 * What is asked of a matrix on a GPU before its products, as src/convert does it: conversions, checks and
 * row lengths are those of the host, bit by bit and word by word.  HEDDLE_TEST_DEVICES names other devices
 * than the emulator's. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "convert/convert.h"
#include "convert/service.h"
#include "trial.h"

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
    return there->rows == here->rows && there->cols == here->cols && there->nnz == here->nnz &&
           there->offset == here->offset &&
           same(d, there->row_ptr, here->row_ptr, (here->rows + 1) * (int64_t)type_size(here->offset)) &&
           same(d, there->col, here->col, here->nnz * 4) &&
           same(d, there->val, here->val, here->nnz * (int64_t)type_size(here->value));
}

/* A format with options, or NULL: the initial ones.  The host is told for which device it makes the
 * format. */
static void check_options(const struct device *d, enum format_id id, const struct csr *there,
                          const struct csr *here, const char *name, const int64_t *option)
{
    struct device cpu = {.threads = 2};
    struct source from = {.csr = *there};
    struct source from_here = {
        .csr = *here, .omega = gpu_info_of(d->gpu)->wave, .sigma = gpu_arch(d->gpu)->sigma};
    struct stored s, t;
    heddle_status want = device_stored_size(&cpu, &t, id, &from_here, option);
    char text[512];
    snprintf(text, sizeof text, "%s", want ? heddle_last_error() : "");
    heddle_status got = device_stored_size(d, &s, id, &from, option);
    CHECK_THAT(got == want && (!want || strcmp(text, heddle_last_error()) == 0), "%s of '%s': %s",
               format_at(id)->name, name, heddle_last_error());
    if (got != HEDDLE_OK || want != HEDDLE_OK)
        return;
    CHECK_OK(device_stored_build(&cpu, &t, &from_here));
    CHECK_OK(device_stored_build(d, &s, &from));
    for (int i = 0; s.format->array[i]; i++)
        CHECK_THAT(s.bytes[i] == t.bytes[i] && same(d, s.array[i], t.array[i], s.bytes[i]),
                   "%s of '%s': %s differs", s.format->name, name, s.format->array[i]);
    CHECK(memcmp(s.dim, t.dim, sizeof s.dim) == 0);
    device_stored_free(d, &s);
    device_stored_free(&cpu, &t);
}

static int has_turn(const struct device *d, int i)
{
    return trial_has_turn(gpu_info_of(d->gpu)->wave == 64, i);
}

/* With every value of every option, the others at their initial values.  Those choose what is stored, not
 * its types. */
static void check_format(const struct device *d, enum format_id id, const struct csr *there,
                         const struct csr *here, int m)
{
    const char *name = awkward[m].name;
    const struct option *o =
        here->value == HEDDLE_F32 && here->offset == HEDDLE_I32 && has_turn(d, m + (int)id)
            ? format_at(id)->options
            : NULL;
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

static void convert(const struct device *d, int m, int v)
{
    const struct awkward *w = &awkward[m];
    struct csr here, there, turned, turned_there, rows, rows_there;
    struct coo entries;
    CHECK_OK(awkward_make(&here, w, trial_types[v][0], trial_types[v][1]));
    CHECK_OK(device_csr_upload(d, &there, &here));
    for (int id = 0; id < FORMAT_COUNT; id++)
        if (id != FORMAT_group)
            check_format(d, (enum format_id)id, &there, &here, m);
    CHECK_OK(csr_transpose(&turned, &here));
    CHECK_OK(device_csr_transpose(d, &turned_there, &there));
    CHECK_THAT(same_csr(d, &turned_there, &turned), "the transpose of '%s'", w->name);
    CHECK_OK(coo_from_csr(&entries, &here));
    CHECK_OK(csr_from_coo(&rows, &entries));
    struct view coo = trial_as_coo(d, &(struct view){.format = HEDDLE_CSR, .csr = there});
    CHECK_OK(device_csr_from_coo(d, &rows_there, &coo.coo));
    CHECK_THAT(same_csr(d, &rows_there, &rows), "'%s' to COO and back", w->name);
    device_free(d, coo.coo.row);
    device_csr_free(d, &there);
    device_csr_free(d, &turned_there);
    device_csr_free(d, &rows_there);
    csr_free(&here);
    csr_free(&turned);
    csr_free(&rows);
    coo_free(&entries);
}

/* Two variants for both wave widths, those of other sizes, and options, for one. */
static void converts(const struct device *d)
{
    for (int m = 0; m < awkward_count; m++)
        for (int v = 0; v < VARIANT_COUNT; v++)
            if ((trial_brief()  ? TWO_VARIANTS
                 : trial_slow() ? ALL_VARIANTS
                                : MOVED_VARIANTS) >>
                        v &
                    1 &&
                ((1u << VARIANT_f32_i32 | 1u << VARIANT_f64_o64) >> v & 1 || has_turn(d, m + v)))
                convert(d, m, v);
}

TEST(conversions_on_the_device_are_bitwise_those_of_the_host)
{
    trial_on_devices(converts);
}

/* Grids of 1024 threads at most, which is four blocks: all others come round to the rest. */
TEST(conversions_whose_grid_is_too_small_cover_the_whole_matrix)
{
    static const char *const names[] = {"emu:wave=32,threads=1", "emu:wave=64,threads=1"};
    for (int i = 0; i < 2; i++) {
        struct device d = {.kind = DEVICE_gpu};
        CHECK_OK(gpu_open(&d.gpu, names[i]));
        ((struct gpu_head *)d.gpu)->info.grid_threads = 1024;
        for (int m = 0; m < awkward_count; m++)
            if (awkward[m].rows > 4 * 1024)
                convert(&d, m, VARIANT_f32_i32);
        gpu_close(d.gpu);
    }
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
    CHECK_THAT(got == want && (!want || strcmp(text, heddle_last_error()) == 0), "'%s', not '%s'",
               heddle_last_error(), text);
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
        if (!(MOVED_VARIANTS >> v & 1))
            continue;
        CHECK_OK(awkward_make(&A, trial_matrix("staircase"), trial_types[v][0], trial_types[v][1]));
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
            CHECK_OK(awkward_make(&A, &awkward[m], trial_types[v][0], trial_types[v][1]));
            check_same_verdict(d, &A);
            csr_free(&A);
        }
    }
}

TEST(a_check_on_the_device_finds_the_same_fault_and_says_the_same)
{
    trial_on_devices(finds_the_first_bad);
}

static void finds_the_first_bad_entry(const struct device *d)
{
    static const struct {
        int64_t at;
        int32_t row, col;
    } faults[] = {{8000, 3, 400}, {7000, 1300, 3}, {6999, -1, -1}, {10, 5, -5}};
    struct trial_pair A;
    struct coo here;
    char text[512];
    trial_pair_new(&A, d, "staircase");
    CHECK_OK(coo_from_csr(&here, &A.here));
    struct view there = trial_as_coo(d, &A.there);
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
    trial_pair_free(&A, d);
}

TEST(a_check_of_coordinates_on_the_device_says_the_same)
{
    trial_on_devices(finds_the_first_bad_entry);
}

static void counts_rows(const struct device *d)
{
    struct device cpu = {.threads = 2};
    for (int m = 0; m < awkward_count; m++)
        for (int v = 0; v < VARIANT_COUNT; v++) {
            struct csr here, there;
            heddle_lengths want, got;
            if (!(MOVED_VARIANTS >> v & 1))
                continue;
            CHECK_OK(awkward_make(&here, &awkward[m], trial_types[v][0], trial_types[v][1]));
            CHECK_OK(device_csr_upload(d, &there, &here));
            struct gpu_info *info = &((struct gpu_head *)d->gpu)->info;
            const int64_t grid = info->grid;
            CHECK_OK(device_row_lengths(&cpu, &want, &here));
            info->grid = m % 2 ? 1 : grid; /* threads come round */
            CHECK_OK(device_row_lengths(d, &got, &there));
            info->grid = grid;
            CHECK_THAT(got.shortest == want.shortest && got.longest == want.longest &&
                           got.empty == want.empty && got.mean == want.mean &&
                           fabs(got.deviation - want.deviation) <= 1e-12 * want.deviation,
                       "'%s': %lld to %lld, %lld empty, mean %g, deviation %.17g (not %.17g)",
                       awkward[m].name, (long long)got.shortest, (long long)got.longest, (long long)got.empty,
                       got.mean, got.deviation, want.deviation);
            device_csr_free(d, &there);
            csr_free(&here);
        }
}

TEST(row_lengths_are_those_of_the_host)
{
    trial_on_devices(counts_rows);
}

/* More chunks of counts than a block has at a time: those of 67 million entries. */
static void scans_sums(const struct device *d)
{
    enum { SUMS = 2 * 4096 + 5, BLOCK = 256, TILES = 2, CHUNKS }; /* as csr_transpose.c has them */
    static int64_t sum[SUMS];
    int64_t wrong = 0;
    struct work w = {.page = "csr_transpose", .device = d, .variant = VARIANT_f64_i32, .value = HEDDLE_F64};
    for (int64_t i = 0; i < SUMS; i++)
        sum[i] = i + 1;
    w.product.dim[TILES] = 0;
    w.product.dim[CHUNKS] = SUMS;
    CHECK_OK(device_alloc(d, &w.product.workspace, sizeof sum));
    CHECK_OK(device_copy(d, w.product.workspace, sum, sizeof sum));
    CHECK_OK(gpu_run(&w, "csr_transpose_scan_sums", 1, BLOCK, 0));
    CHECK_OK(device_read(d, sum, w.product.workspace, sizeof sum));
    for (int64_t i = 0; i < SUMS; i++)
        wrong += sum[i] != i * (i + 1) / 2;
    CHECK_THAT(wrong == 0, "%lld of %d", (long long)wrong, SUMS);
    device_free(d, w.product.workspace);
}

TEST(counts_of_a_transposition_are_added_up_however_many_there_are)
{
    trial_on_devices(scans_sums);
}
