"""The page: every figure, table, claim and number of a run in one HTML file that needs no network.

in   figures and tables, measured and published numbers, verdicts on claims, the benchmark files of the run
out  scorecard.html; scorecard/<paper>.html, the same of one paper; results/compare/<run>+<run>.html
how  workflow/lib/page collects and renders; its template, style and script are plain files beside it
"""

from workflow.lib.base.digests import digest_of
from workflow.lib.base.needs import picked
from workflow.lib.page.about import about_run, shown_config, files_of_runs
from workflow.lib.page.render import TEMPLATE

for only in (None, *PLAN.papers):

    rule:
        """Write the page of the run, or of one paper of it."""
        name:
            f"page_{only}" if only else "page"
        input:
            PLAN.artifact_files(only),
            published=PLAN.published(only),
            measured=PLAN.scores("measured", only),
            claims=PLAN.scores("claims", only),
            metrics=PLAN.metrics(*([only] if only else PLAN.papers)),
            template=TEMPLATE,
        output:
            report(
                f"<results>/scorecard/{only}.html" if only else "<results>/scorecard.html",
                category="scorecard",
                caption="../report/page.rst",
                labels={"what": only or "all papers"},
            ),
        log:
            f"<results>/logs/page/{only or 'all'}.log",
        benchmark:
            f"<results>/benchmarks/page/{only or 'all'}.tsv"
        priority: 8
        localrule: True
        conda:
            "../../envs/environment.yaml"
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            about=about_run(PLAN, only),
            config=shown_config(config),
            unmeasured=PLAN.unmeasured(),
            modules=digest_of("scripts/page.py"),
        script:
            "../scripts/page.py"


rule compare:
    """Set finished runs side by side: snakemake compare --config runs='[demo, mine]'."""
    input:
        TEMPLATE,
    output:
        f"results/compare/{'+'.join(config['runs']) or 'nothing'}.html",
    log:
        f"results/compare/logs/{'+'.join(config['runs']) or 'nothing'}.log",
    benchmark:
        f"results/compare/benchmarks/{'+'.join(config['runs']) or 'nothing'}.tsv"
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        runs=config["runs"],
        # no inputs: what is compared is what is there, and nothing of it is made again
        files=lambda w: files_of_runs(config["runs"]),
        look=picked(config["figures"], "palette", "style"),
        modules=digest_of("scripts/compare.py"),
    script:
        "../scripts/compare.py"
