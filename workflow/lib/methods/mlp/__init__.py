"""The classifier probe: a grid of networks with two hidden layers; the best one is retrained with several seeds."""
