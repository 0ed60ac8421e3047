acq_test(train_sampler SOURCES unit/train_sampler.c unit/train_case.c USES train)
acq_test(train_shared SOURCES unit/train_shared.c USES train)
