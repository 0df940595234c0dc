/* SPDX-License-Identifier: MIT
 *
 * fake.c: what both fakes do the same.  Not part of the library, so plain malloc.  Device memory is
 * zeroed: kernels do not run here, and what they would have counted is then 0. */
#include "fake.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_IMAGE = 200,
    NO_BINARY = 209,
    INVALID_PTX = 218,
    NOT_FOUND = 500,
    CAPTURE_ISOLATION = 905
};

#define PIECES 4096

static struct piece {
    char *begin;
    size_t bytes;
    int pinned;
} pieces[PIECES];

struct module {
    char *text;
    struct function {
        char name[128];
    } * function[16];
    int functions;
};

static struct fake_state state;
static int sticky;
static char script[128];
static int script_calls;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int fake_lock(void)
{
    return pthread_mutex_lock(&lock);
}

void fake_unlock(int *locked)
{
    (void)locked;
    pthread_mutex_unlock(&lock);
}

struct fake_state *fake_state(void)
{
    return &state;
}

/* Who waits for whom: the first `after[t]` launches of stream t come before what is given to this stream
 * next. */
#define STREAMS 64
static struct order {
    void *stream;
    int64_t launches, after[STREAMS];
} orders[STREAMS];
static int streams;

struct event {
    int64_t after[STREAMS];
};

void fake_reset(void)
{
    memset(orders, 0, sizeof orders);
    streams = state.unordered = 0;
    state.captured = NULL;
    sticky = 0;
    script[0] = 0;
    script_calls = 0;
}

int64_t fake_number(const char *variable, int64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? (int64_t)strtod(text, NULL) : otherwise;
}

/* SYMBOL@N=CODE: counts the calls of SYMBOL since the variable was last changed. */
static int scripted(const char *symbol)
{
    const char *text = getenv("FAKE_FAIL");
    char name[64];
    int nth = 0, code = 0;
    if (!text)
        text = "";
    if (strncmp(text, script, sizeof script - 1) != 0) {
        snprintf(script, sizeof script, "%s", text);
        script_calls = 0;
    }
    if (sscanf(text, "%63[^@=]@%d=%d", name, &nth, &code) != 3 &&
        sscanf(text, "%63[^@=]=%d", name, &code) != 2)
        return 0;
    if (strcmp(name, symbol) != 0)
        return 0;
    script_calls++;
    return nth == 0 || nth == script_calls ? code : 0;
}

int fake_enter(const char *symbol)
{
    int code = sticky ? sticky : scripted(symbol);
    if (code >= 700 && code <= 719 && code != 701)
        sticky = code;
    if (code)
        state.last_error = code;
    return code;
}

/* -------------------------------------------------------- memory ------------------------------ */

static struct piece *piece_of(const void *p, size_t bytes)
{
    const char *begin = p, *end = begin + bytes;
    for (int i = 0; i < PIECES; i++)
        if (pieces[i].begin && begin >= pieces[i].begin && end <= pieces[i].begin + pieces[i].bytes)
            return &pieces[i];
    return NULL;
}

static int take(void **p, size_t bytes, int pinned)
{
    int i = 0;
    while (i < PIECES && pieces[i].begin)
        i++;
    if (bytes == 0)
        return INVALID_VALUE;
    if (i == PIECES || (!pinned && state.bytes + (int64_t)bytes > fake_number("FAKE_MEMORY", 1000000000)))
        return OUT_OF_MEMORY;
    pieces[i] = (struct piece){calloc(1, bytes), bytes, pinned};
    *p = pieces[i].begin;
    if (pinned)
        state.pinned++;
    else
        state.memory++, state.bytes += (int64_t)bytes;
    return 0;
}

static int give_back(void *p, int pinned)
{
    struct piece *piece = piece_of(p, 1); /* not 0: it may lie right behind another */
    if (!piece || piece->begin != p || piece->pinned != pinned)
        return INVALID_VALUE;
    if (pinned)
        state.pinned--;
    else
        state.memory--, state.bytes -= (int64_t)piece->bytes;
    free(piece->begin);
    *piece = (struct piece){0};
    return 0;
}

int fake_alloc(void **p, size_t bytes)
{
    return take(p, bytes, 0);
}

int fake_release(void *p)
{
    return give_back(p, 0);
}

int fake_memory_left(size_t *left, size_t *all)
{
    *all = (size_t)fake_number("FAKE_MEMORY", 1000000000);
    *left = *all - (size_t)state.bytes;
    return 0;
}

int fake_pinned(void **p, size_t bytes)
{
    return take(p, bytes, 1);
}

int fake_release_pinned(void *p)
{
    return give_back(p, 1);
}

/* One side at least is on the device, and all of it. */
int fake_copy(void *to, const void *from, size_t bytes)
{
    if (!to || !from || (!piece_of(to, bytes) && !piece_of(from, bytes)))
        return INVALID_VALUE;
    memmove(to, from, bytes);
    return 0;
}

int fake_fill(void *p, int byte, size_t bytes)
{
    if (!piece_of(p, bytes))
        return INVALID_VALUE;
    memset(p, byte, bytes);
    return 0;
}

int fake_pointer(void *value, int attribute, const void *p)
{
    if (attribute != 3 || !piece_of(p, 1)) {
        state.last_error = INVALID_VALUE;
        return INVALID_VALUE;
    }
    memcpy(value, &p, sizeof p);
    return 0;
}

/* -------------------------------------------------------- kernels ----------------------------- */

static int is_binary(const char *image)
{
    static const unsigned char fatbin[4] = {0x50, 0xed, 0x55, 0xba}, elf[4] = {0x7f, 'E', 'L', 'F'};
    return memcmp(image, fatbin, 4) == 0 || memcmp(image, elf, 4) == 0 || memcmp(image, "//", 2) == 0 ||
           strncmp(image, ".version", 8) == 0;
}

/* The options are those of CUDA's compiler: a buffer for its messages (5) and its size (6). */
static void write_log(unsigned count, const int *options, void **values, const char *text)
{
    char *log = NULL;
    size_t size = 0;
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == 5)
            log = values[i];
        if (options[i] == 6)
            size = (size_t)(uintptr_t)values[i];
    }
    if (log && size > 0)
        snprintf(log, size, "%s", text);
}

int fake_load(void **module, const char *image, unsigned count, const int *options, void **values)
{
    struct module *m;
    char arch[32] = "";
    int binary = is_binary(image);
    if (!binary && strncmp(image, "PTX!", 4) == 0) {
        write_log(count, options, values, "ptxas line 7: unknown instruction 'weave'\nptxas fatal\n");
        return INVALID_PTX;
    }
    if (!binary && strncmp(image, "PTX ", 4) != 0) {
        if (sscanf(image, "FAKE %31s", arch) != 1)
            return INVALID_IMAGE;
        if (strcmp(arch, fake_device.arch) != 0)
            return NO_BINARY;
    }
    m = calloc(1, sizeof *m);
    m->text = strdup(binary ? "*" : image);
    *module = m;
    state.modules++;
    return 0;
}

int fake_unload(void *module)
{
    struct module *m = module;
    for (int i = 0; i < m->functions; i++)
        free(m->function[i]);
    free(m->text);
    free(m);
    state.modules--;
    return 0;
}

int fake_find(void **function, void *module, const char *name)
{
    struct module *m = module;
    if ((m->text[0] != '*' && !strstr(m->text, name)) || m->functions == 16)
        return NOT_FOUND;
    struct function *f = m->function[m->functions++] = calloc(1, sizeof *f);
    snprintf(f->name, sizeof f->name, "%s", name);
    *function = f;
    return 0;
}

static struct order *order_of(void *stream)
{
    int i = 0;
    while (i < streams && orders[i].stream != stream)
        i++;
    if (i == STREAMS)
        abort();
    streams += i == streams;
    orders[i].stream = stream;
    return &orders[i];
}

int fake_capturing(const void *stream)
{
    return fake_number("FAKE_CAPTURING", 0) != 0 || (stream && stream == state.captured);
}

static void order_launch(void *stream)
{
    struct order *o = order_of(stream);
    int behind = 0;
    for (int i = 0; i < streams; i++)
        behind |= &orders[i] != o && o->after[i] < orders[i].launches;
    state.unordered += behind;
    o->after[o - orders] = ++o->launches;
}

int fake_event_record(void *event, void *stream)
{
    if (fake_capturing(stream))
        return CAPTURE_ISOLATION;
    memcpy(((struct event *)event)->after, order_of(stream)->after, sizeof orders[0].after);
    return 0;
}

int fake_stream_wait(void *stream, const void *event)
{
    struct order *o = order_of(stream);
    const int64_t *after = ((const struct event *)event)->after;
    if (fake_capturing(stream))
        return CAPTURE_ISOLATION;
    for (int i = 0; i < STREAMS; i++)
        o->after[i] = o->after[i] > after[i] ? o->after[i] : after[i];
    return 0;
}

int fake_launch(void *function, const unsigned size[3], void *stream, void **arguments)
{
    snprintf(state.launch.kernel, sizeof state.launch.kernel, "%s", ((struct function *)function)->name);
    state.launch.grid = size[0];
    state.launch.block = size[1];
    state.launch.shared = size[2];
    state.launch.stream = stream;
    state.launch.argument = 0;
    if (arguments)
        memcpy(&state.launch.argument, arguments[0], sizeof state.launch.argument);
    state.launch.count++;
    if (!fake_capturing(stream))
        order_launch(stream);
    return 0;
}

int fake_event_new(void **event)
{
    *event = calloc(1, sizeof(struct event));
    state.events++;
    return 0;
}

int fake_event_free(void *event)
{
    free(event);
    state.events--;
    return 0;
}
