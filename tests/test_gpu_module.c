/* SPDX-License-Identifier: MIT
 *
 * Devices by name, and kernels by name: from files, embedded, kept until the device is closed. */
#include "fakes/use.h"
#include "gpu/module.h"
#include "gpu/pack.h"

static struct gpu *open_named(const struct fake_vendor *v)
{
    struct gpu *gpu = NULL;
    char name[GPU_NAME];
    fake_use(v, "", v->file);
    fake_script(v, NULL, NULL);
    snprintf(name, sizeof name, "%s:0", v->driver->name);
    CHECK_OK(gpu_open(&gpu, name));
    return gpu;
}

static void close_named(const struct fake_vendor *v, struct gpu *gpu)
{
    module_forget(gpu);
    fake_close(v, gpu);
}

/* A folder of modules, and the variable that points there. */
static void module_file(const char *name, const char *contents)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", test_file(name, contents));
    *strrchr(folder, '/') = 0;
    setenv("HEDDLE_MODULE_DIR", folder, 1);
}

TEST(the_devices_of_all_drivers_have_names_that_open_them)
{
    FOR_BOTH(v)
    {
        close_named(v, open_named(v));
    }
    CHECK_THAT(gpu_device_count() >= 4, "%d", gpu_device_count());
    int opened = 0;
    for (int i = 0; i < gpu_device_count(); i++) {
        char name[GPU_NAME];
        struct gpu_info info;
        struct gpu *gpu = NULL;
        CHECK_OK(gpu_device_info(name, &info, i));
        CHECK_THAT(gpu_is_name(name), "%s", name);
        CHECK_OK(gpu_open(&gpu, name));
        opened += gpu && strcmp(gpu_info_of(gpu)->name, info.name) == 0;
        gpu_close(gpu);
    }
    CHECK(opened == gpu_device_count());
    gpu_close(NULL);
}

TEST(a_device_that_is_not_there_is_an_error_with_its_name)
{
    char name[GPU_NAME];
    struct gpu_info info;
    struct gpu *gpu = NULL;
    close_named(&fake_vendors[0], open_named(&fake_vendors[0]));
    CHECK_FAILS(gpu_open(&gpu, "vulkan:0"), HEDDLE_NO_DEVICE, "vulkan:0");
    CHECK_FAILS(gpu_open(&gpu, "cud"), HEDDLE_NO_DEVICE, "cud");
    CHECK_FAILS(gpu_open(&gpu, "cuda:7"), HEDDLE_NO_DEVICE, "cuda:7");
    CHECK_FAILS(gpu_open(&gpu, "cuda:123456"), HEDDLE_NO_DEVICE, "123456");
    CHECK_FAILS(gpu_open(&gpu, "cuda:0:speed=9"), HEDDLE_BAD_ARGUMENT, "speed");
    CHECK_FAILS(gpu_open(&gpu, "cuda:speed"), HEDDLE_BAD_ARGUMENT, "key=value");
    CHECK(!gpu && !gpu_is_name("cpu") && gpu_is_name("cuda") && gpu_is_name("hip:3"));
    CHECK_STATUS(gpu_device_info(name, &info, 1000), HEDDLE_NO_DEVICE);
    CHECK_STATUS(gpu_device_info(name, &info, -1), HEDDLE_NO_DEVICE);
}

TEST(a_hidden_vendor_has_no_devices)
{
    setenv("FAKE_DEVICES", "0", 1); /* what CUDA_VISIBLE_DEVICES= would do */
    FOR_BOTH(v)
    {
        struct gpu *gpu = NULL;
        int n = 7;
        fake_use(v, "", v->file);
        CHECK_OK(v->driver->count(&n));
        CHECK(n == 0);
        CHECK_FAILS(gpu_open(&gpu, v->driver->name), HEDDLE_NO_DEVICE, "has 0");
    }
    unsetenv("FAKE_DEVICES");
}

/* A binary with two kernels. */
static void weave_file(const struct fake_vendor *v)
{
    char image[64], name[64];
    snprintf(image, sizeof image, "FAKE %s weave__f64_i32 weave_fix__f64_i32", v->arch);
    snprintf(name, sizeof name,
             v->driver == &cuda_driver ? "weave__f64_i32.%s.cubin" : "weave__f64_i32.%s.co", v->arch);
    module_file(name, image);
}

TEST(a_kernel_is_loaded_once_and_kept)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = open_named(v);
        struct gpu_function *f = NULL, *again = NULL, *other = NULL;
        weave_file(v);
        CHECK_OK(gpu_kernel(gpu, &f, "weave", VARIANT_f64_i32, "weave"));
        CHECK_OK(gpu_kernel(gpu, &other, "weave", VARIANT_f64_i32, "weave_fix"));
        unsetenv("HEDDLE_MODULE_DIR"); /* not looked at again */
        CHECK_OK(gpu_kernel(gpu, &again, "weave", VARIANT_f64_i32, "weave"));
        CHECK(f && f == again && other && other != f);
        CHECK(fake_state_of(v)->modules == 1);
        close_named(v, gpu);
    }
}

/* CUDA takes a kernel for which there was no memory for ready when it is asked for again. */
TEST(a_kernel_that_was_not_made_ready_comes_from_a_binary_that_is_loaded_anew)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = open_named(v);
        const char *makes_ready = v->driver == &cuda_driver ? "cuFuncLoad" : "hipModuleGetFunction";
        struct gpu_function *f = NULL, *again = NULL, *other = NULL;
        weave_file(v);
        fake_script(v, makes_ready, "=2");
        CHECK_FAILS(gpu_kernel(gpu, &f, "weave", VARIANT_f64_i32, "weave"), HEDDLE_NO_MEMORY,
                    "out of memory");
        CHECK(!f && fake_state_of(v)->modules == 0);
        fake_script(v, NULL, NULL);
        CHECK_OK(gpu_kernel(gpu, &f, "weave", VARIANT_f64_i32, "weave"));
        CHECK(fake_state_of(v)->modules == 1);
        fake_script(v, makes_ready, "=2");
        CHECK_FAILS(gpu_kernel(gpu, &other, "weave", VARIANT_f64_i32, "weave_fix"), HEDDLE_NO_MEMORY,
                    "out of memory");
        CHECK_THAT(fake_state_of(v)->modules == 1, "a binary is gone, though a kernel of it is in use");
        fake_script(v, NULL, NULL);
        CHECK_OK(gpu_kernel(gpu, &other, "weave", VARIANT_f64_i32, "weave_fix"));
        CHECK_OK(gpu_kernel(gpu, &again, "weave", VARIANT_f64_i32, "weave"));
        CHECK(fake_state_of(v)->modules == 2 && f == again && other && other != f);
        unsetenv("HEDDLE_MODULE_DIR");
        close_named(v, gpu);
        CHECK_THAT(fake_state_of(v)->modules == 0, "binaries are left");
    }
}

TEST(nvidia_takes_a_cubin_before_a_fatbin_before_ptx)
{
    static const char *const file[] = {"pick__f32_i32.ptx", "pick__f32_i32.fatbin",
                                       "pick__f32_i32.sm_90.cubin"};
    static const char *const text[] = {"PTX ptx__f32_i32", "FAKE sm_90 fatbin__f32_i32",
                                       "FAKE sm_90 cubin__f32_i32"};
    static const char *const kernel[] = {"ptx", "fatbin", "cubin"};
    for (int i = 0; i < 3; i++) {
        struct gpu *gpu = open_named(&fake_vendors[0]);
        struct gpu_function *f = NULL;
        module_file(file[i], text[i]);
        CHECK_OK(gpu_kernel(gpu, &f, "pick", VARIANT_f32_i32, kernel[i]));
        close_named(&fake_vendors[0], gpu);
    }
}

TEST(a_file_that_is_missing_or_wrong_is_named)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = open_named(v);
        struct gpu_function *f = NULL;
        char wrong[64];
        module_file("unrelated", "");
        CHECK_FAILS(gpu_kernel(gpu, &f, "absent", VARIANT_f64_o64, "absent"), HEDDLE_NO_KERNEL,
                    "/absent__f64_o64.");
        CHECK_FAILS(gpu_kernel(gpu, &f, "absent", VARIANT_f64_o64, "absent"), HEDDLE_NO_KERNEL,
                    "HEDDLE_MODULE_DIR is set");
        snprintf(wrong, sizeof wrong, "wrong__f64_i32.%s%s", v->arch,
                 v->driver == &cuda_driver ? ".cubin" : ".co");
        module_file(wrong, "FAKE sm_10 wrong__f64_i32");
        CHECK_FAILS(gpu_kernel(gpu, &f, "wrong", VARIANT_f64_i32, "wrong"), HEDDLE_NO_KERNEL, wrong);
        CHECK(!f);
        unsetenv("HEDDLE_MODULE_DIR");
        CHECK_FAILS(gpu_kernel(gpu, &f, "nothing", VARIANT_f64_i32, "nothing"), HEDDLE_NO_KERNEL, "has no");
        CHECK_FAILS(gpu_kernel(gpu, &f, "nothing", VARIANT_f64_i32, "nothing"), HEDDLE_NO_KERNEL,
                    "nothing for f64_i32");
        close_named(v, gpu);
    }
}

/* The fakes take real binaries as they are, so that everything that is embedded can be asked for without a
 * device. */
TEST(every_embedded_binary_that_fits_is_found)
{
    FOR_BOTH(v)
    {
        struct gpu *gpu = open_named(v);
        for (const struct gpu_pack *from = gpu_packs; from->driver; from++) {
            struct pack *pack = NULL;
            if (strcmp(from->driver, v->driver->name) != 0)
                continue;
            CHECK_OK(pack_open(&pack, from));
            CHECK_THAT(pack && pack_name(pack, 0), "%s is empty", from->target);
            for (int i = 0; pack && pack_name(pack, i); i++) {
                struct gpu_function *f = NULL;
                char page[128];
                int known = 0;
                snprintf(page, sizeof page, "%s", pack_name(pack, i));
                char *variant = strstr(page, "__");
                *variant = 0;
                variant[2 + strcspn(variant + 2, ".")] = 0; /* the architecture, of AMD's */
                for (enum variant n = 0; n < VARIANT_COUNT; n++)
                    if (strcmp(variant_name(n), variant + 2) == 0) {
                        CHECK_OK(gpu_kernel(gpu, &f, page, n, page));
                        known = 1;
                    }
                CHECK_THAT(known, "%s: no variant %s", page, variant + 2);
            }
            pack_close(pack);
        }
        close_named(v, gpu);
    }
}

TEST(a_kernel_that_is_built_for_other_architectures_says_for_which)
{
    const struct gpu_pack *first = gpu_packs;
    struct pack *pack = NULL;
    char page[128];
    while (first->driver && strcmp(first->driver, "cuda") != 0)
        first++;
    if (!first->driver)
        SKIP("this build has no code for NVIDIA");
    CHECK_OK(pack_open(&pack, first));
    snprintf(page, sizeof page, "%s", pack_name(pack, 0));
    *strstr(page, "__") = 0;
    pack_close(pack);
    struct gpu *gpu = open_named(&fake_vendors[0]);
    struct gpu_function *f = NULL;
    fake_script(&fake_vendors[0], "cuModuleLoadDataEx", "=209");
    CHECK_FAILS(gpu_kernel(gpu, &f, page, VARIANT_f64_i32, page), HEDDLE_NO_KERNEL, first->holds);
    CHECK_FAILS(gpu_kernel(gpu, &f, page, VARIANT_f64_i32, page), HEDDLE_NO_KERNEL, "not for sm_90");
    CHECK_FAILS(gpu_kernel(gpu, &f, page, VARIANT_f64_i32, page), HEDDLE_NO_KERNEL,
                "PTX would be the way out");
    close_named(&fake_vendors[0], gpu);
}

TEST(every_resource_row_tells_something)
{
    CHECK(gpu_resource_count() >= 0);
    for (int i = 0; i < gpu_resource_count(); i++) {
        const struct gpu_resource *r = &gpu_resources[i];
        int idle = strcmp(r->kernel, "limits_nothing") == 0; /* an empty kernel takes none on AMD */
        CHECK_THAT((r->registers != 0 || idle) && r->registers <= 512, "%s %s: %d registers", r->kernel,
                   r->target, r->registers);
        CHECK_THAT(r->shared >= -1 && r->spills >= -1, "%s %s", r->kernel, r->target);
        CHECK(strstr("hardware loop both -", r->atomics));
        CHECK_THAT(!strstr(r->kernel, "__"), "%s still has its variant", r->kernel);
    }
}

static heddle_status load_two(void *argument)
{
    const struct fake_vendor *v = argument;
    struct gpu *gpu = NULL;
    struct gpu_function *f;
    heddle_status status = HEDDLE_OK;
    TRY(gpu_open(&gpu, v->driver->name));
    TRY(gpu_kernel(gpu, &f, "weave", VARIANT_f64_i32, "weave"));
    TRY(gpu_kernel(gpu, &f, "weave", VARIANT_f64_i32, "weave_fix"));
done:
    gpu_close(gpu);
    return status;
}

TEST(every_failed_allocation_leaves_no_module_behind)
{
    FOR_BOTH(v)
    {
        close_named(v, open_named(v));
        char name[64], image[96];
        snprintf(name, sizeof name,
                 v->driver == &cuda_driver ? "weave__f64_i32.%s.cubin" : "weave__f64_i32.%s.co", v->arch);
        snprintf(image, sizeof image, "FAKE %s weave__f64_i32 weave_fix__f64_i32", v->arch);
        module_file(name, image);
        CHECK(test_every_allocation(load_two, (void *)(uintptr_t)v) > 4);
        CHECK(fake_state_of(v)->modules == 0 && fake_state_of(v)->contexts == 0);
        unsetenv("HEDDLE_MODULE_DIR");
    }
}
