acq_test(train_sampler SOURCES unit/train_sampler.c unit/train_case.c USES train)
acq_test(train_shared SOURCES unit/train_shared.c USES train)
acq_test(train_checkpoint SOURCES unit/train_checkpoint.c USES train)
acq_test(train_curve SOURCES unit/train_curve.c USES train)
