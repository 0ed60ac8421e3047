acq_test(fit_split SOURCES unit/fit_split.c USES fit)
