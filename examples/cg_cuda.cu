/* SPDX-License-Identifier: MIT
 *
 * cg_cuda: conjugate gradients on a CUDA stream, a step of which is one graph.
 *
 *     cg_cuda [DEVICE [MATRIX [MOST_STEPS]]]        cg_cuda cuda:0 gen:grid3d:n=200
 *
 * The same method as cg.c, with everything on the GPU.  On vectors of a hundred thousand numbers a kernel takes microseconds,
 * about as long as its launch, so what costs time is the host: it must neither wait within a step nor launch six kernels one by
 * one.
 *
 *   - Vectors and scalars live on the device.  Heddle's alpha and beta are numbers of the host, but the product of CG needs none
 *     (q = A p); the step lengths of CG are computed and read by this file's own kernels and never leave the device.
 *   - A product whose vectors lie on the device only launches.  So a whole step, Heddle's product and five kernels, is recorded
 *     once (stream capture) and then replayed with one call a step.
 *   - The host looks at the residual every CHECK_EVERY steps only.  The steps that are done too much do no harm: they go on from
 *     a small residual, and a residual of 0 gives step lengths of 0.
 *
 * Sums are added up in a fixed order.  With a plan that is deterministic, too, the solution is bitwise the same every time. */
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <heddle.h>

#define TOLERANCE 1e-10
#define CHECK_EVERY 20
#define BLOCK 256
#define PARTS 256 /* blocks of a kernel that adds up: each leaves one part of the sum */

static void must(heddle_status status)
{
    if (status == HEDDLE_OK)
        return;
    fprintf(stderr, "%s: %s\n", heddle_status_name(status), heddle_last_error());
    exit(2);
}

static void must(cudaError_t status)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
    exit(2);
}

/* -------------------------------------------------------- kernels ----------------------------- */

/* The scalars of the method, on the device.  Only the kernels of one thread block write them. */
struct scalars {
    double rr;    /* r . r */
    double alpha; /* how far along p */
    double beta;  /* how much of p to keep */
};

/* The sum of v over the threads of a block, for the first thread; the others get what they added up on the way. */
__device__ double block_sum(double v)
{
    __shared__ double sum[BLOCK];
    sum[threadIdx.x] = v;
    for (int half = BLOCK / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sum[threadIdx.x] += sum[threadIdx.x + half];
    }
    return sum[threadIdx.x];
}

__device__ int64_t first_index() { return (int64_t)blockIdx.x * BLOCK + threadIdx.x; }
__device__ int64_t next_index() { return (int64_t)gridDim.x * BLOCK; }

/* part = parts of a . b */
__global__ void dot_parts(int64_t n, const double *a, const double *b, double *part)
{
    double sum = 0;
    for (int64_t i = first_index(); i < n; i += next_index())
        sum += a[i] * b[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

/* x = x + alpha p,  r = r - alpha q,  part = parts of the new r . r */
__global__ void advance(int64_t n, const scalars *s, const double *p, const double *q, double *x, double *r, double *part)
{
    double alpha = s->alpha, sum = 0;
    for (int64_t i = first_index(); i < n; i += next_index()) {
        x[i] += alpha * p[i];
        double rest = r[i] - alpha * q[i];
        r[i] = rest;
        sum += rest * rest;
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

/* p = r + beta p */
__global__ void turn(int64_t n, const scalars *s, const double *r, double *p)
{
    double beta = s->beta;
    for (int64_t i = first_index(); i < n; i += next_index())
        p[i] = r[i] + beta * p[i];
}

/* One block each: the parts become a sum, and that a scalar.  PARTS = BLOCK, a part a thread. */
static_assert(PARTS == BLOCK, "a thread takes a part");

__global__ void begin(scalars *s, const double *part)
{
    double rr = block_sum(part[threadIdx.x]);
    if (threadIdx.x == 0)
        s->rr = rr;
}

__global__ void choose_alpha(scalars *s, const double *part)
{
    double pq = block_sum(part[threadIdx.x]);
    if (threadIdx.x == 0)
        s->alpha = pq > 0 ? s->rr / pq : 0; /* 0 once nothing is left to do */
}

__global__ void choose_beta(scalars *s, const double *part)
{
    double rr = block_sum(part[threadIdx.x]);
    if (threadIdx.x == 0) {
        s->beta = s->rr > 0 ? rr / s->rr : 0;
        s->rr = rr;
    }
}

/* -------------------------------------------------------- the solver -------------------------- */

struct solver {
    heddle_plan *A;
    cudaStream_t stream;
    int64_t n;
    double *x, *r, *p, *q; /* size n, on the device */
    double *part;          /* size PARTS, on the device */
    scalars *s;            /* on the device */
};

/* A step, launched on the stream: six launches, no wait, no allocation, no copy, and so fit to be captured. */
static void step(const solver *c)
{
    must(heddle_plan_mv(c->A, HEDDLE_N, NULL, c->p, NULL, c->q)); /* q = A p */
    dot_parts<<<PARTS, BLOCK, 0, c->stream>>>(c->n, c->p, c->q, c->part);
    choose_alpha<<<1, BLOCK, 0, c->stream>>>(c->s, c->part);
    advance<<<PARTS, BLOCK, 0, c->stream>>>(c->n, c->s, c->p, c->q, c->x, c->r, c->part);
    choose_beta<<<1, BLOCK, 0, c->stream>>>(c->s, c->part);
    turn<<<PARTS, BLOCK, 0, c->stream>>>(c->n, c->s, c->r, c->p);
    must(cudaGetLastError());
}

static cudaGraphExec_t record_step(const solver *c)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    must(cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal));
    step(c); /* nothing runs yet: launches become nodes of the graph */
    must(cudaStreamEndCapture(c->stream, &graph));
    must(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    must(cudaGraphDestroy(graph));
    return exec;
}

static double residual_squared(const solver *c)
{
    double rr;
    must(cudaMemcpyAsync(&rr, &c->s->rr, sizeof rr, cudaMemcpyDeviceToHost, c->stream));
    must(cudaStreamSynchronize(c->stream));
    return rr;
}

/* Solves A x = b from x = 0 with b on the device; returns the steps, at most `most` and CHECK_EVERY - 1 more. */
static int solve(solver *c, const double *b, int most)
{
    size_t bytes = (size_t)c->n * sizeof(double);
    must(cudaMemsetAsync(c->x, 0, bytes, c->stream));
    must(cudaMemcpyAsync(c->r, b, bytes, cudaMemcpyDeviceToDevice, c->stream));
    must(cudaMemcpyAsync(c->p, b, bytes, cudaMemcpyDeviceToDevice, c->stream));
    dot_parts<<<PARTS, BLOCK, 0, c->stream>>>(c->n, c->r, c->r, c->part);
    begin<<<1, BLOCK, 0, c->stream>>>(c->s, c->part);
    must(cudaGetLastError());
    double rr = residual_squared(c), enough = TOLERANCE * TOLERANCE * rr;
    cudaGraphExec_t graph = record_step(c);
    int steps = 0;
    while (steps < most && rr > enough) {
        for (int k = 0; k < CHECK_EVERY; k++, steps++)
            must(cudaGraphLaunch(graph, c->stream));
        rr = residual_squared(c);
    }
    must(cudaGraphExecDestroy(graph));
    return steps;
}

/* -------------------------------------------------------- all of it --------------------------- */

static double *device_vector(int64_t n)
{
    double *v;
    must(cudaMalloc((void **)&v, (n > 0 ? (size_t)n : 1) * sizeof *v));
    return v;
}

static double norm(int64_t n, const double *on_device)
{
    double *here = (double *)malloc((n > 0 ? (size_t)n : 1) * sizeof *here), sum = 0;
    if (!here)
        exit(2);
    must(cudaMemcpy(here, on_device, (size_t)n * sizeof *here, cudaMemcpyDeviceToHost));
    for (int64_t i = 0; i < n; i++)
        sum += here[i] * here[i];
    free(here);
    return sqrt(sum);
}

/* The least time of five solutions in ms, and their steps. */
static float timed(solver *c, const double *b, int most, int *steps)
{
    cudaEvent_t begun, ended;
    float least = 0, ms;
    must(cudaEventCreate(&begun));
    must(cudaEventCreate(&ended));
    for (int k = 0; k < 5; k++) {
        must(cudaEventRecord(begun, c->stream));
        *steps = solve(c, b, most);
        must(cudaEventRecord(ended, c->stream));
        must(cudaEventSynchronize(ended));
        must(cudaEventElapsedTime(&ms, begun, ended));
        least = k == 0 || ms < least ? ms : least;
    }
    must(cudaEventDestroy(begun));
    must(cudaEventDestroy(ended));
    return least;
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "cuda:0", *source = argc > 2 ? argv[2] : "gen:grid3d:n=100";
    int most = argc > 3 ? atoi(argv[3]) : 2000;
    heddle *h;
    must(heddle_open(&h, device));
    must(cudaSetDevice(strncmp(device, "cuda:", 5) == 0 ? atoi(device + 5) : 0)); /* its context is Heddle's too */
    heddle_matrix *A; /* made here, copied to the device */
    if (strncmp(source, "gen:", 4) == 0)
        must(heddle_generate(&A, h, source + 4, HEDDLE_F64));
    else
        must(heddle_read(&A, h, source, NULL));
    heddle_matrix_desc size;
    must(heddle_matrix_info(A, &size));
    if (size.rows != size.cols || size.types.value != HEDDLE_F64) {
        fprintf(stderr, "%s: conjugate gradients need a square matrix of f64\n", source);
        return 2;
    }

    solver c = {};
    c.n = size.rows;
    must(cudaStreamCreateWithFlags(&c.stream, cudaStreamNonBlocking)); /* a capture needs a stream of its own */
    must(heddle_set_stream(h, c.stream));
    heddle_plan_options wish = {};
    wish.expected_products = 1000;
    must(heddle_plan_create(&c.A, h, A, &wish)); /* allocates and loads now, so that the product needs not */
    double *vectors[] = {device_vector(c.n), device_vector(c.n), device_vector(c.n), device_vector(c.n), device_vector(c.n)};
    double *b = vectors[4];
    c.x = vectors[0], c.r = vectors[1], c.p = vectors[2], c.q = vectors[3];
    c.part = device_vector(PARTS);
    must(cudaMalloc((void **)&c.s, sizeof *c.s));

    double *ones = (double *)malloc((c.n > 0 ? (size_t)c.n : 1) * sizeof *ones);
    if (!ones)
        return 2;
    for (int64_t i = 0; i < c.n; i++)
        ones[i] = 1;
    must(cudaMemcpy(c.p, ones, (size_t)c.n * sizeof *ones, cudaMemcpyHostToDevice));
    must(heddle_plan_mv(c.A, HEDDLE_N, NULL, c.p, NULL, b)); /* b = A ones */
    must(heddle_sync(h));
    int steps;
    float ms = timed(&c, b, most, &steps);

    double minus = -1, plus = 1;
    must(cudaMemcpy(c.r, b, (size_t)c.n * sizeof *b, cudaMemcpyDeviceToDevice));
    must(heddle_plan_mv(c.A, HEDDLE_N, &minus, c.x, &plus, c.r)); /* r = b - A x */
    must(heddle_sync(h));
    double residual = norm(c.n, c.r) / norm(c.n, b);
    printf("%lld unknowns, %lld entries, product by %s\nsteps %d\nresidual %.2e\nmicroseconds a step %.2f\n", (long long)c.n,
           (long long)size.nnz, heddle_last_kernel(h), steps, residual, 1e3 * ms / (steps > 0 ? steps : 1));

    free(ones);
    heddle_plan_free(c.A);
    heddle_matrix_free(A);
    must(heddle_set_stream(h, NULL)); /* the handle may no longer use what is destroyed now */
    heddle_close(h);
    for (double *v : vectors)
        must(cudaFree(v));
    must(cudaFree(c.part));
    must(cudaFree(c.s));
    must(cudaStreamDestroy(c.stream));
    return !(residual < 10 * TOLERANCE);
}
