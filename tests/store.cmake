acq_test(import_sort SOURCES unit/import_sort.c USES store)
acq_test(import_partial SOURCES unit/import_partial.c USES store)
