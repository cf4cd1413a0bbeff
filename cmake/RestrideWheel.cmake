# What the Python package holds (pyproject.toml), below restride/native/ in the folder of packages: the parts that find each
# other as in an installation, without headers, pages and what else C programs need.
#   bin/restride, lib/librestride.so.0, lib/restride/*
# Wheels cannot hold symbolic links, so the library has one name only.
set_target_properties(restride PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
install(TARGETS restride LIBRARY DESTINATION lib NAMELINK_SKIP COMPONENT python)
install(TARGETS restride_cli RUNTIME DESTINATION bin COMPONENT python)
set(WHEEL_TARGETS restride restride_cli)
if(RESTRIDE_OPENCL)
  install(TARGETS restride_layer restride_loader LIBRARY DESTINATION lib/restride COMPONENT python)
  list(APPEND WHEEL_TARGETS restride_layer restride_loader)
endif()
foreach(PROGRAM restride_rewriter restride_analyzer)
  if(TARGET ${PROGRAM})
    set_target_properties(${PROGRAM} PROPERTIES INSTALL_RPATH "\$ORIGIN/../../../../clang/native")
    install(TARGETS ${PROGRAM} RUNTIME DESTINATION lib/restride COMPONENT python)
    list(APPEND WHEEL_TARGETS ${PROGRAM})
  endif()
endforeach()
if(RESTRIDE_REWRITE)
  find_file(OPENCL_C_BASE opencl-c-base.h PATHS ${LIBCLANG_OPENCL_HEADERS} NO_DEFAULT_PATH REQUIRED)
  install(FILES ${OPENCL_C_BASE} DESTINATION lib/restride/clang COMPONENT python)
endif()
add_custom_target(wheel DEPENDS ${WHEEL_TARGETS})
