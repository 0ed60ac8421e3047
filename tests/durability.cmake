# What is acknowledged stays: power failures, kills, failing and full disks, damage, many processes.
# Each takes [ROUNDS [SEED]]; the defaults take seconds.
add_library(durability STATIC durability/child.c durability/history.c durability/scratch.c
                              support/calls.c support/disk.c support/vfs.c)
target_include_directories(durability PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(durability PUBLIC acq_store Threads::Threads)
foreach(call open write pwrite fsync fdatasync rename renameat2 unlink)
  target_link_options(durability INTERFACE -Wl,--wrap=${call})
endforeach()

function(acq_durability_test name)
  acq_test(durability_${name} SOURCES durability/${name}.c ${ARGN})
  target_link_libraries(test_durability_${name} PRIVATE durability)
endfunction()

acq_durability_test(model)
