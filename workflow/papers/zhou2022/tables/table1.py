"""Table 1: the encoders, their layers, width and parameters."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from safetensors import safe_open

from workflow.papers.zhou2022.published import beside_paper

PAPER = {"layers": "layers", "hidden size": "hidden_size", "parameters (M)": "parameters_m"}  # in published.csv


def describe(folder: Path) -> dict:
    """From the config and the headers of the weights: nothing is loaded."""
    config = json.loads((folder / "config.json").read_text())
    n_parameters = 0
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="np") as weights:
            n_parameters += sum(int(np.prod(weights.get_slice(name).get_shape())) for name in weights.keys())  # noqa: SIM118
    known = {"layers": ("num_hidden_layers", "n_layers"), "hidden size": ("hidden_size", "dim"),
             "heads": ("num_attention_heads", "n_heads")}  # fmt: skip
    shape = {name: next((config[key] for key in keys if key in config), None) for name, keys in known.items()}
    return shape | {"parameters (M)": n_parameters / 1e6 if n_parameters else float("nan")}


if __name__ == "__main__":
    from workflow.lib.base.logs import to_rule_log
    from workflow.lib.base.tables import write_text_tables

    to_rule_log(snakemake.log[0])
    rows = [{"encoder": Path(folder).name} | describe(Path(folder)) for folder in snakemake.input.encoders]
    table, published_as = pd.DataFrame(rows), snakemake.params.settings["published_as"]
    series = [published_as.get(encoder, "") for encoder in table["encoder"]]
    table = beside_paper(table, pd.read_csv(snakemake.input.published), "table1", series, PAPER)
    write_text_tables(table, snakemake.output.csv, snakemake.output.md, digits=3)
