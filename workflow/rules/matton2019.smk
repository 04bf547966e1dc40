"""Figures and tables of Matton & de Oliveira 2019, "Emergent Properties of Finetuned Language Representation Models".

in   analysis tables of the pre-trained and the fine-tuned models (pca, neurons), metrics of fine-tuning
out  figures/matton2019/<id>.{pdf,png}, tables/matton2019/<id>.{csv,md}
how  one script per artifact; figures 1 to 3 are one script on three tasks
"""


rule plot_matton2019_pca_curves:
    """Figures 1 to 3: accuracy against retained dimensions; one task each."""
    input:
        accuracy=analysis_of(matton_models("pretrained"), "pca", "accuracy"),
        data=lambda w: data_file(task_places(matton_task(w.number))[1]),
    output:
        pdf=report(
            "<results>/figures/matton2019/fig{number}.pdf",
            category="matton2019",
            caption="../report/matton2019.rst",
            labels={"artifact": "fig{number}"},
        ),
        png="<results>/figures/matton2019/fig{number}.png",
    log:
        "<results>/logs/matton2019/fig{number}.log",
    benchmark:
        "<results>/benchmarks/matton2019/fig{number}.tsv"
    wildcard_constraints:
        number="[123]",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        task=lambda w: matton_task(w.number),
        modules=digest_of("matton2019/pca_curves.py"),
    script:
        "../scripts/matton2019/pca_curves.py"


rule plot_matton2019:
    """The other figures."""
    input:
        unpack(lambda w: matton_inputs(w.id)),
    output:
        pdf=report(
            "<results>/figures/matton2019/{id}.pdf",
            category="matton2019",
            caption="../report/matton2019.rst",
            labels={"artifact": "{id}"},
        ),
        png="<results>/figures/matton2019/{id}.png",
    log:
        "<results>/logs/matton2019/{id}.log",
    benchmark:
        "<results>/benchmarks/matton2019/{id}.tsv"
    wildcard_constraints:
        id="fig[456]|pca_sample_size",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        settings=lambda w: matton_parameters(w.id),
        modules=lambda w: digest_of(f"matton2019/{w.id}.py"),
    script:
        "../scripts/matton2019/{wildcards.id}.py"


rule tabulate_matton2019:
    """The tables, for machines (CSV) and for readers (Markdown)."""
    input:
        unpack(lambda w: matton_inputs(w.id)),
    output:
        csv=report(
            "<results>/tables/matton2019/{id}.csv",
            category="matton2019",
            caption="../report/matton2019.rst",
            labels={"artifact": "{id}"},
        ),
        md="<results>/tables/matton2019/{id}.md",
    log:
        "<results>/logs/matton2019/{id}.log",
    benchmark:
        "<results>/benchmarks/matton2019/{id}.tsv"
    wildcard_constraints:
        id="table[123]|table_components",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        settings=lambda w: matton_parameters(w.id),
        modules=lambda w: digest_of(f"matton2019/{w.id}.py"),
    script:
        "../scripts/matton2019/{wildcards.id}.py"
