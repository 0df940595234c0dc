/* SPDX-License-Identifier: MIT
 *
 * Compressed files and archives. */
#define _GNU_SOURCE
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/read.h"
#include "test_io.h"

#define SMALL "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 3 2.5\n2 2 -3\n1 1 1\n"
#define SMALL_WORDS "2x3: 0,2=2.5 0,0=1 1,1=-3"

static int have_xz(void)
{
    return system("xz --version > /dev/null 2>&1") == 0;
}

/* Compresses a file with the xz program; the result lies beside it. */
static const char *xz_file(const char *name, const void *data, size_t size)
{
    char command[1200], packed[128];
    snprintf(command, sizeof command, "xz -kf '%s'", bytes_file(name, data, size));
    if (system(command) != 0)
        abort();
    snprintf(packed, sizeof packed, "%s.xz", name);
    return test_path(packed);
}

TEST(gzip_is_known_by_its_contents)
{
    CHECK_MATRIX(gzip_file("a.mtx.gz", SMALL, sizeof SMALL - 1), SMALL_WORDS);
    CHECK_MATRIX(gzip_file("a.mtx", SMALL, sizeof SMALL - 1), SMALL_WORDS);
    CHECK_MATRIX(test_file("plain.mtx.gz", SMALL), SMALL_WORDS);
}

TEST(gzip_members_follow_one_another_and_zeros_may_pad_them)
{
    size_t half = sizeof SMALL / 2, n, m;
    char *first = slurp(gzip_file("1.gz", SMALL, half), &n);
    char *second = slurp(gzip_file("2.gz", SMALL + half, sizeof SMALL - 1 - half), &m);
    char both[2048] = {0};
    memcpy(both, first, n);
    memcpy(both + n, second, m);
    CHECK_MATRIX(bytes_file("both.mtx.gz", both, n + m), SMALL_WORDS);
    CHECK_MATRIX(bytes_file("padded.mtx.gz", both, n + m + 100), SMALL_WORDS);
    both[n + m + 50] = 'x';
    CHECK_REFUSED(bytes_file("dirt.mtx.gz", both, n + m + 100), HEDDLE_BAD_FILE,
                  "something that is not gzip data follows");
    free(first);
    free(second);
}

TEST(gzip_data_that_is_cut_off_or_damaged_is_refused_wherever_that_is)
{
    size_t size;
    char *data = slurp(gzip_file("a.mtx.gz", SMALL, sizeof SMALL - 1), &size);
    for (size_t n = 3; n < size; n++)
        CHECK_REFUSED(bytes_file("cut.mtx.gz", data, n), HEDDLE_BAD_FILE,
                      "cut.mtx.gz: the gzip data is cut off");
    for (size_t i = 10; i < size; i++) {
        struct file_matrix F;
        data[i] ^= 0x55;
        heddle_status status = file_read(&F, bytes_file("bad.mtx.gz", data, size), 0);
        CHECK_THAT(status == HEDDLE_BAD_FILE, "damage at byte %zu is not noticed", i);
        data[i] ^= 0x55;
    }
    data[size / 2] ^= 0x55;
    CHECK_REFUSED(bytes_file("bad.mtx.gz", data, size), HEDDLE_BAD_FILE,
                  "bad.mtx.gz: the gzip data is corrupt near byte");
    free(data);
}

/* A text of many lines. */
static char *many_lines(int entries, size_t *size)
{
    char *text = malloc((size_t)entries * 40 + 200);
    size_t n =
        (size_t)sprintf(text, "%%%%MatrixMarket matrix coordinate real general\n1000 1000 %d\n", entries);
    uint64_t state = 9;
    for (int k = 0; k < entries; k++) {
        uint64_t r = test_random(&state);
        n += (size_t)sprintf(text + n, "%d %d %.10g\n", (int)(r % 1000) + 1, (int)(r / 1000 % 1000) + 1,
                             (double)(r % 1234567) / 64);
    }
    *size = n;
    return text;
}

TEST(blocks_of_a_stream_may_be_cut_anywhere)
{
    struct io_tuning before = io_tuning;
    struct file_matrix whole, F;
    size_t size;
    char *text = many_lines(300, &size);
    CHECK_OK(file_read(&whole, bytes_file("m.mtx", text, size), 0));
    const char *path = gzip_file("m.mtx.gz", text, size);
    for (int64_t block = 64; block < 400; block += 7)
        for (int threads = 1; threads <= 3; threads++) {
            io_tuning.block = block;
            io_tuning.chunk = block / 3;
            io_tuning.threads = threads;
            if (CHECK_OK(file_read(&F, path, 0))) {
                CHECK_THAT(same_matrix(&whole.csr, &F.csr), "blocks of %d bytes differ", (int)block);
                file_matrix_free(&F);
            }
        }
    io_tuning.block = 40;
    CHECK_REFUSED(path, HEDDLE_BAD_FILE, "m.mtx.gz: a line is longer than 40 bytes");
    io_tuning = before;
    text[size - 20] = 'x';
    CHECK_REFUSED(gzip_file("m.mtx.gz", text, size), HEDDLE_BAD_FILE, "m.mtx.gz:30");
    file_matrix_free(&whole);
    free(text);
}

TEST(damage_in_a_later_block_is_reported_when_it_is_reached)
{
    struct io_tuning before = io_tuning;
    size_t size, n;
    char *text = many_lines(300, &size);
    char *data = slurp(gzip_file("m.mtx.gz", text, size), &n);
    io_tuning.block = 256;
    CHECK_REFUSED(bytes_file("m.mtx.gz", data, n - 30), HEDDLE_BAD_FILE, "cut off");
    io_tuning = before;
    free(data);
    free(text);
}

TEST(xz_is_read_by_library_and_by_program)
{
    if (!have_xz())
        SKIP("there is no xz program");
    size_t size, n;
    char *text = many_lines(2000, &size);
    struct file_matrix whole, F;
    CHECK_OK(file_read(&whole, bytes_file("m.mtx", text, size), 0));
    char path[512];
    snprintf(path, sizeof path, "%s", xz_file("m.mtx", text, size));
    char *data = slurp(path, &n);
    for (io_tuning.xz_program = 0; io_tuning.xz_program < 2; io_tuning.xz_program++) {
        if (CHECK_OK(file_read(&F, path, 0))) {
            CHECK(same_matrix(&whole.csr, &F.csr));
            file_matrix_free(&F);
        }
        CHECK_REFUSED(bytes_file("cut.mtx.xz", data, n / 2), HEDDLE_BAD_FILE, "cut.mtx.xz: the xz data is c");
        CHECK_REFUSED(bytes_file("cut.mtx.xz", data, n - 1), HEDDLE_BAD_FILE, "cut.mtx.xz: the xz data is c");
        data[n / 2] ^= 0x55;
        CHECK_REFUSED(bytes_file("bad.mtx.xz", data, n), HEDDLE_BAD_FILE,
                      "bad.mtx.xz: the xz data is corrupt");
        data[n / 2] ^= 0x55;
    }
    io_tuning.xz_program = 0;
    file_matrix_free(&whole);
    free(data);
    free(text);
}

/* In the place of the C library's.  Readers send no signals: where SIGCHLD is ignored, the number of a
 * program that has ended may be another process'. */
static int signals;
int kill(pid_t pid, int number)
{
    signals++;
    return (int)syscall(SYS_kill, pid, number);
}

/* The children of this process that nobody waited for. */
static int zombies(void)
{
    return waitpid(-1, NULL, WNOHANG) >= 0;
}

TEST(the_xz_program_leaves_no_process_and_no_file_behind)
{
    if (!have_xz())
        SKIP("there is no xz program");
    size_t size;
    char *text = many_lines(40000, &size), path[512];
    io_tuning.xz_program = 1;
    text[100] = 'x'; /* an error long before the end: the program is still writing */
    snprintf(path, sizeof path, "%s", xz_file("bad.mtx", text, size));
    struct io_tuning before = io_tuning;
    io_tuning.block = 4096;
    int first = dup(0);
    CHECK_REFUSED(path, HEDDLE_BAD_FILE, "bad.mtx.xz:");
    int second = dup(0);
    CHECK_THAT(second == first + 1, "descriptors leak: %d after %d", second, first);
    close(first);
    close(second);
    CHECK(!zombies());
    signal(SIGCHLD, SIG_IGN); /* then there is nobody to wait for */
    CHECK_REFUSED(path, HEDDLE_BAD_FILE, "bad.mtx.xz:");
    signal(SIGCHLD, SIG_DFL);
    io_tuning = before;
    io_tuning.xz_program = 1;
    CHECK_MATRIX(xz_file("good.mtx", SMALL, sizeof SMALL - 1), SMALL_WORDS); /* the program has ended */
    CHECK(!zombies());
    CHECK(signals == 0);
    io_tuning.xz_program = 0;
    free(text);
}

/* In the place of the C library's: what the system may do, and does with very large files, give fewer bytes
 * than were asked for. */
static size_t bytes_most;
ssize_t pread(int file, void *to, size_t n, off_t at)
{
    return syscall(SYS_pread64, file, to, bytes_most > 0 && n > bytes_most ? bytes_most : n, at);
}

TEST(files_may_come_in_small_pieces)
{
    bytes_most = 7;
    CHECK_MATRIX(bytes_file("a.mtx", SMALL, sizeof SMALL - 1), SMALL_WORDS);
    CHECK_MATRIX(gzip_file("a.mtx.gz", SMALL, sizeof SMALL - 1), SMALL_WORDS);
    bytes_most = 0;
}

TEST(a_file_may_be_the_first_descriptor)
{
    const char *path = bytes_file("a.mtx", SMALL, sizeof SMALL - 1);
    int input = dup(0);
    close(0);
    CHECK_MATRIX(path, SMALL_WORDS);
    dup2(input, 0);
    close(input);
}

/* Whatever a process that has hardly a descriptor left cannot open, it says so and goes on. */
TEST(the_xz_program_may_find_no_descriptor_left)
{
    if (!have_xz())
        SKIP("there is no xz program");
    char path[512];
    snprintf(path, sizeof path, "%s", xz_file("good.mtx", SMALL, sizeof SMALL - 1));
    struct rlimit usual, few;
    CHECK(getrlimit(RLIMIT_NOFILE, &usual) == 0);
    int read = 0, said = 0;
    io_tuning.xz_program = 1;
    for (few = usual, few.rlim_cur = 3; !read && few.rlim_cur < 1000; few.rlim_cur++) {
        struct file_matrix F;
        CHECK(setrlimit(RLIMIT_NOFILE, &few) == 0);
        read = file_read(&F, path, 0) == HEDDLE_OK;
        CHECK(setrlimit(RLIMIT_NOFILE, &usual) == 0);
        if (read)
            file_matrix_free(&F);
        else
            said += strstr(heddle_last_error(), "temporary file") != NULL;
    }
    CHECK(read && said == 1);
    io_tuning.xz_program = 0;
}

TEST(a_missing_xz_program_is_said_so)
{
    static const char magic[] = "\xfd"
                                "7zXZ\0 and more";
    char *path = getenv("PATH") ? strdup(getenv("PATH")) : NULL;
    io_tuning.xz_program = 1;
    setenv("PATH", "/nowhere", 1);
    CHECK_REFUSED(bytes_file("a.mtx.xz", magic, sizeof magic), HEDDLE_NOT_SUPPORTED, "needs the xz program");
    setenv("PATH", path ? path : "/usr/bin:/bin", 1);
    io_tuning.xz_program = 0;
    free(path);
}

/* -------------------------------------------------------- archives ---------------------------- */

struct archive {
    char data[40960];
    size_t size;
};

static void tar_checksum(char *header)
{
    unsigned sum = 0;
    memset(header + 148, ' ', 8);
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)header[i];
    snprintf(header + 148, 8, "%06o", sum);
}

/* Adds a member; prefix as ustar has it. */
static char *tar_add(struct archive *a, char kind, const char *prefix, const char *name, const char *contents)
{
    char *header = a->data + a->size;
    size_t n = strlen(contents);
    memset(header, 0, 512);
    strncpy(header, name, 100);
    snprintf(header + 100, 8, "%07o", 0644u);
    snprintf(header + 124, 12, "%011o", (unsigned)n & 0xffffff);
    header[156] = kind;
    memcpy(header + 257,
           "ustar\0"
           "00",
           8);
    strncpy(header + 345, prefix, 155);
    tar_checksum(header);
    memset(header + 512, 0, (n + 511) / 512 * 512);
    memcpy(header + 512, contents, n);
    a->size += 512 + (n + 511) / 512 * 512;
    return header;
}

static void tar_end(struct archive *a)
{
    memset(a->data + a->size, 0, 1024);
    a->size += 1024;
}

#define OTHER "%%MatrixMarket matrix array real general\n1 1\n9\n"

TEST(the_matrix_of_a_suitesparse_archive_is_found)
{
    struct archive a = {.size = 0};
    tar_add(&a, '5', "", "cant/", "");
    tar_add(&a, '0', "", "cant/cant_b.mtx", OTHER);
    tar_add(&a, '0', "", "other/other.mtx", OTHER);
    tar_add(&a, '0', "", "cant/cant.mtx", SMALL);
    tar_add(&a, '0', "", "cant/readme.txt", "hello");
    tar_end(&a);
    CHECK_MATRIX(gzip_file("cant.tar.gz", a.data, a.size), SMALL_WORDS);
    CHECK_MATRIX(bytes_file("cant.tar", a.data, a.size), SMALL_WORDS);
    CHECK_MATRIX(bytes_file("other.tar", a.data, a.size), "1x1: 0,0=9");
    CHECK_MATRIX(gzip_file("renamed.tgz", a.data, a.size),
                 "1x1: 0,0=9"); /* the first that lies in its own folder */
    if (have_xz())
        CHECK_MATRIX(xz_file("cant.tar", a.data, a.size), SMALL_WORDS);
}

TEST(errors_inside_an_archive_name_the_member)
{
    struct archive a = {.size = 0};
    tar_add(&a, '0', "", "./bad/bad.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 3\n");
    tar_end(&a);
    CHECK_REFUSED(gzip_file("bad.tar.gz", a.data, a.size), HEDDLE_BAD_FILE,
                  "bad.tar.gz(./bad/bad.mtx):3: column 2 is outside 1..1");
    a.size = 0;
    tar_add(&a, '0', "", "e/e.mtx", "");
    tar_end(&a);
    CHECK_REFUSED(bytes_file("e.tar", a.data, a.size), HEDDLE_BAD_FILE,
                  "e.tar(e/e.mtx):1: the first line does not begin");
}

TEST(long_names_and_old_headers_are_understood)
{
    struct archive a = {.size = 0};
    tar_add(&a, 'g', "", "pax_global", "20 comment=whatever\n");
    tar_add(&a, 'L', "", "././@LongLink", "cant/cant.mtx");
    tar_add(&a, '0', "", "cut/off", SMALL);
    tar_end(&a);
    CHECK_MATRIX(gzip_file("cant.tar.gz", a.data, a.size), SMALL_WORDS);
    a.size = 0;
    tar_add(&a, 'x', "", "PaxHeader", "12 mtime=12\n12 uid=1000\n22 path=cant/cant.mtx\n");
    tar_add(&a, '0', "", "cut/off", SMALL);
    tar_end(&a);
    CHECK_MATRIX(gzip_file("cant.tar.gz", a.data, a.size), SMALL_WORDS);
    a.size = 0;
    tar_add(&a, 'x', "", "PaxHeader", "broken\n");
    tar_add(&a, '0', "deep/folder", "cant/cant.mtx", SMALL);
    tar_end(&a);
    CHECK_MATRIX(gzip_file("x.tar.gz", a.data, a.size), SMALL_WORDS);
    static const char *const broken[] = {"broken\n", "0 path=x/x.mtx\n", "3 path=x/x.mtx\n",
                                         "99 path=x/x.mtx", "16-path=x/x.mtx\n"};
    for (int i = 0; i < 5; i++) {
        a.size = 0;
        tar_add(&a, 'x', "", "PaxHeader", broken[i]);
        tar_add(&a, '0', "deep/folder", "cut/off", "%%MatrixMarket matrix array real general\n1 1\n9\n");
        tar_add(&a, '0', "", "x/x.mtx", SMALL);
        tar_end(&a);
        CHECK_MATRIX(gzip_file("x.tar.gz", a.data, a.size), SMALL_WORDS);
    }
    a.size = 0;
    char *header = tar_add(&a, 0, "", "v7/v7.mtx", SMALL);
    memset(header + 257, 0, 8); /* no "ustar" yet */
    tar_checksum(header);
    CHECK_MATRIX(bytes_file("v7.tar", a.data, a.size), SMALL_WORDS); /* and no zeros at the end */
    char digits[16];
    snprintf(digits, sizeof digits, "%012o1", (unsigned)sizeof SMALL - 1);
    memcpy(header + 124, digits, 13); /* a size that fills its field, and a digit of the next one */
    tar_checksum(header);
    CHECK_MATRIX(bytes_file("v7.tar", a.data, a.size), SMALL_WORDS);
    memset(header + 124, 0, 12); /* a size in base 256 */
    header[124] = (char)0x80;
    header[135] = (char)(sizeof SMALL - 1);
    tar_checksum(header);
    CHECK_MATRIX(bytes_file("v7.tar", a.data, a.size), SMALL_WORDS);
}

TEST(an_archive_without_its_matrix_is_refused)
{
    struct archive a = {.size = 0};
    tar_add(&a, '0', "", "readme", "hello");
    tar_end(&a);
    CHECK_REFUSED(gzip_file("cant.tar.gz", a.data, a.size), HEDDLE_BAD_FILE,
                  "the archive holds no .mtx file: expected cant/cant.mtx");
    a.size = 0;
    tar_add(&a, '0', "", "a.mtx", SMALL);
    tar_end(&a);
    CHECK_MATRIX(gzip_file("cant.tar.gz", a.data, a.size), SMALL_WORDS); /* the only one */
    a.size = 0;
    tar_add(&a, '0', "", "a.mtx", SMALL);
    tar_add(&a, '0', "", "x/b.mtx", SMALL);
    tar_end(&a);
    CHECK_REFUSED(gzip_file("cant.tar.gz", a.data, a.size), HEDDLE_BAD_FILE, "several .mtx files");
}

TEST(a_broken_archive_is_refused)
{
    struct archive a = {.size = 0};
    tar_add(&a, '0', "", "cant/readme", "hello");
    char *second = tar_add(&a, '0', "", "cant/cant.mtx", SMALL);
    tar_end(&a);
    for (int packed = 0; packed < 2; packed++) {
        const char *(*make)(const char *, const void *, size_t) = packed ? gzip_file : bytes_file;
        CHECK_REFUSED(make("cant.tar", a.data, 1100), HEDDLE_BAD_FILE, "the tar archive has a broken header");
        CHECK_REFUSED(make("cant.tar", a.data, 600), HEDDLE_BAD_FILE, "the tar archive is cut off");
        CHECK_REFUSED(make("cant.tar", a.data, 1024 + 512 + 20), HEDDLE_BAD_FILE,
                      "(cant/cant.mtx): the archive is cut off inside");
        second[3] ^= 1;
        CHECK_REFUSED(make("cant.tar", a.data, a.size), HEDDLE_BAD_FILE,
                      "the tar archive has a broken header");
        second[3] ^= 1;
    }
    memcpy(second + 124, "12x4567\0\0\0\0\0", 12);
    tar_checksum(second);
    CHECK_REFUSED(bytes_file("cant.tar", a.data, a.size), HEDDLE_BAD_FILE, "broken header");
    memset(second + 124, 0xff, 12);
    tar_checksum(second);
    CHECK_REFUSED(bytes_file("cant.tar", a.data, a.size), HEDDLE_BAD_FILE, "broken header");
}

TEST(a_pipe_can_be_read)
{
    int ends[2];
    char path[64];
    size_t size;
    char *text = many_lines(3000, &size);
    struct file_matrix whole, F;
    CHECK_OK(file_read(&whole, bytes_file("m.mtx", text, size), 0));
    if (pipe(ends) != 0)
        abort();
    pid_t child = fork();
    if (child == 0) {
        ssize_t n = write(ends[1], text, size);
        _exit(n != (ssize_t)size);
    }
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    if (CHECK_OK(file_read(&F, path, 0))) {
        CHECK(same_matrix(&whole.csr, &F.csr));
        file_matrix_free(&F);
    }
    close(ends[0]);
    waitpid(child, NULL, 0);
    file_matrix_free(&whole);
    free(text);
}

static heddle_status read_and_free(void *path)
{
    struct file_matrix F;
    heddle_status status = file_read(&F, path, 0);
    if (status == HEDDLE_OK)
        file_matrix_free(&F);
    return status;
}

TEST(every_allocation_of_reading_packed_files_may_fail)
{
    struct archive a = {.size = 0};
    char path[512];
    tar_add(&a, '0', "", "x/readme", "hello");
    tar_add(&a, '0', "", "cant/cant.mtx", SMALL);
    tar_end(&a);
    snprintf(path, sizeof path, "%s", gzip_file("x.tar.gz", a.data, a.size));
    CHECK(test_every_allocation(read_and_free, path) > 8);
    if (!have_xz())
        SKIP("there is no xz program");
    snprintf(path, sizeof path, "%s", xz_file("y.mtx", SMALL, sizeof SMALL - 1));
    for (io_tuning.xz_program = 0; io_tuning.xz_program < 2; io_tuning.xz_program++)
        CHECK(test_every_allocation(read_and_free, path) > 4);
    io_tuning.xz_program = 0;
}

TEST(nothing_at_all_in_memory_is_an_empty_file)
{
    struct text_source s;
    CHECK_FAILS(source_memory(&s, "nothing", "", 0), HEDDLE_BAD_FILE, "nothing: the file is empty");
}
