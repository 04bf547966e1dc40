"""Encoders before any fine-tuning ("Base" in the papers), each a folder in Hugging Face's format.

in   the encoders that come with the workflow, a text dataset to pre-train on, a Hub id with a revision, or a folder
out  encoders/<name>.<seed>/: config.json, model.safetensors, tokenizer.json (history.parquet if trained here)
how  WordPiece tokenizer, masked-language modelling and next-sentence prediction; or fetch; or random weights (control)
"""

from workflow.lib.base.digests import digest_of
from workflow.lib.base.names import data_file
from workflow.lib.encoders.requests import encoders_from, fetched, folder_files, shape
from workflow.lib.encoders.shipped import shipped_files

CORPUS, HELD_OUT = (
    data_file(f"{config['pretraining']['dataset']}/{config['pretraining'][split]}")
    for split in ("split", "held_out")
)


rule train_tokenizer:
    """Train the WordPiece tokenizer that all encoders pre-trained here share."""
    input:
        CORPUS,
    output:
        directory("<results>/tokenizer"),
    log:
        "<results>/logs/tokenizer.log",
    benchmark:
        "<results>/benchmarks/tokenizer.tsv"
    priority: 10
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=lambda w, attempt: 4000 * 2 ** (attempt - 1),
        runtime=lambda w, attempt: 30 * 2 ** (attempt - 1),
    params:
        vocab_size=config["pretraining"]["vocab_size"],
        max_tokens=config["pretraining"]["max_tokens"],
        modules=digest_of("scripts/train_tokenizer.py"),
    script:
        "../scripts/train_tokenizer.py"


rule pretrain_encoder:
    """Pre-train a BERT of the given size from scratch."""
    input:
        data=CORPUS,
        held_out=HELD_OUT,
        tokenizer="<results>/tokenizer",
    output:
        directory("<results>/encoders/{name}.{seed}"),
    log:
        "<results>/logs/encoders/{name}.{seed}.log",
    benchmark:
        "<results>/benchmarks/encoders/{name}.{seed}.tsv"
    wildcard_constraints:
        name=encoders_from(config, "pretrain"),
        seed=r"\d+",
    # the longest jobs, on which everything else depends
    priority: 10
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=config["gpu"],
        mem_mb=lambda w, attempt: 8000 * 2 ** (attempt - 1),
        runtime=1440,
    params:
        shape=lambda w: shape(config, w.name),
        settings=config["pretraining"],
        modules=digest_of("scripts/pretrain_encoder.py"),
    script:
        "../scripts/pretrain_encoder.py"


rule unpack_encoder:
    """Unpack an encoder that comes with the workflow, and check it against the record of its training."""
    input:
        lambda w: shipped_files(f"{w.name}.{w.seed}"),
    output:
        directory("<results>/encoders/{name}.{seed}"),
    log:
        "<results>/logs/encoders/{name}.{seed}.log",
    benchmark:
        "<results>/benchmarks/encoders/{name}.{seed}.tsv"
    wildcard_constraints:
        name=encoders_from(config, "shipped"),
        seed=r"\d+",
    priority: 10
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        modules=digest_of("scripts/unpack_encoder.py"),
    script:
        "../scripts/unpack_encoder.py"


rule fetch_encoder:
    """Fetch an encoder from the Hub or from a local folder, and check that it loads."""
    input:
        lambda w: folder_files(config, w.name),
    output:
        directory("<results>/encoders/{name}.{seed}"),
    log:
        "<results>/logs/encoders/{name}.{seed}.log",
    benchmark:
        "<results>/benchmarks/encoders/{name}.{seed}.tsv"
    wildcard_constraints:
        name=encoders_from(config, "hub", "folder"),
        seed=r"\d+",
    priority: 10
    retries: 2
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        encoder=lambda w: fetched(config, w.name),
        modules=digest_of("scripts/fetch_encoder.py"),
    script:
        "../scripts/fetch_encoder.py"


rule randomise_encoder:
    """Make an untrained encoder of the same shape, as a control."""
    input:
        lambda w: f"<results>/encoders/{config['encoders'][w.name]['like']}.{w.seed}",
    output:
        directory("<results>/encoders/{name}.{seed}"),
    log:
        "<results>/logs/encoders/{name}.{seed}.log",
    benchmark:
        "<results>/benchmarks/encoders/{name}.{seed}.tsv"
    wildcard_constraints:
        name=encoders_from(config, "random"),
        seed=r"\d+",
    # as the models that it becomes
    priority: 5
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        modules=digest_of("scripts/randomise_encoder.py"),
    script:
        "../scripts/randomise_encoder.py"
