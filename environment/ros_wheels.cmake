# SPDX-License-Identifier: Apache-2.0
# Some ROS 2 wheels export include folders of the machine that built them. CMake refuses imported
# targets whose include folders are missing, so these are taken out once all packages are found.
# Passed as CMAKE_PROJECT_INCLUDE.

function(remove_missing_include_folders)
  get_property(imported DIRECTORY "${CMAKE_SOURCE_DIR}" PROPERTY IMPORTED_TARGETS)
  foreach(name IN LISTS imported)
    get_target_property(folders ${name} INTERFACE_INCLUDE_DIRECTORIES)
    if(NOT folders)
      continue()
    endif()
    set(present "")
    foreach(folder IN LISTS folders)
      # generator expressions ($<...>) are not paths yet: keep them
      if(folder MATCHES "^\\$<" OR EXISTS "${folder}")
        list(APPEND present "${folder}")
      endif()
    endforeach()
    set_property(TARGET ${name} PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${present}")
  endforeach()
endfunction()

cmake_language(DEFER DIRECTORY "${CMAKE_SOURCE_DIR}" CALL remove_missing_include_folders)
