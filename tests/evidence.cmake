acq_test(evidence_features SOURCES unit/evidence_features.c USES predict)
