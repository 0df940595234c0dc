/* SPDX-License-Identifier: MIT
 *
 * Rutherford-Boeing, vectors, and what the writers leave on disk. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/sink.h"
#include "test_io.h"

/* -------------------------------------------------------- Rutherford-Boeing ------------------- */

TEST(a_real_unsymmetric_file_is_read)
{
    CHECK_MATRIX(test_file("a.rua",
                           "title                                                                   key\n"
                           "             3             1             1             1             0\n"
                           "RUA                        2             3             4             0\n"
                           "(4I3)           (4I3)           (4E10.3)            \n"
                           "  1  2  4  5\n  1  1  2  2\n 1.000E+00 2.500E+00-3.000E+00 4.000D+01\n"),
                 "2x3: 0,0=1 0,1=2.5 1,1=-3 1,2=40");
}

TEST(fields_may_touch_and_lines_may_be_short)
{
    CHECK_MATRIX(
        test_file("touch.rb",
                  "t\n3 1 1 1\nrra 2 3 4 0\n(4I1) (2I1) (1P,2D10.3)\n1245\n11\n22\n 1.000D+00-2.500D+00\r\n"
                  "-3.000+00024.0E+01\n"),
        "2x3: 0,0=1 0,1=-2.5 1,1=-3 1,2=240");
    CHECK_MATRIX(
        test_file("short.rb", "t\n3 1 1 1\nrra 2 3 4 0\n(8I1)(9I1)(4I2)\n12\n45\n112\n2\n 1 2\n 3\n 4\n"),
        "2x3: 0,0=1 0,1=2 1,1=3 1,2=4");
}

TEST(symmetric_skew_pattern_and_integer_types_are_understood)
{
    CHECK_MATRIX(
        test_file("a.rsa", "t\n3 1 1 1 0\nrsa 2 2 2 0\n(3I3)(2I3)(2F5.1)\n  1  3  3\n  1  2\n  1.0  5.0\n"),
        "2x2: 0,0=1 0,1=5 1,0=5");
    CHECK_MATRIX(
        test_file("a.rza", "t\n3 1 1 1 0\nrza 2 2 1 0\n(3I3)(2I3)(1P2E9.1E3)\n  1  2  2\n  2\n 5.0E+000\n"),
        "2x2: 0,1=-5 1,0=5");
    CHECK_MATRIX(test_file("a.psa", "t\n2 1 1 0 0\npsa 2 2 2 0\n(3I3)(2I3)\n  1  3  3\n  1  2\n"),
                 "2x2: 0,0=1 0,1=1 1,0=1");
    CHECK_MATRIX(test_file("a.pua", "t\n2 1 1 0\npua 1 1 1 0\n( 2 I 3 )(I3)\n  1  2\n  1\n"), "1x1: 0,0=1");
    CHECK_MATRIX(test_file("a.iua", "t\n3 1 1 1\nIUA 1 1 1 0\n(2I3)(1I3)(4I5)\n  1  2\n +1\n   -7\n"),
                 "1x1: 0,0=-7");
    CHECK_MATRIX(test_file("a.rha", "t\n3 1 1 1\nrha 2 2 1 0\n(3I3)(1I3)(4G5.1)\n  1  2  2\n  2\n  7.\n"),
                 "2x2: 0,1=7 1,0=7");
}

TEST(right_hand_sides_are_skipped)
{
    CHECK_MATRIX(
        test_file(
            "a.rua",
            "t\n5 1 1 1 2\nrua 1 1 1 0\n(2I3)(1I3)(4F5.1)(4F5.1)\nF 1 0\n  1  2\n  1\n  2.5\n  9.0\n  8.0\n"),
        "1x1: 0,0=2.5");
}

TEST(the_contents_tell_the_format_where_the_name_does_not)
{
    CHECK_MATRIX(test_file("a.dat", "t\n3 1 1 1 0\nrua 1 1 1 0\n(2I3)(1I3)(1F5.1)\n  1  2\n  1\n  2.5\n"),
                 "1x1: 0,0=2.5");
    CHECK_MATRIX(test_file("a.rb", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3\n"),
                 "1x1: 0,0=3");
    CHECK_REFUSED(test_file("a.dat", "one line"), HEDDLE_BAD_FILE, "a.dat:1: this is no matrix file");
    CHECK_REFUSED(test_file("a.dat", "one\ntwo\nthree\n"), HEDDLE_BAD_FILE, "this is no matrix file");
}

/* -------------------------------------------------------- round trips ------------------------- */

static void check_round_trip(const struct csr *A, const char *name)
{
    struct file_matrix F;
    const char *path = test_path(name);
    if (!CHECK_OK(file_write(A, path)) || !CHECK_OK(file_read(&F, path, A->value)))
        return;
    CHECK_OK(file_matrix_check(&F, path));
    CHECK(F.checked);
    CHECK_THAT(same_matrix(A, &F.csr), "%s does not give the matrix back", name);
    file_matrix_free(&F);
}

TEST(every_writer_has_a_reader_that_gives_the_matrix_back)
{
    static const char *const names[] = {"t.mtx", "t.mtx.gz", "t.rb",     "t.rb.gz",
                                        "t.hdl", "t.petsc",  "t.petsc64"};
    static const int64_t sizes[][2] = {{300, 300}, {40, 90}, {90, 40}, {1, 1}, {0, 0}, {0, 7}, {7, 1}};
    struct io_tuning before = io_tuning;
    for (int value = HEDDLE_F32; value <= HEDDLE_F64; value++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            struct csr A;
            CHECK_OK(some_matrix(&A, sizes[s][0], sizes[s][1], (heddle_type)value));
            CHECK_OK(csr_sort(&A)); /* Rutherford-Boeing stores columns: rows come back sorted */
            for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
                for (int threads = 1; threads <= 3; threads++) {
                    io_tuning.threads = threads;
                    io_tuning.items = threads == 1 ? before.items : 7 * threads;
                    check_round_trip(&A, names[i]);
                }
            csr_free(&A);
        }
    io_tuning = before;
}

/* Readers of fixed columns trust the header: four lines, and as many as it says, of 80 characters at most. */
TEST(a_rutherford_boeing_file_has_the_lines_that_its_header_counts)
{
    static const int64_t sizes[][2] = {{300, 300}, {40, 90}, {1, 1}, {0, 7}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct csr A;
        int lines = 0;
        size_t n, length = 0, longest = 0;
        CHECK_OK(some_matrix(&A, sizes[i][0], sizes[i][1], HEDDLE_F64));
        CHECK_OK(file_write(&A, test_path("lines.rb")));
        char *text = slurp(test_path("lines.rb"), &n);
        for (size_t k = 0; k < n; k++) {
            length = text[k] == '\n' ? 0 : length + 1;
            longest = length > longest ? length : longest;
            lines += text[k] == '\n';
        }
        CHECK_THAT(lines == 4 + atoi(strchr(text, '\n')) && longest <= 80, "%d lines, %d long: %.120s", lines,
                   (int)longest, text);
        free(text);
        csr_free(&A);
    }
}

TEST(what_is_written_does_not_depend_on_the_number_of_threads)
{
    struct io_tuning before = io_tuning;
    struct csr A;
    char *first = NULL;
    size_t size = 0, n;
    io_tuning.items = 50;
    CHECK_OK(some_matrix(&A, 500, 500, HEDDLE_F64));
    for (int threads = 1; threads <= 4; threads++) {
        io_tuning.threads = threads;
        CHECK_OK(file_write(&A, test_path("t.mtx.gz")));
        char *data = slurp(test_path("t.mtx.gz"), &n);
        CHECK(!first || (n == size && memcmp(first, data, n) == 0));
        free(first);
        first = data;
        size = n;
    }
    free(first);
    csr_free(&A);
    io_tuning = before;
}

TEST(nan_and_infinity_survive_every_format)
{
    static const char *const names[] = {"n.mtx", "n.rb", "n.hdl", "n.petsc"};
    int32_t row_ptr[] = {0, 3}, col[] = {0, 1, 2};
    double val[] = {NAN, -INFINITY, 1e300};
    struct csr A = {1, 3, 3, HEDDLE_F64, HEDDLE_I32, row_ptr, col, val};
    for (int i = 0; i < 4; i++) {
        struct file_matrix F;
        CHECK_OK(file_write(&A, test_path(names[i])));
        if (!CHECK_OK(file_read(&F, test_path(names[i]), 0)))
            continue;
        const double *v = F.csr.val;
        CHECK(isnan(v[0]) && v[1] == -INFINITY && v[2] == 1e300);
        file_matrix_free(&F);
    }
}

TEST(a_file_with_the_name_of_a_temporary_one_is_left_alone)
{
    enum { NAMES = 1000 }; /* of the files that this process writes: three of four are taken */
    char path[512], name[600];
    struct csr A;
    CHECK_OK(some_matrix(&A, 3, 3, HEDDLE_F64));
    snprintf(path, sizeof path, "%s", test_path("taken.mtx"));
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < NAMES; i++) {
            snprintf(name, sizeof name, "%s.%ld-%d.part", path, (long)getpid(), i);
            const int file =
                i % 4 == 3 ? -1 : open(name, pass ? O_RDONLY : O_WRONLY | O_CREAT | O_EXCL, 0600);
            CHECK((file >= 0) == (i % 4 != 3) && (file < 0 || close(file) == 0));
            CHECK(!pass || i % 4 == 3 || unlink(name) == 0);
        }
        for (int i = 0; pass == 0 && i < 4; i++)
            CHECK_OK(file_write(&A, path));
    }
    csr_free(&A);
}

/* In the place of the C library's: a disk that tells only at the end that it is full. */
static int closing_fails;
int close(int file)
{
    const int status = (int)syscall(SYS_close, file);
    if (closing_fails)
        errno = ENOSPC;
    return closing_fails ? -1 : status;
}

TEST(a_path_that_no_system_has_is_refused)
{
    static char path[PATH_MAX + 8];
    struct csr A;
    CHECK_OK(some_matrix(&A, 3, 3, HEDDLE_F64));
    memset(path, 'a', PATH_MAX);
    memcpy(path + PATH_MAX, ".mtx", 5);
    errno = 0;
    CHECK_FAILS(file_write(&A, path), HEDDLE_FILE_ERROR, strerror(ENAMETOOLONG));
    csr_free(&A);
}

TEST(a_file_that_cannot_be_closed_is_not_put_in_its_place)
{
    const char *path = bytes_file("kept.mtx", "before", 6);
    struct csr A;
    size_t size;
    CHECK_OK(some_matrix(&A, 3, 3, HEDDLE_F64));
    closing_fails = 1;
    heddle_status status = file_write(&A, path);
    closing_fails = 0;
    CHECK_FAILS(status, HEDDLE_FILE_ERROR, "kept.mtx");
    char *kept = slurp(test_path("kept.mtx"), &size);
    CHECK(size == 6 && memcmp(kept, "before", 6) == 0);
    free(kept);
    csr_free(&A);
}

TEST(a_descriptor_that_is_a_file_is_written_in_place)
{
    const char *path = bytes_file("open", "before", 6);
    for (int number = 0; number < 2; number++) {
        const int kept = dup(number), file = open(path, O_RDWR | O_TRUNC);
        struct sink s;
        CHECK(write(file, "and ", 4) == 4 && dup2(file, number) == number);
        heddle_status status = sink_open(&s, number ? "/dev/stdout" : "/dev/stdin", 0);
        if (status == HEDDLE_OK)
            status = sink_close(&s, sink_write(&s, "after", 5));
        CHECK(dup2(kept, number) == number);
        CHECK_OK(status);
        struct stat info;
        CHECK(fstat(file, &info) == 0 && info.st_nlink == 1 && info.st_size == 9);
        close(file), close(kept);
    }
}

TEST(a_file_written_as_mtx_looks_as_expected)
{
    int32_t row_ptr[] = {0, 1, 1, 3}, col[] = {1, 0, 1};
    double val[] = {0.1, -2, 1e-7};
    struct csr A = {3, 2, 3, HEDDLE_F64, HEDDLE_I32, row_ptr, col, val};
    CHECK_OK(file_write(&A, test_path("t.mtx")));
    char *text = slurp(test_path("t.mtx"), NULL);
    CHECK_THAT(
        strcmp(text, "%%MatrixMarket matrix coordinate real general\n3 2 3\n1 2 0.1\n3 1 -2\n3 2 1e-7\n") ==
            0,
        "%s", text);
    free(text);
    CHECK_OK(file_write(&A, test_path("t.rb")));
    text = slurp(test_path("t.rb"), NULL);
    CHECK_THAT(strstr(text, "\nrua") == NULL && strstr(text, "\nrra ") && strstr(text, "(40I2)") &&
                   strstr(text, "(3E25.16)") && strstr(text, " -2.") && strstr(text, " 1.e-7"),
               "%s", text);
    free(text);
}

/* -------------------------------------------------------- writing fails ----------------------- */

static int files_in(const char *folder)
{
    DIR *dir = opendir(folder);
    int n = 0;
    for (struct dirent *e; dir && (e = readdir(dir));)
        n += e->d_name[0] != '.';
    if (dir)
        closedir(dir);
    return n;
}

TEST(nothing_stays_behind_when_writing_fails)
{
    static const char *const names[] = {"d/a.mtx", "d/a.mtx.gz", "d/a.rb", "d/a.hdl"};
    struct csr A;
    struct rlimit before, small = {4096, 4096};
    CHECK_OK(some_matrix(&A, 3000, 3000, HEDDLE_F64));
    char folder[512];
    snprintf(folder, sizeof folder, "%s", test_path("d"));
    mkdir(folder, 0777);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    setrlimit(RLIMIT_FSIZE, &small);
    for (int i = 0; i < 4; i++)
        CHECK_FAILS(file_write(&A, test_path(names[i])), HEDDLE_FILE_ERROR, "cannot write: File too large");
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    mkdir(test_path("d/folder.mtx"), 0777);
    CHECK_FAILS(file_write(&A, test_path("d/folder.mtx")), HEDDLE_FILE_ERROR,
                "cannot put the file in its place: Is a directory");
    CHECK(files_in(folder) == 1);
    CHECK_FAILS(file_write(&A, test_path("nowhere/a.mtx")), HEDDLE_FILE_ERROR,
                "cannot create the file: No such file");
    CHECK_FAILS(file_write(&A, test_path("a.xyz")), HEDDLE_NOT_SUPPORTED, "no writer for this ending");
    CHECK_FAILS(vector_write(A.val, 3, HEDDLE_F64, test_path("a.xyz")), HEDDLE_NOT_SUPPORTED,
                "no writer of vectors");
    CHECK_FAILS(vector_write(A.val, 3, HEDDLE_F64, test_path("nowhere/a.txt")), HEDDLE_FILE_ERROR,
                "cannot create");
    csr_free(&A);
}

TEST(an_old_file_is_replaced_with_its_mode_and_a_device_is_not)
{
    struct csr A;
    struct stat info;
    CHECK_OK(some_matrix(&A, 5, 5, HEDDLE_F64));
    test_file("old.mtx", "old");
    CHECK(chmod(test_path("old.mtx"), 0604) == 0);
    check_round_trip(&A, "old.mtx");
    CHECK(stat(test_path("old.mtx"), &info) == 0 && (info.st_mode & 07777) == 0604);
    int here = open(".", O_RDONLY | O_DIRECTORY);
    CHECK(chdir(test_path("")) == 0);
    CHECK_OK(file_write(&A, "plain.mtx")); /* a name without a folder */
    CHECK(access("plain.mtx", R_OK) == 0 && fchdir(here) == 0);
    close(here);
    char link[512];
    snprintf(link, sizeof link, "%s", test_path("null.mtx"));
    if (symlink("/dev/null", link) == 0)
        CHECK_OK(file_write(&A, link));
    CHECK(stat("/dev/null", &info) == 0 && S_ISCHR(info.st_mode));
    CHECK(stat(link, &info) == 0 && S_ISCHR(info.st_mode));
    snprintf(link, sizeof link, "%s", test_path("full.mtx"));
    if (symlink("/dev/full", link) == 0 && file_exists(link))
        CHECK_FAILS(file_write(&A, link), HEDDLE_FILE_ERROR, "cannot write: No space left");
    csr_free(&A);
}

struct job {
    const struct csr *A;
    char path[512];
};

static heddle_status write_job(void *argument)
{
    struct job *job = argument;
    return file_write(job->A, job->path);
}

static heddle_status read_job(void *argument)
{
    struct job *job = argument;
    struct file_matrix F;
    heddle_status status = file_read(&F, job->path, HEDDLE_F32);
    if (status == HEDDLE_OK)
        file_matrix_free(&F);
    return status;
}

TEST(every_allocation_of_writing_and_reading_back_may_fail)
{
    static const char *const names[] = {"f.mtx", "f.mtx.gz", "f.rb", "f.hdl"};
    struct io_tuning before = io_tuning;
    struct csr A;
    io_tuning.items = 20;
    CHECK_OK(some_matrix(&A, 30, 30, HEDDLE_F64));
    for (int i = 0; i < 4; i++) {
        struct job job = {.A = &A};
        snprintf(job.path, sizeof job.path, "%s", test_path(names[i]));
        CHECK(test_every_allocation(write_job, &job) > 2);
        CHECK(test_every_allocation(read_job, &job) > 2);
    }
    csr_free(&A);
    io_tuning = before;
}

/* -------------------------------------------------------- vectors ----------------------------- */

static void check_vector(const char *path, int64_t n, const double *expected)
{
    void *x;
    int64_t got;
    for (int type = HEDDLE_F32; type <= HEDDLE_F64; type++) {
        if (!CHECK_OK(vector_read(&x, &got, (heddle_type)type, path)) ||
            !CHECK_THAT(got == n, "%s has %d numbers", path, (int)got))
            continue;
        for (int64_t i = 0; i < n; i++)
            CHECK_THAT(value_at(x, (heddle_type)type, i) == expected[i], "%s: x[%d] = %g", path, (int)i,
                       (double)value_at(x, (heddle_type)type, i));
        mem_free(x);
    }
}

TEST(vectors_are_read_from_arrays_coordinates_and_plain_text)
{
    const double three[] = {1, 0, -2.5};
    check_vector(test_file("v.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n0\n-2.5\n"), 3, three);
    check_vector(test_file("v.mtx", "%%MatrixMarket matrix array real general\n1 3\n1\n0\n-2.5\n"), 3, three);
    check_vector(
        test_file("v.mtx", "%%MatrixMarket matrix coordinate real general\n3 1 3\n3 1 -2\n1 1 1\n3 1 -0.5\n"),
        3, three);
    check_vector(
        test_file("v.mtx", "%%MatrixMarket matrix coordinate real general\n1 3 2\n1 3 -2.5\n1 1 1\n"), 3,
        three);
    check_vector(test_file("v.txt", "1\n0\n-2.5\n"), 3, three);
    check_vector(test_file("v.txt", "# header\n 1 0\t-2.5 % end"), 3, three);
    check_vector(test_file("v.txt", "\r\n1.0\r\n0x0\r\n-25e-1#x\r\n"), 3, three);
    check_vector(test_file("v.mtx", "%%MatrixMarket matrix array real symmetric\n1 1\n1\n"), 1, three);
}

TEST(vectors_come_back_as_they_were_written)
{
    static const char *const names[] = {"v.mtx", "v.txt", "v.mtx.gz", "v.txt.gz"};
    double x[2000];
    for (int i = 0; i < 2000; i++)
        x[i] = (double)(float)(sin(i) * pow(10, i % 30 - 15));
    for (int i = 0; i < 4; i++) {
        CHECK_OK(vector_write(x, 2000, HEDDLE_F64, test_path(names[i])));
        check_vector(test_path(names[i]), 2000, x);
    }
    float y[] = {0.1f, 1e-20f};
    double z[] = {(double)0.1f, (double)1e-20f};
    void *back;
    int64_t n;
    CHECK_OK(vector_write(y, 2, HEDDLE_F32, test_path("f.mtx")));
    if (CHECK_OK(vector_read(&back, &n, HEDDLE_F32, test_path("f.mtx")))) {
        CHECK(n == 2 && value_at(back, HEDDLE_F32, 0) == z[0] && value_at(back, HEDDLE_F32, 1) == z[1]);
        mem_free(back);
    }
    CHECK_OK(vector_write(NULL, 0, HEDDLE_F64, test_path("e.mtx")));
    check_vector(test_path("e.mtx"), 0, NULL);
}

static heddle_status read_vector_job(void *path)
{
    void *x;
    int64_t n;
    heddle_status status = vector_read(&x, &n, 0, path);
    if (status == HEDDLE_OK)
        mem_free(x);
    return status;
}

static heddle_status write_vector_job(void *path)
{
    return vector_write((double[]){1, 2, 3}, 3, 0, path);
}

TEST(every_allocation_of_reading_and_writing_vectors_may_fail)
{
    static const char *const names[] = {"w.mtx", "w.txt.gz"};
    for (int i = 0; i < 2; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s", test_path(names[i]));
        CHECK(test_every_allocation(write_vector_job, path) > 2);
        CHECK(test_every_allocation(read_vector_job, path) > 2);
    }
}

TEST(the_features_name_what_is_built_in)
{
    CHECK(strstr(io_features(), "mtx rb petsc hdl gz xz(") != NULL);
}
