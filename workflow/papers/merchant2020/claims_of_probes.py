"""Claims of section 4: edge probes, structural probes, description lengths. Values of an Estimate are of runs."""

import numpy as np
import pandas as pd

from workflow.lib.base.claims import Claim, Claims
from workflow.lib.base.verdicts import Estimate, all_of, opposite
from workflow.papers.merchant2020.edge_names import edge_name, published_edge
from workflow.papers.merchant2020.numbers import (
    BASELINES,
    RUN,
    Roles,
    of_twelve,
    ratio,
    series_name,
    structural_changes,
    total_lengths,
)

CLAIMS = Claims("merchant2020")
LEAST, MOST = 0.5, 2.0  # points: the range in which the paper sees most losses
LITTLE = 0.05  # change of a description length
SYNTACTIC, SEMANTIC = ("constituents", "dependencies"), ("coreference", "spr", "relations")
Estimates = dict[str, Estimate]


def by_name(values: pd.Series, tasks: list[str]) -> Estimates:
    """An estimate for each of these tasks; `values` by series and run."""
    measured = values.index.unique("series")
    return {series_name(task): Estimate(values[task].tolist()) for task in tasks if task in measured}


def share_of_cells(cells: pd.DataFrame, counted: pd.Series) -> Estimates:
    """Share of the cells (edge task x tuned task) that are counted, in each run; of a single run over its cells."""
    counted = counted.astype(float)
    shares = counted.groupby([cells[name] for name in RUN]).mean()
    return {"of all cells": Estimate(shares.tolist()) if len(shares) > 1 else Estimate(counted.tolist(), "cells")}


def loss_shares(deltas: pd.DataFrame) -> tuple[pd.Series, dict[str, float]]:
    """By series and run the mean loss over edge tasks, gains counted as 0, as a share of the loss of the baseline that
    lacks less; and the loss of each baseline in points."""
    losses = (-deltas["delta"]).clip(lower=0).groupby([deltas[name] for name in ("series", *RUN)], sort=False).mean()
    lacking = {name: losses[name].mean() for name in BASELINES if name in losses.index.unique("series")}
    smaller = np.full(len(losses), min(lacking.values(), default=0.0))
    return pd.Series(ratio(losses.to_numpy(), smaller), losses.index), lacking


def edge_claims(deltas: pd.DataFrame, top: pd.DataFrame, roles: Roles) -> list[Claim]:
    """`deltas`: differences from Base with probes of the mix; `top`: with probes of the last layer alone."""
    edges = deltas["task"].map(published_edge)
    means, top_means = (frame.groupby(["series", *RUN], sort=False)["delta"].mean() for frame in (deltas, top))
    shares, lacking = loss_shares(deltas)
    cells = deltas[deltas["series"].isin(roles.tasks)]
    of_parser = deltas[(deltas["series"] == roles.parser) & edges.isin(SYNTACTIC)].assign(edge=edges)
    syntax = {"mean": Estimate(of_parser.groupby(RUN)["delta"].mean().tolist())}
    syntax |= {edge: Estimate(of["delta"].tolist()) for edge, of in of_parser.groupby("edge")}

    def losses(series: str, *wanted: str) -> Estimates:
        """Also of edge tasks that were not measured: then the claim cannot be told, unless another cell refutes it."""
        of = {edge: -deltas[(deltas["series"] == series) & (edges == edge)]["delta"] for edge in wanted}
        return {f"{series_name(series)} {edge_name(edge)}": Estimate(of[edge].tolist()) for edge in wanted}

    lost_on_syntax = losses(roles.classifier, "constituents") | losses(roles.reader, "pos", "dependencies", "srl")
    small, typical = cells["delta"].abs() <= MOST, (-cells["delta"]).between(LEAST, MOST)
    lack = ", ".join(f"{name} {points:.1f}" for name, points in lacking.items())
    return [
        CLAIMS.below("no_forgetting", by_name(shares, roles.tasks), f"share of the smaller of {lack} points", 2),
        CLAIMS.above("small_changes", share_of_cells(cells, small), "share", 2),
        CLAIMS.above("losses_of_half_to_two_points", share_of_cells(cells, typical), "share", 2),
        CLAIMS.above("mnli_loses_on_constituents_squad_on_syntax", lost_on_syntax, "points lost"),
        CLAIMS.above("dep_raises_syntax", syntax, "points over Base", voting=["mean"]),
        CLAIMS.above("dep_loses_semantics", losses(roles.parser, *SEMANTIC), "points lost"),
        CLAIMS.above("top_layer_loses_more", by_name(means - top_means, roles.others), "points lost more in it"),
        CLAIMS.below("benchmarks_do_not_strengthen", by_name(means, roles.others), "mean points over Base", 2),
    ]


def structure_claims(scores: pd.DataFrame, roles: Roles) -> list[Claim]:
    changes = structural_changes(scores)
    last = changes["layer"].max()
    half = of_twelve(6, last)
    raised, below, drops = {}, {}, {}
    for probe, rows in changes[changes["series"] == roles.parser].groupby("probe"):
        for where, chosen in ((f"layer {half}", [half]), (f"layers {half} to {last}", range(half, last + 1))):
            by_run = rows[rows["layer"].isin(chosen)].groupby(RUN)["change"].mean()
            raised[f"{probe}, {where}"] = Estimate(by_run.tolist())
    for task in roles.others:
        rows = changes[changes["series"] == task].assign(size=changes["change"].abs())
        under = rows[rows["layer"].between(1, last - 1)].groupby(RUN)
        at_last = rows[rows["layer"] == last].groupby(RUN)["change"].mean()
        below[task], drops[task] = Estimate(under["size"].max()), Estimate(under["change"].mean() - at_last)
    minimal = CLAIMS.threshold("others_keep_structure")
    sides = [opposite(below[task].side(minimal)) for task in below] + [drops[task].side() for task in drops]
    evidence = [f"{series_name(task)} at most {below[task].said(3)} below the last layer, {drops[task].said(3)} lower "
                "in it" for task in below]  # fmt: skip
    return [
        CLAIMS.above("dep_raises_structure", raised, "Spearman over Base", 3),
        CLAIMS.judged("others_keep_structure", all_of(sides), f"change of Spearman: {'; '.join(evidence)}"),
    ]


def description_claims(codelength: pd.DataFrame, parser: str) -> list[Claim]:
    """Without a task that can be coded nothing is judged."""
    lengths = total_lengths(codelength)
    cells = lengths[lengths["series"] != "base"]
    if cells.empty:
        return []
    is_dep = (cells["series"] == parser) & (cells["task"].map(published_edge) == "dependencies")
    shorter = -100 * cells[is_dep].set_index(RUN)["change"]
    others = 100 * cells[~is_dep].set_index(RUN)["change"].abs().groupby(RUN).max()
    more = "per cent more than the largest other change"
    return [
        CLAIMS.above("mdl_differs_little", share_of_cells(cells, cells["change"].abs() < LITTLE), "share", 2),
        CLAIMS.above("dep_shortens_dependencies", {"Dep": Estimate(shorter.tolist())}, "per cent shorter than Base"),
        CLAIMS.above("dependencies_shorten_most", {"Dep": Estimate((shorter - others).dropna().tolist())}, more),
    ]
