acq_test(import_sort SOURCES unit/import_sort.c USES store)
