"""Sweeps: the same fine-tuning at many depths, of which only scores and distances are kept.

in   an encoder's folder, a task's training and evaluation rows
out  sweeps/<paper>/<encoder>/<task>.f<fraction>.s<seed>/<part>.parquet: recipe, test_<metric>, n_train; a row per recipe
     sweeps/…/<part>.distances.parquet: recipe, layer, projection, norm, distance, relative: how far each block moved
how  the recipes of a sweep are dealt out to parts (sweeps.recipes_per_job): all in one process saves the seconds of
     importing torch, one each spreads them over a cluster; every recipe starts from its own seed, so the numbers agree
"""


rule sweep_recipes:
    """Fine-tune by one recipe after another; no checkpoint stays."""
    input:
        encoder="<results>/encoders/{encoder}",
        train=lambda w: data_file(task_places(w.task)[0]),
        evaluate=lambda w: data_file(task_places(w.task)[1]),
    output:
        scores="<results>/sweeps/{paper}/{encoder}/{task}.f{fraction}.s{seed}/{part}.parquet",
        distances="<results>/sweeps/{paper}/{encoder}/{task}.f{fraction}.s{seed}/{part}.distances.parquet",
    log:
        "<results>/logs/sweeps/{paper}/{encoder}/{task}.f{fraction}.s{seed}/{part}.log",
    benchmark:
        "<results>/benchmarks/sweeps/{paper}/{encoder}/{task}.f{fraction}.s{seed}/{part}.tsv"
    wildcard_constraints:
        part=r"\d\d",
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=8000,
        runtime=1440,
    params:
        recipes=lambda w: sweep_parts(w.paper, w.encoder, w.task, w.fraction)[int(w.part)],
        distances=config["sweeps"]["distances"],
        # steps on the way would be kept by a model; a sweep keeps none
        settings=lambda w: training_of(config, w.task) | {"save_every": 0},
        layers=lambda w: layers_of(w.encoder),
        modules=digest_of("sweeps/recipes.py"),
    script:
        "../scripts/sweeps/recipes.py"
