acq_test(eval_metrics SOURCES unit/eval_metrics.c USES eval)
acq_test(eval_files SOURCES unit/eval_files.c USES eval)
acq_test(eval_print SOURCES unit/eval_print.c USES eval)
acq_test(eval_run SOURCES unit/eval_run.c USES eval)
acq_test(eval_links SOURCES unit/eval_links.c USES eval)
acq_test(eval_cli SOURCES unit/eval_cli.c USES eval ARGS $<TARGET_FILE:anycq>)
add_dependencies(test_eval_cli anycq)

# Known results on the published validation files; needs the data, which is not part of the tree.
add_executable(test_reproduce unit/eval_reproduce.c)
target_link_libraries(test_reproduce PRIVATE acq_eval)
target_compile_definitions(test_reproduce PRIVATE ACQ_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_test(NAME reproduce COMMAND test_reproduce)
set_tests_properties(reproduce PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 PROCESSORS 2)
