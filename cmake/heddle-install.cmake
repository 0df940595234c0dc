# SPDX-License-Identifier: MIT
#
# What is installed, and how other projects find it: pkg-config and a CMake package.
include(CMakePackageConfigHelpers)

install(TARGETS heddle heddle_static EXPORT heddle-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS heddle_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES include/heddle.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES docs/heddle.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES scripts/heddle.bash RENAME heddle DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)

# pkg-config: the private libraries are for static linking.
set(pc_private "-lz -lm -lpthread")
if(LibLZMA_FOUND)
  string(APPEND pc_private " -llzma")
endif()
if(OpenMP_C_FOUND)
  string(APPEND pc_private " ${OpenMP_C_FLAGS}")
endif()
configure_file(cmake/heddle.pc.in ${CMAKE_BINARY_DIR}/heddle.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/heddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/heddle)
install(EXPORT heddle-targets NAMESPACE heddle:: DESTINATION ${package_dir})
configure_package_config_file(cmake/heddle-config.cmake.in ${CMAKE_BINARY_DIR}/heddle-config.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/heddle-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/heddle-config.cmake ${CMAKE_BINARY_DIR}/heddle-config-version.cmake
        DESTINATION ${package_dir})
