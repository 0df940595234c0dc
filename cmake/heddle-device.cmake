# SPDX-License-Identifier: MIT
#
# How the device half of a page becomes binaries in the library.  Every row KERNEL(PAGE, gpu) of kernels.def and every row
# SERVICE(PAGE) of services.def x every row of variants.def is compiled into the folder `device` of the build, one file each:
#   NVIDIA  PAGE__VARIANT.fatbin     by nvcc: machine code for HEDDLE_CUDA_ARCH, and PTX of the lowest for GPUs to come
#           PAGE__VARIANT.ptx        by clang where there is no nvcc (or `both`): no SDK is looked at, the version is pinned
#   AMD     PAGE__VARIANT.gfxN.co    by clang and lld, one per architecture of HEDDLE_HIP_ARCH
# Beside each stands FILE.resources, the compiler's own account of registers, shared memory and spills; a spill that is not
# listed in src/kernel/spills.accepted ends the build.  FILE.packed is embedded with .incbin; HEDDLE_MODULE_DIR=build/device
# would load the same from there.  `cmake --build build --target csr_vector_device` builds one page alone.
#
# Everything is optional: with neither compiler the library has its CPU kernels and the emulator.
set(HEDDLE_CUDA_COMPILER auto CACHE STRING "Compiler of NVIDIA code: auto (nvcc, else clang), nvcc, clang, both, none")
set(HEDDLE_CUDA_ARCH "80;90" CACHE STRING "Compute capabilities to compile for (80;90), or native: this machine's")
set(HEDDLE_HIP_COMPILER auto CACHE STRING "Compiler of AMD code: auto (clang if it can), clang, none")
set(HEDDLE_HIP_ARCH "gfx906;gfx90a;gfx942;gfx1100" CACHE STRING "AMD architectures to compile for, or native: this machine's")
set(HEDDLE_DEVICE_PAGES "" CACHE STRING "Sources of further pages to compile, for trying one out before it has its row")

find_program(HEDDLE_NVCC nvcc HINTS /usr/local/cuda/bin)
find_program(HEDDLE_CLANG NAMES clang-22 clang-21 clang-20 clang-19 clang-18 clang-17 clang-16 clang HINTS /opt/rocm/llvm/bin)

if(POLICY CMP0116)
  cmake_policy(SET CMP0116 NEW) # dependency files may name paths from anywhere
endif()

set(device_dir ${CMAKE_BINARY_DIR}/device)
set(device_script ${CMAKE_SOURCE_DIR}/cmake/device-compile.sh)
set(device_accepted ${CMAKE_SOURCE_DIR}/src/kernel/spills.accepted)
set(device_common -O3 -DHEDDLE_DEVICE -I${CMAKE_SOURCE_DIR}/src -I${CMAKE_SOURCE_DIR}/include)
set(device_nvcc_flags -x cu -fatbin -Xptxas -v -Xfatbin -compress-all) # and the architectures, below
set(device_ptx_flags -x cuda --cuda-device-only -nocudainc -nocudalib --cuda-path=${CMAKE_BINARY_DIR}/no-sdk
                     -Wno-unknown-cuda-version --cuda-gpu-arch=sm_80 --cuda-feature=+ptx70) # CUDA 11.0 and every later driver
set(device_ptx_holds "PTX for sm_80")
set(device_hip_flags -x hip --offload-device-only -nogpuinc -nogpulib --no-gpu-bundle-output -munsafe-fp-atomics)

# Does this compiler, given these arguments and a kernel of one line, do its work?  That also finds out whether it is new
# enough, has the target built in, and finds its linker.
function(heddle_device_works out kind target)
  file(MAKE_DIRECTORY ${device_dir}/try)
  file(WRITE ${device_dir}/try/try.c "extern \"C\" __attribute__((global)) void try_me(int *p) { *p = 1; }\n")
  execute_process(COMMAND sh ${device_script} ${kind} try none ${target} ${device_accepted} ${device_dir}/try/try.${kind}
                          ${ARGN} ${device_dir}/try/try.c
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
    set(device_nvcc_holds "")
    foreach(arch IN LISTS device_cuda_archs)
      list(APPEND device_nvcc_flags -gencode arch=compute_${arch},code=sm_${arch})
      string(APPEND device_nvcc_holds "sm_${arch} ")
    endforeach()
    list(GET device_cuda_archs 0 lowest)
    list(APPEND device_nvcc_flags -gencode arch=compute_${lowest},code=compute_${lowest})
    string(APPEND device_nvcc_holds "compute_${lowest}")
  endif()
  if(HEDDLE_CLANG AND (HEDDLE_CUDA_COMPILER MATCHES "^(clang|both)$" OR
                       (HEDDLE_CUDA_COMPILER STREQUAL "auto" AND NOT device_cuda)))
    heddle_device_works(works ptx ptx ${HEDDLE_CLANG} ${device_ptx_flags} -O3)
    if(works)
      list(APPEND device_cuda ptx)
    endif()
  endif()
  if(NOT device_cuda AND NOT HEDDLE_CUDA_COMPILER MATCHES "^(auto|none)$")
    message(FATAL_ERROR "HEDDLE_CUDA_COMPILER=${HEDDLE_CUDA_COMPILER}: that compiler is not here, or cannot make PTX")
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
    message(FATAL_ERROR "HEDDLE_HIP_COMPILER=clang: no clang from 16 on with the AMDGPU target and lld is here")
  endif()
endmacro()

# One binary: compiles it and gives it a row in the table of images.  KIND is nvcc, ptx or hip; TARGET and HOLDS as in struct
# gpu_image, TYPES a row of variants.def.
function(heddle_device_binary page source kind target holds types)
  list(GET types 0 variant)
  list(GET types 1 real)
  list(GET types 2 off)
  set(driver cuda)
  set(compiler ${HEDDLE_CLANG})
  set(flags ${device_${kind}_flags})
  set(ending ${target})
  if(kind STREQUAL "nvcc")
    set(compiler ${HEDDLE_NVCC})
  elseif(kind STREQUAL "hip")
    set(driver hip)
    list(APPEND flags --offload-arch=${target})
    set(ending ${target}.co)
  endif()
  set(file ${device_dir}/${page}__${variant}.${ending})
  set(depfile "")
  if(CMAKE_GENERATOR MATCHES "Ninja" OR NOT CMAKE_VERSION VERSION_LESS 3.20)
    set(depfile DEPFILE ${file}.d)
  endif()
  add_custom_command(
    OUTPUT ${file} ${file}.packed ${file}.resources
    COMMAND sh ${device_script} ${kind} ${page} ${variant} ${target} ${device_accepted} ${file}
            ${compiler} ${flags} ${device_common} -Dreal=${real} -Doff=${off} -DVARIANT_NAME=${variant} -DPAGE_NAME=${page}
            -MD -MF ${file}.d -MT ${file} ${source}
    DEPENDS ${source} ${device_script} ${device_accepted} ${device_headers} ${depfile}
    COMMENT "Compiling ${page} for ${variant}, ${holds}" VERBATIM)
  string(MAKE_C_IDENTIFIER "image_${page}__${variant}__${target}" symbol)
  set_property(GLOBAL APPEND PROPERTY device_files_${page} ${file}.packed)
  set_property(GLOBAL APPEND PROPERTY device_resources ${file}.resources)
  set_property(GLOBAL APPEND_STRING PROPERTY device_embed_${page} "IMAGE(${symbol}, \"${file}.packed\")\n")
  set_property(GLOBAL APPEND_STRING PROPERTY device_names "IMAGE(${symbol})\n")
  set_property(GLOBAL APPEND_STRING PROPERTY device_table
               "    {\"${driver}\", \"${page}\", \"${variant}\", \"${target}\", \"${holds}\", ${symbol}, ${symbol}_end},\n")
endfunction()

# All binaries of a page, its target PAGE_device, and the source that embeds them.
function(heddle_device_page page source)
  foreach(row IN LISTS variant_rows)
    string(REPLACE "|" ";" types "${row}")
    if("nvcc" IN_LIST device_cuda)
      heddle_device_binary(${page} ${source} nvcc fatbin "${device_nvcc_holds}" "${types}")
    endif()
    if("ptx" IN_LIST device_cuda) # behind the fatbin: what an older driver falls back on
      heddle_device_binary(${page} ${source} ptx ptx "${device_ptx_holds}" "${types}")
    endif()
    foreach(arch IN LISTS device_hip)
      heddle_device_binary(${page} ${source} hip ${arch} ${arch} "${types}")
    endforeach()
  endforeach()
  get_property(files GLOBAL PROPERTY device_files_${page})
  get_property(images GLOBAL PROPERTY device_embed_${page})
  if(files)
    set(DEVICE_IMAGES "${images}")
    configure_file(${CMAKE_SOURCE_DIR}/cmake/device-embed.c.in ${device_dir}/${page}.embed.c @ONLY)
    set_property(SOURCE ${device_dir}/${page}.embed.c PROPERTY OBJECT_DEPENDS "${files}")
    set_property(GLOBAL APPEND PROPERTY device_sources ${device_dir}/${page}.embed.c)
    add_custom_target(${page}_device DEPENDS ${files})
    set_property(GLOBAL APPEND PROPERTY device_targets ${page}_device)
  endif()
endfunction()

# kernel_rows and variant_rows are those of heddle-build.cmake; afterwards HEDDLE_OBJECTS has the tables and the binaries.
macro(heddle_device_objects)
  heddle_device_choose_cuda()
  heddle_device_choose_hip()
  set(device_headers "")
  if(NOT CMAKE_GENERATOR MATCHES "Ninja" AND CMAKE_VERSION VERSION_LESS 3.20) # no dependency files: all headers count
    file(GLOB device_headers CONFIGURE_DEPENDS src/simt/*.h src/kernel/*.h src/format/*.h)
  endif()
  heddle_rows(device_rows ${CMAKE_SOURCE_DIR}/src/kernel/kernels.def KERNEL)
  list(FILTER device_rows INCLUDE REGEX "^[^|]*[|]gpu")
  heddle_rows(device_services ${CMAKE_SOURCE_DIR}/src/kernel/services.def SERVICE)
  list(APPEND device_rows ${device_services})
  foreach(row IN LISTS device_rows)
    string(REGEX REPLACE "[|].*" "" page "${row}")
    heddle_device_page(${page} ${CMAKE_SOURCE_DIR}/src/kernel/${page}.c)
  endforeach()
  foreach(source IN LISTS HEDDLE_DEVICE_PAGES)
    get_filename_component(page ${source} NAME_WE)
    heddle_device_page(${page} ${source})
  endforeach()
  get_property(DEVICE_NAMES GLOBAL PROPERTY device_names)
  get_property(DEVICE_TABLE GLOBAL PROPERTY device_table)
  get_property(device_sources GLOBAL PROPERTY device_sources)
  get_property(device_targets GLOBAL PROPERTY device_targets)
  get_property(device_resources GLOBAL PROPERTY device_resources)
  configure_file(cmake/device-tables.c.in ${device_dir}/tables.c @ONLY)
  # A list on the command line would outgrow it one day; the folder holds what the targets made, and nothing older.
  file(WRITE ${device_dir}/resources.list.new "${device_resources}")
  configure_file(${device_dir}/resources.list.new ${device_dir}/resources.list COPYONLY)
  add_custom_command(OUTPUT ${device_dir}/resources.inc DEPENDS ${device_resources} ${device_dir}/resources.list
                     COMMAND sh ${CMAKE_SOURCE_DIR}/cmake/device-gather.sh ${device_dir}/resources.list
                             ${device_dir}/resources.inc VERBATIM)
  set_property(SOURCE ${device_dir}/tables.c PROPERTY OBJECT_DEPENDS ${device_dir}/resources.inc)
  add_custom_target(device_resources DEPENDS ${device_dir}/resources.inc)
  heddle_objects(heddle_device SOURCES ${device_dir}/tables.c ${device_sources})
  add_dependencies(heddle_device device_resources ${device_targets})
  if(device_targets)
    add_dependencies(device_resources ${device_targets}) # so that no two of them make the same file at once
  endif()
  list(LENGTH device_targets device_pages)
  message(STATUS "Device code: ${device_pages} pages; NVIDIA: ${device_cuda} (${device_cuda_archs}); AMD: ${device_hip}")
endmacro()
