# SPDX-License-Identifier: MIT
#
# What `heddle report` writes into its pages is inside the command: template, style and script from
# src/report/page, and the drawing library d3, which is found here (Debian: node-d3).  Without it everything
# is built, and `heddle report` says so.  d3 is passed on, in every page and in the command, and so its
# licences must be too: d3 without their text is not used.
set(HEDDLE_D3 "auto" CACHE STRING "d3.min.js, version 5 to 7, beside its LICENSE: auto, none, or its path")

set(report_drawing "")
if(HEDDLE_D3 STREQUAL "auto")
  find_file(HEDDLE_D3_FILE d3.min.js PATHS /usr/share/nodejs/d3/dist /usr/local/share/nodejs/d3/dist
            /usr/lib/node_modules/d3/dist /usr/local/lib/node_modules/d3/dist NO_DEFAULT_PATH)
  if(HEDDLE_D3_FILE)
    set(report_drawing ${HEDDLE_D3_FILE})
  endif()
elseif(NOT HEDDLE_D3 STREQUAL "none")
  set(report_drawing ${HEDDLE_D3})
  if(NOT EXISTS ${report_drawing})
    message(FATAL_ERROR "HEDDLE_D3=${HEDDLE_D3}: there is no such file")
  endif()
endif()

# The licences of d3 and of the modules that it is made of: Debian's, where it is Debian's d3; else LICENSE
# beside the file or one folder up (npm), with those of the modules beside that.  Most of it is the same text,
# which is kept once.
set(report_licence "")
if(report_drawing)
  get_filename_component(report_d3 ${report_drawing} DIRECTORY)
  if(report_d3 STREQUAL "/usr/share/nodejs/d3/dist")
    file(GLOB report_licences /usr/share/doc/node-d3/copyright /usr/share/doc/node-d3-*/copyright)
  else()
    file(GLOB report_licences ${report_d3}/LICENSE ${report_d3}/../LICENSE ${report_d3}/../../d3-*/LICENSE)
  endif()
  if(report_licences)
    set(report_licence ${CMAKE_BINARY_DIR}/d3-licence.txt)
    execute_process(COMMAND awk -v RS= -v ORS=\n\n "!seen[$0]++" ${report_licences}
                    OUTPUT_FILE ${report_licence})
    message(STATUS "Reports: drawn with ${report_drawing}")
  elseif(HEDDLE_D3 STREQUAL "auto")
    message(STATUS "Reports: ${report_drawing} has no licence beside it and is not used; "
                   "`heddle report` draws with --svg only")
    set(report_drawing "")
  else()
    message(FATAL_ERROR "HEDDLE_D3=${HEDDLE_D3}: d3 may only be passed on with its licence: "
                        "put its LICENSE into ${report_d3}")
  endif()
else()
  message(STATUS "Reports: no d3 is here (Debian: node-d3), so `heddle report` draws with --svg only")
endif()

# heddle_report_part(NAME FILES): a symbol that holds the files one behind the other.
set(REPORT_FILES "")
set(REPORT_NAMES "")
set(report_all "")
function(heddle_report_part name)
  set(text "BEGIN(report_part_${name})\n")
  foreach(file IN LISTS ARGN)
    string(APPEND text "FILE_OF(\"${file}\")\n")
  endforeach()
  set(REPORT_FILES "${REPORT_FILES}${text}END(report_part_${name})\n" PARENT_SCOPE)
  set(REPORT_NAMES "${REPORT_NAMES}PART(${name})\n" PARENT_SCOPE)
  set(report_all ${report_all} ${ARGN} PARENT_SCOPE)
endfunction()

set(report_dir ${CMAKE_SOURCE_DIR}/src/report/page)
set(report_scripts data state groups compare colours plot draw controls
    profile speed speedup means costs matrices matrix about main)
list(TRANSFORM report_scripts PREPEND ${report_dir}/)
list(TRANSFORM report_scripts APPEND .js)
heddle_report_part(template ${report_dir}/page.html)
heddle_report_part(style ${report_dir}/page.css)
heddle_report_part(script ${report_scripts})
heddle_report_part(drawing ${report_drawing})
heddle_report_part(licence ${report_licence})
set(report_parts ${CMAKE_BINARY_DIR}/report-parts.c)
configure_file(${CMAKE_SOURCE_DIR}/cmake/report-parts.c.in ${report_parts} @ONLY)
set_property(SOURCE ${report_parts} PROPERTY OBJECT_DEPENDS "${report_all}")
