/* SPDX-License-Identifier: MIT
 *
 * heddle bench: a warning where others were at work on the machine, or times scatter: such times are no
 * basis for anything. */
#include <math.h>
#include <unistd.h>

#include "cli/benching.h"

#define BUSY_LEAST 0.1   /* of all processors */
#define TIMES_LEAST 0.25 /* of all times */

void benching_noise(struct benching *k)
{
    double others = quiet_others(&k->quiet), all = (double)sysconf(_SC_NPROCESSORS_ONLN);
    int busy = others > BUSY_LEAST * all, scatter = (double)k->scattered > TIMES_LEAST * (double)k->times;
    if (k->times == 0 || gpu_is_emulated(k->bench.h->device.gpu) || !(busy || scatter))
        return;
    out(k->s, "warning: the machine was not quiet:");
    if (busy)
        out(k->s, " other programs kept %.1f of %.0f processors busy%s", others, all, scatter ? ";\n " : "");
    if (scatter)
        out(k->s, " %lld of %lld times scatter by more than %.0f %%", (long long)k->scattered,
            (long long)k->times, 100 * SCATTERED);
    out(k->s, "\n  close what else runs and measure again; heddle compare counts only what is beyond "
              "the scatter\n");
}
