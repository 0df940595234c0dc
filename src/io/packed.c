/* SPDX-License-Identifier: MIT */
#include "io/packed.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "io/decode.h"

#define FIRST_ROOM (1 << 20)

int file_is_packed(const char *path)
{
    unsigned char begin[6] = {0};
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) /* of a pipe nothing can be put back */
        return 0;
    FILE *file = fopen(path, "rb");
    size_t n = file ? fread(begin, 1, sizeof begin, file) : 0;
    if (file)
        fclose(file);
    return (n >= 2 && memcmp(begin, "\x1f\x8b", 2) == 0) || (n == 6 && memcmp(begin,
                                                                              "\xfd"
                                                                              "7zXZ",
                                                                              6) == 0);
}

heddle_status file_unpack(char **data, int64_t *size, const char *path)
{
    heddle_status status = HEDDLE_OK;
    struct input in = {.file = -1};
    struct decoder d = {.name = path, .input = &in};
    int64_t room = 0, got = 0;
    *data = NULL;
    *size = 0;
    TRY(input_open(&in, path, 0));
    TRY(decoder_start(&d));
    do {
        if (*size == room) {
            int64_t more = room ? 2 * room : FIRST_ROOM;
            TRY(input_affords(&in, path, (double)more));
            char *larger = mem_resize(*data, room, more, 1);
            TRY(larger ? HEDDLE_OK : HEDDLE_NO_MEMORY);
            *data = larger;
            room = more;
        }
        TRY(decoder_read(&d, *data + *size, room - *size, &got));
        *size += got;
    } while (*size == room);
done:
    decoder_stop(&d);
    input_close(&in);
    if (status != HEDDLE_OK) {
        mem_free(*data);
        *data = NULL;
    }
    return status;
}
