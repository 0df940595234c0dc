/* SPDX-License-Identifier: MIT
 *
 * Templates and bundles: what they hold, that a matrix comes back from them bit by bit, and when they are
 * refused.  That GPUs make the same arrays is shown with all formats in test_plan_gpu.c, that products are
 * right in test_kernels.c and test_kernels_gpu.c. */
#include <stdlib.h>
#include <string.h>

#include "awkward.h"
#include "base/memory.h"
#include "convert/convert.h"
#include "trial.h"

static const heddle_type types[VARIANT_COUNT][2] = {
#define VARIANT(name, elem, real, off, value, offset) {value, offset},
#include "matrix/variants.def"
#undef VARIANT
};

/* Values of any bits: quiet and signalling NaN with payloads, -0.0, subnormals, infinities. */
static void scramble(struct csr *A, uint64_t seed)
{
    static const uint64_t special[] = {UINT64_C(0x8000000000000000),
                                       1,
                                       UINT64_C(0x7ff0000000000001),
                                       UINT64_C(0xfff8dead0000beef),
                                       UINT64_C(0x7ff0000000000000),
                                       UINT64_C(0x000fffffffffffff),
                                       0x80000000,
                                       0x7f800001,
                                       0xffc0beef};
    int64_t count = sizeof special / sizeof special[0];
    size_t size = type_size(A->value), word = size < 8 ? size : 8;
    for (int64_t k = 0; k < A->nnz * (int64_t)(size / word); k++) {
        uint64_t bits = (uint64_t)(k + 1) * (2 * seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
        bits = k % 3 ? bits ^ bits >> 31 : special[k / 3 % count];
        memcpy((char *)A->val + (size_t)k * word, &bits, word);
    }
}

static int same_bits(const void *a, const void *b, int64_t bytes)
{
    return bytes == 0 || memcmp(a, b, (size_t)bytes) == 0;
}

static int same_matrix(const struct csr *A, const struct csr *B)
{
    return same_bits(A->row_ptr, B->row_ptr, (A->rows + 1) * (int64_t)type_size(A->offset)) &&
           same_bits(A->col, B->col, A->nnz * (int64_t)sizeof *A->col) &&
           same_bits(A->val, B->val, A->nnz * (int64_t)type_size(A->value));
}

static void comes_back(const struct csr *A, const struct stored *s, const char *name)
{
    struct csr B;
    CHECK_OK(csr_new(&B, A->rows, A->cols, A->nnz, A->value, A->offset));
    s->format->restore(&B, s);
    CHECK_THAT(same_matrix(A, &B), "%s of '%s', slices of %d", s->format->name, name, (int)s->dim[0]);
    csr_free(&B);
}

/* Does `s`, filled anew with other values, hold those of A? */
static void takes_values(const struct csr *A, struct stored *s, const char *name)
{
    CHECK_OK(device_stored_refill(&(struct device){.threads = 2}, s, &(struct source){.csr = *A}));
    comes_back(A, s, name);
}

static void on_host(struct csr *A, enum format_id id, int64_t height, const char *name)
{
    struct source source = {.csr = *A};
    struct stored s;
    CHECK_OK(stored_size(&s, id, &source, &height));
    CHECK_OK(stored_build(&s, &source));
    comes_back(A, &s, name);
    if (!s.format->valued) {
        scramble(A, 77);
        takes_values(A, &s, name);
    }
    stored_free(&s);
}

/* The arrays of a device, read. */
static void read_back(const struct device *d, const struct csr *A, const struct stored *there,
                      const char *name)
{
    struct stored s = *there;
    for (int i = 0; s.format->array[i]; i++) {
        s.array[i] = mem_alloc(s.bytes[i], 1);
        CHECK_OK(device_read(d, s.array[i], there->array[i], s.bytes[i]));
    }
    comes_back(A, &s, name);
    stored_free(&s);
}

static void on_device(const struct device *d, struct csr *A, enum format_id id, const char *name)
{
    struct csr there;
    struct stored s;
    CHECK_OK(device_csr_upload(d, &there, A));
    CHECK_OK(device_stored_size(d, &s, id, &(struct source){.csr = there}, (const int64_t[OPTIONS_MOST]){0}));
    CHECK(s.dim[0] == gpu_info_of(d->gpu)->wave);
    CHECK_OK(device_stored_build(d, &s, &(struct source){.csr = there}));
    read_back(d, A, &s, name);
    if (!s.format->valued) {
        scramble(A, 99);
        CHECK_OK(device_copy(d, there.val, A->val, A->nnz * (int64_t)type_size(A->value)));
        CHECK_OK(device_stored_refill(d, &s, &(struct source){.csr = there}));
        read_back(d, A, &s, name);
    }
    device_stored_free(d, &s);
    device_csr_free(d, &there);
}

TEST(every_matrix_comes_back_bit_by_bit)
{
    static const int64_t heights[] = {8, 16, 32, 64};
    for (int m = 0; m < awkward_count; m++)
        for (int v = 0; v < VARIANT_COUNT; v++) {
            struct csr A;
            if (!(MOVED_VARIANTS >> v & 1) && awkward[m].rows > 1000)
                continue;
            CHECK_OK(awkward_make(&A, &awkward[m], types[v][0], types[v][1]));
            for (int i = 0; i < 4 && A.nnz <= 20000; i++) {
                scramble(&A, (uint64_t)i);
                on_host(&A, FORMAT_tmplv, heights[i], awkward[m].name);
                on_host(&A, FORMAT_tmpl, heights[i], awkward[m].name);
                if (heights[i] >= 32)
                    on_host(&A, FORMAT_bundle, heights[i], awkward[m].name);
            }
            csr_free(&A);
        }
}

TEST(every_matrix_comes_back_from_a_device_bit_by_bit)
{
    static const char *const names[] = {"emu:wave=32,seed=1", "emu:wave=64,seed=2"};
    for (int i = 0; i < 2; i++) {
        struct device d = {.kind = DEVICE_gpu};
        CHECK_OK(gpu_open(&d.gpu, names[i]));
        for (int m = 0; m < awkward_count; m++)
            for (int v = 0; v < VARIANT_COUNT; v++) {
                struct csr A;
                if (!(MOVED_VARIANTS >> v & 1) || (trial_brief() && (i + m + v) % 4))
                    continue;
                CHECK_OK(awkward_make(&A, &awkward[m], types[v][0], types[v][1]));
                scramble(&A, 5);
                static const enum format_id formats[] = {FORMAT_tmplv, FORMAT_tmpl, FORMAT_bundle};
                for (int f = 0; f < 3 && A.nnz <= 20000; f++)
                    on_device(&d, &A, formats[f], awkward[m].name);
                csr_free(&A);
            }
        gpu_close(d.gpu);
    }
}

/* Ten rows: seven have entries at -1 and +1 from the diagonal, in this order or the other; row 0 is empty,
 * and so is row 9. */
TEST(a_small_matrix_is_as_worked_out_by_hand)
{
    int32_t row_ptr[] = {0, 0, 2, 4, 6, 8, 10, 12, 14, 15, 15},
            col[] = {0, 2, 1, 3, 2, 4, 5, 3, 4, 6, 5, 7, 6, 8, 2};
    float val[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    struct source source = {.csr = {10, 10, 15, HEDDLE_F32, HEDDLE_I32, row_ptr, col, val}};
    struct stored s;
    CHECK_OK(stored_size(&s, FORMAT_tmpl, &source, NULL));
    CHECK_OK(stored_build(&s, &source));
    const uint32_t *slice = s.array[TMPL_SLICE];
    const uint16_t *row = s.array[TMPL_ROW];
    const int32_t *offset = s.array[TMPL_OFFSET], *rest_row = s.array[TMPL_REST_ROW],
                  *rest_col = s.array[TMPL_REST_COL];
    const int64_t *rest_ptr = s.array[TMPL_REST_PTR];
    const float *v = s.array[TMPL_VAL], *rest_val = s.array[TMPL_REST_VAL];
    CHECK(s.dim[TMPL_HEIGHT] == 8 && s.dim[TMPL_SLICES] == 2 && s.dim[TMPL_REST] == 2 &&
          s.dim[TMPL_ENTRIES] == 3);
    CHECK(slice[TMPL_AT_VAL] == 0 && slice[TMPL_AT_OFFSET] == 0 && slice[TMPL_AT_WINDOW] == 0 &&
          slice[TMPL_AT_LENGTH] == 0);
    CHECK(row[0] == 0 && row[1] == 9 && row[2] == TMPL_OFF && row[7] == TMPL_OFF);
    CHECK(slice[4 + TMPL_AT_VAL] == 0 && slice[4 + TMPL_AT_OFFSET] == 1 && slice[4 + TMPL_AT_LENGTH] == 2);
    CHECK(row[8] == 1 && row[10] == 3 && row[11] == 5 && row[13] == 7 && row[14] == (TMPL_OFF | 1) &&
          row[15] == (TMPL_OFF | 1));
    CHECK(offset[0] == 0 && offset[1] == -1 && offset[2] == 1 && s.bytes[TMPL_OFFSET] == 3 * sizeof *offset);
    CHECK(v[0] == 1 && v[3] == 9 && v[6] == 0 && v[8] == 2 && v[11] == 10 && v[13] == 14 && v[15] == 0);
    CHECK(rest_row[0] == 4 && rest_row[1] == 8 && rest_ptr[0] == 0 && rest_ptr[1] == 2 && rest_ptr[2] == 3);
    CHECK(rest_col[0] == 5 && rest_col[1] == 3 && rest_col[2] == 2 && rest_val[0] == 7 && rest_val[2] == 15);
    stored_free(&s);
}

/* The same ten rows with values 1 and 2 but for row 5, whose second is 2 with another last bit: it goes to
 * the rest, and slices store none. */
TEST(rows_share_values_only_if_all_of_their_bits_are_the_same)
{
    int32_t row_ptr[] = {0, 0, 2, 4, 6, 8, 10, 12, 14, 16, 16},
            col[] = {0, 2, 1, 3, 2, 4, 3, 5, 4, 6, 5, 7, 6, 8, 7, 9};
    double val[] = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2.0000000000000004, 1, 2, 1, 2, 1, 2};
    struct source source = {.csr = {10, 10, 16, HEDDLE_F64, HEDDLE_I32, row_ptr, col, val}};
    struct stored s;
    CHECK_OK(stored_size(&s, FORMAT_tmplv, &source, NULL));
    CHECK_OK(stored_build(&s, &source));
    const uint16_t *row = s.array[TMPL_ROW];
    const double *v = s.array[TMPL_VAL];
    CHECK(s.dim[TMPL_SLICES] == 2 && s.dim[TMPL_REST] == 1 && s.dim[TMPL_ENTRIES] == 2 &&
          s.bytes[TMPL_VAL] == 3 * sizeof *v);
    CHECK(((const int32_t *)s.array[TMPL_REST_ROW])[0] == 5 &&
          ((const double *)s.array[TMPL_REST_VAL])[1] > 2);
    CHECK(v[0] == 0 && v[1] == 1 && v[2] == 2 && row[8] == 1 && row[11] == 4 && row[12] == 6 && row[14] == 8);
    stored_free(&s);
}

/* Six rows: three with columns 1, 4, 5, 8, 9; two with 2; one empty.  Slices of 32 lanes have eight bundles.
 * */
TEST(bundles_of_a_small_matrix_are_as_worked_out_by_hand)
{
    int32_t row_ptr[] = {0, 5, 10, 15, 16, 17, 17},
            col[] = {1, 4, 5, 8, 9, 1, 4, 5, 8, 9, 1, 4, 5, 8, 9, 2, 2};
    double val[17];
    for (int k = 0; k < 17; k++)
        val[k] = k + 1;
    struct source source = {.csr = {6, 10, 17, HEDDLE_F64, HEDDLE_I32, row_ptr, col, val}};
    struct stored s;
    CHECK_OK(stored_size(&s, FORMAT_bundle, &source, NULL));
    CHECK_OK(stored_build(&s, &source));
    const uint32_t *slice = s.array[BUNDLE_SLICE];
    const int32_t *row = s.array[BUNDLE_ROW];
    const uint16_t *c = s.array[BUNDLE_COL];
    const double *v = s.array[BUNDLE_VAL];
    CHECK(s.dim[BUNDLE_SLICES] == 3 && s.bytes[BUNDLE_VAL] == (0 + 2 + 6) * 32 * 8 &&
          s.bytes[BUNDLE_COL] == (0 + 1 + 2) * 32 * 2);
    CHECK(slice[BUNDLE_AT_SHAPE] == 1 && row[0] == 5 && row[1] == 0 && row[2] == -1 && row[3] == 0);
    CHECK(slice[4 + BUNDLE_AT_SHAPE] == (1 << 3 | 2) && slice[4 + BUNDLE_AT_BASE] == 2 && row[16] == 3 &&
          row[17] == 1);
    CHECK(slice[8 + BUNDLE_AT_SHAPE] == (2 << 3 | 3) && slice[8 + BUNDLE_AT_BASE] == 1 &&
          slice[8 + BUNDLE_AT_VAL] == 2 && slice[8 + BUNDLE_AT_COL] == 1 && row[32] == 0 && row[33] == 5);
    CHECK(c[0] == 0 && v[0] == 16 && v[32] == 17 && v[1] == 0);
    CHECK(c[32] == 0 && c[33] == 3 && c[34] == 4 && c[35] == 7 && c[64] == 8 && c[65] == 0);
    CHECK(v[64] == 1 && v[67] == 4 && v[96] == 6 && v[128] == 11 && v[160] == 5 && v[161] == 0 &&
          v[224] == 15);
    stored_free(&s);
}

/* Rows that are too long for a template have no place in a device's table of them: nobody else's may change,
 * not even the one at its end. */
TEST(rows_without_a_template_leave_the_table_of_templates_alone)
{
    enum { SHORT = 57, LONG = 7, PLACES = 256 /* for so many rows */ };
    const int64_t length = TMPL_LONGEST + 1;
    int64_t offset = 0;
    for (;; offset++) { /* of one entry from the diagonal */
        const uint64_t spread = TMPL_SPREAD(0, offset), hash = TMPL_MIX(spread) | 1;
        if ((hash >> 32 & (PLACES - 1)) == PLACES - 1)
            break;
    }
    struct csr A;
    CHECK_OK(
        csr_new(&A, SHORT + LONG, length + offset + SHORT, SHORT + LONG * length, HEDDLE_F64, HEDDLE_I32));
    for (int i = 0; i <= SHORT + LONG; i++)
        ((int32_t *)A.row_ptr)[i] = i <= LONG ? i * (int32_t)length : LONG * (int32_t)length + i - LONG;
    for (int64_t k = 0; k < A.nnz; k++) {
        A.col[k] = (int32_t)(k < LONG * length ? k % length : k - LONG * length + LONG + offset);
        ((double *)A.val)[k] = (double)k;
    }
    for (int i = 0; i < 2; i++) {
        struct device d = {.kind = DEVICE_gpu};
        struct csr there;
        struct stored s;
        CHECK_OK(gpu_open(&d.gpu, i ? "emu:wave=64,seed=5" : "emu:wave=32,seed=6"));
        CHECK_OK(device_csr_upload(&d, &there, &A));
        CHECK_OK(device_stored_size(&d, &s, FORMAT_tmpl, &(struct source){.csr = there}, NULL));
        CHECK_THAT(s.dim[TMPL_REST] >= LONG && s.dim[TMPL_REST] < LONG + 8, "%d rows share no template",
                   (int)s.dim[TMPL_REST]);
        device_csr_free(&d, &there);
        gpu_close(d.gpu);
    }
    csr_free(&A);
}

/* Rows of 1 to `rows` entries, but not in this order; *A is f64. */
static void rows_of_every_length(struct csr *A, int64_t rows)
{
    CHECK_OK(csr_new(A, rows, rows, rows * (rows + 1) / 2, HEDDLE_F64, HEDDLE_I32));
    int32_t *ptr = A->row_ptr;
    ptr[0] = 0;
    for (int32_t i = 0; i < rows; i++) {
        ptr[i + 1] = ptr[i] + (int32_t)(5 * i % rows) + 1;
        for (int32_t k = ptr[i]; k < ptr[i + 1]; k++) {
            A->col[k] = k - ptr[i];
            ((double *)A->val)[k] = 1;
        }
    }
}

TEST(hyb_is_split_where_its_options_say)
{
    enum { TWO_THIRDS, PERCENT, LIMIT, MINIMAL };
    static const int64_t cases[][4] = {/* split, n, width, entries behind it */
                                       {TWO_THIRDS, 0, 8, 1 + 2 + 3 + 4},
                                       {PERCENT, 0, 1, 66},
                                       {PERCENT, 50, 7, 1 + 2 + 3 + 4 + 5},
                                       {PERCENT, 100, 12, 0},
                                       {LIMIT, 50, 0, 78},
                                       {MINIMAL, 0, 4, 36}};
    struct csr A;
    rows_of_every_length(&A, 12);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct stored s;
        const int64_t option[OPTIONS_MOST] = {cases[i][0], cases[i][1]};
        CHECK_OK(stored_size(&s, FORMAT_hyb, &(struct source){.csr = A}, option));
        CHECK_THAT(s.dim[HYB_WIDTH] == cases[i][2] && s.dim[HYB_REST] == cases[i][3],
                   "case %d: width %lld, rest %lld", (int)i, (long long)s.dim[HYB_WIDTH],
                   (long long)s.dim[HYB_REST]);
    }
    csr_free(&A);
}

/* ---- what is refused ---- */

/* One entry a row, at i*i*step from the diagonal: all templates differ unless step is 0. */
static void squares(struct csr *A, int64_t rows, int64_t step)
{
    CHECK_OK(csr_new(A, rows, INT32_MAX, rows, HEDDLE_F32, HEDDLE_I32));
    for (int64_t i = 0; i <= rows; i++)
        ((int32_t *)A->row_ptr)[i] = (int32_t)i;
    for (int64_t i = 0; i < rows; i++) {
        A->col[i] = (int32_t)(i + i * step);
        ((float *)A->val)[i] = 1;
    }
}

static void refused(int64_t rows, int64_t step, const char *why)
{
    struct csr A, there;
    struct stored s;
    struct device d = {.kind = DEVICE_gpu};
    squares(&A, rows, step);
    CHECK_OK(gpu_open(&d.gpu, "emu"));
    CHECK_OK(device_csr_upload(&d, &there, &A));
    heddle_status status = why ? HEDDLE_NO_KERNEL : HEDDLE_OK;
    CHECK_STATUS(stored_size(&s, FORMAT_tmpl, &(struct source){.csr = A}, NULL), status);
    CHECK(!why || strstr(heddle_last_error(), why));
    CHECK_STATUS(device_stored_size(&d, &s, FORMAT_tmpl, &(struct source){.csr = there}, NULL), status);
    CHECK(!why || strstr(heddle_last_error(), why));
    device_csr_free(&d, &there);
    gpu_close(d.gpu);
    csr_free(&A);
}

TEST(a_matrix_whose_rows_share_nothing_is_refused_unless_it_is_small)
{
    refused(20001, 1, "only 0 % of the entries");
    refused(20000, 1, NULL);
    refused(20001, 0, NULL);
}

TEST(too_many_templates_are_refused)
{
    refused(TMPL_DISTINCT, 1, "only 0 % of the entries");
    refused(TMPL_DISTINCT + 1, 1, "different ones");
}

/* Two rows of each of 40,000 templates of 14 entries: more than fits into the lists. */
TEST(templates_that_are_too_long_in_all_are_refused)
{
    struct csr A;
    struct stored s;
    int64_t templates = 40000, n = 14;
    CHECK_OK(csr_new(&A, 2 * templates, INT32_MAX, 2 * templates * n, HEDDLE_F64, HEDDLE_I64));
    for (int64_t i = 0; i <= A.rows; i++)
        ((int64_t *)A.row_ptr)[i] = n * i;
    for (int64_t k = 0; k < A.nnz; k++)
        A.col[k] = (int32_t)(k / n + k / n % templates * n + k % n);
    CHECK_FAILS(stored_size(&s, FORMAT_tmpl, &(struct source){.csr = A}, NULL), HEDDLE_NO_KERNEL,
                "560000 entries");
    csr_free(&A);
}
