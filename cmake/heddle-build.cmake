# SPDX-License-Identifier: MIT
#
# How sources become objects.  Three kinds:
#   src/FOLDER/*.c            once;
#   src/FOLDER/*_typed.c      once per row of variants.def, with real, off and VARIANT_NAME defined;
#   src/kernel/NAME.c         a page with a row KERNEL(NAME, cpu) in kernels.def: its host half once, its device half
#                             (HEDDLE_DEVICE) once per variant and instruction set of isas.def; cpu.c is compiled the same
#                             way and holds the table of the others.
# The .def files are the only lists; this file reads the same rows as the preprocessor does.
include(CheckCCompilerFlag)
include(cmake/heddle-device.cmake)

set(library_folders base matrix io gen gpu format kernel plan api)

# rows(OUT FILE MACRO): the arguments of each MACRO(...) row, commas turned to "|", so that a row stays one list item.
function(heddle_rows out file macro)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(STRINGS ${file} lines REGEX "^${macro}\\(")
  set(rows "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^${macro}\\((.*)\\)[^)]*$" "\\1" row "${line}")
    string(REGEX REPLACE ", *" "|" row "${row}")
    list(APPEND rows "${row}")
  endforeach()
  set(${out} "${rows}" PARENT_SCOPE)
endfunction()

# The rows of isas.def that hold for the target: those the preprocessor keeps.
function(heddle_isa_rows out)
  set(file ${CMAKE_SOURCE_DIR}/src/base/isas.def)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  execute_process(COMMAND ${CMAKE_C_COMPILER} -E -P -x c ${file} OUTPUT_VARIABLE text RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the C compiler cannot preprocess ${file}")
  endif()
  string(REPLACE "\n" ";" lines "${text}")
  set(rows "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^ISA\\(([a-z0-9]+), *\"(.*)\"\\)")
      list(APPEND rows "${CMAKE_MATCH_1}|${CMAKE_MATCH_2}")
    endif()
  endforeach()
  set(${out} "${rows}" PARENT_SCOPE)
endfunction()

function(heddle_objects name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEFINES;OPTIONS" ${ARGN})
  add_library(${name} OBJECT ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE heddle_flags)
  target_compile_definitions(${name} PRIVATE ${arg_DEFINES})
  target_compile_options(${name} PRIVATE ${arg_OPTIONS})
  set(HEDDLE_OBJECTS ${HEDDLE_OBJECTS} $<TARGET_OBJECTS:${name}> PARENT_SCOPE)
  set(HEDDLE_OBJECT_TARGETS ${HEDDLE_OBJECT_TARGETS} ${name} PARENT_SCOPE)
endfunction()

macro(heddle_library_objects)
  set(HEDDLE_OBJECTS "")
  heddle_rows(variant_rows ${CMAKE_SOURCE_DIR}/src/matrix/variants.def VARIANT)
  heddle_rows(kernel_rows ${CMAKE_SOURCE_DIR}/src/kernel/kernels.def KERNEL)
  heddle_isa_rows(isa_rows)

  set(plain "")
  foreach(folder IN LISTS library_folders)
    file(GLOB found CONFIGURE_DEPENDS src/${folder}/*.c)
    list(APPEND plain ${found})
  endforeach()
  set(typed ${plain})
  list(FILTER typed INCLUDE REGEX "_typed\\.c$")
  list(FILTER plain EXCLUDE REGEX "_typed\\.c$")
  # Exact arithmetic outside the kernels: compensated sums must not be contracted.
  heddle_objects(heddle_plain SOURCES ${plain} OPTIONS -ffp-contract=off)
  target_compile_definitions(heddle_plain PRIVATE HEDDLE_VERSION_TEXT="${PROJECT_VERSION}")

  set(pages src/kernel/cpu.c)
  list(FILTER kernel_rows INCLUDE REGEX "[|]cpu$")
  foreach(row IN LISTS kernel_rows)
    string(REGEX REPLACE "[|].*" "" kernel "${row}")
    list(APPEND pages src/kernel/${kernel}.c)
  endforeach()
  foreach(row IN LISTS variant_rows)
    string(REPLACE "|" ";" row "${row}")
    list(GET row 0 variant)
    list(GET row 1 real)
    list(GET row 2 off)
    set(types real=${real} off=${off} VARIANT_NAME=${variant})
    heddle_objects(heddle_typed_${variant} SOURCES ${typed} DEFINES ${types} OPTIONS -ffp-contract=off)
    foreach(isa_row IN LISTS isa_rows)
      string(REGEX REPLACE "^([^|]*)[|](.*)$" "\\1" isa "${isa_row}")
      string(REGEX REPLACE "^([^|]*)[|](.*)$" "\\2" isa_flags "${isa_row}")
      separate_arguments(isa_flags)
      # Kernels may fuse a multiplication with an addition: it is faster and rounds less.
      heddle_objects(heddle_cpu_${variant}_${isa} SOURCES ${pages}
                     DEFINES ${types} HEDDLE_DEVICE ISA_NAME=${isa} OPTIONS -ffp-contract=fast ${isa_flags})
    endforeach()
  endforeach()
  heddle_device_objects() # cmake/heddle-device.cmake
endmacro()
