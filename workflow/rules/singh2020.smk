"""Figures and table of Singh & Giovanardi 2020, "How much does pre-trained information help?".

in   scores and weight distances of re-initialisation sweeps, layer probes
out  figures/singh2020/<id>.{pdf,png}, tables/singh2020/table1.{csv,md}
how  one script per artifact
"""


rule plot_singh2020:
    """The figures, and one that sets two initialisers side by side."""
    input:
        unpack(lambda w: singh_inputs(w.id)),
    output:
        pdf=report(
            "<results>/figures/singh2020/{id}.pdf",
            category="singh2020",
            caption="../report/singh2020.rst",
            labels={"artifact": "{id}"},
        ),
        png="<results>/figures/singh2020/{id}.png",
    log:
        "<results>/logs/singh2020/{id}.log",
    benchmark:
        "<results>/benchmarks/singh2020/{id}.tsv"
    wildcard_constraints:
        id=r"fig\d|initialisers",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        settings=lambda w: singh_parameters(w.id),
        modules=lambda w: digest_of(f"singh2020/{w.id}.py"),
    script:
        "../scripts/singh2020/{wildcards.id}.py"


rule tabulate_singh2020:
    """The table, for machines (CSV) and for readers (Markdown)."""
    input:
        unpack(lambda w: singh_inputs(w.id)),
    output:
        csv=report(
            "<results>/tables/singh2020/{id}.csv",
            category="singh2020",
            caption="../report/singh2020.rst",
            labels={"artifact": "{id}"},
        ),
        md="<results>/tables/singh2020/{id}.md",
    log:
        "<results>/logs/singh2020/{id}.log",
    benchmark:
        "<results>/benchmarks/singh2020/{id}.tsv"
    wildcard_constraints:
        id="table1",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        settings=lambda w: singh_parameters(w.id),
        modules=lambda w: digest_of(f"singh2020/{w.id}.py"),
    script:
        "../scripts/singh2020/{wildcards.id}.py"
