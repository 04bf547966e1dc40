"""DirectProbe (Zhou & Srikumar 2021), on exact distances between convex hulls."""

from workflow.lib.methods.directprobe.clustering import Clusters, probe
from workflow.lib.methods.directprobe.hulls import Gap, hull_distance, one_blas_thread, separation
from workflow.lib.methods.directprobe.measures import cluster_distances, label_distances, nearest_clusters, predict

__all__ = [
    "Clusters",
    "Gap",
    "cluster_distances",
    "hull_distance",
    "label_distances",
    "nearest_clusters",
    "one_blas_thread",
    "predict",
    "probe",
    "separation",
]
