/* SPDX-License-Identifier: MIT
 *
 * The limits of devices: the loops do what they say on every kind of device, and what is measured with
 * them are figures. */
#include <math.h>
#include <string.h>

#include "api/api.h"
#include "bench/limits.h"
#include "convert/limits.h"
#include "test.h"

#define COUNT 3000
#define SPAN 256

static const char *const devices[] = {"cpu:threads=1", "cpu:threads=3", "emu:wave=32,races=1",
                                      "emu:wave=64,races=1"};
#define FOR_EACH_DEVICE(h)                                                                                   \
    for (size_t d = 0; d < sizeof devices / sizeof devices[0]; d++)                                          \
        for (heddle *h = NULL; !h && CHECK_OK(heddle_open(&h, devices[d])); heddle_close(h))

TEST(every_pattern_stays_within_its_span_and_looks_as_it_says)
{
    for (int64_t k = 0; k < COUNT; k++) {
        for (int pattern = LIMIT_ORDER; pattern <= LIMIT_ONE; pattern++)
            CHECK(limit_target(k, SPAN, pattern) >= 0 && limit_target(k, SPAN, pattern) < SPAN);
        CHECK(limit_target(k, SPAN, LIMIT_ORDER) == k % SPAN && limit_target(k, SPAN, LIMIT_ONE) == 0);
        CHECK(limit_target(k, SPAN, LIMIT_RUN) % LIMIT_RUN_LENGTH == k % LIMIT_RUN_LENGTH);
    }
}

TEST(random_targets_come_about_equally_often)
{
    int times[SPAN] = {0};
    for (int64_t k = 0; k < 64 * SPAN; k++)
        times[limit_target(k, SPAN, LIMIT_RANDOM)]++;
    for (int i = 0; i < SPAN; i++)
        CHECK_THAT(times[i] > 24 && times[i] < 112, "entry %d is met %d times", i, times[i]);
}

TEST(indices_are_the_same_on_every_device)
{
    FOR_EACH_DEVICE(h)
    {
        int32_t got[COUNT];
        void *index;
        CHECK_OK(device_alloc(&h->device, &index, sizeof got));
        CHECK_OK(limit_indices(&h->device, index, COUNT, SPAN, LIMIT_RANDOM));
        CHECK_OK(device_read(&h->device, got, index, sizeof got));
        int wrong = 0;
        for (int64_t k = 0; k < COUNT; k++)
            wrong += got[k] != limit_target(k, SPAN, LIMIT_RANDOM);
        CHECK_THAT(wrong == 0, "%s: %d indices", devices[d], wrong);
        device_free(&h->device, index);
    }
}

TEST(a_copy_copies_everything)
{
    FOR_EACH_DEVICE(h)
    {
        double x[COUNT], y[COUNT];
        void *there;
        for (int i = 0; i < COUNT; i++)
            x[i] = i;
        CHECK_OK(device_alloc(&h->device, &there, 2 * sizeof x));
        CHECK_OK(device_copy(&h->device, there, x, sizeof x));
        CHECK_OK(limit_run(&h->device, &(struct limit_work){.loop = LIMIT_COPY,
                                                            .value = HEDDLE_F64,
                                                            .count = COUNT,
                                                            .x = there,
                                                            .y = (double *)there + COUNT}));
        CHECK_OK(device_read(&h->device, y, (double *)there + COUNT, sizeof y));
        CHECK_THAT(memcmp(x, y, sizeof x) == 0, "%s", devices[d]);
        device_free(&h->device, there);
    }
}

/* Sums of ones are exact, so no addition may be missing. */
TEST(no_addition_is_lost_whatever_the_pattern)
{
    FOR_EACH_DEVICE(h)
    {
        if (h->device.kind == DEVICE_cpu)
            continue;
        for (int pattern = LIMIT_ORDER; pattern <= LIMIT_ONE; pattern++) {
            float y[SPAN], want[SPAN] = {0};
            void *there;
            for (int64_t k = 0; k < COUNT; k++)
                want[limit_target(k, SPAN, pattern)] += 1;
            CHECK_OK(device_alloc(&h->device, &there, sizeof y));
            CHECK_OK(device_fill(&h->device, there, 0, sizeof y));
            CHECK_OK(limit_run(&h->device, &(struct limit_work){.loop = LIMIT_ADD,
                                                                .value = HEDDLE_F32,
                                                                .count = COUNT,
                                                                .span = SPAN,
                                                                .pattern = (enum limit_pattern)pattern,
                                                                .y = there}));
            CHECK_OK(device_read(&h->device, y, there, sizeof y));
            CHECK_THAT(memcmp(y, want, sizeof y) == 0, "%s, pattern %d", devices[d], pattern);
            device_free(&h->device, there);
        }
    }
}

struct heard {
    int limits, gathers, adds, launches;
};

static heddle_status hear(void *argument, const struct limit *l)
{
    struct heard *n = argument;
    n->limits++;
    n->gathers += strcmp(l->limit, "gather") == 0;
    n->adds += strcmp(l->limit, "add") == 0;
    n->launches += strcmp(l->limit, "launch") == 0;
    CHECK_THAT(isfinite(l->figure) && l->figure > 0, "%s %s: %g %s", l->limit, l->pattern, l->figure,
               l->unit);
    CHECK_THAT(l->timing.median_ms > 0 && l->timing.repetitions > 0 && l->count > 0, "%s %s", l->limit,
               l->pattern);
    CHECK_THAT(isnan(l->floor_us) || l->floor_us > 0, "%s %s: %g", l->limit, l->pattern, l->floor_us);
    return HEDDLE_OK;
}

TEST(all_limits_are_positive_numbers_and_only_gpus_add)
{
    FOR_EACH_DEVICE(h)
    {
        struct heard n = {0};
        struct probe p;
        int gpu = h->device.kind == DEVICE_gpu;
        if (d == 0 || !CHECK_OK(probe_new(&p, &h->device)))
            continue;
        CHECK_OK(limits_measure(&p, 1 << 16, hear, &n));
        CHECK_THAT(n.gathers == 8 && n.adds == (gpu ? 10 : 0) && n.launches == (gpu ? 4 : 3), "%s",
                   devices[d]);
        probe_free(&p);
    }
}

static heddle_status refuse(void *argument, const struct limit *l)
{
    (void)argument, (void)l;
    return fail(HEDDLE_FILE_ERROR, "the disk is full");
}

TEST(a_listener_that_fails_ends_the_measurement)
{
    heddle *h;
    struct probe p;
    CHECK_OK(heddle_open(&h, "emu"));
    if (CHECK_OK(probe_new(&p, &h->device))) {
        CHECK_FAILS(limits_measure(&p, 0, refuse, NULL), HEDDLE_FILE_ERROR, "disk");
        probe_free(&p);
    }
    heddle_close(h);
}
