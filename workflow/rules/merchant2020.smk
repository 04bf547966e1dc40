"""Figures and tables of Merchant et al. 2020, "What Happens To BERT Embeddings During Fine-tuning?".

in   analysis tables: edge probes, description lengths, structural probes, RSA; scores of freezing and truncation sweeps
out  figures/merchant2020/<id>.{pdf,png}, tables/merchant2020/<id>.{csv,md}
how  one script per kind of artifact
"""


rule plot_merchant2020:
    """The figures; some are one script with other settings."""
    input:
        unpack(lambda w: merchant_inputs(w.id)),
    output:
        pdf=report(
            "<results>/figures/merchant2020/{id}.pdf",
            category="merchant2020",
            caption="../report/merchant2020.rst",
            labels={"artifact": "{id}"},
        ),
        png="<results>/figures/merchant2020/{id}.png",
    log:
        "<results>/logs/merchant2020/{id}.log",
    benchmark:
        "<results>/benchmarks/merchant2020/{id}.tsv"
    wildcard_constraints:
        id=r"fig\d+",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        script=lambda w: merchant_script(w.id),
        settings=lambda w: merchant_parameters(w.id),
        modules=lambda w: digest_of(f"merchant2020/{merchant_script(w.id)}.py"),
    script:
        "../scripts/merchant2020/{params.script}.py"


rule tabulate_merchant2020:
    """The tables, for machines (CSV) and for readers (Markdown)."""
    input:
        unpack(lambda w: merchant_inputs(w.id)),
    output:
        csv=report(
            "<results>/tables/merchant2020/{id}.csv",
            category="merchant2020",
            caption="../report/merchant2020.rst",
            labels={"artifact": "{id}"},
        ),
        md="<results>/tables/merchant2020/{id}.md",
    log:
        "<results>/logs/merchant2020/{id}.log",
    benchmark:
        "<results>/benchmarks/merchant2020/{id}.tsv"
    wildcard_constraints:
        id="table1|table_top|mdl",
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        script=lambda w: merchant_script(w.id),
        settings=lambda w: merchant_parameters(w.id),
        modules=lambda w: digest_of(f"merchant2020/{merchant_script(w.id)}.py"),
    script:
        "../scripts/merchant2020/{params.script}.py"
