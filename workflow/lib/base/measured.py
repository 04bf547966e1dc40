"""Measured numbers, named like the paper's published ones, with tolerated differences; and both side by side."""

from pathlib import Path

import pandas as pd

from workflow.lib.base.repetitions import spread
from workflow.lib.base.tables import read_table

COLUMNS = ["paper", "artifact", "series", "x", "published", "measured", "sd", "n", "difference", "tolerance", "within"]
KEYS = ["artifact", "series", "x"]
Tolerances = dict[tuple[str, ...], float]  # by artifact; by artifact and series, x or both where they differ


def tolerance_of(tolerances: Tolerances, artifact: str, series: str, x: str) -> float:
    """The most special one; NaN where none is set."""
    keys = ((artifact, series, x), (artifact, series), (artifact, x), (artifact,))
    return next((tolerances[key] for key in keys if key in tolerances), float("nan"))


def summarised(rows: list[tuple], tolerances: Tolerances) -> pd.DataFrame:
    """Columns artifact, series, x, measured, sd, n, tolerance. `rows`: (artifact, series, x, value) per repetition."""
    frame = spread(pd.DataFrame(rows, columns=[*KEYS, "value"]), KEYS, "value").rename(columns={"mean": "measured"})
    allowed = [tolerance_of(tolerances, *key) for key in zip(*(frame[name] for name in KEYS))]
    return frame.assign(tolerance=pd.Series(allowed, dtype=float))


def compare(
    published: pd.DataFrame, measured: pd.DataFrame, paper: str, unmeasured: dict[str, str] | None = None
) -> pd.DataFrame:
    """What is measured by a second rule, `<x>, <rule>`, stands below the first, which alone gets a verdict.

    `unmeasured`: by `<artifact>/<series>`, what a number needs that this run has not.
    """
    measured = measured.assign(of=measured["x"].str.partition(", ")[0])
    both = published.rename(columns={"x": "of"}).merge(measured, on=["artifact", "series", "of"], how="left")
    both["x"] = both["x"].fillna(both["of"])
    both.insert(0, "paper", paper)
    both["difference"] = both["measured"] - both["value"]
    within = both["difference"].abs() <= both["tolerance"]
    both["within"] = within.map({True: "yes", False: "no"}).where(both["tolerance"].notna(), "no tolerance set")
    both["within"] = both["within"].where(both["x"] == both["of"], "another rule")
    named = both["artifact"] + "/" + both["series"]
    reason = named.map(lambda name: (unmeasured or {}).get(name, "not measured"))
    both["within"] = both["within"].where(both["measured"].notna(), reason)
    return both.rename(columns={"value": "published"})[COLUMNS]


def alone(numbers: pd.DataFrame) -> pd.DataFrame:
    """Measured numbers without the published ones, which are no target for stand-in data."""
    empty = dict.fromkeys(("published", "difference", "tolerance"), float("nan"))
    return numbers[numbers["measured"].notna()].assign(**empty, within="stand-in data")


def compared(
    published: list[str], measured: list[str], unmeasured: dict[str, dict[str, str]], comparable: list[str]
) -> pd.DataFrame:
    """The same of several papers, from their files: <paper>/published.csv and <paper>.measured.parquet.

    `comparable`: those whose published numbers stand beside ours."""
    found = {Path(path).name.split(".")[0]: path for path in measured}
    parts = []
    for path in published:
        paper, numbers = Path(path).parent.name, pd.read_csv(path, dtype={"x": str})
        both = compare(numbers, read_table(found[paper]), paper, unmeasured.get(paper))
        parts.append(both if paper in comparable else alone(both))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS)
