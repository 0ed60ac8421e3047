list(APPEND predict_sources nbf/edges.c)
