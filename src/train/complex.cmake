list(APPEND train_sources complex.c complex_params.c complex_trainer.c complex_batch.c complex_tails.c
     complex_products.c complex_relations.c complex_update.c complex_checkpoint.c)
