/* SPDX-License-Identifier: MIT
 *
 * ROCm 5 tells the architecture in a structure of another layout, through a function of another name. */
#include "fakes/use.h"

TEST(the_architecture_is_found_in_the_properties_of_rocm_5)
{
    struct gpu_info info;
    fake_use(&fake_vendors[1], "", "libfake_hip_old.so");
    CHECK_OK(hip_driver.describe(&info, 0));
    CHECK_THAT(strcmp(info.arch, "gfx942") == 0, "%s", info.arch);
}
