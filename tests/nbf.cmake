acq_test(ultra_gradient SOURCES parity/ultra_gradient.c USES train)
acq_test(train_ultra_subgraph SOURCES unit/train_ultra_subgraph.c unit/train_case.c USES train)
acq_test(train_ultra SOURCES unit/train_ultra.c unit/train_case.c USES train)
