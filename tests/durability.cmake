# What is acknowledged stays: power failures, kills, failing and full disks, damage, many processes.
# Programs take [COMMAND] [ROUNDS [SEED]]; the defaults take seconds.
add_library(durability STATIC durability/child.c durability/command.c durability/fixture.c
                              durability/history.c durability/plain.c durability/scratch.c
                              support/calls.c support/disk.c support/vfs.c)
target_link_libraries(durability PUBLIC test_support acq_store Threads::Threads)
foreach(call open write pwrite fsync fdatasync rename renameat2 unlink)
  target_link_options(durability INTERFACE -Wl,--wrap=${call})
endforeach()

function(acq_durability_test name)
  acq_test(durability_${name} SOURCES durability/${name}.c ${ARGN})
  target_link_libraries(test_durability_${name} PRIVATE durability)
endfunction()

acq_durability_test(model)
acq_durability_test(power)
acq_durability_test(io_faults)
acq_durability_test(kill_exact)
acq_durability_test(writers)
acq_durability_test(share durability/batches.c USES library)
acq_durability_test(kill ARGS $<TARGET_FILE:anycq>)
acq_durability_test(flip ARGS $<TARGET_FILE:anycq>)
foreach(script disk_full order)
  add_test(NAME durability_${script}
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/durability/${script}.sh $<TARGET_FILE:anycq>
                   ${PROJECT_SOURCE_DIR})
endforeach()
