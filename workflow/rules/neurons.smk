"""Salient neurons: the single dimensions of the last layer's [CLS] vectors that carry a task.

in   activations of a model on a task's training and evaluation texts
out  analysis/neurons/<model>/<task>/greedy.parquet  model, task, n_classes, step (0 = all), neuron, cv_accuracy,
                                                     test_accuracy
     analysis/neurons/<model>/<task>/alone.parquet   model, task, neuron, accuracy (test, that neuron alone)
     analysis/neurons/<model>/<task>/best.parquet    model, task, label, activation (test texts, the best neuron)
how  greedy forward selection by cross-validation on train, all candidates at once; evaluated on test
"""

from workflow.lib.base.digests import digest_of

for job in PLAN.jobs("neurons"):

    rule:
        """Search for the neurons of a model that carry a task."""
        name:
            job.name
        input:
            activations=job.inputs(PLAN.activations("neurons")),
            data=job.inputs(PLAN.labels("neurons")),
        output:
            greedy=job.files("<results>/analysis/neurons/{encoder}/{item}/greedy.parquet"),
            alone=job.files("<results>/analysis/neurons/{encoder}/{item}/alone.parquet"),
            best=job.files("<results>/analysis/neurons/{encoder}/{item}/best.parquet"),
        log:
            job.log("<results>/logs/neurons/{encoder}/{item}.log"),
        benchmark:
            job.log("<results>/benchmarks/neurons/{encoder}/{item}.tsv")
        conda:
            "../../envs/environment.yaml"
        resources:
            gpu=config["gpu"],
            mem_mb=COSTS.memory("neurons", job.of),
            disk_mb=COSTS.disk("neurons", job.of),
            runtime=COSTS.minutes("neurons", job.of),
        params:
            work=job.params(PLAN.labelled_rows),
            settings=config["neurons"],
            seed=config["seed"],
            modules=digest_of("scripts/neurons.py"),
        script:
            "../scripts/neurons.py"
