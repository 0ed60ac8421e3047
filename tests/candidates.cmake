acq_test(candidates_features SOURCES unit/candidates_features.c USES calibrate)
