/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "gen/gen.h"

#define UNKNOWN (-1.0)

#define NOT_PUBLISHED                                                                                        \
    {                                                                                                        \
        0, 0, 0, 0, UNKNOWN, NULL                                                                            \
    }

static const struct set_member smoke[] = {
#define SMOKE(name, spec) {name, spec, NOT_PUBLISHED},
#include "gen/sets.def"
};

static const struct set_member paper[] = {
#define PAPER(name, rows, cols, nnz, longest, deviation, where, spec)                                        \
    {name, spec, {rows, cols, nnz, longest, deviation, where}},
#include "gen/sets.def"
};

static const struct set_member baseline[] = {
#define BASELINE(name, rows, cols, nnz, longest, deviation, spec)                                            \
    {name, spec, {rows, cols, nnz, longest, deviation, "baseline measurements"}},
#include "gen/sets.def"
};

static const struct set_member unseen[] = {
#define UNSEEN(name, spec) {name, spec, NOT_PUBLISHED},
#include "gen/sets.def"
};

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

static const struct set sets[] = {
    {"smoke", "small matrices of every family, for seconds", COUNT(smoke), smoke},
    {"paper", "stand-ins for the matrices of the papers at their real sizes", COUNT(paper), paper},
    {"baseline", "the 20 shapes of the first GPU measurements", COUNT(baseline), baseline},
    {"unseen", "20 shapes like those, which no tuning has seen", COUNT(unseen), unseen},
};

int set_count(void)
{
    return COUNT(sets);
}

const struct set *set_at(int i)
{
    return i >= 0 && i < set_count() ? &sets[i] : NULL;
}

const struct set *set_by_name(const char *name)
{
    for (int i = 0; i < set_count(); i++)
        if (strcmp(sets[i].name, name) == 0)
            return &sets[i];
    return NULL;
}

const struct set_member *member_by_name(const char *name)
{
    for (int s = 0; s < set_count(); s++)
        for (int i = 0; i < sets[s].count; i++)
            if (strcmp(sets[s].member[i].name, name) == 0)
                return &sets[s].member[i];
    return NULL;
}
