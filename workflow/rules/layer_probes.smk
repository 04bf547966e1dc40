"""What the first k layers encode about a task before any fine-tuning: linear probes of [CLS].

in   activations of a model on a task's training and evaluation texts
out  analysis/layer_probes/<model>/<task>/scores.parquet  model, task, layer (0 = embeddings), training (short,
             converged), probe_seed (-1: converged), accuracy, matthews, n_train
how  with the layers above k removed and the others frozen, [CLS] at layer k is simply a cached vector; a linear
     classifier per layer, once with the same budget as fine-tuning, once trained to convergence
"""

from workflow.lib.base.digests import digest_of
from workflow.lib.base.names import model_folder, model_of

for job in PLAN.jobs("layer_probes"):

    rule:
        """Train and test a linear classifier on every layer of a model."""
        name:
            job.name
        input:
            activations=job.inputs(PLAN.activations("layer_probes")),
            data=job.inputs(PLAN.labels("layer_probes")),
            models=job.inputs(lambda item: [model_folder(model_of(item))]),
        output:
            job.files("<results>/analysis/layer_probes/{encoder}/{item}/scores.parquet"),
        log:
            job.log("<results>/logs/layer_probes/{encoder}/{item}.log"),
        benchmark:
            job.log("<results>/benchmarks/layer_probes/{encoder}/{item}.tsv")
        conda:
            "../../envs/environment.yaml"
        threads: config["threads"]
        resources:
            mem_mb=COSTS.memory("layer_probes", job.of),
            disk_mb=COSTS.disk("layer_probes", job.of),
            runtime=COSTS.minutes("layer_probes", job.of),
        params:
            work=job.params(PLAN.labelled_rows),
            settings=config["layer_probes"],
            seed=config["seed"],
            modules=digest_of("scripts/layer_probes.py"),
        script:
            "../scripts/layer_probes.py"
