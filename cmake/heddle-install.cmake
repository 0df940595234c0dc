# SPDX-License-Identifier: MIT
#
# What is installed, and how other projects find it: pkg-config and a CMake package.  Three components, which
# are also the Debian packages: library, development, and the command with all that is not said to be one of
# the others.
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME command)

install(TARGETS heddle heddle_static EXPORT heddle-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(TARGETS heddle_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES include/heddle.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(FILES docs/heddle.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES scripts/heddle.bash RENAME heddle
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES scripts/_heddle DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES scripts/heddle.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# What a program must link besides libheddle.a: plain names of what belongs to the compiler and to libc, and
# the libraries that come in packages of their own, which heddle-config.cmake looks for.
set(static_plain m pthread ${CMAKE_DL_LIBS})
set(static_found z)
if(LibLZMA_FOUND)
  list(APPEND static_found lzma)
endif()

# pkg-config: the way from heddle.pc to the prefix is known when it is installed, as --prefix may still change
# that, and an absolute folder of libraries may lie anywhere.
set(pc_private ${static_found} ${static_plain})
list(TRANSFORM pc_private PREPEND -l REGEX "^[^-]")
list(JOIN pc_private " " pc_private)
if(IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(pc_includedir ${CMAKE_INSTALL_INCLUDEDIR})
else()
  set(pc_includedir "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(pc_up @pc_up@) # the second configure_file fills it in
configure_file(cmake/heddle.pc.in ${CMAKE_BINARY_DIR}/heddle.pc.in @ONLY)
install(CODE "
  get_filename_component(prefix \"\${CMAKE_INSTALL_PREFIX}\" ABSOLUTE)
  get_filename_component(folder \"${CMAKE_INSTALL_LIBDIR}/pkgconfig\" ABSOLUTE BASE_DIR \"\${prefix}\")
  file(RELATIVE_PATH pc_up \"\${folder}\" \"\${prefix}\")
  string(REGEX REPLACE \"/\$\" \"\" pc_up \"\${pc_up}\")
  configure_file(\"${CMAKE_BINARY_DIR}/heddle.pc.in\" \"${CMAKE_BINARY_DIR}/heddle.pc\" @ONLY)
  file(INSTALL \"${CMAKE_BINARY_DIR}/heddle.pc\" DESTINATION \"\${folder}\")" COMPONENT development)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(EXPORT heddle-targets NAMESPACE heddle:: DESTINATION ${package_dir} COMPONENT development)
configure_package_config_file(cmake/heddle-config.cmake.in ${CMAKE_BINARY_DIR}/heddle-config.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/heddle-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/heddle-config.cmake ${CMAKE_BINARY_DIR}/heddle-config-version.cmake
        DESTINATION ${package_dir} COMPONENT development)

include(cmake/heddle-packages.cmake)
