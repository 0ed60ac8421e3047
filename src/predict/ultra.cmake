list(APPEND predict_sources ultra/model.c ultra/relation_graph.c)
