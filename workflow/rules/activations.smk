"""Activation caches: what every layer of a model says of the units of datasets.

in   an encoder's folder and those of the models tuned from it, the datasets that analyses look at through them
out  activations/<encoder>/<paper>/<first>/<adapted>/<unit>/<dataset>-<split>/layer-<kk>.parquet: example, unit, vector;
     layer 0 = embeddings; <adapted> = pretrained, or <task>.<recipe>.f<fraction>.s<seed>; <first> = the first of them
     activations/…/<adapted>/steps/<update>/layer-<kk>.parquet: the same at saved steps, of the task's unit and rows
how  one forward pass per dataset writes all layers; the models of an encoder are dealt out to jobs
     (activations.models_per_job): all in one process saves the seconds of importing torch, one each spreads them over a
     cluster and lets a single figure wait for its own models only; no paper waits for another's data
"""


rule cache_activations:
    """Write the activations of models, all layers, for whole texts (cls), words and tokens; also at saved steps."""
    input:
        models=lambda w: [model_folder(model) for model in cached_in(w)],
        data=cache_data,
    output:
        directory("<results>/activations/{encoder}/{paper}/{first}"),
    log:
        "<results>/logs/activations/{encoder}/{paper}/{first}.log",
    benchmark:
        "<results>/benchmarks/activations/{encoder}/{paper}/{first}.tsv"
    # before sweeps, for whose tables only drawings and verdicts wait
    priority: 5
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=growing(6000),
        runtime=240,
    params:
        plan=cache_plan,
        settings={key: config["activations"][key] for key in ("batch_size", "max_tokens", "dtype")},
        modules=digest_of("activations/cache.py"),
    script:
        "../scripts/activations/cache.py"
