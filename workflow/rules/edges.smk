"""Edge probing (merchant2020, table 1 and table_top) and description length with the same probes (mdl).

in   token activations of models on the edge-probing tasks: train, dev and test
out  analysis/edges/<encoder>/<first>/scores.parquet    model, task, input (mix, top, lexical), f1, f1_positive_only, precision,
                                        recall, f1_no_other, n_targets, n_labels, dev_f1, epochs (until the best), seed
     analysis/mdl/<encoder>/<first>/codelength.parquet  model, task, part (portion, total), start, end (sentences), n_merged,
                                        n_targets, bits, epochs, uniform_bits, compression, n_labels, seed
how  span pooling and a small network on frozen vectors, the best on dev is tested; for description length the probe is
     trained on growing portions of train, and the next portion's labels are coded with it; a job has the models whose
     activations stand in one folder, side by side as far as memory goes (activations.models_per_job)
"""


rule edge_probe:
    """Train and test the edge probes of models, all tasks."""
    input:
        activations="<results>/activations/{encoder}/merchant2020/{first}",
        data=lambda w: edge_data(),
    output:
        "<results>/analysis/edges/{encoder}/{first}/scores.parquet",
    log:
        "<results>/logs/edges/{encoder}/{first}.log",
    benchmark:
        "<results>/benchmarks/edges/{encoder}/{first}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=24000,  # all layers of the tokens inside spans are held: 10 GB for BERT-base on EWT
        runtime=480,
    params:
        tasks=config["merchant2020"]["edge_tasks"],
        models=probed_in,
        # layer 0 hardly changes in fine-tuning, and the paper's baseline is the encoder's
        lexical=lambda w: [m for m in probed_in(w) if m in merchant_models("pretrained")],
        settings={
            key.removeprefix("edge_"): value
            for key, value in config["merchant2020"].items()
            if key.startswith("edge_") and key != "edge_tasks"
        },
        seed=config["seed"],
        modules=digest_of("edges/probe.py"),
    script:
        "../scripts/edges/probe.py"


rule description_length:
    """Code the labels of edge-probing tasks portion by portion, as models see their sentences."""
    input:
        activations="<results>/activations/{encoder}/merchant2020/{first}",
        data=lambda w: edge_data(),
    output:
        "<results>/analysis/mdl/{encoder}/{first}/codelength.parquet",
    log:
        "<results>/logs/mdl/{encoder}/{first}.log",
    benchmark:
        "<results>/benchmarks/mdl/{encoder}/{first}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=24000,  # all layers of the tokens inside spans are held: 10 GB for BERT-base on EWT
        runtime=480,
    params:
        models=probed_in,
        tasks=config["merchant2020"]["edge_tasks"],
        portions=config["merchant2020"]["mdl_portions"],
        shuffle_seed=config["merchant2020"]["mdl_seed"],
        # the edge probe, except where the section says otherwise (mdl_patience and the like)
        settings={
            key.removeprefix(prefix): value
            for prefix in ("edge_", "mdl_")
            for key, value in config["merchant2020"].items()
            if key.startswith(prefix) and key not in ("edge_tasks", "mdl_portions", "mdl_seed")
        },
        seed=config["seed"],
        modules=digest_of("edges/description_length.py"),
    script:
        "../scripts/edges/description_length.py"
