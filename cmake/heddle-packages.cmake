# SPDX-License-Identifier: MIT
#
# Debian packages, by `make deb`: libheddle0.2, libheddle-dev and heddle, one for each component of
# heddle-install.cmake.
set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR "The Heddle authors")
# Who makes a package answers for it; Debian's tools know them by these names.
if(DEFINED ENV{DEBEMAIL})
  set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
else()
  set(CPACK_PACKAGE_CONTACT "The Heddle authors <heddle@heddle.invalid>")
endif()
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development command)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/deb-finish.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(about "Heddle multiplies sparse matrices and their transposes by vectors, on CPUs,
NVIDIA GPUs and AMD GPUs, as fast as the memory system allows.

")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libheddle${abi})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
file(WRITE ${CMAKE_BINARY_DIR}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/triggers)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "sparse matrix times vector on CPUs and GPUs (library)
${about}This package has the shared library.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libheddle-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libheddle${abi} (= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(static_packages zlib1g-dev) # what static linking alone needs
if(LibLZMA_FOUND)
  string(APPEND static_packages ", liblzma-dev")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "${static_packages}")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "sparse matrix times vector on CPUs and GPUs (development files)
${about}This package has the header, which is the manual, the static library, and
what pkg-config and CMake need to find them.")

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME heddle)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "sparse matrix times vector on CPUs and GPUs (command)
${about}This package has the command heddle, which generates, converts, multiplies,
verifies and measures, and draws what was measured in one page.")

# Under which licence: the words of LICENSE and, for the command, those of what is inside it besides Heddle.
file(READ LICENSE licence)
set(copyright_own "Heddle ${PROJECT_VERSION}\n\n${licence}")
set(copyright_command "${copyright_own}")
if(report_licence)
  file(READ ${report_licence} d3_licence)
  string(APPEND copyright_command
         "\n\nThe command heddle contains d3, which it writes into its pages:\n\n${d3_licence}")
endif()
file(WRITE ${CMAKE_BINARY_DIR}/copyright "${copyright_own}")
file(WRITE ${CMAKE_BINARY_DIR}/copyright-command "${copyright_command}")
install(FILES ${CMAKE_BINARY_DIR}/copyright-command RENAME copyright
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/heddle)
install(FILES ${CMAKE_BINARY_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libheddle${abi}
        COMPONENT library EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_BINARY_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libheddle-dev
        COMPONENT development EXCLUDE_FROM_ALL)
include(CPack)
