"""Datasets in four normalised kinds, one Parquet file per split.

in   the embedded corpus, or real data from a mirror or the Hub (config/datasets.yaml)
out  data/<dataset>/<split>.parquet: text, qa, treebank or spans rows; labels and digest in the file's metadata
how  generate, or locate and adapt; every row is checked before the file appears
"""


rule generate_dataset:
    """Generate a split of a stand-in dataset of the embedded corpus."""
    output:
        "<results>/data/{dataset}/{split}.parquet",
    log:
        "<results>/logs/data/{dataset}/{split}.log",
    benchmark:
        "<results>/benchmarks/data/{dataset}/{split}.tsv"
    wildcard_constraints:
        dataset="|".join(d for d, e in config["datasets"].items() if e["source"] == "embedded")
        or "none",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        rows=lambda w: config["datasets"][w.dataset]["rows"],
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
        dataset="|".join(d for d, e in config["datasets"].items() if e["source"] == "real")
        or "none",
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
    generate_dataset,
    fetch_dataset,
