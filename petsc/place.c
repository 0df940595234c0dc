/* SPDX-License-Identifier: MIT
 *
 * place.c: what this rank computes on.
 *
 * Ranks of one node share its processors and GPUs.  Where MPI binds each rank to processors of its own,
 * those are its threads; where several ranks may run on the same processors, each has its share of them: a
 * processor counts 1/n where n ranks may use it.  GPUs are dealt out by node-local rank, round robin. */
#define _GNU_SOURCE /* sched_getaffinity */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "private.h"

static struct place place;
static PetscMPIInt local_rank;
static int used;           /* by so many blocks */
static PetscInt share = 1; /* of the node's processors, at least one */

PetscErrorCode place_find(void)
{
    MPI_Comm node;
    PetscMPIInt ranks;
    cpu_set_t mine, *all;
    double processors = 0;

    PetscFunctionBegin;
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &place.rank));
    PetscCallMPI(
        MPI_Comm_split_type(PETSC_COMM_WORLD, MPI_COMM_TYPE_SHARED, place.rank, MPI_INFO_NULL, &node));
    PetscCallMPI(MPI_Comm_rank(node, &local_rank));
    PetscCallMPI(MPI_Comm_size(node, &ranks));
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof mine, &mine) != 0)
        CPU_SET(
            0, &mine); /* more processors than fit: Heddle's own default would be for one rank, so take one */
    PetscCall(PetscMalloc1(ranks, &all));
    PetscCallMPI(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, node));
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        int users = 0;
        for (PetscMPIInt r = 0; CPU_ISSET(cpu, &mine) && r < ranks; r++)
            users += CPU_ISSET(cpu, &all[r]) != 0;
        processors += users ? 1.0 / users : 0;
    }
    share = PetscMax((PetscInt)(processors + 1e-9), 1);
    PetscCall(PetscFree(all));
    PetscCallMPI(MPI_Comm_free(&node));
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* "cuda" and "hip" become "cuda:N", the GPU of this rank.  Left as it is where there is none: heddle_open
 * says so then. */
static PetscErrorCode pick_gpu(const char *kind, char device[], size_t size)
{
    heddle_device_desc desc;
    int gpus = 0;

    PetscFunctionBegin;
    for (int i = 0; i < heddle_device_count(); i++)
        gpus += heddle_device_info(i, &desc) == HEDDLE_OK && strncmp(desc.name, kind, strlen(kind)) == 0;
    if (gpus > 0)
        PetscCall(PetscSNPrintf(device, size, "%s:%d", kind, (int)local_rank % gpus));
    PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode place_open(const struct place **at)
{
    char device[sizeof place.device] = "auto";
    PetscInt threads = 0;

    PetscFunctionBegin;
    *at = &place;
    if (place.handle)
        PetscFunctionReturn(PETSC_SUCCESS);
    PetscOptionsBegin(PETSC_COMM_SELF, NULL, "Heddle", "Mat");
    PetscCall(PetscOptionsString("-mat_heddle_device", "cpu, cuda, cuda:N, hip, hip:N or auto", "", device,
                                 device, sizeof device, NULL));
    PetscCall(PetscOptionsBoundedInt("-mat_heddle_threads",
                                     "threads of a rank on the CPU; 0: its share of the node", "", threads,
                                     &threads, NULL, 0));
    PetscCall(PetscOptionsBool("-mat_heddle_view", "say what ran when a matrix is destroyed", "", place.view,
                               &place.view, NULL));
    PetscOptionsEnd();
    if (strcmp(device, "auto") ==
        0) /* a GPU must be asked for: copies of vectors may cost more than the products gain */
        PetscCall(PetscStrncpy(device, "cpu", sizeof device));
    if (strcmp(device, "cuda") == 0 || strcmp(device, "hip") == 0)
        PetscCall(pick_gpu(device[0] == 'c' ? "cuda" : "hip", device, sizeof device));
    if (strcmp(device, "cpu") == 0 && (threads > 0 || !getenv("OMP_NUM_THREADS")))
        PetscCall(PetscSNPrintf(device, sizeof device, "cpu:threads=%" PetscInt_FMT,
                                threads > 0 ? threads : share));
    HeddleCall(heddle_open(&place.handle, device));
    PetscCall(PetscStrncpy(place.device, device, sizeof place.device));
    place.gpu = strncmp(device, "cpu", 3) != 0;
    PetscCall(PetscInfo(NULL, "Heddle: rank %d computes on %s\n", (int)place.rank, place.device));
    PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode place_use(int more)
{
    PetscFunctionBegin;
    used += more;
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* A program that leaves matrices behind leaves the handle behind, too: their plans are on it. */
PetscErrorCode place_close(void)
{
    PetscFunctionBegin;
    if (used == 0)
        heddle_close(place.handle);
    used = 0;
    place = (struct place){0};
    PetscFunctionReturn(PETSC_SUCCESS);
}
