"""Models: an encoder plus what a fine-tuning recipe made of it.

in   an encoder's folder, a task's training and evaluation rows
out  models/<encoder>/<task>.<recipe>.f<fraction>.s<seed>/: the tuned encoder, head.safetensors, history.parquet,
     saved steps if asked for; and beside it .metrics.parquet: train and test accuracy
how  recipes full, freeze-k, truncate-k, reinit-k, frozen; AdamW with a rate per layer; the best epoch by held-out rows
"""


rule finetune_model:
    """Fine-tune an encoder on a task by a recipe; continues after a kill."""
    input:
        encoder="<results>/encoders/{encoder}",
        train=lambda w: data_file(task_places(w.task)[0]),
        evaluate=lambda w: data_file(task_places(w.task)[1]),
    output:
        model=directory("<results>/models/{encoder}/{task}.{recipe}.f{fraction}.s{seed}"),
        metrics="<results>/models/{encoder}/{task}.{recipe}.f{fraction}.s{seed}.metrics.parquet",
    log:
        "<results>/logs/models/{encoder}/{task}.{recipe}.f{fraction}.s{seed}.log",
    benchmark:
        "<results>/benchmarks/models/{encoder}/{task}.{recipe}.f{fraction}.s{seed}.tsv"
    # before sweeps, for whose tables only drawings and verdicts wait
    priority: 5
    conda:
        "../../envs/environment.yaml"
    resources:
        gpu=GPU,
        mem_mb=growing(8000),
        runtime=720,
    params:
        settings=model_settings,
        modules=digest_of("models/finetune.py"),
    script:
        "../scripts/models/finetune.py"
