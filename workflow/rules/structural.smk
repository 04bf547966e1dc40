"""Is a sentence's tree in its words' vectors? Hewitt and Manning's structural probes (merchant2020, figure 1).

in   activations of models on the words of a treebank's train, dev and test sentences
out  analysis/structural/<encoder>/<first>/scores.parquet     model, layer (0 = embeddings), probe (depth, distance), measure
                                        (spearman; root_accuracy of depth, uuas of distance), value, rank, epochs,
                                        n_sentences (that the value is over)
     analysis/structural/<encoder>/<first>/by_length.parquet  model, layer, probe, length (words), n_sentences, spearman
how  a linear map per layer and probe, trained for squared norms to be depths in the tree and squared distances to be
     distances in it; all layers that fit in memory are trained in one pass over the data; scored on test; a job has the
     models whose activations stand in one folder, one after the other (activations.models_per_job)
"""


rule structural_probe:
    """Train depth and distance probes on all layers of models and score them."""
    input:
        activations="<results>/activations/{encoder}/merchant2020/{first}",
        train=lambda w: data_file(structural_places()[0]),
        dev=lambda w: data_file(structural_places()[1]),
        test=lambda w: data_file(structural_places()[2]),
    output:
        scores="<results>/analysis/structural/{encoder}/{first}/scores.parquet",
        by_length="<results>/analysis/structural/{encoder}/{first}/by_length.parquet",
    log:
        "<results>/logs/structural/{encoder}/{first}.log",
    benchmark:
        "<results>/benchmarks/structural/{encoder}/{first}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=growing(6000),
        runtime=480,
    params:
        models=probed_in,
        folders=lambda w: dict(zip(("train", "dev", "test"), map(folder_name, structural_places()))),
        settings=lambda w: {
            key: value
            for key, value in merchant_settings("structural").items()
            if key != "dataset"
        },
        seed=config["seed"],
        modules=digest_of("structural/probe.py"),
    script:
        "../scripts/structural/probe.py"
