"""Repetitions: models split into encoder, state and seed, and the spread over repetitions."""

import pandas as pd


def with_parts(frame: pd.DataFrame) -> pd.DataFrame:
    """Split `model` ("base.0/imdb.full.f1.s0", "base.0/pretrained") into encoder, state, task tuned on, and seed."""
    parts = frame["model"].str.split("/", n=1, expand=True)
    is_tuned = parts[1] != "pretrained"
    seed = parts[1].str.extract(r"\.s(\d+)$", expand=False)
    return frame.assign(
        encoder=parts[0],
        state=is_tuned.map({True: "finetuned", False: "pretrained"}),
        tuned_on=parts[1].str.split(".").str[0].where(is_tuned),
        seed=seed.fillna("0").astype(int),
    )


def spread(frame: pd.DataFrame, by: list[str], value: str) -> pd.DataFrame:
    """Mean, standard deviation (NaN for one repetition) and number of repetitions."""
    return frame.groupby(by, sort=False)[value].agg(mean="mean", sd="std", n="count").reset_index()
