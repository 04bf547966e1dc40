"""What singh2020 asks of sweeps and analyses. No rules here."""


def singh_runs():
    """Encoder and fine-tuning seed of every repetition: the spread of every curve is over these.

    Encoders have seeds of their own (of seeds [0], the second encoder gets 1), because a seed also says which rows are
    drawn and how layers are redrawn: with the same ones for all, the bands would leave out what matters most.
    """
    section = config["singh2020"]
    n_seeds = max(section["seeds"]) + 1
    return [
        (encoder, number * n_seeds + seed)
        for number, encoder in enumerate(section["encoders"])
        for seed in section["seeds"]
    ]


def singh_tasks():
    return list(config["singh2020"]["fractions"])


def singh_fractions(task):
    """Shares of a task's training rows, the largest first; figure 1c may want one of its own."""
    section = config["singh2020"]
    asked = [*section["fractions"][task], section["small"].get(task)]
    return sorted(set(asked) - {None}, reverse=True)


def singh_draws(task, fraction):
    """How layers are drawn anew: by the configured initialiser, and by both where they are compared."""
    section = config["singh2020"]
    both = task in section["compared"] and float(fraction) == max(singh_fractions(task))
    return ["reinit", "nearzero"] if both else [section["initialiser"]]


def singh_sweeps(tasks, table=""):
    return [file for task in tasks for file in sweep_tables("singh2020", task, table)]


def singh_data():
    return [data_file(place) for task in singh_tasks() for place in task_places(task)]


def singh_inputs_of(model):
    """Whole texts of every task, for the layer probes of the encoders themselves."""
    return {"cls": [place for task in singh_tasks() for place in task_places(task)]}


def singh_cached():
    return [pretrained(encoder) for encoder in config["singh2020"]["encoders"]]


def singh_probes():
    return analysis_of(singh_cached(), "layer_probes", "scores")


def singh_inputs(artifact):
    """What an artifact of singh2020 is made from."""
    section = config["singh2020"]
    last = section["last_task"]
    others = [task for task in singh_tasks() if task != last]
    return {
        "table1": {"data": singh_data()},
        "fig1": {"sweeps": singh_sweeps(singh_tasks())},
        "fig2": {"probes": singh_probes(), "sweeps": singh_sweeps(others)},
        "fig3": {"distances": singh_sweeps(others, ".distances")},
        "fig5": {
            "probes": singh_probes(),
            "sweeps": singh_sweeps([last]),
            "distances": singh_sweeps([last], ".distances"),
        },
        "initialisers": {"sweeps": singh_sweeps(section["compared"])},
    }[artifact]


def singh_parameters(artifact):
    """The piece of config an artifact itself depends on."""
    section = config["singh2020"]
    others = [task for task in singh_tasks() if task != section["last_task"]]
    return {
        "table1": {"tasks": {task: task_data(task) for task in singh_tasks()}},
        "fig1": {
            "tasks": others,
            "last_task": section["last_task"],
            "fractions": section["fractions"],
            "small": section["small"],
            "initialiser": section["initialiser"],
        },
        "fig2": {"tasks": others},
        "fig3": {"tasks": others, "fractions": section["fractions"]},
        "fig5": {"tasks": [section["last_task"]]},
        "initialisers": {"tasks": section["compared"]},
    }[artifact]
