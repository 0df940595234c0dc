/* SPDX-License-Identifier: MIT
 *
 * private.h: what the files of the plugin know of each other.  It is written for PETSc 3.18 and later, and
 * uses public headers and one private one (petscimpl.h, for object states). */
#ifndef HEDDLE_PETSC_PRIVATE_H
#define HEDDLE_PETSC_PRIVATE_H

#include <heddle.h>

#include "heddle_petsc.h"

#if PETSC_VERSION_LT(3, 19, 0)
#define PETSC_SUCCESS 0
#endif

#if !PetscDefined(USE_REAL_DOUBLE) && !PetscDefined(USE_REAL_SINGLE)
#error "this PETSc was built for neither single nor double precision, which is all that Heddle has"
#endif

#define HeddleCall(call)                                                                                     \
    do {                                                                                                     \
        heddle_status heddle_status_ = (call);                                                               \
        PetscCheck(heddle_status_ == HEDDLE_OK, PETSC_COMM_SELF, PETSC_ERR_LIB, "Heddle: %s (%s)",           \
                   heddle_last_error(), heddle_status_name(heddle_status_));                                 \
    } while (0)

/* ----------------------------------------------------- place.c: what this rank computes on ---- */

struct place {
    heddle *handle;   /* one a process, opened at the first product */
    char device[64];  /* what it was opened with: "cpu:threads=2" */
    int gpu;          /* 1: matrices are copied there once, vectors for every product */
    PetscMPIInt rank; /* in PETSC_COMM_WORLD, for messages */
    PetscBool view;   /* -mat_heddle_view */
};

PetscErrorCode place_find(void);                    /* collective: who else is on this node */
PetscErrorCode place_open(const struct place **at); /* not collective */
PetscErrorCode place_use(int more); /* so many more blocks, or fewer, have plans on the handle */
PetscErrorCode place_close(void);

/* -------------------------------------------------- block.c: the products of one local block ---- */

/* PETSc's own arrays, as they are at the time of a product. */
struct arrays {
    PetscInt rows, cols;
    const PetscInt *row_ptr, *col; /* sizes rows+1 and row_ptr[rows] */
    const PetscScalar *val;        /* size row_ptr[rows] */
    PetscObjectState pattern;      /* MatGetNonzeroState: another number, another pattern */
    PetscObjectState values;       /* PetscObjectStateGet: another number, other values */
};

struct block;

/* products: -mat_heddle_products, how many are expected of one pattern; PETSC_DECIDE: as many more as
 * there were. */
PetscErrorCode block_new(struct block **b, PetscInt products);
PetscErrorCode block_free(struct block *b);

/* y = op(A) x, or y += op(A) x, with x and y on the host. */
PetscErrorCode block_multiply(struct block *b, const struct arrays *A, heddle_op op, const PetscScalar *x,
                              PetscBool add, PetscScalar *y);

/* One line: size, device, and for each operation kernel, products, time and bytes. */
#define BLOCK_TEXT 640
PetscErrorCode block_describe(const struct block *b, char text[BLOCK_TEXT]);

/* -------------------------------------------------------- the types --------------------------- */

PetscErrorCode MatCreate_SeqAIJHeddle(Mat A);
PetscErrorCode MatConvert_SeqAIJ_SeqAIJHeddle(Mat A, MatType type, MatReuse reuse, Mat *B);
PetscErrorCode MatCreate_MPIAIJHeddle(Mat A);

/* What block_describe says of A; "" when A has no products of Heddle's. */
PetscErrorCode seqaijheddle_describe(Mat A, char text[BLOCK_TEXT]);

#endif
