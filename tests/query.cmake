acq_test(query_cases SOURCES unit/query_cases.c USES query)
acq_test(query_limits SOURCES unit/query_limits.c USES query)
acq_test(query_print SOURCES unit/query_print.c unit/query_random.c USES query)
