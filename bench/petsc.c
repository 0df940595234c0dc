/* SPDX-License-Identifier: MIT
 *
 * How long MatMult and MatMultTranspose take, for the types of matrix named, on however many ranks it is
 * run: a line a type and operation.
 *   petsc -file FILE -types aij,aijsell,aijheddle
 * Types take turns, round after round, so that what disturbs the machine disturbs all of them; the fastest
 * round of each counts.  The first product is told apart: it is where a plan is made
 * (-mat_heddle_products). */
#include <petscmat.h>
#include <petscvec.h>

#define TYPES 4
#define ROUNDS 9
#define ROUND_SECONDS 0.03

struct run {
    const char *type;
    Mat A;
    Vec x, y;
    double first[2], best[2]; /* seconds, N and T */
    PetscReal sum[2];         /* of y, to see that all do the same */
};

static PetscErrorCode once(struct run *r, int transposed)
{
    PetscFunctionBeginUser;
    if (transposed)
        PetscCall(MatMultTranspose(r->A, r->y, r->x));
    else
        PetscCall(MatMult(r->A, r->x, r->y));
    PetscFunctionReturn(0);
}

/* Seconds of `count` products of all ranks together. */
static PetscErrorCode timed(struct run *r, int transposed, PetscInt count, double *seconds)
{
    PetscFunctionBeginUser;
    PetscCall(VecSet(r->x, 1));
    if (transposed)
        PetscCall(VecSet(r->y, 1));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    *seconds = -MPI_Wtime();
    for (PetscInt i = 0; i < count; i++)
        PetscCall(once(r, transposed));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    *seconds += MPI_Wtime();
    PetscFunctionReturn(0);
}

static PetscErrorCode load(struct run *r, const char *file)
{
    PetscViewer viewer;

    PetscFunctionBeginUser;
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, file, FILE_MODE_READ, &viewer));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &r->A));
    PetscCall(MatSetType(r->A, r->type));
    PetscCall(MatLoad(r->A, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(MatCreateVecs(r->A, &r->x, &r->y));
    for (int t = 0; t < 2; t++) {
        PetscCall(timed(r, t, 1, &r->first[t]));
        PetscCall(VecNorm(t ? r->x : r->y, NORM_1, &r->sum[t]));
        PetscCall(timed(r, t, 1, &r->best[t]));
    }
    PetscFunctionReturn(0);
}

int main(int argc, char **argv)
{
    char file[PETSC_MAX_PATH_LEN], *names[TYPES];
    PetscInt types = TYPES;
    PetscMPIInt ranks;
    PetscBool set;
    struct run run[TYPES];

    PetscFunctionBeginUser;
    PetscCall(PetscInitialize(&argc, &argv, NULL, NULL));
    PetscCall(PetscOptionsGetString(NULL, NULL, "-file", file, sizeof file, &set));
    PetscCheck(set, PETSC_COMM_WORLD, PETSC_ERR_USER, "which matrix?  -file FILE");
    PetscCall(PetscOptionsGetStringArray(NULL, NULL, "-types", names, &types, NULL));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &ranks));
    for (PetscInt i = 0; i < types; i++) {
        run[i] = (struct run){.type = names[i]};
        PetscCall(load(&run[i], file));
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int t = 0; t < 2; t++)
            for (PetscInt i = 0; i < types; i++) {
                double seconds;
                PetscInt count = (PetscInt)PetscMin(PetscMax(ROUND_SECONDS / run[i].best[t], 1), 200);
                PetscCallMPI(MPI_Bcast(&count, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
                PetscCall(timed(&run[i], t, count, &seconds));
                run[i].best[t] = PetscMin(run[i].best[t], seconds / (double)count);
            }
    for (PetscInt i = 0; i < types; i++) {
        for (int t = 0; t < 2; t++)
            PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%d %s %c %.6f %.3f %.12g\n", (int)ranks, run[i].type,
                                  "NT"[t], 1e3 * run[i].best[t], 1e3 * run[i].first[t],
                                  (double)run[i].sum[t]));
        PetscCall(MatDestroy(&run[i].A));
        PetscCall(VecDestroy(&run[i].x));
        PetscCall(VecDestroy(&run[i].y));
        PetscCall(PetscFree(names[i]));
    }
    PetscCall(PetscFinalize());
    return 0;
}
