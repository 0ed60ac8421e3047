list(APPEND predict_sources nbfnet/model.c nbfnet/packed.c nbfnet/pass.c nbfnet/forward.c
     nbfnet/backward.c nbfnet/rows.c)
