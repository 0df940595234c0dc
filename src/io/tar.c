/* SPDX-License-Identifier: MIT
 *
 * tar.c: the matrix in an archive as the SuiteSparse collection packs it: NAME.tar.gz holds NAME/NAME.mtx,
 * and perhaps right-hand sides and coordinates beside it.  The archive is walked once to choose the
 * member, and entered again there: nothing is unpacked to disk. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/source.h"

#define RECORD 512
#define NAME_MOST 4096 /* longer names are cut: they are no matrix that anyone asked for */

/* One record of the archive, as far as it matters here. */
struct member {
    char path[NAME_MOST];
    int64_t size;
    char kind; /* '0' or 0: a file */
};

/* Preference among the members; the best one wins, the first among equals. */
enum { RANK_NONE, RANK_MTX, RANK_OWN_FOLDER, RANK_NAMED };

struct best_member {
    char wanted[NAME_MOST]; /* NAME/NAME.mtx */
    int rank, count;        /* of the best member, and how many have that rank */
    int64_t number;         /* which file of the archive it is, from 0 */
};

/* A number in octal, or in base 256 when the first bit is set (GNU tar, for sizes of 8 GB and more); -1
 * when broken. */
static int64_t tar_number(const char *field, int width)
{
    int64_t n = 0;
    if (field[0] & 0x80) {
        for (int i = 0; i < width; i++) {
            if (n >> 54)
                return -1;
            n = n << 8 | (i == 0 ? field[i] & 0x7f : (unsigned char)field[i]);
        }
        return n;
    }
    int i = 0;
    while (i < width && field[i] == ' ')
        i++;
    for (; i < width && field[i] >= '0' && field[i] <= '7'; i++)
        n = n * 8 + (field[i] - '0');
    return i < width && field[i] && field[i] != ' ' ? -1 : n;
}

/* The checksum counts the header's bytes with blanks in the place of the checksum itself. */
static int is_header(const char *record)
{
    int64_t sum = 0;
    for (int i = 0; i < RECORD; i++)
        sum += i >= 148 && i < 156 ? ' ' : (unsigned char)record[i];
    return record[0] && tar_number(record + 148, 8) == sum;
}

static heddle_status read_exactly(struct text_source *s, char *out, int64_t n)
{
    int64_t got;
    heddle_status status = decoder_read(&s->decoder, out, n, &got);
    if (status == HEDDLE_OK && got < n)
        return source_fail(s, HEDDLE_BAD_FILE, 0, "the tar archive is cut off");
    return status;
}

static heddle_status skip(struct text_source *s, int64_t n)
{
    heddle_status status = HEDDLE_OK;
    char *scratch = NULL;
    if (decoder_plain(&s->decoder)) {
        if (n > s->input.size - s->decoder.at)
            return source_fail(s, HEDDLE_BAD_FILE, 0, "the tar archive is cut off");
        s->decoder.at += n;
        return HEDDLE_OK;
    }
    const int64_t piece = 1 << 16;
    TRY(NEW(scratch, piece));
    for (; n > 0; n -= n < piece ? n : piece)
        TRY(read_exactly(s, scratch, n < piece ? n : piece));
done:
    mem_free(scratch);
    return status;
}

static int64_t padding(int64_t size)
{
    return (RECORD - size % RECORD) % RECORD;
}

/* A name that is stored as the contents of a record of its own: GNU's 'L', or the "path" of a pax header
 * 'x'. */
static heddle_status read_long_name(struct text_source *s, struct member *m, char *name)
{
    heddle_status status = HEDDLE_OK;
    char text[NAME_MOST] = "";
    int64_t n = m->size < NAME_MOST - 1 ? m->size : NAME_MOST - 1;
    TRY(read_exactly(s, text, n));
    TRY(skip(s, m->size - n + padding(m->size)));
    if (m->kind == 'L') {
        memcpy(name, text, NAME_MOST);
        return HEDDLE_OK;
    }
    for (int64_t at = 0; at < n;) { /* "LENGTH KEY=VALUE\n", LENGTH counting all of it */
        int64_t length = 0, key = at;
        while (key < n && text[key] >= '0' && text[key] <= '9' && length < NAME_MOST)
            length = length * 10 + (text[key++] - '0');
        if (length <= key - at + 1 || length > n - at || text[key] != ' ')
            break;
        if (strncmp(text + key, " path=", 6) == 0 && length > key - at + 6)
            snprintf(name, NAME_MOST, "%.*s", (int)(length - 1 - (key - at + 6)), text + key + 6);
        at += length;
    }
done:
    return status;
}

/* The next record that is a file or folder; *found is 0 at the end of the archive. */
static heddle_status next_member(struct text_source *s, struct member *m, int *found)
{
    heddle_status status = HEDDLE_OK;
    char record[RECORD], name[NAME_MOST] = "";
    *found = 0;
    for (;;) {
        int64_t got;
        TRY(decoder_read(&s->decoder, record, RECORD, &got));
        if (got == 0 || (got == RECORD && !record[0]))
            return HEDDLE_OK; /* archives end in zeros, or just end */
        if (got < RECORD || !is_header(record) || (m->size = tar_number(record + 124, 12)) < 0)
            return source_fail(s, HEDDLE_BAD_FILE, 0, "the tar archive has a broken header");
        m->kind = record[156];
        if (m->kind == 'L' || m->kind == 'x') {
            TRY(read_long_name(s, m, name));
            continue;
        }
        if (m->kind != 'g')
            break;
        TRY(skip(s, m->size + padding(m->size)));
    }
    int ustar = memcmp(record + 257, "ustar", 5) == 0 && record[345];
    if (name[0])
        memcpy(m->path, name, sizeof name);
    else
        snprintf(m->path, sizeof m->path, "%.*s%s%.*s", ustar ? 155 : 0, record + 345, ustar ? "/" : "", 100,
                 record);
    *found = 1;
done:
    return status;
}

/* How likely is it that this member is the matrix? */
static int rank_of(const struct member *m, const char *wanted)
{
    const char *path = strncmp(m->path, "./", 2) == 0 ? m->path + 2 : m->path;
    if ((m->kind != '0' && m->kind != 0) || !text_ends(path, ".mtx"))
        return RANK_NONE;
    if (strcmp(path, wanted) == 0)
        return RANK_NAMED;
    const char *base = strrchr(path, '/');
    if (!base)
        return RANK_MTX;
    size_t n = strlen(base + 1) - 4; /* of the name without .mtx */
    const char *folder = base - (size_t)(base - path >= (int64_t)n ? n : 0);
    int own = folder < base && memcmp(folder, base + 1, n) == 0 && (folder == path || folder[-1] == '/');
    return own ? RANK_OWN_FOLDER : RANK_MTX;
}

static heddle_status choose(struct text_source *s, struct member *m, struct best_member *c)
{
    heddle_status status = HEDDLE_OK;
    int found;
    for (int64_t number = 0;; number++) {
        TRY(next_member(s, m, &found));
        if (!found)
            break;
        int rank = rank_of(m, c->wanted);
        if (rank > c->rank) {
            c->rank = rank;
            c->number = number;
            c->count = 0;
        }
        c->count += rank == c->rank;
        if (rank == RANK_NAMED)
            break; /* the rest of the archive need not be unpacked to know */
        TRY(skip(s, m->size + padding(m->size)));
    }
    if (c->rank == RANK_NONE || (c->rank == RANK_MTX && c->count > 1))
        return source_fail(s, HEDDLE_BAD_FILE, 0, "the archive holds %s: expected %s",
                           c->rank == RANK_NONE ? "no .mtx file" : "several .mtx files", c->wanted);
done:
    return status;
}

/* archive.tar.gz -> archive/archive.mtx */
static void wanted_name(char *wanted, const char *path)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *ending = strstr(base, ".tar");
    int n = (int)(ending ? (size_t)(ending - base) : strcspn(base, "."));
    n = n < NAME_MOST / 2 - 8 ? n : NAME_MOST / 2 - 8;
    snprintf(wanted, NAME_MOST, "%.*s/%.*s.mtx", n, base, n, base);
}

/* Leaves the decoder behind the header of the chosen member. */
static heddle_status enter(struct text_source *s, struct member *m, const struct best_member *c)
{
    heddle_status status = HEDDLE_OK;
    int found;
    if (c->rank != RANK_NAMED) { /* else it stands there already */
        TRY(decoder_start(&s->decoder));
        for (int64_t number = 0;; number++) {
            TRY(next_member(s, m, &found));
            if (number == c->number)
                break;
            TRY(skip(s, m->size + padding(m->size)));
        }
    }
    s->member_left = m->size;
    int64_t n = (int64_t)(strlen(s->name) + strlen(m->path) + 3);
    char *name = mem_alloc(n, 1);
    if (!name)
        return HEDDLE_NO_MEMORY;
    snprintf(name, (size_t)n, "%s(%s)", s->name, m->path);
    mem_free(s->name);
    s->decoder.name = s->name = name;
done:
    return status;
}

heddle_status tar_enter(struct text_source *s, const char *path)
{
    heddle_status status = HEDDLE_OK;
    char record[RECORD];
    int64_t got;
    struct member *m = NULL;
    struct best_member *c = NULL;
    TRY(decoder_read(&s->decoder, record, RECORD, &got));
    TRY(decoder_start(&s->decoder));
    if (got < RECORD || !is_header(record))
        return HEDDLE_OK;
    TRY(NEW_ZEROED(m, 1));
    TRY(NEW_ZEROED(c, 1));
    wanted_name(c->wanted, path);
    TRY(choose(s, m, c));
    TRY(enter(s, m, c));
done:
    mem_free(m);
    mem_free(c);
    return status;
}
