"""Sweeps: the same fine-tuning by many recipes, of which only scores and weight distances are kept.

in   encoders' folders, tasks' training and evaluation rows
out  sweeps/<encoder>/<task>.<recipe>.f<fraction>.s<seed>.scores.parquet: task, encoder, seed, fraction, recipe,
     test_<metric>, n_train, row_<outcome> (what the model answers to every test row)
     sweeps/….distances.parquet: the same keys, layer, projection, norm, distance, relative: how far blocks moved
how  each run starts from its own seed, so that the numbers do not depend on how many share a process (share.sweeps)
"""

from workflow.lib.base.digests import digest_of
from workflow.lib.base.names import data_file, encoder_folder, encoder_of, task_of
from workflow.lib.base.tasks import places_of_task
from workflow.lib.encoders.shapes import layers_of

for job in PLAN.jobs("sweep"):

    rule:
        """Fine-tune by several recipes on several fractions of the rows, one by one; no checkpoints are kept."""
        name:
            job.name
        input:
            encoders=job.inputs(lambda model: [encoder_folder(encoder_of(model))]),
            data=job.inputs(lambda model: map(data_file, places_of_task(config, task_of(model)))),
        output:
            scores=job.files("<results>/sweeps/{encoder}/{item}.scores.parquet"),
            distances=job.files("<results>/sweeps/{encoder}/{item}.distances.parquet"),
        log:
            job.log("<results>/logs/sweeps/{encoder}/{item}.log"),
        benchmark:
            job.log("<results>/benchmarks/sweeps/{encoder}/{item}.tsv")
        wildcard_constraints:
            item=r"[a-z][a-z0-9_]*\.[a-z]+(-\d+)?\.f[0-9.]+\.s\d+",
        # A job each: after models, on which others depend, but before short jobs, which fill the end. Where they share
        # a process it is the longest of all: begun last, one core would work on it while the others wait.
        priority: 9 if job.items else 3
        conda:
            "../../envs/environment.yaml"
        resources:
            gpu=config["gpu"],
            mem_mb=COSTS.memory("sweep", job.of),
            disk_mb=COSTS.disk("sweep", job.of),
            runtime=COSTS.minutes("sweep", job.of),
        params:
            settings=job.params(lambda model: PLAN.training(model, is_sweep=True)),
            weights=config["weights"],
            layers=job.params(lambda model: layers_of(config, encoder_of(model))),
            modules=digest_of("scripts/sweep.py"),
        script:
            "../scripts/sweep.py"
