# acq_module(NAME SOURCES a.c b.c... USES other modules...): one static library per module.
set(ACQ_MODULES "" CACHE INTERNAL "")

add_library(acq_options INTERFACE)
target_include_directories(acq_options INTERFACE ${PROJECT_SOURCE_DIR}/src
                                                 ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(acq_options INTERFACE _GNU_SOURCE)
target_compile_options(acq_options INTERFACE
  -Wall -Wextra -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes
  -Wwrite-strings -Wvla -Wformat=2)
if(ACQ_WERROR)
  target_compile_options(acq_options INTERFACE -Werror)
endif()
if(ACQ_FAULTS)
  target_compile_definitions(acq_options INTERFACE ACQ_FAULTS)
endif()
if(ACQ_SANITIZE)
  target_compile_options(acq_options INTERFACE -fsanitize=${ACQ_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(acq_options INTERFACE -fsanitize=${ACQ_SANITIZE})
endif()

function(acq_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  add_library(acq_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(acq_${name} PUBLIC acq_options m)
  foreach(used ${ARG_USES})
    target_link_libraries(acq_${name} PUBLIC acq_${used})
  endforeach()
  target_link_libraries(acq_${name} PUBLIC ${ARG_LIBRARIES})
  set(ACQ_MODULES ${ACQ_MODULES} acq_${name} CACHE INTERNAL "")
endfunction()
