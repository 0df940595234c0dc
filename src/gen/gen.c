/* SPDX-License-Identifier: MIT */
#include "gen/gen.h"

#include <string.h>

#include "gen/families.h"

static const struct family families[] = {
#define FAMILY(name, what, parameters) {#name, what, parameters, make_##name},
#include "gen/families.def"
#undef FAMILY
};

int family_count(void)
{
    return (int)(sizeof families / sizeof families[0]);
}

const struct family *family_at(int i)
{
    return i >= 0 && i < family_count() ? &families[i] : NULL;
}

static const struct family *family_by_name(const char *name)
{
    for (int i = 0; i < family_count(); i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}

/* All names, so that whoever mistyped one sees the right one. */
static heddle_status no_such_family(const char *name)
{
    char list[512] = "";
    for (int i = 0; i < family_count(); i++)
        if (strlen(list) + strlen(families[i].name) + 2 < sizeof list) {
            strcat(list, i ? " " : "");
            strcat(list, families[i].name);
        }
    return fail(HEDDLE_BAD_ARGUMENT, "there is no family '%s' (there are: %s)", name, list);
}

/* values=complex is every family's; what else `values` may be is its own matter. */
static int has_complex(struct spec *spec)
{
    for (int i = 0; i < spec->keys; i++)
        if (strcmp(spec->item[i].key, "values") == 0 && strcmp(spec->item[i].value, "complex") == 0)
            return spec_text(spec, "values") != NULL;
    return 0;
}

heddle_status gen_matrix(struct csr *A, const char *text, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct spec spec;
    *A = (struct csr){0};
    int64_t seed = 1;
    if (value != HEDDLE_TYPE_DEFAULT && !value_name(value))
        return fail(HEDDLE_BAD_ARGUMENT, "values are f32, f64, c32, c64, f16, bf16 or f32v64");
    TRY(spec_parse(&spec, text));
    const int wants_complex = has_complex(&spec);
    if (value == HEDDLE_TYPE_DEFAULT)
        value = wants_complex ? HEDDLE_C64 : HEDDLE_F64;
    if (wants_complex && !is_complex(value))
        return fail(HEDDLE_BAD_ARGUMENT, "%s: values=complex makes c64 or c32, not %s", spec.name,
                    value_name(value));
    const struct family *family = family_by_name(spec.name);
    if (!family)
        return no_such_family(spec.name);
    TRY(family->make(A, &spec, value));
    TRY(spec_int(&spec, "seed", 0, INT64_MAX, &seed));
    if (wants_complex)
        make_complex(A, (uint64_t)seed);
done:
    if (status != HEDDLE_OK)
        csr_free(A);
    return status;
}

heddle_status no_more_keys(const struct spec *spec)
{
    return spec_done(spec, family_by_name(spec->name)->parameters);
}

heddle_status finish(struct csr *A, struct maker *m, struct spec *spec, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    m->value = value;
    TRY(no_more_keys(spec));
    TRY(build(A, m));
done:
    return status;
}

heddle_status family_profile(struct profile *p, const struct profile_wish *wish, const struct spec *spec)
{
    heddle_status status = profile_new(p, wish);
    return status == HEDDLE_BAD_ARGUMENT ? fail_in(status, spec->name) : status;
}
