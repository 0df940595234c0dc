/* SPDX-License-Identifier: MIT
 *
 * io.c: which reader a file is for.  The contents decide; the name only where they do not. */
#include "io/io.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "io/boeing.h"
#include "io/hdl.h"
#include "io/market.h"
#include "io/read.h"

const char *io_features(void)
{
#ifdef HEDDLE_HAVE_LZMA
    return "mtx rb hdl gz xz(liblzma) tar";
#else
    return "mtx rb hdl gz xz(program) tar";
#endif
}

/* A name that promises Rutherford-Boeing: a.rb, a.rua, a.psa.gz, ... */
static int boeing_name(const char *path)
{
    static const char *const endings[] = {".rb", ".hb", ".rua", ".rsa", ".rza", ".rra", ".pua", ".psa", ".pra", ".iua", ".isa"};
    static const char *const packed[] = {"", ".gz", ".xz"};
    char ending[16];
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        for (size_t j = 0; j < sizeof packed / sizeof packed[0]; j++) {
            snprintf(ending, sizeof ending, "%s%s", endings[i], packed[j]);
            if (text_ends(path, ending))
                return 1;
        }
    return 0;
}

static int market_name(const char *path)
{
    return text_ends(path, ".mtx") || text_ends(path, ".mtx.gz") || text_ends(path, ".mtx.xz");
}

heddle_status read_text(struct csr *A, struct source *s, heddle_type value)
{
    heddle_status status = source_block(s);
    if (status != HEDDLE_OK)
        return status;
    int64_t size = s->end - s->at;
    if (market_banner(s->at, size))
        return market_read(s, A, value);
    if (size >= HDL_MAGIC_SIZE && memcmp(s->at, HDL_MAGIC, HDL_MAGIC_SIZE) == 0)
        return source_fail(s, HEDDLE_NOT_SUPPORTED, 0, "a packed .hdl file cannot be mapped: unpack it first");
    if (market_name(s->name) || s->member_left >= 0)
        return market_read(s, A, value); /* which says what is wrong with the banner */
    if (boeing_name(s->name) || boeing_header(s->at, size))
        return boeing_read(s, A, value);
    return source_fail(s, HEDDLE_BAD_FILE, 1, "this is no matrix file: it begins neither with %%%%MatrixMarket nor with a "
                       "header of Rutherford-Boeing or .hdl");
}

/* A mapped file is handed on as it is, unless other values are asked for. */
static heddle_status read_hdl(struct file_matrix *F, struct source *s, const char *path, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct csr other;
    if (s->held != HELD_MAPPED)
        return source_fail(s, HEDDLE_NOT_SUPPORTED, 0, "a .hdl file must be a regular file: it is mapped, not read");
    TRY(hdl_open(F, (void *)(uintptr_t)s->data, s->size, path));
    s->held = HELD_BORROWED; /* the mapping is F's now */
    if (value == 0 || value == F->csr.value)
        return HEDDLE_OK;
    TRY(file_matrix_check(F, path));
    TRY(csr_retype(&other, &F->csr, value, F->csr.offset));
    file_matrix_free(F);
    F->csr = other;
    F->checked = 1;
done:
    if (status != HEDDLE_OK)
        file_matrix_free(F);
    return status;
}

heddle_status file_read(struct file_matrix *F, const char *path, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct source s;
    *F = (struct file_matrix){0};
    TRY(source_open(&s, path));
    if (s.size >= HDL_MAGIC_SIZE && memcmp(s.data, HDL_MAGIC, HDL_MAGIC_SIZE) == 0)
        status = read_hdl(F, &s, path, value);
    else
        status = read_text(&F->csr, &s, value);
    F->checked |= status == HEDDLE_OK && !F->mapped;
    source_close(&s);
done:
    return status;
}
