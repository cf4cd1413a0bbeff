# In a wheel libclang is that of the package libclang, which PyPI has for every platform: one static library of 64 MB, and
# 24 MB to download, instead of the 227 MB of Debian's with its LLVM. Its file is clang/native/libclang.so beside the
# package restride, whatever its version, so programs are linked with a stub of that name, with the functions of the one
# that was found here but no version of them.
execute_process(COMMAND ${CMAKE_NM} -D --defined-only ${LIBCLANG_LIBRARY} OUTPUT_VARIABLE SYMBOLS COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " T clang_[A-Za-z0-9_]+" SYMBOLS "${SYMBOLS}")
if(NOT SYMBOLS)
  message(FATAL_ERROR "${LIBCLANG_LIBRARY} exports no functions of libclang")
endif()
string(JOIN "\n" STUB ${SYMBOLS})
string(REGEX REPLACE " T ([A-Za-z0-9_]+)" "void \\1(void);\nvoid \\1(void) {}" STUB "${STUB}")
file(WRITE ${PROJECT_BINARY_DIR}/libclang_stub.c "${STUB}\n")
add_library(libclang_stub SHARED ${PROJECT_BINARY_DIR}/libclang_stub.c)
set_target_properties(libclang_stub PROPERTIES OUTPUT_NAME clang LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/stub
                                               C_VISIBILITY_PRESET default)
set_target_properties(Libclang::Libclang PROPERTIES IMPORTED_LOCATION ${PROJECT_BINARY_DIR}/stub/libclang.so)
add_dependencies(Libclang::Libclang libclang_stub)
