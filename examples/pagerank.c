/* SPDX-License-Identifier: MIT
 *
 * pagerank: which pages of a web of links are important?  Those that important pages link to.
 *
 *     pagerank [DEVICE [GRAPH]]                pagerank cpu gen:rmat:n=1000000
 *
 * Entry (i, j) of the graph is a link from page i to page j.  Someone who follows links at random, and
 * with probability 1 - d goes to any page instead, is on page j with probability
 *
 *     rank[j] = (1 - d) / n  +  d * sum over links i -> j of rank[i] / links[i]
 *                            +  d * sum over pages i without links of rank[i] / n
 *
 * (Brin and Page 1998; who cannot go on starts anywhere).  The sum over links is a product with the
 * transpose of the graph, and Heddle makes it from the graph as it is.  The values do not matter, so they
 * are replaced by ones under the same pattern; the links of each page are then a product too, with a
 * vector of ones.
 *
 * The program ends with 1 unless the ranks are what probabilities are: they add up to 1, none is below
 * (1 - d) / n, and another step leaves them where they are. */
#include "example.h"

#define FOLLOW 0.85 /* d */
#define TOLERANCE 1e-10
#define MOST_STEPS 500
#define SHOWN 5

/* The graph of `source` with 1 for every link.  Arrays of the matrix of a GPU lie there, so the pattern is
 * read on the CPU and given to the device as arrays of the host; copy = 1, since they go away with `read`. */
static heddle_matrix *links_from(heddle *h, const char *source)
{
    heddle *cpu;
    must(heddle_open(&cpu, "cpu"));
    heddle_matrix *read = matrix_from(cpu, source, HEDDLE_F64), *A;
    heddle_matrix_desc has;
    must(heddle_matrix_info(read, &has));
    double *ones = zeros(has.nnz, sizeof *ones);
    for (int64_t k = 0; k < has.nnz; k++)
        ones[k] = 1;
    if (has.rows != has.cols || has.format != HEDDLE_CSR) {
        fprintf(stderr, "%s: a graph has as many rows as columns\n", source);
        exit(2);
    }
    must(heddle_csr(&A, h,
                    &(heddle_csr_desc){.rows = has.rows,
                                       .cols = has.cols,
                                       .nnz = has.nnz,
                                       .row_ptr = has.ptr,
                                       .col = has.index,
                                       .val = ones,
                                       .types = has.types,
                                       .copy = 1}));
    free(ones);
    heddle_matrix_free(read);
    heddle_close(cpu);
    return A;
}

struct web {
    heddle_plan *plan;
    int64_t n;
    double *links; /* size n: how many links a page has */
    double *share; /* size n: what a page gives to each page that it links to */
};

/* next = one step from rank; returns how far they are apart, as the sum of differences. */
static double step(const struct web *w, const double *rank, double *next)
{
    double lost = 0, moved = 0; /* lost: what pages without links give to all */
    for (int64_t i = 0; i < w->n; i++) {
        w->share[i] = w->links[i] > 0 ? rank[i] / w->links[i] : 0;
        lost += w->links[i] > 0 ? 0 : rank[i];
    }
    double follow = FOLLOW, everyone = (1 - FOLLOW + FOLLOW * lost) / (double)w->n;
    must(heddle_plan_mv(w->plan, HEDDLE_T, &follow, w->share, NULL, next)); /* next = d Aᵀ share */
    for (int64_t j = 0; j < w->n; j++) {
        next[j] += everyone;
        moved += fabs(next[j] - rank[j]);
    }
    return moved;
}

/* Prints the first few pages by rank, numbered from 1 as in a file. */
static void show(int64_t n, const double *rank)
{
    int64_t top[SHOWN], count = 0;
    for (int64_t i = 0; i < n; i++) { /* top stays sorted: i moves up from the end */
        if (count == SHOWN && rank[i] <= rank[top[SHOWN - 1]])
            continue;
        int64_t at = count < SHOWN ? count++ : SHOWN - 1;
        for (; at > 0 && rank[top[at - 1]] < rank[i]; at--)
            top[at] = top[at - 1];
        top[at] = i;
    }
    for (int64_t k = 0; k < count; k++)
        printf("page %" PRId64 " rank %.6f\n", top[k] + 1, rank[top[k]]);
}

/* Probabilities that stay where they are? */
static int sound(const struct web *w, const double *rank, double *next)
{
    double sum = 0, least = 1;
    for (int64_t i = 0; i < w->n; i++) {
        sum += rank[i];
        least = fmin(least, rank[i]);
    }
    double moved = step(w, rank, next);
    printf("sum %.12f\nleast times n %.6f\nmoved %.2e\n", sum, least * (double)w->n, moved);
    return fabs(sum - 1) < 1e-9 && least >= (1 - FOLLOW) / (double)w->n * (1 - 1e-9) && moved < 2 * TOLERANCE;
}

int main(int argc, char **argv)
{
    heddle *h;
    must(heddle_open(&h, argument(argc, argv, 1, "auto")));
    heddle_matrix *A = links_from(h, argument(argc, argv, 2, "gen:rmat:n=65536"));
    heddle_matrix_desc size;
    must(heddle_matrix_info(A, &size));
    struct web w = {
        .n = size.rows, .links = zeros(size.rows, sizeof(double)), .share = zeros(size.rows, sizeof(double))};
    printf("%" PRId64 " pages, %" PRId64 " links\n", size.rows, size.nnz);
    must(heddle_plan_create(&w.plan, h, A,
                            &(heddle_plan_options){.expected_products = 100, .ops = HEDDLE_PLAN_T}));

    double *rank = zeros(w.n, sizeof *rank), *next = zeros(w.n, sizeof *next);
    for (int64_t i = 0; i < w.n; i++)
        next[i] = 1;
    must(heddle_mv(h, HEDDLE_N, NULL, A, next, NULL, w.links)); /* links = A ones */
    for (int64_t i = 0; i < w.n; i++)
        rank[i] = 1 / (double)w.n;
    int steps = 0;
    for (double moved = 1; moved > TOLERANCE && steps < MOST_STEPS; steps++) {
        moved = step(&w, rank, next);
        double *swap = rank;
        rank = next;
        next = swap;
    }
    printf("steps %d\n", steps);
    show(w.n, rank);
    int good = sound(&w, rank, next);

    free(next);
    free(rank);
    free(w.share);
    free(w.links);
    heddle_plan_free(w.plan);
    heddle_matrix_free(A);
    heddle_close(h);
    return !good;
}
