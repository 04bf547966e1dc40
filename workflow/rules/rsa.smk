"""Representational similarity analysis: how much of its encoder's geometry a fine-tuned model keeps.

in   activations of the same sampled tokens in a fine-tuned model and in its encoder
out  analysis/rsa/<model>/<dataset>-<split>/similarity.parquet  model, text (dataset-split), layer, sample, n_tokens,
                                                                n_examples, similarity (1: unchanged)
     analysis/rsa/<model>/<dataset>-<split>.first/similarity.parquet  the same, of the first texts of pairs alone
how  cosines of all pairs of tokens in both spaces; Pearson's correlation of the two, by layer
"""

from workflow.lib.base.digests import digest_of

for job in PLAN.jobs("rsa"):

    rule:
        """Compare fine-tuned models with their encoders in all layers."""
        name:
            job.name
        input:
            activations=job.inputs(PLAN.activations("rsa")),
        output:
            job.files("<results>/analysis/rsa/{encoder}/{item}/similarity.parquet"),
        log:
            job.log("<results>/logs/rsa/{encoder}/{item}.log"),
        benchmark:
            job.log("<results>/benchmarks/rsa/{encoder}/{item}.tsv")
        priority: PLAN.priority("rsa")
        conda:
            "../../envs/environment.yaml"
        threads: config["threads"]
        resources:
            mem_mb=COSTS.memory("rsa", job.of),
            disk_mb=COSTS.disk("rsa", job.of),
            runtime=COSTS.minutes("rsa", job.of),
        params:
            work=job.params(PLAN.cache_items("rsa")),
            settings={key: config["rsa"][key] for key in ("tokens", "samples", "per_example")},
            seed=config["seed"],
            modules=digest_of("scripts/rsa.py"),
        script:
            "../scripts/rsa.py"
