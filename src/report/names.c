/* SPDX-License-Identifier: MIT */
#include "report/names.h"

#include <string.h>

#include "base/memory.h"

/* FNV-1a. */
static uint64_t hash_text(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h;
}

/* Where `text` stands or would stand; there is always an empty slot. */
static int64_t *find(const struct names *n, const char *text)
{
    uint64_t mask = (uint64_t)n->slots - 1, at = hash_text(text) & mask;
    while (n->slot[at] && strcmp(n->item[n->slot[at] - 1], text) != 0)
        at = (at + 1) & mask;
    return &n->slot[at];
}

/* Room for one more, with at least half of the slots empty. */
static heddle_status grow(struct names *n)
{
    heddle_status status = HEDDLE_OK;
    int64_t slots = n->slots ? 2 * n->slots : 64, *old = n->slot;
    if (n->count == n->capacity) {
        int64_t capacity = slots / 2;
        char **item = mem_resize(n->item, n->count, capacity, sizeof *item);
        TRY(item ? HEDDLE_OK : HEDDLE_NO_MEMORY);
        n->item = item;
        n->capacity = capacity;
        TRY(NEW_ZEROED(n->slot, slots));
        n->slots = slots;
        for (int64_t i = 0; i < n->count; i++)
            *find(n, n->item[i]) = i + 1;
        mem_free(old);
    }
    return HEDDLE_OK;
done:
    if (n->slot != old) { /* the items may have room already; the slots stay as they were */
        n->slot = old;
        n->capacity = n->count;
    }
    return status;
}

int64_t names_find(const struct names *n, const char *text)
{
    return n->slots ? *find(n, text) - 1 : -1;
}

heddle_status names_add(struct names *n, const char *text, int64_t *number)
{
    heddle_status status = HEDDLE_OK;
    char *copy = NULL;
    *number = names_find(n, text);
    if (*number >= 0)
        return HEDDLE_OK;
    TRY(grow(n));
    int64_t size = (int64_t)strlen(text) + 1;
    TRY(NEW(copy, size));
    memcpy(copy, text, (size_t)size);
    *number = n->count;
    n->item[n->count++] = copy;
    *find(n, text) = n->count;
done:
    return status;
}

void names_free(struct names *n)
{
    for (int64_t i = 0; i < n->count; i++)
        mem_free(n->item[i]);
    mem_free(n->item);
    mem_free(n->slot);
    *n = (struct names){0};
}
