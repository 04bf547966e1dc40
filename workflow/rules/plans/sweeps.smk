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


def sweep_recipes_of(paper, encoder, task):
    """(share of the training rows, recipe): merchant2020's models are the full fine-tuning, other sweeps run it too."""
    n = layers_of(encoder)
    lower = [f"freeze-{depth}" for depth in range(1, n + 1)]
    lower += [f"truncate-{depth}" for depth in range(1, n)]
    if paper == "merchant2020":
        return [(1, recipe) for recipe in lower]
    if paper == "beyond":
        return [
            (1, recipe)
            for recipe in ("full", "freeze-0", *lower, *(f"reinit-{k}" for k in range(1, n + 1)))
        ]
    redrawn = [
        (fraction, f"{drawn}-{depth}")
        for fraction in singh_fractions(task)
        for drawn in singh_draws(task, fraction)
        for depth in range(1, n + 1)
    ]
    return [(fraction, "full") for fraction in singh_fractions(task)] + redrawn


def sweep_parts(paper, task):
    """(encoder, seed, share of the rows, recipe) of every run, job by job; encoders come one after the other."""
    repetitions = {
        "merchant2020": merchant_runs,
        "singh2020": singh_runs,
        "beyond": depth_runs,
    }[paper]()
    runs = [
        (encoder, seed, *run)
        for encoder, seed in repetitions
        for run in sweep_recipes_of(paper, encoder, task)
    ]
    return dealt(runs, config["sweeps"]["runs_per_job"])


def part_name(runs):
    """After its first run, not a number: another seed or encoder must not move the runs that were there."""
    encoder, seed, fraction, recipe = runs[0]
    return f"{encoder}.s{seed}.f{fraction}.{recipe}"


def sweep_part(wildcards):
    for runs in sweep_parts(wildcards.paper, wildcards.task):
        if part_name(runs) == wildcards.part:
            return runs
    raise WorkflowError(f"{wildcards.paper} has no sweep {wildcards.part} of {wildcards.task}")


def sweep_encoders(wildcards):
    return list(dict.fromkeys(encoder for encoder, *_ in sweep_part(wildcards)))


def sweep_tables(paper, task, table=""):
    """Scores, or another table (`.distances`), of all encoders and seeds."""
    return [
        f"<results>/sweeps/{paper}/{task}/{part_name(runs)}{table}.parquet"
        for runs in sweep_parts(paper, task)
    ]
