/* SPDX-License-Identifier: MIT
 *
 * read_mtx.c: times heddle_read, for bench/read_mtx.py: text to finished CSR, or the opening of a .hdl file.
 * read_mtx REPEATS FILE      prints "rows cols nnz ms ms ...";
 * read_mtx --convert IN OUT  writes IN in the format of OUT. */
#include <heddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void must(heddle_status status)
{
    if (status == HEDDLE_OK)
        return;
    fprintf(stderr, "%s\n", heddle_last_error());
    exit(2);
}

static void convert(heddle *h, const char *in, const char *out)
{
    heddle_matrix *A;
    must(heddle_read(&A, h, in, NULL));
    must(heddle_write(h, A, out));
    heddle_matrix_free(A);
}

static void measure(heddle *h, int repeats, const char *path)
{
    for (int repeat = 0; repeat < repeats; repeat++) {
        heddle_matrix *A;
        heddle_matrix_desc desc;
        double start = now_ms();
        must(heddle_read(&A, h, path, NULL));
        double ms = now_ms() - start;
        must(heddle_matrix_info(A, &desc));
        if (repeat == 0)
            printf("%lld %lld %lld", (long long)desc.rows, (long long)desc.cols, (long long)desc.nnz);
        printf(" %.3f", ms);
        heddle_matrix_free(A);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    heddle *h;
    must(heddle_open(&h, "cpu"));
    if (argc == 4 && strcmp(argv[1], "--convert") == 0)
        convert(h, argv[2], argv[3]);
    else if (argc == 3)
        measure(h, atoi(argv[1]), argv[2]);
    heddle_close(h);
    return 0;
}
