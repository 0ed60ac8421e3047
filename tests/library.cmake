# The public library: its functions by their modules, and as a program sees it.
# SPARQL as the standard has it.
acq_test(sparql_w3c SOURCES unit/sparql_w3c.c support/results.c USES library)
acq_test(sparql_oracle SOURCES oracle/sparql.c oracle/sparql_case.c oracle/sparql_algebra.c
         USES library)

acq_test(api_library SOURCES unit/api_library.c USES library)
acq_test(api_predict SOURCES unit/api_predict.c USES library)
acq_test(api_answers SOURCES unit/api_answers.c USES library)
acq_test(api_arguments SOURCES unit/api_arguments.c USES library)
acq_test(api_store SOURCES unit/api_store.c USES library)
acq_test(api_train SOURCES unit/api_train.c USES library)
acq_test(api_evaluate SOURCES unit/api_evaluate.c USES library)
if(ACQ_FAULTS)
  acq_test(api_memory SOURCES unit/api_memory.c USES library)
endif()

# Promises of suggest and ask --cover, measured on facts that were hidden.
add_executable(check_promises ${PROJECT_SOURCE_DIR}/tools/check_promises.c)
target_include_directories(check_promises PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(check_promises PRIVATE anycq_shared)
if(ACQ_SANITIZE)
  target_link_options(check_promises PRIVATE -fsanitize=${ACQ_SANITIZE})
endif()

# Examples see the public header and the shared library, nothing else.
foreach(example ask check fit serve stream)
  add_executable(example_${example} ${PROJECT_SOURCE_DIR}/examples/${example}.c)
  set_target_properties(example_${example} PROPERTIES
    OUTPUT_NAME ${example} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  target_include_directories(example_${example} PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(example_${example} PRIVATE -Wall -Wextra)
  target_link_libraries(example_${example} PRIVATE anycq_shared)
  if(ACQ_SANITIZE)
    target_link_options(example_${example} PRIVATE -fsanitize=${ACQ_SANITIZE})
  endif()
endforeach()
add_test(NAME api_examples
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/examples.sh ${PROJECT_BINARY_DIR}/examples
                 ${PROJECT_SOURCE_DIR} "${ACQ_SANITIZE}")
add_test(NAME api_header
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/header.sh $<TARGET_FILE:anycq_shared>
                 ${PROJECT_SOURCE_DIR} ${CMAKE_C_COMPILER} "${ACQ_SANITIZE}")
add_test(NAME api_install
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/install.sh ${PROJECT_BINARY_DIR}
                 ${PROJECT_SOURCE_DIR} ${CMAKE_COMMAND} ${CMAKE_C_COMPILER} "${ACQ_SANITIZE}")
add_test(NAME api_packages COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/packages.sh ${PROJECT_SOURCE_DIR})
add_test(NAME api_dockerfile COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/dockerfile.sh ${PROJECT_SOURCE_DIR})
set_tests_properties(api_install api_packages api_dockerfile PROPERTIES SKIP_RETURN_CODE 77)
