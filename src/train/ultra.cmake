list(APPEND train_sources subgraph.c ultra.c ultra_query.c ultra_relations.c ultra_stack.c ultra_unit.c)
