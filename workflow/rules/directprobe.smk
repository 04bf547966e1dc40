"""How do labels lie in space? DirectProbe on the last layer (zhou2022, section 3).

in   activations of a model on the training and test rows of the tasks it is probed for
out  analysis/directprobe/<model>/clusters.parquet    task, split, layer, n_points, n_labels, n_clusters, linear
     analysis/directprobe/<model>/distances.parquet   task, split, layer, label_a, label_b, distance (between label hulls)
     analysis/directprobe/<model>/similarity.parquet  task, layer, shared, zero (train against test distances, Pearson)
how  label hulls first; clusters only where these overlap; exact distances between convex hulls
"""


rule directprobe:
    """Cluster the labelled points of a model's last layer and measure the labels' distances."""
    input:
        activations=lambda w: cache_of(w.model, "zhou2022"),
        data=lambda w: zhou_data(w.model),
    output:
        clusters="<results>/analysis/directprobe/{model}/clusters.parquet",
        distances="<results>/analysis/directprobe/{model}/distances.parquet",
        similarity="<results>/analysis/directprobe/{model}/similarity.parquet",
    log:
        "<results>/logs/directprobe/{model}.log",
    benchmark:
        "<results>/benchmarks/directprobe/{model}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=growing(6000),
        runtime=480,
    params:
        tasks=lambda w: {task: points_of(task) for task in zhou_tasks(w.model)},
        settings=zhou_settings("strict_spheres"),
        modules=digest_of("directprobe/probe.py"),
    script:
        "../scripts/directprobe/probe.py"
