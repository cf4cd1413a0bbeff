# What `cmake --install` puts where. Nothing installed names the prefix, so a whole installation can be moved:
#   bin/restride                          the command line
#   LIBDIR/librestride.so.X.Y.Z           the library, with include/restride/, pkg-config and CMake files
#   LIBDIR/librestride_mpi.so.X.Y.Z       groups of MPI processes, where MPI was found
#   lib/restride/librestride_layer.so     the OpenCL layer, always at this place relative to bin/restride
#   lib/restride/librestride_loader.so    what puts it upon loaders that know no layers, likewise
#   lib/restride/kernels/                 of the CUDA engine, as RESTRIDE_CUDA_ARCHITECTURES says
#   lib/restride/restride-rewrite         the rewriter, likewise; restride-analyze, the analyzer
#   lib/restride/librestride_recorder.so  what Oclgrind loads for restride sim
#   share/man/, share/bash-completion/
include(CMakePackageConfigHelpers)

install(TARGETS restride EXPORT restrideTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(RESTRIDE_MPI)
  install(TARGETS restride_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
else()
  set(HEADER_FILTER PATTERN mpi.h EXCLUDE)
endif()
install(TARGETS restride_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(RESTRIDE_REWRITE)
  install(TARGETS restride_rewriter RUNTIME DESTINATION lib/restride)
endif()
if(TARGET restride_analyzer)
  install(TARGETS restride_analyzer RUNTIME DESTINATION lib/restride)
endif()
if(TARGET restride_recorder)
  install(TARGETS restride_recorder LIBRARY DESTINATION lib/restride)
endif()
if(RESTRIDE_OPENCL)
  install(TARGETS restride_layer restride_loader LIBRARY DESTINATION lib/restride)
  if(RESTRIDE_CUDA)
    install(TARGETS restride_layer_cuda LIBRARY DESTINATION lib/restride)
  endif()
else()
  list(APPEND HEADER_FILTER PATTERN opencl.h EXCLUDE)
endif()
if(TARGET precompiled_kernels)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/lib/kernels DESTINATION lib/restride)
endif()
if(NOT RESTRIDE_CUDA)
  list(APPEND HEADER_FILTER PATTERN cuda.h EXCLUDE PATTERN nccl.h EXCLUDE)
endif()
install(DIRECTORY include/restride DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${HEADER_FILTER})
install(FILES docs/restride.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
# Manual pages: functions and headers (sections 3 and 7) from the headers' text, verbs (section 1) from what their --help
# prints. The latter runs the program, so a cross build has them not: it runs nothing that it has made.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(Python3_FOUND)
  set(MAN_PAGES ${PROJECT_BINARY_DIR}/man)
  string(TIMESTAMP MAN_DATE %Y-%m-%d UTC) # follows SOURCE_DATE_EPOCH
  set(MAN_WRITER ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/man_pages.py)
  file(GLOB PUBLIC_HEADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/restride/*.h)
  add_custom_command(
    OUTPUT ${MAN_PAGES}/headers.done
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${MAN_PAGES}/man3 ${MAN_PAGES}/man7
    COMMAND ${MAN_WRITER} headers ${PROJECT_SOURCE_DIR}/include ${MAN_PAGES} ${PROJECT_VERSION} ${MAN_DATE}
    COMMAND ${CMAKE_COMMAND} -E touch ${MAN_PAGES}/headers.done
    DEPENDS ${PUBLIC_HEADERS} tools/man_pages.py)
  add_custom_target(man_pages ALL DEPENDS ${MAN_PAGES}/headers.done)
  set(MAN_SECTIONS man3 man7)
  if(NOT CMAKE_CROSSCOMPILING)
    set(MAN_PROGRAMS restride_cli)
    foreach(PROGRAM restride_rewriter restride_analyzer)
      if(TARGET ${PROGRAM})
        list(APPEND MAN_PROGRAMS ${PROGRAM})
      endif()
    endforeach()
    add_custom_command(
      OUTPUT ${MAN_PAGES}/verbs.done
      COMMAND ${CMAKE_COMMAND} -E rm -rf ${MAN_PAGES}/man1
      COMMAND ${MAN_WRITER} verbs $<TARGET_FILE:restride_cli> ${MAN_PAGES} ${PROJECT_VERSION} ${MAN_DATE}
      COMMAND ${CMAKE_COMMAND} -E touch ${MAN_PAGES}/verbs.done
      DEPENDS ${MAN_PROGRAMS} tools/man_pages.py)
    add_custom_target(man_pages_of_verbs ALL DEPENDS ${MAN_PAGES}/verbs.done)
    list(APPEND MAN_SECTIONS man1)
  else()
    message(STATUS "Manual pages of verbs are left out: they need a program that runs here")
  endif()
  foreach(SECTION IN LISTS MAN_SECTIONS)
    install(DIRECTORY ${MAN_PAGES}/${SECTION} DESTINATION ${CMAKE_INSTALL_MANDIR})
  endforeach()
else()
  message(STATUS "Manual pages of functions and verbs are left out: Python 3 was not found")
endif()
install(FILES tools/completion.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME restride)
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md PATTERN *.svg)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/restride)
install(EXPORT restrideTargets NAMESPACE restride:: DESTINATION ${PACKAGE_DIR})
configure_package_config_file(cmake/restrideConfig.cmake.in ${PROJECT_BINARY_DIR}/restrideConfig.cmake
                              INSTALL_DESTINATION ${PACKAGE_DIR})
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/restrideConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/restrideConfig.cmake ${PROJECT_BINARY_DIR}/restrideConfigVersion.cmake
        DESTINATION ${PACKAGE_DIR})

file(RELATIVE_PATH PREFIX_FROM_PKGCONFIG /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/restride.pc.in ${PROJECT_BINARY_DIR}/restride.pc @ONLY)
if(RESTRIDE_MPI)
  # As find_package(MPI) found it: the implementations' own .pc files have other names in each system.
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE MPI_FLAGS)
  list(JOIN MPI_FLAGS " " MPI_FLAGS)
  list(JOIN MPI_C_LIBRARIES " " MPI_LIBRARIES)
  configure_file(cmake/restride-mpi.pc.in ${PROJECT_BINARY_DIR}/restride-mpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/restride-mpi.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
install(FILES ${PROJECT_BINARY_DIR}/restride.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
