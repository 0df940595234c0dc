/* SPDX-License-Identifier: MIT
 *
 * use.h: how the tests put a fake driver library in the place of a real one. */
#ifndef FAKES_USE_H
#define FAKES_USE_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fakes/fake.h"
#include "gpu/gpu.h"
#include "matrix/variant.h"
#include "test.h"

/* What a test needs to know of a vendor beyond the driver's table. */
struct fake_vendor {
    const struct gpu_driver *driver;
    const char *variable, *file, *broken,
        *missing; /* the library, one without a symbol, and the real one's name */
    const char *old_version, *version_text;
    const char *alloc, *launch, *sync, *init, *error; /* symbols, and how the names of errors begin */
    const char *arch;
};

static const struct fake_vendor fake_vendors[] = {
    {&cuda_driver, "HEDDLE_CUDA_LIBRARY", "libfake_cuda.so", "libfake_cuda_broken.so", "libcuda.so.1",
     "10020", "CUDA 11.0", "cuMemAlloc_v2", "cuGraphLaunch", "cuStreamSynchronize", "cuInit", "CUDA_ERROR_",
     "sm_90"},
    {&hip_driver, "HEDDLE_HIP_LIBRARY", "libfake_hip.so", "libfake_hip_broken.so", "libamdhip64.so.7",
     "40500000", "ROCm 5.0", "hipMalloc", "hipModuleLaunchKernel", "hipStreamSynchronize", "hipInit",
     "hipError", "gfx942"},
};
#define FOR_BOTH(v) for (const struct fake_vendor *v = fake_vendors; v < fake_vendors + 2; v++)

/* The failure that the fakes shall have from now on; NULL: none, and a lost device is well again. */
static inline void fake_script(const struct fake_vendor *v, const char *symbol, const char *rest)
{
    char text[128];
    snprintf(text, sizeof text, "%s%s", symbol ? symbol : "", symbol ? rest : "");
    setenv("FAKE_FAIL", text, 1);
    void *library = symbol ? NULL : dlopen(getenv(v->variable), RTLD_NOW);
    if (library) {
        ((fake_reset_function *)(uintptr_t)dlsym(library, "fake_reset"))();
        dlclose(library);
    }
}

/* `detour` spells the same file otherwise: Heddle does not try a library again that has failed. */
static inline void fake_use(const struct fake_vendor *v, const char *detour, const char *file)
{
    char path[1024];
    snprintf(path, sizeof path, "%s%s%s", FAKES, detour, file);
    setenv(v->variable, path, 1);
}

static inline struct fake_state *fake_state_of(const struct fake_vendor *v)
{
    void *library = dlopen(getenv(v->variable), RTLD_NOW);
    struct fake_state *state = ((fake_state_function *)(uintptr_t)dlsym(library, "fake_state"))();
    dlclose(library);
    return state;
}

/* An open device of a vendor whose library works. */
static inline struct gpu *fake_open(const struct fake_vendor *v)
{
    struct gpu *gpu = NULL;
    fake_use(v, "", v->file);
    fake_script(v, NULL, NULL);
    CHECK_OK(v->driver->open(&gpu, 0, NULL));
    return gpu;
}

/* Closes it; everything must have been given back. */
static inline void fake_close(const struct fake_vendor *v, struct gpu *gpu)
{
    struct fake_state *s = fake_state_of(v);
    v->driver->close(gpu);
    fake_script(v, NULL, NULL);
    CHECK_THAT(s->memory == 0 && s->pinned == 0 && s->modules == 0 && s->events == 0 && s->contexts == 0,
               "%s keeps memory %d, pinned %d, modules %d, events %d, contexts %d", v->driver->name,
               (int)s->memory, (int)s->pinned, (int)s->modules, (int)s->events, (int)s->contexts);
    CHECK(s->depth == 0);
}

/* The kernel `fill` of a module that also has `scale`. */
static inline struct gpu_function *fake_kernel(const struct fake_vendor *v, struct gpu *gpu,
                                               struct gpu_module **module)
{
    struct gpu_function *f = NULL;
    char image[64];
    snprintf(image, sizeof image, "FAKE %s fill scale", v->arch);
    CHECK_OK(v->driver->load(gpu, module, image, (int64_t)strlen(image) + 1));
    CHECK_OK(v->driver->find(gpu, &f, *module, "fill"));
    return f;
}

/* Every page as a module that has every kernel, and the variable that points to their folder. */
static inline void fake_modules(void)
{
    static const char *const pages[] = {
#define KERNEL(name, device, numbers) #name,
#include "kernel/kernels.def"
#undef KERNEL
#define SERVICE(name, device, numbers) #name,
#include "convert/services.def"
#undef SERVICE
    };
    char folder[512];
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        for (enum variant v = 0; v < VARIANT_COUNT; v++) {
            char name[128];
            snprintf(name, sizeof name, "%s__%s.ptx", pages[i], variant_name(v));
            snprintf(folder, sizeof folder, "%s", test_file(name, "// any kernel\n"));
        }
    *strrchr(folder, '/') = 0;
    setenv("HEDDLE_MODULE_DIR", folder, 1);
}

#endif
