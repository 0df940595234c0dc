/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/memory.h"
#include "base/timer.h"
#include "cli/cli.h"
#include "subject/choice.h"
#include "subject/fill.h"

struct choices {
    const char *x, *y, *output, *op, *type, *device, *kernel, *alpha, *beta;
};

#define AT(member) offsetof(struct choices, member)
static const struct cli_option options[] = {
    {"x", 'x', OPTION_TEXT, AT(x), "FILE", "the vector to multiply by (all ones)"},
    {"op", 0, OPTION_TEXT, AT(op), "N|T|H", "A itself, its transpose or its adjoint (N)"},
    {"alpha", 0, OPTION_TEXT, AT(alpha), "NUMBER",
     "factor of the product (1); 1+2i where numbers are complex"},
    {"beta", 0, OPTION_TEXT, AT(beta), "NUMBER", "factor of y (0); needs --y"},
    {"y", 'y', OPTION_TEXT, AT(y), "FILE", "the vector to add to; needs --beta"},
    {"type", 't', OPTION_TEXT, AT(type), TYPES_WHAT, "type of the numbers (as stored, else f64)"},
    {"device", 'd', OPTION_TEXT, AT(device), "DEVICE", "where to compute (auto)"},
    {"kernel", 'k', OPTION_TEXT, AT(kernel), "KERNEL", "how: auto, plan, or a kernel with options (auto)"},
    {"output", 'o', OPTION_TEXT, AT(output), "FILE",
     "where y goes: .mtx, or .txt for plain text (standard output)"},
    {0}};

/* Everything between the files. */
struct multiplication {
    heddle *h;
    struct subject_list list;
    struct loaded A;
    heddle_matrix *matrix;
    heddle_plan *plan;   /* of "plan" */
    struct bound *bound; /* of a kernel */
    heddle_op op;
    struct scalars scalars;
    void *x, *y;
    int64_t x_size, y_size;
};

/* A vector of n numbers: from a file, or filled with `value`. */
static heddle_status vector(void **v, const char *path, heddle_type type, int64_t n, double value)
{
    int64_t found = 0;
    if (path) {
        heddle_status status = vector_read(v, &found, type, path);
        if (status == HEDDLE_OK && found != n)
            status = fail(HEDDLE_BAD_ARGUMENT, "%s: has %lld numbers, but the product needs %lld", path,
                          (long long)found, (long long)n);
        return status;
    }
    *v = mem_alloc(n, type_size(type));
    if (!*v)
        return HEDDLE_NO_MEMORY;
    fill_value(*v, type, n, value);
    return HEDDLE_OK;
}

static heddle_status parse_scalar(const char *name, const char *text, heddle_type type,
                                  double _Complex *value)
{
    if (!text)
        return HEDDLE_OK;
    if (parse_complex(text, value) != HEDDLE_OK)
        return fail(HEDDLE_BAD_ARGUMENT, "--%s %s: not a number", name, text);
    if (IM(*value) != 0 && !is_complex(type))
        return fail(HEDDLE_BAD_ARGUMENT, "--%s %s: the numbers are real; --type c64 makes them complex", name,
                    text);
    c64 rounded;
    value_put(&rounded, type, 0, *value);
    *value = value_at(&rounded, type, 0);
    return HEDDLE_OK;
}

/* What `name` asks for, bound to the matrix; "auto" needs nothing. */
static heddle_status bind(struct multiplication *m, const char *name)
{
    heddle_plan_options wanted = {.ops = m->op == HEDDLE_N ? HEDDLE_PLAN_N : HEDDLE_PLAN_T,
                                  .deterministic = choice_is_deterministic(name)};
    if (choice_is(name, "auto"))
        return HEDDLE_OK;
    return choice_is(name, "plan") ? heddle_plan_create(&m->plan, m->h, m->matrix, &wanted)
                                   : bound_new(&m->bound, &m->h->device, name, &m->matrix->view, m->op);
}

static heddle_status multiply_once(struct multiplication *m)
{
    const heddle_type vector = vector_type(m->A.csr.value);
    c64 alpha, beta; /* room for any type */
    value_put(&alpha, vector, 0, m->scalars.alpha);
    value_put(&beta, vector, 0, m->scalars.beta);
    if (m->bound)
        return multiply(m->h, &(struct request){m->matrix, m->op, m->bound, m->scalars, m->x, m->y});
    return m->plan ? heddle_plan_mv(m->plan, m->op, &alpha, m->x, &beta, m->y)
                   : heddle_mv(m->h, m->op, &alpha, m->matrix, m->x, &beta, m->y);
}

/* The kernel that ran, with its options where they are known. */
static void name_kernel(const struct multiplication *m, char name[64])
{
    heddle_plan_desc plan;
    struct bound_info bound;
    const char *ran = heddle_last_kernel(m->h);
    if (m->bound) {
        bound_describe(m->bound, &bound);
        ran = bound.kernel;
    } else if (m->plan && heddle_plan_info(m->plan, m->op, &plan) == HEDDLE_OK) {
        ran = plan.kernel;
    }
    snprintf(name, 64, "%s", ran);
}

static heddle_status ready(struct multiplication *m, const struct choices *c, const char *matrix)
{
    heddle_status status = HEDDLE_OK;
    heddle_type type = 0;
    const char *kernel = c->kernel ? c->kernel : "auto";
    m->scalars = (struct scalars){.alpha = 1};
    if (!c->beta != !c->y)
        return fail(HEDDLE_BAD_ARGUMENT,
                    c->y ? "--y %s has no effect without --beta; write --beta 1 to add to it"
                         : "--beta %s needs the y that it scales: --y FILE",
                    c->y ? c->y : c->beta);
    if (c->op)
        TRY(op_choice(c->op, &m->op));
    if (c->type)
        TRY(type_choice(c->type, &type));
    TRY(choice_check(kernel));
    TRY(heddle_open(&m->h, c->device));
    if (choice_is(kernel, "auto"))
        TRY(heddle_set_deterministic(m->h, choice_is_deterministic(kernel)));
    TRY(one_subject(&m->list, matrix));
    TRY(subject_load(&m->A, &m->list.item[0], type));
    type = vector_type(m->A.csr.value);
    m->x_size = m->op == HEDDLE_N ? m->A.csr.cols : m->A.csr.rows;
    m->y_size = m->op == HEDDLE_N ? m->A.csr.rows : m->A.csr.cols;
    TRY(parse_scalar("alpha", c->alpha, type, &m->scalars.alpha));
    TRY(parse_scalar("beta", c->beta, type, &m->scalars.beta));
    TRY(vector(&m->x, c->x, type, m->x_size, 1));
    TRY(vector(&m->y, c->y, type, m->y_size, 0));
    TRY(matrix_of(&m->matrix, m->h, &m->A.csr));
    TRY(bind(m, kernel));
done:
    return status;
}

/* As few digits as read back to the same number. */
static void print_number(struct session *s, double value, int single, const char *end)
{
    char text[NUMBER_TEXT];
    int digits = single ? 6 : 15, most = single ? 9 : 17;
    do
        snprintf(text, sizeof text, "%.*g", digits, value);
    while (digits++ < most && (single ? (double)strtof(text, NULL) : strtod(text, NULL)) != value);
    out(s, "%s%s", text, end);
}

/* One number a line, of a complex one its two parts. */
static heddle_status print_vector(struct session *s, const void *y, heddle_type type, int64_t n)
{
    const int single = type == HEDDLE_F32 || type == HEDDLE_C32;
    for (int64_t i = 0; i < n; i++) {
        const double _Complex value = value_at(y, type, i);
        print_number(s, RE(value), single, is_complex(type) ? " " : "\n");
        if (is_complex(type))
            print_number(s, IM(value), single, "\n");
        if (s->out.size > 1 << 20) {
            heddle_status status = out_flush(s);
            if (status != HEDDLE_OK)
                return status;
        }
    }
    return HEDDLE_OK;
}

static void release(struct multiplication *m)
{
    bound_free(m->bound);
    heddle_plan_free(m->plan);
    heddle_matrix_free(m->matrix);
    loaded_free(&m->A);
    subjects_free(&m->list);
    mem_free(m->x);
    mem_free(m->y);
    heddle_close(m->h);
}

static heddle_status run(struct session *s, void *into)
{
    heddle_status status = HEDDLE_OK;
    const struct choices *c = into;
    struct multiplication m = {.op = HEDDLE_N};
    char count[NUMBER_TEXT], kernel[64];
    progress(s, 0, 1, "reading %s", s->operand[0]);
    TRY(ready(&m, c, s->operand[0]));
    double begin = now_ms();
    TRY(multiply_once(&m));
    double ms = now_ms() - begin;
    progress_clear(s);
    if (!c->output)
        TRY(print_vector(s, m.y, vector_type(m.A.csr.value), m.y_size));
    else {
        TRY(vector_write(m.y, m.y_size, vector_type(m.A.csr.value), c->output));
        name_kernel(&m, kernel);
        if (!s->quiet)
            out(s, "%s: %s numbers, %s in %.3g ms\n", c->output, text_count(count, m.y_size), kernel, ms);
    }
done:
    release(&m);
    return status;
}

const struct page page_mv = {
    .usage = "MATRIX [--x FILE] [--op N|T|H] [--alpha A] [--beta B --y FILE] [-o FILE]",
    .details =
        "Computes y = alpha op(A) x + beta y.  x is all ones unless a file gives it: a Matrix Market array\n"
        "or plain numbers.  y goes to standard output, one number a line, unless -o names a file.\n"
        "Complex numbers (--type c64, or a matrix that is complex) are written as two, 1.5 -2, and as\n"
        "scalars 1.5-2i; f16 and bf16 are of the matrix alone, whose vectors are f32, and f32v64 is a\n"
        "matrix of f32 with vectors of f64.\n"
        "\n"
        "Examples:\n"
        "  heddle mv a.mtx\n"
        "  heddle mv a.mtx --x x.mtx --op T -o y.mtx\n"
        "  heddle mv a.mtx --alpha -1 --beta 1 --y b.mtx -o residual.mtx\n"
        "  heddle mv a.mtx --kernel cpu_sell:slice=8 -o y.txt\n",
    .option = options,
    .least = 1,
    .most = 1,
    .size = sizeof(struct choices),
    .run = run};
