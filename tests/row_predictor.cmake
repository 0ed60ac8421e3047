acq_test(row_predictor_links SOURCES unit/row_predictor_links.c support/row_double.c USES predict)
acq_test(row_predictor_cache SOURCES unit/row_predictor_cache.c USES predict)
acq_test(row_predictor_ask SOURCES unit/row_predictor_ask.c support/case.c
         USES engine search answer query predict graph base)
