acq_test(base_memory SOURCES unit/base_memory.c USES base)
acq_test(base_text SOURCES unit/base_text.c USES base)
acq_test(base_run SOURCES unit/base_run.c USES base)
acq_test(base_new_file SOURCES unit/base_new_file.c USES base)
