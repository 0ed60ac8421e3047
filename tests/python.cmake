# The bindings for Python, as a program sees them.
if(ACQ_PYTHON)
  set(python_path ${PROJECT_BINARY_DIR}/python)
  set(python_environment PYTHONPATH=${python_path} PYTHONDONTWRITEBYTECODE=1
      ACQ_SOURCE=${PROJECT_SOURCE_DIR} ACQ_COMMAND=$<TARGET_FILE:anycq> ACQ_CC=${CMAKE_C_COMPILER}
      ACQ_DOORS=$<TARGET_FILE:server_doors> ACQ_MAKE_WORLD=$<TARGET_FILE:make_world>)
  if(ACQ_SANITIZE) # Python is not built with them, so their library has to come first
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so
                    OUTPUT_VARIABLE asan OUTPUT_STRIP_TRAILING_WHITESPACE)
    list(APPEND python_environment LD_PRELOAD=${asan} ASAN_OPTIONS=detect_leaks=0 ACQ_SANITIZED=1)
  endif()
  foreach(name declarations questions misuse fits shell tutorial doors)
    add_test(NAME python_${name}
             COMMAND ${ACQ_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/${name}.py)
    set_tests_properties(python_${name} PROPERTIES SKIP_RETURN_CODE 77
                         ENVIRONMENT "${python_environment}")
  endforeach()
  # What docs/tutorial.md shows, in the command and in Python.
  if(NOT ACQ_SANITIZE)
    add_test(NAME tutorial COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/readme.sh $<TARGET_FILE:anycq>
             ${PROJECT_SOURCE_DIR} docs/tutorial.md ${ACQ_PYTHON})
    set_tests_properties(tutorial PROPERTIES ENVIRONMENT "${python_environment}")
    add_test(NAME python_wheel COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/python/wheel.sh
             ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR} ${ACQ_PYTHON})
    set_tests_properties(python_wheel PROPERTIES SKIP_RETURN_CODE 77)
  endif()
endif()
