list(APPEND predict_sources neighbours.c)
