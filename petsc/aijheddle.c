/* SPDX-License-Identifier: MIT
 *
 * aijheddle: on several ranks, an mpiaij whose two local blocks are seqaijheddle.
 *
 *     y = A_diagonal x  +  A_off-diagonal x_halo
 *
 * PETSc exchanges the halo while the product of the diagonal block runs, and adds that of the other.  Its
 * name stays mpiaij, so that everything that asks for one finds it.  The blocks are made by PETSc in many
 * ways (preallocation, hashing, COO, MatLoad) but all of them end with an assembly, and there they become
 * Heddle's. */
#include "private.h"

static PetscErrorCode (*base_assemblyend)(Mat, MatAssemblyType); /* of an mpiaij */
static PetscErrorCode (*base_view)(Mat, PetscViewer);

static PetscErrorCode MatAssemblyEnd_MPIAIJHeddle(Mat A, MatAssemblyType mode)
{
    Mat block[2];
    PetscBool plain;

    PetscFunctionBegin;
    PetscCall(base_assemblyend(A, mode));
    if (mode != MAT_FINAL_ASSEMBLY)
        PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    for (int i = 0; i < 2; i++) {
        PetscCall(PetscObjectTypeCompare((PetscObject)block[i], MATSEQAIJ, &plain));
        if (plain)
            PetscCall(
                MatConvert_SeqAIJ_SeqAIJHeddle(block[i], MATSEQAIJHEDDLE, MAT_INPLACE_MATRIX, &block[i]));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatView_MPIAIJHeddle(Mat A, PetscViewer viewer)
{
    static const char *const name[2] = {"diagonal", "off-diagonal"};
    Mat block[2];
    PetscMPIInt rank;
    PetscBool ascii;
    PetscViewerFormat format;
    char text[BLOCK_TEXT];

    PetscFunctionBegin;
    PetscCall(base_view(A, viewer));
    PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &ascii));
    PetscCall(PetscViewerGetFormat(viewer, &format));
    if (!ascii || (format != PETSC_VIEWER_ASCII_INFO && format != PETSC_VIEWER_ASCII_INFO_DETAIL))
        PetscFunctionReturn(PETSC_SUCCESS);
    PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    PetscCall(PetscViewerASCIIPushSynchronized(viewer));
    for (int i = 0; i < 2; i++) {
        PetscCall(seqaijheddle_describe(block[i], text));
        if (text[0])
            PetscCall(PetscViewerASCIISynchronizedPrintf(viewer, "[%d] Heddle, %s block: %s\n", (int)rank,
                                                         name[i], text));
    }
    PetscCall(PetscViewerFlush(viewer));
    PetscCall(PetscViewerASCIIPopSynchronized(viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives an mpiaij the two operations, and blocks that are there already their type. */
static PetscErrorCode adopt(Mat A)
{
    PetscErrorCode (*present)(Mat, MatAssemblyType);
    PetscBool assembled;

    PetscFunctionBegin;
    PetscCall(MatGetOperation(A, MATOP_ASSEMBLY_END, (void *)&present));
    if (present == MatAssemblyEnd_MPIAIJHeddle)
        PetscFunctionReturn(PETSC_SUCCESS);
    if (!base_assemblyend) {
        base_assemblyend = present;
        PetscCall(MatGetOperation(A, MATOP_VIEW, (void *)&base_view));
    }
    PetscCall(MatSetOperation(A, MATOP_ASSEMBLY_END, (void *)MatAssemblyEnd_MPIAIJHeddle));
    PetscCall(MatSetOperation(A, MATOP_VIEW, (void *)MatView_MPIAIJHeddle));
    PetscCall(MatAssembled(A, &assembled));
    if (assembled) {
        PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_MPIAIJ_MPIAIJHeddle(Mat A, MatType type, MatReuse reuse, Mat *B)
{
    PetscFunctionBegin;
    (void)type;
    if (reuse == MAT_INITIAL_MATRIX)
        PetscCall(MatDuplicate(A, MAT_COPY_VALUES, B));
    else if (reuse == MAT_REUSE_MATRIX)
        PetscCall(MatCopy(A, *B, SAME_NONZERO_PATTERN));
    PetscCall(adopt(*B));
    PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_MPIAIJHeddle(Mat A)
{
    PetscFunctionBegin;
    PetscCall(MatSetType(A, MATMPIAIJ));
    PetscCall(adopt(A));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_mpiaij_mpiaijheddle_C",
                                         MatConvert_MPIAIJ_MPIAIJHeddle));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "MatConvert_mpiaij_aijheddle_C",
                                         MatConvert_MPIAIJ_MPIAIJHeddle));
    PetscFunctionReturn(PETSC_SUCCESS);
}
