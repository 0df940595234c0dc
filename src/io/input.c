/* SPDX-License-Identifier: MIT */
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/tuning.h"

heddle_status input_affords(const struct input *in, const char *name, double bytes)
{
    char text[NUMBER_TEXT], size[NUMBER_TEXT];
    if (io_too_large(bytes))
        return fail(HEDDLE_NO_MEMORY, "%.400s: what it holds takes %s, more than this machine has", name,
                    text_bytes(text, bytes));
    if (!in->large && bytes > INPUT_FREE && bytes > INPUT_RATIO * (double)in->size)
        return fail(
            HEDDLE_NO_MEMORY,
            "%.400s: what it holds takes %s, but the file has only %s; if that is meant, set large in "
            "heddle_read_options, or --large on the command line",
            name, text_bytes(text, bytes), text_bytes(size, (double)in->size));
    return HEDDLE_OK;
}

static heddle_status unreadable(const char *path)
{
    return fail(HEDDLE_FILE_ERROR, "%s: cannot read: %s", path, strerror(errno));
}

/* All of a pipe or a device.  It may never end, so that it counts as a file without size. */
static heddle_status take_all(struct input *in, int file, const char *path)
{
    heddle_status status = HEDDLE_OK;
    int64_t capacity = 1 << 16, next;
    char *more;
    TRY(NEW(in->taken, capacity));
    for (;;) {
        if (in->size == capacity) {
            next = in->large || 2 * capacity < (int64_t)INPUT_FREE ? 2 * capacity : (int64_t)INPUT_FREE;
            if (next == capacity)
                TRY(fail(
                    HEDDLE_NO_MEMORY,
                    "%.400s: a pipe or device that gave 1 GB and has not ended, and all of it is kept in "
                    "memory; write it to a file, or set large in heddle_read_options, or --large on the "
                    "command line",
                    path));
            if (!(more = mem_resize(in->taken, capacity, next, 1)))
                TRY(HEDDLE_NO_MEMORY);
            in->taken = more;
            capacity = next;
        }
        ssize_t n = read(file, in->taken + in->size, (size_t)(capacity - in->size));
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            TRY(unreadable(path));
        in->size += n > 0 ? n : 0;
    }
done:
    in->data = in->taken;
    return status;
}

heddle_status input_open(struct input *in, const char *path, int large)
{
    heddle_status status = HEDDLE_OK;
    struct stat info;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    *in = (struct input){.file = -1, .large = large || io_tuning.large};
    if (file < 0)
        return fail(HEDDLE_FILE_ERROR, "%s: cannot open: %s", path, strerror(errno));
    if (fstat(file, &info) != 0)
        TRY(unreadable(path));
    if (S_ISDIR(info.st_mode))
        TRY(fail(HEDDLE_FILE_ERROR, "%s: is a directory, not a file", path));
    if (S_ISREG(info.st_mode)) {
        in->file = file;
        in->size = info.st_size;
        file = -1;
    } else {
        TRY(take_all(in, file, path));
    }
    if (in->size == 0)
        status = fail(HEDDLE_BAD_FILE, "%s: the file is empty", path);
done:
    if (file >= 0)
        close(file);
    if (status != HEDDLE_OK)
        input_close(in);
    return status;
}

heddle_status input_memory(struct input *in, const char *name, const void *data, int64_t size)
{
    *in = (struct input){.file = -1, .data = data, .size = size, .large = io_tuning.large};
    return size > 0 ? HEDDLE_OK : fail(HEDDLE_BAD_FILE, "%s: the file is empty", name);
}

void input_close(struct input *in)
{
    if (in->file >= 0)
        close(in->file);
    mem_free(in->taken);
    *in = (struct input){.file = -1};
}

heddle_status input_read(const struct input *in, const char *name, int64_t at, void *out, int64_t n)
{
    if (in->file < 0) {
        memcpy(out, in->data + at, (size_t)n);
        return HEDDLE_OK;
    }
    for (char *to = out; n > 0;) {
        ssize_t got = pread(in->file, to, (size_t)(n < 1 << 30 ? n : 1 << 30), (off_t)at);
        if (got == 0)
            return fail(HEDDLE_FILE_ERROR,
                        "%.400s: the file had %lld bytes and became shorter while it was read", name,
                        (long long)in->size);
        if (got < 0 && errno != EINTR)
            return unreadable(name);
        to += got > 0 ? got : 0;
        at += got > 0 ? got : 0;
        n -= got > 0 ? got : 0;
    }
    return HEDDLE_OK;
}
