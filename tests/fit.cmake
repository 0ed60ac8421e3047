acq_test(fit_split SOURCES unit/fit_split.c USES fit)
acq_test(fit_questions SOURCES unit/fit_questions.c unit/train_case.c USES fit)
acq_test(fit_decision SOURCES unit/fit_decision.c USES fit)
acq_test(calibrator_planted SOURCES unit/calibrator_planted.c USES fit)
