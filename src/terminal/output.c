/* SPDX-License-Identifier: MIT
 *
 * What reaches the user: standard output (only complete, and with its errors noticed), files that appear
 * when they are complete, and the progress bar. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/timer.h"
#include "io/sink.h"
#include "terminal/terminal.h"

/* The text as standard output gets it: colours become the sequences of a terminal, other control
 * characters are quoted. */
static heddle_status put_out(const struct session *s)
{
    static const char *const sequence[] = {"", "\033[32m", "\033[31m", "\033[2m",
                                           "\033[0m"}; /* GREEN, RED, DIM, PLAIN */
    static const char *const kept[] = {"\n\t", "\n\t" GREEN RED DIM PLAIN};
    char *text = mem_alloc(4 * s->out.size + 1, 1);
    if (!text)
        return HEDDLE_NO_MEMORY;
    int64_t size = text_printable(text, 4 * s->out.size + 1, s->out.data, kept[s->colour != 0]);
    for (int64_t i = 0; i < size; i++)
        if (text[i] >= 1 && text[i] <= 4)
            fputs(sequence[(int)text[i]], stdout);
        else
            putc_unlocked(text[i], stdout);
    mem_free(text);
    return HEDDLE_OK;
}

heddle_status out_flush(struct session *s)
{
    heddle_status status = HEDDLE_OK;
    errno = 0;
    if (s->out.failed)
        status = HEDDLE_NO_MEMORY;
    else if (s->out.size > 0)
        status = put_out(s);
    if (status == HEDDLE_OK && (fflush(stdout) != 0 || ferror(stdout)))
        status = errno == EPIPE
                   ? fail(HEDDLE_FILE_ERROR, "standard output was closed before everything was written")
                   : fail(HEDDLE_FILE_ERROR, "cannot write to standard output: %s", strerror(errno));
    text_free(&s->out);
    return status;
}

heddle_status out_json(struct session *s, struct json *j)
{
    heddle_status status = j->text.failed ? HEDDLE_NO_MEMORY : HEDDLE_OK;
    if (status == HEDDLE_OK)
        out(s, "%s\n", j->text.data);
    json_free(j);
    return status;
}

/* ------------------------------------------------------------------ files */

heddle_status output_text(const char *path, const struct text *t)
{
    struct sink file;
    if (t->failed)
        return HEDDLE_NO_MEMORY;
    heddle_status status = sink_open(&file, path, 0);
    return status == HEDDLE_OK ? sink_close(&file, sink_write(&file, t->data, t->size)) : status;
}

static heddle_status unwritable(const char *path)
{
    return fail(HEDDLE_FILE_ERROR, "%s: cannot be written: %s", path, strerror(errno));
}

heddle_status output_grow(struct output_file *f, const char *path, int64_t keep)
{
    heddle_status status = HEDDLE_OK;
    struct stat info = {0};
    *f = (struct output_file){.path = path, .size = keep};
    f->file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    f->created = f->file >= 0;
    if (!f->created)
        f->file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (f->file < 0 || fstat(f->file, &info) != 0)
        TRY(unwritable(path));
    f->regular = S_ISREG(info.st_mode);
    if (f->regular && info.st_size != (off_t)keep && ftruncate(f->file, (off_t)keep) != 0)
        TRY(unwritable(path));
done:
    if (status != HEDDLE_OK)
        output_drop(f);
    return status;
}

heddle_status output_line(struct output_file *f, const char *line)
{
    struct text whole = {0};
    int64_t done = 0;
    text_add(&whole, "%s\n", line);
    heddle_status status = whole.failed ? HEDDLE_NO_MEMORY : HEDDLE_OK;
    while (status == HEDDLE_OK && done < whole.size) {
        ssize_t n = write(f->file, whole.data + done, (size_t)(whole.size - done));
        if (n < 0 && errno != EINTR)
            status = unwritable(f->path);
        done += n > 0 ? n : 0;
    }
    if (status == HEDDLE_OK) {
        f->lines++;
        f->size += whole.size;
    } else if (f->regular && done > 0 && ftruncate(f->file, (off_t)f->size) != 0) {
        f->lines++; /* half a line stays, for the next run to mend */
    }
    text_free(&whole);
    return status;
}

heddle_status output_commit(struct output_file *f)
{
    heddle_status status = HEDDLE_OK;
    if (f->path && ((f->regular && fsync(f->file) != 0) | (close(f->file) != 0)))
        status = unwritable(f->path);
    f->file = -1;
    return status;
}

void output_drop(struct output_file *f)
{
    if (f->path && f->file >= 0) {
        close(f->file);
        if (f->created && f->lines == 0)
            remove(f->path);
    }
    *f = (struct output_file){.file = -1};
}

/* ------------------------------------------------------------------ signals */

void ends_by_signal(int number)
{
    sinks_abandon();
    signal(number, SIG_DFL);
    raise(number);
}

void heed_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (signal(numbers[i], ends_by_signal) == SIG_IGN)
            signal(numbers[i], SIG_IGN); /* nohup, or a job in the background, meant it */
    signal(SIGPIPE, SIG_IGN);            /* a closed pipe and a full quota are write errors like others */
    signal(SIGXFSZ, SIG_IGN);
}

/* ------------------------------------------------------------------ progress */

#define BAR 24
#define REDRAW_MS 50 /* often enough to look alive, rarely enough to cost nothing */

void progress(struct session *s, int64_t done, int64_t total, const char *format, ...)
{
    static double last;
    char bar[BAR + 1], text[64], shown[64];
    va_list args;
    if (!s->progress || (s->drawn && now_ms() - last < REDRAW_MS))
        return;
    last = now_ms();
    int full = total > 0 ? (int)(done * BAR / total) : 0;
    memset(bar, '.', BAR);
    memset(bar, '#', (size_t)(full < BAR ? full : BAR));
    bar[BAR] = 0;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args); /* what does not fit on a line is cut */
    va_end(args);
    text_printable(shown, 49, text, "");
    fprintf(stderr, "\r\033[K[%s] %lld/%lld %s", bar, (long long)done, (long long)total, shown);
    fflush(stderr);
    s->drawn = 1;
}

void progress_clear(struct session *s)
{
    if (s->drawn)
        fputs("\r\033[K", stderr);
    s->drawn = 0;
}
