"""Sweeps: the same fine-tuning at many depths, of which only scores and distances are kept.

in   an encoder's folder, a task's training and evaluation rows
out  sweeps/<paper>/<encoder>/<task>.s<seed>/<part>.parquet: fraction, recipe, test_<metric>, n_train
     sweeps/…/<part>.distances.parquet: fraction, recipe, layer, projection, norm, distance, relative: how far blocks moved
how  the runs of a sweep, each a recipe on a share of the training rows, are dealt out to parts (sweeps.runs_per_job): all
     in one process saves the seconds of importing torch, one each spreads them over a cluster; every run starts from its
     own seed, so the numbers agree
"""


rule sweep_recipes:
    """Fine-tune by one recipe after another, on one share of the rows after another; no checkpoint stays."""
    input:
        encoder="<results>/encoders/{encoder}",
        train=lambda w: data_file(task_places(w.task)[0]),
        evaluate=lambda w: data_file(task_places(w.task)[1]),
    output:
        scores="<results>/sweeps/{paper}/{encoder}/{task}.s{seed}/{part}.parquet",
        distances="<results>/sweeps/{paper}/{encoder}/{task}.s{seed}/{part}.distances.parquet",
    log:
        "<results>/logs/sweeps/{paper}/{encoder}/{task}.s{seed}/{part}.log",
    benchmark:
        "<results>/benchmarks/sweeps/{paper}/{encoder}/{task}.s{seed}/{part}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=growing(8000),
        runtime=1440,
    params:
        runs=lambda w: sweep_parts(w.paper, w.encoder, w.task)[int(w.part)],
        distances=config["sweeps"]["distances"],
        # steps on the way would be kept by a model; a sweep keeps none
        settings=lambda w: training_of(config, w.task) | {"save_every": 0},
        layers=lambda w: layers_of(w.encoder),
        modules=digest_of("sweeps/recipes.py"),
    script:
        "../scripts/sweeps/recipes.py"
