"""Representational similarity analysis: how much of its encoder's geometry a fine-tuned model keeps.

in   activations of the same sampled tokens in a fine-tuned model and in its encoder
out  analysis/rsa/<model>/<dataset>-<split>/similarity.parquet  model, text (dataset-split), layer, sample, n_tokens,
                                                                n_examples, similarity (1: unchanged)
     analysis/rsa/<model>/<dataset>-<split>.first/similarity.parquet  the same, of the first texts of pairs alone
how  cosines of all pairs of tokens in both spaces; Pearson's correlation of the two, by layer. One job per model and
     text, as the process starts in half a second
"""

from workflow.lib.base.digests import digest_of
from workflow.lib.base.machine import growing


rule rsa:
    """Compare a fine-tuned model with its encoder in all layers."""
    input:
        activations=lambda w: PLAN.activations("rsa")(f"{w.encoder}/{w.adapted}/{w.text}"),
    output:
        "<results>/analysis/rsa/{encoder}/{adapted}/{text}/similarity.parquet",
    log:
        "<results>/logs/rsa/{encoder}/{adapted}/{text}.log",
    benchmark:
        "<results>/benchmarks/rsa/{encoder}/{adapted}/{text}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=30,
    params:
        settings={key: config["rsa"][key] for key in ("tokens", "samples", "per_example")},
        seed=config["seed"],
        modules=digest_of("scripts/rsa.py"),
    script:
        "../scripts/rsa.py"
