"""Do word vectors encode a sentence's dependency tree? Hewitt and Manning's structural probes.

in   activations of a model on the words of a treebank's train, dev and test sentences
out  analysis/structural/<model>/<treebank>/scores.parquet     model, layer (0 = embeddings), probe (depth, distance),
             measure (spearman; root_accuracy of depth, uuas of distance), value, rank, epochs, n_sentences
     analysis/structural/<model>/<treebank>/by_length.parquet  model, layer, probe, length (words), n_sentences,
             spearman
how  a linear map per layer and probe, trained so that squared norms predict depths in the tree and squared distances
     predict distances in it; all layers that fit in memory are trained in one pass over the data; scored on test
"""

from workflow.lib.base.digests import digest_of

for job in PLAN.jobs("structural"):

    rule:
        """Train depth and distance probes on all layers of a model and score them."""
        name:
            job.name
        input:
            activations=job.inputs(PLAN.activations("structural")),
            data=job.inputs(PLAN.labels("structural")),
        output:
            scores=job.files("<results>/analysis/structural/{encoder}/{item}/scores.parquet"),
            by_length=job.files("<results>/analysis/structural/{encoder}/{item}/by_length.parquet"),
        log:
            job.log("<results>/logs/structural/{encoder}/{item}.log"),
        benchmark:
            job.log("<results>/benchmarks/structural/{encoder}/{item}.tsv")
        priority: PLAN.priority("structural")
        conda:
            "../../envs/environment.yaml"
        resources:
            gpu=config["gpu"],
            mem_mb=COSTS.memory("structural", job.of),
            disk_mb=COSTS.disk("structural", job.of),
            runtime=COSTS.minutes("structural", job.of),
        params:
            work=job.of,
            settings=config["structural"],
            seed=config["seed"],
            modules=digest_of("scripts/structural.py"),
        script:
            "../scripts/structural.py"
