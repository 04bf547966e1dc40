"""Figures and tables: one rule draws and one tabulates, for all papers.

in   analysis tables, scores of models and sweeps, as listed in the paper's plan (workflow/papers/<paper>/plan.py)
out  figures/<paper>/<id>.{pdf,png,svg} and its numbers, <id>.csv; tables/<paper>/<id>.{csv,md}
how  by the script given in the paper's artifacts.yaml; its caption goes into the report
"""

from workflow.lib.base.digests import digest_of
from workflow.lib.base.needs import picked


rule draw:
    """Draw a figure of a paper."""
    input:
        unpack(lambda w: PLAN.needs(w.paper, w.id).inputs),
        published=lambda w: PLAN.papers[w.paper].published or [],
    output:
        document=f"<results>/figures/{{paper}}/{{id}}.{config['figures']['format']}",
        png="<results>/figures/{paper}/{id}.png",
        svg=report(
            "<results>/figures/{paper}/{id}.svg",
            category="{paper}",
            caption="../report/artifact.rst",
            labels=lambda w: {"what": PLAN.artifact(w.paper, w.id)[0].title},
        ),
        numbers="<results>/figures/{paper}/{id}.csv",
    log:
        "<results>/logs/figures/{paper}/{id}.log",
    benchmark:
        "<results>/benchmarks/figures/{paper}/{id}.tsv"
    # shown as early as possible; and Snakemake checks the inputs of all waiting jobs whenever a job ends
    priority: 8
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        script=lambda w: PLAN.script(w.paper, w.id),
        settings=lambda w: PLAN.needs(w.paper, w.id).settings,
        look=picked(config["figures"], "palette", "style"),
        caption=lambda w: PLAN.caption(w.paper, w.id),
        modules=lambda w: digest_of(f"papers/{w.paper}/{PLAN.script(w.paper, w.id)}"),
    script:
        "../papers/{wildcards.paper}/{params.script}"


rule tabulate:
    """Write a table of a paper, for machines (CSV) and for readers (Markdown)."""
    input:
        unpack(lambda w: PLAN.needs(w.paper, w.id).inputs),
        published=lambda w: PLAN.papers[w.paper].published or [],
    output:
        csv=report(
            "<results>/tables/{paper}/{id}.csv",
            category="{paper}",
            caption="../report/artifact.rst",
            labels=lambda w: {"what": PLAN.artifact(w.paper, w.id)[0].title},
        ),
        md="<results>/tables/{paper}/{id}.md",
    log:
        "<results>/logs/tables/{paper}/{id}.log",
    benchmark:
        "<results>/benchmarks/tables/{paper}/{id}.tsv"
    # shown as early as possible; and Snakemake checks the inputs of all waiting jobs whenever a job ends
    priority: 8
    localrule: True
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        script=lambda w: PLAN.script(w.paper, w.id),
        settings=lambda w: PLAN.needs(w.paper, w.id).settings,
        caption=lambda w: PLAN.caption(w.paper, w.id),
        modules=lambda w: digest_of(f"papers/{w.paper}/{PLAN.script(w.paper, w.id)}"),
    script:
        "../papers/{wildcards.paper}/{params.script}"
