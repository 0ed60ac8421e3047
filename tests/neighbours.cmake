acq_test(neighbours_rows SOURCES unit/neighbours_rows.c USES predict)
