acq_test(oracle_exact SOURCES oracle/exact.c USES search)

# The same as in graphs with millions of entities: hash tables instead of bitmaps for scratch sets,
# and seeking in rows instead of walking along them.
file(GLOB search_sources ${PROJECT_SOURCE_DIR}/src/search/*.c
     ${PROJECT_SOURCE_DIR}/src/search/exact/*.c)
add_library(acq_search_sparse STATIC ${search_sources})
target_compile_definitions(acq_search_sparse PRIVATE ACQ_EXACT_BITMAP_ENTITIES=0
                           ACQ_EXACT_FAR=1)
target_link_libraries(acq_search_sparse PUBLIC acq_base acq_graph acq_query acq_predict)
acq_test(oracle_exact_sparse SOURCES oracle/exact.c USES search_sparse)

acq_test(search SOURCES unit/search.c USES search answer)
if(NOT ACQ_SANITIZE)
  add_test(NAME mutation COMMAND ${PROJECT_SOURCE_DIR}/tests/mutation/run ${PROJECT_BINARY_DIR} search/)
endif()
acq_test(oracle_core SOURCES oracle/core.c USES engine)
acq_test(oracle_sql SOURCES oracle/sql.c USES query predict)
target_link_libraries(test_oracle_sql PRIVATE PkgConfig::SQLITE)
