/* SPDX-License-Identifier: MIT
 *
 * Values in fewer bytes: only such as are the same to the last bit, on every device, and products with them
 * are those with the values that were given. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "awkward.h"
#include "base/memory.h"
#include "convert/convert.h"
#include "matrix/narrow.h"
#include "plan/plan.h"
#include "test.h"
#include "trial.h"

static const char *const devices[] = {"cpu:threads=2", "emu:wave=32,seed=3", "emu:wave=64,seed=4"};
#define DEVICES ((int)(sizeof devices / sizeof devices[0]))

static enum device_kind kind_of(int i)
{
    return i == 0 ? DEVICE_cpu : DEVICE_gpu;
}

static uint32_t bits_of(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static uint64_t double_bits(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

static int is_nan(uint32_t bits)
{
    return (bits & 0x7fffffff) > 0x7f800000;
}

TEST(every_number_of_16_bits_is_found_and_those_beside_it_are_not)
{
    int wrong = 0;
    for (uint32_t h = 0; h < 65536; h++) {
        const uint32_t f = bits_of(f16_widen((f16)h)), b = bits_of(bf16_widen((bf16)h));
        wrong += f16_exactly(f) != (is_nan(f) ? -1 : (int32_t)h);
        wrong += bf16_exactly(b) != (is_nan(b) ? -1 : (int32_t)h);
        wrong += f16_exactly(f ^ 1) != -1 || bf16_exactly(b ^ 1) != -1; /* the last bit of a fraction */
    }
    CHECK_THAT(wrong == 0, "%d wrong", wrong);
    CHECK(f16_exactly(bits_of(65504)) == 0x7bff && f16_exactly(bits_of(65536)) == -1); /* would be Inf */
    CHECK(f16_exactly(bits_of(0x1p-24f)) == 1 && f16_exactly(bits_of(0x1p-25f)) == -1);
    CHECK(narrower_type(HEDDLE_F32, 1) == HEDDLE_BF16 && narrower_type(HEDDLE_F32, 2) == HEDDLE_TYPE_DEFAULT);
    CHECK(f16_exactly(1) == -1 && f16_exactly(0x80000000) == 0x8000);
}

/* The f32 with the same value; -1: there is none. */
static int64_t f32_of(uint64_t bits)
{
    uint32_t same;
    return values_narrow(&same, F32_F64, &bits, 1) ? (int64_t)same : -1;
}

TEST(every_number_of_32_bits_is_found_in_64_and_those_beside_it_are_not)
{
    static const uint32_t special[] = {0,          0x80000000, 1,          0x807fffff, 0x00800000,
                                       0x7f7fffff, 0x7f800000, 0xff800000, 0x3f800000, 0x00400001};
    uint64_t seed = 7;
    int wrong = 0;
    for (int i = 0; i < 20000; i++) {
        const uint32_t bits = i < 10 ? special[i] : (uint32_t)test_random(&seed);
        float v;
        memcpy(&v, &bits, sizeof v);
        if (is_nan(bits))
            continue;
        wrong += f32_of(double_bits(v)) != (int64_t)bits;
        wrong += f32_of(double_bits(v) ^ 1) != -1;
        wrong += f32_of(double_bits(v) ^ (uint64_t)1 << 28) != -1 && (bits & 0x7fffffff) >= 0x00800000;
    }
    CHECK_THAT(wrong == 0, "%d wrong", wrong);
    CHECK(f32_of(double_bits(0x1p128)) == -1 && f32_of(double_bits(0x1p-150)) == -1);
    CHECK(f32_of(double_bits(0x1.8p-149)) == -1 && f32_of(UINT64_C(0x7ff8000000000000)) == -1);
}

/* Whether n values can be had in `narrower`, on this device; what was written is compared with the host's. */
static int narrows(const struct device *d, heddle_type narrower, const void *val, int64_t n, size_t size)
{
    const int64_t bytes = n * (int64_t)type_size(narrower);
    void *there, *to, *here = mem_alloc(n, type_size(narrower)), *got = mem_alloc(n, type_size(narrower));
    int exact, asked, expected = values_narrow(here, narrower, val, n);
    CHECK_OK(device_alloc(d, &there, n * (int64_t)size));
    CHECK_OK(device_alloc(d, &to, bytes));
    CHECK_OK(device_copy(d, there, val, n * (int64_t)size));
    CHECK_OK(device_values_narrow(d, &asked, NULL, narrower, there, n));
    CHECK_OK(device_values_narrow(d, &exact, to, narrower, there, n));
    CHECK_OK(device_read(d, got, to, bytes));
    CHECK(exact == expected && asked == expected);
    CHECK(!exact || n == 0 || memcmp(here, got, (size_t)bytes) == 0);
    device_free(d, there);
    device_free(d, to);
    mem_free(here);
    mem_free(got);
    return exact;
}

TEST(one_value_that_does_not_fit_is_found_wherever_it_stands)
{
    enum { N = 20000 };
    static const int64_t places[] = {0, 1, N / 64 - 1, N / 64, 255, 256, N / 2, N - 2, N - 1};
    for (int i = 0; i < DEVICES; i++) {
        struct device d = {.kind = kind_of(i), .threads = 2};
        if (i > 0)
            CHECK_OK(gpu_open(&d.gpu, devices[i]));
        double *wide = mem_alloc(N, sizeof *wide);
        float *usual = mem_alloc(N, sizeof *usual);
        for (int k = 0; k < N; k++)
            usual[k] = (float)(wide[k] = (k % 255 - 127) * 0.5);
        CHECK(narrows(&d, F32_F64, wide, N, sizeof *wide));
        CHECK(narrows(&d, HEDDLE_F16, usual, N, sizeof *usual));
        CHECK(narrows(&d, HEDDLE_BF16, usual, N, sizeof *usual));
        CHECK(narrows(&d, F32_F64, wide, 0, sizeof *wide));
        for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
            const double wide_before = wide[places[k]];
            const float before = usual[places[k]];
            wide[places[k]] = 0.1;
            usual[places[k]] = 0.1f;
            CHECK(!narrows(&d, F32_F64, wide, N, sizeof *wide));
            CHECK(!narrows(&d, HEDDLE_F16, usual, N, sizeof *usual));
            CHECK(!narrows(&d, HEDDLE_BF16, usual, N, sizeof *usual));
            wide[places[k]] = wide_before;
            usual[places[k]] = before;
        }
        wide[N - 1] = usual[N - 1] = 0.1f; /* behind those that are asked about */
        wide[N - 1] += 1e-12;
        CHECK(narrows(&d, F32_F64, wide, N - 1, sizeof *wide));
        CHECK(narrows(&d, HEDDLE_F16, usual, N - 1, sizeof *usual));
        mem_free(wide);
        mem_free(usual);
        if (i > 0)
            gpu_close(d.gpu);
    }
}

/* Zeros that take no memory, and behind 2^31 of them one number that does not fit. */
TEST(more_values_than_31_bits_count_are_looked_at)
{
    const int64_t n = ((int64_t)1 << 31) + 64;
    static const size_t sizes[] = {sizeof(double), sizeof(float)};
    if (!trial_slow())
        SKIP("2^31 values take long");
    for (int i = 0; i < 2; i++) {
        const size_t bytes = (size_t)n * sizes[i];
        void *val =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        CHECK(val != MAP_FAILED);
        if (val == MAP_FAILED)
            continue;
        CHECK(values_narrow(NULL, i ? HEDDLE_BF16 : F32_F64, val, n));
        memset((char *)val + bytes - sizes[i], 1, sizes[i]);
        CHECK(!values_narrow(NULL, i ? HEDDLE_BF16 : F32_F64, val, n));
        munmap(val, bytes);
    }
}

/* -------------------------------------------------------- plans ------------------------------- */

static heddle_status make(heddle_matrix **A, heddle *h, const struct csr *a, heddle_format format)
{
    heddle_matrix *csr;
    heddle_types types = {.value = a->value, .offset = a->offset};
    heddle_status status = heddle_csr(&csr, h,
                                      &(heddle_csr_desc){.rows = a->rows,
                                                         .cols = a->cols,
                                                         .nnz = a->nnz,
                                                         .row_ptr = a->row_ptr,
                                                         .col = a->col,
                                                         .val = a->val,
                                                         .types = types});
    *A = csr;
    if (status != HEDDLE_OK || format == HEDDLE_CSR)
        return status;
    status = heddle_convert(A, h, csr, format);
    heddle_matrix_free(csr);
    return status;
}

/* Does y = op(A) x come out exactly?  A and x are small integers. */
static int multiplies(heddle_plan *p, const struct csr *a, heddle_op op)
{
    const heddle_type vector = vector_type(a->value);
    const int64_t n_x = op == HEDDLE_N ? a->cols : a->rows, n_y = op == HEDDLE_N ? a->rows : a->cols;
    void *x = awkward_vector(n_x, vector, 5, 1), *y = awkward_vector(n_y, vector, 6, 1);
    struct exact *want = mem_zeroed(n_y, sizeof *want);
    int good = 1;
    CHECK_OK(heddle_plan_mv(p, op, NULL, x, NULL, y));
    awkward_reference(want, a, op, x);
    for (int64_t i = 0; i < n_y; i++)
        good &= value_at(y, vector, i) == (double)want[i].sum;
    mem_free(want);
    mem_free(x);
    mem_free(y);
    return good;
}

/* The plan with this kernel, if it applies, reads values of the narrower type. */
static int plan_reads(heddle *h, const struct csr *a, heddle_format format, heddle_op op, const char *kernel,
                      heddle_type narrower)
{
    heddle_matrix *A;
    heddle_plan *p;
    heddle_plan_desc d;
    heddle_plan_options options = {
        .ops = op == HEDDLE_N ? HEDDLE_PLAN_N : HEDDLE_PLAN_T, .kernel = kernel, .values_fixed = 1};
    CHECK_OK(make(&A, h, a, format));
    heddle_status status = heddle_plan_create(&p, h, A, &options);
    CHECK_THAT(status == HEDDLE_OK || status == HEDDLE_NO_KERNEL, "%s: %s", kernel, heddle_last_error());
    if (status == HEDDLE_OK) {
        CHECK_OK(heddle_plan_info(p, op, &d));
        CHECK_THAT(d.value == value_type(narrower), "%s reads values of type %d", kernel, (int)d.value);
        CHECK_THAT(multiplies(p, a, op), "%s, op %d", kernel, (int)op);
        CHECK(d.prepare_ms > 0); /* narrowing takes time, too */
        CHECK_THAT(d.bytes >= a->nnz * (int64_t)type_size(narrower) || strcmp(d.format, "tmplv") == 0,
                   "%s holds %lld bytes", kernel, (long long)d.bytes);
    }
    heddle_plan_free(p);
    heddle_matrix_free(A);
    return status == HEDDLE_OK;
}

/* Every kernel for this device that has the type, with CSR and with coordinates. */
static int every_kernel(heddle *h, enum device_kind kind, const struct csr *a, heddle_type narrower)
{
    int count = 0;
    for (int i = 0; i < kernel_count(); i++) {
        const struct kernel *k = kernel_at(i);
        if (k->device != kind || k->many || !kernel_has(k, narrower))
            continue;
        count += plan_reads(h, a, HEDDLE_CSR, HEDDLE_N, k->name, narrower);
        count += plan_reads(h, a, HEDDLE_CSR, HEDDLE_T, k->name, narrower);
        count += plan_reads(h, a, HEDDLE_COO, HEDDLE_N, k->name, narrower);
    }
    return count;
}

TEST(products_with_narrower_values_are_the_same_for_every_kernel)
{
    for (int i = 0; i < DEVICES; i++)
        for (int v = 0; v < 2; v++) {
            heddle *h;
            struct csr a;
            CHECK_OK(heddle_open(&h, devices[i]));
            CHECK_OK(awkward_make(&a, trial_matrix("slice remainder 7"), v ? HEDDLE_F32 : HEDDLE_F64,
                                  v ? HEDDLE_I64 : HEDDLE_I32));
            const int count = every_kernel(h, kind_of(i), &a, v ? HEDDLE_F16 : F32_F64);
            CHECK_THAT(count >= 14, "%d plans on %s", count, devices[i]);
            csr_free(&a);
            heddle_close(h);
        }
}

/* What a plan for fixed values reads of A: of N by one of Heddle's own kernels. */
static heddle_type read_by_plan(heddle *h, const struct csr *a, heddle_plan_options options)
{
    heddle_matrix *A;
    heddle_plan *p;
    heddle_plan_desc d = {0};
    options.values_fixed = 1;
    CHECK_OK(make(&A, h, a, HEDDLE_CSR));
    CHECK_OK(heddle_plan_create(&p, h, A, &options));
    CHECK_OK(heddle_plan_info(p, HEDDLE_N, &d));
    heddle_plan_free(p);
    heddle_matrix_free(A);
    return d.value;
}

TEST(a_plan_takes_the_first_type_that_has_every_value)
{
    static const char *const kernels[] = {"cpu_csr", "csr_weave", "sell"};
    for (int i = 0; i < DEVICES; i++) {
        heddle *h;
        struct csr a;
        const heddle_plan_options options = {.kernel = kernels[i]};
        CHECK_OK(heddle_open(&h, devices[i]));
        CHECK_OK(awkward_make(&a, trial_matrix("even rows"), HEDDLE_F64, HEDDLE_I32));
        CHECK(read_by_plan(h, &a, options) == HEDDLE_F32);
        ((double *)a.val)[a.nnz / 3] = 0.1;
        CHECK(read_by_plan(h, &a, options) == HEDDLE_F64);
        csr_free(&a);
        CHECK_OK(awkward_make(&a, trial_matrix("even rows"), HEDDLE_F32, HEDDLE_I32));
        CHECK(read_by_plan(h, &a, options) == HEDDLE_F16);
        ((float *)a.val)[a.nnz - 1] = 0x1p100f;
        CHECK(read_by_plan(h, &a, options) == HEDDLE_BF16);
        ((float *)a.val)[0] = 1 + 0x1p-9f;
        CHECK(read_by_plan(h, &a, options) == HEDDLE_F32);
        csr_free(&a);
        CHECK_OK(awkward_make(&a, trial_matrix("even rows"), HEDDLE_C64, HEDDLE_I32));
        CHECK(read_by_plan(h, &a, options) == HEDDLE_C64);
        csr_free(&a);
        heddle_close(h);
    }
}

TEST(a_plan_that_may_hold_nothing_has_no_narrower_values)
{
    for (int i = 0; i < DEVICES; i++) {
        heddle *h;
        struct csr a;
        CHECK_OK(heddle_open(&h, devices[i]));
        CHECK_OK(awkward_make(&a, trial_matrix("even rows"), HEDDLE_F64, HEDDLE_I32));
        CHECK(read_by_plan(h, &a, (heddle_plan_options){.memory_limit = -1, .expected_products = 1000000}) ==
              HEDDLE_F64);
        csr_free(&a);
        heddle_close(h);
    }
}

/* Several vectors and the conjugate transpose go by the plan's kernel or by A's own values: both are
 * right. */
TEST(several_vectors_are_multiplied_by_a_plan_with_narrower_values)
{
    enum { K = 3 };
    for (int i = 0; i < DEVICES; i++) {
        heddle *h;
        heddle_matrix *A;
        heddle_plan *p;
        struct csr a;
        CHECK_OK(heddle_open(&h, devices[i]));
        CHECK_OK(awkward_make(&a, trial_matrix("rows in threes"), HEDDLE_F64, HEDDLE_I32));
        CHECK_OK(make(&A, h, &a, HEDDLE_CSR));
        const heddle_plan_options options = {.kernel = i ? "csr_weave" : "cpu_csr", .values_fixed = 1};
        CHECK_OK(heddle_plan_create(&p, h, A, &options));
        double *X = awkward_vector(K * a.cols, HEDDLE_F64, 8, 1), *Y = mem_zeroed(K * a.rows, sizeof *Y);
        struct exact *want = mem_zeroed(a.rows, sizeof *want);
        CHECK_OK(heddle_plan_mm(p, HEDDLE_N, NULL, K, HEDDLE_COLUMN_MAJOR, X, 0, NULL, Y, 0));
        for (int v = 0; v < K; v++) {
            awkward_reference(want, &a, HEDDLE_N, X + v * a.cols);
            int64_t wrong = 0;
            for (int64_t row = 0; row < a.rows; row++)
                wrong += Y[v * a.rows + row] != (double)want[row].sum;
            CHECK_THAT(wrong == 0, "%lld of vector %d on %s", (long long)wrong, v, devices[i]);
        }
        mem_free(want);
        mem_free(X);
        mem_free(Y);
        heddle_plan_free(p);
        heddle_matrix_free(A);
        csr_free(&a);
        heddle_close(h);
    }
}
