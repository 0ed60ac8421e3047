list(APPEND train_sources subgraph.c)
