"""How do labels move while a model is fine-tuned? (zhou2022, section 5)

in   activations of a model's saved steps on its training rows
out  analysis/paths/<model>/distances.parquet  task, step, layer, label_a, label_b, distance (0 = the hulls overlap)
     analysis/paths/<model>/centroids.parquet  task, step, layer, label, n_points, centroid
how  exact distances between the labels' convex hulls at every step and layer, each starting from the step before
"""


rule follow_labels:
    """Measure distances and centroids of labels at every saved step and layer."""
    input:
        activations=lambda w: cache_of(w.model, "zhou2022"),
        data=lambda w: data_file(task_places(task_of(w.model))[0]),
    output:
        distances="<results>/analysis/paths/{model}/distances.parquet",
        centroids="<results>/analysis/paths/{model}/centroids.parquet",
    log:
        "<results>/logs/paths/{model}.log",
    benchmark:
        "<results>/benchmarks/paths/{model}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=growing(6000),
        runtime=480,
    params:
        task=lambda w: task_of(w.model),
        head=lambda w: training_of(config, task_of(w.model))["head"],
        modules=digest_of("paths/follow.py"),
    script:
        "../scripts/paths/follow.py"
