"""Targets of a dataset of spans, as arrays."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workflow.lib.base.errors import UserError


@dataclass(frozen=True)
class Targets:
    """One entry per target, in order of rows."""

    row: np.ndarray  # (targets,)
    start: np.ndarray  # (spans, targets) first word of each span within its row
    end: np.ndarray  # (spans, targets)
    label: np.ndarray  # (labels,) names: all labels of all targets
    target_of_label: np.ndarray  # (labels,)


def read_targets(table: pa.Table, dataset: str) -> Targets:
    targets = table["targets"].combine_chunks()
    row, flat = pc.list_parent_indices(targets), pc.list_flatten(targets)
    if not len(flat):
        raise UserError(f"dataset {dataset}: no row has a target")
    n_single = pc.struct_field(flat, "start2").null_count
    if n_single not in (0, len(flat)):
        raise UserError(f"dataset {dataset}: {n_single} of {len(flat)} targets have one span, the others two")
    numbers = (1,) if n_single else (1, 2)
    start, end = (
        np.stack([pc.struct_field(flat, f"{side}{number}").to_numpy() for number in numbers]).astype(np.int64)
        for side in ("start", "end")
    )
    names = pc.struct_field(flat, "labels")
    of_label, label = pc.list_parent_indices(names).to_numpy(), pc.list_flatten(names).to_numpy(zero_copy_only=False)
    return Targets(row.to_numpy(), start, end, label, of_label)


def label_names(targets: Targets) -> list[str]:
    return sorted(set(targets.label))


def label_matrix(targets: Targets, names: list[str]) -> np.ndarray:
    """(targets, names) True where a target has a label."""
    number = {name: at for at, name in enumerate(names)}
    matrix = np.zeros((len(targets.row), len(names)), dtype=bool)
    matrix[targets.target_of_label, [number[name] for name in targets.label]] = True
    return matrix
