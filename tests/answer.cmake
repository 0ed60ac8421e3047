acq_test(answer_verify SOURCES unit/answer_verify.c unit/answer_world.c support/case.c
         USES calibrate answer query predict graph base)
acq_test(answer_explain SOURCES unit/answer_explain.c unit/answer_world.c
         USES calibrate answer query predict graph base)
acq_test(answer_probability SOURCES unit/answer_probability.c unit/answer_world.c
         USES calibrate answer query predict graph base)
acq_test(answer_supports SOURCES oracle/supports.c support/case.c
         USES calibrate answer query predict graph base)
acq_test(answer_worlds SOURCES oracle/worlds.c support/case.c
         USES calibrate query predict graph base)
