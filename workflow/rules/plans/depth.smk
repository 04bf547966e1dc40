"""What `depth_of_change` asks of models, sweeps and analyses. No rules here."""


def depth_runs():
    section = config["depth_of_change"]
    return [(encoder, seed) for encoder in section["encoders"] for seed in section["seeds"]]


def depth_models():
    """The same fine-tuned models for all methods."""
    tasks = config["depth_of_change"]["tasks"]
    return [tuned(encoder, task, seed=seed) for task in tasks for encoder, seed in depth_runs()]


def depth_cached():
    before = [pretrained(encoder) for encoder in config["depth_of_change"]["encoders"]]
    return before + depth_models()


def depth_inputs_of(model):
    """General text for RSA, and the task's own training rows, whose labels have a geometry."""
    section = config["depth_of_change"]
    tasks = section["tasks"] if model.endswith("pretrained") else [task_of(model)]
    inputs = {"token": [section["general"]]}
    for task in tasks:
        inputs.setdefault(unit_of(task), []).append(task_places(task)[0])
    return inputs
