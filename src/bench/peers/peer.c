/* SPDX-License-Identifier: MIT */
#include "bench/peers/peer.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/memory.h"
#include "base/timer.h"
#include "subject/describe.h"
#include "subject/subject.h"

const struct peer_row peer_rows[] = {
#define PEER(library, algorithm, format, number, preprocess, vectors)                                        \
    {PEER_LIBRARY_##library, #algorithm, PEER_##format, number, preprocess, PEER_##vectors},
#include "bench/peers/peers.def"
    {0}};

#define PEER_LIBRARY(name, devices, variable) extern const struct peer_library peer_##name;
#include "bench/peers/peers.def"

enum {
#define PEER(library, algorithm, format, number, preprocess, vectors) PEER_ROW_##library##_##algorithm,
#include "bench/peers/peers.def"
    PEER_ROWS
};

/* A library that was asked for stays open, with its handle for the last device. */
static struct {
    const char *name, *devices, *variable;
    const struct peer_library *library;
    void *opened; /* by dlopen */
    void *handle;
    struct gpu *gpu; /* that the handle is for */
    int has_handle;
    char version[16];
    unsigned char warm[PEER_ROWS][TYPES_MOST][3]; /* by row, type and operation: 1: it has been prepared with
                                                   * this handle before */
} libraries[PEER_LIBRARIES] = {
#define PEER_LIBRARY(id, devices, variable)                                                                  \
    {#id, devices, variable, &peer_##id, NULL, NULL, NULL, 0, "", {{{0}}}},
#include "bench/peers/peers.def"
};

const char *peer_library_name(enum peer_library_id id)
{
    return libraries[id].name;
}

const char *peer_library_devices(enum peer_library_id id)
{
    return libraries[id].devices;
}

heddle_status peer_failed(const struct peer *p, const char *call, const char *status)
{
    return fail(HEDDLE_NOT_SUPPORTED, "%s: %s: %s", libraries[p->row->library].name, call, status);
}

/* ------------------------------------------------------------------ names */

static size_t name_size(const char *text)
{
    return strcspn(text, ":");
}

static int library_of(const char *name)
{
    for (int i = 0; i < PEER_LIBRARIES; i++)
        if (strlen(libraries[i].name) == name_size(name) &&
            strncmp(libraries[i].name, name, name_size(name)) == 0)
            return i;
    return -1;
}

int peer_is_name(const char *name)
{
    return library_of(name) >= 0;
}

static heddle_status unknown_library(const char *name)
{
    char known[256] = "";
    for (int i = 0; i < PEER_LIBRARIES; i++)
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "",
                 libraries[i].name);
    return fail(HEDDLE_BAD_ARGUMENT, "there is no peer '%s' (there are: %s)", name, known);
}

static heddle_status unknown_algorithm(int library, const char *name)
{
    char known[256] = "";
    for (const struct peer_row *r = peer_rows; r->name; r++)
        if ((int)r->library == library)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", known[0] ? ", " : "",
                     r->name);
    return fail(HEDDLE_BAD_ARGUMENT, "%s has no algorithm '%s' (there are: %s)", libraries[library].name,
                name, known);
}

/* Fills the row and the options of p from "cusparse:csr_alg1:preprocess=0". */
static heddle_status parse(struct peer *p, const char *name)
{
    heddle_status status = HEDDLE_OK;
    struct spec spec;
    int library = library_of(name);
    if (library < 0)
        return unknown_library(name);
    const char *rest = name + name_size(name);
    TRY(spec_parse(&spec, *rest ? rest + 1 : "?"));
    for (const struct peer_row *r = peer_rows; r->name && !p->row; r++)
        if ((int)r->library == library && strcmp(r->name, spec.name) == 0)
            p->row = r;
    if (!p->row)
        return unknown_algorithm(library, *rest ? spec.name : "");
    p->library = libraries[library].library;
    p->preprocess = 1;
    if (p->row->preprocess)
        TRY(spec_int(&spec, "preprocess", 0, 1, &p->preprocess));
    if (p->row->format == PEER_sell)
        TRY(spec_int(&spec, "slice", 1, 1024, &p->slice));
    if (p->row->format == PEER_bsr)
        TRY(spec_int(&spec, "block", 2, 64, &p->block));
    TRY(spec_done(&spec, p->row->preprocess            ? "preprocess"
                         : p->row->format == PEER_sell ? "slice"
                         : p->row->format == PEER_bsr  ? "block"
                                                       : "no options"));
done:
    return status;
}

heddle_status peer_check(const char *name)
{
    struct peer p = {0};
    if (peer_is_name(name) && !strchr(name, ':'))
        return HEDDLE_OK;
    return parse(&p, name);
}

/* ------------------------------------------------------------------ opening */

static void *open_file(const struct peer_library *l)
{
    char path[512];
    void *opened = NULL;
    for (int i = 0; l->files[i] && !opened; i++)
        opened = dlopen(l->files[i], RTLD_NOW | RTLD_LOCAL);
    for (int d = 0; l->folders && l->folders[d]; d++)
        for (int i = 0; l->files[i] && !opened; i++) {
            snprintf(path, sizeof path, "%s/%s", l->folders[d], l->files[i]);
            opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        }
    return opened;
}

static heddle_status find_symbols(int number, void *opened)
{
    for (const struct peer_symbol *s = libraries[number].library->symbols; s->name; s++) {
        void *address = dlsym(opened, s->name);
        if (!address && !s->optional)
            return fail(HEDDLE_NOT_SUPPORTED, "%s: the library has no %s: it is too old",
                        libraries[number].name, s->name);
        /* POSIX: a function pointer has the representation of void * */
        memcpy(s->slot, &address, sizeof address);
    }
    return HEDDLE_OK;
}

static heddle_status open_library(int number)
{
    heddle_status status = HEDDLE_OK;
    const struct peer_library *l = libraries[number].library;
    const char *path = environment(libraries[number].variable);
    if (libraries[number].opened)
        return HEDDLE_OK;
    void *opened = !path ? open_file(l) : *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!opened)
        return fail(HEDDLE_NOT_SUPPORTED, "%s: %s cannot be opened; %s may name the file",
                    libraries[number].name, path ? path : l->files[0], libraries[number].variable);
    TRY(find_symbols(number, opened));
    libraries[number].opened = opened;
    opened = NULL;
done:
    if (opened)
        dlclose(opened);
    return status;
}

/* The emulator's memory is the host's: only a library that was put there for it can use that. */
int peer_suits(enum peer_library_id id, const char *driver)
{
    const char *devices = libraries[id].devices;
    int stand_in =
        strcmp(driver, "emu") == 0 && strcmp(devices, "cpu") != 0 && environment(libraries[id].variable);
    return strcmp(driver, devices) == 0 || stand_in;
}

static heddle_status device_suits(int number, const struct device *d)
{
    const char *devices = libraries[number].devices;
    const char *here = d->kind == DEVICE_gpu ? gpu_driver_of(d->gpu)->name : "cpu";
    if (peer_suits((enum peer_library_id)number, here))
        return HEDDLE_OK;
    return fail(HEDDLE_NOT_SUPPORTED, "%s computes on %s devices; this one is %s", libraries[number].name,
                devices, here);
}

static heddle_status type_suits(int number, heddle_type value)
{
    char all[64], word[16];
    snprintf(all, sizeof all, " %s ", libraries[number].library->types);
    snprintf(word, sizeof word, " %s ", type_name(value));
    if (strstr(all, word))
        return HEDDLE_OK;
    return fail(HEDDLE_NOT_SUPPORTED, "%s: it is measured with %s, not with %s", libraries[number].name,
                libraries[number].library->types, type_name(value));
}

static heddle_status vectors_suit(const struct peer *p)
{
    const int several = vectors_count(p->vectors) > 1;
    if (p->row->vectors & (several ? PEER_several : PEER_one))
        return HEDDLE_OK;
    return fail(HEDDLE_NOT_SUPPORTED, "%s:%s multiplies %s, not %s", libraries[p->row->library].name,
                p->row->name, several ? "one vector" : "several vectors",
                several ? "several" : "a single one");
}

static void close_handle(int number)
{
    void *before;
    struct device d = {.kind = DEVICE_gpu, .gpu = libraries[number].gpu};
    if (!libraries[number].has_handle)
        return;
    if (!d.gpu)
        d.kind = DEVICE_cpu;
    if (libraries[number].library->close && device_enter(&d, &before) == HEDDLE_OK) {
        libraries[number].library->close(libraries[number].library, libraries[number].handle);
        device_leave(&d, before);
    }
    libraries[number].has_handle = 0;
    libraries[number].handle = NULL;
    memset(libraries[number].warm, 0, sizeof libraries[number].warm);
}

void peers_close(void)
{
    for (int i = 0; i < PEER_LIBRARIES; i++) {
        close_handle(i);
        if (libraries[i].opened && environment(libraries[i].variable)) { /* another file may be named next */
            dlclose(libraries[i].opened);
            libraries[i].opened = NULL;
        }
    }
}

/* Some libraries print what they refuse, to standard output, where records may go: it is shut meanwhile.
 * -1: it stays open. */
static int hush(void)
{
    int nowhere = open("/dev/null", O_WRONLY), kept = nowhere < 0 ? -1 : dup(STDOUT_FILENO);
    fflush(stdout);
    if (kept >= 0)
        dup2(nowhere, STDOUT_FILENO);
    if (nowhere >= 0)
        close(nowhere);
    return kept;
}

static void speak(int kept)
{
    fflush(stdout);
    if (kept >= 0) {
        dup2(kept, STDOUT_FILENO);
        close(kept);
    }
}

static heddle_status open_handle(int number, const struct device *d)
{
    heddle_status status = HEDDLE_OK;
    if (libraries[number].has_handle && libraries[number].gpu == d->gpu)
        return HEDDLE_OK;
    close_handle(number);
    const struct peer_library *l = libraries[number].library;
    int kept = hush();
    status = l->open ? l->open(l, &libraries[number].handle, d, libraries[number].version) : HEDDLE_OK;
    speak(kept);
    TRY(status);
    libraries[number].gpu = d->gpu;
    libraries[number].has_handle = 1;
done:
    return status;
}

/* ------------------------------------------------------------------ a candidate */

static void put_scalars(struct peer *p, struct scalars s)
{
    p->scalars = s;
    value_put(&p->alpha, vector_type(p->A.value), 0, s.alpha);
    value_put(&p->beta, vector_type(p->A.value), 0, s.beta);
}

heddle_status peer_run(struct peer *p, struct scalars s, const void *x, void *y)
{
    put_scalars(p, s);
    return p->library->run(p, x, y);
}

/* Prepares by the host's clock, the device idle before and after.  Then one product that nobody measures:
 * what the library refuses comes to light here, where it is a reason to skip, and what it loads at the
 * first product is loaded. */
static heddle_status prepare(struct peer *p)
{
    heddle_status status = HEDDLE_OK;
    TRY(device_sync(p->device));
    double begin = now_ms();
    TRY(p->library->bind(p));
    if (p->preprocess && p->library->prepare)
        TRY(p->library->prepare(p));
    TRY(device_sync(p->device));
    p->prepare_ms = now_ms() - begin;
    TRY(p->library->run(p, p->stand_in_x, p->stand_in_y));
    TRY(device_sync(p->device));
done:
    return status;
}

/* GPU libraries load their code when it is first used: that is not the time of a preparation, so the first
 * one of its kind is thrown away. */
static heddle_status prepare_before(struct peer *p)
{
    heddle_status status = HEDDLE_OK;
    unsigned char *warm = &libraries[p->row->library].warm[p->row - peer_rows][type_place(p->A.value)][p->op];
    if (*warm || p->device->kind == DEVICE_cpu)
        return HEDDLE_OK;
    TRY(prepare(p));
    *warm = 1;
    p->library->release(p);
    device_free(p->device, p->workspace);
    p->workspace = NULL;
done:
    return status;
}

static heddle_status with_vectors(struct peer *p)
{
    heddle_status status = HEDDLE_OK;
    int64_t size = (int64_t)vector_size(p->A.value) * vectors_count(p->vectors);
    int kept = hush();
    TRY(device_alloc(p->device, &p->stand_in_x, p->x_count * size));
    TRY(device_alloc(p->device, &p->stand_in_y, p->y_count * size));
    TRY(device_fill(p->device, p->stand_in_x, 0, p->x_count * size));
    TRY(prepare_before(p));
    TRY(prepare(p));
done:
    device_free(p->device, p->stand_in_x);
    device_free(p->device, p->stand_in_y);
    p->stand_in_x = p->stand_in_y = NULL;
    speak(kept);
    return status;
}

heddle_status peer_new(struct peer **out, const struct device *d, const struct csr *A, heddle_op op,
                       struct vector_group vectors, const char *name)
{
    heddle_status status = HEDDLE_OK;
    struct peer *p = NULL;
    *out = NULL;
    TRY(NEW_ZEROED(p, 1));
    p->device = d;
    p->A = *A;
    p->op = op;
    p->vectors = vectors;
    p->x_count = op == HEDDLE_N ? A->cols : A->rows;
    p->y_count = op == HEDDLE_N ? A->rows : A->cols;
    put_scalars(p, (struct scalars){.alpha = 1});
    TRY(parse(p, name));
    int number = (int)p->row->library;
    TRY(vectors_suit(p));
    TRY(type_suits(number, A->value));
    TRY(device_suits(number, d));
    TRY(open_library(number));
    TRY(device_enter(d, &p->context));
    *out = p; /* from here on peer_free leaves again */
    p = NULL;
    TRY(open_handle(number, d));
    (*out)->handle = libraries[number].handle;
    snprintf((*out)->version, sizeof(*out)->version, "%s %s", libraries[number].name,
             libraries[number].version);
    if ((*out)->library->suits)
        TRY((*out)->library->suits(*out));
    double begin = now_ms();
    TRY(peer_convert(*out));
    TRY(device_sync(d));
    (*out)->convert_ms = (*out)->arrays.bytes > 0 ? now_ms() - begin : 0;
    TRY(with_vectors(*out));
done:
    mem_free(p);
    if (status != HEDDLE_OK) {
        peer_free(*out);
        *out = NULL;
    }
    return status;
}

void peer_free(struct peer *p)
{
    if (!p)
        return;
    p->library->release(p);
    device_free(p->device, p->workspace);
    for (int i = 0; i < 4; i++)
        device_free(p->device, p->arrays.owned[i]);
    device_leave(p->device, p->context);
    mem_free(p);
}
