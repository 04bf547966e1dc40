"""Geometry of labels: DirectProbe on the last layer, and distances between labels in every layer.

in   activations of a model on a task's training and test rows
out  analysis/directprobe/<model>/<task>/clusters.parquet    model, task, split, layer, n_points, n_labels, floor
                                                             (clusters that remain in any case), n_clusters, linear
     analysis/directprobe/<model>/<task>/distances.parquet   model, task, split, layer, label_a, label_b, points_a,
                                                             points_b, distance
     analysis/label_distances/<model>/<task>/distances.parquet  model, task, layer (1..L), label_a, label_b, distance
                                                             (training rows)
how  label hulls first; clustering only if these overlap; exact distances between convex hulls, 0 if they overlap
"""

from workflow.lib.base.digests import digest_of
from workflow.lib.costs.estimates import item_of


rule directprobe:
    """Cluster the labelled points of a model's last layer and measure distances between labels."""
    input:
        activations=lambda w: PLAN.activations("directprobe")(f"{w.encoder}/{w.adapted}/{w.task}"),
        data=lambda w: PLAN.labels("directprobe")(f"{w.encoder}/{w.adapted}/{w.task}"),
    output:
        clusters="<results>/analysis/directprobe/{encoder}/{adapted}/{task}/clusters.parquet",
        distances="<results>/analysis/directprobe/{encoder}/{adapted}/{task}/distances.parquet",
    log:
        "<results>/logs/directprobe/{encoder}/{adapted}/{task}.log",
    benchmark:
        "<results>/benchmarks/directprobe/{encoder}/{adapted}/{task}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: config["threads"]
    resources:
        mem_mb=COSTS.memory("directprobe", item_of),
        disk_mb=COSTS.disk("directprobe", item_of),
        runtime=COSTS.minutes("directprobe", item_of),
    params:
        rows=lambda w: PLAN.labelled_rows(f"{w.encoder}/{w.adapted}/{w.task}"),
        settings=config["directprobe"],
        modules=digest_of("scripts/directprobe.py"),
    script:
        "../scripts/directprobe.py"


rule label_distances:
    """Measure the distances between a task's labels in every layer of a model."""
    input:
        activations=lambda w: PLAN.activations("label_distances")(
            f"{w.encoder}/{w.adapted}/{w.task}"
        ),
        data=lambda w: PLAN.labels("label_distances")(f"{w.encoder}/{w.adapted}/{w.task}"),
    output:
        "<results>/analysis/label_distances/{encoder}/{adapted}/{task}/distances.parquet",
    log:
        "<results>/logs/label_distances/{encoder}/{adapted}/{task}.log",
    benchmark:
        "<results>/benchmarks/label_distances/{encoder}/{adapted}/{task}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: config["threads"]
    resources:
        mem_mb=COSTS.memory("label_distances", item_of),
        disk_mb=COSTS.disk("label_distances", item_of),
        runtime=COSTS.minutes("label_distances", item_of),
    params:
        rows=lambda w: PLAN.labelled_rows(f"{w.encoder}/{w.adapted}/{w.task}"),
        modules=digest_of("scripts/label_distances.py"),
    script:
        "../scripts/label_distances.py"
