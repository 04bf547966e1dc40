"""A classifier probe: a grid of two-hidden-layer networks, the best one retrained with several seeds."""
