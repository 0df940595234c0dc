/* SPDX-License-Identifier: MIT
 *
 * heddle.h: sparse matrix times vector,  y = alpha op(A) x + beta y,  or times several vectors at once.
 *
 * The way through this header is the way of a matrix:
 *
 *     heddle *h;                                     open a device
 *     heddle_open(&h, "auto");
 *     heddle_matrix *A;                              describe a matrix
 *     heddle_csr(&A, h, &(heddle_csr_desc){ .rows = m, .cols = n, .nnz = nnz,
 *                .row_ptr = row_ptr, .col = col, .val = val });
 *     double alpha = 1, beta = 0;                    multiply
 *     heddle_mv(h, HEDDLE_N, &alpha, A, x, &beta, y);
 *     heddle_matrix_free(A);                         let go
 *     heddle_close(h);
 *
 * Conventions that hold for every function
 *   - Functions that can fail return a heddle_status; HEDDLE_OK is 0.  heddle_last_error() then says in
 *     words what went wrong, where, and what to do.  Heddle never prints anything, nor ends the process.
 *   - A created object goes through the first pointer, which is NULL after a failure.  Free functions take
 *     NULL.
 *   - Sizes are int64_t.  rows and cols are below 2^31, nnz may be anything that memory holds.
 *   - A handle serves one thread at a time.  A call that finds another one under way on the same handle,
 *     or on a plan of it, returns HEDDLE_BAD_ARGUMENT and touches nothing; functions that return no status
 *     must not meet one.  A matrix is immutable and may be shared by many handles and threads.
 *   - Descriptions and options may be zero-initialised: every zero is the documented default.
 *     Name the members that you set (designated initialisers): others may come, between them too.
 *   - Before 1.0 a minor version (0.2, 0.3) may change the ABI: members, numbers of enumerators,
 *     functions.  Programs are recompiled for each minor.  The shared library's soname has it
 *     (libheddle.so.0.2), so that a program meets the minor it was compiled for or does not start;
 *     versions of one minor (0.2.0, 0.2.1) replace each other.
 */
#ifndef HEDDLE_INCLUDED
#define HEDDLE_INCLUDED

#include <stddef.h>
#include <stdint.h>

#define HEDDLE_VERSION_MAJOR 0
#define HEDDLE_VERSION_MINOR 2
#define HEDDLE_VERSION_PATCH 0

#if defined(_WIN32)
#define HEDDLE_API
#else
#define HEDDLE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------- status ------------------------------ */

typedef enum heddle_status {
    HEDDLE_OK = 0,
    HEDDLE_BAD_ARGUMENT,  /* a null, negative, overlapping or contradictory argument; nothing was touched */
    HEDDLE_BAD_MATRIX,    /* an index out of range or offsets that decrease; the text names the position */
    HEDDLE_BAD_FILE,      /* a file that breaks its format; the text names file and line */
    HEDDLE_FILE_ERROR,    /* a file that cannot be opened, read or written */
    HEDDLE_NO_MEMORY,     /* an allocation failed, or a stated memory limit would be exceeded */
    HEDDLE_NO_DEVICE,     /* the device does not exist on this machine */
    HEDDLE_NO_KERNEL,     /* no algorithm for this combination of device, format, operation and wishes */
    HEDDLE_NOT_SUPPORTED, /* a valid request that this build cannot serve (a type, a compression) */
    HEDDLE_NO_WORKSPACE,  /* not ready for this matrix: call heddle_reserve, or set a larger workspace */
    HEDDLE_DEVICE_ERROR,  /* the device failed or was lost; y is undefined, the handle can still be closed */
    HEDDLE_INTERNAL       /* a defect of Heddle's own: please report it with the text */
} heddle_status;

/* The status as its C identifier ("HEDDLE_BAD_MATRIX") and as a short sentence.  Never NULL, for any
 * value. */
HEDDLE_API const char *heddle_status_name(heddle_status status);
HEDDLE_API const char *heddle_status_text(heddle_status status);

/* What went wrong in the last call of this thread that failed: "cant.mtx:1043: column 62452 is outside
 * 1..62451".  One line, in which control characters (of a file's name, say) are written as \x1b.  Valid
 * until the next failing call of the same thread; "" when nothing has failed yet.  Calls that succeed
 * leave it as it is. */
HEDDLE_API const char *heddle_last_error(void);

/* The version of the library that is loaded ("0.2.0"), which may differ from the macros above, and what
 * was built into it, one "name: value" a line (compiler, threads, compression, instruction sets). */
HEDDLE_API const char *heddle_version(void);
HEDDLE_API const char *heddle_build_info(void);

/* -------------------------------------------------------- types ------------------------------- */

typedef enum heddle_type {
    HEDDLE_TYPE_DEFAULT = 0, /* values: HEDDLE_F64; offsets, indices: HEDDLE_I32; vectors: see below */
    HEDDLE_F32 = 1,
    HEDDLE_F64 = 2,
    HEDDLE_F16 = 3,  /* IEEE half precision: of values only, held as 16 bits */
    HEDDLE_BF16 = 4, /* the upper half of an f32: likewise */
    HEDDLE_C32 = 5,  /* complex: two f32, the real part first (C's float _Complex) */
    HEDDLE_C64 = 6,  /* complex: two f64 (C's double _Complex) */
    HEDDLE_I32 = 16,
    HEDDLE_I64 = 17
} heddle_type;

/* The type of x, y, alpha, beta and all sums is `vector`.  By default it is that of the values, and
 * HEDDLE_F32 for HEDDLE_F16 and HEDDLE_BF16, which have no other.  HEDDLE_F32 values may also have
 * HEDDLE_F64 vectors: half the bytes of a matrix in f64, and sums as good as its.  There are no further
 * pairs. */
typedef struct heddle_types {
    heddle_type value;  /* of val: HEDDLE_F64 by default */
    heddle_type offset; /* of row_ptr or col_ptr: HEDDLE_I32 or HEDDLE_I64 */
    heddle_type index;  /* of row and col: HEDDLE_I32, or HEDDLE_I64 (narrowed into a copy at creation) */
    heddle_type vector; /* of x, y, alpha and beta: as above */
} heddle_types;

/* op(A) = A, its transpose, or its conjugate transpose (the same as T for real types; T of a complex matrix
 * conjugates nothing). */
typedef enum heddle_op { HEDDLE_N = 0, HEDDLE_T = 1, HEDDLE_H = 2 } heddle_op;

/* How several vectors lie in memory: one after another, or the first number of each, then the second, ... */
typedef enum heddle_layout { HEDDLE_COLUMN_MAJOR = 0, HEDDLE_ROW_MAJOR = 1 } heddle_layout;

typedef enum heddle_format { HEDDLE_CSR = 0, HEDDLE_CSC = 1, HEDDLE_COO = 2 } heddle_format;

/* Where the arrays of a description lie, or alpha and beta. */
typedef enum heddle_where { HEDDLE_ON_HOST = 0, HEDDLE_ON_DEVICE = 1 } heddle_where;

/* -------------------------------------------------------- devices ----------------------------- */

typedef struct heddle heddle;               /* a handle: a device, its workspace, its threads or stream */
typedef struct heddle_matrix heddle_matrix; /* an immutable matrix */
typedef struct heddle_plan heddle_plan;     /* a prepared product */

typedef struct heddle_device_desc {
    char name[32];         /* what heddle_open takes: "cpu" */
    char description[128]; /* "Neoverse-N1, 2 cores" */
    char arch[32];         /* the instruction set or architecture in use: "neon" */
    int units;             /* cores or multiprocessors */
    int64_t memory;        /* bytes */
    int64_t cache;         /* bytes of the last-level cache; 0 when unknown */
} heddle_device_desc;

/* The devices of this machine, the best one first: heddle_device_count() of them, numbered from 0. */
HEDDLE_API int heddle_device_count(void);
HEDDLE_API heddle_status heddle_device_info(int number, heddle_device_desc *desc);

/* Opens a device.  `device` is
 *   "auto"    (or NULL) the first GPU there is, else the CPU;
 *   "cpu"     or "cpu:threads=4,isa=generic".  threads: 1 to 4096, by default OMP_NUM_THREADS where that
 *             is set, else as many as there are processors for this process; fewer run where the system
 *             grants no more, and where other handles have them.  isa: the widest instruction set that
 *             kernels may use, by default the best of the processor;
 *   "cuda:0"  an NVIDIA GPU, "hip:0" an AMD GPU: through the vendor's driver, which is looked for now, not
 *             when Heddle was built.  The device's primary context is used, so that pointers and streams
 *             of the CUDA and HIP runtimes can be passed in as they are;
 *   "emu"     or "emu:wave=64,seed=7": GPU kernels run on the CPU, slowly, with every rule of a GPU checked.
 * After fork the child may go on with handles of the CPU and the emulator, and their matrices, if no other
 * thread of the parent was in a call just then; drivers of GPUs do not work in a child.
 * Errors: HEDDLE_NO_DEVICE for a device that is not there, HEDDLE_BAD_ARGUMENT for an option that does not
 * parse or that the device does not have. */
HEDDLE_API heddle_status heddle_open(heddle **h, const char *device);
HEDDLE_API void heddle_close(heddle *h); /* after the plans made with it; matrices may outlive it */

/* Waits for all products of this handle and reports what went wrong in them.  On the CPU every product has
 * finished when its call returns, and this always succeeds. */
HEDDLE_API heddle_status heddle_sync(heddle *h);

/* Later products of this handle go to `stream`: a CUstream, cudaStream_t or hipStream_t of the caller;
 * NULL is the default stream.  HEDDLE_BAD_ARGUMENT on a CPU handle.
 *   order    The products of a handle share its workspace: those in the new stream come after those in the
 *            old one, for which the new stream waits and the host does not.  A stream that is being
 *            captured neither waits nor is waited for, because what is captured does not run yet; once it
 *            is no longer captured, its next product comes after the others again.
 *   life     The stream must live until heddle_sync has waited for its products, another stream is set, or
 *            the handle is closed.
 *   graphs   A captured product goes on using the workspace of its handle, or of its plan.  That stays
 *            where it is until the handle is closed, also when a larger matrix makes the handle take a
 *            larger one; a plan's until it is freed or its values are updated.  When such a graph runs
 *            among other products of that handle is up to the caller: not at the same time.  A handle of
 *            its own makes a graph independent. */
HEDDLE_API heddle_status heddle_set_stream(heddle *h, void *stream);

/* Where later products of this handle find alpha and beta: HEDDLE_ON_HOST, as at first, or
 * HEDDLE_ON_DEVICE.  Then they are pointers to device memory, which kernels read when they run: in the order
 * of the stream, behind whatever computes them there, and anew each time that a graph with the product is
 * launched.  A solver whose scalars are sums of its vectors then neither waits for them nor copies them,
 * and can be captured as a whole.  NULL means 1 and 0 as ever, and x and y may lie where they like.
 *   life         The numbers stay as they are until the product has run, and do not lie in y.
 *   promises     All that is promised for alpha = 0 and beta = 0 holds, but for one thing: where the device
 *                finds out that alpha is 0, A and x are read.  Whatever they hold, y = beta y.
 * On a CPU handle the memory of the device is that of the host, and both are the same. */
HEDDLE_API heddle_status heddle_set_scalars(heddle *h, heddle_where where);

/* Products may work in memory of the caller's, so that a framework keeps all of it in its own pool.
 * heddle_workspace_bytes says how much the products of all matrices that were created on this handle, or
 * reserved, need at most (also those of plans that were made while memory of the caller's was set); products
 * run one after another, so that one workspace serves all.  heddle_set_workspace gives that much or more:
 * memory of the device (of the host, on a CPU handle), aligned to 64 bytes.  From then on the handle
 * allocates nothing for products, and new plans hold no workspace of their own.
 *   bytes    0, with NULL, is a workspace of nothing: set that before the first matrix, and the handle never
 *            allocates any; ask when all matrices and plans are there.  HEDDLE_OWN_WORKSPACE, with NULL,
 *            makes the handle look after itself again, as at first.
 *   growth   Another matrix may need more: it is created all the same, but its products, and heddle_reserve,
 *            return HEDDLE_NO_WORKSPACE with the number of bytes until as much is set.  Others go on.
 *   life     The memory is the handle's, and must not be written by others, until another workspace is set
 *            and all products with this one have run.  Captured products go on using the one that they were
 *            captured with.  It is set to zero in the order of the stream, which must not be captured then.
 *   vectors  must lie on the device: the handle has no memory to stage those of the host. */
enum { HEDDLE_OWN_WORKSPACE = -1 };
HEDDLE_API heddle_status heddle_workspace_bytes(heddle *h, int64_t *bytes);
HEDDLE_API heddle_status heddle_set_workspace(heddle *h, void *workspace, int64_t bytes);

/* Checks A (as heddle_check does) before every product when `on` is not 0.  For debugging: it costs more
 * than the product itself.  Also switched on for a whole process by the environment variable
 * HEDDLE_DEBUG=1. */
HEDDLE_API heddle_status heddle_set_debug(heddle *h, int on);

/* With `on` not 0, heddle_mv gives bitwise the same result every run on the same device and options, as a
 * deterministic plan does, but with nothing prepared.  It costs time where Heddle's own choice adds in the
 * order of arrival, and then the handle holds up to 24 bytes for each entry of y (complex: 48); this is so
 * on GPUs, mostly for the transposed product.  Call it before matrices are created, or heddle_reserve them
 * again.
 * On a CPU products are repeatable in any case. */
HEDDLE_API heddle_status heddle_set_deterministic(heddle *h, int on);

/* The kernel that the last product of this handle ran ("cpu_csr"), "" before the first.  Never a silent
 * fallback.  Valid until the next product, or, where that was a plan's, until the plan is freed: "" then. */
HEDDLE_API const char *heddle_last_kernel(const heddle *h);

/* -------------------------------------------------------- matrices ---------------------------- */

/* What holds for the arrays of every description:
 *   borrowed     with copy = 0: they must stay valid while the matrix lives and until its products have
 *                run, offsets and indices unchanged.  Borrowed values may change between products:
 *                heddle_mv reads them anew, and plans learn of it by heddle_plan_update_values.  Values
 *                that were copied are changed by heddle_update_values.
 *   copied       with copy = 1, in parallel, each thread's part near that thread.  What cannot be borrowed
 *                is copied in any case, and heddle_matrix_info says so: 64-bit indices, base 1, COO that
 *                is not sorted by rows.
 *   on a GPU     arrays that lie on the host (where = HEDDLE_ON_HOST) are copied to the device; those that
 *                lie on the device (HEDDLE_ON_DEVICE) are borrowed under the same rules.
 *   pointers     may be NULL where the length is 0.  Each is aligned to its elements, as C has them;
 *                nothing beyond that is asked for.
 *   columns      within a row may be unsorted and may repeat: repeats add up in the product.
 *   checks       Only sizes and pointers are looked at here, not the entries: heddle_check does that.
 * On a CPU creation costs nothing.  On a GPU it looks at the offsets, and at a sample of the columns, once
 * (CSR and CSC; heddle_matrix_info says how long that took and what it holds): this takes about the time
 * of a product, and memory of less than 1 % of the matrix and 64 KB.  Offsets that do not ascend from 0 to
 * nnz are found then, and products return HEDDLE_BAD_MATRIX. */
typedef struct heddle_csr_desc {
    int64_t rows, cols, nnz;
    const void *row_ptr; /* size rows+1: row i is [row_ptr[i], row_ptr[i+1]) */
    const void *col;     /* size nnz, base <= col[k] < cols + base */
    const void *val;     /* size nnz */
    heddle_types types;
    int base; /* 0 or 1: the number of the first row and column, and row_ptr[0] */
    int copy;
    heddle_where where;
} heddle_csr_desc;

typedef struct heddle_csc_desc {
    int64_t rows, cols, nnz;
    const void *col_ptr; /* size cols+1: column j is [col_ptr[j], col_ptr[j+1]) */
    const void *row;     /* size nnz, base <= row[k] < rows + base */
    const void *val;     /* size nnz */
    heddle_types types;
    int base;
    int copy;
    heddle_where where;
} heddle_csc_desc;

typedef struct heddle_coo_desc {
    int64_t rows, cols, nnz;
    const void *row;    /* size nnz, base <= row[k] < rows + base; any order */
    const void *col;    /* size nnz, base <= col[k] < cols + base */
    const void *val;    /* size nnz */
    heddle_types types; /* offset is not looked at */
    int base;
    int copy;
    heddle_where where;
} heddle_coo_desc;

/* Create a matrix on a handle, which reserves the workspace that heddle_mv will need for it there.
 * Errors: HEDDLE_BAD_ARGUMENT (a null or misaligned pointer, negative or too large size, unknown type,
 * row_ptr[rows] is not nnz), HEDDLE_BAD_MATRIX (COO that must be sorted has an index out of range),
 * HEDDLE_NO_MEMORY. */
HEDDLE_API heddle_status heddle_csr(heddle_matrix **A, heddle *h, const heddle_csr_desc *desc);
HEDDLE_API heddle_status heddle_csc(heddle_matrix **A, heddle *h, const heddle_csc_desc *desc);
HEDDLE_API heddle_status heddle_coo(heddle_matrix **A, heddle *h, const heddle_coo_desc *desc);
HEDDLE_API void heddle_matrix_free(heddle_matrix *A); /* after the plans made for it */

/* Gives A other values, where Heddle holds a copy of them (`copied` of heddle_matrix_info): nnz numbers in
 * the order of the arrays that heddle_matrix_info shows, that of the description unless COO was sorted.
 * `val` lies on the host or on A's device, and need not stay.  Products that were started before on this
 * handle use the old values; nobody else may use A meanwhile.  Plans made for A learn of new values by
 * heddle_plan_update_values.
 * Errors: HEDDLE_BAD_ARGUMENT: a null or misaligned pointer, or one to memory that neither the host nor the
 * device has; a matrix of another device; values that are borrowed, which the caller changes in place, or
 * those of a mapped file. */
HEDDLE_API heddle_status heddle_update_values(heddle *h, heddle_matrix *A, const void *val);

/* Makes a handle ready for products with A.  The one that A was created on is so from the beginning. */
HEDDLE_API heddle_status heddle_reserve(heddle *h, const heddle_matrix *A);

/* Makes B, which is A in the format `format`: a new matrix that shares nothing with A.  Entries of a row (or
 * column) stay in the order in which A stores them, and repeats stay. */
HEDDLE_API heddle_status heddle_convert(heddle_matrix **B, heddle *h, const heddle_matrix *A,
                                        heddle_format format);

typedef struct heddle_matrix_desc {
    int64_t rows, cols, nnz;
    heddle_format format;
    heddle_types types;
    int copied;         /* 1: Heddle owns the arrays; 0: they are the caller's, or a mapped file's */
    int sorted_now;     /* 1: COO input was not sorted by rows and was sorted at creation */
    int64_t bytes;      /* of the arrays */
    int64_t look_bytes; /* on a GPU: what was learned of the pattern at creation, and how long that took */
    double look_ms;
    /* The arrays as Heddle holds them: base 0, valid while the matrix lives, not to be written.
     * CSR: ptr, index = col.  CSC: ptr, index = row.  COO: ptr = NULL, index = col, row. */
    const void *ptr;
    const int32_t *index;
    const int32_t *row;
    const void *val;
} heddle_matrix_desc;

HEDDLE_API heddle_status heddle_matrix_info(const heddle_matrix *A, heddle_matrix_desc *desc);

/* Checks every offset and index: HEDDLE_OK, or HEDDLE_BAD_MATRIX with the first bad position in the text. */
HEDDLE_API heddle_status heddle_check(heddle *h, const heddle_matrix *A);

/* The shape of one dimension: how many entries its rows (or columns) have. */
typedef struct heddle_lengths {
    int64_t shortest, longest, empty; /* entries; entries; how many have none */
    double mean, deviation;           /* population standard deviation */
} heddle_lengths;

typedef struct heddle_stats {
    int64_t rows, cols, nnz;
    heddle_lengths row, col;
    int64_t lower_bandwidth, upper_bandwidth; /* largest i-j and j-i of an entry, at least 0 */
    int64_t diagonal;                         /* rows that have an entry on the diagonal */
    int64_t repeats;                          /* entries whose position occurred before in the matrix */
    int sorted;                               /* 1: columns ascend strictly within every row */
    double pattern_symmetry; /* share of off-diagonal entries (i,j) with (j,i) stored too; 0 if not square */
    double numeric_symmetry; /* share for which the two values are equal as well */
    double numeric_skew;     /* share for which one is minus the other */
    double hermitian_symmetry; /* share for which one is the other's conjugate; real: numeric_symmetry */
    int64_t distinct_values;   /* bitwise different values, counted up to 65,537 */
} heddle_stats;

/* Costs time and memory of the order of a transposition.  Errors: HEDDLE_BAD_MATRIX, HEDDLE_NO_MEMORY. */
HEDDLE_API heddle_status heddle_statistics(heddle *h, const heddle_matrix *A, heddle_stats *stats);

/* Bytes that A takes in a storage format of a kernel ("csr", "coo", "ell", "sell", ...: heddle_kernel_info
 * names them), known without building it; padding is included. */
HEDDLE_API heddle_status heddle_format_bytes(heddle *h, const heddle_matrix *A, const char *format,
                                             int64_t *bytes);

/* -------------------------------------------------------- product ----------------------------- */

/* y = alpha op(A) x + beta y, at once: no set-up, no allocation, no waiting.
 *   alpha, beta  pointers to one number of A's vector type (heddle_types), on the host unless
 *                heddle_set_scalars says otherwise; NULL means alpha = 1, beta = 0.
 *   x, y         of A's vector type; x has cols entries and y rows entries for N, the reverse for T and H.
 *                On a GPU handle either may lie on the host or on the device.  With both on the device the
 *                call only launches, so that it can be captured in a graph (on a stream of the caller's,
 *                and not while debugging is on, whose check waits); otherwise it copies, and waits for the
 *                result.
 * What is promised:
 *   beta = 0     y is written and never read: NaN in y does not survive.
 *   alpha = 0    y = beta y; neither A nor x is read, or (scalars on the device) whatever they hold.
 *   NaN and Inf  in A or x follow IEEE arithmetic in exactly the rows that touch them; in complex numbers
 *                they may spread from one part to the other.
 *   sizes of 0   are valid; x or y may be NULL where its length is 0.
 *   overlap      of x and y is rejected.
 *   on error     y is as it was (found before the launch), or undefined (HEDDLE_DEVICE_ERROR).
 * The result is bitwise repeatable on the CPU for the same handle options; on a GPU
 * heddle_set_deterministic or a deterministic plan makes it so. */
HEDDLE_API heddle_status heddle_mv(heddle *h, heddle_op op, const void *alpha, const heddle_matrix *A,
                                   const void *x, const void *beta, void *y);

/* Y = alpha op(A) X + beta Y for any number of vectors: the columns of X and of Y.  Where values and
 * vectors are both HEDDLE_F32 or both HEDDLE_F64, A is read once for many of them, so that this takes far
 * less time than a heddle_mv for each; with other types one vector is multiplied after another.
 *   vectors      how many, from 0 on; 1 is heddle_mv, to the last bit.
 *   X, Y         entry j of vector v is X[j + v * ldx] (HEDDLE_COLUMN_MAJOR) or X[j * ldx + v]
 *                (HEDDLE_ROW_MAJOR), with ldx at least the length of a column, or of a row; 0 means just
 *                that.  The same holds for Y and ldy.  Row-major is the faster layout of the two.
 *   batches      of vectors that lie at equal distances (strided, interleaved) are a case of it.
 * All that heddle_mv promises holds, for Y in the place of y, and
 *   between      columns, or rows, where ldx or ldy is larger than they are long, nothing is read or written:
 *                X and Y may be some columns each of one larger array.
 *   workspace    the first product with more vectors than the handle has met may allocate, and wait; none
 *                does, nor can fail for it, after heddle_reserve_mm.  HEDDLE_NO_WORKSPACE: the stream is
 *                being captured, and there is something to allocate. */
HEDDLE_API heddle_status heddle_mm(heddle *h, heddle_op op, const void *alpha, const heddle_matrix *A,
                                   int64_t vectors, heddle_layout layout, const void *X, int64_t ldx,
                                   const void *beta, void *Y, int64_t ldy);

/* Makes a handle ready for heddle_mm with A and up to so many vectors, of any operation and layout. */
HEDDLE_API heddle_status heddle_reserve_mm(heddle *h, const heddle_matrix *A, int64_t vectors);

/* -------------------------------------------------------- plans ------------------------------- */

enum { HEDDLE_PLAN_N = 1, HEDDLE_PLAN_T = 2 }; /* T stands for H too */

/* Will A still be in the cache when its next product comes?  Where other work lies between them, or A is
 * larger than the cache, it will not. */
typedef enum heddle_cache {
    HEDDLE_CACHE_UNKNOWN = 0, /* as often as not: the mean of both decides */
    HEDDLE_CACHE_COLD = 1,    /* no */
    HEDDLE_CACHE_WARM = 2     /* yes, as far as it fits */
} heddle_cache;

typedef struct heddle_plan_options {
    int ops;                   /* HEDDLE_PLAN_N | HEDDLE_PLAN_T: what the plan must serve; 0 means N */
    int64_t expected_products; /* per operation: how much preparation may cost follows; 0 means 1000 */
    heddle_cache cache;        /* on a GPU: which products are measured */
    int deterministic; /* 1: bitwise the same result every run on the same device and options, or an error */
    int values_fixed;  /* 1: values never change, and the plan may rely on that: rows may share them, and a
                       * narrower type that has each of them to the last bit saves bytes.  It takes no new
                       * ones */
    int64_t memory_limit; /* bytes that the plan may hold beyond A; 0 means no limit, -1 means none at all */
    const char *kernel;   /* NULL: Heddle chooses; else a name with options: "cpu_sell:slice=8" */
} heddle_plan_options;

/* Chooses a kernel for each operation.  Those that apply are ranked by when all products should end; the
 * best are prepared and measured, one after the other, as long as a try costs at most half of what it may
 * gain within expected_products; and the one with which preparation and products together end earliest is
 * measured once more, in turns with heddle_mv.  If it is ahead by more than the spread of the times it is
 * kept, else the plan is heddle_mv's kernel: a plan never loses.  The more products are expected, the more
 * kernels are tried; below 8 (T: 16) none is measured.  A kernel that memory does not suffice for is passed
 * over.  opt may be NULL.  The plan refers to h and A.
 * Errors: HEDDLE_NO_KERNEL (nothing fits the wishes; the text says what came closest), HEDDLE_NO_MEMORY (it
 * suffices for no kernel), HEDDLE_BAD_MATRIX (a preparation met a bad index). */
HEDDLE_API heddle_status heddle_plan_create(heddle_plan **p, heddle *h, const heddle_matrix *A,
                                            const heddle_plan_options *opt);
HEDDLE_API void heddle_plan_free(heddle_plan *p);

/* As heddle_mv, with the plan's kernel.  HEDDLE_BAD_ARGUMENT for an operation that the plan was not made
 * for. */
HEDDLE_API heddle_status heddle_plan_mv(heddle_plan *p, heddle_op op, const void *alpha, const void *x,
                                        const void *beta, void *y);

/* As heddle_mm, with what the plan has: its arrays where a kernel for several vectors takes them, else A's
 * (heddle_mm), else its kernel for one vector after another. */
HEDDLE_API heddle_status heddle_plan_mm(heddle_plan *p, heddle_op op, const void *alpha, int64_t vectors,
                                        heddle_layout layout, const void *X, int64_t ldx, const void *beta,
                                        void *Y, int64_t ldy);

/* New values under the same pattern: later products of the plan multiply with `val` instead of A's values.
 * The plan, its kernels and its workspace stay as they are; what it has converted (another format, a
 * transpose) is filled anew, in the memory that it holds.  That takes about prepare_ms again, and memory
 * for a while where a transpose is involved.
 *   val          nnz numbers of A's value type, in the order of the arrays that heddle_matrix_info shows:
 *                that of the description, unless COO was sorted.  Borrowed like A's own arrays: it stays
 *                valid and unchanged until the next update or the end of the plan.  It may be A's own
 *                array again, after its numbers have changed in place.  On a GPU handle it may lie on the
 *                host or on the device; from the host it is copied, need not stay, and takes nnz numbers
 *                more of the device's memory as long as products read them there (heddle_plan_info counts
 *                them).
 *   order        products that were started before use the old values, later ones the new: it
 *                works in the order of the handle's stream, but may wait for the device and so cannot be
 *                captured in a graph.
 * A itself does not change, nor do other plans for it and heddle_mv.
 * Errors: HEDDLE_BAD_ARGUMENT (a null or misaligned pointer, or one to memory that neither the host nor
 * the device has; a plan with values_fixed), found before anything is touched; HEDDLE_NO_MEMORY (also:
 * host values would exceed the plan's memory_limit) and HEDDLE_DEVICE_ERROR, after which the values are
 * undefined until an update succeeds. */
HEDDLE_API heddle_status heddle_plan_update_values(heddle_plan *p, const void *val);

typedef struct heddle_plan_desc {
    char kernel[64];   /* with its options: "cpu_sell:slice=8,window=512" */
    char format[16];   /* what it stores: "csr" means the matrix itself, or its transpose */
    heddle_type value; /* of the values that it reads: A's, or a narrower one (values_fixed) */
    int transposed;    /* 1: the plan holds the transpose of A in that format */
    int deterministic;
    int64_t bytes;       /* that the plan holds beyond A, for this operation */
    double prepare_ms;   /* conversion and preparation; 0 when there is none */
    double product_ms;   /* one product, measured during preparation; 0 when not measured.  On a GPU, unless
                          * options.cache says what the caller knows, the mean of one that finds A in the
                          * cache and one that does not */
    double immediate_ms; /* one heddle_mv, measured beside it */
    double plan_ms;      /* all that the choice took: also what was made, measured and not kept, and heddle_mv
                          * beside it */
    int64_t break_even;  /* products after which the preparation has paid; 0: nothing to pay; -1: never */
} heddle_plan_desc;

HEDDLE_API heddle_status heddle_plan_info(const heddle_plan *p, heddle_op op, heddle_plan_desc *desc);

/* -------------------------------------------------------- kernels ----------------------------- */

typedef struct heddle_kernel_desc {
    const char *name;    /* "cpu_csr" */
    const char *format;  /* "csr" */
    const char *ops;     /* "N", "T" (and H) or "NT", relative to the storage: CSC is CSR of the transpose */
    const char *device;  /* "cpu" */
    const char *source;  /* where the algorithm comes from */
    const char *options; /* "slice=8 window=512": names and defaults, "" when there are none */
    const char *types;   /* of values: "f32 f64"; "f32v64" stands for f32 values with f64 vectors */
    int repeatable;      /* 1: bitwise the same result every run */
} heddle_kernel_desc;

HEDDLE_API int heddle_kernel_count(void);
HEDDLE_API heddle_status heddle_kernel_info(int number, heddle_kernel_desc *desc);

/* -------------------------------------------------------- files and families ------------------ */

typedef struct heddle_read_options {
    heddle_type value;  /* 0: as stored (.hdl), else HEDDLE_F64, of complex files HEDDLE_C64 */
    heddle_type vector; /* of x and y, as in heddle_types */
    int trust;          /* 1: the contents of a .hdl file are not checked at first use */
    int copy;  /* 1: a .hdl file is copied into memory and may change or vanish afterwards; it may also be a
                * pipe */
    int large; /* 1: what takes more than 1 GB and more than 100 times the file's size is read, too */
} heddle_read_options;

/* Reads a matrix: Matrix Market (.mtx), Rutherford-Boeing and Harwell-Boeing (.rb, .rua, .rsa, ...),
 * PETSc's binary matrices (.petsc; 32- or 64-bit indices, single or double precision; what stands behind
 * the matrix is not read), each also with .gz or .xz; a SuiteSparse archive (.tar.gz, .tar); Heddle's own
 * .hdl, which is mapped, not read.  The contents decide where the name does not.  Symmetric, skew and
 * hermitian storage is expanded, every index is checked.  opt may be NULL.
 *   complex      files of the first two kinds and .hdl; they are not read as a real type, real ones as
 *                complex.
 *   .hdl         the file, like a borrowed array, must stay and must not change while the matrix lives: a
 *                process that reads a mapped file which someone cuts short ends by a signal.  (Heddle's
 *                writers never change a file in place: they put a new one under its name.)  If you cannot
 *                promise that, set copy.
 *   others       are read once; a file that changes meanwhile gives an error or other contents.
 *   small files  that describe something huge are refused before anything is allocated, unless large is
 *                set: sizes of 2^31 without entries, compressed zeros, a pipe that never ends.
 * Errors: HEDDLE_FILE_ERROR, HEDDLE_BAD_FILE (file and line in the text), HEDDLE_NOT_SUPPORTED,
 * HEDDLE_NO_MEMORY. */
HEDDLE_API heddle_status heddle_read(heddle_matrix **A, heddle *h, const char *path,
                                     const heddle_read_options *opt);

/* Writes a matrix; the ending of the path chooses the format: .mtx, .mtx.gz, .rb, .rb.gz, .hdl, .petsc and
 * .petsc64 (for PETSc with 32- and 64-bit indices, real, double precision).  The file appears under its name
 * only when it is complete, with the mode of the file that it replaces; a symbolic link stays one and what
 * it leads to is replaced.  A device or a pipe is written in place.  Until then PATH.NUMBER.part beside it
 * is the only trace. */
HEDDLE_API heddle_status heddle_write(heddle *h, const heddle_matrix *A, const char *path);

/* Vectors: Matrix Market arrays (one column) or coordinate vectors, and plain text (numbers, white space
 * between them; a complex number is two).  heddle_read_vector allocates *x for *n numbers of `type`, which
 * is one that vectors have: heddle_free gives it back.  A file that is small beside what it describes is
 * refused as heddle_read does it; unpacked, and with every number written out, any vector can be read. */
HEDDLE_API heddle_status heddle_read_vector(void **x, int64_t *n, heddle_type type, const char *path);
HEDDLE_API heddle_status heddle_write_vector(const void *x, int64_t n, heddle_type type, const char *path);
HEDDLE_API void heddle_free(void *x);

/* Makes a matrix of a family: "grid3d:n=100,dof=3".  The same spec gives the same matrix on every machine
 * and with any number of threads; `heddle gen --list` shows families and parameters.  `value` is the type
 * of its values; those of a complex type are real numbers, unless the spec has values=complex.
 * Errors: HEDDLE_BAD_ARGUMENT with the reason. */
HEDDLE_API heddle_status heddle_generate(heddle_matrix **A, heddle *h, const char *family, heddle_type value);

#ifdef __cplusplus
}
#endif

#endif
