"""How much of its encoder's geometry does a tuned model keep? Representational similarity (merchant2020, section 5.1).

in   activations of the same tokens under tuned models and under their encoder
out  analysis/rsa/<encoder>/<first>/similarity.parquet  model, place, layer, sample, n_tokens, n_examples, similarity
                                       (1: unchanged)
how  random tokens, few of each sentence; cosines of all pairs in both spaces; Pearson's correlation of the two, by layer;
     a job has the models whose activations stand in one folder (activations.models_per_job)
"""


rule rsa:
    """Compare tuned models with the encoder that they came from, all places and layers."""
    input:
        base=lambda w: cache_of(pretrained(w.encoder), "merchant2020"),
        tuned="<results>/activations/{encoder}/merchant2020/{first}",
    output:
        "<results>/analysis/rsa/{encoder}/{first}/similarity.parquet",
    log:
        "<results>/logs/rsa/{encoder}/{first}.log",
    benchmark:
        "<results>/benchmarks/rsa/{encoder}/{first}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=30,
    params:
        places=rsa_places_in,
        settings=rsa_settings(),
        seed=config["seed"],
        modules=digest_of("rsa/compare.py"),
    script:
        "../scripts/rsa/compare.py"
