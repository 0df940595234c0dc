/* SPDX-License-Identifier: MIT
 *
 * Files that change while they are read, and small files that describe something huge: an error with a
 * text at worst. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/checksum.h"
#include "io/hdl.h"
#include "io/packed.h"
#include "io/read.h"
#include "test_io.h"
#include "trial.h"

/* ------------------------------------------------------------------ files that change */

/* A text of many lines, 4 MB of them: long enough to be cut while it is read. */
static const char *long_text(const char *name)
{
    const char *path = test_path(name);
    FILE *file = fopen(path, "w");
    int lines = 300000;
    if (!file)
        abort();
    fprintf(file, "%%%%MatrixMarket matrix coordinate real general\n1000 1000 %d\n", lines);
    for (int i = 0; i < lines; i++)
        fprintf(file, "%d %d 1.5\n", i % 1000 + 1, i * 7 % 1000 + 1);
    if (fclose(file) != 0)
        abort();
    return path;
}

/* A child reads the file again and again for a while; what became of it. */
static pid_t reader(const char *path, int times)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    heddle *h;
    int bad = heddle_open(&h, "cpu:threads=1") != HEDDLE_OK;
    for (int i = 0; i < times && !bad; i++) {
        heddle_matrix *A;
        heddle_status status = heddle_read(&A, h, path, NULL);
        bad = status != HEDDLE_OK && status != HEDDLE_FILE_ERROR && status != HEDDLE_BAD_FILE;
        heddle_matrix_free(A);
    }
    _exit(bad);
}

TEST(a_text_that_is_cut_and_written_anew_while_it_is_read_gives_an_error_and_no_signal)
{
    const char *path = long_text("changing.mtx");
    size_t size;
    char *text = slurp(path, &size);
    int file = open(path, O_RDWR), code = 0;
    pid_t pid = reader(path, 200);
    for (int i = 0; waitpid(pid, &code, WNOHANG) == 0; i++) {
        int cut = ftruncate(file, i % 3 == 0 ? 0 : (off_t)(size / 2));
        usleep(500);
        ssize_t back = pwrite(file, text, size, 0);
        usleep((unsigned)(i % 7) * 500);
        CHECK(cut == 0 && back == (ssize_t)size);
    }
    CHECK_THAT(WIFEXITED(code), "the reader ended by signal %d", WIFSIGNALED(code) ? WTERMSIG(code) : 0);
    CHECK_THAT(!WIFEXITED(code) || WEXITSTATUS(code) == 0,
               "the reader saw another status than those of files");
    close(file);
    free(text);
}

TEST(a_text_that_became_shorter_says_so)
{
    struct io_tuning before = io_tuning;
    struct text_source s;
    struct csr A;
    const char *path = long_text("shorter.mtx");
    io_tuning.block = 1 << 12;
    CHECK_OK(source_open(&s, path, 0));
    CHECK(truncate(path, 1 << 10) == 0);
    CHECK_FAILS(read_text(&A, &s, 0), HEDDLE_FILE_ERROR, "became shorter while it was read");
    source_close(&s);
    io_tuning = before;
}

/* Text behind the size that the file had when it was opened belongs to whoever writes it. */
TEST(a_text_that_grows_is_read_as_it_was_when_it_was_opened)
{
    struct text_source s;
    struct csr A;
    const char *path =
        test_file("longer.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 7\n");
    CHECK_OK(source_open(&s, path, 0));
    FILE *file = fopen(path, "a");
    CHECK(file && fputs("2 2 2 and half a line", file) >= 0 && fclose(file) == 0);
    if (CHECK_OK(read_text(&A, &s, 0))) {
        CHECK(strcmp(words(&A), "2x2: 0,1=7") == 0);
        csr_free(&A);
    }
    source_close(&s);
}

TEST(a_copied_hdl_file_may_change_and_vanish)
{
    heddle *h;
    heddle_matrix *A;
    struct csr B;
    heddle_matrix_desc desc;
    double x[5] = {1, 1, 1, 1, 1}, y[5], z[5];
    const char *path = test_path("copied.hdl");
    CHECK_OK(some_matrix(&B, 5, 5, HEDDLE_F64));
    CHECK_OK(file_write(&B, path));
    CHECK_OK(heddle_open(&h, "cpu"));
    for (int trust = 0; trust < 2; trust++) {
        CHECK_OK(file_write(&B, path));
        if (!CHECK_OK(heddle_read(&A, h, path, &(heddle_read_options){.copy = 1, .trust = trust})))
            continue;
        CHECK_OK(heddle_matrix_info(A, &desc));
        CHECK(desc.copied == 1);
        CHECK(truncate(path, 0) == 0 && truncate(path, 1 << 12) == 0 && unlink(path) == 0);
        CHECK_OK(heddle_mv(h, HEDDLE_N, NULL, A, x, NULL, y));
        for (int i = 0; i < 5; i++) {
            z[i] = 0;
            for (int64_t k = csr_offset(&B, i); k < csr_offset(&B, i + 1); k++)
                z[i] += value_at(B.val, B.value, k);
            CHECK_THAT(y[i] == z[i], "row %d: %g is not %g", i, y[i], z[i]);
        }
        heddle_matrix_free(A);
    }
    heddle_close(h);
    csr_free(&B);
}

TEST(a_hdl_file_through_a_pipe_is_read_if_it_may_be_copied)
{
    struct csr A;
    struct file_matrix F;
    size_t size;
    int ends[2];
    char path[64];
    CHECK_OK(some_matrix(&A, 5, 5, HEDDLE_F64));
    CHECK_OK(file_write(&A, test_path("piped.hdl")));
    char *data = slurp(test_path("piped.hdl"), &size);
    CHECK(pipe(ends) == 0 && write(ends[1], data, size) == (ssize_t)size);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    if (CHECK_OK(file_read_as(&F, path, &(heddle_read_options){.copy = 1}))) {
        CHECK_OK(file_matrix_check(&F, path));
        CHECK(same_matrix(&A, &F.csr));
        file_matrix_free(&F);
    }
    close(ends[0]);
    free(data);
    csr_free(&A);
}

/* ------------------------------------------------------------------ small files, huge matrices */

/* Bytes that this process has had in memory at most. */
static double peak(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return 1024.0 * (double)usage.ru_maxrss;
}

/* Reading is refused with these words, and takes no more than `most` bytes on the way. */
static void check_bomb(const char *path, const char *says, double most)
{
    double before = peak();
    CHECK_REFUSED(path, HEDDLE_NO_MEMORY, says);
    CHECK_THAT(peak() - before < most, "%s took %.3g MB before it was refused", path,
               (peak() - before) / 1e6);
}

#define REAL "%%MatrixMarket matrix coordinate real general\n"
#define HINT "set large in heddle_read_options, or --large on the command line"

TEST(a_few_bytes_with_sizes_of_billions_are_refused_before_anything_is_allocated)
{
    check_bomb(test_file("rows.mtx", REAL "2147483646 1 1\n1 1 1\n"),
               "rows.mtx: what it holds takes 8.59 GB, but the file has only 67 B; if that is meant, " HINT,
               1e8);
    check_bomb(test_file("cols.mtx", REAL "1 2147483646 1\n1 1 1\n"), HINT, 1e8);
    check_bomb(test_file("none.mtx", "%%MatrixMarket matrix array real general\n2147483646 0\n"), HINT, 1e8);
    check_bomb(test_file("rows.rua",
                         "title\n3 1 1 1 0\nrua 2147483646 1 1 0\n(2I3)(1I3)(1E9.2)\n  1  2\n  1\n  1.0\n"),
               HINT, 1e8);
    void *x;
    int64_t n;
    CHECK_FAILS(vector_read(&x, &n, HEDDLE_F64, test_file("x.mtx", REAL "300000000 1 1\n1 1 1\n")),
                HEDDLE_NO_MEMORY, HINT);
}

TEST(a_hdl_file_with_columns_out_of_proportion_is_refused_unless_large_things_are_welcome)
{
    struct csr A;
    struct file_matrix F;
    const char *path = test_path("cols.hdl");
    CHECK_OK(some_matrix(&A, 3, 3, HEDDLE_F64));
    A.cols = INDEX_LIMIT - 1;
    CHECK_OK(file_write(&A, path));
    check_bomb(path, HINT, 1e8);
    if (CHECK_OK(file_read_as(&F, path, &(heddle_read_options){.large = 1}))) {
        CHECK(F.csr.cols == INDEX_LIMIT - 1);
        file_matrix_free(&F);
    }
    A.cols = 3;
    csr_free(&A);
}

TEST(a_hdl_file_with_entries_and_without_columns_is_refused_when_it_is_opened)
{
    struct csr A;
    const char *path = test_path("none.hdl");
    CHECK_OK(some_matrix(&A, 3, 3, HEDDLE_F64));
    A.cols = 0;
    CHECK_OK(file_write(&A, path));
    CHECK_REFUSED(path, HEDDLE_BAD_FILE, "impossible sizes in the header: 3 x 0 with 6 entries");
    A.cols = 3;
    csr_free(&A);
}

/* `head`, then 1 MB of `line` again and again, `megabytes` times, each a member of the gzip file. */
static const char *gzip_bomb(const char *name, const char *head, const char *line, int megabytes)
{
    size_t n = strlen(line), size = (size_t)(1 << 20) / n * n, packed;
    char *text = malloc(size);
    for (size_t i = 0; i < size; i++)
        text[i] = line[i % n];
    char *piece = slurp(gzip_file("piece.gz", text, size), &packed);
    const char *path = gzip_file(name, head, strlen(head));
    FILE *file = fopen(path, "ab");
    for (int i = 0; i < megabytes && file; i++)
        if (fwrite(piece, 1, packed, file) != packed)
            abort();
    if (!file || fclose(file) != 0)
        abort();
    free(piece);
    free(text);
    return path;
}

TEST(compressed_repetition_is_refused_when_it_grows_beyond_all_proportion)
{
    void *x;
    int64_t n;
    const char *path = gzip_bomb("x.txt.gz", "1\n", "0\n", 200);
    double before = peak();
    CHECK_FAILS(vector_read(&x, &n, HEDDLE_F64, path), HEDDLE_NO_MEMORY, HINT);
    CHECK_THAT(peak() - before < 1.2e9, "the vector took %.3g MB before it was refused",
               (peak() - before) / 1e6);
    if (!trial_brief()) /* the same reading, for five times as long */
        check_bomb(gzip_bomb("a.mtx.gz", REAL "1 1 281474976710655\n", "1 1 1\n", 500), HINT, 1.2e9);
}

TEST(what_never_ends_is_refused)
{
    if (access("/dev/zero", R_OK) != 0)
        SKIP("there is no /dev/zero");
    CHECK_REFUSED("/dev/zero", HEDDLE_NO_MEMORY,
                  "/dev/zero: a pipe or device that gave 1 GB and has not ended");
}

/* xz files name the size of a dictionary that is allocated before the first byte comes out. */
TEST(a_dictionary_out_of_proportion_is_refused)
{
#ifndef HEDDLE_HAVE_LZMA
    SKIP("this build has no liblzma");
#else
    /* xz -C none of the five bytes "none\n"; byte 16 is the size of the dictionary, 39 stands for 3 GB */
    static const unsigned char good[] = {0xfd, '7',  'z', 'X', 'Z',  0, 0,  0, 0xff, 0x12,
                                         0xd9, 0x41, 2,   0,   0x21, 1, 22, 0, 0,    0};
    unsigned char data[sizeof good + 4 + 32] = {0};
    memcpy(data, good, sizeof good);
    data[16] = 39;
    uint32_t sum = (uint32_t)crc32(0, data + 12, 8);
    for (int i = 0; i < 4; i++)
        data[sizeof good + (size_t)i] = (unsigned char)(sum >> 8 * i);
    CHECK_REFUSED(bytes_file("dictionary.mtx.xz", data, sizeof data), HEDDLE_NO_MEMORY, HINT);
#endif
}

TEST(files_that_are_large_themselves_may_hold_large_things)
{
    struct input in = {.file = -1, .size = 20 << 20};
    CHECK_OK(input_affords(&in, "a", 1e9));
    CHECK_OK(input_affords(&in, "a", 2e9));
    CHECK_STATUS(input_affords(&in, "a", 3e9), HEDDLE_NO_MEMORY);
    in.large = 1;
    CHECK_OK(input_affords(&in, "a", 3e9));
}

/* A vector may stand on one line that is longer than any buffer. */
TEST(a_line_longer_than_a_block_is_read_from_a_plain_file)
{
    struct io_tuning before = io_tuning;
    char text[3000] = "";
    void *x;
    int64_t n;
    for (int i = 0; i < 1000; i++)
        snprintf(text + 2 * i, 4, "%d ", i % 10);
    for (io_tuning.block = 16; io_tuning.block < 5000; io_tuning.block = io_tuning.block * 3 / 2) {
        if (!CHECK_OK(vector_read(&x, &n, HEDDLE_F64, test_file("line.txt", text))))
            continue;
        CHECK(n == 1000);
        for (int64_t i = 0; i < n; i++)
            CHECK(((double *)x)[i] == (double)(i % 10));
        mem_free(x);
    }
    io_tuning = before;
}

/* ------------------------------------------------------------------ a few bytes */

TEST(a_file_is_packed_if_it_begins_so)
{
    static const char gzip[] = {0x1f, (char)0x8b}, xz[] = {(char)0xfd, '7', 'z', 'X', 'Z', 0};
    CHECK(file_is_packed(bytes_file("2", gzip, 2)) && !file_is_packed(bytes_file("1", gzip, 1)));
    CHECK(file_is_packed(bytes_file("6", xz, 6)) && !file_is_packed(bytes_file("5", xz, 5)));
    CHECK(!file_is_packed(test_file("text", "{}")) && !file_is_packed(test_path("nothing")));
}
