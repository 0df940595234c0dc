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

heddle_status gen_matrix(struct csr *A, const char *text, heddle_type value)
{
    heddle_status status = HEDDLE_OK;
    struct spec spec;
    *A = (struct csr){0};
    if (value == HEDDLE_TYPE_DEFAULT)
        value = HEDDLE_F64;
    if (value != HEDDLE_F32 && value != HEDDLE_F64)
        return fail(HEDDLE_BAD_ARGUMENT, "values are generated as f32 or f64 only");
    TRY(spec_parse(&spec, text));
    const struct family *family = family_by_name(spec.name);
    if (!family)
        return no_such_family(spec.name);
    status = family->make(A, &spec, value);
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
