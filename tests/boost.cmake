acq_test(boost_fit SOURCES unit/boost_fit.c unit/boost_case.c USES calibrate)
acq_test(calibrator_file SOURCES unit/calibrator_file.c unit/boost_case.c USES calibrate)
acq_test(reliability_table SOURCES unit/reliability_table.c USES calibrate)
acq_test(completion_shards SOURCES unit/completion_shards.c unit/completion_case.c USES calibrate)
