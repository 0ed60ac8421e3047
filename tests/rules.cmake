acq_test(rules_mine SOURCES unit/rules_mine.c USES predict)
acq_test(rules_shared SOURCES unit/rules_shared.c USES predict)
