list(APPEND train_sources nbfnet.c nbfnet_batch.c nbfnet_gradient.c nbfnet_loss.c)
