"""Activation caches: what every layer of a model says of the units of datasets.

in   a model's folder, the datasets that analyses look at through it
out  activations/<model>/<unit>/<dataset>-<split>/layer-<kk>.parquet: example, unit, vector; layer 0 = embeddings
     activations/<model>/steps/<update>/layer-<kk>.parquet: the same at the saved steps, of the task's own unit and rows
how  one forward pass per dataset writes all layers; one job does all datasets of a model, because importing torch and
     loading the model cost more than a small dataset
"""


rule cache_activations:
    """Write the activations of a model, all layers, for a unit (cls, word or token)."""
    input:
        model=lambda w: model_folder(w.model),
        data=lambda w: [data_file(place) for place in inputs_of(w.model, w.unit)],
    output:
        directory("<results>/activations/{model}/{unit}"),
    log:
        "<results>/logs/activations/{model}/{unit}.log",
    benchmark:
        "<results>/benchmarks/activations/{model}/{unit}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=6000,
        runtime=240,
    params:
        settings=config["activations"],
        modules=digest_of("activations/cache.py"),
    script:
        "../scripts/activations/cache.py"


rule cache_step_activations:
    """Write the activations of a model's saved steps, all layers, for its own training rows."""
    input:
        model=lambda w: model_folder(w.model),
        data=lambda w: data_file(task_places(task_of(w.model))[0]),
    output:
        directory("<results>/activations/{model}/steps"),
    log:
        "<results>/logs/activations/{model}/steps.log",
    benchmark:
        "<results>/benchmarks/activations/{model}/steps.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=6000,
        runtime=240,
    params:
        unit=lambda w: unit_of(task_of(w.model)),
        settings=config["activations"],
        modules=digest_of("activations/cache_steps.py"),
    script:
        "../scripts/activations/cache_steps.py"
