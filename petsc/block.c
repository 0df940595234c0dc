/* SPDX-License-Identifier: MIT
 *
 * block.c: the products of one local block, in the CSR arrays that PETSc holds.
 *
 * Borrowed   The arrays stay PETSc's.  Another pattern or another array makes all of this begin anew;
 *            other values are read by the next product, unless Heddle had to copy them (64-bit columns, a
 *            GPU and values on the host).
 * Few rows   An off-diagonal block has entries in the rows at the border only.  Where fewer than half of
 *            the rows have any, the matrix given to Heddle is that of these rows alone, and their results
 *            are added to y.
 * Plans      A plan costs time and memory, and nobody says how many products will come.  Who has seen n of
 *            them may expect n more: after 16 products a plan for 16 is made, after 64 one for 64, and so
 *            on, in steps of four.  What is spent on plans thereby stays below what they would have gained
 *            had they been made at once.  -mat_heddle_products says what to expect, and then the first
 *            product makes the plan.
 * New values A plan that has converted the matrix must convert it again.  It does so at once when there
 *            were twice the products that this takes to pay with the values before, and else once there
 *            have been so many with the new ones; meanwhile the product without a plan does the work. */
#include <string.h>

#include "private.h"

#define FIRST_PLAN 16
#define LAST_PLAN 65536
#define STEP 4

#if PetscDefined(USE_COMPLEX)
#define VALUE_TYPE (PetscDefined(USE_REAL_SINGLE) ? HEDDLE_C32 : HEDDLE_C64)
#define FLOPS 8.0 /* of an entry */
#else
#define VALUE_TYPE (PetscDefined(USE_REAL_SINGLE) ? HEDDLE_F32 : HEDDLE_F64)
#define FLOPS 2.0
#endif
#define INDEX_TYPE (sizeof(PetscInt) == 8 ? HEDDLE_I64 : HEDDLE_I32)

/* The products of one operation. */
struct course {
    heddle_plan *plan;       /* NULL: none yet */
    heddle_plan_desc desc;   /* of the plan */
    PetscInt64 next_plan;    /* make one before product number .. of this pattern; 0: no more */
    PetscInt64 seen;         /* products with this pattern */
    PetscInt64 with_values;  /* of them with the present values */
    PetscInt64 with_before;  /* and with the values before */
    PetscObjectState values; /* those that the plan holds */
    PetscInt64 products;     /* since the block exists */
    PetscLogDouble ms;       /* all of them, with the copies that a GPU needs */
    double vector_bytes;     /* that those copies were of */
    double plan_ms;          /* making plans and giving them new values */
    PetscInt64 updates;
    char kernel[64]; /* of the last product */
};

struct block {
    const struct place *at;
    PetscInt expected; /* PETSC_DECIDE, or -mat_heddle_products */
    struct arrays A;   /* as it was when `matrix` was made; values: of the last product */
    PetscInt64 nnz;
    heddle_matrix *matrix;
    PetscBool borrows;       /* the matrix reads PETSc's values; */
    PetscObjectState copied; /* else it has a copy of these */
    PetscInt few;            /* rows with entries; -1: all rows are given to Heddle */
    PetscInt *row;           /* size few: which they are */
    PetscInt *few_ptr;       /* size few+1: row row[i] is [few_ptr[i], few_ptr[i+1]) */
    PetscScalar *part;       /* size few: their entries of x or y */
    struct course course[2]; /* N; T and H */
};

static PetscLogEvent event_plan, event_update;

static PetscErrorCode log_events(void)
{
    PetscClassId id;

    PetscFunctionBegin;
    if (!event_plan) {
        PetscCall(PetscClassIdRegister("Heddle", &id));
        PetscCall(PetscLogEventRegister("HeddlePlan", id, &event_plan));
        PetscCall(PetscLogEventRegister("HeddleNewValues", id, &event_update));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode block_new(struct block **b, PetscInt products)
{
    PetscFunctionBegin;
    PetscCall(log_events());
    PetscCall(PetscNew(b));
    PetscCall(place_open(&(*b)->at));
    PetscCall(place_use(1));
    (*b)->expected = products;
    (*b)->few = -1;
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lets go of everything that was made for the arrays; counters of what was done stay. */
static PetscErrorCode forget(struct block *b)
{
    PetscFunctionBegin;
    for (int t = 0; t < 2; t++) {
        heddle_plan_free(b->course[t].plan);
        b->course[t].plan = NULL;
        b->course[t].seen = b->course[t].with_values = b->course[t].with_before = 0;
        b->course[t].next_plan = b->expected == PETSC_DECIDE ? FIRST_PLAN : b->expected > 0;
    }
    heddle_matrix_free(b->matrix);
    b->matrix = NULL;
    PetscCall(PetscFree3(b->row, b->few_ptr, b->part));
    b->few = -1;
    PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode block_free(struct block *b)
{
    char text[BLOCK_TEXT];

    PetscFunctionBegin;
    if (b->at->view && b->course[0].products + b->course[1].products > 0) {
        PetscCall(block_describe(b, text));
        PetscCall(PetscPrintf(PETSC_COMM_SELF, "[%d] Heddle: %s\n", (int)b->at->rank, text));
    }
    PetscCall(forget(b));
    PetscCall(place_use(-1));
    PetscCall(PetscFree(b));
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows with entries, if they are few.  On a GPU the whole is given: gathering would take more launches
 * than it saves. */
static PetscErrorCode find_few(struct block *b)
{
    const PetscInt *ptr = b->A.row_ptr;
    PetscInt few = 0, rows = b->A.rows;

    PetscFunctionBegin;
    for (PetscInt i = 0; i < rows; i++)
        few += ptr[i] < ptr[i + 1];
    if (b->at->gpu || few > rows / 2)
        PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(PetscMalloc3(few, &b->row, few + 1, &b->few_ptr, few, &b->part));
    b->few = 0;
    for (PetscInt i = 0; i < rows; i++)
        if (ptr[i] < ptr[i + 1]) {
            b->few_ptr[b->few] = ptr[i];
            b->row[b->few++] = i;
        }
    b->few_ptr[few] = ptr[rows];
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the block one of these arrays, from nothing. */
static PetscErrorCode borrow(struct block *b, const struct arrays *A)
{
    heddle_matrix_desc made;

    PetscFunctionBegin;
    PetscCall(forget(b));
    b->A = *A;
    b->nnz = A->row_ptr[A->rows];
    PetscCall(find_few(b));
    HeddleCall(heddle_csr(
        &b->matrix, b->at->handle,
        &(heddle_csr_desc){.rows = b->few < 0 ? A->rows : b->few,
                           .cols = A->cols,
                           .nnz = b->nnz,
                           .row_ptr = b->few < 0 ? A->row_ptr : b->few_ptr,
                           .col = A->col,
                           .val = A->val,
                           .types = {.value = VALUE_TYPE, .offset = INDEX_TYPE, .index = INDEX_TYPE}}));
    HeddleCall(heddle_matrix_info(b->matrix, &made));
    b->borrows = (PetscBool)(made.val == (const void *)A->val);
    b->copied = A->values;
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* Brings the block up to the arrays as they are now. */
static PetscErrorCode follow(struct block *b, const struct arrays *A)
{
    PetscBool same = (PetscBool)(b->matrix && A->pattern == b->A.pattern && A->row_ptr == b->A.row_ptr &&
                                 A->col == b->A.col && A->val == b->A.val && A->rows == b->A.rows &&
                                 A->row_ptr[A->rows] == b->nnz);

    PetscFunctionBegin;
    if (!same) {
        PetscCall(borrow(b, A));
    } else if (A->values != b->A.values) {
        b->A.values = A->values;
        for (int t = 0; t < 2; t++) {
            b->course[t].with_before = b->course[t].with_values;
            b->course[t].with_values = 0;
        }
    }
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* Without the memory, or a kernel, the product without a plan goes on. */
static PetscErrorCode make_plan(struct block *b, heddle_op op, struct course *c, PetscInt64 expected)
{
    heddle_plan *plan;
    heddle_plan_options options = {.ops = op == HEDDLE_N ? HEDDLE_PLAN_N : HEDDLE_PLAN_T,
                                   .expected_products = expected};
    PetscLogDouble begin, end;

    PetscFunctionBegin;
    PetscCall(PetscLogEventBegin(event_plan, 0, 0, 0, 0));
    PetscCall(PetscTime(&begin));
    heddle_status status = heddle_plan_create(&plan, b->at->handle, b->matrix, &options);
    PetscCheck(status == HEDDLE_OK || status == HEDDLE_NO_MEMORY || status == HEDDLE_NO_KERNEL,
               PETSC_COMM_SELF, PETSC_ERR_LIB, "Heddle: %s (%s)", heddle_last_error(),
               heddle_status_name(status));
    if (status == HEDDLE_OK) {
        heddle_plan_free(c->plan);
        c->plan = plan;
        c->values = b->borrows ? b->A.values : b->copied;
        HeddleCall(heddle_plan_info(plan, op, &c->desc));
        PetscCall(PetscInfo(NULL, "Heddle: plan for %lld products: %s, %.3g ms\n", (long long)expected,
                            c->desc.kernel, c->desc.prepare_ms));
    }
    PetscCall(PetscTime(&end));
    c->plan_ms += 1e3 * (end - begin);
    PetscCall(PetscLogEventEnd(event_plan, 0, 0, 0, 0));
    PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode update_values(struct block *b, struct course *c)
{
    PetscLogDouble begin, end;

    PetscFunctionBegin;
    PetscCall(PetscLogEventBegin(event_update, 0, 0, 0, 0));
    PetscCall(PetscTime(&begin));
    HeddleCall(heddle_plan_update_values(c->plan, b->A.val));
    PetscCall(PetscTime(&end));
    PetscCall(PetscLogEventEnd(event_update, 0, 0, 0, 0));
    c->values = b->A.values;
    c->plan_ms += 1e3 * (end - begin);
    c->updates++;
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* Is it time to give the plan the new values? */
static PetscBool values_pay(const struct course *c)
{
    PetscInt64 takes = c->desc.break_even < 0 ? PETSC_MAX_INT : c->desc.break_even;
    return (PetscBool)(c->with_before >= 2 * takes || c->with_values >= takes);
}

/* Decides whether this product is the plan's, and makes the plan fit for it.  A copy of older values is of
 * use only through a plan, which is then made even if it is for nothing else. */
static PetscErrorCode prepare(struct block *b, heddle_op op, struct course *c)
{
    PetscBool outdated = (PetscBool)(!b->borrows && b->copied != b->A.values);

    PetscFunctionBegin;
    c->seen++;
    if (c->next_plan > 0 && c->seen >= c->next_plan) {
        PetscCall(make_plan(b, op, c, b->expected == PETSC_DECIDE ? c->next_plan : b->expected));
        c->next_plan = b->expected == PETSC_DECIDE && c->next_plan < LAST_PLAN ? STEP * c->next_plan : 0;
    }
    if (outdated && !c->plan)
        PetscCall(make_plan(b, op, c, 1));
    PetscCheck(!outdated || c->plan, PETSC_COMM_SELF, PETSC_ERR_MEM, "Heddle: no memory for new values");
    if (c->plan && c->values != b->A.values && (outdated || values_pay(c)))
        PetscCall(update_values(b, c));
    c->with_values++;
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* The product of the matrix that Heddle has. */
static PetscErrorCode multiply(struct block *b, heddle_op op, const PetscScalar *x, PetscBool add,
                               PetscScalar *y)
{
    struct course *c = &b->course[op != HEDDLE_N];
    const PetscScalar one = 1;
    const void *beta = add ? &one : NULL;

    PetscFunctionBegin;
    if (c->plan && c->values == b->A.values)
        HeddleCall(heddle_plan_mv(c->plan, op, NULL, x, beta, y));
    else
        HeddleCall(heddle_mv(b->at->handle, op, NULL, b->matrix, x, beta, y));
    PetscCall(PetscStrncpy(c->kernel, heddle_last_kernel(b->at->handle), sizeof c->kernel));
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the few rows: N goes by way of their results, T and H by way of their entries of x. */
static PetscErrorCode multiply_few(struct block *b, heddle_op op, const PetscScalar *x, PetscBool add,
                                   PetscScalar *y)
{
    PetscFunctionBegin;
    if (op != HEDDLE_N) {
        for (PetscInt i = 0; i < b->few; i++)
            b->part[i] = x[b->row[i]];
        PetscCall(multiply(b, op, b->part, add, y));
        PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(multiply(b, op, x, PETSC_FALSE, b->part));
    if (!add)
        PetscCall(PetscArrayzero(y, b->A.rows));
    for (PetscInt i = 0; i < b->few; i++)
        y[b->row[i]] += b->part[i];
    PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode block_multiply(struct block *b, const struct arrays *A, heddle_op op, const PetscScalar *x,
                              PetscBool add, PetscScalar *y)
{
    struct course *c = &b->course[op != HEDDLE_N];
    PetscLogDouble begin, end;

    PetscFunctionBegin;
    PetscCall(follow(b, A));
    PetscCall(prepare(b, op, c));
    PetscCall(PetscTime(&begin));
    PetscCall((b->few < 0 ? multiply : multiply_few)(b, op, x, add, y));
    PetscCall(PetscTime(&end));
    c->ms += 1e3 * (end - begin);
    c->products++;
    if (b->at->gpu) /* x there, y back, and with add y there as well */
        c->vector_bytes += (double)sizeof(PetscScalar) * (double)(A->rows + A->cols +
                                                                  (!add ? 0
                                                                   : op ? A->cols
                                                                        : A->rows));
    PetscCall(PetscLogFlops(FLOPS * (PetscLogDouble)b->nnz));
    PetscFunctionReturn(PETSC_SUCCESS);
}

/* "N: cpu_csr, 120 products, 3.1 ms; plan 0.4 ms, 12 MB" */
static PetscErrorCode describe_course(const struct course *c, char name, char text[], size_t size)
{
    char plan[160] = "", copies[96] = "";

    PetscFunctionBegin;
    if (c->vector_bytes > 0 && c->plan && c->desc.product_ms > 0)
        PetscCall(PetscSNPrintf(copies, sizeof copies, " with copies of %.3g MB of vectors, %.3g ms without",
                                c->vector_bytes / 1e6, (double)c->products * c->desc.product_ms));
    else if (c->vector_bytes > 0)
        PetscCall(PetscSNPrintf(copies, sizeof copies, " with copies of %.3g MB of vectors",
                                c->vector_bytes / 1e6));
    if (c->plan)
        PetscCall(PetscSNPrintf(plan, sizeof plan,
                                ", %.3g ms and %.3g MB for its plan, new values %lld times", c->plan_ms,
                                (double)c->desc.bytes / 1e6, (long long)c->updates));
    PetscCall(PetscSNPrintf(text, size, "; %c: %s, %lld products in %.3g ms%s%s", name, c->kernel,
                            (long long)c->products, (double)c->ms, copies, plan));
    PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode block_describe(const struct block *b, char text[BLOCK_TEXT])
{
    size_t used;

    PetscFunctionBegin;
    PetscCall(PetscSNPrintf(text, BLOCK_TEXT, "%s, %lld x %lld with %lld nonzeros", b->at->device,
                            (long long)b->A.rows, (long long)b->A.cols, (long long)b->nnz));
    for (int t = 0; t < 2; t++)
        if (b->course[t].products > 0) {
            PetscCall(PetscStrlen(text, &used));
            PetscCall(describe_course(&b->course[t], "NT"[t], text + used, BLOCK_TEXT - used));
        }
    PetscFunctionReturn(PETSC_SUCCESS);
}
