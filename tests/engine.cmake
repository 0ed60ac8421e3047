acq_test(engine_ask SOURCES unit/engine_ask.c unit/answer_world.c
         USES engine search answer query predict graph base)
acq_test(engine_policy SOURCES unit/engine_policy.c unit/answer_world.c
         USES engine search answer query predict graph base)
acq_test(engine_liar SOURCES unit/engine_liar.c unit/answer_world.c
         USES engine search answer query predict graph base)
acq_test(engine_probability SOURCES unit/engine_probability.c unit/answer_world.c
         support/calibrator.c
         USES engine search answer query predict graph base)
acq_test(engine_laws SOURCES oracle/laws.c support/case.c
         USES engine calibrate search answer query predict graph base)
