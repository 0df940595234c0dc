/* SPDX-License-Identifier: MIT
 *
 * emu_race.h: what the hooks tell the race detector. */
#ifndef GPU_EMU_RACE_H
#define GPU_EMU_RACE_H

#include "gpu/emu.h"

/* Whole: the type promises its size as the alignment, and a GPU refuses an address that does not keep it. */
enum emu_access_kind { EMU_READS = 0, EMU_WRITES = 1, EMU_ATOMIC = 2, EMU_WHOLE = 4 };

/* The running thread touches `size` bytes of its block's arena; ends the block when that races with an
 * earlier access or leaves its array.  `code` is where. */
void emu_access(struct emu_worker *w, int64_t offset, int64_t size, enum emu_access_kind kind,
                const void *code);

heddle_status emu_cells_new(struct emu_cell **cells, int64_t arena_bytes);

/* "program+0x1234", as addr2line takes it. */
const char *emu_place(char text[128], const void *code);

#endif
