"""Spearman's correlation of many short rows at once, with average ranks for ties (gold distances are full of them)."""

import numpy as np


def average_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks from 0 along the last axis; equal values share the mean of their ranks."""
    order = np.argsort(values, axis=-1)
    ordered = np.take_along_axis(values, order, axis=-1)
    place, last = np.arange(values.shape[-1]), values.shape[-1] - 1
    begins, ends = np.ones(values.shape, dtype=bool), np.ones(values.shape, dtype=bool)
    begins[..., 1:] = ends[..., :-1] = ordered[..., 1:] != ordered[..., :-1]
    # of each run of equal values, its first and its last place
    first = np.maximum.accumulate(np.where(begins, place, 0), axis=-1)
    until = np.minimum.accumulate(np.where(ends, place, last)[..., ::-1], axis=-1)[..., ::-1]
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, (first + until) / 2, axis=-1)
    return ranks


def unit_ranks(values: np.ndarray) -> np.ndarray:
    """Ranks with mean 0 and norm 1: Spearman's correlation is the product of two such rows.

    A row of equal values has no ranks; it becomes 0, and so does its correlation (scipy says NaN, which would spoil
    the mean for one sentence of which a probe says nothing).
    """
    ranks = average_ranks(values) - (values.shape[-1] - 1) / 2
    norms = np.linalg.norm(ranks, axis=-1, keepdims=True)
    return np.divide(ranks, norms, out=np.zeros_like(ranks), where=norms > 0)
