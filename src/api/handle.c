/* SPDX-License-Identifier: MIT
 *
 * handle.c: devices and handles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/memory.h"
#include "base/thread.h"

int heddle_device_count(void)
{
    return 1;
}

heddle_status heddle_device_info(int number, heddle_device_desc *desc)
{
    const struct cpu *cpu = cpu_this();
    if (!desc)
        return fail(HEDDLE_BAD_ARGUMENT, "desc is NULL");
    *desc = (heddle_device_desc){0};
    if (number != 0)
        return fail(HEDDLE_NO_DEVICE, "there is no device number %d: this machine has 1", number);
    desc->units = cpu->cores;
    desc->memory = cpu->memory;
    desc->cache = cpu->cache;
    snprintf(desc->name, sizeof desc->name, "cpu");
    snprintf(desc->arch, sizeof desc->arch, "%s", isa_name(cpu->isa));
    snprintf(desc->description, sizeof desc->description, "%s, %d core%s", cpu->model, cpu->cores, cpu->cores == 1 ? "" : "s");
    return HEDDLE_OK;
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

heddle_status heddle_open(heddle **h, const char *device)
{
    heddle_status status = HEDDLE_OK;
    heddle *made = NULL;
    if (!h)
        return fail(HEDDLE_BAD_ARGUMENT, "the handle's pointer is NULL");
    *h = NULL;
    if (!device || strcmp(device, "auto") == 0)
        device = "cpu";
    size_t name = strcspn(device, ":");
    if (name != 3 || strncmp(device, "cpu", 3) != 0)
        return fail(HEDDLE_NO_DEVICE, "there is no device '%s' here (this machine has: cpu)", device);
    TRY(NEW_ZEROED(made, 1));
    TRY(cpu_options(&made->device, device));
    const char *debug = getenv("HEDDLE_DEBUG");
    made->debug = debug && strcmp(debug, "0") != 0 && *debug;
    made->last_kernel = "";
    *h = made;
    made = NULL;
done:
    heddle_close(made);
    return status;
}

void heddle_close(heddle *h)
{
    if (!h)
        return;
    mem_free(h->workspace);
    mem_free(h);
}

heddle_status handle_check(const heddle *h)
{
    return h ? HEDDLE_OK : fail(HEDDLE_BAD_ARGUMENT, "the handle is NULL");
}

heddle_status heddle_sync(heddle *h)
{
    return handle_check(h);
}

heddle_status heddle_set_debug(heddle *h, int on)
{
    heddle_status status = handle_check(h);
    if (status == HEDDLE_OK)
        h->debug = on != 0;
    return status;
}

const char *heddle_last_kernel(const heddle *h)
{
    return h ? h->last_kernel : "";
}

heddle_status heddle_reserve(heddle *h, const heddle_matrix *A)
{
    heddle_status status = HEDDLE_OK;
    char *larger = NULL;
    TRY(handle_check(h));
    if (!A)
        return fail(HEDDLE_BAD_ARGUMENT, "the matrix is NULL");
    int64_t bytes = immediate_workspace(&h->device, &A->view);
    if (bytes > h->workspace_bytes) {
        TRY(NEW(larger, bytes));
        mem_free(h->workspace);
        h->workspace = larger;
        h->workspace_bytes = bytes;
    }
done:
    return status;
}
