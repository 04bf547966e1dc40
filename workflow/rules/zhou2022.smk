"""Figures and tables of Zhou & Srikumar 2022, "A Closer Look at How Fine-tuning Changes BERT".

in   analysis tables: DirectProbe, classifier probes, paths of labels during fine-tuning
out  figures/zhou2022/<id>.{pdf,png}, tables/zhou2022/<id>.{csv,md}
how  one script per kind of artifact
"""


rule plot_zhou2022:
    """The figures; several are one script on different tasks."""
    input:
        unpack(lambda w: zhou_inputs(w.id)),
    output:
        pdf=report(
            "<results>/figures/zhou2022/{id}.pdf",
            category="zhou2022",
            caption="../report/zhou2022.rst",
            labels={"artifact": "{id}"},
        ),
        png="<results>/figures/zhou2022/{id}.png",
    log:
        "<results>/logs/zhou2022/{id}.log",
    benchmark:
        "<results>/benchmarks/zhou2022/{id}.tsv"
    wildcard_constraints:
        id=r"fig\d+",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        script=lambda w: zhou_script(w.id),
        settings=lambda w: zhou_parameters(w.id),
        modules=lambda w: digest_of(f"zhou2022/{zhou_script(w.id)}.py"),
    script:
        "../scripts/zhou2022/{params.script}.py"


rule tabulate_zhou2022:
    """The tables, for machines (CSV) and for readers (Markdown)."""
    input:
        unpack(lambda w: zhou_inputs(w.id)),
    output:
        csv=report(
            "<results>/tables/zhou2022/{id}.csv",
            category="zhou2022",
            caption="../report/zhou2022.rst",
            labels={"artifact": "{id}"},
        ),
        md="<results>/tables/zhou2022/{id}.md",
    log:
        "<results>/logs/zhou2022/{id}.log",
    benchmark:
        "<results>/benchmarks/zhou2022/{id}.tsv"
    wildcard_constraints:
        id=r"table\d",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        script=lambda w: zhou_script(w.id),
        settings=lambda w: zhou_parameters(w.id),
        modules=lambda w: digest_of(f"zhou2022/{zhou_script(w.id)}.py"),
    script:
        "../scripts/zhou2022/{params.script}.py"
