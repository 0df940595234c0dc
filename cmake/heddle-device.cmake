# SPDX-License-Identifier: MIT
#
# How the device half of a page becomes binaries in the library.  Every row KERNEL(PAGE, gpu, SET) of
# kernels.def and every row SERVICE(PAGE, gpu, SET) of services.def x every variant of the SET (gpu_real:
# every one with narrow offsets, for both) is compiled into the folder `device` of the build, one file each:
#   NVIDIA  PAGE__VARIANT.sm_90.cubin        by nvcc, one per architecture of HEDDLE_CUDA_ARCH
#           PAGE__VARIANT.compute_80.ptx     by nvcc, PTX of the lowest for GPUs to come
#           PAGE__VARIANT.ptx                by clang where there is no nvcc (or `both`): no SDK is looked at,
#                                            its version is 7.0
#   AMD     PAGE__VARIANT.gfx90a.co          by clang and lld, one per architecture of HEDDLE_HIP_ARCH
# Beside each stands FILE.resources, the compiler's own account of registers, shared memory and spills; one
# that is not listed in src/kernel/spills.accepted is told, and ends the build of tests.  All binaries of a
# target go into one pack, TARGET.pack, which is embedded with .incbin: together they need a tenth of the
# room.
# HEDDLE_MODULE_DIR=build/device would load the same from there.
# `cmake --build build --target csr_vector_device` builds one page alone.
#
# Everything is optional: with neither compiler the library has its CPU kernels and the emulator.
set(HEDDLE_CUDA_COMPILER auto CACHE STRING
    "Compiler of NVIDIA code: auto (nvcc, else clang), nvcc, clang, both, none")
set(HEDDLE_CUDA_ARCH "80;90" CACHE STRING
    "Compute capabilities to compile for (80;90), or native: this machine's")
set(HEDDLE_HIP_COMPILER auto CACHE STRING
    "Compiler of AMD code: auto (clang if it can), clang, none")
set(HEDDLE_HIP_ARCH "gfx906;gfx90a;gfx942;gfx1100" CACHE STRING
    "AMD architectures to compile for, or native: this machine's")
set(HEDDLE_DEVICE_VARIANTS "" CACHE STRING
    "Numeric variants to compile, of variants.def (all), or for one target, as sm_90:f64_i32: for tests
     that run on no GPU")
set(HEDDLE_SPILLS warn CACHE STRING
    "What a spill that src/kernel/spills.accepted does not list is: warn, error")
set(HEDDLE_DEVICE_PAGES "" CACHE STRING
    "Sources of further pages to compile, for trying one out before it has its row")

find_program(HEDDLE_NVCC nvcc HINTS /usr/local/cuda/bin)
find_program(HEDDLE_CLANG NAMES clang-22 clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang
             HINTS /opt/rocm/llvm/bin)

if(POLICY CMP0116)
  cmake_policy(SET CMP0116 NEW) # dependency files may name paths from anywhere
endif()

set(device_dir ${CMAKE_BINARY_DIR}/device)
set(device_script ${CMAKE_SOURCE_DIR}/cmake/device-compile.sh)
file(GLOB device_filters ${CMAKE_SOURCE_DIR}/cmake/device-*.awk) # that it uses
set(device_pack_script ${CMAKE_SOURCE_DIR}/cmake/device-pack.sh)
set(device_accepted ${CMAKE_SOURCE_DIR}/src/kernel/spills.accepted)
set(device_common -O3 -DHEDDLE_DEVICE -I${CMAKE_SOURCE_DIR}/src -I${CMAKE_SOURCE_DIR}/include)
set(device_nvcc_flags -x cu)
# PTX 7.0 is for CUDA 11.0 and every later driver.  Loops are unrolled as nvcc does: one over a small array
# that stays a loop keeps the array in memory.
set(device_ptx_flags -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=${CMAKE_BINARY_DIR}/no-sdk
                     -Wno-unknown-cuda-version --cuda-gpu-arch=sm_80 --cuda-feature=+ptx70
                     -mllvm -unroll-threshold=1000)

# How packs are compressed: by what the library can read.
find_program(HEDDLE_XZ xz)
find_program(HEDDLE_GZIP gzip)
# Without a symbol that tells where it was compiled: the same source gives the same binary.
set(device_hip_flags -x hip --offload-device-only -nogpuinc -nogpulib --no-gpu-bundle-output
                     -munsafe-fp-atomics -fuse-cuid=none)

# Does this compiler, given these arguments and a kernel of one line, do its work?  That also finds out
# whether it is new enough, has the target built in, and finds its linker.
function(heddle_device_works out kind target)
  file(MAKE_DIRECTORY ${device_dir}/try)
  file(WRITE ${device_dir}/try/try.c "extern \"C\" __attribute__((global)) void try_me(int *p) { *p = 1; }\n")
  execute_process(COMMAND sh ${device_script} ${kind} try none ${target} warn ${device_accepted}
                          ${device_dir}/try/try.${kind} ${ARGN} ${device_dir}/try/try.c
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    set(${out} FALSE PARENT_SCOPE)
  else()
    set(${out} TRUE PARENT_SCOPE)
  endif()
endfunction()

# HEDDLE_CUDA_ARCH with `native` replaced by what is in this machine, lowest first.
function(heddle_cuda_archs out)
  set(archs ${HEDDLE_CUDA_ARCH})
  if("native" IN_LIST archs)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
                    OUTPUT_VARIABLE found ERROR_QUIET RESULT_VARIABLE failed)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" found "${found}")
    string(REPLACE "." "" found "${found}")
    if(failed OR NOT found)
      message(FATAL_ERROR "HEDDLE_CUDA_ARCH=native: nvidia-smi shows no GPU on this machine")
    endif()
    list(REMOVE_ITEM archs native)
    list(APPEND archs ${found})
  endif()
  list(TRANSFORM archs REPLACE "^sm_" "")
  foreach(arch IN LISTS archs)
    if(NOT arch MATCHES "^[0-9]+[af]?$")
      message(FATAL_ERROR "HEDDLE_CUDA_ARCH: '${arch}' is not an architecture: "
                          "numbers are, as in 80;90, and native")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES archs)
  list(SORT archs COMPARE NATURAL)
  set(${out} ${archs} PARENT_SCOPE)
endfunction()

function(heddle_hip_archs out)
  set(archs ${HEDDLE_HIP_ARCH})
  if("native" IN_LIST archs)
    find_program(HEDDLE_ROCM_AGENTS rocm_agent_enumerator HINTS /opt/rocm/bin)
    execute_process(COMMAND ${HEDDLE_ROCM_AGENTS} OUTPUT_VARIABLE found ERROR_QUIET)
    string(REGEX MATCHALL "gfx[1-9a-f][0-9a-f]+" found "${found}") # the processor calls itself gfx000
    if(NOT found)
      message(FATAL_ERROR "HEDDLE_HIP_ARCH=native: rocm_agent_enumerator shows no GPU on this machine")
    endif()
    list(REMOVE_ITEM archs native)
    list(APPEND archs ${found})
  endif()
  list(REMOVE_DUPLICATES archs)
  set(${out} ${archs} PARENT_SCOPE)
endfunction()

# Decides who compiles for NVIDIA: device_cuda holds nvcc, ptx (clang) or both, or nothing.
macro(heddle_device_choose_cuda)
  set(device_cuda "")
  if(HEDDLE_CUDA_COMPILER MATCHES "^(auto|nvcc|both)$" AND HEDDLE_NVCC)
    heddle_cuda_archs(device_cuda_archs)
    list(APPEND device_cuda nvcc)
  endif()
  if(HEDDLE_CLANG AND (HEDDLE_CUDA_COMPILER MATCHES "^(clang|both)$" OR
                       (HEDDLE_CUDA_COMPILER STREQUAL "auto" AND NOT device_cuda)))
    heddle_device_works(works ptx ptx ${HEDDLE_CLANG} ${device_ptx_flags} -O3)
    if(works)
      list(APPEND device_cuda ptx)
    endif()
  endif()
  if(NOT device_cuda AND NOT HEDDLE_CUDA_COMPILER MATCHES "^(auto|none)$")
    message(FATAL_ERROR "HEDDLE_CUDA_COMPILER=${HEDDLE_CUDA_COMPILER}: "
                        "that compiler is not here, or cannot make PTX")
  endif()
endmacro()

macro(heddle_device_choose_hip)
  set(device_hip "")
  if(NOT HEDDLE_HIP_COMPILER STREQUAL "none" AND HEDDLE_CLANG)
    heddle_hip_archs(device_hip_archs)
    list(GET device_hip_archs 0 first)
    heddle_device_works(works hip ${first} ${HEDDLE_CLANG} ${device_hip_flags} --offload-arch=${first} -O3)
    if(works)
      set(device_hip ${device_hip_archs})
    endif()
  endif()
  if(NOT device_hip AND HEDDLE_HIP_COMPILER STREQUAL "clang")
    message(FATAL_ERROR "HEDDLE_HIP_COMPILER=clang: "
                        "no clang from 16 on with the AMDGPU target and lld is here")
  endif()
endmacro()

# Is this variant for this target among those that HEDDLE_DEVICE_VARIANTS asks for?
function(heddle_device_is_asked out device variant target)
  set(names ${variant})
  if(device STREQUAL "gpu_real") # serves both
    string(REPLACE _i32 _o64 wide ${variant})
    list(APPEND names ${wide})
  endif()
  set(asked FALSE)
  foreach(name IN LISTS names)
    if(NOT HEDDLE_DEVICE_VARIANTS OR name IN_LIST HEDDLE_DEVICE_VARIANTS
       OR "${target}:${name}" IN_LIST HEDDLE_DEVICE_VARIANTS)
      set(asked TRUE)
    endif()
  endforeach()
  set(${out} ${asked} PARENT_SCOPE)
endfunction()

# One binary: compiles it for its target.  DEVICE is what its row says, KIND is nvcc, ptx or hip, TARGET
# sm_90, ptx or gfx90a; TYPES a row of variants.def.
function(heddle_device_binary page source device kind target types)
  heddle_types(defines "${types}")
  list(POP_FRONT defines variant)
  heddle_device_is_asked(asked ${device} ${variant} ${target})
  if(NOT asked)
    return()
  endif()
  if(device STREQUAL "gpu_real")
    list(FILTER defines EXCLUDE REGEX "^off=")
  endif()
  list(TRANSFORM defines PREPEND -D)
  set(compiler ${HEDDLE_CLANG})
  set(flags ${device_${kind}_flags})
  set(stem ${device_dir}/${page}__${variant})
  set(file ${stem}.${target})
  set(more "")
  if(kind STREQUAL "nvcc")
    set(compiler ${HEDDLE_NVCC})
    string(REPLACE sm_ compute_ virtual ${target})
    set(file ${stem}.${target}.cubin)
    set(more ${stem}.${virtual}.ptx)
    set_property(GLOBAL APPEND PROPERTY device_files_${virtual} ${more})
  elseif(kind STREQUAL "hip")
    list(APPEND flags --offload-arch=${target})
    set(file ${stem}.${target}.co)
  endif()
  set(depfile "")
  if(CMAKE_GENERATOR MATCHES "Ninja" OR NOT CMAKE_VERSION VERSION_LESS 3.20)
    set(depfile DEPFILE ${file}.d)
  endif()
  add_custom_command(
    OUTPUT ${file} ${file}.resources ${more}
    COMMAND sh ${device_script} ${kind} ${page} ${variant} ${target} ${HEDDLE_SPILLS} ${device_accepted}
            ${file} ${compiler} ${flags} ${device_common} ${defines} -DPAGE_NAME=${page}
            -MD -MF ${file}.d -MT ${file} ${source}
    DEPENDS ${source} ${device_script} ${device_filters} ${device_accepted} ${device_headers} ${depfile}
    COMMENT "Compiling ${page} for ${variant}, ${target}" VERBATIM)
  set_property(GLOBAL APPEND PROPERTY device_files_of_${page} ${file})
  set_property(GLOBAL APPEND PROPERTY device_files_${target} ${file})
  set_property(GLOBAL APPEND PROPERTY device_resources ${file}.resources)
endfunction()

# All binaries of a page, and its target PAGE_device.
function(heddle_device_page page source device set)
  heddle_page_variants(of_set ${device} ${set})
  foreach(types IN LISTS of_set)
    if("nvcc" IN_LIST device_cuda)
      foreach(arch IN LISTS device_cuda_archs)
        heddle_device_binary(${page} ${source} ${device} nvcc sm_${arch} "${types}")
      endforeach()
    endif()
    if("ptx" IN_LIST device_cuda)
      heddle_device_binary(${page} ${source} ${device} ptx ptx "${types}")
    endif()
    foreach(arch IN LISTS device_hip)
      heddle_device_binary(${page} ${source} ${device} hip ${arch} "${types}")
    endforeach()
  endforeach()
  get_property(files GLOBAL PROPERTY device_files_of_${page})
  if(files)
    add_custom_target(${page}_device DEPENDS ${files})
    set_property(GLOBAL APPEND PROPERTY device_targets ${page}_device)
  endif()
endfunction()

# The pack of a target, and its row in the table of packs, as in struct gpu_pack.
function(heddle_device_pack driver target holds)
  get_property(files GLOBAL PROPERTY device_files_${target})
  set(pack ${device_dir}/${target}.pack)
  heddle_device_list(${target}.list "${files}")
  add_custom_command(OUTPUT ${pack} DEPENDS ${files} ${device_dir}/${target}.list ${device_pack_script}
                     COMMAND sh ${device_pack_script} ${device_pack_how} ${device_dir}/${target}.list ${pack}
                     COMMENT "Packing what is compiled for ${target}" VERBATIM)
  string(MAKE_C_IDENTIFIER "pack_${target}" symbol)
  set_property(GLOBAL APPEND PROPERTY device_packs ${pack})
  set_property(GLOBAL APPEND_STRING PROPERTY device_names "PACK(${symbol}, \"${pack}\")\n")
  set_property(GLOBAL APPEND_STRING PROPERTY device_table
               "    {\"${driver}\", \"${target}\", \"${holds}\", ${symbol}, ${symbol}_end},\n")
endfunction()

# A list in a file, which is touched only when the list changes: on a command line it would
# outgrow that one day.
function(heddle_device_list name files)
  file(WRITE ${device_dir}/${name}.new "${files}")
  configure_file(${device_dir}/${name}.new ${device_dir}/${name} COPYONLY)
endfunction()

# In the order in which a driver is offered them: machine code, newest first; nvcc's PTX; clang's, which older
# drivers take.
macro(heddle_device_packs)
  set(device_pack_how none)
  if(LibLZMA_FOUND AND HEDDLE_XZ)
    set(device_pack_how ${HEDDLE_XZ})
  elseif(HEDDLE_GZIP)
    set(device_pack_how ${HEDDLE_GZIP})
  endif()
  if("nvcc" IN_LIST device_cuda)
    list(GET device_cuda_archs 0 device_lowest)
    set(device_newest_first ${device_cuda_archs})
    list(REVERSE device_newest_first)
    foreach(arch IN LISTS device_newest_first)
      heddle_device_pack(cuda sm_${arch} sm_${arch})
    endforeach()
    heddle_device_pack(cuda compute_${device_lowest} compute_${device_lowest})
  endif()
  if("ptx" IN_LIST device_cuda)
    heddle_device_pack(cuda ptx "PTX for sm_80")
  endif()
  foreach(arch IN LISTS device_hip)
    heddle_device_pack(hip ${arch} ${arch})
  endforeach()
endmacro()

# Tells, where it will take a while, how long the binaries that are not there yet will need: a core takes
# 2.5 s for one, on average (nvcc 13).  A notice, because who hides what CMake finds still wants to know it.
function(heddle_device_foretell)
  get_property(files GLOBAL PROPERTY device_resources)
  set(missing 0)
  foreach(file IN LISTS files)
    if(NOT EXISTS ${file})
      math(EXPR missing "${missing} + 1")
    endif()
  endforeach()
  cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
  math(EXPR minutes "(${missing} * 5 / 2 + 60 * ${cores} - 1) / (60 * ${cores})")
  if(minutes GREATER 1)
    list(JOIN device_cuda_archs ", sm_" nvidia)
    set(nvidia "sm_${nvidia}")
    list(JOIN device_hip ", " amd)
    message(NOTICE "Kernels for GPUs: ${missing} binaries to compile "
                   "(NVIDIA: ${device_cuda} ${nvidia}; AMD: ${amd}), "
                   "about ${minutes} minutes on ${cores} cores.\n"
                   "  make ... ARCHS=native compiles for the GPUs of this machine alone, "
                   "ARCHS=none for none.")
  endif()
endfunction()

# kernel_rows and variant_rows are those of heddle-build.cmake; afterwards HEDDLE_OBJECTS has the packs and
# their table, and device_tool_sources what the command has beyond the library: the compilers' account.
# Services come first in a pack, then kernels as kernels.def has them: the library unpacks no further
# than it needs.
macro(heddle_device_objects)
  heddle_device_choose_cuda()
  heddle_device_choose_hip()
  set(device_headers "")
  # Without dependency files all headers count.
  if(NOT CMAKE_GENERATOR MATCHES "Ninja" AND CMAKE_VERSION VERSION_LESS 3.20)
    file(GLOB device_headers CONFIGURE_DEPENDS src/simt/*.h src/run/*.h src/convert/*.h
         src/kernel/*.h src/kernel/*/*.h src/format/*.h)
  endif()
  heddle_rows(device_rows ${CMAKE_SOURCE_DIR}/src/convert/services.def SERVICE)
  heddle_rows(device_kernels ${CMAKE_SOURCE_DIR}/src/kernel/kernels.def KERNEL)
  list(FILTER device_kernels INCLUDE REGEX "^[^|]*[|]gpu")
  list(APPEND device_rows ${device_kernels})
  foreach(row IN LISTS device_rows)
    string(REPLACE "|" ";" row "${row}")
    list(POP_FRONT row page device)
    heddle_page_file(file ${page})
    heddle_device_page(${page} ${file} ${device} ${row})
  endforeach()
  foreach(source IN LISTS HEDDLE_DEVICE_PAGES)
    get_filename_component(page ${source} NAME_WE)
    heddle_device_page(${page} ${source} gpu real)
  endforeach()
  heddle_device_packs()
  get_property(DEVICE_NAMES GLOBAL PROPERTY device_names)
  get_property(DEVICE_TABLE GLOBAL PROPERTY device_table)
  get_property(device_packs GLOBAL PROPERTY device_packs)
  file(GLOB device_old_packs ${device_dir}/*.pack) # of targets that are no longer wanted
  foreach(pack IN LISTS device_old_packs)
    if(NOT pack IN_LIST device_packs)
      file(REMOVE ${pack})
    endif()
  endforeach()
  get_property(device_targets GLOBAL PROPERTY device_targets)
  get_property(device_resources GLOBAL PROPERTY device_resources)
  configure_file(cmake/device-packs.c.in ${device_dir}/packs.c @ONLY)
  configure_file(cmake/device-resources.c.in ${device_dir}/resources.c @ONLY)
  heddle_device_list(resources.list "${device_resources}")
  add_custom_command(OUTPUT ${device_dir}/resources.inc
                     DEPENDS ${device_resources} ${device_dir}/resources.list
                     COMMAND sh ${CMAKE_SOURCE_DIR}/cmake/device-gather.sh ${device_dir}/resources.list
                             ${device_dir}/resources.inc VERBATIM)
  set_property(SOURCE ${device_dir}/packs.c PROPERTY OBJECT_DEPENDS "${device_packs}")
  set_property(SOURCE ${device_dir}/resources.c PROPERTY OBJECT_DEPENDS ${device_dir}/resources.inc)
  set(device_tool_sources ${device_dir}/resources.c)
  add_custom_target(device_packs DEPENDS ${device_dir}/resources.inc ${device_packs})
  heddle_objects(heddle_device SOURCES ${device_dir}/packs.c)
  add_dependencies(heddle_device device_packs ${device_targets})
  if(device_targets)
    add_dependencies(device_packs ${device_targets}) # so that no two of them make the same file at once
  endif()
  heddle_device_foretell()
  list(LENGTH device_targets device_pages)
  get_filename_component(device_packer ${device_pack_how} NAME)
  message(STATUS "Device code: ${device_pages} pages; NVIDIA: ${device_cuda} (${device_cuda_archs}); "
                 "AMD: ${device_hip}; packed by ${device_packer}")
endmacro()
