acq_test(ultra_gradient SOURCES parity/ultra_gradient.c USES train)
