"""What matton2019 asks of models and analyses. No rules here."""


def matton_runs():
    """Encoder and fine-tuning seed of every repetition: the spread of every curve is over these."""
    section = config["matton2019"]
    return [(encoder, seed) for encoder in section["encoders"] for seed in section["seeds"]]


def matton_settings(*keys):
    """The smallest piece of the section, so that a change reruns only what depends on it."""
    return {key: config["matton2019"][key] for key in keys}


def matton_models(state, task=None):
    """Models that matton2019's analyses look at: `pretrained` or `tuned` (on one task, or on all)."""
    if state == "pretrained":
        return [pretrained(encoder) for encoder in config["matton2019"]["encoders"]]
    tasks = [task] if task else config["matton2019"]["tasks"]
    return [tuned(encoder, of, seed=seed) for of in tasks for encoder, seed in matton_runs()]


def matton_task(number):
    """Figures 1, 2, 3 show the first, second and third task."""
    return config["matton2019"]["tasks"][int(number) - 1]


def matton_middle_task():
    """Figure 5 shows AG-news, or, where it is not among the tasks, the middle one."""
    tasks = config["matton2019"]["tasks"]
    return "ag_news" if "ag_news" in tasks else tasks[len(tasks) // 2]


def matton_inputs(artifact):
    """What an artifact of matton2019 is made from."""
    before, after = matton_models("pretrained"), matton_models("tuned")
    both = before + after
    places = [place for task in config["matton2019"]["tasks"] for place in task_places(task)]
    of_shown = matton_models("tuned", matton_middle_task())[:1]
    greedy = analysis_of(both, "neurons", "greedy")
    return {
        "table1": {"data": [data_file(place) for place in places]},
        "table2": {
            "greedy": greedy,
            "metrics": metrics_of(after),
            "published": published("matton2019"),
        },
        "table3": {"greedy": greedy},
        "table_components": {
            "accuracy": analysis_of(after, "pca", "accuracy"),
            "published": published("matton2019"),
        },
        "pca_sample_size": {"samples": analysis_of(before, "pca", "samples")},
        "fig4": {
            "variance": analysis_of(both, "pca", "variance"),
            "published": published("matton2019"),
        },
        "fig5": {
            "best": analysis_of(of_shown, "neurons", "best"),
            "greedy": analysis_of(of_shown, "neurons", "greedy"),
        },
        "fig6": {"alone": analysis_of(after, "neurons", "alone")},
    }[artifact]


def matton_parameters(artifact):
    """The piece of config an artifact itself depends on."""
    if artifact == "fig5":
        return {"task": matton_middle_task()}
    if artifact == "fig4":
        return {"published": config["figures"]["published"]}
    if artifact == "table1":
        return matton_settings("tasks")
    return matton_settings("sample_components") if artifact == "pca_sample_size" else {}


def matton_cached():
    return matton_models("pretrained") + matton_models("tuned")


def matton_inputs_of(model):
    """General sentences, and the texts of the model's tasks."""
    return {"cls": [config["matton2019"]["general"], *task_inputs(matton_tasks(model))["cls"]]}


def matton_tasks(model):
    """Tasks whose data a model is looked at with: its own, or, before fine-tuning, all of the paper."""
    if model in matton_models("pretrained"):
        return config["matton2019"]["tasks"]
    return [task_of(model)] if model in matton_models("tuned") else []
