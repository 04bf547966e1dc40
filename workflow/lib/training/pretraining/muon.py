"""Muon: momentum with orthogonalised updates, for the matrices of a stack of blocks (Jordan et al., 2024).

The same as torch.optim.Muon, but in float32 and with all matrices of one shape at once: torch's works in bfloat16, one
matrix at a time, which on a processor without bfloat16 units takes three times as long as the rest of a step.
"""

from collections import defaultdict
from collections.abc import Iterable

import torch

COEFFICIENTS = (3.4445, -4.7750, 2.0315)  # of the iteration: singular values quickly end at about 0.7..1.2
N_ITERATIONS = 5


def orthogonal(matrices: torch.Tensor) -> torch.Tensor:
    """Matrices (n, rows, columns), rows <= columns, with the same singular vectors but singular values near 1."""
    a, b, c = COEFFICIENTS
    x = matrices / matrices.flatten(1).norm(dim=1).clamp(min=1e-7)[:, None, None]
    for _ in range(N_ITERATIONS):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x


class Muon(torch.optim.Optimizer):
    def __init__(self, matrices: Iterable[torch.Tensor], lr: float, momentum: float, weight_decay: float):
        super().__init__(matrices, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            by_shape = defaultdict(list)
            for matrix in group["params"]:
                if matrix.grad is not None:
                    by_shape[tuple(sorted(matrix.shape))].append(matrix)
            for alike in by_shape.values():
                self._update(alike, group)

    def _update(self, matrices: list[torch.Tensor], group: dict) -> None:
        gradients = [matrix.grad for matrix in matrices]
        velocities = [self.state[matrix].setdefault("velocity", torch.zeros_like(matrix)) for matrix in matrices]
        torch._foreach_lerp_(velocities, gradients, 1 - group["momentum"])
        ahead = torch._foreach_lerp(gradients, velocities, group["momentum"])  # Nesterov's look-ahead
        is_tall = [len(matrix) > matrix.shape[1] for matrix in matrices]
        made = orthogonal(torch.stack([one.mT if tall else one for one, tall in zip(ahead, is_tall)]))
        torch._foreach_mul_(matrices, 1 - group["lr"] * group["weight_decay"])
        for matrix, update, tall in zip(matrices, made, is_tall):
            # a tall matrix's columns are longer than a square one's
            scale = max(1, len(matrix) / matrix.shape[1]) ** 0.5
            matrix.add_(update.mT if tall else update, alpha=-group["lr"] * scale)
