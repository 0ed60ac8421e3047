# The oracle of the policy network: dense networks from the equations, gradients from a tape.
acq_test(parity_autodiff SOURCES parity/autodiff.c USES base)
acq_test(parity_dense SOURCES parity/dense.c USES query predict)
acq_test(policy_board SOURCES unit/policy_board.c USES search)
acq_test(policy_walk SOURCES unit/policy_walk.c USES search)
acq_test(parity_policy_lumped SOURCES parity/policy_lumped.c USES search)
acq_test(parity_policy_gradient SOURCES parity/policy_gradient.c USES search)
acq_test(parity_policy_theorems SOURCES parity/policy_theorems.c USES engine)

# Both networks on published queries over the full graph; needs the data, which is not part of the
# tree. ACQ_QUERIES=20 in the environment is the long run.
acq_test(parity_policy_full SOURCES parity/policy_full.c USES eval)
set_tests_properties(parity_policy_full PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 PROCESSORS 2)
