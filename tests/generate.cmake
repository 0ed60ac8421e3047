acq_test(generate SOURCES oracle/generate.c USES eval generate)
