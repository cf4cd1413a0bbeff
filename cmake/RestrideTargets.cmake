# restride_room(NAME SOURCES...) declares one room of src/ as an object library, compiled the same way as all others.

add_library(restride_flags INTERFACE)
target_compile_options(restride_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wstrict-prototypes
                                                -Wmissing-prototypes)
target_compile_definitions(restride_flags INTERFACE _POSIX_C_SOURCE=200809L CL_TARGET_OPENCL_VERSION=300)
# Numbers that are constants are enumerators here; newer versions of clang ask about them beside a double.
include(CheckCCompilerFlag)
check_c_compiler_flag(-Wenum-float-conversion RESTRIDE_WARNS_OF_ENUMERATORS)
if(RESTRIDE_WARNS_OF_ENUMERATORS)
  target_compile_options(restride_flags INTERFACE -Wno-enum-float-conversion)
endif()
if(RESTRIDE_WERROR)
  target_compile_options(restride_flags INTERFACE -Werror)
endif()
if(RESTRIDE_SANITIZE)
  target_compile_options(restride_flags INTERFACE -fsanitize=${RESTRIDE_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(restride_flags INTERFACE -fsanitize=${RESTRIDE_SANITIZE})
  # ThreadSanitizer takes no account of fences; what they order here is atomic anyway.
  if(RESTRIDE_SANITIZE MATCHES thread AND CMAKE_C_COMPILER_ID STREQUAL GNU)
    target_compile_options(restride_flags INTERFACE -Wno-tsan)
  endif()
endif()
if(RESTRIDE_COVERAGE)
  target_link_options(restride_flags INTERFACE --coverage)
endif()
target_include_directories(restride_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
                                                    ${PROJECT_BINARY_DIR}/generated)
if(RESTRIDE_OPENCL)
  target_compile_definitions(restride_flags INTERFACE RESTRIDE_HAVE_OPENCL=1)
endif()
if(RESTRIDE_CUDA)
  target_compile_definitions(restride_flags INTERFACE RESTRIDE_HAVE_CUDA=1)
endif()

function(restride_room NAME)
  add_library(${NAME} OBJECT ${ARGN})
  target_link_libraries(${NAME} PRIVATE restride_flags PkgConfig::JANSSON Threads::Threads)
  if(RESTRIDE_COVERAGE AND CMAKE_CURRENT_SOURCE_DIR MATCHES "/src/(${RESTRIDE_COVERAGE})$")
    target_compile_options(${NAME} PRIVATE --coverage -fprofile-update=atomic)
  endif()
endfunction()

# restride_embed(TARGET FILES SYMBOL) makes the text of FILES available to TARGET as `const char SYMBOL[]` (declare it
# extern); used for kernel sources and for the style sheet of the report.
function(restride_embed TARGET FILES SYMBOL)
  set(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/embed_${SYMBOL}.c)
  list(TRANSFORM FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(JOIN FILES "|" INPUT)
  add_custom_command(
    OUTPUT ${OUTPUT}
    COMMAND ${CMAKE_COMMAND} "-DINPUT=${INPUT}" -DOUTPUT=${OUTPUT} -DSYMBOL=${SYMBOL} -P
            ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM
    DEPENDS ${FILES} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  target_sources(${TARGET} PRIVATE ${OUTPUT})
endfunction()
