"""Activation caches: vectors of a dataset's units in a model's layers.

in   folders of encoders and of models fine-tuned from them, the datasets that analyses read
out  activations/<encoder>/<adapted>/<unit>/<dataset>-<split>/layer-<kk>.parquet: example, unit, vector;
     layer 0 = embeddings; <adapted> = pretrained, or <task>.<recipe>.f<fraction>.s<seed>; <unit> = cls, word, target
     (labelled words), sampled (tokens), sampled_first (tokens of the first text alone), span (tokens inside annotated spans)
     …/span/<text>-<split>/rows.parquet: datasets that annotate the same sentences share a cache
how  one forward pass per dataset writes the layers and units that any analysis reads, once for all papers; kinds listed
     in activations.temporary are deleted once they are read
"""

from workflow.lib.base.digests import digest_of
from workflow.lib.base.names import encoder_folder, encoder_of, model_folder, model_of
from workflow.lib.base.outputs import folder

for job in PLAN.jobs("cache_activations") + PLAN.jobs("cache_temporarily"):

    rule:
        """Run datasets through models and store their units' vectors."""
        name:
            job.name
        input:
            models=job.inputs(
                lambda item: (encoder_folder(encoder_of(item)), model_folder(model_of(item)))
            ),
            data=job.inputs(PLAN.cache_data),
        output:
            [
                folder(path, job.name.startswith("cache_temporarily"))
                for path in job.files("<results>/activations/{encoder}/{item}")
            ],
        log:
            job.log("<results>/logs/activations/{encoder}/{item}.log"),
        benchmark:
            job.log("<results>/benchmarks/activations/{encoder}/{item}.tsv")
        wildcard_constraints:
            item=PLAN.cache_pattern(),
        # before sweeps, on whose tables only figures and verdicts depend; temporary ones before other models are tuned
        priority: 6 if job.name.startswith("cache_temporarily") else 5
        conda:
            "../../envs/environment.yaml"
        resources:
            gpu=config["gpu"],
            mem_mb=COSTS.memory("cache_activations", job.of),
            disk_mb=COSTS.disk("cache_activations", job.of),
            runtime=COSTS.minutes("cache_activations", job.of),
        params:
            work=job.params(PLAN.cache_settings),
            settings={key: config["activations"][key] for key in ("batch_size", "dtype")},
            modules=digest_of("scripts/cache_activations.py"),
        script:
            "../scripts/cache_activations.py"
