"""Models: encoders fine-tuned on a task by a recipe.

in   encoders' folders, a task's training and evaluation rows
out  models/<encoder>/<task>.<recipe>.f<fraction>.s<seed>/: the tuned encoder, head.safetensors, history.parquet;
     and beside it .metrics.parquet: train_<metric>, test_<metric> (also_<metric> of a second split), row_<outcome>:
     what the model answers to every test row
     activations/<model>/steps/<update>/layer-<kk>.parquet: vectors of its training rows while it is tuned, if an
     analysis follows it (else empty)
     models/<encoder>/<name>.given/ of a model that somebody else tuned, and .given.distances.parquet beside it
how  recipes full, freeze-k, truncate-k, reinit-k, nearzero-k, frozen; AdamW with a learning rate per layer; the best
     epoch by held-out rows, or the last
"""

from workflow.lib.base.digests import digest_of
from workflow.lib.base.names import encoder_folder, encoder_of
from workflow.lib.base.outputs import folder
from workflow.lib.base.paths import local
from workflow.lib.encoders.requests import files_in

for job in PLAN.jobs("finetune_model"):

    rule:
        """Fine-tune encoders on tasks by recipes; resumes after a kill."""
        name:
            job.name
        input:
            encoders=job.inputs(lambda model: [encoder_folder(encoder_of(model))]),
            data=job.inputs(PLAN.training_data),
        output:
            models=[directory(path) for path in job.files("<results>/models/{encoder}/{item}")],
            metrics=job.files("<results>/models/{encoder}/{item}.metrics.parquet"),
            steps=[
                folder(path, "steps" in config["activations"]["temporary"])
                for path in job.files("<results>/activations/{encoder}/{item}/steps", PLAN.tracked)
            ],
        log:
            job.log("<results>/logs/models/{encoder}/{item}.log"),
        benchmark:
            job.log("<results>/benchmarks/models/{encoder}/{item}.tsv")
        wildcard_constraints:
            item=r"[a-z][a-z0-9_]*\.[a-z]+(-\d+)?\.f[0-9.]+\.s\d+",
        # before sweeps, on whose tables only figures and verdicts depend
        priority: 5
        conda:
            "../../envs/environment.yaml"
        resources:
            gpu=config["gpu"],
            mem_mb=COSTS.memory("finetune_model", job.of),
            disk_mb=COSTS.disk("finetune_model", job.of),
            runtime=COSTS.minutes("finetune_model", job.of),
        params:
            settings=job.params(PLAN.training),
            steps=job.params(PLAN.steps),
            modules=digest_of("scripts/finetune_model.py"),
        script:
            "../scripts/finetune_model.py"


rule take_model:
    """Take a model that somebody else tuned (`tuned` in the config), and compare its weights with its encoder's."""
    input:
        encoder="<results>/encoders/{encoder}",
        files=lambda w: files_in(config["tuned"][w.name]["path"]),
    output:
        model=directory("<results>/models/{encoder}/{name}.given"),
        distances="<results>/models/{encoder}/{name}.given.distances.parquet",
    log:
        "<results>/logs/models/{encoder}/{name}.given.log",
    benchmark:
        "<results>/benchmarks/models/{encoder}/{name}.given.tsv"
    wildcard_constraints:
        name="|".join(config["tuned"]) or "none",
    priority: 10
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=8000,
        runtime=60,
    params:
        model="{encoder}/{name}.given",
        path=lambda w: str(local(config["tuned"][w.name]["path"])),
        weights=config["weights"],
        modules=digest_of("scripts/take_model.py"),
    script:
        "../scripts/take_model.py"
