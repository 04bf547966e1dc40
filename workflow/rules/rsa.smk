"""How much of its encoder's geometry does a tuned model keep? Representational similarity (merchant2020, section 5.1).

in   activations of the same tokens under a tuned model and under its encoder
out  analysis/rsa/<model>/similarity.parquet  place, layer, sample, n_tokens, n_examples, similarity (1: unchanged)
how  random tokens, few of each sentence; cosines of all pairs in both spaces; Pearson's correlation of the two, by layer
"""


rule rsa:
    """Compare a tuned model with the encoder that it came from, all places and layers."""
    input:
        base=lambda w: cache_of(pretrained(encoder_of(w.model)), "merchant2020"),
        tuned=lambda w: cache_of(w.model, "merchant2020"),
    output:
        "<results>/analysis/rsa/{model}/similarity.parquet",
    log:
        "<results>/logs/rsa/{model}.log",
    benchmark:
        "<results>/benchmarks/rsa/{model}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=30,
    params:
        places=lambda w: rsa_places(w.model),
        settings=rsa_settings(),
        seed=config["seed"],
        modules=digest_of("rsa/compare.py"),
    script:
        "../scripts/rsa/compare.py"
