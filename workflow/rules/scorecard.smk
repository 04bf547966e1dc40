"""The scorecard: published numbers, measured numbers and the papers' claims side by side.

in   analysis tables, published numbers (workflow/papers/<paper>/published.csv)
out  scorecard/<paper>.measured.parquet, scorecard/<paper>.claims.parquet; scorecard.md and scorecard.csv
how  each paper's measured.py names measured numbers like the published ones and judges the claims; then all are joined
"""

from workflow.lib.base.digests import digest_of


rule score:
    """Collect a paper's measured numbers and judge its claims."""
    input:
        unpack(lambda w: PLAN.papers[w.paper].plan.scored(config).inputs),
        statements=lambda w: PLAN.papers[w.paper].claims or [],
    output:
        measured="<results>/scorecard/{paper}.measured.parquet",
        claims="<results>/scorecard/{paper}.claims.parquet",
    log:
        "<results>/logs/scorecard/{paper}.log",
    benchmark:
        "<results>/benchmarks/scorecard/{paper}.tsv"
    priority: 8
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        settings=lambda w: PLAN.papers[w.paper].plan.scored(config).settings,
        modules=lambda w: digest_of(f"papers/{w.paper}/measured.py"),
    script:
        "../papers/{wildcards.paper}/measured.py"


rule scorecard:
    """Write the scorecard of all papers."""
    input:
        published=PLAN.published(),
        measured=PLAN.scores("measured"),
        claims=PLAN.scores("claims"),
        metrics=PLAN.metrics(*PLAN.scored),
    output:
        md="<results>/scorecard.md",
        csv=report(
            "<results>/scorecard.csv",
            category="scorecard",
            caption="../report/scorecard.rst",
            labels={"what": "published and measured numbers"},
        ),
    log:
        "<results>/logs/scorecard/all.log",
    benchmark:
        "<results>/benchmarks/scorecard/all.tsv"
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        run=config["run"],
        # by a function: Snakemake looks for wildcards in plain texts, and a note may have braces
        notes=lambda w: PLAN.notes(),
        unmeasured=PLAN.unmeasured(),
        comparable=PLAN.comparable(),
        models={key: PLAN.items_of("finetune_model", key) for key in PLAN.scored},
        modules=digest_of("scripts/scorecard.py"),
    script:
        "../scripts/scorecard.py"
