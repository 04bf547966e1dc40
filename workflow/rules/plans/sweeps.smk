"""Which recipes are swept, and in which jobs. No rules here."""

import json


def layers_of(encoder):
    """Number of blocks, before the encoder is there: from the config, or from the folder that it is taken from."""
    name = encoder.split(".")[0]
    entry = config["encoders"][config["encoders"][name].get("like", name)]
    found = entry.get("layers")
    if "path" in entry:
        try:
            with open(os.path.join(entry["path"], "config.json")) as file:
                about = json.load(file)
        except (OSError, ValueError):
            raise WorkflowError(
                f"config: encoders.{name}.path: encoder folder {entry['path']} has no config.json"
            ) from None
        found = about.get("num_hidden_layers", about.get("n_layers"))
    if not found:
        raise WorkflowError(
            f"config: encoders.{name}.layers is missing: a sweep must know how deep the encoder is before it is fetched"
        )
    return found


def depth_by_encoder(section):
    """Layers of a section's encoders, which its curves average layer by layer."""
    layers = {encoder: layers_of(encoder) for encoder in config[section]["encoders"]}
    if len(set(layers.values())) > 1:
        raise WorkflowError(
            f"config: {section}.encoders must all have the same number of layers, not {layers}"
        )
    return layers


def sweep_recipes(paper, encoder, task, fraction):
    """merchant2020: all recipes but `full`, which its models have. singh2020 keeps no models: `full` is one of them."""
    n = layers_of(encoder)
    lower = [f"freeze-{depth}" for depth in range(1, n + 1)]
    lower += [f"truncate-{depth}" for depth in range(1, n)]
    if paper == "merchant2020":
        return lower
    if paper == "beyond":
        return ["full", *lower, *(f"reinit-{depth}" for depth in range(1, n + 1))]
    depths = [(drawn, depth) for drawn in singh_draws(task, fraction) for depth in range(1, n + 1)]
    return ["full"] + [f"{drawn}-{depth}" for drawn, depth in depths]


def sweep_parts(paper, encoder, task, fraction):
    recipes = sweep_recipes(paper, encoder, task, fraction)
    size = config["sweeps"]["recipes_per_job"] or len(recipes)
    return [recipes[start : start + size] for start in range(0, len(recipes), size)]


def sweep_tables(paper, encoder, task, fraction=1, seed=0, table=""):
    """Scores, or another table (`.distances`)."""
    return [
        f"<results>/sweeps/{paper}/{encoder}/{task}.f{fraction}.s{seed}/{part:02d}{table}.parquet"
        for part in range(len(sweep_parts(paper, encoder, task, fraction)))
    ]
