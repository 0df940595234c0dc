/* SPDX-License-Identifier: MIT
 *
 * A fuzz target without a fuzzer: what it was once given, file by file.  Without libFuzzer any compiler makes
 * it a program, so that tests meet every input that ever found something. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    uint8_t *data = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0)
        data = malloc((size_t)size + 1);
    const int is_read = data && fread(data, 1, (size_t)size, file) == (size_t)size;
    if (is_read)
        LLVMFuzzerTestOneInput(data, (size_t)size);
    else
        fprintf(stderr, "%s cannot be read\n", path);
    free(data);
    if (file)
        fclose(file);
    return is_read;
}

int main(int count, char **path)
{
    for (int i = 1; i < count; i++)
        if (!replay(path[i]))
            return 1;
    printf("%d inputs\n", count - 1);
    return 0;
}
