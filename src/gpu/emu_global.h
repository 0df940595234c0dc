/* SPDX-License-Identifier: MIT
 *
 * emu_global.h: what the hooks, barriers and fences tell of global memory.  A worker has a watch where
 * races are looked for. */
#ifndef GPU_EMU_GLOBAL_H
#define GPU_EMU_GLOBAL_H

#include "gpu/emu_race.h"

heddle_status emu_watch_new(struct emu_watch **watch); /* mem_free frees it */
void emu_watch_begin(struct emu_worker *w);            /* a block begins */
void emu_watch_barrier(struct emu_worker *w);          /* all its threads have come */
void emu_watch_fence(struct emu_worker *w);            /* the running thread says simt_fence */
void emu_watch_previous(struct emu_worker *w);         /* it says simt_after_previous */

/* What blocks of one launch know of each other.  `before` is NULL, or the first of a pair of launches whose
 * second this is: the two may run at the same time. */
heddle_status emu_order_new(struct emu_order **order, const struct emu_order *before);
void emu_order_free(struct emu_order *order); /* takes NULL */
/* Was it the second of a pair, and has no thread said simt_after_previous? */
int emu_order_is_missed(const struct emu_order *order);

/* The running thread touches `size` bytes at p, which may be anywhere; ends the block when they are of
 * device memory and the access leaves its allocation or races with an earlier one. */
void emu_global_access(struct emu_worker *w, uintptr_t p, int64_t size, enum emu_access_kind kind,
                       const void *code);

#endif
