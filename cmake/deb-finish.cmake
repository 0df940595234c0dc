# SPDX-License-Identifier: MIT
#
# Run by cpack between installing the components and packing them: what Debian asks of a package and of
# nothing else.  Manual pages and changelogs are compressed (-n: the same input gives the same package).
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(GLOB trees LIST_DIRECTORIES true ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*)
foreach(tree IN LISTS trees)
  file(GLOB docs LIST_DIRECTORIES true ${tree}/usr/share/doc/*)
  foreach(doc IN LISTS docs)
    file(WRITE ${doc}/changelog.Debian
         "heddle (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
         "  * Packaged by make deb.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  endforeach()
  file(GLOB_RECURSE texts ${tree}/usr/share/man/*.1 ${tree}/usr/share/doc/*/changelog.Debian)
  if(texts)
    execute_process(COMMAND gzip -9n ${texts} RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "gzip cannot compress ${texts}")
    endif()
  endif()
endforeach()
