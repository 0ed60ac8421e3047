# The command as users meet it: transcripts, bad usage, interrupts; and the direction of includes.
add_executable(cli_scores cli/scores.c support/calibrator.c)
target_include_directories(cli_scores PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_link_libraries(cli_scores PRIVATE acq_calibrate acq_answer acq_predict acq_graph acq_base)

foreach(transcript ask queries_file check others help scored probability store rdf policy train)
  add_test(NAME cli_${transcript}
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/transcript.sh $<TARGET_FILE:anycq>
                   $<TARGET_FILE:cli_scores> ${PROJECT_SOURCE_DIR}
                   ${CMAKE_CURRENT_SOURCE_DIR}/cli/${transcript}.txt)
endforeach()
foreach(script signals readme same_store resume overwrite stream special_files)
  add_test(NAME cli_${script}
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/${script}.sh $<TARGET_FILE:anycq>
                   ${PROJECT_SOURCE_DIR})
endforeach()
if(NOT ACQ_SANITIZE) # whose frames are larger
  add_test(NAME cli_stack COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/stack.sh $<TARGET_FILE:anycq>
                                  ${PROJECT_SOURCE_DIR})
endif()
add_test(NAME cli_man
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/man.sh $<TARGET_FILE:anycq>
                 ${PROJECT_BINARY_DIR}/man/man1)
if(NOT ACQ_SANITIZE) # whose frames are larger
  add_test(NAME cli_small_stack
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/small_stack.sh $<TARGET_FILE:anycq>
                   ${PROJECT_SOURCE_DIR})
endif()
foreach(cases usage:60 bad_inputs:70)
  string(REPLACE ":" ";" cases ${cases})
  list(GET cases 0 name)
  list(GET cases 1 least)
  add_test(NAME cli_${name}
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/usage.sh $<TARGET_FILE:anycq>
                   ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/cli/${name}.txt ${least})
endforeach()
add_test(NAME messages COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/messages.sh $<TARGET_FILE:anycq>
         ${PROJECT_SOURCE_DIR})
add_test(NAME names COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/names.sh ${PROJECT_SOURCE_DIR})
add_test(NAME includes
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/includes.sh ${PROJECT_SOURCE_DIR})
acq_test(cli_units SOURCES cli/units.c USES cli)
acq_test(cli_json SOURCES unit/cli_json.c USES cli)
acq_test(cli_table SOURCES unit/cli_table.c USES cli)
acq_test(cli_width SOURCES unit/cli_width.c USES cli)
if(NOT ACQ_SANITIZE) # some tests are for the build that ships
  add_test(NAME listed
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/listed.sh ${PROJECT_BINARY_DIR}
                   ${PROJECT_SOURCE_DIR} ${CMAKE_CTEST_COMMAND})
endif()
