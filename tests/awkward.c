/* SPDX-License-Identifier: MIT */
#include "awkward.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "test.h"

/* ---- how many entries each row has ---- */

static int64_t one(int64_t i, int64_t rows, int64_t cols)
{
    return (void)i, (void)rows, cols > 0;
}
static int64_t none(int64_t i, int64_t rows, int64_t cols)
{
    return (void)i, (void)rows, (void)cols, 0;
}
static int64_t all(int64_t i, int64_t rows, int64_t cols)
{
    return (void)i, (void)rows, cols;
}
static int64_t huge_in_the_middle(int64_t i, int64_t rows, int64_t cols)
{
    return i == rows / 2 ? cols : 1 + i % 3;
}
static int64_t huge_at_the_start(int64_t i, int64_t rows, int64_t cols)
{
    return (void)rows, i == 0 ? cols : i % 2;
}
static int64_t huge_at_the_end(int64_t i, int64_t rows, int64_t cols)
{
    return i == rows - 1 ? cols : i % 2;
}
static int64_t only_the_last(int64_t i, int64_t rows, int64_t cols)
{
    return (void)cols, i == rows - 1 ? 5 : 0;
}
static int64_t only_the_first(int64_t i, int64_t rows, int64_t cols)
{
    return (void)rows, (void)cols, i == 0 ? 5 : 0;
}
static int64_t around_widths(int64_t i, int64_t rows, int64_t cols)
{
    static const int64_t n[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129};
    return (void)rows, (void)cols, n[i % (int64_t)(sizeof n / sizeof n[0])];
}
static int64_t around_1024(int64_t i, int64_t rows, int64_t cols)
{
    static const int64_t n[] = {1023, 1024, 1025, 0, 1};
    return (void)rows, (void)cols, n[i % 5];
}
static int64_t empty_runs(int64_t i, int64_t rows, int64_t cols)
{
    return (void)rows, (void)cols, i / 100 % 3 == 1 ? 7 : 0;
}
static int64_t few_and_the_last(int64_t i, int64_t rows, int64_t cols)
{
    return (void)cols, i % 30 == 9 ? 3 : i >= rows - 3;
}
static int64_t seven(int64_t i, int64_t rows, int64_t cols)
{
    return (void)i, (void)rows, (void)cols, 7;
}
static int64_t seven_but_one_row(int64_t i, int64_t rows, int64_t cols)
{
    return (void)cols, i == rows / 3 ? 200 : 7;
}
static int64_t twenty_four(int64_t i, int64_t rows, int64_t cols)
{
    return (void)i, (void)rows, (void)cols, 24;
}
static int64_t forty(int64_t i, int64_t rows, int64_t cols)
{
    return (void)i, (void)rows, (void)cols, 40;
}
static int64_t staircase(int64_t i, int64_t rows, int64_t cols)
{
    return (void)rows, i % (cols < 300 ? cols : 300);
}
static int64_t power_law(int64_t i, int64_t rows, int64_t cols)
{
    return (void)rows, cols / (1 + (i * 7919) % 1009);
}
static int64_t alike(int64_t i, int64_t rows, int64_t cols)
{
    return (void)rows, (void)cols, i % 17 == 3 ? 0 : i / 100 % 40 == 7 ? 4 : 2;
}

/* ---- where they stand ---- */

static int64_t spread(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return (void)i, (void)random, j * cols / n;
}
static int64_t anywhere(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return (void)i, (void)j, (void)n, (int64_t)(random % (uint64_t)cols);
}
static int64_t backwards(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return (void)random, (i + n - 1 - j) % cols;
}
static int64_t near_diagonal(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return (void)n, (void)random, (i + j) % cols;
}
static int64_t by_threes(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return (void)random, (i / 3 * 5 + j * (1 + cols / (2 * n))) % cols;
}
static int64_t by_sevens(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return (void)random, (i / 7 * 11 + j * (1 + cols / (2 * n))) % cols;
}
static int64_t by_many(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return (void)n, (void)random, (i / 500 + 2 * j) % cols;
}
static int64_t first_column(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return (void)i, (void)n, (void)random, j == 0 ? 0 : cols - 1;
}
static int64_t both_ends(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return (void)n, (void)random, (j % 2 ? cols - 1 - i % 5 : i % 5);
}
static int64_t last_column(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return (void)i, (void)j, (void)n, (void)random, cols - 1;
}
/* The same seen from the diagonal for most rows: backwards, or one column again and again; anything for a
 * few. */
static int64_t from_the_diagonal(int64_t i, int64_t j, int64_t n, int64_t cols, uint64_t random)
{
    return i % 500 == 11 ? (int64_t)(random % (uint64_t)cols) : n == 4 ? i + 5 : i + 9 * (1 - j);
}

const struct awkward awkward[] = {
    {"0 x 0", "a division by the number of rows; NULL arrays", 0, 0, none, spread},
    {"0 x 9", "row_ptr[rows] read as row_ptr[0] of nothing", 0, 9, none, spread},
    {"9 x 0", "y left unwritten when there is no column", 9, 0, none, spread},
    {"1 x 1", "loops that expect one whole vector", 1, 1, one, spread},
    {"no entries", "y left unwritten when there is no entry", 100, 100, none, spread},
    {"1 x 5000, full", "a row shared by all parts", 1, 5000, all, spread},
    {"5000 x 1, full", "x of one entry; every column the same in T", 5000, 1, one, spread},
    {"1 x 5000, one entry", "parts without any work", 1, 5000, one, last_column},
    {"huge row in the middle", "a row longer than a part's share; its carry", 700, 9000, huge_in_the_middle,
     spread},
    {"huge first row", "the carry of part 0; a first row with no beginning", 300, 8000, huge_at_the_start,
     spread},
    {"huge last row", "the last part's end", 300, 8000, huge_at_the_end, spread},
    {"only the last row", "empty rows before the first entry are not scaled", 1000, 50, only_the_last,
     spread},
    {"only the first row", "empty rows behind the last entry are not scaled", 1000, 50, only_the_first,
     spread},
    {"lengths around vector widths", "remainders of 4, 8, 16, 32, 64 and 128 lanes", 420, 300, around_widths,
     spread},
    {"lengths around 1024", "block sizes; the top bucket of the sort", 15, 2000, around_1024, spread},
    {"long runs of empty rows", "parts that begin or end in the middle of a run", 3040, 200, empty_runs,
     near_diagonal},
    {"scattered entries", "rows that are searched for, the last ones side by side; slices with one row", 5003,
     5003, few_and_the_last, anywhere},
    {"repeated columns", "x or y of a repeated column counted once", 257, 13, forty, anywhere},
    {"columns backwards", "code that expects ascending columns", 513, 700, forty, backwards},
    {"dense first column", "all parts write the same y entry in T", 6000, 6000, seven, first_column},
    {"both ends of a wide matrix", "16-bit columns; slices that span over 65,536, with a long row", 70, 70001,
     seven_but_one_row, both_ends},
    {"last column of a wide matrix", "sign or width of a column; pages at the end of y", 33, 66000, one,
     last_column},
    {"slice remainder 1", "the last slice has one row", 8 * 64 + 1, 90, seven, near_diagonal},
    {"slice remainder 7", "the last slice has one row less than a slice; whole batches of a template",
     8 * 64 + 7, 90, twenty_four, near_diagonal},
    {"staircase", "sorted windows: every row moves", 1300, 400, staircase, spread},
    {"power law", "padding; a few rows with most entries", 1100, 1500, power_law, anywhere},
    {"tall", "more rows than columns by far", 20000, 7, one, anywhere},
    {"rows in threes", "groups of rows with the same columns", 1001, 900, forty, by_threes},
    {"rows in sevens", "groups cut into four and three, and a last one cut short", 1003, 900, forty,
     by_sevens},
    {"rows in hundreds", "groups longer than anything; stretches of 420 rows", 1700, 100, seven, by_many},
    {"rows alike", "templates across windows, backwards and repeated; rows that share none", 8300, 8310,
     alike, from_the_diagonal},
    {"full", "one group of everything", 450, 67, all, spread},
    {"even rows", "the fast path of everything", 2048, 2048, seven, near_diagonal},
};
const int awkward_count = (int)(sizeof awkward / sizeof awkward[0]);

void awkward_put(void *p, heddle_type type, int64_t i, double _Complex value)
{
    if (type == HEDDLE_I64)
        ((int64_t *)p)[i] = (int64_t)value;
    else if (type == HEDDLE_I32)
        ((int32_t *)p)[i] = (int32_t)value;
    else
        value_put(p, type, i, value);
}

/* The parts as they are: a product with i would make NaN of an infinite one. */
double _Complex awkward_complex(double re, double im)
{
    double _Complex v;
    __real__ v = re;
    __imag__ v = im;
    return v;
}

heddle_status awkward_make(struct csr *A, const struct awkward *w, heddle_type value, heddle_type offset)
{
    int64_t nnz = 0;
    for (int64_t i = 0; i < w->rows; i++)
        nnz += w->length(i, w->rows, w->cols);
    heddle_status status = csr_new(A, w->rows, w->cols, nnz, value, offset);
    if (status != HEDDLE_OK)
        return status;
    uint64_t state = 1;
    int64_t k = 0;
    for (int64_t i = 0; i < w->rows; i++) {
        int64_t n = w->length(i, w->rows, w->cols);
        awkward_put(A->row_ptr, offset, i, (double)k);
        for (int64_t j = 0; j < n; j++, k++) {
            uint64_t random = test_random(&state);
            int64_t number = 1 + (int64_t)(random >> 40 & 3);
            A->col[k] = (int32_t)w->column(i, j, n, w->cols, random & 0xffffffff);
            awkward_put(A->val, value, k,
                        awkward_complex((double)(random >> 50 & 1 ? -number : number),
                                        is_complex(value) ? (double)(random >> 52 & 7) - 4 : 0));
        }
    }
    awkward_put(A->row_ptr, offset, w->rows, (double)k);
    return HEDDLE_OK;
}

/* Uniform in (-1, 1). */
static double uniform(uint64_t *seed)
{
    return (double)(int64_t)(test_random(seed) >> 11) * 0x1p-52 - 1;
}

void awkward_randomise(struct csr *A, uint64_t seed)
{
    for (int64_t k = 0; k < A->nnz; k++) {
        const double re = uniform(&seed);
        awkward_put(A->val, A->value, k, awkward_complex(re, is_complex(A->value) ? uniform(&seed) : 0));
    }
}

/* Part by part, because C's complex product has its own idea of Inf times NaN.  What is real has no
 * imaginary part: 0 times Inf would be one. */
void awkward_reference(struct exact *y, const struct csr *A, heddle_op op, const void *x)
{
    const int turns = op != HEDDLE_N, both = is_complex(A->value);
    int64_t n = turns ? A->cols : A->rows;
    for (int64_t i = 0; i < n; i++)
        y[i] = (struct exact){0};
    for (int64_t i = 0; i < A->rows; i++)
        for (int64_t k = csr_offset(A, i); k < csr_offset(A, i + 1); k++) {
            int64_t to = turns ? A->col[k] : i, from = turns ? i : A->col[k];
            double _Complex v = value_at(A->val, A->value, k),
                            of_x = value_at(x, vector_type(A->value), from);
            long double a = __real__ v, b = op == HEDDLE_H ? -__imag__ v : __imag__ v, c = __real__ of_x,
                        d = __imag__ of_x;
            y[to].sum += both ? a * c - b * d : a * c;
            y[to].imaginary += both ? a * d + b * c : 0;
            y[to].magnitude += (fabsl(a) + fabsl(b)) * (fabsl(c) + fabsl(d));
            y[to].terms++;
        }
}

void *awkward_vector(int64_t n, heddle_type type, uint64_t seed, int exact)
{
    void *p = mem_alloc(n, type_size(type));
    for (int64_t i = 0; i < n; i++) {
        double part[2] = {0, 0};
        for (int k = 0; k <= is_complex(type); k++)
            part[k] = exact ? (double)(test_random(&seed) % 9) - 4 : uniform(&seed);
        awkward_put(p, type, i, awkward_complex(part[0], part[1]));
    }
    return p;
}

/* alpha e + beta old: a complex product is made of two real ones a part. */
static void scaled(long double want[2], const struct exact *e, struct awkward_scalars s, double _Complex old)
{
    const long double a = __real__ s.alpha, b = __imag__ s.alpha, c = __real__ s.beta, d = __imag__ s.beta;
    const long double re = __real__ old, im = __imag__ old;
    want[0] = a * e->sum - b * e->imaginary + (s.beta == 0 ? 0 : c * re - d * im);
    want[1] = a * e->imaginary + b * e->sum + (s.beta == 0 ? 0 : c * im + d * re);
}

double _Complex awkward_want(const struct exact *e, struct awkward_scalars s, double _Complex old)
{
    long double want[2];
    scaled(want, e, s, old);
    return awkward_complex((double)want[0], (double)want[1]);
}

/* Small integers are exact in any arithmetic, so plain double does for them. */
int awkward_good(double _Complex got, const struct exact *e, struct awkward_scalars s, double _Complex old,
                 heddle_type type, int exact)
{
    const long double a = __real__ s.alpha, b = __imag__ s.alpha, c = __real__ s.beta, d = __imag__ s.beta;
    old = s.beta == 0 ? 0 : old;
    const long double of_old[2] = {__real__ old, __imag__ old};
    long double want[2];
    scaled(want, e, s, old);
    if (exact)
        return __real__ got == (double)want[0] && __imag__ got == (double)want[1];
    type = vector_type(type);
    long double unit = type == HEDDLE_F64 || type == HEDDLE_C64 ? 0x1p-53L : 0x1p-24L,
                n = (long double)(1 + is_complex(type)) * (long double)(e->terms + 2);
    long double magnitude =
        (fabsl(a) + fabsl(b)) * e->magnitude + (fabsl(c) + fabsl(d)) * (fabsl(of_old[0]) + fabsl(of_old[1]));
    const long double bound = n * unit / (1 - n * unit) * magnitude;
    return fabsl((long double)__real__ got - want[0]) <= bound &&
           fabsl((long double)__imag__ got - want[1]) <= bound;
}

int awkward_wants(const char *kernel)
{
    const char *list = getenv("HEDDLE_TEST_KERNELS");
    int any = 0, wanted = 0;
    for (const char *word = list ? list + strspn(list, " ") : ""; *word; word += strspn(word, " ")) {
        char name[64];
        size_t n = strcspn(word, " ");
        snprintf(name, sizeof name, "%.*s", (int)n, word);
        if (!kernel_by_name(name)) {
            printf("HEDDLE_TEST_KERNELS: there is no kernel '%s'\n0 passed, 1 failed\n", name);
            exit(1);
        }
        wanted |= strcmp(name, kernel) == 0;
        any = 1;
        word += n;
    }
    return wanted || !any;
}
