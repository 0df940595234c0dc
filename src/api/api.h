/* SPDX-License-Identifier: MIT
 *
 * api.h: what is behind the public handles. */
#ifndef API_API_H
#define API_API_H

#include <pthread.h>
#include <stdatomic.h>

#include "io/io.h"
#include "plan/plan.h"

struct heddle {
    struct device device;
    int debug;               /* check the matrix before every product */
    void *workspace;         /* of the immediate product; grows by heddle_reserve only */
    int64_t workspace_bytes;
    const char *last_kernel; /* "" before the first product */
};

struct heddle_matrix {
    struct view view;        /* borrowed arrays, or those that `owned` or `file` keep alive */
    struct view owned;       /* arrays to free: all pointers NULL when borrowed or mapped */
    struct file_matrix file; /* a mapped file, when it came from one */
    char *path;              /* its name, for messages */
    int sorted_now;
    atomic_int unchecked;    /* 1: the contents of the file were not looked at yet */
    pthread_mutex_t lock;    /* guards the first look */
};

struct heddle_plan {
    heddle *h;
    const heddle_matrix *A;
    struct bound *bound[2]; /* N, T; NULL: not asked for */
    heddle_plan_desc desc[2];
};

heddle_status handle_check(const heddle *h);
/* Allocates an empty matrix; matrix_done gives it to the caller once the handle has reserved workspace for it. */
heddle_status matrix_new(heddle_matrix **A);
heddle_status matrix_done(heddle_matrix **out, heddle *h, heddle_matrix *A);
/* HEDDLE_OK, or what is wrong with the contents of a file that is looked at for the first time. */
heddle_status matrix_ready(const heddle_matrix *A);
/* A as CSR: `csr` borrows where A is CSR, else it is built into `made`, which the caller frees. */
heddle_status matrix_as_csr(struct csr *csr, struct csr *made, const heddle_matrix *A);
/* Neither A nor the handle NULL, contents known. */
heddle_status usable(const heddle *h, const heddle_matrix *A);

#endif
