"""Edge probing, and description length with the same probes.

in   activations of the tokens inside spans, of a model on a dataset of spans: train, dev and test
out  analysis/edges/<model>/<dataset>/scores.parquet  model, task, input (mix, top, lexical), f1, f1_positive_only,
             precision, recall, f1_no_other, n_targets, n_labels, dev_f1, epochs (until the best), seed
     analysis/description_length/<model>/<dataset>/codelength.parquet  model, task, part (portion, total), start, end
             (sentences), n_merged, n_targets, bits, epochs, uniform_bits, compression, n_labels, seed
how  span pooling and a small network on frozen vectors, the best on dev is tested; for description length the probe is
     trained on growing portions of the split `description_length.coded`, and the next portion's labels are coded with it.
     Probes of models that share a job are trained side by side as far as memory allows
"""

from workflow.lib.base.digests import digest_of

for job in PLAN.jobs("edges"):

    rule:
        """Train and test edge probes."""
        name:
            job.name
        input:
            activations=job.inputs(PLAN.activations("edges")),
            data=job.inputs(PLAN.labels("edges")),
        output:
            job.files("<results>/analysis/edges/{encoder}/{item}/scores.parquet"),
        log:
            job.log("<results>/logs/edges/{encoder}/{item}.log"),
        benchmark:
            job.log("<results>/benchmarks/edges/{encoder}/{item}.tsv")
        priority: PLAN.priority("edges")
        conda:
            "../../envs/environment.yaml"
        resources:
            gpu=config["gpu"],
            mem_mb=COSTS.memory("edges", job.of),
            disk_mb=COSTS.disk("edges", job.of),
            runtime=COSTS.minutes("edges", job.of),
        params:
            work=job.params(PLAN.cache_items("edges")),
            settings=config["edges"],
            seed=config["seed"],
            modules=digest_of("scripts/edges.py"),
        script:
            "../scripts/edges.py"


for job in PLAN.jobs("description_length"):

    rule:
        """Code the labels of a dataset portion by portion, given a model's vectors."""
        name:
            job.name
        input:
            activations=job.inputs(PLAN.activations("description_length")),
            data=job.inputs(PLAN.labels("description_length")),
        output:
            job.files("<results>/analysis/description_length/{encoder}/{item}/codelength.parquet"),
        log:
            job.log("<results>/logs/description_length/{encoder}/{item}.log"),
        benchmark:
            job.log("<results>/benchmarks/description_length/{encoder}/{item}.tsv")
        priority: PLAN.priority("description_length")
        conda:
            "../../envs/environment.yaml"
        resources:
            gpu=config["gpu"],
            mem_mb=COSTS.memory("description_length", job.of),
            disk_mb=COSTS.disk("description_length", job.of),
            runtime=COSTS.minutes("description_length", job.of),
        params:
            work=job.params(PLAN.cache_items("description_length")),
            # the edge probe's settings, overridden by its own section; portions are small, whatever the dataset
            settings=config["edges"] | config["description_length"] | {"for_dataset": {}},
            seed=config["seed"],
            modules=digest_of("scripts/description_length.py"),
        script:
            "../scripts/description_length.py"
