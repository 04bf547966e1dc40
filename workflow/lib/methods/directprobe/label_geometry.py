"""Label geometry from tables of distances: nearest labels, and the similarity of two geometries."""

from itertools import combinations

import numpy as np
import pandas as pd


def nearest_distances(distances: pd.DataFrame) -> pd.Series:
    """Each label's distance to its nearest other label. Columns of `distances`: label_a, label_b, distance."""
    both = pd.concat([distances, distances.rename(columns={"label_a": "label_b", "label_b": "label_a"})])
    return both.groupby("label_a")["distance"].min().rename_axis("label")


def spatial_similarity(one: pd.DataFrame, other: pd.DataFrame, missing: str = "shared") -> float:
    """Pearson correlation of two geometries' distances over label pairs (label_a precedes label_b by name).

    A label may be missing from one of them. `shared`: only labels that both have; `zero`: all labels that either has,
    with distance 0 from a missing label to all others.
    """
    vectors = [frame.set_index(["label_a", "label_b"])["distance"] for frame in (one, other)]
    known = [set(vector.index.get_level_values(0)) | set(vector.index.get_level_values(1)) for vector in vectors]
    names = sorted(known[0] & known[1] if missing == "shared" else known[0] | known[1])
    pairs = list(combinations(names, 2))
    if len(pairs) < 3:
        return float("nan")
    vectors = [v.loc[pairs] if missing == "shared" else v.reindex(pairs, fill_value=0.0) for v in vectors]
    joined = np.stack([vector.to_numpy() for vector in vectors])
    return float(np.corrcoef(joined)[0, 1]) if joined.std(axis=1).all() else float("nan")


def points_of_labels(distances: pd.DataFrame) -> pd.Series:
    """Number of points by label, from a table of distances that has it (points_a, points_b)."""
    sides = [distances.set_index(f"label_{side}")[f"points_{side}"] for side in "ab"]
    return pd.concat(sides).groupby(level=0).first()


def of_enough_points(distances: pd.DataFrame, points: pd.Series, at_least: int, missing: str) -> pd.DataFrame:
    """Labels with few points count as missing: left out (`shared`), or at a distance of 0 from all others (`zero`)."""
    if missing == "shared":
        return without_small_labels(distances, points, at_least)
    small = points.index[points < at_least]
    is_small = distances["label_a"].isin(small) | distances["label_b"].isin(small)
    return distances.assign(distance=distances["distance"].mask(is_small, 0.0))


def without_small_labels(frame: pd.DataFrame, points: pd.Series, at_least: int) -> pd.DataFrame:
    """Drop labels with fewer than `at_least` points; `points`: number of points by label."""
    small = set(points.index[points < at_least])
    columns = [name for name in ("label", "label_a", "label_b") if name in frame]
    return frame[~frame[columns].isin(small).any(axis=1)]
