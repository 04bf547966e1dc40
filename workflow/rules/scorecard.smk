"""The scorecard: published numbers, measured numbers and the papers' claims side by side.

in   analysis tables, published numbers (config/published)
out  scorecard/<paper>.measured.parquet, scorecard/<paper>.claims.parquet; scorecard.md and scorecard.csv;
     tables/beyond/pretraining_gain
how  each paper's script names its measured numbers like the published ones and weighs its claims; then all are joined
"""


rule score_matton2019:
    """matton2019: measured numbers and claims."""
    input:
        metrics=metrics_of(matton_models("tuned")),
        greedy=analysis_of(
            matton_models("pretrained") + matton_models("tuned"), "neurons", "greedy"
        ),
        alone=analysis_of(matton_models("tuned"), "neurons", "alone"),
        accuracy=analysis_of(
            matton_models("pretrained") + matton_models("tuned"), "pca", "accuracy"
        ),
        variance=analysis_of(
            matton_models("pretrained") + matton_models("tuned"), "pca", "variance"
        ),
        samples=analysis_of(matton_models("pretrained"), "pca", "samples"),
        sizes="<results>/tables/matton2019/table1.csv",
    output:
        measured="<results>/scorecard/matton2019.measured.parquet",
        claims="<results>/scorecard/matton2019.claims.parquet",
    log:
        "<results>/logs/scorecard/matton2019.log",
    benchmark:
        "<results>/benchmarks/scorecard/matton2019.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        tasks=config["matton2019"]["tasks"],
        modules=digest_of("scorecard/matton2019.py"),
    script:
        "../scripts/scorecard/matton2019.py"


rule score_merchant2020:
    """merchant2020: measured numbers and claims."""
    input:
        edges=merchant_inputs("table1")["scores"],
        mdl=merchant_inputs("mdl")["codelength"],
        structural=merchant_inputs("fig1")["scores"],
        rsa=merchant_inputs("fig2")["similarity"],
        metrics=merchant_inputs("fig3")["metrics"],
        sweeps=merchant_inputs("fig3")["sweeps"],
        labelled=[data_file(in_domain_place(task)) for task in merchant_labelled()],
    output:
        measured="<results>/scorecard/merchant2020.measured.parquet",
        claims="<results>/scorecard/merchant2020.claims.parquet",
    log:
        "<results>/logs/scorecard/merchant2020.log",
    benchmark:
        "<results>/benchmarks/scorecard/merchant2020.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        settings=merchant_scored(),
        modules=digest_of("scorecard/merchant2020.py"),
    script:
        "../scripts/scorecard/merchant2020.py"


rule score_singh2020:
    """singh2020: measured numbers and claims."""
    input:
        sweeps=singh_sweeps(singh_tasks()),
        distances=singh_sweeps(singh_tasks(), ".distances"),
        probes=singh_probes(),
        sizes="<results>/tables/singh2020/table1.csv",
    output:
        measured="<results>/scorecard/singh2020.measured.parquet",
        claims="<results>/scorecard/singh2020.claims.parquet",
    log:
        "<results>/logs/scorecard/singh2020.log",
    benchmark:
        "<results>/benchmarks/scorecard/singh2020.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        settings={
            "tasks": singh_tasks(),
            **{key: config["singh2020"][key] for key in ("initialiser", "fractions")},
        },
        modules=digest_of("scorecard/singh2020.py"),
    script:
        "../scripts/scorecard/singh2020.py"


rule score_zhou2022:
    """zhou2022: measured numbers and claims."""
    input:
        clusters=zhou_analysis("directprobe", "clusters"),
        similarity=zhou_analysis("directprobe", "similarity"),
        accuracy=zhou_analysis("mlp", "accuracy"),
        cross_distances=zhou_inputs("table5")["distances"],
        cross_accuracy=zhou_inputs("table5")["accuracy"],
        path_distances=zhou_path_inputs()["distances"],
        path_centroids=zhou_path_inputs()["centroids"],
        sizes="<results>/tables/zhou2022/table6.csv",
    output:
        measured="<results>/scorecard/zhou2022.measured.parquet",
        claims="<results>/scorecard/zhou2022.claims.parquet",
    log:
        "<results>/logs/scorecard/zhou2022.log",
    benchmark:
        "<results>/benchmarks/scorecard/zhou2022.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        settings={
            "published_as": published_as(
                config["zhou2022"]["encoders"] + [config["zhou2022"]["path_encoder"]]
            ),
            **zhou_settings(
                "tasks", "min_points", "missing_labels", "cross_tasks", "path_encoder"
            ),
        },
        modules=digest_of("scorecard/zhou2022.py"),
    script:
        "../scripts/scorecard/zhou2022.py"


rule compare_pretraining:
    """Fine-tuning from a pre-trained and from an untrained encoder, task by task."""
    input:
        metrics=metrics_of(gain_models()),
    output:
        csv=report(
            "<results>/tables/beyond/pretraining_gain.csv",
            category="beyond",
            caption="../report/scorecard.rst",
            labels={"artifact": "pretraining_gain"},
        ),
        md="<results>/tables/beyond/pretraining_gain.md",
    log:
        "<results>/logs/scorecard/pretraining_gain.log",
    benchmark:
        "<results>/benchmarks/scorecard/pretraining_gain.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        names={key: config["pretraining_gain"][key] for key in ("trained", "untrained")},
        modules=digest_of("scorecard/pretraining_gain.py"),
    script:
        "../scripts/scorecard/pretraining_gain.py"


rule scorecard:
    """All papers together."""
    input:
        published=[published(paper) for paper in PAPERS],
        measured=[f"<results>/scorecard/{paper}.measured.parquet" for paper in PAPERS],
        claims=[f"<results>/scorecard/{paper}.claims.parquet" for paper in PAPERS],
    output:
        md="<results>/scorecard.md",
        csv=report(
            "<results>/scorecard.csv",
            category="scorecard",
            caption="../report/scorecard.rst",
            labels={"artifact": "scorecard"},
        ),
    log:
        "<results>/logs/scorecard/scorecard.log",
    benchmark:
        "<results>/benchmarks/scorecard/scorecard.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        papers=PAPERS,
        run=config["run"],
        notes=notes_on_run(),
        modules=digest_of("scorecard/scorecard.py"),
    script:
        "../scripts/scorecard/scorecard.py"
