"""Which recipes are swept, and in which jobs. No rules here."""

import json


def layers_of(encoder):
    """Number of blocks, before the encoder is there: from the config, or from the folder that it is taken from."""
    name = encoder.split(".")[0]
    entry = config["encoders"][config["encoders"][name].get("like", name)]
    if "path" in entry:
        with open(os.path.join(entry["path"], "config.json")) as file:
            about = json.load(file)
        return about.get("num_hidden_layers", about.get("n_layers"))
    if not entry.get("layers"):
        raise WorkflowError(
            f"config: encoders.{name}.layers is missing: a sweep must know how deep the encoder is before it is fetched"
        )
    return entry["layers"]


def sweep_recipes(paper, encoder):
    """All recipes of a paper's sweep but `full`, which the models have."""
    n = layers_of(encoder)
    freeze = [f"freeze-{depth}" for depth in range(1, n + 1)]
    return {"merchant2020": freeze + [f"truncate-{depth}" for depth in range(1, n)]}[paper]


def sweep_parts(paper, encoder):
    recipes = sweep_recipes(paper, encoder)
    size = config["sweeps"]["recipes_per_job"] or len(recipes)
    return [recipes[start : start + size] for start in range(0, len(recipes), size)]


def sweep_tables(paper, encoder, task, fraction=1, seed=0):
    return [
        f"<results>/sweeps/{paper}/{encoder}/{task}.f{fraction}.s{seed}/{part:02d}.parquet"
        for part in range(len(sweep_parts(paper, encoder)))
    ]
