"""Label geometry from tables of distances: nearest labels, and the similarity of two geometries."""

import numpy as np
import pandas as pd


def nearest_distances(distances: pd.DataFrame) -> pd.Series:
    """Each label's distance to its nearest other label. Columns of `distances`: label_a, label_b, distance."""
    both = pd.concat([distances, distances.rename(columns={"label_a": "label_b", "label_b": "label_a"})])
    return both.groupby("label_a")["distance"].min().rename_axis("label")


def spatial_similarity(one: pd.DataFrame, other: pd.DataFrame, missing: str = "shared") -> float:
    """Pearson correlation of two geometries' distances over label pairs.

    A label may be missing from one of them. `shared`: only pairs that both have; `zero`: missing pairs count as 0.
    """
    vectors = [frame.set_index(["label_a", "label_b"])["distance"] for frame in (one, other)]
    joined = pd.concat(vectors, axis=1, join="inner" if missing == "shared" else "outer").fillna(0.0).to_numpy()
    if len(joined) < 3 or not joined.std(axis=0).all():
        return float("nan")
    return float(np.corrcoef(joined.T)[0, 1])


def without_small_labels(frame: pd.DataFrame, points: pd.Series, at_least: int) -> pd.DataFrame:
    """Drop labels with fewer than `at_least` points; `points`: number of points by label."""
    small = set(points.index[points < at_least])
    columns = [name for name in ("label", "label_a", "label_b") if name in frame]
    return frame[~frame[columns].isin(small).any(axis=1)]
