/* SPDX-License-Identifier: MIT
 *
 * cg_peers: examples/cg_graph.cu with cuSPARSE and cuBLAS instead of Heddle and kernels of its own.
 *
 *     nvcc -O2 -std=c++17 bench/cg_peers.cu -lheddle -lcusparse -lcublas       cg_peers [MATRIX [MOST_STEPS]]
 *
 * Twice: as most programs have it, with scalars of the host, for which every step waits two times; and with
 * scalars of the device and STEPS steps in a graph.  Heddle only makes the matrix here. */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cusparse.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <heddle.h>
#include <vector>

#define TOLERANCE 1e-10
#define STEPS 50

#define MUST(call)                                                                                           \
    do {                                                                                                     \
        int must_status = (int)(call);                                                                       \
        if (must_status != 0) {                                                                              \
            fprintf(stderr, "%s: %d\n", #call, must_status);                                                 \
            exit(2);                                                                                         \
        }                                                                                                    \
    } while (0)

/* On the device; one and zero are for calls that take their scalars there. */
struct scalars {
    double rr, rr_new, pq, alpha, minus_alpha, beta, one, zero;
};

__global__ void choose_alpha(scalars *s)
{
    s->alpha = s->pq > 0 ? s->rr / s->pq : 0;
    s->minus_alpha = -s->alpha;
}

__global__ void choose_beta(scalars *s)
{
    s->beta = s->rr > 0 ? s->rr_new / s->rr : 0;
    s->rr = s->rr_new;
}

struct solver {
    cusparseHandle_t sparse;
    cublasHandle_t blas;
    cusparseSpMatDescr_t A;
    cusparseDnVecDescr_t p_vector, q_vector;
    cudaStream_t stream;
    cudaGraphExec_t graph;
    int n;
    double *x, *r, *p, *q;
    void *buffer;
    scalars *s;
    double host_us;
};

static void multiply(const solver *c, const double *one, const double *zero)
{
    MUST(cusparseSpMV(c->sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, one, c->A, c->p_vector, zero, c->q_vector,
                      CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, c->buffer));
}

/* Scalars of the device: nothing is waited for. */
static void step(const solver *c)
{
    scalars *s = c->s;
    multiply(c, &s->one, &s->zero);
    MUST(cublasDdot(c->blas, c->n, c->p, 1, c->q, 1, &s->pq));
    choose_alpha<<<1, 1, 0, c->stream>>>(s);
    MUST(cublasDaxpy(c->blas, c->n, &s->alpha, c->p, 1, c->x, 1));
    MUST(cublasDaxpy(c->blas, c->n, &s->minus_alpha, c->q, 1, c->r, 1));
    MUST(cublasDdot(c->blas, c->n, c->r, 1, c->r, 1, &s->rr_new));
    choose_beta<<<1, 1, 0, c->stream>>>(s);
    MUST(cublasDscal(c->blas, c->n, &s->beta, c->p, 1));
    MUST(cublasDaxpy(c->blas, c->n, &s->one, c->r, 1, c->p, 1));
    MUST(cudaGetLastError());
}

/* Scalars of the host: both sums are waited for.  Returns the new r . r. */
static double step_waiting(const solver *c, double rr)
{
    const double one = 1, zero = 0;
    double pq, rr_new;
    multiply(c, &one, &zero);
    MUST(cublasDdot(c->blas, c->n, c->p, 1, c->q, 1, &pq));
    const double alpha = pq > 0 ? rr / pq : 0, minus_alpha = -alpha;
    MUST(cublasDaxpy(c->blas, c->n, &alpha, c->p, 1, c->x, 1));
    MUST(cublasDaxpy(c->blas, c->n, &minus_alpha, c->q, 1, c->r, 1));
    MUST(cublasDdot(c->blas, c->n, c->r, 1, c->r, 1, &rr_new));
    const double beta = rr > 0 ? rr_new / rr : 0;
    MUST(cublasDscal(c->blas, c->n, &beta, c->p, 1));
    MUST(cublasDaxpy(c->blas, c->n, &one, c->r, 1, c->p, 1));
    return rr_new;
}

static void use_scalars(const solver *c, int there)
{
    MUST(
        cusparseSetPointerMode(c->sparse, there ? CUSPARSE_POINTER_MODE_DEVICE : CUSPARSE_POINTER_MODE_HOST));
    MUST(cublasSetPointerMode(c->blas, there ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
}

static void record_steps(solver *c)
{
    cudaGraph_t graph;
    MUST(cudaStreamBeginCapture(c->stream, cudaStreamCaptureModeThreadLocal));
    for (int k = 0; k < STEPS; k++)
        step(c);
    MUST(cudaStreamEndCapture(c->stream, &graph));
    MUST(cudaGraphInstantiateWithFlags(&c->graph, graph, 0));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphUpload(c->graph, c->stream));
}

static double now_us()
{
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

static int solve(solver *c, const double *b, int most, int graphs)
{
    const size_t bytes = (size_t)c->n * sizeof(double);
    double rr;
    int steps = 0;
    MUST(cudaMemsetAsync(c->x, 0, bytes, c->stream));
    MUST(cudaMemcpyAsync(c->r, b, bytes, cudaMemcpyDeviceToDevice, c->stream));
    MUST(cudaMemcpyAsync(c->p, b, bytes, cudaMemcpyDeviceToDevice, c->stream));
    use_scalars(c, 0);
    MUST(cublasDdot(c->blas, c->n, c->r, 1, c->r, 1, &rr));
    const double enough = TOLERANCE * TOLERANCE * rr;
    MUST(cudaMemcpyAsync(&c->s->rr, &rr, sizeof rr, cudaMemcpyHostToDevice, c->stream));
    c->host_us = 0;
    while (steps < most && rr > enough) {
        const double begun = now_us();
        if (graphs) {
            MUST(cudaGraphLaunch(c->graph, c->stream));
            c->host_us += now_us() - begun;
            MUST(cudaMemcpyAsync(&rr, &c->s->rr, sizeof rr, cudaMemcpyDeviceToHost, c->stream));
            MUST(cudaStreamSynchronize(c->stream));
            steps += STEPS;
        } else {
            rr = step_waiting(c, rr);
            c->host_us += now_us() - begun;
            steps++;
        }
    }
    MUST(cudaStreamSynchronize(c->stream));
    return steps;
}

static double residual(const solver *c, const double *b)
{
    const double minus = -1, plus = 1;
    double rr, bb;
    use_scalars(c, 0);
    MUST(cublasDcopy(c->blas, c->n, c->x, 1, c->p, 1));
    MUST(cublasDcopy(c->blas, c->n, b, 1, c->q, 1));
    multiply(c, &minus, &plus);
    MUST(cublasDnrm2(c->blas, c->n, c->q, 1, &rr));
    MUST(cublasDnrm2(c->blas, c->n, b, 1, &bb));
    return rr / bb;
}

static int report(solver *c, const double *b, int most, int graphs)
{
    double us = 0, host_us = 0;
    int steps = 0;
    for (int k = 0; k < 5; k++) {
        const double begun = now_us();
        steps = solve(c, b, most, graphs);
        const double all = (now_us() - begun) / (steps > 0 ? steps : 1),
                     host = c->host_us / (steps > 0 ? steps : 1);
        us = k == 0 || all < us ? all : us;
        host_us = k == 0 || host < host_us ? host : host_us;
    }
    const double rest = residual(c, b);
    printf("cuSPARSE and cuBLAS, %s\nsteps %d\nresidual %.2e\nmicroseconds a step %.2f\nhost %.2f\n",
           graphs ? "fifty steps a graph" : "waiting for scalars", steps, rest, us, host_us);
    return !(rest < 10 * TOLERANCE);
}

template <class T> static T *to_device(const void *here, size_t count)
{
    T *there;
    MUST(cudaMalloc((void **)&there, (count > 0 ? count : 1) * sizeof(T)));
    if (here)
        MUST(cudaMemcpy(there, here, count * sizeof(T), cudaMemcpyHostToDevice));
    return there;
}

int main(int argc, char **argv)
{
    const char *source = argc > 1 ? argv[1] : "gen:grid3d:n=100";
    const int most = argc > 2 ? atoi(argv[2]) : 2000;
    heddle *h;
    heddle_matrix *A;
    heddle_matrix_desc m;
    MUST(heddle_open(&h, "cpu"));
    MUST(strncmp(source, "gen:", 4) == 0 ? heddle_generate(&A, h, source + 4, HEDDLE_F64)
                                         : heddle_read(&A, h, source, NULL));
    MUST(heddle_matrix_info(A, &m));
    if (m.format != HEDDLE_CSR || m.types.offset == HEDDLE_I64 || m.types.value != HEDDLE_F64) {
        fprintf(stderr, "%s: not a CSR matrix of f64 with 32-bit offsets\n", source);
        return 2;
    }
    solver c = {};
    c.n = (int)m.rows;
    MUST(cudaStreamCreateWithFlags(&c.stream, cudaStreamNonBlocking));
    MUST(cusparseCreate(&c.sparse));
    MUST(cusparseSetStream(c.sparse, c.stream));
    MUST(cublasCreate(&c.blas));
    MUST(cublasSetStream(c.blas, c.stream));
    const size_t workspace = (size_t)32 << 20, n = (size_t)m.rows;
    MUST(cublasSetWorkspace(c.blas, to_device<char>(NULL, workspace), workspace));
    MUST(cusparseCreateCsr(&c.A, m.rows, m.cols, m.nnz, to_device<int32_t>(m.ptr, n + 1),
                           to_device<int32_t>(m.index, (size_t)m.nnz),
                           to_device<double>(m.val, (size_t)m.nnz), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
    std::vector<double> ones(n, 1.0);
    c.x = to_device<double>(NULL, n), c.r = to_device<double>(NULL, n);
    c.p = to_device<double>(ones.data(), n), c.q = to_device<double>(NULL, n);
    MUST(cusparseCreateDnVec(&c.p_vector, m.rows, c.p, CUDA_R_64F));
    MUST(cusparseCreateDnVec(&c.q_vector, m.rows, c.q, CUDA_R_64F));
    scalars begin = {};
    begin.one = 1;
    c.s = to_device<scalars>(&begin, 1);
    size_t bytes;
    MUST(cusparseSpMV_bufferSize(c.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &begin.one, c.A, c.p_vector,
                                 &begin.zero, c.q_vector, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    c.buffer = to_device<char>(NULL, bytes);
    MUST(cusparseSpMV_preprocess(c.sparse, CUSPARSE_OPERATION_NON_TRANSPOSE, &begin.one, c.A, c.p_vector,
                                 &begin.zero, c.q_vector, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, c.buffer));
    double *b = to_device<double>(NULL, n);
    MUST(cudaDeviceSynchronize());         /* the stream does not wait for copies on the way */
    multiply(&c, &begin.one, &begin.zero); /* q = A ones */
    MUST(cudaMemcpyAsync(b, c.q, n * sizeof *b, cudaMemcpyDeviceToDevice, c.stream));
    MUST(cudaStreamSynchronize(c.stream));
    use_scalars(&c, 1);
    record_steps(&c);
    const int waiting = report(&c, b, most, 0);
    return report(&c, b, most, 1) || waiting;
}
