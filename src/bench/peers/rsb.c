/* SPDX-License-Identifier: MIT
 *
 * peer_rsb.c: librsb, recursive sparse blocks.  Making its matrix from CSR counts as preparation; so does
 * its own tuning, which preprocess=0 leaves out. */
#include <stdio.h>

#include "base/memory.h"
#include "bench/peers/peer.h"

enum {
    TRANSPOSITION_N = 0x4E,
    TRANSPOSITION_T = 0x54,
    TRANSPOSITION_C = 0x43,
    COLUMN_MAJOR = 0x4000000,
    WANT_THREADS = 0x9,
    TUNE_SECONDS = 3
};

static struct {
    int (*start)(void *options);
    int (*stop)(void *options);
    int (*set)(int option, const void *value);
    void *(*from_csr)(const void *val, const int *ptr, const int *col, int nnz, char type, int rows, int cols,
                      int row_block, int col_block, int flags, int *error);
    int (*tune)(void **mat, double *factor, int *threads, int rounds, double seconds, int op,
                const void *alpha, const void *other, int columns, int order, const void *b, int ldb,
                const void *beta, void *c, int ldc);
    int (*spmv)(int op, const void *alpha, const void *mat, const void *x, int x_step, const void *beta,
                void *y, int y_step);
    void *(*destroy)(void *mat);
    int (*text)(int error, char *text, size_t size);
} call;

static const struct peer_symbol symbols[] = {{"rsb_lib_init", &call.start, 0},
                                             {"rsb_lib_exit", &call.stop, 0},
                                             {"rsb_lib_set_opt", &call.set, 0},
                                             {"rsb_mtx_alloc_from_csr_const", &call.from_csr, 0},
                                             {"rsb_tune_spmm", &call.tune, 0},
                                             {"rsb_spmv", &call.spmv, 0},
                                             {"rsb_mtx_free", &call.destroy, 0},
                                             {"rsb_strerror_r", &call.text, 1},
                                             {0}};

static heddle_status told(const char *what, int code)
{
    char text[128] = "an unknown status";
    if (code == 0)
        return HEDDLE_OK;
    if (call.text)
        call.text(code, text, sizeof text);
    return fail(HEDDLE_NOT_SUPPORTED, "rsb: %s: %s", what, text);
}

static heddle_status open_it(const struct peer_library *l, void **handle, const struct device *d,
                             char version[16])
{
    (void)l, (void)d;
    *handle = NULL;
    snprintf(version, 16, "1"); /* the library does not tell more */
    return told("rsb_lib_init", call.start(NULL));
}

static void close_it(const struct peer_library *l, void *handle)
{
    (void)l, (void)handle;
    call.stop(NULL);
}

static int op(const struct peer *p)
{
    return p->op == HEDDLE_N ? TRANSPOSITION_N : p->op == HEDDLE_T ? TRANSPOSITION_T : TRANSPOSITION_C;
}

static char letter(heddle_type value)
{
    return value == HEDDLE_F32 ? 'S' : value == HEDDLE_F64 ? 'D' : value == HEDDLE_C32 ? 'C' : 'Z';
}

static heddle_status bind(struct peer *p)
{
    const struct csr *A = &p->A;
    int error = 0, threads = p->device->threads;
    if (A->offset != HEDDLE_I32)
        return fail(HEDDLE_NOT_SUPPORTED, "rsb: its integers have 32 bits, the offsets of this matrix 64");
    if (A->nnz == 0)
        return fail(HEDDLE_NOT_SUPPORTED, "rsb: an empty matrix");
    call.set(WANT_THREADS, &threads);
    p->state = call.from_csr(A->val, A->row_ptr, A->col, (int)A->nnz, letter(A->value), (int)A->rows,
                             (int)A->cols, 1, 1, 0, &error);
    return told("rsb_mtx_alloc_from_csr_const", p->state ? error : error ? error : -1);
}

static heddle_status prepare(struct peer *p)
{
    return told("rsb_tune_spmm", call.tune(&p->state, NULL, NULL, 0, TUNE_SECONDS, op(p), peer_alpha(p), NULL,
                                           1, COLUMN_MAJOR, NULL, 0, peer_beta(p), NULL, 0));
}

static heddle_status run(struct peer *p, const void *x, void *y)
{
    return told("rsb_spmv", call.spmv(op(p), peer_alpha(p), p->state, x, 1, peer_beta(p), y, 1));
}

static void release(struct peer *p)
{
    if (p->state)
        call.destroy(p->state);
    p->state = NULL;
}

static const char *const files[] = {"librsb.so.0", "librsb.so", NULL};

const struct peer_library peer_rsb = {.files = files,
                                      .symbols = symbols,
                                      .types = "f32 f64 c32 c64",
                                      .open = open_it,
                                      .close = close_it,
                                      .bind = bind,
                                      .prepare = prepare,
                                      .run = run,
                                      .release = release};
