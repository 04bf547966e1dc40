"""Held-out accuracy of classifiers on (selected + candidate) features, for every candidate.

Rows come in blocks; each split fits on some blocks and scores another. Splits are solved in turn, each starting from
the previous solution: folds share most rows, so a few evaluations suffice. Labels enter a softmax model only through
sums over each class. Without selected features the rest depends on a single number per row, so the rows are replaced by
their histogram on a fine grid; the class sums stay exact.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple

import numpy as np
import torch

from workflow.lib.base.work import count
from workflow.lib.methods.linear import fit_softmax
from workflow.lib.methods.neurons.side_by_side import BorderedHessian, Lanes, Problem, fit

TOLERANCE = 1e-4  # of the mean gradient, as in scikit-learn; with 1e-3 small sets were off by five rows in 1,500
GRID_POINTS = 1024  # over a feature's range: a spacing of hundredths of its standard deviation
CPU_BLOCK = 2**18  # numbers processed at a time per CPU thread: as many as its cache holds


class Split(NamedTuple):
    fitted: list[int]  # blocks
    scored: int


class Block(NamedTuple):
    shared: torch.Tensor  # (n, s), the intercept's column of ones first
    candidates: torch.Tensor  # (n, m)
    labels: torch.Tensor  # (n,)


class Sums(NamedTuple):
    """A block's contribution to a problem, apart from its rows."""

    n_rows: float
    by_class: torch.Tensor  # (s + 1, c, m)
    squares: torch.Tensor  # (s + 1, m)
    histogram: torch.Tensor  # (GRID_POINTS, m), or a zero


def candidate_accuracies(
    blocks: list[tuple[np.ndarray, np.ndarray]],
    splits: list[Split],
    n_classes: int,
    selected: list[int],
    mean: np.ndarray,
    scale: np.ndarray,
    c: float,
    device: str,
    memory_gib: float,
) -> np.ndarray:
    """(d,) mean accuracy over `splits`, NaN for selected features. `mean` and `scale` only define the working units."""
    d = blocks[0][0].shape[1]
    others = np.setdiff1d(np.arange(d), selected)
    on_cpu = torch.device(device).type == "cpu"
    n_rows = sum(len(y) for _, y in blocks)
    # on small sets the workers would mostly wait for Python's lock
    n_workers = torch.get_num_threads() if on_cpu and n_rows * len(others) * n_classes > 2**23 else 1
    budget = int(memory_gib * 2**30 / 4) // n_workers
    block = min(budget // 8, CPU_BLOCK) if on_cpu else budget // 8
    n_parameters = (len(selected) + 2) * n_classes
    per_candidate = 3 * n_rows + n_parameters * (40 + 4 * n_classes) + 8 * GRID_POINTS
    chunk = max(1, min(budget // 2 // per_candidate, -(-len(others) // n_workers)))

    def standardised(x: np.ndarray, y: np.ndarray, columns: np.ndarray) -> Block:
        shared, candidates = ((x[:, take] - mean[take]) / scale[take] for take in (selected, columns))
        shared = np.hstack([np.ones((len(x), 1)), shared])
        shared, candidates = (
            torch.as_tensor(part, dtype=torch.float32, device=device) for part in (shared, candidates)
        )
        return Block(shared, candidates, torch.tensor(y, device=device).long())

    def score(columns: np.ndarray, start: torch.Tensor) -> np.ndarray:
        return _accuracies([standardised(x, y, columns) for x, y in blocks], splits, start, c, block)

    accuracies = np.full(d, np.nan)
    with _one_thread_per_worker(), ThreadPoolExecutor(n_workers) as pool:
        start = _selected_optimum([blocks[i] for i in splits[0].fitted], n_classes, selected, mean, scale, c, device)
        chunks = [others[i : i + chunk] for i in range(0, len(others), chunk)]
        accuracies[others] = np.concatenate(list(pool.map(partial(score, start=start), chunks)))
    return accuracies


@contextmanager
def _one_thread_per_worker() -> Iterator[None]:
    """Lanes are independent, so whole chunks run in parallel: threads inside each small operation would mostly wait."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(n_threads)


def _selected_optimum(blocks, n_classes, selected, mean, scale, c, device) -> torch.Tensor:
    """(1 + selected, classes) parameters of the classifier without a candidate, in the working units."""
    y = np.concatenate([labels for _, labels in blocks])
    parameters = np.zeros((1 + len(selected), n_classes))
    parameters[0] = np.log(np.maximum(np.bincount(y, minlength=n_classes), 1e-3) / len(y))
    if selected:
        x = np.concatenate([(rows[:, selected] - mean[selected]) / scale[selected] for rows, _ in blocks])
        scaler, classifier = (step for _, step in fit_softmax(x, y, c).steps)
        weights, intercept = classifier.coef_.T / scaler.scale_[:, None], classifier.intercept_
        fitted = np.vstack([intercept - scaler.mean_ @ weights, weights])
        # scikit-learn has one column for two classes; a class without rows keeps the intercept of a very rare one
        parameters[:, classifier.classes_] = fitted if fitted.shape[1] > 1 else np.hstack([-fitted, fitted]) / 2
    return torch.as_tensor(parameters - parameters.mean(1, keepdims=True), dtype=torch.float32, device=device)


def _accuracies(blocks: list[Block], splits: list[Split], start: torch.Tensor, c: float, block: int) -> np.ndarray:
    # no grid on a GPU: sums by atomic additions are not reproducible there, and exponentials are cheap
    n_rows = sum(len(blocks[i].labels) for i in splits[0].fitted)
    use_grid = len(start) == 1 and start.device.type == "cpu" and n_rows > 2 * GRID_POINTS
    grid = _grid([b.candidates for b in blocks]) if use_grid else None
    sums = {i: _sums(blocks[i], start.shape[1], grid, block) for i in sorted({i for s in splits for i in s.fitted})}
    lanes, hessian, total = Lanes.at(start, blocks[0].candidates.shape[1]), None, 0.0
    for split in splits:
        whole = Sums(*(sum(parts) for parts in zip(*(sums[i] for i in split.fitted))))
        problem_on = partial(Problem, targets=whole.by_class, penalty=_penalty(whole, c), n_rows=whole.n_rows)
        if grid is not None:
            problem = problem_on(torch.ones(GRID_POINTS, 1), grid, row_weights=whole.histogram)
        else:
            problem = problem_on(*(torch.cat([blocks[i][part] for i in split.fitted]) for part in (0, 1)))
        # folds differ in so few rows that one Hessian is good enough for all of them
        hessian = hessian or BorderedHessian(problem, start, block)
        fit(problem, lanes, hessian, TOLERANCE, block)
        count("fits", blocks[0].candidates.shape[1])
        total += _accuracy(blocks[split.scored], lanes.parameters, block)
    return (total / len(splits)).cpu().numpy()


def _grid(candidates: list[torch.Tensor]) -> torch.Tensor:
    low = torch.stack([x.amin(0) for x in candidates]).amin(0)
    high = torch.stack([x.amax(0) for x in candidates]).amax(0)
    return low + (high - low) * torch.linspace(0, 1, GRID_POINTS)[:, None]


def _sums(rows: Block, n_classes: int, grid: torch.Tensor | None, block: int) -> Sums:
    n, m = rows.candidates.shape
    one_hot = torch.nn.functional.one_hot(rows.labels, n_classes).float()
    by_class = [(rows.shared.T @ one_hot)[:, :, None].expand(-1, -1, m), (one_hot.T @ rows.candidates)[None]]
    squares = rows.shared.square().sum(0)[:, None].expand(-1, m), torch.zeros(1, m, device=rows.labels.device)
    histogram = torch.zeros(()) if grid is None else torch.zeros_like(grid)
    for x in rows.candidates.split(max(1, block // m)):
        squares[1].add_(x.square().sum(0))
        if grid is not None:
            cells = ((x - grid[0]) * (1 / (grid[1] - grid[0]).clamp_min(1e-12))).add_(0.5).long()
            histogram.scatter_add_(0, cells.clamp_(0, GRID_POINTS - 1), torch.ones_like(x))
    return Sums(float(n), torch.cat(by_class), torch.cat(squares), histogram)


def _penalty(whole: Sums, c: float) -> torch.Tensor:
    """Penalties that standardise each split on its own fitted rows, as a pipeline refitted per fold would: features are
    in units of the whole set, and a change of unit only multiplies a feature's penalty by its variance in the split."""
    variances = whole.squares / whole.n_rows - (whole.by_class.sum(1) / whole.n_rows).square()
    # a feature that is constant in the split keeps its unit, and its weight is then penalised to zero;
    # with two classes scikit-learn penalises one weight vector, which is the difference of the two here
    n_classes = whole.by_class.shape[1]
    penalty = torch.where(variances > 1e-6, variances, 1.0) * (2.0 if n_classes == 2 else 1.0) / c
    penalty[0] = 0.0  # the intercept
    return penalty[:, None]


def _accuracy(rows: Block, parameters: torch.Tensor, block: int) -> torch.Tensor:
    s, (c, m) = rows.shared.shape[1], parameters.shape[1:]
    correct = torch.zeros(m, dtype=torch.float64, device=parameters.device)
    size = max(1, block // (c * m))
    for start in range(0, len(rows.labels), size):
        shared, candidates, labels = (part[start : start + size] for part in rows)
        logits = (shared @ parameters[:s].reshape(s, c * m)).view(-1, c, m).addcmul_(candidates[:, None], parameters[s])
        # like argmax (the first of equal classes), but several times faster along such a short axis
        best, winner = logits[:, 0].clone(), torch.zeros(len(labels), m, dtype=torch.int16, device=labels.device)
        for k in range(1, c):
            winner.masked_fill_(logits[:, k] > best, k)
            torch.maximum(best, logits[:, k], out=best)
        correct += (winner == labels[:, None]).sum(0)
    return correct / len(rows.labels)
