list(APPEND predict_sources boost_bins.c boost_curve.c boost_split.c boost_grow.c boost_fit.c boost_score.c
     boost_tensors.c calibrator.c completion_output.c completion_shards.c completion_stored.c
     reliability.c reliability_svg.c)
