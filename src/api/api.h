/* SPDX-License-Identifier: MIT
 *
 * api.h: what is behind the public handles. */
#ifndef API_API_H
#define API_API_H

#include <pthread.h>
#include <stdatomic.h>

#include "convert/convert.h"
#include "io/io.h"
#include "plan/plan.h"

/* An open GPU, kept alive by the handles and matrices that use it. */
struct shared_gpu {
    struct gpu *gpu;
    atomic_int users;
};

/* Memory of the device that is kept until the handle is closed. */
struct outgrown {
    struct outgrown *next;
    void *p;
};

struct heddle {
    atomic_int taken; /* 1: a call is under way (handle_take) */
    struct device device;
    struct shared_gpu *shared; /* NULL on the CPU */
    struct gpu_event
        *left;         /* GPU: behind the last work in the stream that was left last; NULL before the first */
    int behind;        /* the stream does not wait for `left` yet: it was being captured when it was set */
    int used;          /* the stream may have work of this handle that nobody has waited for */
    int debug;         /* check the matrix before every product */
    int deterministic; /* immediate products are repeatable */
    heddle_where scalars; /* where alpha and beta lie: on a CPU it makes no difference */
    struct room room;     /* what products work in, on the device; grows by heddle_reserve only */
    struct room needed;   /* by all that was made ready here, at most; the pointers are NULL */
    struct room own;      /* while the caller lends memory: the room of before */
    int is_lent;          /* room is the caller's memory, and the handle takes none */
    char *lent;
    int64_t lent_bytes;
    struct outgrown *outgrown; /* rooms that became too small: graphs may know their addresses */
    void *stage;               /* GPU: where x and y of the host go, on the device; grows likewise */
    int64_t stage_bytes;
    uint64_t many; /* a bit for each kind of products with several vectors that it is ready for (many_kind) */
    const char *last_kernel; /* "" before the first product */
};

struct heddle_matrix {
    struct view view;          /* borrowed arrays, or those that `owned` or `file` keep alive */
    struct view owned;         /* arrays to free: all pointers NULL when borrowed or mapped */
    struct file_matrix file;   /* a mapped file, when it came from one */
    char *path;                /* its name, for messages */
    struct device device;      /* where the arrays of `view` lie: the CPU or a GPU */
    struct shared_gpu *shared; /* keeps that GPU open */
    void *placed[3];           /* arrays on the device to release */
    int sorted_now;
    atomic_int unchecked; /* 1: the contents of the file were not looked at yet */
    pthread_mutex_t lock; /* guards the first look */
};

struct heddle_plan {
    heddle *h;
    const heddle_matrix *A;
    struct bound *bound[2]; /* N, T; NULL: not asked for */
    heddle_plan_desc desc[2];
    int64_t limit; /* bytes it may hold */
    int fixed;     /* values never change */
    int deterministic;
    const void *val; /* with which its products are, in A's order; NULL: only its own storage has them */
    void *values; /* on the device: new values that came from the host, where a bound kernel refers to them */
};

/* A handle serves one thread at a time.  Every public function that uses it, also through a plan, takes it
 * first and gives it back before it returns; who comes meanwhile is refused, and has touched nothing. */
heddle_status handle_refused(const heddle *h);
static inline heddle_status handle_take(heddle *h)
{
    return h && !atomic_exchange_explicit(&h->taken, 1, memory_order_acquire) ? HEDDLE_OK : handle_refused(h);
}
static inline void handle_give(heddle *h)
{
    atomic_store_explicit(&h->taken, 0, memory_order_release);
}
/* The end of a public function: `call` has the handle to itself. */
#define RETURN_ALONE(h, call)                                                                                \
    do {                                                                                                     \
        heddle_status alone = handle_take(h);                                                                \
        if (alone != HEDDLE_OK)                                                                              \
            return alone;                                                                                    \
        alone = (call);                                                                                      \
        handle_give(h);                                                                                      \
        return alone;                                                                                        \
    } while (0)

/* memory.c: what lies where. */
struct shared_gpu *gpu_use(struct shared_gpu *shared); /* both take NULL */
void gpu_leave(struct shared_gpu *shared);
/* Moves the host arrays that `A->view` holds to the device of h, and frees those that A owns; nothing to
 * do on the CPU. */
heddle_status matrix_place(heddle_matrix *A, heddle *h);
/* Copies from the device to newly allocated host memory, and waits. */
heddle_status fetch(void **host, const struct device *device, const void *from, int64_t bytes);
/* A's arrays on the host: `host` borrows where they are there, else `fetched` is filled through `eyes`, a
 * device that A lies on, and the caller frees it. */
heddle_status matrix_on_host(struct view *host, struct view *fetched, const struct device *eyes,
                             const heddle_matrix *A);
void view_free(struct view *v);
/* Room on the device for an x and a y of A, each aligned to MEM_ALIGN. */
int64_t stage_bytes(const struct view *A);
/* What arrays of this type must be aligned to: on a GPU a complex number is read as a whole, on a CPU as C
 * has it, by its parts. */
uintptr_t alignment_of(const heddle *h, heddle_type type);
int64_t stage_y(const struct view *A, heddle_op op); /* where y begins */

/* workspace.c: what goes to the handle's stream from now on comes after what it gave to others; for all
 * who use its workspace. */
heddle_status stream_use(heddle *h);
void workspace_free(heddle *h);
/* What products with several vectors need, unless the handle has it; and so many bytes of stage. */
heddle_status many_reserve(heddle *h, const struct many *m);
heddle_status stage_reserve(heddle *h, int64_t bytes);
heddle_status stage_refused(void); /* NO_WORKSPACE: the handle is lent its memory, and has no stage */
/* From now on the handle's room is as large as that, unless it is lent and too small: then it stays as it
 * is, and workspace_refused is what products that need more return. */
heddle_status workspace_claim(heddle *h, struct room needed);
heddle_status workspace_refused(const heddle *h);
/* May kernels of the handle's device follow this pointer?  NULL they never do. */
int on_device(const heddle *h, const void *p);

/* Allocates an empty matrix; matrix_done gives it to the caller once the handle has reserved workspace for
 * it. */
heddle_status matrix_new(heddle_matrix **A);
heddle_status matrix_done(heddle_matrix **out, heddle *h, heddle_matrix *A);
/* HEDDLE_OK, or what is wrong with the contents of a file that is looked at for the first time. */
heddle_status matrix_ready(const heddle_matrix *A);
/* heddle_check, for who has the handle. */
heddle_status matrix_check(const heddle *h, const heddle_matrix *A);
heddle_status handle_reserve(heddle *h, const heddle_matrix *A); /* heddle_reserve, likewise */
/* A as CSR on the host: `csr` borrows where A is that, else it is built into `made`, which the caller
 * frees. */
heddle_status matrix_as_csr(struct csr *csr, struct csr *made, const heddle *h, const heddle_matrix *A);
/* A product whose arguments are known to be good: by a bound kernel, or (NULL) by the immediate one.  x
 * and y may lie on the host or on the device. */
struct request {
    const heddle_matrix *A;
    heddle_op op;
    struct bound *bound;
    struct scalars scalars;
    const void *x;
    void *y;
};
heddle_status multiply(heddle *h, const struct request *m);
/* The same with several vectors, x and y dense in a layout: by the bound kernel's arrays and not by A's.
 * h->last_kernel is that of the kernel that took them all, else as it was. */
heddle_status multiply_bound(heddle *h, const struct request *r, int64_t vectors, heddle_layout layout);
/* A is not NULL, and its contents are known. */
heddle_status usable(const heddle_matrix *A);
/* What every product asks of its arguments, but for vectors; check_scalars also checks A while debugging, and
 * that y, of y_count numbers, does not have scalars that lie on the device. */
heddle_status check_operation(const heddle *h, const heddle_matrix *A, heddle_op op);
heddle_status check_scalars(heddle *h, const heddle_matrix *A, const void *alpha, const void *beta,
                            const void *y, int64_t y_count, struct scalars *s);
heddle_status scalars_there(const heddle *h,
                            struct scalars s); /* GPU: those that should be are on the device */
/* May kernels of the handle's device follow this pointer? */
int on_device(const heddle *h, const void *p);
/* What the device does not know must be memory of the host, or it is nothing: freed on the device, for
 * example. */
heddle_status on_host(const char *name, const void *p, int64_t bytes);
/* The number of the operation in the plan, or an error if the plan does not serve it. */
heddle_status plan_op(const heddle_plan *p, heddle_op op, int *number);
heddle_status no_plan(void); /* the error: it is NULL */

#endif
