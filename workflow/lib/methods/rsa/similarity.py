"""Representational similarity analysis (RSA): are the same tokens similar to each other in two spaces?

The score is Pearson's correlation of the two cosine kernels (n tokens by n tokens), strict upper triangles only.
5,000 tokens give 12.5 million pairs, and in a narrow cone such as BERT's, cosines differ little. So no kernel is built:
its sums have a closed form in matrices of width by width, and are computed on centred vectors, to avoid cancellation of
large numbers. With unit vectors u_i = m + r_i and s_i = m.r_i (both r and s sum to 0 over tokens)

    cos_ij - m.m = s_i + s_j + r_i.r_j      which on the diagonal is 1 - m.m, for every token

and, over all i and j, the sum of that is 0, and the sum of its product with the other space's is 2n s.t + |R'Q|^2.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from workflow.lib.base.errors import UserError

FEWEST_TOKENS = 3  # two tokens are a single pair, which has no correlation
# Below these variances all cosines are equal up to rounding: of stored vectors (1e-7, which is 1e-14 in a cosine), and
# of the sums here, whose diagonal terms are not small.
SMALLEST_VARIANCE, SMALLEST_SHARE = 1e-26, 1e-12


@dataclass
class Space:
    """Unit vectors of n tokens, split into their mean and residuals."""

    rest: np.ndarray  # (n, width) residuals
    along_mean: np.ndarray  # (n,) products of the residuals with the mean
    diagonal: float  # 1 - mean.mean, every token's similarity with itself

    @cached_property
    def variance(self) -> float:
        return covariance(self, self)


def space_of(vectors: np.ndarray) -> Space:
    """The space of vectors, in float64: 5,000 of width 768 take 30 MB, and the scores are exact to twelve digits."""
    if len(vectors) < FEWEST_TOKENS:
        raise UserError(f"{len(vectors)} tokens are too few: a correlation of pairs needs {FEWEST_TOKENS}")
    vectors = vectors.astype(np.float64)
    if not np.isfinite(vectors).all():
        raise UserError("a vector holds a value that is no finite number")
    # divide by each row's largest value first, so that no square under- or overflows
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    if not largest.all():
        raise UserError(f"{int((largest == 0).sum())} of {len(vectors)} vectors are zero, and have no direction")
    vectors /= largest
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    mean = vectors.mean(axis=0)
    vectors -= mean
    space = Space(vectors, vectors @ mean, float(np.vdot(vectors, vectors)) / len(vectors))
    if space.variance < max(SMALLEST_VARIANCE, SMALLEST_SHARE * space.diagonal**2 / len(vectors)):
        raise UserError("all tokens are equally similar to each other, and nothing correlates with that")
    return space


def covariance(one: Space, other: Space) -> float:
    """Covariance of the two cosine kernels over all pairs of different tokens."""
    n = len(one.rest)
    everywhere = 2 * n * (one.along_mean @ other.along_mean) + np.square(one.rest.T @ other.rest).sum()
    off_diagonal = (everywhere - n * one.diagonal * other.diagonal) / (n * (n - 1))
    means = one.diagonal * other.diagonal / (n - 1) ** 2  # each is -diagonal / (n - 1)
    return float(off_diagonal - means)


def correlation(one: Space, other: Space) -> float:
    """Correlation of the two cosine kernels, between -1 and 1."""
    return float(np.clip(covariance(one, other) / np.sqrt(one.variance * other.variance), -1, 1))


def similarity(base: np.ndarray, tuned: np.ndarray) -> float:
    """RSA score of two sets of vectors. Rows of both are the same tokens; widths may differ."""
    if len(base) != len(tuned):
        raise UserError(f"{len(base)} tokens cannot be compared with {len(tuned)}")
    return correlation(space_of(base), space_of(tuned))


def sample_tokens(example: np.ndarray, n_tokens: int, per_example: int, n_samples: int, seed: int) -> list[np.ndarray]:
    """Row numbers of `n_tokens` random tokens per sample (all if there are fewer), at most `per_example` of an example.

    Several samples, because the score depends on the sample: by up to 0.04 between two figures of the paper. Samples
    are drawn independently, so that requesting more of them does not change the first.
    """
    samples = []
    for sample in range(n_samples):
        rows = np.random.default_rng([seed, sample]).permutation(len(example))
        by_example = np.argsort(example[rows], kind="stable")  # tokens of an example together, still in random order
        sorted_examples = example[rows][by_example]
        place = np.empty(len(rows), dtype=np.int64)
        place[by_example] = np.arange(len(rows)) - np.searchsorted(sorted_examples, sorted_examples)
        samples.append(np.sort(rows[place < per_example][:n_tokens]))
    return samples
