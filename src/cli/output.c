/* SPDX-License-Identifier: MIT
 *
 * What reaches the user: standard output (only complete, and with its errors noticed), files that appear when they are
 * complete, and the progress bar. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/timer.h"
#include "cli/cli.h"

heddle_status out_flush(struct session *s)
{
    heddle_status status = HEDDLE_OK;
    errno = 0;
    if (s->out.failed)
        status = HEDDLE_NO_MEMORY;
    else if ((s->out.size > 0 && fwrite(s->out.data, 1, (size_t)s->out.size, stdout) != (size_t)s->out.size) ||
             fflush(stdout) != 0)
        status = errno == EPIPE ? fail(HEDDLE_FILE_ERROR, "standard output was closed before everything was written")
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

heddle_status output_open(struct output_file *f, const char *path)
{
    struct text name = {0};
    *f = (struct output_file){.path = path};
    text_add(&name, "%s.part-%ld", path, (long)getpid());
    if (name.failed)
        return HEDDLE_NO_MEMORY;
    f->temporary = name.data;
    f->stream = fopen(f->temporary, "w");
    if (!f->stream) {
        int error = errno;
        text_free(&name);
        *f = (struct output_file){0};
        return fail(HEDDLE_FILE_ERROR, "%s: cannot be written: %s", path, strerror(error));
    }
    return HEDDLE_OK;
}

heddle_status output_grow(struct output_file *f, const char *path, int64_t keep)
{
    *f = (struct output_file){.path = path, .created = access(path, F_OK) != 0};
    f->stream = fopen(path, "a");
    if (!f->stream || ftruncate(fileno(f->stream), (off_t)keep) != 0) {
        int error = errno;
        output_drop(f);
        return fail(HEDDLE_FILE_ERROR, "%s: cannot be written: %s", path, strerror(error));
    }
    return HEDDLE_OK;
}

heddle_status output_line(struct output_file *f, const char *line)
{
    f->lines++;
    if (fprintf(f->stream, "%s\n", line) < 0 || fflush(f->stream) != 0)
        return fail(HEDDLE_FILE_ERROR, "%s: cannot be written: %s", f->path, strerror(errno));
    return HEDDLE_OK;
}

heddle_status output_commit(struct output_file *f)
{
    FILE *stream = f->stream;
    f->stream = NULL;
    if (!stream)
        return HEDDLE_OK;
    heddle_status status = HEDDLE_OK;
    if (fclose(stream) != 0 || (f->temporary && rename(f->temporary, f->path) != 0)) {
        status = fail(HEDDLE_FILE_ERROR, "%s: cannot be written: %s", f->path, strerror(errno));
        if (f->temporary)
            remove(f->temporary);
    }
    mem_free(f->temporary);
    f->temporary = NULL;
    return status;
}

void output_drop(struct output_file *f)
{
    if (f->stream) {
        fclose(f->stream);
        if (f->temporary)
            remove(f->temporary);
        else if (f->created && f->lines == 0)
            remove(f->path);
        mem_free(f->temporary);
    }
    *f = (struct output_file){0};
}

heddle_status output_text(const char *path, const struct text *t)
{
    heddle_status status = HEDDLE_OK;
    struct output_file file = {0};
    TRY(t->failed ? HEDDLE_NO_MEMORY : HEDDLE_OK);
    TRY(output_open(&file, path));
    if (fwrite(t->data, 1, (size_t)t->size, file.stream) != (size_t)t->size)
        TRY(fail(HEDDLE_FILE_ERROR, "%s: cannot be written: %s", path, strerror(errno)));
    TRY(output_commit(&file));
done:
    output_drop(&file);
    return status;
}

/* ------------------------------------------------------------------ progress */

#define BAR 24
#define REDRAW_MS 50 /* often enough to look alive, rarely enough to cost nothing */

void progress(struct session *s, int64_t done, int64_t total, const char *format, ...)
{
    static double last;
    char bar[BAR + 1], text[64];
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
    fprintf(stderr, "\r\033[K[%s] %lld/%lld %.48s", bar, (long long)done, (long long)total, text);
    fflush(stderr);
    s->drawn = 1;
}

void progress_clear(struct session *s)
{
    if (s->drawn)
        fputs("\r\033[K", stderr);
    s->drawn = 0;
}
