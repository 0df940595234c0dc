/* SPDX-License-Identifier: MIT
 *
 * register.c: the types become known to PETSc. */
#include "private.h"

static PetscBool registered;

static PetscErrorCode unregister(void)
{
    PetscFunctionBegin;
    PetscCall(place_close());
    registered = PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatRegisterHeddle(void)
{
    PetscFunctionBegin;
    if (registered)
        PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatInitializePackage());
    PetscCall(place_find());
    PetscCall(MatRegisterRootName(MATAIJHEDDLE, MATSEQAIJHEDDLE, "mpiaijheddle"));
    PetscCall(MatRegister(MATSEQAIJHEDDLE, MatCreate_SeqAIJHeddle));
    PetscCall(MatRegister("mpiaijheddle", MatCreate_MPIAIJHeddle));
    PetscCall(MatSeqAIJRegister(MATSEQAIJHEDDLE, MatConvert_SeqAIJ_SeqAIJHeddle));
    PetscCall(PetscRegisterFinalize(unregister));
    registered = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* What PETSc calls in a library that -dll_append loads. */
PETSC_EXTERN PetscErrorCode PetscDLLibraryRegister_heddle_petsc(void);
PetscErrorCode PetscDLLibraryRegister_heddle_petsc(void)
{
    return MatRegisterHeddle();
}
