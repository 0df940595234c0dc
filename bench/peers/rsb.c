/* SPDX-License-Identifier: MIT
 *
 * librsb as a peer: its own recursive blocks, built from the CSR arrays and tuned by its own autotuner. */
#include <rsb.h>
#include <stdint.h>
#include <stdlib.h>

struct peer {
    struct rsb_mtx_t *matrix;
    rsb_trans_t op;
    int f64;
};

static const double zero64, one64 = 1;
static const float zero32, one32 = 1;

void *peer_new(int64_t m, int64_t n, int64_t nnz, const int *ptr, const int *col, const void *val, int f64,
               int op, int threads)
{
    static int ready;
    rsb_err_t error = RSB_ERR_NO_ERROR;
    rsb_int_t wanted = threads;
    struct peer *p = malloc(sizeof *p);
    if (!ready && rsb_lib_init(RSB_NULL_INIT_OPTIONS) != RSB_ERR_NO_ERROR)
        return NULL;
    ready = 1;
    rsb_lib_set_opt(RSB_IO_WANT_EXECUTING_THREADS, &wanted);
    p->f64 = f64;
    p->op = op ? RSB_TRANSPOSITION_T : RSB_TRANSPOSITION_N;
    p->matrix = rsb_mtx_alloc_from_csr_const(
        val, ptr, col, (rsb_nnz_idx_t)nnz, f64 ? RSB_NUMERICAL_TYPE_DOUBLE : RSB_NUMERICAL_TYPE_FLOAT,
        (rsb_coo_idx_t)m, (rsb_coo_idx_t)n, 1, 1, RSB_FLAG_NOFLAGS, &error);
    if (!p->matrix || error != RSB_ERR_NO_ERROR) {
        free(p);
        return NULL;
    }
    rsb_tune_spmm(&p->matrix, NULL, NULL, 0, 3.0, p->op, f64 ? (const void *)&one64 : &one32, NULL, 1,
                  RSB_FLAG_WANT_COLUMN_MAJOR_ORDER, NULL, 0, f64 ? (const void *)&zero64 : &zero32, NULL, 0);
    return p;
}

int peer_run(void *peer, const void *x, void *y)
{
    struct peer *p = peer;
    return rsb_spmv(p->op, p->f64 ? (const void *)&one64 : &one32, p->matrix, x, 1,
                    p->f64 ? (const void *)&zero64 : &zero32, y, 1);
}

void peer_free(void *peer)
{
    struct peer *p = peer;
    rsb_mtx_free(p->matrix);
    free(p);
}
