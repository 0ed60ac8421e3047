acq_test(oracle_exact SOURCES oracle/exact.c support/case.c USES search query graph predict base)
