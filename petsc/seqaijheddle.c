/* SPDX-License-Identifier: MIT
 *
 * seqaijheddle: a seqaij whose products are Heddle's.
 *
 * A few entries of its table of operations are replaced, the rest is PETSc's own: assembly, factorisations,
 * relaxation, inodes, products of matrices.  What Heddle keeps beside the matrix hangs on it as a composed
 * object, so that it goes where the matrix goes and ends with it; MatHeaderMerge may take it away, and
 * then the next product begins with a new one.
 *
 * The type's name begins with "seqaij", as MatGetFactor and others compare prefixes. */
#include "private.h"

#include <petsc/private/petscimpl.h> /* PetscObjectStateGet */

#define BESIDE "heddle_block"

/* The operations that are replaced, and what stands there in a seqaij: the same functions for all of them. */
#define OPERATIONS(X)                                                                                        \
    X(MULT, MatMult)                                                                                         \
    X(MULT_ADD, MatMultAdd)                                                                                  \
    X(MULT_TRANSPOSE, MatMultTranspose)                                                                      \
    X(MULT_TRANSPOSE_ADD, MatMultTransposeAdd)                                                               \
    X(MULT_HERMITIAN_TRANSPOSE, MatMultHermitianTranspose)                                                   \
    X(MULT_HERMITIAN_TRANS_ADD, MatMultHermitianTransposeAdd) X(VIEW, MatView)

#define NUMBER(name, function) name,
enum { OPERATIONS(NUMBER) REPLACED };
static void *base[REPLACED];

#if PETSC_VERSION_LT(3, 23, 0)
static PetscErrorCode destroy_block(void *b)
{
    PetscFunctionBegin;
    PetscCall(block_free(b));
    PetscFunctionReturn(PETSC_SUCCESS);
}
#define PetscContainerSetCtxDestroy PetscContainerSetUserDestroy
#else
static PetscErrorCode destroy_block(PetscCtxRt b)
{
    PetscFunctionBegin;
    PetscCall(block_free(*(struct block **)b));
    PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* What hangs on A; NULL: nothing yet. */
static PetscErrorCode find_block(Mat A, struct block **b)
{
    PetscObject beside;

    PetscFunctionBegin;
    *b = NULL;
    PetscCall(PetscObjectQuery((PetscObject)A, BESIDE, &beside));
    if (beside)
        PetscCall(PetscContainerGetPointer((PetscContainer)beside, (void **)b));
    PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode need_block(Mat A, struct block **b)
{
    PetscContainer beside;
    PetscInt products = PETSC_DECIDE;
    const char *prefix;

    PetscFunctionBegin;
    PetscCall(find_block(A, b));
    if (*b)
        PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatGetOptionsPrefix(A, &prefix));
    PetscCall(PetscOptionsGetInt(NULL, prefix, "-mat_heddle_products", &products, NULL));
    PetscCall(block_new(b, products));
    PetscCall(PetscContainerCreate(PETSC_COMM_SELF, &beside));
    PetscCall(PetscContainerSetPointer(beside, *b));
    PetscCall(PetscContainerSetCtxDestroy(beside, destroy_block));
    PetscCall(PetscObjectCompose((PetscObject)A, BESIDE, (PetscObject)beside));
    PetscCall(PetscContainerDestroy(&beside)); /* A has it now */
    PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode seqaijheddle_describe(Mat A, char text[BLOCK_TEXT])
{
    struct block *b;

    PetscFunctionBegin;
    text[0] = 0;
    PetscCall(find_block(A, &b));
    if (b)
        PetscCall(block_describe(b, text));
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------------------------- products ---------------------------- */

static PetscErrorCode find_arrays(Mat A, struct arrays *at)
{
    PetscMemType where;

    PetscFunctionBegin;
    PetscCall(MatGetLocalSize(A, &at->rows, &at->cols));
    PetscCall(MatSeqAIJGetCSRAndMemType(A, &at->row_ptr, &at->col, (PetscScalar **)&at->val, &where));
    PetscCheck(PetscMemTypeHost(where), PETSC_COMM_SELF, PETSC_ERR_SUP, "the matrix is not on the host");
    PetscCall(MatGetNonzeroState(A, &at->pattern));
    PetscCall(PetscObjectStateGet((PetscObject)A, &at->values));
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = op(A) x, or with add y += op(A) x. */
static PetscErrorCode multiply(Mat A, heddle_op op, Vec x, PetscBool add, Vec y)
{
    struct block *b;
    struct arrays at;
    const PetscScalar *from;
    PetscScalar *to;

    PetscFunctionBegin;
    PetscCall(need_block(A, &b));
    PetscCall(find_arrays(A, &at));
    PetscCall(VecGetArrayRead(x, &from));
    PetscCall((add ? VecGetArray : VecGetArrayWrite)(y, &to));
    PetscCall(block_multiply(b, &at, op, from, add, to));
    PetscCall((add ? VecRestoreArray : VecRestoreArrayWrite)(y, &to));
    PetscCall(VecRestoreArrayRead(x, &from));
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = y + op(A) x, where y and z may be the same. */
static PetscErrorCode multiply_add(Mat A, heddle_op op, Vec x, Vec y, Vec z)
{
    PetscFunctionBegin;
    if (y != z)
        PetscCall(VecCopy(y, z));
    PetscCall(multiply(A, op, x, PETSC_TRUE, z));
    PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_SeqAIJHeddle(Mat A, Vec x, Vec y)
{
    return multiply(A, HEDDLE_N, x, PETSC_FALSE, y);
}

static PetscErrorCode MatMultAdd_SeqAIJHeddle(Mat A, Vec x, Vec y, Vec z)
{
    return multiply_add(A, HEDDLE_N, x, y, z);
}

static PetscErrorCode MatMultTranspose_SeqAIJHeddle(Mat A, Vec x, Vec y)
{
    return multiply(A, HEDDLE_T, x, PETSC_FALSE, y);
}

static PetscErrorCode MatMultTransposeAdd_SeqAIJHeddle(Mat A, Vec x, Vec y, Vec z)
{
    return multiply_add(A, HEDDLE_T, x, y, z);
}

static PetscErrorCode MatMultHermitianTranspose_SeqAIJHeddle(Mat A, Vec x, Vec y)
{
    return multiply(A, HEDDLE_H, x, PETSC_FALSE, y);
}

static PetscErrorCode MatMultHermitianTransposeAdd_SeqAIJHeddle(Mat A, Vec x, Vec y, Vec z)
{
    return multiply_add(A, HEDDLE_H, x, y, z);
}

/* -------------------------------------------------------- what else differs ------------------- */

static PetscErrorCode MatView_SeqAIJHeddle(Mat A, PetscViewer viewer)
{
    PetscBool ascii;
    PetscViewerFormat format;
    char text[BLOCK_TEXT];

    PetscFunctionBegin;
    PetscCall(((PetscErrorCode(*)(Mat, PetscViewer))base[VIEW])(A, viewer));
    PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
    PetscCall(PetscViewerGetFormat(viewer, &format));
    if (ascii && (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL)) {
        PetscCall(seqaijheddle_describe(A, text));
        if (text[0])
            PetscCall(PetscViewerASCIIPrintf(viewer, "Heddle: %s\n", text));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* -------------------------------------------------------- the type ---------------------------- */

/* A function goes by void *, whatever MatSetOperation calls its type in this version of PETSc. */
#define ROW(name, function) {MATOP_##name, (void *)function##_SeqAIJHeddle},
static const struct {
    MatOperation operation;
    void *ours;
} replaced[] = {OPERATIONS(ROW)};

/* Ways to other types and products with them that PETSc knows by the name of the type. */
static const char *const known_as[] = {
    "MatConvert_%s_seqbaij_C",         "MatConvert_%s_seqsbaij_C",  "MatConvert_%s_seqdense_C",
    "MatConvert_%s_seqsell_C",         "MatConvert_%s_is_C",        "MatConvert_%s_hypre_C",
    "MatConvert_%s_scalapack_C",       "MatConvert_%s_elemental_C", "MatProductSetFromOptions_seqdense_%s_C",
    "MatProductSetFromOptions_is_%s_C"};

/* Lets A be found under the name of the type by what looks for a seqaij; or, with `gone`, no longer. */
static PetscErrorCode also_known(Mat A, PetscBool gone)
{
    char plain[128], ours[128];
    PetscErrorCode (*function)(void);

    PetscFunctionBegin;
    for (size_t i = 0; i < sizeof known_as / sizeof known_as[0]; i++) {
        PetscCall(PetscSNPrintf(plain, sizeof plain, known_as[i], MATSEQAIJ));
        PetscCall(PetscSNPrintf(ours, sizeof ours, known_as[i], MATSEQAIJHEDDLE));
        PetscCall(PetscObjectQueryFunction((PetscObject)A, plain, &function));
        PetscCall(PetscObjectComposeFunction((PetscObject)A, ours, gone ? NULL : function));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes A a plain seqaij again. */
static PetscErrorCode MatConvert_SeqAIJHeddle_SeqAIJ(Mat A, MatType type, MatReuse reuse, Mat *B)
{
    PetscFunctionBegin;
    (void)type;
    if (reuse == MAT_INITIAL_MATRIX)
        PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
    else if (reuse == MAT_REUSE_MATRIX)
        PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
    if (reuse != MAT_REUSE_MATRIX) {
        for (int i = 0; i < REPLACED; i++)
            PetscCall(MatSetOperation(*B, replaced[i].operation, base[i]));
        PetscCall(also_known(*B, PETSC_TRUE));
        PetscCall(PetscObjectCompose((PetscObject)*B, BESIDE, NULL));
        PetscCall(PetscObjectComposeFunction((PetscObject)*B, "MatConvert_seqaijheddle_seqaij_C", NULL));
        PetscCall(PetscObjectComposeFunction((PetscObject)*B, "MatConvert_seqaij_seqaijheddle_C", NULL));
        PetscCall(PetscObjectChangeTypeName((PetscObject)*B, MATSEQAIJ)); /* `type` may say "aij" */
    }
    PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_SeqAIJ_SeqAIJHeddle(Mat A, MatType type, MatReuse reuse, Mat *B)
{
    PetscBool same;

    PetscFunctionBegin;
    (void)type;
    if (reuse == MAT_INITIAL_MATRIX)
        PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
    else if (reuse == MAT_REUSE_MATRIX)
        PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
    PetscCall(PetscObjectTypeCompare((PetscObject)*B, MATSEQAIJHEDDLE, &same));
    if (same)
        PetscFunctionReturn(PETSC_SUCCESS);
    for (int i = 0; i < REPLACED; i++) {
        if (!base[i])
            PetscCall(MatGetOperation(*B, replaced[i].operation, (void *)&base[i]));
        PetscCall(MatSetOperation(*B, replaced[i].operation, replaced[i].ours));
    }
    PetscCall(also_known(*B, PETSC_FALSE));
    PetscCall(PetscObjectComposeFunction((PetscObject)*B, "MatConvert_seqaijheddle_seqaij_C",
                                         MatConvert_SeqAIJHeddle_SeqAIJ));
    PetscCall(PetscObjectComposeFunction((PetscObject)*B, "MatConvert_seqaij_seqaijheddle_C",
                                         MatConvert_SeqAIJ_SeqAIJHeddle));
    PetscCall(PetscObjectChangeTypeName((PetscObject)*B, MATSEQAIJHEDDLE));
    PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_SeqAIJHeddle(Mat A)
{
    PetscFunctionBegin;
    PetscCall(MatSetType(A, MATSEQAIJ));
    PetscCall(MatConvert_SeqAIJ_SeqAIJHeddle(A, MATSEQAIJHEDDLE, MAT_INPLACE_MATRIX, &A));
    PetscFunctionReturn(PETSC_SUCCESS);
}
