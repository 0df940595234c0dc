# SPDX-License-Identifier: MIT
#
# What a Python wheel holds besides python/heddle: the library, the command and the header that says what both
# are, in a component of their own.  scikit-build-core configures with SKBUILD set, builds heddle_wheel and
# installs that component.
#
#   HEDDLE_PREBUILT  a folder where Heddle is built already, for the same minor: its files go into the wheel
#                    and nothing is compiled
set(HEDDLE_PREBUILT "" CACHE PATH "A wheel takes library and command from this build instead of making them")

add_custom_target(heddle_wheel)
if(HEDDLE_PREBUILT)
  set(python_library ${HEDDLE_PREBUILT}/libheddle.so.${HEDDLE_VERSION})
  set(python_command ${HEDDLE_PREBUILT}/heddle)
else()
  add_dependencies(heddle_wheel heddle heddle_command)
  set(python_library $<TARGET_FILE:heddle>)
  set(python_command $<TARGET_FILE:heddle_command>)
endif()
# A wheel has no symbolic links: the library is one file, under the name that heddle/_library.py looks for.
install(FILES ${python_library} DESTINATION heddle RENAME libheddle.so COMPONENT python)
install(PROGRAMS ${python_command} DESTINATION heddle/bin COMPONENT python)
install(FILES include/heddle.h DESTINATION heddle COMPONENT python)
# Nobody debugs a library inside a wheel; without its table of symbols it is a tenth smaller.
install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-unneeded
  \"\${CMAKE_INSTALL_PREFIX}/heddle/libheddle.so\" \"\${CMAKE_INSTALL_PREFIX}/heddle/bin/heddle\")"
  COMPONENT python)
