"""Trajectories of labels during fine-tuning.

in   activations of a model's saved steps on its training rows
out  analysis/paths/<model>/<task>/distances.parquet  model, task, step, layer, label_a, label_b, distance (0 = overlap)
     analysis/paths/<model>/<task>/centroids.parquet  model, task, step, layer, label, n_points, centroid
how  exact distances between the labels' convex hulls at every step and layer, warm-started from the previous step
"""

from workflow.lib.base.digests import digest_of
from workflow.lib.costs.estimates import item_of


rule paths:
    """Measure distances and centroids of labels at every saved step and layer."""
    input:
        activations=lambda w: PLAN.activations("paths")(f"{w.encoder}/{w.adapted}/{w.task}"),
        data=lambda w: PLAN.labels("paths")(f"{w.encoder}/{w.adapted}/{w.task}"),
    output:
        distances="<results>/analysis/paths/{encoder}/{adapted}/{task}/distances.parquet",
        centroids="<results>/analysis/paths/{encoder}/{adapted}/{task}/centroids.parquet",
    log:
        "<results>/logs/paths/{encoder}/{adapted}/{task}.log",
    benchmark:
        "<results>/benchmarks/paths/{encoder}/{adapted}/{task}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: config["threads"]
    resources:
        mem_mb=COSTS.memory("paths", item_of),
        disk_mb=COSTS.disk("paths", item_of),
        runtime=COSTS.minutes("paths", item_of),
    params:
        rows=lambda w: PLAN.labelled_rows(f"{w.encoder}/{w.adapted}/{w.task}"),
        modules=digest_of("scripts/paths.py"),
    script:
        "../scripts/paths.py"
