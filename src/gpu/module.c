/* SPDX-License-Identifier: MIT */
#include "gpu/module.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/environment.h"
#include "base/memory.h"
#include "base/timer.h"
#include "gpu/pack.h"

#define NAME_SIZE 160 /* of "page__variant" and "kernel__variant" */

struct found_kernel {
    const struct found_kernel *next; /* found before */
    enum variant variant;
    char page[NAME_SIZE / 2], kernel[NAME_SIZE / 2];
    struct gpu_function *function;
};

struct found_module {
    char name[NAME_SIZE]; /* "page__variant" */
    struct gpu_module *module;
    char *image; /* what it was loaded from: HIP goes on reading there */
};

/* Pages name their kernels by constants, so where a name stands says nearly always which it is: the last
 * kernel that was found for an address is looked at first.  Names decide; the address is a guess where to
 * look. */
#define GUESSES 64

/* What a device has loaded.  Who looks for a kernel that was found before takes no lock, because every
 * product does: the list of them only grows at its head, and what is in it stays as it is until the device
 * is closed. */
struct gpu_loaded {
    _Atomic(const struct found_kernel *) kernels;        /* the last that was found; NULL: none */
    _Atomic(const struct found_kernel *) guess[GUESSES]; /* in that list; NULL: none yet */
    pthread_mutex_t lock;                                /* guards what follows, and the growth of the list */
    int modules;
    struct found_module *module; /* size modules */
    struct pack **pack;          /* opened so far, in the order of gpu_packs; NULL before the first */
};

static int pack_count(void)
{
    int n = 0;
    while (gpu_packs[n].driver)
        n++;
    return n;
}

/* -------------------------------------------------------- files ------------------------------- */

/* What a file of HEDDLE_MODULE_DIR may end in, per driver and in order; %s is the architecture. */
static const struct {
    const char *driver, *ending;
} endings[] = {{"cuda", ".%s.cubin"}, {"cuda", ".fatbin"}, {"cuda", ".ptx"}, {"hip", ".%s.co"}};
enum { ENDINGS = sizeof endings / sizeof endings[0] };

static heddle_status read_whole(char **data, int64_t *size, FILE *file, const char *path)
{
    heddle_status status = HEDDLE_OK;
    char *read = NULL;
    long length = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (length < 0 || fseek(file, 0, SEEK_SET) != 0)
        return fail(HEDDLE_FILE_ERROR, "%s: cannot be read: %s", path, strerror(errno));
    TRY(NEW(read, (int64_t)length + 1));
    if (fread(read, 1, (size_t)length, file) != (size_t)length)
        TRY(fail(HEDDLE_FILE_ERROR, "%s: cannot be read: %s", path, strerror(errno)));
    read[length] = 0; /* PTX is text */
    *data = read;
    *size = length;
    read = NULL;
done:
    mem_free(read);
    return status;
}

static heddle_status load_from(struct gpu *gpu, struct found_module *m, const char *directory)
{
    heddle_status status = HEDDLE_OK;
    FILE *file = NULL;
    char path[1024], ending[64];
    int64_t size = 0;
    for (int i = 0; i < ENDINGS && !file; i++) {
        if (strcmp(endings[i].driver, gpu_driver_of(gpu)->name) != 0)
            continue;
        snprintf(ending, sizeof ending, endings[i].ending, gpu_info_of(gpu)->arch);
        snprintf(path, sizeof path, "%.800s/%s%s", directory, m->name, ending);
        file = fopen(path, "rb");
    }
    if (!file)
        return fail(HEDDLE_NO_KERNEL,
                    "%s: there is no such file, nor another form of it (HEDDLE_MODULE_DIR is set)", path);
    TRY(read_whole(&m->image, &size, file, path));
    status = gpu_driver_of(gpu)->load(gpu, &m->module, m->image, size);
    if (status != HEDDLE_OK)
        status = fail_in(status, path);
done:
    fclose(file);
    return status;
}

/* -------------------------------------------------------- embedded ---------------------------- */

/* Machine code runs on its own architecture; NVIDIA's also on later ones of the same generation (sm_80 on
 * sm_86).  Whether PTX serves is for the driver to say. */
static int may_fit(const struct gpu_pack *pack, const struct gpu *gpu)
{
    const char *arch = gpu_info_of(gpu)->arch;
    int made = 0, is = 0;
    if (strcmp(pack->target, arch) == 0)
        return 1;
    if (strncmp(pack->target, "gfx", 3) == 0)
        return 0;
    if (sscanf(pack->target, "sm_%d", &made) == 1 && sscanf(arch, "sm_%d", &is) == 1)
        return made / 10 == is / 10 && made < is;
    return made == 0;
}

static heddle_status load_packed(struct gpu *gpu, struct found_module *m, struct gpu_loaded *l, int number)
{
    heddle_status status = HEDDLE_OK;
    int64_t size = 0;
    mem_free(m->image);
    m->image = NULL;
    if (!l->pack)
        TRY(NEW_ZEROED(l->pack, pack_count()));
    if (!l->pack[number])
        TRY(pack_open(&l->pack[number], &gpu_packs[number]));
    TRY(pack_take(l->pack[number], &m->image, &size, m->name));
    if (m->image)
        TRY(gpu_driver_of(gpu)->load(gpu, &m->module, m->image, size));
done:
    return status;
}

/* Every pack that may fit is tried in turn: a driver that does not take machine code may still take PTX,
 * and one that is too old for one PTX another. */
static heddle_status load_embedded(struct gpu *gpu, struct found_module *m, struct gpu_loaded *l,
                                   const char *page, const char *variant)
{
    const struct gpu_driver *driver = gpu_driver_of(gpu);
    char built[256] = "", why[600] = "";
    int absent = 0;
    for (int i = 0; gpu_packs[i].driver; i++) {
        if (strcmp(gpu_packs[i].driver, driver->name) != 0)
            continue;
        size_t used = strlen(built);
        snprintf(built + used, sizeof built - used, " %s", gpu_packs[i].holds);
        if (!may_fit(&gpu_packs[i], gpu))
            continue;
        heddle_status status = load_packed(gpu, m, l, i);
        if (status == HEDDLE_OK && !m->image) {
            absent = 1;
            continue;
        }
        if (status != HEDDLE_NO_KERNEL)
            return status;
        snprintf(why, sizeof why, ": %.500s", heddle_last_error());
    }
    if (!built[0] || (absent && !why[0]))
        return fail(HEDDLE_NO_KERNEL, "%s: this build of Heddle has no %s binaries of %s for %s",
                    driver->name, driver->name, page, variant);
    return fail(HEDDLE_NO_KERNEL,
                "%s: %s for %s is built for%s, not for %s: build Heddle for that, or give a file in "
                "HEDDLE_MODULE_DIR%s",
                driver->name, page, variant, built, gpu_info_of(gpu)->arch, why);
}

/* The emulator's kernels are linked in: its module is a name. */
static heddle_status load(struct gpu *gpu, struct found_module *m, struct gpu_loaded *l, const char *page,
                          const char *variant)
{
    const char *directory = environment("HEDDLE_MODULE_DIR");
    if (strcmp(gpu_driver_of(gpu)->name, "emu") == 0)
        return gpu_driver_of(gpu)->load(gpu, &m->module, m->name, (int64_t)strlen(m->name) + 1);
    if (directory && *directory)
        return load_from(gpu, m, directory);
    return load_embedded(gpu, m, l, page, variant);
}

/* -------------------------------------------------------- found ------------------------------- */

static heddle_status loaded_of(struct gpu *gpu, struct gpu_loaded **loaded)
{
    static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
    struct gpu_head *head = (struct gpu_head *)gpu;
    heddle_status status = HEDDLE_OK;
    pthread_mutex_lock(&making);
    *loaded = head->loaded;
    if (!*loaded) {
        TRY(NEW_ZEROED(*loaded, 1));
        pthread_mutex_init(&(*loaded)->lock, NULL);
        head->loaded = *loaded;
    }
done:
    pthread_mutex_unlock(&making);
    return status;
}

static heddle_status module_for(struct gpu *gpu, struct gpu_loaded *l, struct gpu_module **module,
                                const char *page, const char *variant)
{
    heddle_status status = HEDDLE_OK;
    struct found_module *more, made = {.image = NULL};
    snprintf(made.name, sizeof made.name, "%s__%s", page, variant);
    for (int i = 0; i < l->modules; i++)
        if (strcmp(l->module[i].name, made.name) == 0) {
            *module = l->module[i].module;
            return HEDDLE_OK;
        }
    more = mem_resize(l->module, l->modules, l->modules + 1, sizeof *more);
    if (!more)
        return HEDDLE_NO_MEMORY;
    l->module = more;
    TRY(load(gpu, &made, l, page, variant));
    more[l->modules++] = made;
    *module = made.module;
    made.image = NULL;
done:
    mem_free(made.image);
    return status;
}

static int is_that(const struct found_kernel *k, const char *page, enum variant v, const char *kernel)
{
    return k->variant == v && strcmp(k->kernel, kernel) == 0 && strcmp(k->page, page) == 0;
}

static struct gpu_function *found_before(struct gpu_loaded *l, const char *page, enum variant v,
                                         const char *kernel)
{
    uintptr_t at = (uintptr_t)page * 31 + (uintptr_t)kernel * 7 + (uintptr_t)v;
    _Atomic(const struct found_kernel *) *guess = &l->guess[(at ^ at >> 6 ^ at >> 12) % GUESSES];
    const struct found_kernel *k = atomic_load_explicit(guess, memory_order_acquire);
    if (k && is_that(k, page, v, kernel))
        return k->function;
    for (k = atomic_load_explicit(&l->kernels, memory_order_acquire); k; k = k->next)
        if (is_that(k, page, v, kernel)) {
            atomic_store_explicit(guess, k, memory_order_release);
            return k->function;
        }
    return NULL;
}

/* A kernel of this binary could not be made ready, for want of memory as a rule.  CUDA takes it for ready
 * when asked again, and fails when it is launched: so the next who asks gets the binary anew.  This one
 * stays where other kernels of it are in use. */
static void retire(struct gpu *gpu, struct gpu_loaded *l, const struct gpu_module *module, const char *page,
                   enum variant v)
{
    int i = 0;
    while (l->module[i].module != module)
        i++;
    for (const struct found_kernel *k = l->kernels; k; k = k->next)
        if (k->variant == v && strcmp(k->page, page) == 0) {
            l->module[i].name[0] = 0;
            return;
        }
    gpu_driver_of(gpu)->unload(gpu, l->module[i].module);
    mem_free(l->module[i].image);
    l->module[i] = l->module[--l->modules];
}

/* With the lock of `l` held. */
static heddle_status find_kernel(struct gpu *gpu, struct gpu_loaded *l, struct gpu_function **function,
                                 const char *page, enum variant variant, const char *kernel)
{
    heddle_status status = HEDDLE_OK;
    struct gpu_module *module = NULL;
    struct found_kernel *k = NULL;
    char symbol[NAME_SIZE];
    if (strlen(page) >= sizeof k->page || strlen(kernel) >= sizeof k->kernel)
        return fail(HEDDLE_INTERNAL, "the name of the kernel %s is too long", kernel);
    TRY(module_for(gpu, l, &module, page, variant_name(variant)));
    snprintf(symbol, sizeof symbol, "%s__%s", kernel, variant_name(variant));
    TRY(NEW_ZEROED(k, 1));
    status = gpu_driver_of(gpu)->find(gpu, &k->function, module, symbol);
    if (status != HEDDLE_OK) {
        retire(gpu, l, module, page, variant);
        goto done;
    }
    k->variant = variant;
    strcpy(k->page, page);
    strcpy(k->kernel, kernel);
    k->next = l->kernels;
    *function = k->function;
    atomic_store_explicit(&l->kernels, k, memory_order_release);
    k = NULL;
done:
    mem_free(k);
    return status;
}

heddle_status gpu_kernel(struct gpu *gpu, struct gpu_function **function, const char *page,
                         enum variant variant, const char *kernel)
{
    struct gpu_head *head = (struct gpu_head *)gpu;
    struct gpu_loaded *l = atomic_load_explicit(&head->loaded, memory_order_acquire);
    *function = l ? found_before(l, page, variant, kernel) : NULL;
    if (*function)
        return HEDDLE_OK;
    double start = now_ms();
    heddle_status status = loaded_of(gpu, &l);
    if (status != HEDDLE_OK)
        return status;
    pthread_mutex_lock(&l->lock);
    *function = found_before(l, page, variant, kernel); /* by another thread, meanwhile */
    if (!*function)
        status = find_kernel(gpu, l, function, page, variant, kernel);
    head->load_ms = head->load_ms + (now_ms() - start);
    pthread_mutex_unlock(&l->lock);
    return status;
}

void module_forget(struct gpu *gpu)
{
    struct gpu_head *head = (struct gpu_head *)gpu;
    struct gpu_loaded *l = head->loaded;
    head->loaded = NULL;
    if (!l)
        return;
    for (int i = 0; i < l->modules; i++) {
        head->driver->unload(gpu, l->module[i].module);
        mem_free(l->module[i].image);
    }
    for (int i = 0; l->pack && i < pack_count(); i++)
        pack_close(l->pack[i]);
    for (const struct found_kernel *k = l->kernels, *next; k; k = next) {
        next = k->next;
        mem_free((void *)(uintptr_t)k);
    }
    pthread_mutex_destroy(&l->lock);
    mem_free(l->pack);
    mem_free(l->module);
    mem_free(l);
}
