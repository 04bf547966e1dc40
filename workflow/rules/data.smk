"""Datasets in four normalised kinds, one Parquet file per split.

in   the embedded corpus, real data from a mirror or the Hub (config/datasets.yaml), or the user's own files
out  data/<dataset>/<split>.parquet: text, qa, treebank or spans rows; labels and digest in the file's metadata
how  generate, locate and adapt, or read; every row is checked before the file appears
"""

from workflow.lib.base.digests import digest_of
from workflow.lib.data.own_files import files_of
from workflow.lib.data.requests import datasets_from, fetch_settings, own_entry


rule generate_dataset:
    """Generate a split of a stand-in dataset, without sentences of the splits before it."""
    output:
        "<results>/data/{dataset}/{split}.parquet",
    log:
        "<results>/logs/data/{dataset}/{split}.log",
    benchmark:
        "<results>/benchmarks/data/{dataset}/{split}.tsv"
    wildcard_constraints:
        dataset=datasets_from(config, "embedded"),
        split="[a-z][a-z0-9_]*",
    # models and sweeps depend on it: those that wait for one small file leave a core idle in the end
    priority: 10
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        rows=lambda w: config["datasets"][w.dataset]["rows"],
        seed=config["seed"],
        language=config["language"],
        modules=digest_of("scripts/generate_dataset.py"),
    script:
        "../scripts/generate_dataset.py"


rule fetch_dataset:
    """Read a split of a real dataset from the mirror, or download it."""
    output:
        "<results>/data/{dataset}/{split}.parquet",
    log:
        "<results>/logs/data/{dataset}/{split}.log",
    benchmark:
        "<results>/benchmarks/data/{dataset}/{split}.tsv"
    wildcard_constraints:
        dataset=datasets_from(config, "real"),
        split="[a-z][a-z0-9_]*",
    # models and sweeps depend on them
    priority: 10
    retries: 1
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        settings=lambda w: fetch_settings(config, w.dataset, w.split),
        modules=digest_of("scripts/fetch_dataset.py"),
    script:
        "../scripts/fetch_dataset.py"


rule read_own_dataset:
    """Read a split of a dataset in the user's own files (`source: file`)."""
    input:
        lambda w: files_of(config["datasets"][w.dataset]),
    output:
        "<results>/data/{dataset}/{split}.parquet",
    log:
        "<results>/logs/data/{dataset}/{split}.log",
    benchmark:
        "<results>/benchmarks/data/{dataset}/{split}.tsv"
    wildcard_constraints:
        dataset=datasets_from(config, "file"),
        split="[a-z][a-z0-9_]*",
    priority: 10
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        dataset="{dataset}",
        split="{split}",
        entry=lambda w: own_entry(config, w.dataset),
        rows=lambda w: config["datasets"][w.dataset]["rows"][w.split],
        seed=config["seed"],
        modules=digest_of("scripts/read_own_dataset.py"),
    script:
        "../scripts/read_own_dataset.py"
