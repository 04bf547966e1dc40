"""What zhou2022's figures and tables are made from."""

from workflow.lib.base.names import analysis_file, analysis_files, data_file, encoder_folder, pretrained, tuned
from workflow.lib.base.needs import Needs, picked
from workflow.lib.base.tasks import labelled_rows, on_real_data, places_of_task
from workflow.lib.encoders.shapes import published_as


def tuned_models(section: dict, encoders: list[str], tasks: list[str]) -> list[str]:
    return [tuned(encoder, task, seed=seed) for encoder in encoders for task in tasks for seed in section["seeds"]]


def cells(section: dict, encoders: list[str], method: str, table: str) -> list[str]:
    """Encoders before tuning and after tuning on the very task that is probed."""
    return [
        analysis_file(method, f"{model}/{task}", table)
        for encoder in encoders
        for task in section["tasks"]
        for model in (pretrained(encoder), *tuned_models(section, [encoder], [task]))
    ]


def cross_files(section: dict, method: str, table: str) -> list[str]:
    """Table 5: one encoder, before tuning and tuned on other tasks than the one that is probed."""
    encoder = section["tracked_encoder"]
    return [
        file
        for probed, others in section["cross_tasks"].items()
        for file in analysis_files(
            method, table, [pretrained(encoder), *tuned_models(section, [encoder], others)], [probed]
        )
    ]


def tracked_files(section: dict, table: str, tasks: list[str]) -> list[str]:
    """Labels during fine-tuning; one run, as in the paper."""
    encoder, seed = section["tracked_encoder"], section["seeds"][0]
    return [analysis_file("paths", f"{tuned(encoder, task, seed=seed)}/{task}", table) for task in tasks]


def tracked(section: dict, tasks: list[str]) -> dict[str, list[str]]:
    return {table: tracked_files(section, table, tasks) for table in ("distances", "centroids")}


def panel_order(tasks: list[str]) -> list[str]:
    """PS-role, PS-fxn, POS, DEP, as in the paper's panels, where tasks are POS, DEP, PS-fxn, PS-role."""
    return tasks[:1:-1] + tasks[:2]


def accuracy_spread(n_tuning_seeds: int, n_probe_seeds: int) -> str:
    """For captions: what a probe accuracy's ± is."""
    over_probe = f"over the probe's {n_probe_seeds} seeds" if n_probe_seeds > 1 else "not known of one probe seed"
    if n_tuning_seeds == 1:
        return f"one standard deviation {over_probe}, with one fine-tuning run"
    return f"one standard deviation over {n_tuning_seeds} fine-tuning seeds (before tuning {over_probe})"


def captions(config: dict) -> dict[str, str]:
    """What captions say of the classifier probe and of labels with few points."""
    section, probe = config["zhou2022"], config["mlp"]
    return {
        "accuracy_spread": accuracy_spread(len(section["seeds"]), probe["n_seeds"]),
        "stopping": {"accuracy": "held-out accuracy", "loss": "training loss"}[probe["grid_stopping"]],
        "few_points": {"shared": "are left out", "zero": "count as 0"}[section["missing_labels"]],
    }


def artifacts(config: dict) -> dict[str, Needs]:
    section, tasks = config["zhou2022"], config["zhou2022"]["tasks"]
    followed, base = section["tracked_tasks"], section["tracked_encoder"]
    names, texts = published_as(config, section["encoders"]), captions(config)
    is_papers = published_as(config, [base]).get(base) == "base"  # the encoder whose labels the paper follows
    data = dict.fromkeys(data_file(place) for task in tasks for place in places_of_task(config, task))
    about = {"tasks": tasks, "published_as": names, "compared": on_real_data(config, tasks)}
    about |= picked(section, "missing_labels", "min_points") | texts
    marked = on_real_data(config, followed) if config["figures"]["published"] and is_papers else []
    drawn = {"published": marked, "crosses": " Crosses: published values." if marked else ""}
    drawn |= picked(section, "min_points")

    def probed(encoders: list[str]) -> Needs:
        """Table 7, or the part of it that is of these encoders."""
        sources = {"clusters": "directprobe", "distances": "directprobe", "accuracy": "mlp"}
        files = {table: cells(section, encoders, method, table) for table, method in sources.items()}
        return Needs(files, {"encoders": encoders} | about)

    made = {
        "table1": Needs({"encoders": [encoder_folder(name) for name in section["encoders"]]}, {"published_as": names}),
        "table2": probed([section["table2"]]),
        "table3": probed([section["table3"]]),
        "table4": probed(section["encoders"]),
        "table6": Needs({"data": list(data)}, {"tasks": {task: labelled_rows(config, task) for task in tasks}}),
        "table7": probed(section["encoders"]),
        "fig1": Needs({}, {"seed": config["seed"]}),
        "fig2": Needs(tracked(section, list(dict.fromkeys([followed[-1], followed[0]]))), drawn),
        "fig3": Needs(tracked(section, followed[:1]), picked(section, "min_points")),
        "fig4": Needs(
            tracked(section, panel_order(followed)),
            drawn | picked(section, "missing_labels") | picked(texts, "few_points"),
        ),
        "fig5": Needs({"centroids": tracked_files(section, "centroids", followed[:1])}, {"layers": "even"}),
        "fig6": Needs(tracked(section, panel_order(followed)), drawn),
    }
    for number, task in zip((7, 8, 9, 10), followed):
        made[f"fig{number}"] = Needs({"centroids": tracked_files(section, "centroids", [task])}, {"layers": "all"})
    if section["cross_tasks"]:
        made["table5"] = Needs(
            {
                "distances": cross_files(section, "directprobe", "distances"),
                "accuracy": cross_files(section, "mlp", "accuracy"),
            },
            {"compared": on_real_data(config, trained_tasks(section)) if is_papers else []}
            | picked(section, "cross_tasks")
            | picked(texts, "accuracy_spread"),
        )
    return made


def scored(config: dict) -> Needs:
    """What measured numbers and claims are taken from."""
    section, made = config["zhou2022"], artifacts(config)
    inputs = dict(made["table7"].inputs)
    if "table5" in made:
        inputs |= {f"cross_{name}": files for name, files in made["table5"].inputs.items()}
    inputs |= {f"path_{name}": files for name, files in tracked(section, section["tracked_tasks"]).items()}
    return Needs(
        inputs | {f"shown_{id}": f"<results>/tables/zhou2022/{id}.csv" for id in ("table1", "table6")},
        {"published_as": published_as(config, [*section["encoders"], section["tracked_encoder"]])}
        | picked(section, "tasks", "table3", "min_points", "missing_labels", "cross_tasks", "tracked_encoder"),
    )


def trained_tasks(section: dict) -> list[str]:
    """Tasks that are trained as `training` in the paper's section says."""
    others = [task for probed, tasks in section["cross_tasks"].items() for task in (probed, *tasks)]
    return list(dict.fromkeys([*section["tasks"], *section["tracked_tasks"], *others]))


def check(config: dict, faults) -> None:
    """What the schema cannot say."""
    section, heads = config["zhou2022"], ("sequence", "word", "word_pair")
    faults.instances("zhou2022.encoders", section["encoders"])
    faults.instance("zhou2022.tracked_encoder", section["tracked_encoder"])
    for key in ("tasks", "tracked_tasks"):
        faults.tasks(f"zhou2022.{key}", section[key], heads)
    for key in ("table2", "table3"):
        faults.name(f"zhou2022.{key}", section[key], section["encoders"], "encoder in zhou2022.encoders")
    for probed, others in section["cross_tasks"].items():
        faults.tasks(f"zhou2022.cross_tasks.{probed}", [probed, *others], heads)
