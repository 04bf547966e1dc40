"""Made files in the place and the form of licensed ones: one record a split."""

import json
from collections.abc import Iterable
from pathlib import Path

LINES = {
    "span": json.dumps({"text": "a b", "targets": [{"span1": [0, 1], "label": "x"}]}),
    "span-pair": json.dumps({"text": "a b", "targets": [{"span1": [0, 1], "span2": [1, 2], "label": "x"}]}),
    "tree": "1\ta\ta\tNOUN\t_\t_\t0\troot\t_\t_\n",
}


def provide(folder: Path, registry: dict, names: Iterable[str]) -> None:
    for name in names:
        [source] = registry[name]["sources"]
        for split in registry[name]["splits"].values():
            file = folder / source["raw"] / split["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(LINES[registry[name]["shape"]] + "\n")
