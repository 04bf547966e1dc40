"""Edge probing (merchant2020, table 1 and table_top) and description length with the same probes (mdl).

in   token activations of a model on the edge-probing tasks: train, dev and test
out  analysis/edges/<model>/scores.parquet    task, input (mix, top, lexical), f1, f1_positive_only, precision, recall,
                                              f1_no_other, n_targets, n_labels, dev_f1, epochs (until the best), seed
     analysis/mdl/<model>/codelength.parquet  task, part (portion, total), start, end (sentences), n_merged, n_targets,
                                              bits, epochs, uniform_bits, compression, n_labels, seed
how  span pooling and a small network on frozen vectors, the best on dev is tested; for description length the probe is
     trained on growing portions of train, and the next portion's labels are coded with it
"""


rule edge_probe:
    """Train and test the edge probes of a model, all tasks."""
    input:
        activations=lambda w: cache_of(w.model, "merchant2020"),
        data=lambda w: edge_data(),
    output:
        "<results>/analysis/edges/{model}/scores.parquet",
    log:
        "<results>/logs/edges/{model}.log",
    benchmark:
        "<results>/benchmarks/edges/{model}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=24000,  # all layers of the tokens inside spans are held: 10 GB for BERT-base on EWT
        runtime=480,
    params:
        tasks=config["merchant2020"]["edge_tasks"],
        # layer 0 hardly changes in fine-tuning, and the paper's baseline is the encoder's
        lexical=lambda w: w.model in merchant_models("pretrained"),
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
    """Code the labels of a model's edge-probing tasks portion by portion."""
    input:
        activations=lambda w: cache_of(w.model, "merchant2020"),
        data=lambda w: edge_data(),
    output:
        "<results>/analysis/mdl/{model}/codelength.parquet",
    log:
        "<results>/logs/mdl/{model}.log",
    benchmark:
        "<results>/benchmarks/mdl/{model}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=24000,  # all layers of the tokens inside spans are held: 10 GB for BERT-base on EWT
        runtime=480,
    params:
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
