# SPDX-License-Identifier: MIT
#
# Eigen as a peer of `heddle bench --peer eigen`: a small library around its headers, where they and a C++
# compiler are.  Compiled for this machine, as its users do, it stays in the build folder, where the command
# finds it beside itself.
include(CheckLanguage)
check_language(CXX)
find_path(HEDDLE_EIGEN_HEADERS Eigen/Sparse PATH_SUFFIXES eigen3)
if(CMAKE_CXX_COMPILER AND HEDDLE_EIGEN_HEADERS)
  enable_language(CXX)
  add_library(heddle_eigen MODULE ${CMAKE_SOURCE_DIR}/bench/peers/eigen.cpp)
  target_include_directories(heddle_eigen SYSTEM PRIVATE ${HEDDLE_EIGEN_HEADERS})
  target_compile_options(heddle_eigen PRIVATE -O3 -march=native -DNDEBUG)
  find_package(OpenMP QUIET COMPONENTS CXX) # Eigen's own threads; Heddle has others
  if(OpenMP_CXX_FOUND)
    target_link_libraries(heddle_eigen PRIVATE OpenMP::OpenMP_CXX)
  endif()
  set_target_properties(heddle_command PROPERTIES BUILD_RPATH "$ORIGIN")
endif()
