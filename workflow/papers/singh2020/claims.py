"""singh2020's claims (claims.yaml), judged by the analysis tables. "Concave" and "where the drop begins" are computed
(curve_shape.py), not seen."""

from functools import partial

import pandas as pd

from workflow.lib.base.claims import Claim, Claims
from workflow.lib.base.verdicts import HOLDS, Estimate
from workflow.lib.plotting.figures import name_of
from workflow.papers.singh2020.curve_shape import (
    concavity,
    departure,
    drop_begins,
    half_gained,
    lost_between,
    share_lost_between,
    steepest_step,
)
from workflow.papers.singh2020.estimates import (
    BOTH,
    CurveEstimate,
    Found,
    Sizes,
    by_step,
    fewest_minus_all,
    judged,
    like_probes,
    minus,
    of,
    over_probes,
    repeated,
    shape_of,
    step_key,
    steps,
)
from workflow.papers.singh2020.numbers import (
    RUN,
    Curves,
    above_null_rate,
    curves_by_size,
    first_measure,
    layers_off_zero,
    line_through,
    of_sizes,
    probe_curves,
    size_name,
    thirds,
)

CLAIMS = Claims("singh2020")
above, below = (partial(judged, compare) for compare in (CLAIMS.above, CLAIMS.below))
BySize = dict[tuple[str, float], Curves]


def top_sixth(n_layers: int) -> int:
    """The paper's highest two of twelve."""
    return max(1, round(n_layers / 6))


def cost(curves: Curves, begin: int, end: int) -> CurveEstimate:
    return of(curves, partial(lost_between, begin=begin, end=end))


def where_lost(found: Found, curves: dict[str, Curves]) -> Found:
    """Without a number where re-initialising all layers costs nothing clear: of parts nothing can then be said."""
    whole = {task: cost(of_task, 0, of_task.n_layers) for task, of_task in curves.items()}
    nothing = Estimate([float("nan")])
    return {key: estimate if whole[key[0]].side() == HOLDS else nothing for key, estimate in found.items()}


def largest(curves: BySize, sizes: Sizes) -> dict[str, Curves]:
    return {task: curves[task, shares[0]] for task, shares in sizes.items()}


def size_claims(curves: BySize, sizes: Sizes) -> list[Claim]:
    """Figure 1a, b and d: every task at its own sizes."""
    own = {(task, share): curves[task, share] for task, shares in sizes.items() for share in shares}
    gain = {key: cost(here, 0, here.n_layers) for key, here in own.items()}
    middle = {key: cost(here, *thirds(here.n_layers)) for key, here in own.items()}
    bend, begin = ({key: shape_of(here, shape) for key, here in own.items()} for shape in (concavity, drop_begins))
    unharmed, lost = ({key: of(here, lambda scores, at=at: scores[..., at]) for key, here in own.items()}
                      for at in (0, -1))  # fmt: skip
    wins = {(task, f"against {size_name(larger)}"): minus(unharmed[task, shares[-1]], lost[task, larger])
            for task, shares in sizes.items() for larger in shares[:-1]}  # fmt: skip
    qnli = {(task, size_name(share)): estimate for (task, share), estimate in bend.items() if task == "qnli"}
    whole = largest(curves, sizes)
    cola = {(task, ""): shape_of(here, departure) for task, here in whole.items() if task == "cola"}
    top = {(task, ""): cost(here, 0, top_sixth(here.n_layers)) for task, here in whole.items()}
    return [
        above("gain_shrinks_with_data", fewest_minus_all(gain, sizes), "points gained more with the fewest rows"),
        above("less_data_is_less_concave", by_step(bend, sizes), "difference of concavity", ("sst2",), 3),
        above("middle_layers_matter_with_less_data", fewest_minus_all(middle, sizes),
              "points lost more with the fewest rows", ("sst2",)),
        above("little_data_with_pretraining_wins", wins, "points ahead", ("sst2",)),
        above("qnli_is_concave", qnli, "concavity", digits=3),
        above("less_data_falls_earlier", by_step(begin, sizes), "layers later", ("qnli",)),
        below("cola_is_near_linear", cola, "mean distance from a straight line / drop", ("cola",), 3),
        below("top_two_reinitialised_cost_little", where_lost(top, whole), "points lost"),
    ]  # fmt: skip


def small_claims(curves: BySize, small: dict[str, float], scores: pd.DataFrame) -> list[Claim]:
    """Figure 1c: equal numbers of rows."""
    here = {task: curves[task, share] for task, share in small.items() if task in BOTH}
    gain = {(task, ""): cost(of_task, 0, of_task.n_layers) for task, of_task in here.items()}
    middle = {(task, ""): cost(of_task, *thirds(of_task.n_layers)) for task, of_task in here.items()}
    lowest = {task: (thirds(of_task.n_layers)[1], of_task.n_layers) for task, of_task in here.items()}
    bottom = {(task, ""): cost(of_task, *lowest[task]) for task, of_task in here.items()}
    share = {(task, ""): shape_of(of_task, share_lost_between, *lowest[task]) for task, of_task in here.items()}
    null = {(task, ""): Estimate.of_rows(above_null_rate(scores, task, small[task]).values()) for task in here}
    bend, differ = {}, {}
    if len(here) == len(BOTH):
        bend["QNLI - SST-2"] = minus(shape_of(here["qnli"], concavity), shape_of(here["sst2"], concavity))
        differ["SST-2 - QNLI"] = minus(middle["sst2", ""], middle["qnli", ""])
    return [
        above("small_gains_are_large", gain, "points gained"),
        CLAIMS.above("qnli_more_concave_than_sst2", bend, "difference of concavity", 3),
        above("qnli_falls_in_the_lowest_third", share, "share of the drop", ("qnli",), 2),
        below("qnli_reaches_the_null_rate", where_lost(null, here), "points above", ("qnli",)),
        above("sst2_loses_in_the_middle", middle, "points lost", ("sst2",)),
        above("sst2_loses_at_the_bottom", bottom, "points lost", ("sst2",)),
        CLAIMS.above("middle_layers_depend_on_the_task", differ, "points lost more"),
    ]


def probe_estimates(probes: pd.DataFrame, tuned: Curves) -> dict[str, CurveEstimate]:
    """`probes`: scores by layers removed (numbers.probe_curves); `tuned`: re-initialisation with all rows."""
    n_layers = probes.shape[1] - 1
    some_left = probes.iloc[:, :n_layers]
    probed = repeated(some_left.max(axis=1))
    needed = repeated(pd.Series(half_gained(probes, tuned.noise), probes.index))
    needed_tuned = pd.Series(half_gained(tuned.runs, tuned.noise), tuned.runs.index)
    return {
        "below": over_probes(like_probes(tuned.runs.max(axis=1), probed) - probed),
        "more": over_probes(needed - like_probes(needed_tuned, needed)),
        "hurt": over_probes(repeated(probes[top_sixth(n_layers)] - probes[0])),
        "step": over_probes(repeated(pd.Series(steepest_step(some_left, tuned.noise), probes.index))),
    }


def probing_claims(probes: pd.DataFrame, reinit: dict[str, Curves], test_rows: dict[str, int]) -> list[Claim]:
    """Short probes decide, as the paper seems to have trained them; converged ones stand beside them."""
    tasks = [task for task in dict.fromkeys(probes["task"]) if task in reinit]
    short, converged = (
        {task: probe_estimates(probe_curves(probes, task, training), reinit[task]) for task in tasks}
        for training in ("short", "converged")
    )

    def compared(name: str, quantity: str, what: str) -> Claim:
        found = {(task, ""): estimates[quantity] for task, estimates in short.items()}
        beside = {(task, "converged probe"): estimates[quantity] for task, estimates in converged.items()}
        return above(name, found, what, beside=beside)

    gradual, nothing = {}, {}
    if set(BOTH) <= set(tasks):
        gradual["probing"] = minus(short["qnli"]["step"], short["sst2"]["step"])
        gradual["re-initialisation"] = minus(shape_of(reinit["qnli"], departure), shape_of(reinit["sst2"], departure))
    if "cola" in tasks:
        nothing["CoLA"] = over_probes(repeated(layers_off_zero(probes, test_rows["cola"]).mean(axis=1)))
    return [
        compared("probing_stays_below", "below", "points below"),
        compared("probing_needs_more_layers", "more", "layers more"),
        compared("top_two_hurt_probing", "hurt", "points gained by removing"),
        CLAIMS.above("sst2_gradual_qnli_steep", gradual, "QNLI - SST-2", 3),
        CLAIMS.below("cola_probe_finds_nothing", nothing, "share of layers", 2),
    ]


def distance_claims(distances: pd.DataFrame, sizes: Sizes) -> list[Claim]:
    """Figures 3 and 5b. Weights have no test rows: a single run tells nothing."""
    moved = {
        key: here.pivot(index=RUN, columns="layer", values="distance").to_numpy()
        for key, here in first_measure(distances).groupby(["task", "fraction"], sort=False)
    }
    slopes = {key: Estimate(line_through(runs)[0]) for key, runs in moved.items()}
    rising = {(task, size_name(share)): slope for (task, share), slope in slopes.items()}
    least = {step_key(task, larger, smaller): Estimate((moved[task, larger] - moved[task, smaller]).min(axis=1))
             for task, larger, smaller in steps(sizes)}  # fmt: skip
    whole = {task: moved[task, shares[0]] for task, shares in sizes.items()}
    stay = {(task, ""): Estimate(runs[:, 0] / runs[:, -1]) for task, runs in whole.items()}
    relative = {task: [Estimate(of_line / runs.mean(axis=1)) for of_line in line_through(runs)]
                for task, runs in whole.items()}  # fmt: skip
    uneven = {}
    for task in BOTH if {*BOTH, "cola"} <= set(relative) else ():
        (slope, scatter), (slope_cola, scatter_cola) = relative[task], relative["cola"]
        uneven[f"scatter, CoLA - {name_of(task)}"] = minus(scatter_cola, scatter)
        uneven[f"slope, {name_of(task)} - CoLA"] = minus(slope, slope_cola)
    return [
        below("earlier_layers_stay", stay, "first over last layer", digits=2),
        above("distance_grows_with_data", least, "distance, least of all layers", digits=3),
        above("distance_grows_with_depth", rising, "distance per layer", digits=3),
        above("more_data_is_steeper", by_step(slopes, sizes), "difference of distance per layer", digits=3),
        CLAIMS.above("cola_is_noisier_and_more_balanced", uneven, "shares of the mean distance", 3),
    ]


def all_claims(tables: dict[str, pd.DataFrame], settings: dict, test_rows: dict[str, int]) -> list[Claim]:
    """`tables`: scores (numbers.reinit_curves), probes, distances; `test_rows`: by task."""
    sizes = {task: sorted(shares, reverse=True) for task, shares in settings["fractions"].items()}
    curves = curves_by_size(tables["scores"], test_rows)
    return CLAIMS.complete(
        [
            *size_claims(curves, sizes),
            *small_claims(curves, settings["small"], tables["scores"]),
            *probing_claims(tables["probes"], largest(curves, sizes), test_rows),
            *distance_claims(of_sizes(tables["distances"], sizes), sizes),
        ]
    )
