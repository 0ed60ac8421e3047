acq_test(store_reader SOURCES unit/store_reader.c unit/store_case.c USES store)
acq_test(import_sort SOURCES unit/import_sort.c USES store)
acq_test(import_partial SOURCES unit/import_partial.c USES store)
acq_test(import_same SOURCES unit/import_same.c unit/import_case.c USES store)
