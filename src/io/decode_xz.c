/* SPDX-License-Identifier: MIT
 *
 * .xz, by liblzma where it is built in, else by the xz program at the other end of a pipe.  Both are
 * always compiled where they can be, so that tests reach both. */
#define _GNU_SOURCE /* pipe2 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HEDDLE_HAVE_LZMA
#include <lzma.h>
#endif

#include "base/memory.h"
#include "io/decode.h"
#include "io/tuning.h"

extern char **environ;

/* The program, its output, and its input: a temporary file, since it may be that the data never was a file
 * and a program that is fed and read by one thread can block both ways. */
struct program {
    pid_t pid;
    int output;
    FILE *input;
};

/* Nobody reads any more, so that the program ends with its next write.  A signal could meet a stranger: where
 * the parent ignores SIGCHLD, the number of a program that has ended is free. */
static void program_stop(struct decoder *d)
{
    struct program *p = d->state;
    if (p->output >= 0)
        close(p->output);
    while (p->pid > 0 && waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (p->input)
        fclose(p->input);
    mem_free(p);
}

/* The pipe is empty: did the program end well?  A parent that ignores SIGCHLD cannot know; the parser then
 * still checks the counts. */
static heddle_status program_end(struct decoder *d)
{
    struct program *p = d->state;
    int code = 0;
    pid_t pid;
    while ((pid = waitpid(p->pid, &code, 0)) < 0 && errno == EINTR)
        ;
    p->pid = 0;
    d->finished = 1;
    if (pid > 0 && !(WIFEXITED(code) && WEXITSTATUS(code) == 0))
        return fail(HEDDLE_BAD_FILE, "%s: the xz data is corrupt or cut off (the xz program says so)",
                    d->name);
    return HEDDLE_OK;
}

/* A pipe gives what it has: read on until the buffer is full, as the rule of decode.h wants it. */
static heddle_status program_read(struct decoder *d, char *out, int64_t capacity, int64_t *got)
{
    struct program *p = d->state;
    for (*got = 0; *got < capacity && !d->finished;) {
        ssize_t n = read(p->output, out + *got, (size_t)(capacity - *got));
        if (n > 0)
            *got += n;
        else if (n == 0)
            return program_end(d);
        else if (errno != EINTR)
            return fail(HEDDLE_FILE_ERROR, "%s: cannot read from the xz program: %s", d->name,
                        strerror(errno));
    }
    return HEDDLE_OK;
}

/* No shell, so that no file name is ever interpreted; what the program says goes nowhere, its exit status
 * tells enough.  The pipe is closed on exec, or a second child would hold it open. */
static heddle_status program_spawn(struct decoder *d, struct program *p)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail(HEDDLE_FILE_ERROR, "%s: cannot make a pipe: %s", d->name, strerror(errno));
    p->output = ends[0];
    char *const command[] = {(char[]){"xz"}, (char[]){"-dcq"}, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(p->input), 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    int error = posix_spawnp(&p->pid, "xz", &actions, NULL, command, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error) {
        p->pid = 0;
        return fail(HEDDLE_NOT_SUPPORTED,
                    "%s: reading .xz files needs the xz program, which cannot be run (%s): install "
                    "xz-utils, or decompress the file first",
                    d->name, strerror(error));
    }
    return HEDDLE_OK;
}

static heddle_status program_start(struct decoder *d)
{
    heddle_status status = HEDDLE_OK;
    struct program *p = NULL;
    TRY(NEW_ZEROED(p, 1));
    p->output = -1;
    d->state = p;
    d->read = program_read;
    d->stop = program_stop;
    p->input = tmpfile();
    int good = p->input != NULL;
    while (good && d->at < d->input->size) {
        TRY(decoder_fill(d));
        good = fwrite(d->window + d->used, 1, (size_t)d->ready, p->input) == (size_t)d->ready;
        decoder_take(d, d->ready);
    }
    if (!good || fflush(p->input) != 0 || lseek(fileno(p->input), 0, SEEK_SET) != 0)
        TRY(fail(HEDDLE_FILE_ERROR, "%s: cannot make a temporary file for the xz program: %s", d->name,
                 strerror(errno)));
    TRY(program_spawn(d, p));
done:
    if (status != HEDDLE_OK)
        decoder_stop(d);
    return status;
}

#ifdef HEDDLE_HAVE_LZMA

/* liblzma's memory is checked like all other. */
static void *lzma_allocate(void *nobody, size_t n, size_t size)
{
    (void)nobody;
    return mem_alloc((int64_t)n, size);
}
static void lzma_release(void *nobody, void *p)
{
    (void)nobody;
    mem_free(p);
}
static const lzma_allocator allocator = {lzma_allocate, lzma_release, NULL};

static void lzma_stop(struct decoder *d)
{
    lzma_end(d->state);
    mem_free(d->state);
}

/* Why liblzma did not go on. */
static heddle_status lzma_failed(const struct decoder *d, lzma_ret code)
{
    /* a dictionary that is out of all proportion, unless more is said to be welcome */
    if (code == LZMA_MEMLIMIT_ERROR) {
        heddle_status status = input_affords(d->input, d->name, (double)lzma_memusage(d->state));
        return status != HEDDLE_OK
                 ? status
                 : fail(HEDDLE_NO_MEMORY, "%s: liblzma has not enough memory for it", d->name);
    }
    if (code == LZMA_MEM_ERROR)
        return fail(HEDDLE_NO_MEMORY, "%s: liblzma has not enough memory for it", d->name);
    if (code == LZMA_BUF_ERROR)
        return fail(HEDDLE_BAD_FILE, "%s: the xz data is cut off: the file ends before its contents do",
                    d->name);
    return fail(HEDDLE_BAD_FILE, "%s: the xz data is corrupt near byte %lld", d->name, (long long)d->at);
}

/* LZMA_FINISH makes the library report input that ends early instead of waiting for more. */
static heddle_status lzma_read(struct decoder *d, char *out, int64_t capacity, int64_t *got)
{
    heddle_status status = HEDDLE_OK;
    lzma_stream *z = d->state;
    *got = 0;
    if (d->finished)
        return HEDDLE_OK;
    z->next_out = (uint8_t *)out;
    z->avail_out = (size_t)capacity;
    lzma_ret code = LZMA_OK;
    while (code == LZMA_OK && z->avail_out > 0) {
        TRY(decoder_fill(d));
        z->next_in = (const uint8_t *)d->window + d->used;
        z->avail_in = (size_t)d->ready;
        code = lzma_code(z, d->at + d->ready == d->input->size ? LZMA_FINISH : LZMA_RUN);
        decoder_take(d, d->ready - (int64_t)z->avail_in);
    }
    *got = capacity - (int64_t)z->avail_out;
    d->finished = code == LZMA_STREAM_END;
    if (code != LZMA_OK && code != LZMA_STREAM_END)
        status = lzma_failed(d, code);
done:
    return status;
}

/* The memory that a file of this size may ask for. */
static uint64_t memory_most(const struct input *in)
{
    double most = INPUT_RATIO * (double)in->size;
    return in->large ? UINT64_MAX : (uint64_t)(most > INPUT_FREE ? most : INPUT_FREE);
}

/* "Concatenated": several streams may follow one another, as xz itself reads them. */
static heddle_status lzma_start(struct decoder *d)
{
    lzma_stream *z = NULL;
    if (NEW(z, 1) != HEDDLE_OK)
        return HEDDLE_NO_MEMORY;
    *z = (lzma_stream)LZMA_STREAM_INIT;
    z->allocator = &allocator;
    if (lzma_stream_decoder(z, memory_most(d->input), LZMA_CONCATENATED) != LZMA_OK) {
        mem_free(z);
        return fail(HEDDLE_NO_MEMORY, "%s: liblzma cannot be started", d->name);
    }
    d->state = z;
    d->read = lzma_read;
    d->stop = lzma_stop;
    return HEDDLE_OK;
}

heddle_status xz_start(struct decoder *d)
{
    return io_tuning.xz_program ? program_start(d) : lzma_start(d);
}

#else

heddle_status xz_start(struct decoder *d)
{
    return program_start(d);
}

#endif
