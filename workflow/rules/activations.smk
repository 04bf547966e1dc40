"""Activation caches: what every layer of a model says of the units of datasets.

in   a model's folder, the datasets that analyses look at through it
out  activations/<model>/<paper>/<unit>/<dataset>-<split>/layer-<kk>.parquet: example, unit, vector; layer 0 = embeddings
     activations/<model>/zhou2022/steps/<update>/layer-<kk>.parquet: the same at saved steps, of the task's unit and rows
how  one forward pass per dataset writes all layers; one job does all that a paper wants of a model, because importing
     torch and loading the model cost more than a small dataset, and no more, so that no paper waits for another's data
"""


rule cache_activations:
    """Write the activations of a model, all layers, for whole texts (cls) and words, and those of its saved steps."""
    input:
        model=lambda w: model_folder(w.model),
        data=lambda w: [data_file(place) for place in all_inputs_of(w.model, w.paper)],
    output:
        directory("<results>/activations/{model}/{paper}"),
    log:
        "<results>/logs/activations/{model}/{paper}.log",
    benchmark:
        "<results>/benchmarks/activations/{model}/{paper}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=6000,
        runtime=240,
    params:
        units=lambda w: {
            unit: [folder_name(place) for place in places]
            for unit, places in inputs_of(w.model, w.paper).items()
        },
        limits=lambda w: row_limits(w.model, w.paper),
        followed=lambda w: followed_data(w.model) if w.paper == "zhou2022" else {},
        settings=config["activations"],
        modules=digest_of("activations/cache.py"),
    script:
        "../scripts/activations/cache.py"
