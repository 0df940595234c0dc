/* SPDX-License-Identifier: MIT
 *
 * An option behind the name of a device that the device does not have is an error, on every device,
 * whether or not it is on this machine: the text names the option and those that there are. */
#include <string.h>

#include "test.h"

static void refused(const char *device, const char *option, const char *known)
{
    heddle *h = (heddle *)(uintptr_t)1;
    heddle_status status = heddle_open(&h, device);
    CHECK_THAT(status == HEDDLE_BAD_ARGUMENT, "%s gives %s", device, heddle_status_name(status));
    CHECK(h == NULL);
    CHECK_THAT(strstr(heddle_last_error(), option) && strstr(heddle_last_error(), known),
               "%s: '%s' names not both %s and %s", device, heddle_last_error(), option, known);
}

TEST(options_that_no_device_has_are_errors)
{
    static const char *const behind[] = {"foo=1", "sed=7", "Wave=64", "thread=1"};
    static const struct {
        const char *name, *known;
    } device[] = {{"cpu", "threads, isa"},
                  {"emu", "wave, seed, threads, shared, memory, races"},
                  {"emu:0", "wave, seed, threads, shared, memory, races"},
                  {"cuda", "no options"},
                  {"cuda:0", "no options"},
                  {"hip", "no options"},
                  {"hip:3", "no options"}};
    for (size_t i = 0; i < sizeof device / sizeof device[0]; i++)
        for (size_t k = 0; k < sizeof behind / sizeof behind[0]; k++) {
            char name[64], option[32];
            snprintf(name, sizeof name, "%s:%s", device[i].name, behind[k]);
            snprintf(option, sizeof option, "'%.*s'", (int)strcspn(behind[k], "="), behind[k]);
            refused(name, option, device[i].known);
        }
}

TEST(a_misspelt_option_behind_a_good_one_is_an_error)
{
    refused("emu:wave=64,sed=7", "'sed'", "seed");
    refused("cpu:threads=2,iza=generic", "'iza'", "isa");
}

TEST(good_options_are_taken)
{
    static const char *const good[] = {"cpu:threads=2,isa=generic", "emu:wave=64,seed=7",
                                       "emu:0:threads=1,shared=1k,memory=100k"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        heddle *h = NULL;
        CHECK_OK(heddle_open(&h, good[i]));
        heddle_close(h);
    }
}
