/* SPDX-License-Identifier: MIT
 *
 * heddle_petsc.h: Heddle as a matrix type of PETSc.
 *
 * A program needs nothing of this: the options
 *     -dll_append /path/of/libheddle_petsc.so -mat_type aijheddle
 * load the library and choose the type.  A program that links the library calls the one function below,
 * once, after PetscInitialize, and then has the types
 *     aijheddle        seqaijheddle on one rank; on several, an mpiaij whose two local blocks are of that
 *                      type
 *     seqaijheddle     a seqaij whose products are Heddle's; everything else of it is PETSc's own
 * for MatSetType, MatConvert and -mat_type, and seqaijheddle for -mat_seqaij_type and MatSeqAIJSetType.
 * docs/distributed.md has the rest. */
#ifndef HEDDLE_PETSC_INCLUDED
#define HEDDLE_PETSC_INCLUDED

#include <petscmat.h>

#define MATAIJHEDDLE "aijheddle"
#define MATSEQAIJHEDDLE "seqaijheddle"

/* Registers the types.  Collective on PETSC_COMM_WORLD, because ranks of one node divide its processors
 * and GPUs among them.  Calling it again does nothing; after PetscFinalize and another PetscInitialize it
 * must be called again. */
PETSC_EXTERN PetscErrorCode MatRegisterHeddle(void);

#endif
