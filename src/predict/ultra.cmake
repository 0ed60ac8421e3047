list(APPEND predict_sources ultra/model.c ultra/relation_graph.c ultra/network.c
     ultra/relation_net.c ultra/pieces.c ultra/prepared.c ultra/reach.c ultra/rows.c ultra/twins.c)
