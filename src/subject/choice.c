/* SPDX-License-Identifier: MIT */
#include "subject/choice.h"

#include <string.h>

#include "base/text.h"
#include "kernel/kernel.h"
#include "subject/subject.h"

#define NAMES_MOST 128

int choice_is(const char *name, const char *choice)
{
    size_t size = strlen(choice);
    return strncmp(name, choice, size) == 0 && (!name[size] || name[size] == ':');
}

heddle_status choice_options(const char *name, struct choice *c)
{
    static const char *const caches[] = {
        [HEDDLE_CACHE_UNKNOWN] = "unknown", [HEDDLE_CACHE_COLD] = "cold", [HEDDLE_CACHE_WARM] = "warm"};
    heddle_status status = HEDDLE_OK;
    struct spec spec;
    int64_t wanted = 0;
    int cache = HEDDLE_CACHE_UNKNOWN, is_plan = choice_is(name, "plan");
    TRY(spec_parse(&spec, name));
    TRY(spec_int(&spec, "deterministic", 0, 1, &wanted));
    const char *text = is_plan ? spec_text(&spec, "cache") : NULL;
    while (text && cache <= HEDDLE_CACHE_WARM && strcmp(text, caches[cache]) != 0)
        cache++;
    if (cache > HEDDLE_CACHE_WARM)
        TRY(fail(HEDDLE_BAD_ARGUMENT, "%s: cache is unknown, cold or warm", name));
    const char *values = is_plan ? spec_text(&spec, "values") : NULL;
    if (values && strcmp(values, "fixed") != 0 && strcmp(values, "any") != 0)
        TRY(fail(HEDDLE_BAD_ARGUMENT, "%s: values are any or fixed", name));
    TRY(spec_done(&spec, is_plan ? "deterministic cache values" : "deterministic"));
    *c = (struct choice){.deterministic = wanted != 0,
                         .values_fixed = values && strcmp(values, "fixed") == 0,
                         .cache = (heddle_cache)cache};
done:
    return status;
}

int choice_is_deterministic(const char *name)
{
    struct choice c;
    return (choice_is(name, "auto") || choice_is(name, "plan")) && choice_options(name, &c) == HEDDLE_OK &&
           c.deterministic;
}

heddle_status choice_check(const char *name)
{
    const char *known[NAMES_MOST] = {"auto", "plan"};
    int count = 2;
    struct spec spec;
    struct choice ignored;
    if (choice_is(name, "auto") || choice_is(name, "plan"))
        return choice_options(name, &ignored);
    heddle_status status = spec_parse(&spec, name);
    if (status != HEDDLE_OK)
        return status;
    for (int i = 0; i < kernel_count() && count < NAMES_MOST; i++)
        known[count++] = kernel_at(i)->name;
    for (int i = 0; i < count; i++)
        if (strcmp(known[i], spec.name) == 0)
            return HEDDLE_OK;
    const char *near = nearest(spec.name, known, count);
    return fail(HEDDLE_BAD_ARGUMENT, "there is no kernel '%s'%s%s%s", spec.name,
                near ? "; did you mean '" : "", near ? near : " (heddle kernels lists them)",
                near ? "'?" : "");
}
