/* SPDX-License-Identifier: MIT
 *
 * io.c: which reader a file is for.  The contents decide; the name only where they do not. */
#include "io/io.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/boeing.h"
#include "io/hdl.h"
#include "io/market.h"
#include "io/petsc.h"
#include "io/read.h"

const char *io_features(void)
{
#ifdef HEDDLE_HAVE_LZMA
    return "mtx rb petsc hdl gz xz(liblzma) tar";
#else
    return "mtx rb petsc hdl gz xz(program) tar";
#endif
}

/* A name that promises Rutherford-Boeing: a.rb, a.rua, a.psa.gz, ... */
static int boeing_name(const char *path)
{
    static const char *const endings[] = {".rb",  ".hb",  ".rua", ".rsa", ".rza", ".rra", ".pua", ".psa",
                                          ".pra", ".iua", ".isa", ".cua", ".csa", ".cha", ".cza", ".cra"};
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

heddle_status read_text(struct csr *A, struct text_source *s, heddle_type value)
{
    int petsc;
    heddle_status status = petsc_begins(s, &petsc);
    if (status == HEDDLE_OK && petsc)
        return petsc_read(s, A, value);
    if (status == HEDDLE_OK)
        status = source_block(s);
    if (status != HEDDLE_OK)
        return status;
    int64_t size = s->end - s->at;
    if (market_banner(s->at, size))
        return market_read(s, A, value);
    if (size >= HDL_MAGIC_SIZE && memcmp(s->at, HDL_MAGIC, HDL_MAGIC_SIZE) == 0)
        return source_fail(s, HEDDLE_NOT_SUPPORTED, 0,
                           "a packed .hdl file cannot be mapped: unpack it first");
    if (market_name(s->name) || s->member_left >= 0)
        return market_read(s, A, value); /* which says what is wrong with the banner */
    if (boeing_name(s->name) || boeing_header(s->at, size))
        return boeing_read(s, A, value);
    return source_fail(s, HEDDLE_BAD_FILE, 1,
                       "this is no matrix file: it begins neither with %%%%MatrixMarket nor with a "
                       "header of Rutherford-Boeing, PETSc or .hdl");
}

/* The file as memory: its own pages, or a copy that no longer depends on it. */
static heddle_status hold(void **map, const struct input *in, const char *path, int copy)
{
    *map = NULL;
    if (copy) {
        *map = mem_alloc(in->size, 1);
        return *map ? input_read(in, path, 0, *map, in->size) : HEDDLE_NO_MEMORY;
    }
    if (in->file < 0)
        return fail(HEDDLE_NOT_SUPPORTED,
                    "%s: a .hdl file must be a regular file, because it is mapped; set copy in "
                    "heddle_read_options to read it",
                    path);
    *map = mmap(NULL, (size_t)in->size, PROT_READ, MAP_PRIVATE, in->file, 0);
    if (*map != MAP_FAILED)
        return HEDDLE_OK;
    *map = NULL;
    return fail(HEDDLE_FILE_ERROR, "%s: cannot map: %s", path, strerror(errno));
}

/* Handed on as it is, unless other values are asked for. */
static heddle_status read_hdl(struct file_matrix *F, const struct input *in, const char *path,
                              const heddle_read_options *options)
{
    heddle_status status = HEDDLE_OK;
    struct csr other;
    F->mapped = 1; /* whatever happens, the memory is F's to give back */
    F->copied = options->copy != 0;
    F->map_size = in->size;
    TRY(hold(&F->map, in, path, F->copied));
    TRY(hdl_open(F, path));
    TRY(input_affords(in, path, matrix_least(F->csr.rows, F->csr.cols)));
    if (options->value && value_type(options->value) == F->csr.value)
        F->csr.value = options->value; /* and its vectors are of their type */
    if (options->value == 0 || options->value == F->csr.value)
        return HEDDLE_OK;
    TRY(file_matrix_check(F, path));
    TRY(csr_retype(&other, &F->csr, options->value, F->csr.offset));
    file_matrix_free(F);
    F->csr = other;
done:
    if (status != HEDDLE_OK)
        file_matrix_free(F);
    return status;
}

heddle_status file_read_as(struct file_matrix *F, const char *path, const heddle_read_options *options)
{
    heddle_status status = HEDDLE_OK;
    struct input in;
    struct text_source s;
    char magic[HDL_MAGIC_SIZE] = "";
    *F = (struct file_matrix){0};
    TRY(input_open(&in, path, options->large));
    if (in.size >= HDL_MAGIC_SIZE)
        status = input_read(&in, path, 0, magic, HDL_MAGIC_SIZE);
    if (status != HEDDLE_OK || memcmp(magic, HDL_MAGIC, HDL_MAGIC_SIZE) == 0) {
        if (status == HEDDLE_OK)
            status = read_hdl(F, &in, path, options);
        input_close(&in);
    } else {
        TRY(source_take(&s, path, &in));
        status = read_text(&F->csr, &s, options->value);
        source_close(&s);
    }
    F->checked |= status == HEDDLE_OK && !F->mapped;
done:
    return status;
}

heddle_status file_read(struct file_matrix *F, const char *path, heddle_type value)
{
    return file_read_as(F, path, &(heddle_read_options){.value = value});
}
