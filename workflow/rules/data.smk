"""Datasets in four normalised kinds, one Parquet file per split.

in   the embedded corpus, or real data from a mirror or the Hub (config/datasets.yaml)
out  data/<dataset>/<split>.parquet: text, qa, treebank or spans rows; labels and digest in the file's metadata
how  generate, all splits of a dataset in one job, because each avoids the sentences of the others; or locate and adapt;
     every row is checked before the file appears
"""

for dataset in from_source("embedded"):

    rule:
        """Generate a stand-in dataset of the embedded corpus."""
        name:
            f"generate_{dataset}"
        output:
            **{
                split: data_file(f"{dataset}/{split}")
                for split in config["datasets"][dataset]["rows"]
            },
        log:
            f"<results>/logs/data/{dataset}.log",
        benchmark:
            f"<results>/benchmarks/data/{dataset}.tsv"
        localrule: True
        conda:
            "../../envs/environment.yaml"
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            dataset=dataset,
            rows=config["datasets"][dataset]["rows"],
            seed=config["seed"],
            modules=digest_of("data/generate.py"),
        script:
            "../scripts/data/generate.py"


rule fetch_dataset:
    """Read a split of a real dataset from the mirror, or download it."""
    output:
        "<results>/data/{dataset}/{split}.parquet",
    log:
        "<results>/logs/data/{dataset}/{split}.log",
    benchmark:
        "<results>/benchmarks/data/{dataset}/{split}.tsv"
    wildcard_constraints:
        dataset="|".join(from_source("real")) or "none",
    # models and sweeps wait for them
    priority: 10
    retries: 2
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        # not its note or licence: a word about a dataset must not fetch it again
        entry=lambda w: {
            key: value
            for key, value in REGISTRY[w.dataset].items()
            if key not in ("note", "licence")
        },
        dataset=lambda w: w.dataset,
        split=lambda w: w.split,
        rows=lambda w: config["datasets"][w.dataset]["rows"][w.split],
        seed=config["seed"],
        mirror=config["mirror"],
        licensed=config["licensed"],
        modules=digest_of("data/fetch.py"),
    script:
        "../scripts/data/fetch.py"


localrules:
    fetch_dataset,
