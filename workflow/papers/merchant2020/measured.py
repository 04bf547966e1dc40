"""merchant2020's measured numbers, named like the published ones, and its claims."""

import pandas as pd

from workflow.lib.base.measured import summarised
from workflow.papers.merchant2020.chance import read_chances
from workflow.papers.merchant2020.claims import all_claims
from workflow.papers.merchant2020.edge_names import published_edge
from workflow.papers.merchant2020.numbers import (
    by_series,
    depth_curves,
    edge_deltas,
    edge_scores,
    metric_of,
    published_series,
)
from workflow.papers.merchant2020.structural_names import STRUCTURAL

# Differences that a faithful full-scale run may show: our own choice, from the paper's spread and from what it prints
# differently of one and the same quantity.
TOLERANCES = {
    # twice the paper's spread between pre-trainings (1.0 points); its fine-tuned models differ from Base by less than
    # that, so that a model which changed nothing would pass: for these the spread itself
    ("table1",): 2.0,
    ("table1", "mnli_delta"): 1.0,
    ("table1", "squad_delta"): 1.0,
    ("table1", "dep_delta"): 1.0,
    # text and figure 3 differ by 1.2 (MNLI) and 0.9 points (SQuAD) for the full models
    ("section3",): 1.5,
    ("section3", "dep"): float("nan"),  # LAS 96.3 is out of reach of any known parser on EWT: no gate
    # on general text figures 2 and 5 differ by up to 0.044; on own text the paper's error bars reach 0.08
    ("section5.1",): 0.06,
    ("fig1_depth_spearman",): 0.05,
    ("fig1_distance_spearman",): 0.05,
    ("fig1v1_root_accuracy",): 0.08,
    ("fig1v1_uuas",): 0.08,
    ("fig2_rsa",): 0.06,
    ("fig3_freezing",): 0.03,
    ("fig3_freezing", "dep"): float("nan"),
    ("fig4_truncation",): 0.03,
    ("fig4_truncation", "dep"): float("nan"),
    ("fig5_rsa_mnli_model",): 0.08,
    ("fig5_rsa_squad_model",): 0.08,
    ("fig5_rsa_mnli_model", "wikipedia"): 0.06,
    ("fig5_rsa_squad_model", "wikipedia"): 0.06,
}


def of_edges(table: pd.DataFrame, deltas: pd.DataFrame, compared: list[str]) -> list[tuple]:
    """`compared`: edge tasks whose numbers are published for the same data and encoder."""
    table, deltas = (frame[frame["task"].isin(compared)] for frame in (table, deltas))
    base = table[table["series"] == "base"]
    rows = [("table1", published_edge(row.task), "base", row.f1) for row in base.itertuples()]
    rows += [
        ("table1", published_edge(row.task), f"{published_series(row.series)}_delta", row.delta)
        for row in deltas.itertuples()
    ]
    return rows


def of_structural(structural: pd.DataFrame) -> list[tuple]:
    """The paper counts blocks from 0; its embeddings are not shown."""
    return [
        (STRUCTURAL[row.probe, row.measure], published_series(row.series), str(row.layer - 1), row.value)
        for row in structural[structural["layer"] > 0].itertuples()
        if (row.probe, row.measure) in STRUCTURAL
    ]


def of_similarity(similarity: pd.DataFrame, settings: dict) -> list[tuple]:
    rows = []
    shown = similarity[similarity["layer"] > 0]
    shown = shown.groupby(["series", "text", "encoder", "seed", "layer"])["similarity"].mean().reset_index()
    for row in shown.itertuples():
        if row.text == settings["general"]:
            rows.append(("fig2_rsa", published_series(row.series), str(row.layer - 1), row.similarity))
            if row.layer == shown["layer"].max() - 1:
                rows.append(("section5.1", published_series(row.series), "rsa_second_to_last_layer", row.similarity))
        compared = settings["texts"].get(row.series, {})
        if row.text in (compared.get("general"), compared.get("own")):
            rows.append((f"fig5_rsa_{row.series}_model", row.text.split("-")[0], str(row.layer - 1), row.similarity))
    return rows


def of_depths(freeze: pd.DataFrame, truncate: pd.DataFrame) -> list[tuple]:
    return [
        (artifact, published_series(row.task), str(row.depth - 1), row.score)
        for artifact, curves in (("fig3_freezing", freeze), ("fig4_truncation", truncate))
        for row in curves.itertuples()
    ]


def of_full_models(metrics: pd.DataFrame, heads: dict[str, str]) -> list[tuple]:
    rows = [(row, metric_of(heads[row["task"]])) for row in metrics.to_dict("records")]
    return [("section3", published_series(row["task"]), metric, 100 * row[f"test_{metric}"]) for row, metric in rows]


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import tables_of, write_table

    to_rule_log(snakemake.log[0])
    settings, tables = snakemake.params.settings, tables_of(snakemake.input)
    layers, heads = settings["layers"], settings["heads"]
    rows = of_full_models(tables["metrics"], heads)
    if "edges" in tables:
        edges = edge_scores(tables["edges"], "mix", set(settings["randomised"]))
        rows = of_edges(edges, edge_deltas(edges), settings["compared"]) + rows
    if settings["is_published_depth"]:  # else a layer is not the paper's layer
        rows += of_structural(by_series(tables["structural"])) if settings["is_papers_treebank"] else []
        rows += of_similarity(by_series(tables["rsa"]), settings)
        rows += of_depths(*(depth_curves(tables["metrics"], tables["sweeps"], sweep, layers, heads)
                            for sweep in ("freeze", "truncate")))  # fmt: skip
    chance = read_chances(settings["guessable"], snakemake.input.guessable)
    write_table(summarised(rows, TOLERANCES), snakemake.output.measured)
    write_table([vars(claim) for claim in all_claims(tables, settings, chance)], snakemake.output.claims)
