"""What do the first k layers know of a task before any fine-tuning? Probes of [CLS] (singh2020, figures 2 and 5a).

in   activations of a model on the training and evaluation texts of the paper's tasks
out  analysis/layer_probes/<model>/scores.parquet  task, layer (0 = embeddings), training (short, converged), probe_seed
                                                   (-1: converged), accuracy, matthews, n_train
how  all layers above k are removed and the others frozen, so [CLS] at layer k is what a cached vector already is; a
     linear classifier per layer, once for the paper's few epochs at a small rate, once until it has converged
"""


rule probe_layers:
    """Train and test a classifier on every layer of a model, all tasks."""
    input:
        activations=lambda w: cache_of(w.model, "singh2020"),
        data=lambda w: singh_data(),
    output:
        "<results>/analysis/layer_probes/{model}/scores.parquet",
    log:
        "<results>/logs/layer_probes/{model}.log",
    benchmark:
        "<results>/benchmarks/layer_probes/{model}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=growing(8000),
        runtime=120,
    params:
        tasks=lambda w: {task: task_data(task) for task in singh_tasks()},
        settings={
            key.removeprefix("probe_"): value
            for key, value in config["singh2020"].items()
            if key.startswith("probe_")
        },
        seed=config["seed"],
        modules=digest_of("layer_probes/probe.py"),
    script:
        "../scripts/layer_probes/probe.py"
