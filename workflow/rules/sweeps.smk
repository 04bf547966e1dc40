"""Sweeps: the same fine-tuning at many depths, of which only scores and distances are kept.

in   encoders' folders, a task's training and evaluation rows
out  sweeps/<paper>/<task>/<part>.parquet: encoder, seed, fraction, recipe, test_<metric>, n_train
     sweeps/…/<part>.distances.parquet: encoder, seed, fraction, recipe, layer, projection, norm, distance, relative: how
     far blocks moved; <part> = its first run, <encoder>.s<seed>.f<fraction>.<recipe>
how  the runs of a task's sweep, each an encoder, a seed, a share of the training rows and a recipe, are dealt out to parts
     (sweeps.runs_per_job): all in one process saves the seconds of importing torch, one each spreads them over a
     cluster; every run starts from its own seed, so the numbers agree
"""


rule sweep_recipes:
    """Fine-tune by one recipe after another, on one share of the rows after another; no checkpoint stays."""
    input:
        encoders=lambda w: [f"<results>/encoders/{encoder}" for encoder in sweep_encoders(w)],
        train=lambda w: data_file(task_places(w.task)[0]),
        evaluate=lambda w: data_file(task_places(w.task)[1]),
    output:
        scores="<results>/sweeps/{paper}/{task}/{part}.parquet",
        distances="<results>/sweeps/{paper}/{task}/{part}.distances.parquet",
    log:
        "<results>/logs/sweeps/{paper}/{task}/{part}.log",
    benchmark:
        "<results>/benchmarks/sweeps/{paper}/{task}/{part}.tsv"
    # after models, for which others wait, but before short jobs, which fill the end
    priority: 3
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=growing(8000),
        runtime=1440,
    params:
        runs=sweep_part,
        distances=config["sweeps"]["distances"],
        # steps on the way would be kept by a model; a sweep keeps none
        settings=lambda w: training_of(config, w.task) | {"save_every": 0},
        layers=lambda w: {encoder: layers_of(encoder) for encoder in sweep_encoders(w)},
        modules=digest_of("sweeps/recipes.py"),
    script:
        "../scripts/sweeps/recipes.py"
