/* SPDX-License-Identifier: MIT
 *
 * read_mtx.c: times file_read (text to finished CSR) and opening of a .hdl file, for bench/read_mtx.py.
 * read_mtx REPEATS FILE...  prints "FILE rows cols nnz ms ms ...", one line a file;
 * read_mtx --convert IN OUT  writes IN in the format of OUT. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timer.h"
#include "io/io.h"

static int complain(void)
{
    fprintf(stderr, "%s\n", heddle_last_error());
    return 2;
}

static int convert(const char *in, const char *out)
{
    struct file_matrix F;
    if (file_read(&F, in, 0) != HEDDLE_OK)
        return complain();
    heddle_status status = file_write(&F.csr, out);
    file_matrix_free(&F);
    return status == HEDDLE_OK ? 0 : complain();
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--convert") == 0)
        return convert(argv[2], argv[3]);
    for (int i = 2; i < argc; i++)
        for (int repeat = 0; repeat < atoi(argv[1]); repeat++) {
            struct file_matrix F;
            double start = now_ms();
            if (file_read(&F, argv[i], 0) != HEDDLE_OK)
                return complain();
            double ms = now_ms() - start;
            if (repeat == 0)
                printf("%s%s %lld %lld %lld", i > 2 ? "\n" : "", argv[i], (long long)F.csr.rows, (long long)F.csr.cols,
                       (long long)F.csr.nnz);
            printf(" %.3f", ms);
            file_matrix_free(&F);
        }
    printf("\n");
    return 0;
}
