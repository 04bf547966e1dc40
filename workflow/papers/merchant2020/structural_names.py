"""Names of figure 1's panels in published.csv, by probe and measure."""

STRUCTURAL = {
    ("depth", "spearman"): "fig1_depth_spearman", ("distance", "spearman"): "fig1_distance_spearman",
    ("depth", "root_accuracy"): "fig1v1_root_accuracy", ("distance", "uuas"): "fig1v1_uuas",
}  # fmt: skip
