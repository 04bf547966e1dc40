"""The classifier probe of zhou2022: a grid of two-hidden-layer networks, the best one retrained with several seeds."""
