"""What zhou2022 asks of models and analyses. No rules here."""


def published_as(instances):
    """Encoders that are one of the paper's, by the size that its tables name; only these stand beside its numbers."""
    sizes = {name: config["encoders"][name.split(".")[0]].get("published_as") for name in instances}
    return {name: size for name, size in sizes.items() if size}


def zhou_settings(*keys):
    """The smallest piece of the section, so that a change reruns only what depends on it."""
    return {key: config["zhou2022"][key] for key in keys}


def zhou_models(state, encoders=None, tasks=None):
    """Table 7's models: `pretrained`, or `tuned` on each task with each seed."""
    section = config["zhou2022"]
    encoders = encoders or section["encoders"]
    if state == "pretrained":
        return [pretrained(encoder) for encoder in encoders]
    return [
        tuned(encoder, task, seed=seed)
        for encoder in encoders
        for task in tasks or section["tasks"]
        for seed in section["seeds"]
    ]


def zhou_cross_models():
    """Table 5's models: the path encoder, tuned on one task and probed for another."""
    tasks = [task for others in config["zhou2022"]["cross_tasks"].values() for task in others]
    return zhou_models("tuned", [config["zhou2022"]["path_encoder"]], list(dict.fromkeys(tasks)))


def zhou_path_models(tasks=None):
    """Models whose way from the first update to the last is followed; one repetition, as in the paper."""
    section = config["zhou2022"]
    return [
        tuned(section["path_encoder"], task, seed=section["seeds"][0])
        for task in tasks or section["path_tasks"]
    ]


def zhou_cached():
    """Table 7's models, table 5's, and those whose way is followed."""
    before = zhou_models("pretrained") + [pretrained(config["zhou2022"]["path_encoder"])]
    return before + zhou_models("tuned") + zhou_cross_models() + zhou_path_models()


def zhou_inputs_of(model):
    return task_inputs(zhou_tasks(model))


def zhou_tasks(model):
    """Tasks whose data a model is looked at with: its own, those it is probed for, or, before fine-tuning, all."""
    section = config["zhou2022"]
    encoder = encoder_of(model)
    if model in zhou_models("pretrained", section["encoders"] + [section["path_encoder"]]):
        probed = list(section["cross_tasks"]) if encoder == section["path_encoder"] else []
        own = section["tasks"] if encoder in section["encoders"] else []
        return list(dict.fromkeys(own + probed))
    own = [task_of(model)] if model in zhou_models("tuned") + zhou_path_models() else []
    probed = [
        probed
        for probed, others in section["cross_tasks"].items()
        if model in zhou_cross_models() and task_of(model) in others
    ]
    return list(dict.fromkeys(own + probed))


def zhou_data(model):
    return [
        data_file(place)
        for place in dict.fromkeys(p for t in zhou_tasks(model) for p in task_places(t))
    ]


def points_of(task):
    """Where the vectors of a task's labelled units are, and what is labelled."""
    return {"head": training_of(config, task)["head"], "unit": unit_of(task), **task_data(task)}


def zhou_analysis(method, table, models=None):
    both = models or zhou_models("pretrained") + zhou_models("tuned")
    return analysis_of(both, method, table)


def zhou_path_inputs(tasks=None):
    models = zhou_path_models(tasks)
    return {table: analysis_of(models, "paths", table) for table in ("distances", "centroids")}


def zhou_inputs(artifact):
    """What an artifact of zhou2022 is made from."""
    section = config["zhou2022"]
    path_tasks, base = section["path_tasks"], section["path_encoder"]
    in_order = (
        path_tasks[:1:-1] + path_tasks[:2]
    )  # PS-role, PS-fxn, POS, DEP, as in the paper's panels
    cross = [pretrained(base)] + zhou_cross_models()
    places = dict.fromkeys(place for task in section["tasks"] for place in task_places(task))
    table7 = {
        "clusters": zhou_analysis("directprobe", "clusters"),
        "similarity": zhou_analysis("directprobe", "similarity"),
        "accuracy": zhou_analysis("mlp", "accuracy"),
        "published": published("zhou2022"),
    }
    inputs = {
        "table1": {"encoders": [f"<results>/encoders/{name}" for name in section["encoders"]]},
        "table5": {
            "distances": analysis_of(cross, "directprobe", "distances"),
            "accuracy": analysis_of(cross, "mlp", "accuracy"),
            "published": published("zhou2022"),
        },
        "table6": {"data": [data_file(place) for place in places]},
        "fig1": {},
        "fig2": zhou_path_inputs([path_tasks[-1], path_tasks[0]]),
        "fig3": zhou_path_inputs(path_tasks[:1]),
        "fig4": zhou_path_inputs(in_order) | {"published": published("zhou2022")},
        "fig5": {"centroids": analysis_of(zhou_path_models(path_tasks[:1]), "paths", "centroids")},
        "fig6": zhou_path_inputs(in_order),
    }
    inputs |= dict.fromkeys(("table2", "table3", "table4", "table7"), table7)
    inputs |= {
        f"fig{7 + at}": {"centroids": analysis_of(zhou_path_models([task]), "paths", "centroids")}
        for at, task in enumerate(path_tasks)
    }
    return inputs[artifact]


def zhou_parameters(artifact):
    """The piece of config an artifact itself depends on."""
    section = config["zhou2022"]
    shown = {"table2": [section["table2"]], "table3": [section["table3"]]}
    if artifact in ("table2", "table3", "table4", "table7"):
        return {
            "encoders": shown.get(artifact, section["encoders"]),
            "tasks": section["tasks"],
            "missing_labels": section["missing_labels"],
            "published_as": published_as(section["encoders"]),
        }
    return {
        "table1": zhou_settings("encoders"),
        "table5": {
            "published_as": published_as([section["path_encoder"]]),
            **zhou_settings("cross_tasks", "path_encoder"),
        },
        "table6": {"tasks": {task: points_of(task) for task in section["tasks"]}},
        "fig1": {"seed": config["seed"]},
        "fig2": zhou_settings("min_points"),
        "fig3": zhou_settings("min_points"),
        "fig4": {
            "published": config["figures"]["published"]
            and published_as([section["path_encoder"]]).get(section["path_encoder"]) == "base",
            **zhou_settings("min_points"),
        },
        "fig5": {"layers": "even"},
        "fig6": zhou_settings("min_points"),
    }.get(artifact, {"layers": "all"})


def zhou_script(artifact):
    """Several artifacts are one script."""
    shared = {
        "probing": ("table2", "table3", "table4", "table7"),
        "nearest_labels": ("fig2", "fig6"),
        "movements": ("fig5", "fig7", "fig8", "fig9", "fig10"),
    }
    return next((name for name, ids in shared.items() if artifact in ids), artifact)


def followed_data(model):
    """Unit and data with which the saved steps of a followed model are looked at; nothing for others."""
    if model not in zhou_path_models():
        return {}
    task = task_of(model)
    return {"unit": unit_of(task), "name": task_data(task)["train"]}
