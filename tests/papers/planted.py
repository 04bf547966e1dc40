"""Planted outcomes: tables in which a paper's own numbers stand, or their opposite."""

import numpy as np

from workflow.lib.base.claims import Claim, Claims
from workflow.lib.base.verdicts import FAILS, HOLDS


def right_rows(accuracy: float, n_rows: int = 2000, seed: int = 0) -> np.ndarray:
    """Rows that a classifier of this accuracy got right; a better one of the same seed is right wherever a worse is."""
    order = np.random.default_rng(seed).permutation(n_rows)
    return order < round(accuracy * n_rows)


def verdicts(claims: list[Claim]) -> dict[str, str]:
    return {claim.name: claim.verdict for claim in claims}


def expected_on_own_numbers(paper: str) -> dict[str, str]:
    """Every claim holds on the paper's own numbers, except where these contradict its sentence: its slips."""
    return {name: FAILS if "slip" in entry else HOLDS for name, entry in Claims(paper).entries.items()}
