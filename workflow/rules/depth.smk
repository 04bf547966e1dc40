"""Beyond the papers: where does fine-tuning act? All methods' answers on the same models.

in   activations of an encoder and of the models tuned from it, scores and weight distances of sweeps
out  analysis/depth/<model>/changes.parquet: method, layer (1..L), change
     figures/beyond/depth_of_change.{pdf,png}, tables/beyond/depth_agreement.{csv,md}
how  1 - similarity (RSA, label geometry), relative weight distance, and what freezing, keeping or redrawing each layer
     costs on top of its neighbours; drawn as shares of the largest change, compared by ranks over layers
"""


rule layer_changes:
    """What every method says of one model, layer by layer."""
    input:
        base=lambda w: cache_of(pretrained(encoder_of(w.model)), "beyond"),
        tuned=lambda w: cache_of(w.model, "beyond"),
        data=lambda w: data_file(task_places(task_of(w.model))[0]),
        sweeps=lambda w: sweep_tables("beyond", task_of(w.model)),
        distances=lambda w: sweep_tables("beyond", task_of(w.model), ".distances"),
    output:
        "<results>/analysis/depth/{model}/changes.parquet",
    log:
        "<results>/logs/depth/{model}.log",
    benchmark:
        "<results>/benchmarks/depth/{model}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=4000,
        runtime=120,
    params:
        points=lambda w: points_of(task_of(w.model)),
        general=folder_name(config["depth_of_change"]["general"]),
        rsa=rsa_settings(),
        seed=config["seed"],
        modules=digest_of("depth/changes.py"),
    script:
        "../scripts/depth/changes.py"


rule plot_depth_of_change:
    """One figure for all methods."""
    input:
        analysis_of(depth_models(), "depth", "changes"),
    output:
        pdf=report(
            "<results>/figures/beyond/depth_of_change.pdf",
            category="beyond",
            caption="../report/depth.rst",
            labels={"artifact": "depth_of_change"},
        ),
        png="<results>/figures/beyond/depth_of_change.png",
    log:
        "<results>/logs/depth/depth_of_change.log",
    benchmark:
        "<results>/benchmarks/depth/depth_of_change.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        modules=digest_of("depth/depth_of_change.py"),
    script:
        "../scripts/depth/depth_of_change.py"


rule tabulate_depth_agreement:
    """How far the methods agree."""
    input:
        analysis_of(depth_models(), "depth", "changes"),
    output:
        csv=report(
            "<results>/tables/beyond/depth_agreement.csv",
            category="beyond",
            caption="../report/depth.rst",
            labels={"artifact": "depth_agreement"},
        ),
        md="<results>/tables/beyond/depth_agreement.md",
    log:
        "<results>/logs/depth/depth_agreement.log",
    benchmark:
        "<results>/benchmarks/depth/depth_agreement.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        modules=digest_of("depth/depth_agreement.py"),
    script:
        "../scripts/depth/depth_agreement.py"
