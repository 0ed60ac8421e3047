acq_test(bench_metrics SOURCES unit/bench_metrics.c USES bench)
