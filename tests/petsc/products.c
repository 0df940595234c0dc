/* SPDX-License-Identifier: MIT
 *
 * Every product of a matrix of Heddle's type is that of the same matrix as PETSc has it: for shapes that
 * hunt for a bug each, before and after a plan is made, and after everything in PETSc that changes values
 * or pattern behind the plan's back.
 *
 * Linked with the plugin, not loaded by it: this is how a program of one's own uses the type.  -repeat N
 * assembles, multiplies and destroys N times and says whether memory grew. */
#include <heddle_petsc.h>
#include <stdio.h>
#include <string.h>

static PetscInt passed, failed;

static PetscErrorCode judge(const char *what, PetscReal error, PetscReal scale)
{
    PetscFunctionBeginUser;
    if (error <= 1e-13 * (scale + 1)) {
        passed++;
    } else {
        failed++;
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: off by %g of %g\n", what, (double)error, (double)scale));
    }
    PetscFunctionReturn(0);
}

/* The norm of a - b against that of b. */
static PetscErrorCode compare(const char *what, const char *product, Vec a, Vec b)
{
    PetscReal error, scale;
    char text[256];

    PetscFunctionBeginUser;
    PetscCall(VecNorm(b, NORM_INFINITY, &scale));
    PetscCall(VecAXPY(a, -1, b));
    PetscCall(VecNorm(a, NORM_INFINITY, &error));
    PetscCall(PetscSNPrintf(text, sizeof text, "%s, %s", what, product));
    PetscCall(judge(text, error, scale));
    PetscFunctionReturn(0);
}

/* All products of A and B with random vectors; NaN in y must not survive where y is not read. */
static PetscErrorCode same_products(const char *what, Mat A, Mat B, PetscRandom random)
{
    Vec right[2], left[2], add;

    PetscFunctionBeginUser;
    PetscCall(MatCreateVecs(A, &right[0], &left[0])); /* where Heddle computes */
    PetscCall(VecSetRandom(right[0], random));
    PetscCall(VecDuplicate(right[0], &right[1]));
    PetscCall(VecDuplicate(left[0], &left[1]));
    PetscCall(VecDuplicate(left[0], &add));

    PetscCall(VecSet(left[0], NAN));
    PetscCall(MatMult(A, right[0], left[0]));
    PetscCall(MatMult(B, right[0], left[1]));
    PetscCall(compare(what, "MatMult", left[0], left[1]));

    PetscCall(VecSetRandom(add, random));
    PetscCall(MatMultAdd(A, right[0], add, left[0]));
    PetscCall(MatMultAdd(B, right[0], add, left[1]));
    PetscCall(compare(what, "MatMultAdd", left[0], left[1]));
    PetscCall(VecCopy(add, left[0]));
    PetscCall(MatMultAdd(A, right[0], left[0], left[0]));
    PetscCall(compare(what, "MatMultAdd in place", left[0], left[1]));
    PetscCall(VecDestroy(&add));

    PetscCall(VecSetRandom(left[0], random));
    PetscCall(VecSet(right[0], NAN));
    PetscCall(MatMultTranspose(A, left[0], right[0]));
    PetscCall(MatMultTranspose(B, left[0], right[1]));
    PetscCall(compare(what, "MatMultTranspose", right[0], right[1]));
    PetscCall(MatMultHermitianTranspose(A, left[0], right[0]));
    PetscCall(MatMultHermitianTranspose(B, left[0], right[1]));
    PetscCall(compare(what, "MatMultHermitianTranspose", right[0], right[1]));

    PetscCall(VecDuplicate(right[0], &add));
    PetscCall(VecSetRandom(add, random));
    PetscCall(MatMultTransposeAdd(A, left[0], add, right[0]));
    PetscCall(MatMultTransposeAdd(B, left[0], add, right[1]));
    PetscCall(compare(what, "MatMultTransposeAdd", right[0], right[1]));
    PetscCall(VecCopy(add, right[0]));
    PetscCall(MatMultTransposeAdd(A, left[0], right[0], right[0]));
    PetscCall(compare(what, "MatMultTransposeAdd in place", right[0], right[1]));
    PetscCall(MatMultHermitianTransposeAdd(A, left[0], add, right[0]));
    PetscCall(MatMultHermitianTransposeAdd(B, left[0], add, right[1]));
    PetscCall(compare(what, "MatMultHermitianTransposeAdd", right[0], right[1]));
    PetscCall(VecDestroy(&add));
    for (int i = 0; i < 2; i++) {
        PetscCall(VecDestroy(&right[i]));
        PetscCall(VecDestroy(&left[i]));
    }
    PetscFunctionReturn(0);
}

/* So many products that a plan is made, whatever the number expected. */
static PetscErrorCode many_products(const char *what, Mat A, Mat B, PetscRandom random)
{
    PetscFunctionBeginUser;
    for (int i = 0; i < 24; i++)
        PetscCall(same_products(what, A, B, random));
    PetscFunctionReturn(0);
}

struct shape {
    const char *name; /* and the bug that it hunts */
    PetscInt rows, cols, per_row, every;
};
static const struct shape shapes[] = {
    {"square", 300, 300, 5, 1},   {"tall: lengths of x and y mixed up", 500, 40, 3, 1},
    {"wide", 40, 500, 9, 1},      {"few rows: empty ones forgotten, or written", 400, 400, 4, 7},
    {"no entries", 50, 60, 0, 1}, {"one row", 1, 90, 60, 1},
    {"one column", 90, 1, 1, 1},  {"no rows", 0, 7, 0, 1},
    {"no columns", 7, 0, 0, 1},
};

/* Entries in rows 0, every, 2 every, ...: the same whatever the type and the number of ranks. */
static PetscErrorCode fill(Mat A, const struct shape *s, PetscScalar factor)
{
    PetscInt first, last;

    PetscFunctionBeginUser;
    PetscCall(MatGetOwnershipRange(A, &first, &last));
    for (PetscInt i = first; i < last; i++)
        for (PetscInt k = 0; i % s->every == 0 && k < s->per_row; k++) {
            PetscInt j = (i + k * (k * 37 + 11)) % s->cols;
            PetscScalar v = factor * (PetscScalar)((i * 7 + k * 13) % 19 - 9);
#if PetscDefined(USE_COMPLEX)
            v += factor * PETSC_i * (PetscScalar)((i * 5 + k * 3) % 11 - 5);
#endif
            PetscCall(MatSetValues(A, 1, &i, 1, &j, &v, INSERT_VALUES));
        }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscFunctionReturn(0);
}

static PetscErrorCode create(Mat *A, MatType type, const struct shape *s)
{
    PetscFunctionBeginUser;
    PetscCall(MatCreate(PETSC_COMM_WORLD, A));
    PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, s->rows, s->cols));
    PetscCall(MatSetType(*A, type));
    PetscCall(MatSeqAIJSetPreallocation(*A, s->per_row + 3, NULL));
    PetscCall(MatMPIAIJSetPreallocation(*A, s->per_row + 3, NULL, s->per_row + 3, NULL));
    PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(fill(*A, s, 1));
    PetscFunctionReturn(0);
}

/* What a program may do to a matrix between products. */
enum change {
    SCALE,
    DIAGONAL_SCALE,
    SHIFT,
    OTHER_VALUES,
    ZERO_ROWS,
    AXPY,
    COPY,
    CONJUGATE,
    OWN_ARRAY,
    NEW_ENTRY,
    ZERO,
    CHANGES
};
static const char *const change_names[] = {
    "MatScale", "MatDiagonalScale", "MatShift",          "MatSetValues",  "MatZeroRows",   "MatAXPY",
    "MatCopy",  "MatConjugate",     "MatSeqAIJGetArray", "a new nonzero", "MatZeroEntries"};

static PetscErrorCode change(Mat A, enum change how, const struct shape *s)
{
    Mat other;
    Vec left, right;
    PetscInt row = 0, col = s->cols / 2;
    PetscScalar *array;
    Mat block[2] = {A, NULL};
    PetscMPIInt ranks;

    PetscFunctionBeginUser;
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    switch (how) {
    case SCALE:
        PetscCall(MatScale(A, 3));
        break;
    case DIAGONAL_SCALE:
        PetscCall(MatCreateVecs(A, &right, &left));
        PetscCall(VecSet(left, 0.5));
        PetscCall(VecSet(right, -2.5));
        PetscCall(MatDiagonalScale(A, left, right));
        PetscCall(VecDestroy(&left));
        PetscCall(VecDestroy(&right));
        break;
    case SHIFT:
        if (s->rows == s->cols)
            PetscCall(MatShift(A, 1.25));
        break;
    case OTHER_VALUES:
        PetscCall(fill(A, s, 1.75));
        break;
    case ZERO_ROWS:
        PetscCall(MatZeroRows(A, s->rows == s->cols, &row, 4, NULL, NULL));
        break;
    case AXPY:
    case COPY:
        PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &other));
        PetscCall(MatScale(other, 0.25));
        if (how == AXPY)
            PetscCall(MatAXPY(A, 2, other, SAME_NONZERO_PATTERN));
        else
            PetscCall(MatCopy(other, A, SAME_NONZERO_PATTERN));
        PetscCall(MatDestroy(&other));
        break;
    case CONJUGATE:
        PetscCall(MatConjugate(A));
        break;
    case OWN_ARRAY:
        if (ranks > 1)
            PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
        for (int b = 0; b < 2 && block[b]; b++) {
            MatInfo info;
            PetscCall(MatGetInfo(block[b], MAT_LOCAL, &info));
            PetscCall(MatSeqAIJGetArray(block[b], &array));
            for (PetscInt k = 0; k < (PetscInt)info.nz_used; k++)
                array[k] += k % 3;
            PetscCall(MatSeqAIJRestoreArray(block[b], &array));
        }
        break;
    case NEW_ENTRY:
        PetscCall(MatSetOption(A, MAT_NEW_NONZERO_LOCATIONS, PETSC_TRUE));
        if (s->rows > 0 && s->cols > 0)
            PetscCall(MatSetValue(A, row, col, 5.5, INSERT_VALUES));
        PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
        PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
        break;
    default:
        PetscCall(MatZeroEntries(A));
        break;
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode changes_are_followed(const struct shape *s, PetscRandom random)
{
    Mat A, B;
    char text[128];

    PetscFunctionBeginUser;
    PetscCall(create(&A, MATAIJHEDDLE, s));
    PetscCall(create(&B, MATAIJ, s));
    PetscCall(many_products(s->name, A, B, random));
    for (int how = 0; how < CHANGES && s->rows > 0; how++) {
        PetscCall(PetscSNPrintf(text, sizeof text, "%s, after %s", s->name, change_names[how]));
        PetscCall(change(A, (enum change)how, s));
        PetscCall(change(B, (enum change)how, s));
        PetscCall(same_products(text, A, B, random)); /* at once, and when plans were made anew */
        PetscCall(many_products(text, A, B, random));
    }
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(0);
}

/* There and back, and what is made of a matrix. */
static PetscErrorCode relatives_are_right(const struct shape *s, PetscRandom random)
{
    Mat A, B, C, D;
    MatType type;
    PetscBool same;

    PetscFunctionBeginUser;
    PetscCall(create(&A, MATAIJHEDDLE, s));
    PetscCall(create(&B, MATAIJ, s));
    PetscCall(same_products("before", A, B, random));
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
    PetscCall(MatScale(A, 2)); /* which C must not see */
    PetscCall(many_products("MatDuplicate", C, B, random));
    PetscCall(MatDestroy(&C));
    PetscCall(MatScale(B, 2));

    PetscCall(MatConvert(B, MATAIJHEDDLE, MAT_INITIAL_MATRIX, &C));
    PetscCall(many_products("MatConvert", C, B, random));
    PetscCall(MatConvert(C, MATAIJ, MAT_INPLACE_MATRIX, &C));
    PetscCall(same_products("MatConvert and back", C, B, random));
    PetscCall(MatGetType(B, &type));
    PetscCall(PetscObjectTypeCompare((PetscObject)C, type, &same));
    PetscCall(judge("MatConvert and back gives the type of before", same ? 0 : 1, 0));
    PetscCall(MatConvert(C, MATAIJHEDDLE, MAT_INPLACE_MATRIX, &C));
    PetscCall(many_products("MatConvert in place", C, B, random));
    PetscCall(MatDestroy(&C));

    PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &D));
    PetscCall(same_products("MatTranspose", C, D, random));
    PetscCall(MatDestroy(&C));
    PetscCall(MatDestroy(&D));
    PetscCall(MatTransposeMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(MatTransposeMatMult(B, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
    PetscCall(same_products("MatTransposeMatMult", C, D, random));
    PetscCall(MatDestroy(&C));
    PetscCall(MatDestroy(&D));
    PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &C));
    PetscCall(same_products("MatConvert to dense", C, B, random));
    PetscCall(MatTransposeMatMult(A, C, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
    PetscCall(MatDestroy(&C));
    PetscCall(MatTransposeMatMult(B, B, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
    PetscCall(same_products("a dense factor", D, C, random));
    PetscCall(MatDestroy(&C));
    PetscCall(MatDestroy(&D));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(0);
}

/* Bytes of the process in memory. */
static long resident(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f) {
        if (fscanf(f, "%*s %ld", &pages) != 1)
            pages = 0;
        fclose(f);
    }
    return pages * 4096;
}

static PetscErrorCode memory_stays(PetscInt repeat, PetscRandom random)
{
    const struct shape small = {"assembled many times", 2000, 2000, 5, 1};
    Mat A, kept;
    Vec x, y;
    long after_warming = 0;

    PetscFunctionBeginUser;
    PetscCall(create(&kept, MATAIJHEDDLE, &small));
    PetscCall(MatCreateVecs(kept, &x, &y));
    PetscCall(VecSetRandom(x, random));
    for (PetscInt i = 0; i < repeat; i++) {
        PetscCall(fill(kept, &small, (PetscScalar)(i + 1))); /* the same matrix, other values */
        PetscCall(MatMult(kept, x, y));
        PetscCall(MatMultTranspose(kept, y, x));
        PetscCall(VecNormalize(x, NULL));
        if (i % 2 == 0) { /* another matrix each time */
            PetscCall(create(&A, MATAIJHEDDLE, &small));
            for (int k = 0; k < 20; k++)
                PetscCall(MatMult(A, x, y));
            PetscCall(MatDestroy(&A));
        }
        if (i == repeat / 10)
            after_warming = resident();
    }
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " assemblies: %.1f MB, then %.1f MB\n", repeat,
                          (double)after_warming / 1e6, (double)resident() / 1e6));
    PetscCall(judge("memory after many assemblies, in MB more", resident() > after_warming + 2000000, 0));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&kept));
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    PetscRandom random;
    PetscInt repeat = 0;

    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(MatRegisterHeddle());
    PetscCall(MatRegisterHeddle()); /* does nothing */
    PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
    PetscCall(PetscOptionsGetInt(NULL, NULL, "-repeat", &repeat, NULL));
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0] && repeat == 0; i++)
        PetscCall(changes_are_followed(&shapes[i], random));
    if (repeat == 0)
        PetscCall(relatives_are_right(&shapes[0], random));
    else
        PetscCall(memory_stays(repeat, random));
    PetscCall(PetscRandomDestroy(&random));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " passed, %" PetscInt_FMT " failed\n", passed,
                          failed));
    PetscCall(PetscFinalize());
    return failed > 0;
}
