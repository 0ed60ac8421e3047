# The oracle of the policy network: dense networks from the equations, gradients from a tape.
acq_test(parity_autodiff SOURCES parity/autodiff.c support/autodiff.c USES base)
set(dense_sources support/autodiff.c support/case.c support/dense_graph.c support/dense_policy.c
                  support/dense_tape.c support/dense_weights.c)
acq_test(parity_dense SOURCES parity/dense.c ${dense_sources} USES query graph predict base)
acq_test(policy_board SOURCES unit/policy_board.c support/label_case.c support/case.c
         USES search query predict graph base)
acq_test(policy_walk SOURCES unit/policy_walk.c support/label_case.c support/case.c
         USES search query predict graph base)
target_link_libraries(test_policy_walk PRIVATE m)
set(policy_sources ${dense_sources} support/policy_case.c)
acq_test(parity_policy_lumped SOURCES parity/policy_lumped.c ${policy_sources}
         USES search query graph predict base)
acq_test(parity_policy_gradient SOURCES parity/policy_gradient.c ${policy_sources}
         USES search query graph predict base)
acq_test(parity_policy_theorems SOURCES parity/policy_theorems.c ${policy_sources}
         USES engine search answer query graph predict base)

# Both networks on published queries over the full graph; needs the data, which is not part of the
# tree. ACQ_QUERIES=20 in the environment is the long run.
add_executable(test_policy_full parity/policy_full.c ${policy_sources})
target_link_libraries(test_policy_full PRIVATE acq_eval acq_search)
target_include_directories(test_policy_full PRIVATE ${PROJECT_SOURCE_DIR}/tests)
target_compile_definitions(test_policy_full PRIVATE ACQ_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
add_test(NAME parity_policy_full COMMAND test_policy_full)
set_tests_properties(parity_policy_full PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 PROCESSORS 2)
