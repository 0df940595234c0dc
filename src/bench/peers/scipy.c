/* SPDX-License-Identifier: MIT
 *
 * peer_scipy.c: SciPy's compiled product, called as scipy.sparse calls it for A @ x, by a Python that
 * lives in this process: the library that is opened is libpython.  Arrays are views of the caller's,
 * nothing is copied; y is set to 0 first, because the product adds to it, as SciPy does with a new y.  A
 * call through Python costs about a microsecond, which is SciPy's own cost, too.  One thread, whatever the
 * device has.  For H the values are conjugated into a copy first, as A.conj().T does.  Several vectors by
 * rows, as SciPy wants them; those by columns it brings by rows first, and its result, which is by rows, is
 * brought by columns here, as the caller of the product wants it. */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "bench/peers/peer.h"

/* Objects of Python are only handed on. */
static struct {
    void (*initialize)(int signals);
    int (*script)(const char *text);
    void *(*module)(const char *name);
    void *(*dictionary)(void *module);
    void *(*item)(void *dictionary, const char *key);
    void *(*function)(void *callable, const char *format, ...);
    const char *(*text)(void *object);
    void (*release)(void *object);
    void (*forget)(void); /* an error that was told */
} call;

static const struct peer_symbol symbols[] = {
    {"Py_InitializeEx", &call.initialize, 0}, {"PyRun_SimpleString", &call.script, 0},
    {"PyImport_AddModule", &call.module, 0},  {"PyModule_GetDict", &call.dictionary, 0},
    {"PyDict_GetItemString", &call.item, 0},  {"PyObject_CallFunction", &call.function, 0},
    {"PyUnicode_AsUTF8", &call.text, 0},      {"Py_DecRef", &call.release, 0},
    {"PyErr_Clear", &call.forget, 0},         {0}};

/* heddle_new gives a function of two addresses.  Views are kept by address: a bench has few vectors, and
 * many products. */
static const char script[] =
    "try:\n"
    "    import ctypes as heddle_c, numpy as heddle_np, scipy\n"
    "    from scipy.sparse import _sparsetools as heddle_tools\n"
    "    heddle_error, heddle_version = '', scipy.__version__\n"
    "except Exception as error:\n"
    "    heddle_error, heddle_version = str(error) or type(error).__name__, ''\n"
    "def heddle_view(address, count, kind):\n"
    "    size = count * heddle_np.dtype(kind).itemsize\n"
    "    if size == 0: return heddle_np.empty(0, kind)\n"
    "    return heddle_np.frombuffer((heddle_c.c_char * size).from_address(address), kind, count)\n"
    "def heddle_new(rows, cols, nnz, ptr, col, val, kind, wide, op, vectors, by_rows):\n"
    "    transposed = op > 0\n"
    "    offset = 'i8' if wide else 'i4'\n"
    "    ptr, col = heddle_view(ptr, rows + 1, offset), heddle_view(col, nnz, 'i4')\n"
    "    val = heddle_view(val, nnz, kind)\n"
    "    if op == 2: val = val.conj()\n"
    "    if wide: col = col.astype('i8')\n"
    "    multiply = heddle_tools.csc_matvec if transposed else heddle_tools.csr_matvec\n"
    "    if transposed: rows, cols = cols, rows\n"
    "    views = {}\n"
    "    if vectors > 1:\n"
    "        several = heddle_tools.csc_matvecs if transposed else heddle_tools.csr_matvecs\n"
    "        def matrix(address, n):\n"
    "            all = heddle_view(address, n * vectors, kind)\n"
    "            return all.reshape(n, vectors) if by_rows else all.reshape(vectors, n).T\n"
    "        def run(x, y):\n"
    "            pair = views.get((x, y))\n"
    "            if pair is None: pair = views[(x, y)] = matrix(x, cols), matrix(y, rows)\n"
    "            X, Y = pair\n"
    "            into = Y if by_rows else heddle_np.empty((rows, vectors), kind)\n"
    "            into.fill(0)\n"
    "            several(rows, cols, vectors, ptr, col, val, X.ravel(), into.ravel())\n"
    "            if not by_rows: Y[...] = into\n"
    "        return run\n"
    "    def run(x, y):\n"
    "        pair = views.get((x, y))\n"
    "        if pair is None: pair = views[(x, y)] = heddle_view(x, cols, kind), heddle_view(y, rows, kind)\n"
    "        pair[1].fill(0)\n"
    "        multiply(rows, cols, ptr, col, val, *pair)\n"
    "    return run\n";

static void *global(const char *name)
{
    return call.item(call.dictionary(call.module("__main__")), name);
}

/* Modules of numpy look for Python's symbols among all: what is opened for us alone is opened for
 * everybody. */
static void open_for_all(void)
{
    Dl_info info;
    void *address;
    memcpy(&address, &call.initialize, sizeof address);
    if (dladdr(address, &info))
        dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

static heddle_status open_it(const struct peer_library *l, void **handle, const struct device *d,
                             char version[16])
{
    (void)l, (void)d;
    *handle = NULL;
    open_for_all();
    call.initialize(0);
    if (call.script(script) != 0 || !global("heddle_error"))
        return fail(HEDDLE_NOT_SUPPORTED, "scipy: Python does not run");
    const char *error = call.text(global("heddle_error"));
    if (error && error[0])
        return fail(HEDDLE_NOT_SUPPORTED, "scipy: %s (PYTHONPATH may name its folder)", error);
    snprintf(version, 16, "%s", call.text(global("heddle_version")));
    return HEDDLE_OK;
}

static const char *kind(heddle_type value)
{
    return value == HEDDLE_F32 ? "f4" : value == HEDDLE_F64 ? "f8" : value == HEDDLE_C32 ? "c8" : "c16";
}

static heddle_status bind(struct peer *p)
{
    const struct csr *A = &p->A;
    p->state = call.function(global("heddle_new"), "LLLLLLsiiii", (long long)A->rows, (long long)A->cols,
                             (long long)A->nnz, (long long)(intptr_t)A->row_ptr, (long long)(intptr_t)A->col,
                             (long long)(intptr_t)A->val, kind(A->value), A->offset == HEDDLE_I64, (int)p->op,
                             vectors_count(p->vectors), p->vectors.layout == HEDDLE_ROW_MAJOR);
    if (p->state)
        return HEDDLE_OK;
    call.forget();
    return fail(HEDDLE_NOT_SUPPORTED, "scipy: it does not take this matrix");
}

static heddle_status run(struct peer *p, const void *x, void *y)
{
    if (p->scalars.alpha != 1 || p->scalars.beta != 0)
        return fail(HEDDLE_NOT_SUPPORTED, "scipy: it is measured as y = A x");
    void *none = call.function(p->state, "LL", (long long)(intptr_t)x, (long long)(intptr_t)y);
    if (!none) {
        call.forget();
        return fail(HEDDLE_NOT_SUPPORTED, "scipy: the product failed");
    }
    call.release(none);
    return HEDDLE_OK;
}

static void release(struct peer *p)
{
    if (p->state)
        call.release(p->state);
    p->state = NULL;
}

static const char *const files[] = {"libpython3.14.so.1.0",
                                    "libpython3.13.so.1.0",
                                    "libpython3.12.so.1.0",
                                    "libpython3.11.so.1.0",
                                    "libpython3.10.so.1.0",
                                    "libpython3.9.so.1.0",
                                    NULL};

const struct peer_library peer_scipy = {.files = files,
                                        .symbols = symbols,
                                        .types = "f32 f64 c32 c64",
                                        .open = open_it,
                                        .bind = bind,
                                        .run = run,
                                        .release = release};
