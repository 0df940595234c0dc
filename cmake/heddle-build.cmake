# SPDX-License-Identifier: MIT
#
# How sources become objects.  Three kinds:
#   src/FOLDER/*.c            once;
#   src/FOLDER/*_typed.c      once per row of variants.def, with elem, real, off and VARIANT_NAME defined;
#                             those of src/format, which only move values, once per row of the set `moved`;
#   src/kernel/cpu/NAME.c     a page with a row KERNEL(NAME, cpu, SET) in kernels.def: its host half once, its
#                             device half (HEDDLE_DEVICE) once per variant of the SET (sets.def) and
#                             instruction set of isas.def, or with KERNEL(NAME, cpu_real, SET) once per type
#                             of numbers and instruction set; table.c is compiled once per variant and holds
#                             the table of the others.
# Pages of kernels.def lie in src/kernel or in a folder of it, those of services.def in src/convert.
# The .def files are the only lists; this file reads the same rows as the preprocessor does.
include(CheckCCompilerFlag)
include(cmake/heddle-device.cmake)

set(library_folders base matrix io gen gpu format run convert kernel kernel/* plan api)

# rows(OUT FILE MACRO): the arguments of each MACRO(...) row, commas turned to "|", so that a row stays one
# list item.
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

# heddle_variants(OUT SET): the rows of variants.def whose numbers are in the set.
function(heddle_variants out set)
  get_property(found GLOBAL PROPERTY heddle_variants_${set})
  if(NOT found)
    heddle_rows(found ${CMAKE_SOURCE_DIR}/src/matrix/variants.def VARIANT)
    heddle_rows(set_rows ${CMAKE_SOURCE_DIR}/src/matrix/sets.def SET)
    list(FILTER set_rows INCLUDE REGEX "^${set}[|]")
    if(NOT set_rows)
      message(FATAL_ERROR "sets.def has no set '${set}'")
    endif()
    string(REGEX REPLACE "^[^|]*[|]\"(.*)\"$" "\\1" numbers "${set_rows}")
    string(REPLACE " " "|" numbers "${numbers}")
    list(FILTER found INCLUDE REGEX "^(${numbers})_")
    set_property(GLOBAL PROPERTY heddle_variants_${set} "${found}")
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# heddle_page_variants(OUT DEVICE SET): the same for a page of a GPU, for which DEVICE is what its row says.
function(heddle_page_variants out device set)
  heddle_variants(found ${set})
  if(device STREQUAL "gpu_real") # knows no offsets
    list(FILTER found INCLUDE REGEX "^[a-z0-9]+_i32[|]")
  endif()
  set(${out} "${found}" PARENT_SCOPE)
endfunction()

# heddle_types(OUT ROW): the definitions that a row of variants.def stands for, after its name.
function(heddle_types out row)
  string(REPLACE "|" ";" row "${row}")
  list(GET row 0 variant)
  list(GET row 1 elem)
  list(GET row 2 real)
  list(GET row 3 off)
  set(${out} ${variant} elem=${elem} real=${real} off=${off} VARIANT_NAME=${variant} PARENT_SCOPE)
endfunction()

# heddle_borrowed(OUT TARGET VARIANT SOURCES): where sanitizers look at one variant of each size only
# (HEDDLE_PLAIN_BUILD), the target's objects in the other build; nothing for what is compiled here.  Which
# addresses code touches depends on types no more than by their size.
function(heddle_borrowed out target variant sources)
  set(objects "")
  if(HEDDLE_PLAIN_BUILD AND variant AND NOT variant MATCHES "^(f64|c64|f16)(_i32)?$|^f32(_o64)?$")
    file(RELATIVE_PATH folder ${CMAKE_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR})
    foreach(source IN LISTS sources)
      get_filename_component(source ${source} ABSOLUTE)
      file(RELATIVE_PATH source ${CMAKE_CURRENT_SOURCE_DIR} ${source})
      list(APPEND objects ${HEDDLE_PLAIN_BUILD}/${folder}/CMakeFiles/${target}.dir/${source}.o)
    endforeach()
  endif()
  set(${out} "${objects}" PARENT_SCOPE)
endfunction()

# heddle_page_file(OUT PAGE): where the page lies.
function(heddle_page_file out page)
  file(GLOB found ${CMAKE_SOURCE_DIR}/src/convert/${page}.c ${CMAKE_SOURCE_DIR}/src/kernel/${page}.c
                  ${CMAKE_SOURCE_DIR}/src/kernel/*/${page}.c)
  list(LENGTH found count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${page} has a row, but not one page: "
                        "${count} files in src/kernel and src/convert are called so")
  endif()
  set(${out} ${found} PARENT_SCOPE)
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
  cmake_parse_arguments(arg "" "VARIANT" "SOURCES;DEFINES;OPTIONS" ${ARGN})
  heddle_borrowed(borrowed ${name} "${arg_VARIANT}" "${arg_SOURCES}")
  set(HEDDLE_OBJECTS ${HEDDLE_OBJECTS} ${borrowed} PARENT_SCOPE)
  if(borrowed)
    return()
  endif()
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
  heddle_rows(set_rows ${CMAKE_SOURCE_DIR}/src/matrix/sets.def SET)
  heddle_rows(kernel_rows ${CMAKE_SOURCE_DIR}/src/kernel/kernels.def KERNEL)
  heddle_isa_rows(isa_rows)
  heddle_variants(moved_rows moved)

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

  list(FILTER kernel_rows INCLUDE REGEX "[|]cpu(_real)?[|]")
  foreach(row IN LISTS variant_rows)
    heddle_types(types "${row}")
    list(POP_FRONT types variant)
    string(REGEX REPLACE "_.*" "" number "${variant}")
    # Conversions and counts: a tenth faster at -O3, a quarter smaller at -O2.  Tables for unwinding are of
    # use to debuggers alone, and those of the rarer variants stay out of a release.
    set(level "")
    set(tables "")
    if(NOT variant MATCHES "^f(32|64)_i32$" AND CMAKE_C_FLAGS_RELEASE MATCHES "-O3")
      set(level $<$<CONFIG:Release>:-O2>)
      set(tables $<$<CONFIG:Release>:-fno-asynchronous-unwind-tables>)
    endif()
    set(typed_here ${typed})
    if(NOT row IN_LIST moved_rows)
      list(FILTER typed_here EXCLUDE REGEX "/src/format/")
    endif()
    heddle_objects(heddle_typed_${variant} VARIANT ${variant} SOURCES ${typed_here} DEFINES ${types}
                   OPTIONS -ffp-contract=off ${level} ${tables})
    set(cpu_pages src/kernel/cpu/table.c)
    set(cpu_real_pages "")
    set(cpu_sets "")
    foreach(kernel_row IN LISTS kernel_rows)
      string(REPLACE "|" ";" kernel_row "${kernel_row}")
      list(GET kernel_row 0 kernel)
      list(GET kernel_row 1 kind)
      list(GET kernel_row 2 set)
      heddle_variants(of_set ${set})
      if(row IN_LIST of_set)
        heddle_page_file(file ${kernel})
        list(APPEND ${kind}_pages ${file})
      endif()
    endforeach()
    foreach(set_row IN LISTS set_rows)
      string(REGEX REPLACE "[|].*" "" set "${set_row}")
      heddle_variants(of_set ${set})
      list(FIND of_set "${row}" is_there)
      if(is_there LESS 0)
        list(APPEND cpu_sets IN_${set}=0)
      else()
        list(APPEND cpu_sets IN_${set}=1)
      endif()
    endforeach()
    foreach(isa_row IN LISTS isa_rows)
      string(REGEX REPLACE "^([^|]*)[|](.*)$" "\\1" isa "${isa_row}")
      string(REGEX REPLACE "^([^|]*)[|](.*)$" "\\2" isa_flags "${isa_row}")
      separate_arguments(isa_flags)
      # Kernels may fuse a multiplication with an addition: it is faster and rounds less.
      set(cpu_defines HEDDLE_DEVICE ISA_NAME=${isa} REAL_NAME=${number} ${cpu_sets})
      set(cpu_options -ffp-contract=fast ${isa_flags} ${tables})
      heddle_objects(heddle_cpu_${variant}_${isa} VARIANT ${variant} SOURCES ${cpu_pages}
                     DEFINES ${types} ${cpu_defines} OPTIONS ${cpu_options})
      if(variant MATCHES "_i32$" AND cpu_real_pages) # for 64-bit offsets as well
        set(types_real ${types})
        list(FILTER types_real INCLUDE REGEX "^(elem|real)=")
        heddle_objects(heddle_cpu_${number}_${isa} VARIANT ${number} SOURCES ${cpu_real_pages}
                       DEFINES ${types_real} VARIANT_NAME=${number} ${cpu_defines} OPTIONS ${cpu_options})
      endif()
    endforeach()
  endforeach()
  heddle_device_objects() # cmake/heddle-device.cmake
  heddle_emu_library_objects()
endmacro()

# ---------------------------------------------------------------------- emulator pages --------------------
#
# A page with a row KERNEL(NAME, gpu, SET), or SERVICE(NAME, gpu, SET) in services.def, is compiled for the
# emulator once per variant of the SET (gpu_real: of those with narrow offsets), as C, and serves both wave
# widths; a second time, for the tests, with -fsanitize=thread, whose calls are renamed to the emulator's own
# hooks (src/gpu/emu_hooks.c).

# A release compiles them at -Os, without tables for unwinding, which takes a quarter of the time and a third
# of the space of -O3: the emulator spends its own time between fibres.  A caller who names another level than
# CMake's own -O3 in CMAKE_C_FLAGS_RELEASE has it everywhere.
set(emu_level "")
if(CMAKE_C_FLAGS_RELEASE MATCHES "-O3")
  set(emu_level $<$<CONFIG:Release>:-Os> $<$<CONFIG:Release>:-fno-asynchronous-unwind-tables>)
endif()

# heddle_pages_of(OUT ROW PAGES): those that are compiled for this variant; a page without a row is for all.
function(heddle_pages_of out row pages)
  set(files "")
  foreach(file IN LISTS pages)
    get_property(device_and_set GLOBAL PROPERTY heddle_set_of_${file})
    set(of_set "${row}")
    if(device_and_set)
      heddle_page_variants(of_set ${device_and_set})
    endif()
    if(row IN_LIST of_set)
      list(APPEND files ${file})
    endif()
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# heddle_emu_pages(OUT NAME VARIANTS PAGES): object targets NAME_VARIANT, their names in OUT, and the objects
# of all in OUT_objects.
function(heddle_emu_pages out name variant_rows pages)
  set(targets "")
  set(objects "")
  foreach(row IN LISTS variant_rows)
    heddle_types(types "${row}")
    list(POP_FRONT types variant)
    set(target ${name}_${variant})
    heddle_pages_of(files "${row}" "${pages}")
    heddle_borrowed(borrowed ${target} ${variant} "${files}")
    list(APPEND objects ${borrowed})
    if(borrowed OR NOT files)
      continue()
    endif()
    add_library(${target} OBJECT ${files})
    target_link_libraries(${target} PRIVATE heddle_flags heddle_emu_flags)
    target_compile_definitions(${target} PRIVATE ${types} HEDDLE_DEVICE SIMT_EMU)
    target_compile_options(${target} PRIVATE -ffp-contract=off ${emu_level})
    list(APPEND targets ${target})
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
  endforeach()
  set(${out} ${targets} PARENT_SCOPE)
  set(${out}_objects ${objects} PARENT_SCOPE)
endfunction()

# heddle_emu_hooked(OUT NAME VARIANTS PAGES): one object with the hooked builds of all pages, which do not
# depend on the sanitizer that the rest of the build has.
function(heddle_emu_hooked out name variant_rows pages)
  if(HEDDLE_PLAIN_BUILD)
    file(RELATIVE_PATH folder ${CMAKE_BINARY_DIR} ${CMAKE_CURRENT_BINARY_DIR})
    add_custom_target(${name})
    set(${out} ${HEDDLE_PLAIN_BUILD}/${folder}/${name}.o PARENT_SCOPE)
    return()
  endif()
  set(objects "")
  set(targets "")
  foreach(row IN LISTS variant_rows)
    heddle_types(types "${row}")
    list(POP_FRONT types variant)
    set(target ${name}_${variant})
    heddle_pages_of(files "${row}" "${pages}")
    if(NOT files)
      continue()
    endif()
    add_library(${target} OBJECT ${files})
    target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/include ${CMAKE_SOURCE_DIR}/src)
    target_compile_definitions(${target} PRIVATE ${types} HEDDLE_DEVICE SIMT_EMU SIMT_HOOKED
                               _POSIX_C_SOURCE=200809L)
    target_compile_options(${target} PRIVATE -Wall -Wextra -O1 -g1 -ffp-contract=off -fno-trapping-math
                           -fsanitize=thread)
    list(APPEND objects $<TARGET_OBJECTS:${target}>)
    list(APPEND targets ${target})
  endforeach()
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  set(symbols ${CMAKE_SOURCE_DIR}/src/gpu/emu_hooks.syms)
  add_custom_command(OUTPUT ${object} DEPENDS ${objects} ${symbols} COMMAND_EXPAND_LISTS VERBATIM
                     COMMAND ${CMAKE_LINKER} -r -o ${object} ${objects}
                     COMMAND ${CMAKE_OBJCOPY} --redefine-syms=${symbols} ${object})
  add_custom_target(${name} DEPENDS ${object})
  add_dependencies(${name} ${targets})
  set(${out} ${object} PARENT_SCOPE)
endfunction()

# The pages of kernels.def into HEDDLE_OBJECTS, with the list that keeps them in an archive;
# heddle_emu_page_files names them.
macro(heddle_emu_library_objects)
  heddle_rows(emu_rows ${CMAKE_SOURCE_DIR}/src/kernel/kernels.def KERNEL)
  list(FILTER emu_rows INCLUDE REGEX "[|]gpu(_real)?[|]")
  heddle_rows(emu_services ${CMAKE_SOURCE_DIR}/src/convert/services.def SERVICE)
  list(APPEND emu_rows ${emu_services})
  # Fuzzing is about readers and arguments; instrumented pages would double its build and see no fuzzed input.
  if(HEDDLE_FUZZ)
    set(emu_rows "")
  endif()
  set(heddle_emu_page_files "")
  set(emu_names "")
  foreach(row IN LISTS emu_rows)
    string(REPLACE "|" ";" row "${row}")
    list(POP_FRONT row page device)
    heddle_page_file(file ${page})
    list(APPEND heddle_emu_page_files ${file})
    set_property(SOURCE ${file} APPEND PROPERTY COMPILE_DEFINITIONS PAGE_NAME=${page})
    if(device STREQUAL "gpu_real")
      set_property(SOURCE ${file} APPEND PROPERTY COMPILE_OPTIONS -Uoff)
    endif()
    set_property(GLOBAL PROPERTY heddle_set_of_${file} ${device} ${row})
    heddle_page_variants(of_set ${device} ${row})
    foreach(variant_row IN LISTS of_set)
      string(REGEX REPLACE "[|].*" "" variant "${variant_row}")
      list(APPEND emu_names emu_page__${page}__${variant}__emu)
    endforeach()
  endforeach()
  set(emu_list "/* Made by the build. */\nextern const char *const emu_pages[];\n")
  foreach(name IN LISTS emu_names)
    string(APPEND emu_list "extern const char ${name};\n")
  endforeach()
  string(APPEND emu_list "const char *const emu_pages[] = {\n")
  foreach(name IN LISTS emu_names)
    string(APPEND emu_list "    &${name},\n")
  endforeach()
  string(APPEND emu_list "    0};\n")
  file(GENERATE OUTPUT ${CMAKE_BINARY_DIR}/emu_pages.c CONTENT "${emu_list}")
  heddle_objects(heddle_emu_list SOURCES ${CMAKE_BINARY_DIR}/emu_pages.c)
  if(heddle_emu_page_files)
    heddle_emu_pages(emu_targets heddle_emu "${variant_rows}" "${heddle_emu_page_files}")
    list(APPEND HEDDLE_OBJECTS ${emu_targets_objects})
    list(APPEND HEDDLE_OBJECT_TARGETS ${emu_targets})
  endif()
  # The emulator switches stacks under ThreadSanitizer's feet, so it must not be looked at by it.
  file(GLOB emu_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/gpu/emu_*.c)
  set_property(SOURCE ${emu_sources} APPEND PROPERTY COMPILE_OPTIONS -fno-sanitize=thread)
  # What runs between the threads of a page takes more time under AddressSanitizer than all pages.  It still
  # tells that of its stacks and of what it lends the pages.
  if(HEDDLE_SANITIZE MATCHES "address" AND HEDDLE_PLAIN_BUILD)
    list(FILTER emu_sources INCLUDE REGEX "emu_(block|collective|launch)[.]c$")
    set_property(SOURCE ${emu_sources} APPEND PROPERTY COMPILE_OPTIONS -O2 -fno-sanitize=all
                 -D__SANITIZE_ADDRESS__=1)
  endif()
endmacro()
