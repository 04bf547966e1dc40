"""Encoders before any fine-tuning ("Base" in the papers), each a folder in Hugging Face's format.

in   a text dataset to pre-train on, or a Hub id with a revision, or a local folder
out  encoders/<name>.<seed>/: config.json, model.safetensors, tokenizer.json (history.parquet if trained here)
how  WordPiece tokenizer, masked-language modelling and next-sentence prediction; or fetch; or random weights (control)
"""


rule train_tokenizer:
    """Train the WordPiece tokenizer that all encoders pre-trained here share."""
    input:
        data_file(f"{config['pretraining']['dataset']}/{config['pretraining']['split']}"),
    output:
        directory("<results>/tokenizer"),
    log:
        "<results>/logs/tokenizer.log",
    benchmark:
        "<results>/benchmarks/tokenizer.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        vocab_size=config["pretraining"]["vocab_size"],
        max_tokens=config["pretraining"]["max_tokens"],
        modules=digest_of("encoders/tokenizer.py"),
    script:
        "../scripts/encoders/tokenizer.py"


rule pretrain_encoder:
    """Pre-train a BERT of the asked size from scratch."""
    input:
        data=data_file(f"{config['pretraining']['dataset']}/{config['pretraining']['split']}"),
        tokenizer="<results>/tokenizer",
    output:
        directory("<results>/encoders/{name}.{seed}"),
    log:
        "<results>/logs/encoders/{name}.{seed}.log",
    benchmark:
        "<results>/benchmarks/encoders/{name}.{seed}.tsv"
    wildcard_constraints:
        name="|".join(is_source("pretrain")) or "none",
    # the longest jobs, and all else waits for them
    priority: 10
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=8000,
        runtime=1440,
    params:
        shape=lambda w: {
            k: v for k, v in config["encoders"][w.name].items() if k not in ("source", "seeds")
        },
        settings=config["pretraining"],
        modules=digest_of("encoders/pretrain.py"),
    script:
        "../scripts/encoders/pretrain.py"


rule fetch_encoder:
    """Bring in an encoder from the Hub (pinned revision) or from a local folder, and check that it loads."""
    input:
        lambda w: folder_files(w.name),
    output:
        directory("<results>/encoders/{name}.{seed}"),
    log:
        "<results>/logs/encoders/{name}.{seed}.log",
    benchmark:
        "<results>/benchmarks/encoders/{name}.{seed}.tsv"
    wildcard_constraints:
        name="|".join(is_source("hub") + is_source("folder")) or "none",
    priority: 10
    retries: 2
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=4000,
        runtime=60,
    params:
        # not its note or seeds: a word about an encoder must not fetch it again
        encoder=lambda w: {
            k: config["encoders"][w.name][k]
            for k in ("id", "revision", "path")
            if k in config["encoders"][w.name]
        },
        modules=digest_of("encoders/fetch.py"),
    script:
        "../scripts/encoders/fetch.py"


rule randomise_encoder:
    """Draw fresh weights for an encoder's shape: the control that was never pre-trained."""
    input:
        lambda w: f"<results>/encoders/{config['encoders'][w.name]['like']}.{w.seed}",
    output:
        directory("<results>/encoders/{name}.{seed}"),
    log:
        "<results>/logs/encoders/{name}.{seed}.log",
    benchmark:
        "<results>/benchmarks/encoders/{name}.{seed}.tsv"
    wildcard_constraints:
        name="|".join(is_source("random")) or "none",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=4000,
        runtime=10,
    params:
        modules=digest_of("encoders/randomise.py"),
    script:
        "../scripts/encoders/randomise.py"


localrules:
    fetch_encoder,
