/* SPDX-License-Identifier: MIT
 *
 * pack.h: the device binaries inside the library.  All binaries of a target lie in one pack, compressed
 * together, because they repeat each other.  A pack is unpacked at its first use and only as far as it is
 * needed, once for all devices of the process that hold it, and forgotten when the last of them is closed.
 * cmake/device-pack.sh makes packs, and says what is in them. */
#ifndef GPU_PACK_H
#define GPU_PACK_H

#include <stdint.h>

#include "base/status.h"

struct gpu_pack {
    const char *driver; /* who can load it: "cuda", "hip" */
    const char
        *target; /* "sm_90", "gfx90a": machine code; "compute_80", "ptx": PTX, which the driver compiles */
    const char *holds; /* for people: "sm_90", "PTX for sm_80" */
    const unsigned char *begin, *end;
};
extern const struct gpu_pack gpu_packs[]; /* generated, in the order to try; ends in a NULL driver */

/* An opened pack.  Any thread may open, use and close it; the same `from` gives the same pack. */
struct pack;
heddle_status pack_open(struct pack **pack, const struct gpu_pack *from);
void pack_close(struct pack *pack);

/* The name of a binary ("csr_vector__f64_i32"), NULL behind the last. */
const char *pack_name(const struct pack *pack, int i);

/* The binary of that name, as the compiler made it and with a zero behind it (PTX is text), for mem_free;
 * NULL if the pack has none. */
heddle_status pack_take(struct pack *pack, char **data, int64_t *size, const char *name);

#endif
