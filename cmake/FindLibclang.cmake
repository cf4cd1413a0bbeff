# Finds libclang 17 or newer with its C headers; sets Libclang_FOUND and the target Libclang::Libclang.
#
# With -DLLVM_CONFIG=PROGRAM it is the one that this llvm-config knows. Else the newest is taken; of each version LLVM's CMake
# package says where it is, or llvm-config-VERSION, or it is in the folder of Debian's packages, which have neither of the two
# where only libclang-VERSION-dev is installed. The library and the headers may come from different folders (some images carry
# the library alone). LIBCLANG_LIBRARY and LIBCLANG_INCLUDE_DIR name any other.

# Looks in two folders for what is not found yet.
macro(_libclang_look LIBRARIES HEADERS VERSION)
  find_library(LIBCLANG_LIBRARY NAMES clang libclang-${VERSION}.so.1 PATHS ${LIBRARIES} NO_DEFAULT_PATH)
  find_path(LIBCLANG_INCLUDE_DIR clang-c/Index.h PATHS ${HEADERS} NO_DEFAULT_PATH)
endmacro()

macro(_libclang_ask PROGRAM)
  execute_process(COMMAND ${PROGRAM} --libdir OUTPUT_VARIABLE _libclang_libdir OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${PROGRAM} --includedir OUTPUT_VARIABLE _libclang_includedir OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${PROGRAM} --version OUTPUT_VARIABLE _libclang_answer OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCH "^[0-9]+" _libclang_answer "${_libclang_answer}")
  _libclang_look("${_libclang_libdir}" "${_libclang_includedir}" "${_libclang_answer}")
endmacro()

if(LLVM_CONFIG)
  _libclang_ask(${LLVM_CONFIG})
else()
  foreach(_version RANGE 24 17 -1)
    if(LIBCLANG_LIBRARY AND LIBCLANG_INCLUDE_DIR)
      break()
    endif()
    find_package(LLVM ${_version} CONFIG QUIET HINTS /usr/lib/llvm-${_version})
    if(LLVM_FOUND AND LLVM_VERSION_MAJOR EQUAL _version)
      _libclang_look("${LLVM_LIBRARY_DIR}" "${LLVM_INCLUDE_DIRS}" ${_version})
    endif()
    find_program(LLVM_CONFIG_${_version} llvm-config-${_version})
    mark_as_advanced(LLVM_CONFIG_${_version})
    if(LLVM_CONFIG_${_version} AND NOT CMAKE_CROSSCOMPILING)
      _libclang_ask(${LLVM_CONFIG_${_version}})
    endif()
    _libclang_look(/usr/lib/llvm-${_version}/lib /usr/lib/llvm-${_version}/include ${_version})
  endforeach()
  find_library(LIBCLANG_LIBRARY NAMES clang)
  find_path(LIBCLANG_INCLUDE_DIR clang-c/Index.h)
endif()

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
