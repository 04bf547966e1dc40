"""How well does a classifier read a task off the last layer? The paper's two-layer network (zhou2022, section 3).

in   activations of a model on the training and test rows of the tasks it is probed for
out  analysis/mlp/<model>/accuracy.parquet  task, layer, first, second, alpha (the best), probe_seed, accuracy
     analysis/mlp/<model>/grid.parquet      task, layer, first, second, alpha, holdout_accuracy, epochs
how  a grid of sizes and penalties, scored on a hold-out of train; the best is trained again with several seeds
"""


rule mlp_probe:
    """Train the grid of classifiers on a model's last layer and test the best."""
    input:
        activations=lambda w: cache_of(w.model, "zhou2022"),
        data=lambda w: zhou_data(w.model),
    output:
        accuracy="<results>/analysis/mlp/{model}/accuracy.parquet",
        grid="<results>/analysis/mlp/{model}/grid.parquet",
    log:
        "<results>/logs/mlp/{model}.log",
    benchmark:
        "<results>/benchmarks/mlp/{model}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=growing(6000),
        runtime=480,
    params:
        tasks=lambda w: {task: points_of(task) for task in zhou_tasks(w.model)},
        settings={
            key.removeprefix("probe_"): value
            for key, value in config["zhou2022"].items()
            if key.startswith("probe_")
        },
        seed=config["seed"],
        modules=digest_of("mlp/probe.py"),
    script:
        "../scripts/mlp/probe.py"
