list(APPEND predict_sources complex/model.c complex/file.c complex/rows.c)
