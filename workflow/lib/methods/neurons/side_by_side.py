"""One softmax classifier per candidate feature, all fitted at once: shared features + one candidate each.

Every classifier has the objective of `linear.fit_softmax`. They are solved together by L-BFGS, one lane per candidate,
preconditioned with the exact Hessian at the optimum of the shared features alone. That Hessian is the same for all
candidates except for a border, so it costs one matrix product, and its inverse is a small Schur complement per
candidate: a candidate that adds little converges after a few evaluations. Converged lanes are dropped.

Shapes: rows n, shared features s (the first is the intercept's column of ones), classes c, candidates m (last, so that
every operation is a matrix product or runs along contiguous memory). Parameters are (s + 1, c, m).
"""

from dataclasses import dataclass, replace

import torch

HISTORY = 6  # pairs of L-BFGS; more were not faster
ARMIJO, LOSS_NOISE = 1e-4, 1e-6  # losses are float32 sums


@dataclass(frozen=True)
class Problem:
    shared: torch.Tensor  # (n, s)
    candidates: torch.Tensor  # (n, m)
    targets: torch.Tensor  # (s + 1, c, m): sums of features over each class, the labels' only contribution
    penalty: torch.Tensor  # (s + 1, 1, m)
    n_rows: float
    row_weights: torch.Tensor | None = None  # (n, m), if rows are grid points that represent several examples

    def only(self, lanes: torch.Tensor) -> "Problem":
        weights = None if self.row_weights is None else self.row_weights[:, lanes]
        return replace(
            self,
            candidates=self.candidates[:, lanes],
            targets=self.targets[..., lanes],
            penalty=self.penalty[..., lanes],
            row_weights=weights,
        )


@dataclass
class Lanes:
    """Parameters and L-BFGS pairs of all candidates, from which the next fold starts."""

    parameters: torch.Tensor  # (s + 1, c, m)
    steps: torch.Tensor  # (HISTORY, s + 1, c, m)
    changes: torch.Tensor  # (HISTORY, s + 1, c, m)
    inverse_curvature: torch.Tensor  # (HISTORY, m), zero where the pair is unused
    newest: int = 0

    @classmethod
    def at(cls, shared_parameters: torch.Tensor, n_candidates: int) -> "Lanes":
        s, c = shared_parameters.shape
        parameters = shared_parameters.new_zeros(s + 1, c, n_candidates)
        parameters[:s] = shared_parameters[:, :, None]
        pairs = parameters.new_zeros(HISTORY, s + 1, c, n_candidates)
        return cls(parameters, pairs, pairs.clone(), pairs.new_zeros(HISTORY, n_candidates))


class BorderedHessian:
    """Inverse of the Hessian at `shared_parameters` (candidates' weights zero), in blocks."""

    def __init__(self, problem: Problem, shared_parameters: torch.Tensor, block: int):
        n, s = problem.shared.shape
        c, m = shared_parameters.shape[1], problem.candidates.shape[1]
        first, second = torch.triu_indices(c, c, device=shared_parameters.device)
        corner = shared_parameters.new_zeros(s, len(first), s)
        border = shared_parameters.new_zeros(s * len(first), m)
        own = shared_parameters.new_zeros(len(first), m)
        size = max(1, block // (s * len(first) + m))
        for rows in (slice(i, i + size) for i in range(0, n, size)):
            z, x = problem.shared[rows], problem.candidates[rows]
            p = torch.softmax(z @ shared_parameters, dim=1)
            # the softmax is invariant to a shift of all classes: the constant makes the Hessian definite, nothing else
            pairs = p[:, first] * ((first == second).to(p) - p[:, second]) + 1.0 / c**2
            weighted, squares = (z[:, :, None] * pairs[:, None, :]).flatten(1), x.square()
            if problem.row_weights is not None:
                x, squares = x * problem.row_weights[rows], squares * problem.row_weights[rows]
                # row weights occur only if the intercept is the only shared feature: all columns then have the same sum
                z = z * problem.row_weights[rows, :1]
            corner += (weighted.T @ z).view(s, len(first), s)
            border += weighted.T @ x
            own += pairs.T @ squares
        pair_of = torch.zeros(c, c, dtype=torch.long, device=first.device)
        pair_of[first, second] = pair_of[second, first] = torch.arange(len(first), device=first.device)
        shared_block = corner[:, pair_of].permute(0, 1, 3, 2).reshape(s * c, s * c).double()
        shared_block += torch.diag(problem.penalty[:s, :, 0].expand(s, c).reshape(-1) + 1e-6 * problem.n_rows)
        self.shared_inverse = torch.linalg.inv(shared_block).float()
        coupling = border.view(s, len(first), m)[:, pair_of].permute(3, 0, 1, 2).reshape(m, s * c, c)
        self.elimination = self.shared_inverse @ coupling  # (m, s*c, c)
        schur = own[pair_of].permute(2, 0, 1) - coupling.transpose(1, 2) @ self.elimination
        # for a copy of a shared feature this is only rounding: the floor keeps its step bounded
        floor = problem.penalty[s, 0] + 1e-5 * problem.n_rows
        schur = schur.double() + floor[:, None, None] * torch.eye(c, dtype=torch.float64, device=schur.device)
        self.own_inverse = torch.linalg.inv(schur).float()  # (m, c, c)

    def solve(self, vectors: torch.Tensor, lanes: torch.Tensor) -> torch.Tensor:
        s, c = vectors.shape[0] - 1, vectors.shape[1]
        of_shared, elimination = vectors[:s].reshape(s * c, -1), self.elimination[lanes]
        remainder = vectors[s].T - (elimination.transpose(1, 2) @ of_shared.T[:, :, None])[:, :, 0]
        own = self.own_inverse[lanes] @ remainder[:, :, None]
        shared = self.shared_inverse @ of_shared - (elimination @ own)[:, :, 0].T
        return torch.cat([shared.view(s, c, -1), own[:, :, 0].T[None]])


def loss_and_gradient(problem: Problem, parameters: torch.Tensor, block: int) -> tuple[torch.Tensor, torch.Tensor]:
    s, c, m = problem.shared.shape[1], *parameters.shape[1:]
    shared_parameters, own = parameters[:s].reshape(s, c * m), parameters[s]
    loss, gradient = parameters.new_zeros(m), torch.zeros_like(parameters)
    size = min(max(1, block // (c * m)), len(problem.shared))
    buffer = parameters.new_empty(size, c * m)  # allocating memory for each block would cost more than the arithmetic
    for start in range(0, len(problem.shared), size):
        rows = slice(start, start + size)
        z, x = problem.shared[rows], problem.candidates[rows]
        logits = torch.mm(z, shared_parameters, out=buffer[: len(z)]).view(-1, c, m).addcmul_(x[:, None], own)
        top = logits.amax(1)
        probabilities = logits.sub_(top[:, None]).exp_()
        total = probabilities.sum(1)
        top += total.log()
        scale = total.reciprocal_()
        if problem.row_weights is not None:
            top *= problem.row_weights[rows]
            scale *= problem.row_weights[rows]
        loss += top.sum(0)
        probabilities *= scale[:, None]
        gradient[:s] += (z.T @ probabilities.view(-1, c * m)).view(s, c, m)
        gradient[s] += probabilities.mul_(x[:, None]).sum(0)
    pulled = problem.penalty * parameters
    loss += (parameters * (0.5 * pulled - problem.targets)).sum((0, 1))
    return loss, gradient - problem.targets + pulled


def _direction(lanes: Lanes, gradient: torch.Tensor, hessian: BorderedHessian, active: torch.Tensor) -> torch.Tensor:
    """L-BFGS two-loop recursion, newest pair first; pairs of zero inverse curvature have no effect."""
    order = [(lanes.newest - i) % HISTORY for i in range(HISTORY)]
    pairs = [
        (lanes.steps[i][..., active], lanes.changes[i][..., active], lanes.inverse_curvature[i][active]) for i in order
    ]
    q, alphas = gradient.clone(), []
    for step, change, inverse_curvature in pairs:
        alphas.append(inverse_curvature * (step * q).sum((0, 1)))
        q -= alphas[-1] * change
    q = hessian.solve(q, active)
    for (step, change, inverse_curvature), alpha in zip(reversed(pairs), reversed(alphas)):
        q += (alpha - inverse_curvature * (change * q).sum((0, 1))) * step
    return -q


def fit(
    problem: Problem, lanes: Lanes, hessian: BorderedHessian, tolerance: float, block: int, max_evaluations: int = 60
) -> None:
    """Move `lanes` to the optimum of `problem`, in place; a lane stops when its mean gradient is below `tolerance`."""
    active = torch.arange(problem.candidates.shape[1], device=lanes.parameters.device)
    here = lanes.parameters.clone()
    loss, gradient = loss_and_gradient(problem, here, block)
    stride = torch.ones_like(loss)
    for _ in range(max_evaluations):
        direction = _direction(lanes, gradient, hessian, active)
        done = gradient.abs().amax((0, 1)) <= tolerance * problem.n_rows
        # the last step needs no evaluation: near the optimum it is a Newton step
        lanes.parameters[..., active] = here + done * direction
        keep = torch.nonzero(~done)[:, 0]
        if len(keep) == 0:
            return
        if len(keep) < len(active):
            active, here, loss, gradient, stride = (
                active[keep],
                here[..., keep],
                loss[keep],
                gradient[..., keep],
                stride[keep],
            )
            direction, problem = direction[..., keep], problem.only(keep)
        step = stride * direction
        new_loss, new_gradient = loss_and_gradient(problem, here + step, block)
        slope = (step * gradient).sum((0, 1))
        accepted = new_loss <= loss + ARMIJO * slope + LOSS_NOISE * loss.abs()
        change = new_gradient - gradient
        curvature = (step * change).sum((0, 1))
        useful = curvature > 1e-7 * slope.abs()
        lanes.newest = (lanes.newest + 1) % HISTORY
        lanes.steps[lanes.newest][..., active] = step
        lanes.changes[lanes.newest][..., active] = change
        lanes.inverse_curvature[lanes.newest][active] = torch.where(useful, 1.0 / curvature.clamp_min(1e-30), 0.0)
        here = torch.where(accepted, here + step, here)
        loss, gradient = torch.where(accepted, new_loss, loss), torch.where(accepted, new_gradient, gradient)
        stride = torch.where(accepted, 1.0, stride * 0.3)
