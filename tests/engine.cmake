acq_test(engine_ask SOURCES unit/engine_ask.c unit/answer_world.c
         USES engine search answer query predict graph base)
acq_test(engine_policy SOURCES unit/engine_policy.c unit/answer_world.c
         USES engine search answer query predict graph base)
acq_test(engine_liar SOURCES unit/engine_liar.c unit/answer_world.c
         USES engine search answer query predict graph base)
acq_test(engine_probability SOURCES unit/engine_probability.c unit/answer_world.c
         support/calibrator.c
         USES engine search answer query predict graph base)
acq_test(api_library SOURCES unit/api_library.c support/api_case.c support/api_scored.c
         support/calibrator.c
         USES library engine search answer query predict graph base)
acq_test(api_predict SOURCES unit/api_predict.c support/api_case.c support/api_scored.c
         support/calibrator.c
         USES library engine search answer query predict graph base)
acq_test(api_answers SOURCES unit/api_answers.c support/api_case.c support/api_scored.c
         support/calibrator.c
         USES library engine search answer query predict graph base)
acq_test(api_arguments SOURCES unit/api_arguments.c support/api_case.c
         USES library engine search answer query predict graph base)
acq_test(api_store SOURCES unit/api_store.c support/api_case.c
         USES library engine search answer query predict graph base)
acq_test(api_train SOURCES unit/api_train.c support/api_case.c
         USES library engine search answer query predict graph base)
if(ACQ_FAULTS)
  acq_test(api_memory SOURCES unit/api_memory.c support/api_case.c
           USES library engine search answer query predict graph base)
endif()

# The example sees the public header and the shared library, nothing else.
add_executable(api_example unit/api_example.c)
target_include_directories(api_example PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(api_example PRIVATE anycq_shared)
if(ACQ_SANITIZE)
  target_link_options(api_example PRIVATE -fsanitize=${ACQ_SANITIZE})
endif()
add_test(NAME api_example
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/api_example.sh $<TARGET_FILE:api_example>
                 $<TARGET_FILE:anycq_shared> ${PROJECT_SOURCE_DIR})
add_test(NAME api_install
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/install.sh ${PROJECT_BINARY_DIR}
                 ${PROJECT_SOURCE_DIR} ${CMAKE_COMMAND} ${CMAKE_C_COMPILER} "${ACQ_SANITIZE}")
set_tests_properties(api_install PROPERTIES SKIP_RETURN_CODE 77)
