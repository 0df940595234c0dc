/* SPDX-License-Identifier: MIT
 *
 * handle.c: devices and handles. */
#include <stdio.h>
#include <string.h>

#include "api/api.h"
#include "base/environment.h"
#include "base/memory.h"
#include "base/thread.h"

int heddle_device_count(void)
{
    struct error_text kept; /* a driver that is not there is no error of this call */
    error_keep(&kept);
    int count = gpu_device_count() + 1;
    error_put_back(&kept);
    return count;
}

/* GPUs first, then the CPU, then the emulator: the list of the drivers ends in it. */
static int gpus_before_cpu(void)
{
    int n = heddle_device_count() - 1;
    return n > 0 ? n - 1 : 0;
}

static void describe_cpu(heddle_device_desc *desc)
{
    const struct cpu *cpu = cpu_this();
    desc->units = cpu->cores;
    desc->memory = cpu->memory;
    desc->cache = cpu->cache;
    snprintf(desc->name, sizeof desc->name, "cpu");
    snprintf(desc->arch, sizeof desc->arch, "%s", isa_name(cpu->isa));
    snprintf(desc->description, sizeof desc->description, "%s, %d core%s", cpu->model, cpu->cores,
             cpu->cores == 1 ? "" : "s");
}

heddle_status heddle_device_info(int number, heddle_device_desc *desc)
{
    heddle_status status = HEDDLE_OK;
    struct gpu_info info;
    struct error_text kept;
    if (!desc)
        return fail(HEDDLE_BAD_ARGUMENT, "desc is NULL");
    *desc = (heddle_device_desc){0};
    if (number < 0 || number >= heddle_device_count())
        return fail(HEDDLE_NO_DEVICE, "there is no device number %d: this machine has %d", number,
                    heddle_device_count());
    int before = gpus_before_cpu();
    if (number == before) {
        describe_cpu(desc);
        return HEDDLE_OK;
    }
    error_keep(&kept);
    TRY(gpu_device_info(desc->name, &info, number < before ? number : number - 1));
    error_put_back(&kept);
    desc->units = info.multiprocessors;
    desc->memory = info.memory;
    desc->cache = info.cache;
    snprintf(desc->arch, sizeof desc->arch, "%s", info.arch);
    snprintf(desc->description, sizeof desc->description, "%s", info.name);
done:
    return status;
}

/* The options of a CPU: "cpu:threads=4,isa=generic". */
static heddle_status cpu_options(struct device *device, const char *text)
{
    heddle_status status = HEDDLE_OK;
    struct spec spec;
    int64_t threads = threads_default();
    device->isa = cpu_this()->isa;
    TRY(spec_parse(&spec, text));
    TRY(spec_int(&spec, "threads", 1, THREADS_MOST, &threads));
    const char *isa = spec_text(&spec, "isa");
    if (isa) {
        int found = isa_by_name(isa);
        if (found < 0)
            return fail(HEDDLE_BAD_ARGUMENT, "cpu: isa=%s is not built in (the best here is %s)", isa,
                        isa_name(cpu_this()->isa));
        if (!isa_runs((enum isa)found))
            return fail(HEDDLE_BAD_ARGUMENT, "cpu: this processor does not have isa=%s (its best is %s)", isa,
                        isa_name(cpu_this()->isa));
        device->isa = (enum isa)found;
    }
    TRY(spec_done(&spec, "threads, isa"));
    device->threads = (int)threads;
done:
    return status;
}

static heddle_status open_gpu(heddle *h, const char *name)
{
    heddle_status status = HEDDLE_OK;
    TRY(NEW_ZEROED(h->shared, 1));
    h->shared->users = 1;
    TRY(gpu_open(&h->shared->gpu, name));
    h->device = (struct device){.kind = DEVICE_gpu, .gpu = h->shared->gpu};
done:
    return status;
}

/* "auto": the first device of the list, which is a GPU where there is one. */
static const char *best_device(heddle_device_desc *best)
{
    return heddle_device_info(0, best) == HEDDLE_OK ? best->name : "cpu";
}

static heddle_status no_device(const char *name)
{
    heddle_device_desc desc;
    char known[256] = "";
    size_t used = 0;
    for (int i = 0; i < heddle_device_count() && used < sizeof known; i++)
        if (heddle_device_info(i, &desc) == HEDDLE_OK)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", desc.name);
    return fail(HEDDLE_NO_DEVICE, "there is no device '%s' here (this machine has: %s)", name, known);
}

heddle_status heddle_open(heddle **h, const char *device)
{
    heddle_device_desc best;
    heddle_status status = HEDDLE_OK;
    heddle *made = NULL;
    struct error_text kept;
    error_keep(&kept);
    if (!h)
        return fail(HEDDLE_BAD_ARGUMENT, "the handle's pointer is NULL");
    *h = NULL;
    if (!device || strcmp(device, "auto") == 0)
        device = best_device(&best);
    int is_cpu = strncmp(device, "cpu", 3) == 0 && (device[3] == 0 || device[3] == ':');
    if (!is_cpu && !gpu_is_name(device))
        return no_device(device);
    TRY(NEW_ZEROED(made, 1));
    TRY(is_cpu ? cpu_options(&made->device, device) : open_gpu(made, device));
    const char *debug = environment("HEDDLE_DEBUG");
    made->debug = debug && strcmp(debug, "0") != 0 && *debug;
    made->last_kernel = "";
    *h = made;
    made = NULL;
    error_put_back(&kept); /* what "auto" did not find */
done:
    heddle_close(made);
    return status;
}

void heddle_close(heddle *h)
{
    if (!h)
        return;
    workspace_free(h);
    gpu_leave(h->shared);
    mem_free(h);
}

heddle_status handle_refused(const heddle *h)
{
    if (!h)
        return fail(HEDDLE_BAD_ARGUMENT, "the handle is NULL");
    return fail(HEDDLE_BAD_ARGUMENT,
                "the handle is in use by another thread: open a handle for each, they may share matrices");
}

heddle_status heddle_set_debug(heddle *h, int on)
{
    RETURN_ALONE(h, (h->debug = on != 0, HEDDLE_OK));
}

heddle_status heddle_set_deterministic(heddle *h, int on)
{
    RETURN_ALONE(h, (h->deterministic = on != 0, HEDDLE_OK));
}

static heddle_status set_scalars(heddle *h, heddle_where where)
{
    if (where != HEDDLE_ON_HOST && where != HEDDLE_ON_DEVICE)
        return fail(HEDDLE_BAD_ARGUMENT, "scalars are HEDDLE_ON_HOST or HEDDLE_ON_DEVICE, not %d",
                    (int)where);
    h->scalars = where;
    return HEDDLE_OK;
}

heddle_status heddle_set_scalars(heddle *h, heddle_where where)
{
    RETURN_ALONE(h, set_scalars(h, where));
}

const char *heddle_last_kernel(const heddle *h)
{
    return h ? h->last_kernel : "";
}
