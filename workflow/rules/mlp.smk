"""How well a classifier, an MLP with two hidden layers, predicts a task's labels from the last layer.

in   activations of a model on a task's training and test rows
out  analysis/mlp/<model>/<task>/accuracy.parquet  model, task, layer, first, second, alpha (the best), probe_seed,
                                                   accuracy, n_configurations, grid_stopping
     analysis/mlp/<model>/<task>/grid.parquet      model, task, layer, first, second, alpha, holdout_accuracy, epochs
how  a grid of sizes and penalties, scored on held-out training points; the best is retrained with several seeds
"""

from workflow.lib.base.digests import digest_of

for job in PLAN.jobs("mlp"):

    rule:
        """Train the grid of classifiers on a model's last layer and test the best."""
        name:
            job.name
        input:
            activations=job.inputs(PLAN.activations("mlp")),
            data=job.inputs(PLAN.labels("mlp")),
        output:
            accuracy=job.files("<results>/analysis/mlp/{encoder}/{item}/accuracy.parquet"),
            grid=job.files("<results>/analysis/mlp/{encoder}/{item}/grid.parquet"),
        log:
            job.log("<results>/logs/mlp/{encoder}/{item}.log"),
        benchmark:
            job.log("<results>/benchmarks/mlp/{encoder}/{item}.tsv")
        conda:
            "../../envs/environment.yaml"
        resources:
            gpu=config["gpu"],
            mem_mb=COSTS.memory("mlp", job.of),
            disk_mb=COSTS.disk("mlp", job.of),
            runtime=COSTS.minutes("mlp", job.of),
        params:
            work=job.params(PLAN.labelled_rows),
            settings=config["mlp"],
            seed=config["seed"],
            modules=digest_of("scripts/mlp.py"),
        script:
            "../scripts/mlp.py"
