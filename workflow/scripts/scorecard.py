"""Published numbers, measured numbers and claims side by side."""

import pandas as pd

# Differences that a faithful full-scale run may show, by artifact, or by artifact and series (or x) if they differ. For
# matton2019's table 2, section 3.1.2 and figure 4 they were set with the paper in hand; the others are our own choice.
TOLERANCES = {
    ("matton2019", "table2"): 0.7,
    ("matton2019", "table2", "dbpedia"): 0.15,
    ("matton2019", "table3"): 2.0,
    ("matton2019", "section3.1.2", "imdb"): 0.3,
    ("matton2019", "section3.1.2", "ag_news"): 0.8,
    ("matton2019", "section3.1.2", "dbpedia"): 2.0,
    ("matton2019", "fig4"): 0.25,
    ("matton2019", "fig4", "last_leading_ratio_above_1"): 1.0,
    ("matton2019", "table1"): 0.0,
    ("matton2019", "fig6", "share_of_neurons_above_0.93"): 0.05,
    ("matton2019", "fig6", "count_of_neurons_above_0.936"): 0.5,
    # the paper's own spread over pre-trainings, and what its two figures of one quantity differ by
    ("merchant2020", "table1"): 2.0,
    # most published differences are smaller than 2, so that a model which changed nothing would pass
    ("merchant2020", "table1", "mnli_delta"): 1.0,
    ("merchant2020", "table1", "squad_delta"): 1.0,
    ("merchant2020", "table1", "dep_delta"): 1.0,
    ("merchant2020", "section3"): 1.5,
    ("merchant2020", "section3", "dep"): float("nan"),  # LAS 96.3 is out of reach of any known parser on EWT: no gate
    ("merchant2020", "section5.1"): 0.05,
    ("merchant2020", "fig1_depth_spearman"): 0.05,
    ("merchant2020", "fig1_distance_spearman"): 0.05,
    ("merchant2020", "fig1v1_root_accuracy"): 0.08,
    ("merchant2020", "fig1v1_uuas"): 0.08,
    ("merchant2020", "fig2_rsa"): 0.06,
    ("merchant2020", "fig3_freezing"): 0.03,
    ("merchant2020", "fig3_freezing", "dep"): float("nan"),
    ("merchant2020", "fig4_truncation"): 0.03,
    ("merchant2020", "fig4_truncation", "dep"): float("nan"),
    ("merchant2020", "fig5_rsa_mnli_model"): 0.08,
    ("merchant2020", "fig5_rsa_squad_model"): 0.08,
    ("zhou2022", "table5", "accuracy"): 2.0,
    ("zhou2022", "table5", "mean_increase"): 2.0,
    ("zhou2022", "table5"): 5.0,  # labels that moved apart or together
    ("zhou2022", "table6"): 0.0,
    ("zhou2022", "table7", "accuracy"): 2.0,
    ("zhou2022", "table7", "train_test_similarity"): 0.15,
    ("zhou2022", "table7", "linear"): 0.0,
    ("zhou2022", "table7", "clusters"): 2.0,
    ("zhou2022", "fig4_similarity_at_end"): 0.1,
    ("zhou2022", "fig6_min_distance"): 3.0,
}


def tolerance_of(paper: str, artifact: str, series: str, x: str = "") -> float:
    """The most special one; NaN where none is set."""
    keys = ((paper, artifact, series), (paper, artifact, x), (paper, artifact))
    return next((TOLERANCES[key] for key in keys if key in TOLERANCES), float("nan"))


def compare(published: pd.DataFrame, measured: pd.DataFrame, paper: str) -> pd.DataFrame:
    both = published.merge(measured, on=["artifact", "series", "x"], how="left")
    both.insert(0, "paper", paper)
    both["difference"] = both["measured"] - both["value"]
    both["tolerance"] = [tolerance_of(paper, *key) for key in zip(both["artifact"], both["series"], both["x"])]
    within = both["difference"].abs() <= both["tolerance"]
    both["within"] = within.map({True: "yes", False: "no"}).where(both["tolerance"].notna(), "no tolerance set")
    both["within"] = both["within"].where(both["measured"].notna(), "not measured")
    columns = ["paper", "artifact", "series", "x", "value", "measured", "sd", "n", "difference", "tolerance", "within"]
    return both.rename(columns={"value": "published"})[[name if name != "value" else "published" for name in columns]]


def number(value: float, form: str) -> str:
    return "–" if value != value else f"{value:{form}}"


def as_markdown(run: str, numbers: pd.DataFrame, claims: pd.DataFrame, notes: list[str]) -> str:
    lines = [f"# Scorecard of the run `{run}`", ""]
    lines += [f"> {note}" for note in notes] + [""]
    counts = claims["verdict"].value_counts()
    lines += [f"Claims: {', '.join(f'{count} {verdict}' for verdict, count in counts.items())}.", ""]
    lines += ["| paper | claim | verdict | evidence |", "| --- | --- | --- | --- |"]
    lines += [f"| {c.paper} | {c.statement} | **{c.verdict}** | {c.evidence} |" for c in claims.itertuples()]
    lines += ["", "| paper | artifact | series | x | published | measured | difference | within tolerance |",
              "| --- | --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for row in numbers.itertuples():
        shown = f"{number(row.measured, '.2f')}{'' if row.sd != row.sd else f' ± {row.sd:.2f}'}"
        cells = (
            row.paper,
            row.artifact,
            row.series,
            row.x,
            f"{row.published:g}",
            shown,
            number(row.difference, "+.2f"),
        )
        lines.append(f"| {' | '.join(cells)} | {row.within} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    from workflow.lib.base.files import whole_file
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import read_table

    to_rule_log(snakemake.log[0])
    papers = snakemake.params.papers
    numbers = pd.concat(
        compare(pd.read_csv(published, dtype={"x": str}), read_table(measured), paper)
        for paper, published, measured in zip(papers, snakemake.input.published, snakemake.input.measured)
    )
    claims = pd.concat([read_table(path) for path in snakemake.input.claims])
    with whole_file(snakemake.output.csv) as beside:
        numbers.to_csv(beside, index=False)
    with whole_file(snakemake.output.md) as beside:
        beside.write_text(as_markdown(snakemake.params.run, numbers, claims, snakemake.params.notes))
