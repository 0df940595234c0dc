/* SPDX-License-Identifier: MIT
 *
 * A child after fork goes on with the handles and matrices of its parent, on devices of which nothing but
 * memory is needed. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/thread.h"
#include "gen/gen.h"
#include "subject/subject.h"
#include "test.h"

#define ROWS 3600 /* enough entries for more than one thread */

struct scene {
    struct csr csr;
    heddle *h;
    heddle_matrix *A;
    double x[ROWS], right[ROWS];
};

static void scene_new(struct scene *s, const char *device)
{
    CHECK_OK(gen_matrix(&s->csr, "grid2d:n=60", HEDDLE_F64));
    for (int64_t k = 0; k < s->csr.nnz; k++)
        ((double *)s->csr.val)[k] = (double)(k % 5 - 2);
    for (int i = 0; i < ROWS; i++)
        s->x[i] = (double)(i % 7 - 3);
    CHECK_OK(heddle_open(&s->h, device));
    CHECK_OK(matrix_of(&s->A, s->h, &s->csr));
    CHECK_OK(heddle_mv(s->h, HEDDLE_N, NULL, s->A, s->x, NULL, s->right));
}

static void scene_free(struct scene *s)
{
    heddle_matrix_free(s->A);
    heddle_close(s->h);
    csr_free(&s->csr);
}

/* 0: the product and the statistics are as the parent's. */
static int goes_on(struct scene *s, heddle *h)
{
    static double y[ROWS];
    heddle_stats stats;
    memset(y, 0xff, sizeof y);
    if (heddle_reserve(h, s->A) != HEDDLE_OK ||
        heddle_mv(h, HEDDLE_N, NULL, s->A, s->x, NULL, y) != HEDDLE_OK)
        return 1;
    if (memcmp(y, s->right, sizeof y) != 0)
        return 2;
    return heddle_statistics(h, s->A, &stats) == HEDDLE_OK && stats.nnz == s->csr.nnz ? 0 : 3;
}

static int child(struct scene *s, const char *device, int generations)
{
    heddle *own = NULL;
    int code = goes_on(s, s->h);
    if (!code && (heddle_open(&own, device) != HEDDLE_OK || goes_on(s, own) != 0))
        code = 4;
    heddle_close(own);
    if (!code && generations > 1) {
        int status = 0;
        pid_t next = fork();
        if (next == 0)
            _exit(child(s, device, generations - 1));
        code = waitpid(next, &status, 0) == next && WIFEXITED(status) ? WEXITSTATUS(status) : 5;
    }
    return code;
}

static void fork_and_look(const char *device)
{
    static struct scene s;
    scene_new(&s, device);
    for (int i = 0; i < 3; i++) {
        int status = 0;
        pid_t first = fork();
        if (first == 0) {
            alarm(30); /* who hangs does not hang for ever */
            _exit(child(&s, device, 2));
        }
        CHECK(waitpid(first, &status, 0) == first);
        CHECK_THAT(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: the child ended with %s %d", device,
                   WIFEXITED(status) ? "status" : "signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        CHECK(goes_on(&s, s.h) == 0);
    }
    scene_free(&s);
}

TEST(a_child_multiplies_on_the_cpu_after_its_parent_has)
{
    fork_and_look("cpu:threads=3");
}

#ifndef __SANITIZE_THREAD__
TEST(a_child_multiplies_on_the_emulator_after_its_parent_has)
{
    fork_and_look("emu:threads=3");
}
#endif
