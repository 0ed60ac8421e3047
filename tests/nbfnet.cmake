set(nbfnet_sources support/nbfnet_oracle.c support/nbfnet_case.c)
acq_test(parity_nbfnet SOURCES parity/nbfnet.c ${nbfnet_sources} USES train predict graph base)
