acq_test(row_predictor_links SOURCES unit/row_predictor_links.c support/row_double.c USES calibrate)
acq_test(row_predictor_cache SOURCES unit/row_predictor_cache.c USES calibrate)
acq_test(row_predictor_ask SOURCES unit/row_predictor_ask.c support/case.c
         USES engine search answer query predict graph base)
add_test(NAME cli_rows
         COMMAND sh ${CMAKE_CURRENT_SOURCE_DIR}/cli/transcript.sh $<TARGET_FILE:anycq>
                 $<TARGET_FILE:cli_scores> ${PROJECT_SOURCE_DIR}
                 ${CMAKE_CURRENT_SOURCE_DIR}/cli/rows.txt)
