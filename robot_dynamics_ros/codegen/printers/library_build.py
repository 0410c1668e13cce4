# SPDX-License-Identifier: Apache-2.0
"""How CMake builds, tests, installs and finds a generated library."""

from __future__ import annotations

from robot_dynamics_ros import __version__

#: First line of a generated CMakeLists.txt: only such a file is ever replaced.
GENERATED = '# Written by robot-dynamics generate --library; it will be overwritten.'

_CMAKE = """\
{generated}
cmake_minimum_required(VERSION 3.10)
project({name} VERSION {version} LANGUAGES C)

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(CTest)

add_library({name} src/{name}.c)
add_library({name}::{name} ALIAS {name})
target_include_directories({name} PUBLIC
  $<BUILD_INTERFACE:${{CMAKE_CURRENT_SOURCE_DIR}}/include>
  $<INSTALL_INTERFACE:${{CMAKE_INSTALL_INCLUDEDIR}}>)
set_target_properties({name} PROPERTIES
  C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
  POSITION_INDEPENDENT_CODE ON)  # controllers are shared libraries
if(UNIX)
  target_link_libraries({name} PRIVATE m)
endif()

if(BUILD_TESTING)
  add_executable(test_{name} test/test_{name}.c)
  set_target_properties(test_{name} PROPERTIES
    C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
  target_link_libraries(test_{name} PRIVATE {name})
  if(UNIX)
    target_link_libraries(test_{name} PRIVATE m)
  endif()
  add_test(NAME {name} COMMAND test_{name})
endif()

install(FILES include/{name}.h DESTINATION ${{CMAKE_INSTALL_INCLUDEDIR}})
install(TARGETS {name} EXPORT {name}
  ARCHIVE DESTINATION ${{CMAKE_INSTALL_LIBDIR}}
  LIBRARY DESTINATION ${{CMAKE_INSTALL_LIBDIR}}
  RUNTIME DESTINATION ${{CMAKE_INSTALL_BINDIR}})
install(EXPORT {name} NAMESPACE {name}:: FILE {name}Config.cmake
  DESTINATION ${{CMAKE_INSTALL_LIBDIR}}/cmake/{name})
write_basic_package_version_file(
  ${{CMAKE_CURRENT_BINARY_DIR}}/{name}ConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${{CMAKE_CURRENT_BINARY_DIR}}/{name}ConfigVersion.cmake
  DESTINATION ${{CMAKE_INSTALL_LIBDIR}}/cmake/{name})
"""


def cmake_lists(name: str) -> str:
    """
    Return CMakeLists.txt.

    :param name: name of project, package, library and header; an identifier.
    """
    return _CMAKE.format(generated=GENERATED, name=name, version=__version__)
