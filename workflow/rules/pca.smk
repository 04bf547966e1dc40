"""How many dimensions are enough: principal components of the last layer's [CLS] vectors.

in   activations of a model: general sentences, a task's training and evaluation texts
out  analysis/pca/<model>/<task>/accuracy.parquet   model, task, series (general, in_domain, random), dimensions, draw,
                                                    accuracy, right (which test rows)
     analysis/pca/<model>/<task>/variance.parquet   model, component, explained (share of variance, general sentences)
     analysis/pca/<model>/<task>/samples.parquet    model, task, sample_size, draw, accuracy
how  PCA fitted on general sentences or on the task's own texts, or random raw dimensions; then a softmax classifier
"""

from workflow.lib.base.digests import digest_of
from workflow.lib.base.names import folder_name

for job in PLAN.jobs("pca"):

    rule:
        """Measure accuracy by retained dimensions, variance of components, and the effect of the PCA's sample size."""
        name:
            job.name
        input:
            activations=job.inputs(PLAN.activations("pca")),
            data=job.inputs(PLAN.labels("pca")),
        output:
            accuracy=job.files("<results>/analysis/pca/{encoder}/{item}/accuracy.parquet"),
            variance=job.files("<results>/analysis/pca/{encoder}/{item}/variance.parquet"),
            samples=job.files("<results>/analysis/pca/{encoder}/{item}/samples.parquet"),
        log:
            job.log("<results>/logs/pca/{encoder}/{item}.log"),
        benchmark:
            job.log("<results>/benchmarks/pca/{encoder}/{item}.tsv")
        conda:
            "../../envs/environment.yaml"
        threads: config["threads"]
        resources:
            mem_mb=COSTS.memory("pca", job.of),
            disk_mb=COSTS.disk("pca", job.of),
            runtime=COSTS.minutes("pca", job.of),
        params:
            work=job.params(PLAN.labelled_rows),
            general=folder_name(config["pca"]["general"]),
            settings={key: value for key, value in config["pca"].items() if key != "general"},
            seed=config["seed"],
            modules=digest_of("scripts/pca.py"),
        script:
            "../scripts/pca.py"
