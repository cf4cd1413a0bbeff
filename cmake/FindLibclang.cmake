# Finds libclang 16 or newer, newest first, with its C headers; sets Libclang_FOUND and the target Libclang::Libclang.
# The library and the headers may come from different folders (some images carry the library alone).
set(_libclang_folders)
foreach(_version RANGE 24 16 -1)
  list(APPEND _libclang_folders /usr/lib/llvm-${_version})
endforeach()
set(_libclang_paths)
foreach(_folder ${_libclang_folders})
  list(APPEND _libclang_paths ${_folder}/lib)
endforeach()
find_library(LIBCLANG_LIBRARY NAMES clang libclang-19.so.1 libclang-18.so.1 libclang-17.so.1 libclang-16.so.1
             PATHS ${_libclang_paths} NO_DEFAULT_PATH)
find_library(LIBCLANG_LIBRARY NAMES clang)
find_path(LIBCLANG_INCLUDE_DIR clang-c/Index.h PATHS ${_libclang_folders} PATH_SUFFIXES include NO_DEFAULT_PATH)
find_path(LIBCLANG_INCLUDE_DIR clang-c/Index.h)
# clang's own OpenCL headers, which some builds of libclang look for in the wrong folder.
get_filename_component(_libclang_real ${LIBCLANG_LIBRARY} REALPATH)
string(REGEX MATCH "libclang-([0-9]+)" _libclang_match "${_libclang_real}")
find_path(LIBCLANG_OPENCL_HEADERS opencl-c-base.h
          PATHS /usr/lib/llvm-${CMAKE_MATCH_1}/lib/clang/${CMAKE_MATCH_1}/include NO_DEFAULT_PATH)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libclang REQUIRED_VARS LIBCLANG_LIBRARY LIBCLANG_INCLUDE_DIR)
if(Libclang_FOUND AND NOT TARGET Libclang::Libclang)
  add_library(Libclang::Libclang UNKNOWN IMPORTED)
  set_target_properties(Libclang::Libclang PROPERTIES IMPORTED_LOCATION ${LIBCLANG_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${LIBCLANG_INCLUDE_DIR})
endif()
