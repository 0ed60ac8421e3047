# The command as users meet it: transcripts, bad usage, interrupts; and the direction of includes.
add_executable(cli_scores cli/scores.c)
target_link_libraries(cli_scores PRIVATE test_support acq_calibrate)

foreach(transcript ask queries_file check others help scored probability suggest store rdf policy rules train
        rows links train_links shards fit generate)
  add_test(NAME cli_${transcript}
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/transcript.sh $<TARGET_FILE:anycq>
                   $<TARGET_FILE:cli_scores> ${PROJECT_SOURCE_DIR}
                   ${CMAKE_CURRENT_SOURCE_DIR}/cli/${transcript}.txt)
endforeach()
foreach(script signals interrupts readme same_store pages resume overwrite stream special_files train_links_resume
        fit_resume reproduce serve)
  add_test(NAME cli_${script}
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/${script}.sh $<TARGET_FILE:anycq>
                   ${PROJECT_SOURCE_DIR})
endforeach()
set_tests_properties(cli_serve PROPERTIES SKIP_RETURN_CODE 77)
if(NOT ACQ_SANITIZE) # whose library must be the first
  add_library(commas MODULE cli/commas.c)
  add_test(NAME cli_locale COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/locale.sh $<TARGET_FILE:anycq>
                                   ${PROJECT_SOURCE_DIR} $<TARGET_FILE:commas>)
  set_tests_properties(cli_locale PROPERTIES SKIP_RETURN_CODE 77)
endif()
if(NOT ACQ_SANITIZE) # no number in it depends on the processor
  add_test(NAME cli_readme_generic COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/readme.sh $<TARGET_FILE:anycq>
                                           ${PROJECT_SOURCE_DIR})
  set_tests_properties(cli_readme_generic PROPERTIES ENVIRONMENT ACQ_INSTRUCTIONS=generic)
endif()
if(ACQ_SANITIZE)
  set_tests_properties(cli_interrupts cli_same_store cli_pages PROPERTIES ENVIRONMENT ACQ_SANITIZED=1)
endif()
add_test(NAME cli_man
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/man.sh $<TARGET_FILE:anycq>
                 ${PROJECT_BINARY_DIR}/man/man1)
if(NOT ACQ_SANITIZE) # whose frames are larger
  foreach(script stack small_stack)
    add_test(NAME cli_${script} COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/${script}.sh
                                        $<TARGET_FILE:anycq> ${PROJECT_SOURCE_DIR})
  endforeach()
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
add_test(NAME cli_one_number COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/one_number.sh
         $<TARGET_FILE:anycq> $<TARGET_FILE:make_world>)
add_test(NAME names COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/names.sh ${PROJECT_SOURCE_DIR})
add_test(NAME includes
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/includes.sh ${PROJECT_SOURCE_DIR})
acq_test(cli_units SOURCES cli/units.c USES cli)
acq_test(cli_interrupt SOURCES unit/cli_interrupt.c USES cli)
acq_test(cli_json SOURCES unit/cli_json.c USES cli)
acq_test(cli_table SOURCES unit/cli_table.c USES cli)
acq_test(cli_width SOURCES unit/cli_width.c USES cli)
if(NOT ACQ_SANITIZE) # some tests are for the build that ships
  add_test(NAME listed
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/listed.sh ${PROJECT_BINARY_DIR}
                   ${PROJECT_SOURCE_DIR} ${CMAKE_CTEST_COMMAND})
endif()

# What tools/ makes of other people's data.
add_test(NAME graph_tools
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/graph_tools.sh ${PROJECT_SOURCE_DIR})
add_test(NAME convert_ultra
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/convert_ultra.sh ${PROJECT_SOURCE_DIR})
add_test(NAME exchange_policy
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/exchange_policy.sh ${PROJECT_SOURCE_DIR})
add_test(NAME extract_calibrator
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/extract_calibrator.sh ${PROJECT_SOURCE_DIR}
                 $<TARGET_FILE:anycq>)
if(NOT ACQ_SANITIZE) # its trainings are too short for a slow build
  add_test(NAME benchmark_models
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/benchmark_models.sh ${PROJECT_SOURCE_DIR}
                   $<TARGET_FILE:anycq>)
endif()

# The server: hostile requests, and the honest ones after them; one answer through every door.
foreach(name abuse doors)
  add_executable(server_${name} server/${name}.c support/http_client.c)
  target_include_directories(server_${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(server_${name} PRIVATE acq_options PkgConfig::JANSSON)
endforeach()
add_test(NAME server_abuse COMMAND server_abuse $<TARGET_FILE:anycq>
         ${CMAKE_CURRENT_SOURCE_DIR}/server/knows.tsv)
add_test(NAME server_clients COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/server/clients.sh
         $<TARGET_FILE:anycq> ${PROJECT_SOURCE_DIR})
add_test(NAME server_doors COMMAND server_doors $<TARGET_FILE:anycq> $<TARGET_FILE:make_world>)
if(NOT ACQ_SANITIZE) # Chromium has a time of its own
  add_test(NAME page COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/page/page.sh page.mjs $<TARGET_FILE:anycq>
           ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} $<TARGET_FILE:server_doors> $<TARGET_FILE:make_world>)
  add_test(NAME page_demo COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/page/demo.sh $<TARGET_FILE:anycq> ${PROJECT_SOURCE_DIR})
  add_test(NAME page_tutorial COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/page/page.sh tutorial.mjs
           $<TARGET_FILE:anycq> ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  set_tests_properties(page page_demo page_tutorial PROPERTIES SKIP_RETURN_CODE 77)
endif()

if(NOT ACQ_SANITIZE) # which have no limit of memory
  add_test(NAME cli_buckets COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/buckets.sh $<TARGET_FILE:anycq>)
endif()

add_test(NAME cli_examples_shards
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/shards.sh $<TARGET_FILE:anycq> ${PROJECT_SOURCE_DIR})

set(ranks "") # without Open MPI the tests are there, and skipped
if(TARGET anycq_ranks)
  set(ranks $<TARGET_FILE:anycq_ranks>)
endif()
foreach(name ranks ranks_train ranks_netns)
  add_test(NAME cli_${name}
           COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/${name}.sh "${ranks}" ${PROJECT_SOURCE_DIR})
  set_tests_properties(cli_${name} PROPERTIES SKIP_RETURN_CODE 77)
  if(ACQ_SANITIZE) # Open MPI does not free what its plugins hold
    set_tests_properties(cli_${name} PROPERTIES ENVIRONMENT ASAN_OPTIONS=detect_leaks=0)
  endif()
endforeach()
