/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "gpu/module.h"
#include "kernel/kernel.h"

#define KERNEL(name, device, numbers) extern const struct kernel name;
#include "kernel/kernels.def"
#undef KERNEL

static const struct kernel *const kernels[] = {
#define KERNEL(name, device, numbers) [KERNEL_##name] = &name,
#include "kernel/kernels.def"
#undef KERNEL
};

/* By kernel: the numbers that its pages are compiled for, as sets.def lists them. */
#define SET(name, numbers) static const char set_##name[] = numbers;
#include "matrix/sets.def"
#undef SET
static const char *const sets[] = {
#define KERNEL(name, device, numbers) [KERNEL_##name] = set_##numbers,
#include "kernel/kernels.def"
#undef KERNEL
};

int kernel_has(const struct kernel *kernel, heddle_type value)
{
    const char *name = value_name(value), *at = name ? strstr(sets[kernel->id], name) : NULL;
    for (; at; at = strstr(at + 1, name))
        if ((at == sets[kernel->id] || at[-1] == ' ') && (at[strlen(name)] == ' ' || at[strlen(name)] == 0))
            return 1;
    return 0;
}

/* What its page is compiled as for matrices of a variant. */
static enum variant page_variant(const struct kernel *kernel, enum variant v)
{
    enum { of_cpu, of_cpu_real, of_gpu, of_gpu_real };
    static const char device[] = {
#define KERNEL(name, device, numbers) [KERNEL_##name] = of_##device,
#include "kernel/kernels.def"
#undef KERNEL
    };
    return device[kernel->id] == of_gpu_real ? real_variant(v) : v;
}

int kernel_count(void)
{
    return KERNEL_COUNT;
}

const struct kernel *kernel_at(int number)
{
    return number >= 0 && number < KERNEL_COUNT ? kernels[number] : NULL;
}

const struct kernel *kernel_by_name(const char *name)
{
    for (int i = 0; i < KERNEL_COUNT; i++)
        if (strcmp(kernels[i]->name, name) == 0)
            return kernels[i];
    return NULL;
}

const struct option *kernel_options(const struct kernel *kernel)
{
    static const struct option none[] = {{0}};
    const struct option *of_format = format_at(kernel->format)->options;
    return kernel->options ? kernel->options : of_format ? of_format : none;
}

/* "slice=8 window=512" for every kernel, written once. */
static char option_texts[KERNEL_COUNT][96];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void write_option_texts(void)
{
    for (int i = 0; i < KERNEL_COUNT; i++) {
        size_t used = 0;
        for (const struct option *o = kernel_options(kernels[i]); o->name; o++) {
            char value[OPTION_SPELLED];
            option_spell(value, o, o->initial);
            used += (size_t)snprintf(option_texts[i] + used, sizeof option_texts[i] - used, "%s%s=%s",
                                     used ? " " : "", o->name, value);
        }
    }
}

heddle_status kernel_describe(int number, heddle_kernel_desc *desc)
{
    static const char *const ops[] = {"", "N", "T", "NT"};
    const struct kernel *k = kernel_at(number);
    if (!k || !desc)
        return fail(HEDDLE_BAD_ARGUMENT,
                    k ? "the description to fill is NULL" : "there is no kernel number %d", number);
    pthread_once(&once, write_option_texts);
    *desc = (heddle_kernel_desc){.name = k->name,
                                 .format = format_at(k->format)->name,
                                 .ops = ops[k->ops],
                                 .device = device_kind_name(k->device),
                                 .source = k->source,
                                 .options = option_texts[number],
                                 .types = sets[k->id],
                                 .repeatable = k->repeatable};
    return HEDDLE_OK;
}

static heddle_status unknown_kernel(const char *name)
{
    struct text all = {0};
    for (int i = 0; i < KERNEL_COUNT; i++)
        text_add(&all, "%s%s", i ? ", " : "", kernels[i]->name);
    heddle_status status =
        fail(HEDDLE_BAD_ARGUMENT, "there is no kernel '%s'; there are %s", name, all.data ? all.data : "");
    text_free(&all);
    return status;
}

/* One option from the spec, by number or by word. */
static heddle_status parse_option(struct spec *spec, const struct option *o, int64_t *value)
{
    const char *given = spec_text(spec, o->name);
    struct text list = {0};
    int64_t number;
    if (!given)
        return HEDDLE_OK;
    int is_number = parse_int(given, &number) == HEDDLE_OK;
    for (int i = 0; i < o->count; i++) {
        char text[OPTION_SPELLED];
        option_spell(text, o, o->value[i]);
        if (strcmp(given, text) == 0 || (is_number && !o->word && number == o->value[i])) {
            *value = o->value[i];
            text_free(&list);
            return HEDDLE_OK;
        }
        text_add(&list, " %s", text);
    }
    heddle_status status = fail(HEDDLE_BAD_ARGUMENT, "%s: %s=%s is not one of%s", spec->name, o->name, given,
                                list.data ? list.data : "");
    text_free(&list);
    return status;
}

heddle_status kernel_parse(const struct kernel **kernel, int64_t option[OPTIONS_MOST], const char *text)
{
    struct spec spec;
    heddle_status status;
    char known[128] = "";
    *kernel = NULL;
    memset(option, 0, OPTIONS_MOST * sizeof *option);
    TRY(spec_parse(&spec, text));
    const struct kernel *found = kernel_by_name(spec.name);
    TRY(found ? HEDDLE_OK : unknown_kernel(spec.name));
    const struct option *o = kernel_options(found);
    for (int i = 0; o[i].name; i++) {
        option[i] = o[i].initial;
        TRY(parse_option(&spec, &o[i], &option[i]));
        snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", o[i].name);
    }
    TRY(spec_done(&spec, known));
    *kernel = found;
done:
    return status;
}

void kernel_spell(char *text, size_t size, const struct kernel *kernel, const int64_t option[OPTIONS_MOST])
{
    const struct option *o = kernel_options(kernel);
    size_t used = (size_t)snprintf(text, size, "%s", kernel->name);
    for (int i = 0; o[i].name && used < size; i++) {
        char value[OPTION_SPELLED];
        option_spell(value, &o[i], option[i]);
        used += (size_t)snprintf(text + used, size - used, "%c%s=%s", i ? ',' : ':', o[i].name, value);
    }
}

struct work work_for(const struct kernel *kernel, const struct device *device, const struct stored *s,
                     int transposed, const int64_t *option)
{
    struct work w = {.kernel = kernel,
                     .page = kernel->name,
                     .device = device,
                     .variant = page_variant(kernel, variant_of(s->value, s->offset)),
                     .value = s->value};
    const struct option *o = kernel_options(kernel);
    for (int i = 0; o[i].name; i++)
        w.option[i] = option ? option[i] : o[i].initial;
    w.product = (struct product){
        .rows = s->rows, .cols = s->cols, .nnz = s->nnz, .transposed = transposed, .vectors = 1};
    w.product.x_step = w.product.y_step = (struct steps){.entry = 1, .vector = 1};
    memcpy(w.product.dim, s->dim, sizeof s->dim);
    for (int i = 0; i < FORMAT_ARRAYS; i++)
        w.product.array[i] = s->array[i];
    w.product.parts = kernel->parts ? kernel->parts(&w) : device->threads;
    return w;
}

heddle_status kernel_suits(const struct kernel *kernel, const struct device *device, heddle_type value)
{
    if (kernel->device == device->kind && !kernel_has(kernel, value))
        return fail(HEDDLE_NO_KERNEL, "%s has no %s values: its types are %s", kernel->name,
                    value_name(value), sets[kernel->id]);
    if (kernel->device == device->kind)
        return HEDDLE_OK;
    return fail(HEDDLE_NO_KERNEL, "%s runs on a %s, and the device is a %s", kernel->name,
                device_kind_name(kernel->device), device_kind_name(device->kind));
}

heddle_status work_applies(const struct work *w)
{
    return w->kernel->applies ? w->kernel->applies(w) : HEDDLE_OK;
}

heddle_status kernel_load(const struct device *device, const struct kernel *kernel, enum variant variant)
{
    heddle_status status = HEDDLE_OK;
    const char *const one[] = {kernel->name, NULL};
    struct gpu_function *function;
    if (device->kind == DEVICE_cpu)
        return HEDDLE_OK;
    for (const char *const *entry = kernel->entries ? kernel->entries : one; *entry; entry++)
        TRY(gpu_kernel(device->gpu, &function, kernel->name, page_variant(kernel, variant), *entry));
done:
    return status;
}

int64_t work_workspace(const struct work *w)
{
    return w->kernel->workspace ? w->kernel->workspace(w) : 0;
}

int64_t work_counters(const struct work *w)
{
    return w->kernel->counters ? w->kernel->counters(w) : 0;
}

int64_t work_held(const struct work *w)
{
    return w->kernel->held ? w->kernel->held(w) : 0;
}

double cost_of_streams(const struct work *w, const struct stored *s)
{
    double vectors = (double)(s->rows + s->cols) * (double)vector_size(s->value);
    (void)w;
    return (double)stored_bytes(s) + vectors;
}

double cost_of_additions(const struct work *w, const struct stored *s)
{
    double y = (double)(w->product.transposed ? s->cols : s->rows) * (double)vector_size(s->value);
    return cost_of_streams(w, s) + y + 32 * (double)s->nnz;
}
