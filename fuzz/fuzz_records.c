/* SPDX-License-Identifier: MIT
 *
 * Lines of records, all the way to the drawings: whatever is read must be drawn, and without a number that
 * is none. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/report.h"

static const char *file_of(const uint8_t *data, size_t size)
{
    static char path[64];
    if (!path[0]) {
        snprintf(path, sizeof path, "/tmp/heddle-fuzz-records-XXXXXX");
        int made = mkstemp(path);
        if (made < 0)
            abort();
        close(made);
    }
    FILE *file = fopen(path, "w");
    if (!file || (size && fwrite(data, 1, size, file) != size) || fclose(file) != 0)
        abort();
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct records r = {0};
    struct figure_choice choice = {0};
    struct text out = {0};
    heddle_status status = records_read(&r, file_of(data, size));
    if (status != HEDDLE_OK && (status != HEDDLE_BAD_FILE || size < 2)) /* packed, and does not unpack */
        abort();
    if (status == HEDDLE_OK && records_finish(&r) != HEDDLE_OK)
        abort();
    if (status == HEDDLE_OK && r.plottable > 0 && figure_choose(&choice, &r) == HEDDLE_OK)
        for (const struct figure *f = figures; f->name; f++) {
            if (f->draw(&out, &r, &choice) != HEDDLE_OK || strstr(out.data, "=\"nan") ||
                strstr(out.data, "=\"inf"))
                abort();
            text_free(&out);
        }
    records_free(&r);
    return 0;
}
