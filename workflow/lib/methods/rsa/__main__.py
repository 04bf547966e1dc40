"""`python -m workflow.lib.methods.rsa before.npz after.npz`: how alike two spaces arrange the same tokens.

X in both files: (tokens x width), rows the same tokens; or (layers x tokens x width), compared layer by layer.
"""

import sys
from pathlib import Path

from workflow.lib.base.errors import UserError
from workflow.lib.methods.arrays import named, numbers, read_arrays, run_command
from workflow.lib.methods.rsa.similarity import similarity


def report(options) -> dict:
    one, other = (numbers(read_arrays(path, ("X",))["X"], f"{path}: X") for path in (options.before, options.after))
    one, other = (x[None] if x.ndim == 2 else x for x in (one, other))
    with named(options.before, options.after):
        if not one.ndim == other.ndim == 3 or len(one) != len(other):
            what = "(tokens x width), or as many layers of these"
            raise UserError(f"X has the shapes {one.shape} and {other.shape}: {what}")
        found = [similarity(*layers) for layers in zip(one, other)]
    lines = [f"layer {layer}: {value:.4f}" for layer, value in enumerate(found)]
    return {"similarity": found, "lines": lines if len(found) > 1 else [f"similarity {found[0]:.4f}"]}


def add_options(parser) -> None:
    parser.add_argument("before", type=Path, help="an .npz or .parquet file with X")
    parser.add_argument("after", type=Path, help="another, of the same tokens")


def main(arguments: list[str] | None = None) -> int:
    return run_command("rsa", __doc__, report, add_options, arguments)


if __name__ == "__main__":
    sys.exit(main())
