/* SPDX-License-Identifier: MIT
 *
 * cg_graph: conjugate gradients on a CUDA stream, fifty steps of which are one graph.
 *
 *     cg_graph [DEVICE [MATRIX [MOST_STEPS]]]        cg_graph cuda:0 gen:grid3d:n=200
 *
 * The same method as cg.c, with everything on the GPU.  On vectors of a hundred thousand numbers a kernel
 * takes microseconds, about as long as its launch, so what costs time is the host: it must neither wait
 * within a step nor launch five kernels one by one.
 *
 *   - Vectors and scalars live on the device, Heddle's beta too (heddle_set_scalars).  That lets the product
 *     do more of a step: with p = r + beta p also A p = A r + beta A p, and so q = A p is
 *     heddle_plan_mv(A, ..., r, beta, q), which need not wait for p.
 *   - A product whose vectors lie on the device only launches.  So STEPS whole steps, Heddle's product and
 *     four kernels each, are recorded once (stream capture) and then replayed with one call.  Every product
 *     reads the beta of its own step.
 *   - The host looks at the residual behind each graph only.  The steps that are done too much do no harm:
 *     they go on from a small residual, and a residual of 0 gives step lengths of 0.
 *
 * Sums are added up in a fixed order.  With a plan that is deterministic, too, the solution is bitwise the
 * same every time.  bench/cg_peers.cu is the same with cuSPARSE and cuBLAS. */
#include <cuda_runtime.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <heddle.h>

#define TOLERANCE 1e-10
#define STEPS 50 /* in a graph */
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

/* The sum of v over the threads of a block, for the first thread; the others get what they added up on the
 * way. */
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

__device__ int64_t first_index()
{
    return (int64_t)blockIdx.x * BLOCK + threadIdx.x;
}
__device__ int64_t next_index()
{
    return (int64_t)gridDim.x * BLOCK;
}

/* part = parts of r . r */
__global__ void square_parts(int64_t n, const double *r, double *part)
{
    double sum = 0;
    for (int64_t i = first_index(); i < n; i += next_index())
        sum += r[i] * r[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

/* p = r + beta p,  part = parts of p . q; the first p is r, and the one before may hold anything */
__global__ void turn(int64_t n, const scalars *s, const double *r, const double *q, double *p, double *part)
{
    double beta = s->beta, sum = 0;
    for (int64_t i = first_index(); i < n; i += next_index()) {
        p[i] = beta == 0 ? r[i] : r[i] + beta * p[i];
        sum += p[i] * q[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        part[blockIdx.x] = sum;
}

/* x = x + alpha p,  r = r - alpha q,  part = parts of the new r . r */
__global__ void advance(int64_t n, const scalars *s, const double *p, const double *q, double *x, double *r,
                        double *part)
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

/* One block each: the parts become a sum, and that a scalar.  PARTS = BLOCK, a part a thread. */
static_assert(PARTS == BLOCK, "a thread takes a part");

__global__ void begin(scalars *s, const double *part)
{
    double rr = block_sum(part[threadIdx.x]);
    if (threadIdx.x == 0) {
        s->rr = rr;
        s->beta = 0;
    }
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
    cudaGraphExec_t graph; /* STEPS steps */
    double host_us;        /* that launching graphs took, all of them */
};

/* A step, launched on the stream: five launches, no wait, no allocation, no copy, and so fit to be
 * captured. */
static void step(const solver *c)
{
    must(heddle_plan_mv(c->A, HEDDLE_N, NULL, c->r, &c->s->beta, c->q)); /* q = A r + beta q */
    turn<<<PARTS, BLOCK, 0, c->stream>>>(c->n, c->s, c->r, c->q, c->p, c->part);
    choose_alpha<<<1, BLOCK, 0, c->stream>>>(c->s, c->part);
    advance<<<PARTS, BLOCK, 0, c->stream>>>(c->n, c->s, c->p, c->q, c->x, c->r, c->part);
    choose_beta<<<1, BLOCK, 0, c->stream>>>(c->s, c->part);
    must(cudaGetLastError());
}

static cudaGraphExec_t record_steps(const solver *c)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    must(cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal));
    for (int k = 0; k < STEPS; k++)
        step(c); /* nothing runs yet: launches become nodes of the graph */
    must(cudaStreamEndCapture(c->stream, &graph));
    must(cudaGraphInstantiateWithFlags(&exec, graph, 0));
    must(cudaGraphDestroy(graph));
    must(cudaGraphUpload(exec, c->stream));
    return exec;
}

static void launch_steps(solver *c)
{
    auto begun = std::chrono::steady_clock::now();
    must(cudaGraphLaunch(c->graph, c->stream));
    c->host_us += std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count();
}

static double residual_squared(const solver *c)
{
    double rr;
    must(cudaMemcpyAsync(&rr, &c->s->rr, sizeof rr, cudaMemcpyDeviceToHost, c->stream));
    must(cudaStreamSynchronize(c->stream));
    return rr;
}

/* Solves A x = b from x = 0 with b on the device; returns the steps, at most `most` and STEPS - 1 more. */
static int solve(solver *c, const double *b, int most)
{
    size_t bytes = (size_t)c->n * sizeof(double);
    must(cudaMemsetAsync(c->x, 0, bytes, c->stream));
    must(cudaMemcpyAsync(c->r, b, bytes, cudaMemcpyDeviceToDevice, c->stream));
    square_parts<<<PARTS, BLOCK, 0, c->stream>>>(c->n, c->r, c->part);
    begin<<<1, BLOCK, 0, c->stream>>>(c->s, c->part);
    must(cudaGetLastError());
    double rr = residual_squared(c), enough = TOLERANCE * TOLERANCE * rr;
    int steps = 0;
    for (c->host_us = 0; steps < most && rr > enough; steps += STEPS) {
        launch_steps(c);
        rr = residual_squared(c);
    }
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

/* The least times of five solutions, all of it and the host's for launches, in us a step. */
static void timed(solver *c, const double *b, int most, int *steps, double *us, double *host_us)
{
    for (int k = 0; k < 5; k++) {
        auto begun = std::chrono::steady_clock::now();
        *steps = solve(c, b, most);
        double all =
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begun).count();
        int each = *steps > 0 ? *steps : 1;
        *us = k == 0 || all / each < *us ? all / each : *us;
        *host_us = k == 0 || c->host_us / each < *host_us ? c->host_us / each : *host_us;
    }
}

int main(int argc, char **argv)
{
    const char *device = argc > 1 ? argv[1] : "cuda:0", *source = argc > 2 ? argv[2] : "gen:grid3d:n=100";
    int most = argc > 3 ? atoi(argv[3]) : 2000;
    heddle *h;
    must(heddle_open(&h, device));
    must(cudaSetDevice(strncmp(device, "cuda:", 5) == 0 ? atoi(device + 5)
                                                        : 0)); /* its context is Heddle's too */
    heddle_matrix *A;                                          /* made here, copied to the device */
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
    must(cudaStreamCreateWithFlags(&c.stream,
                                   cudaStreamNonBlocking)); /* a capture needs a stream of its own */
    must(heddle_set_stream(h, c.stream));
    heddle_plan_options wish = {};
    wish.expected_products = 1000;
    must(heddle_plan_create(&c.A, h, A, &wish)); /* allocates and loads now, so that the product needs not */
    double *vectors[] = {device_vector(c.n), device_vector(c.n), device_vector(c.n), device_vector(c.n),
                         device_vector(c.n)};
    double *b = vectors[4];
    c.x = vectors[0], c.r = vectors[1], c.p = vectors[2], c.q = vectors[3];
    c.part = device_vector(PARTS);
    must(cudaMalloc((void **)&c.s, sizeof *c.s));

    double *ones = (double *)malloc((c.n > 0 ? (size_t)c.n : 1) * sizeof *ones);
    if (!ones)
        return 2;
    for (int64_t i = 0; i < c.n; i++)
        ones[i] = 1;
    /* On the stream, as everything else: it does not wait for what cudaMemcpy has under way elsewhere. */
    must(cudaMemcpyAsync(c.p, ones, (size_t)c.n * sizeof *ones, cudaMemcpyHostToDevice, c.stream));
    must(heddle_plan_mv(c.A, HEDDLE_N, NULL, c.p, NULL, b)); /* b = A ones */
    must(heddle_sync(h));
    must(heddle_set_scalars(h, HEDDLE_ON_DEVICE));
    c.graph = record_steps(&c);
    int steps;
    double us = 0, host_us = 0;
    timed(&c, b, most, &steps, &us, &host_us);

    double minus = -1, plus = 1;
    must(heddle_set_scalars(h, HEDDLE_ON_HOST));
    must(cudaMemcpyAsync(c.r, b, (size_t)c.n * sizeof *b, cudaMemcpyDeviceToDevice, c.stream));
    must(heddle_plan_mv(c.A, HEDDLE_N, &minus, c.x, &plus, c.r)); /* r = b - A x */
    must(heddle_sync(h));
    double residual = norm(c.n, c.r) / norm(c.n, b);
    printf("%lld unknowns, %lld entries, product by %s\nsteps %d\nresidual %.2e\n", (long long)c.n,
           (long long)size.nnz, heddle_last_kernel(h), steps, residual);
    printf("microseconds a step %.2f\nhost %.2f\n", us, host_us);

    free(ones);
    must(cudaGraphExecDestroy(c.graph));
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
