"""Claims of sections 5 and 6: similarity to Base by layer and text, frozen and truncated models.

Values of an Estimate are of runs.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd

from workflow.lib.base.claims import Claim
from workflow.lib.base.resampling import resampled_means
from workflow.lib.base.verdicts import Estimate, all_of
from workflow.papers.merchant2020.claims_of_probes import CLAIMS, Estimates, by_name
from workflow.papers.merchant2020.numbers import (
    Roles,
    of_twelve,
    scores_at,
    series_name,
    share_kept,
    share_of_fall,
    share_of_loss,
    similarity_by_layer,
)

KEPT = 0.85  # of a score: what the paper calls comparable (see five_layers_for_squad)


def differences(values: pd.Series, task: str, others: list[str], sign: int = 1) -> Estimates:
    """How much higher (sign 1) or lower (-1) a task's values are than each other task's, run by run."""
    measured = values.index.unique("series")
    others = [other for other in others if other in measured and task in measured and other != task]
    return {f"than {series_name(other)}": Estimate((sign * (values[task] - values[other])).dropna().tolist())
            for other in others}  # fmt: skip


def similarity_claims(similarity: pd.DataFrame, general: str, roles: Roles) -> list[Claim]:
    """Figure 2: by layer, on general text."""
    by_layer = similarity_by_layer(similarity, general)
    last = by_layer.columns.max()
    third, two_thirds = of_twelve(4, last), of_twelve(8, last)
    middle = by_layer[list(range(third + 1, two_thirds + 1))].mean(axis=1)
    upper = by_layer[list(range(min(two_thirds + 1, last - 1), last))].mean(axis=1)
    falls, second = share_of_fall(by_layer), by_layer[last - 1]
    lowest, below = (by_layer[list(range(1, end + 1))].min(axis=1) for end in (third, two_thirds))
    up_to, close = "lowest similarity up to layer {}".format, "similarity at layer {}".format
    return [
        CLAIMS.above("changes_are_at_the_top", by_name(falls, roles.tasks), f"share above layer {two_thirds}", 2),
        CLAIMS.above("lowest_layers_stay", by_name(lowest, roles.tasks), up_to(third), 3),
        CLAIMS.above("dep_changes_deepest", differences(middle, roles.parser, roles.others, -1), "similarity lower", 3),
        CLAIMS.above("mnli_changes_least", differences(upper, roles.classifier, roles.tasks), "similarity higher", 3),
        CLAIMS.above("mnli_stays_close", by_name(second, [roles.classifier]), close(last - 1), 3),
        CLAIMS.above("squad_stays_close_below", by_name(below, [roles.reader]), up_to(two_thirds), 3),
    ]


def text_claims(similarity: pd.DataFrame, texts: dict[str, dict[str, str]]) -> list[Claim]:
    """Figure 5. `texts`: by task the general text, its own, and perhaps its training rows and single texts."""
    gaps, single, apart, at_top = {}, {}, {}, {}
    for task, of_task in texts.items():
        on = {kind: similarity_by_layer(similarity, text).loc[[task]] for kind, text in of_task.items()}
        name, last = series_name(task), on["own"].columns.max()
        half = of_twelve(6, last)
        regions = {"below the last layer": list(range(half + 1, last)), "last layer": [last]}
        for kind, found in (("own", gaps), ("single", single)):
            for region, layers in regions.items():
                if kind in on and layers:
                    gap = (on["general"] - on[kind])[layers].mean(axis=1)
                    found[f"{name}, {region}"] = Estimate(gap.dropna().tolist())
        if "training" in on:
            by_layer = (on["training"] - on["own"])[list(range(half + 1, last + 1))].abs()
            apart[name] = Estimate(by_layer.max(axis=1).dropna().tolist())
        at_top |= by_name(share_of_fall(on["own"]), [task])
    return [
        CLAIMS.above("own_text_changes_more", gaps, "general minus own text", 3),
        CLAIMS.below("training_text_is_alike", apart, "largest difference", 3),
        CLAIMS.above("single_sentences_are_alike", single, "general minus single texts", 3),
        CLAIMS.above("own_text_changes_at_the_top", at_top, "share in the top third", 2),
    ]


def estimate_at(
    curves: pd.DataFrame, task: str, depths: list[int], quantity: Callable[[np.ndarray], np.ndarray]
) -> Estimate:
    """A quantity made from scores at several depths; of a single run also on resampled evaluation rows, if known."""
    values = quantity(scores_at(curves, task, depths).to_numpy())
    rows = curves[curves["task"] == task].set_index("depth")["rows"].reindex(depths) if len(values) == 1 else None
    if rows is None or not rows.map(lambda of_depth: isinstance(of_depth, np.ndarray)).all():
        return Estimate(values)
    return Estimate(values, "runs", quantity(resampled_means(np.stack(list(rows), axis=1))), len(rows.iloc[0]))


def needs_the_last_two(shares: Estimates, kept: Estimates) -> Claim:
    """Most of the loss comes with the last layers, and little has gone before."""
    name = "mnli_needs_the_last_two"
    [(of_last, share)], [(_, before)] = shares.items(), kept.items()
    verdict = all_of([share.side(CLAIMS.threshold(name)), before.side(KEPT)])
    return CLAIMS.judged(name, verdict, f"share of the loss: {of_last} {share.said(2)}; kept before: {before.said(2)}")


def depth_claims(
    freeze: pd.DataFrame, truncate: pd.DataFrame, last: int, roles: Roles, chance: dict[str, float]
) -> list[Claim]:
    """Figures 3 and 4. `last`: the number of layers; `chance`: what a guess scores, by task."""
    half = of_twelve(6, last)

    def above_chance(task: str) -> Callable[[np.ndarray], np.ndarray]:
        return partial(share_kept, chance=chance.get(task, 0.0))

    def frozen(tasks: list[str], n_frozen: int) -> Estimates:
        """Share of the score that is kept with so many layers frozen."""
        return {series_name(task): estimate_at(freeze, task, [n_frozen, 0], above_chance(task)) for task in tasks}

    def truncated(tasks: list[str], n: int) -> Estimates:
        """Share of the score that is kept with the first n of twelve layers."""
        depths = [of_twelve(n, last), last]
        return {series_name(task): estimate_at(truncate, task, depths, above_chance(task)) for task in tasks}

    def less_by_parser(curves: pd.DataFrame, depths: list[int]) -> Estimates:
        """How much smaller a share the parser keeps than each other task, run by run."""
        scores = {task: scores_at(curves, task, depths) for task in roles.tasks}
        shares = {task: pd.Series(above_chance(task)(of.to_numpy()), of.index) for task, of in scores.items()}
        return differences(pd.concat(shares, names=["series"]), roles.parser, roles.others, -1)

    def of_last(task: str, n: int) -> Estimates:
        """Share of the loss by freezing that comes with the last n of twelve layers."""
        n_last = of_twelve(n, last)
        return {
            f"{series_name(task)}, last {n_last}": estimate_at(freeze, task, [last - n_last, last, 0], share_of_loss)
        }

    classifier, reader, seven = [roles.classifier], [roles.reader], of_twelve(7, last)
    kept = f"share kept, {half} of {last} layers frozen"
    kept_by = {n: f"share kept by {of_twelve(n, last)} of {last} layers" for n in (3, 5, 7)}
    less = less_by_parser(truncate, [seven, last])
    return [
        CLAIMS.above("freezing_half_is_harmless", frozen(classifier, half), kept, 3),
        needs_the_last_two(of_last(roles.classifier, 2), frozen(classifier, last - of_twelve(2, last))),
        CLAIMS.above("three_layers_for_mnli", truncated(classifier, 3), kept_by[3], 3),
        CLAIMS.above("squad_needs_three", of_last(roles.reader, 3), "share of the loss", 2),
        CLAIMS.above("five_layers_for_squad", truncated(reader, 5), kept_by[5], 3),
        CLAIMS.above("dep_needs_most_layers", less_by_parser(freeze, [half, 0]), f"{kept}: Dep's is lower", 3),
        CLAIMS.above("lower_layers_suffice", truncated(roles.others, 7), kept_by[7], 3),
        CLAIMS.above("dep_needs_more_layers_in_truncation", less, f"{kept_by[7]}: Dep's is lower", 3),
    ]
