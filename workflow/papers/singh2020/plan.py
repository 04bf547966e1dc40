"""What singh2020's figures and table are made from."""

from workflow.lib.base.names import analysis_files, data_file, pretrained, sweep_file, tuned
from workflow.lib.base.needs import Needs, picked
from workflow.lib.base.runs import runs, spread_over
from workflow.lib.base.tasks import labelled_rows, places_of_task
from workflow.lib.encoders.shapes import layers_of


def tasks_of(section: dict) -> list[str]:
    return list(section["fractions"])


def other_tasks(section: dict) -> list[str]:
    """All but the one with panels of its own."""
    return [task for task in tasks_of(section) if task != section["last_task"]]


def fractions_of(section: dict, task: str) -> list[float]:
    """Shares of a task's training rows, the largest first; figure 1c may want one of its own."""
    asked = [*section["fractions"][task], section["small"].get(task)]
    return sorted(set(asked) - {None}, reverse=True)


def initialisers_of(section: dict, task: str, fraction: float) -> list[str]:
    """The configured one, and both where they are compared."""
    both = task in section["compared"] and fraction == max(fractions_of(section, task))
    return ["reinit", "nearzero"] if both else [section["initialiser"]]


def sweep_models(config: dict, tasks: list[str]) -> list[str]:
    """Models of which only scores and weight distances are kept: the top k layers re-initialised; none for `full`."""
    section = config["singh2020"]
    return [
        tuned(encoder, task, recipe, fraction, seed)
        for task in tasks
        for encoder, seed in runs(section)
        for fraction in fractions_of(section, task)
        for recipe in [
            "full",
            *(
                f"{initialiser}-{k}"
                for initialiser in initialisers_of(section, task, fraction)
                for k in range(1, layers_of(config, encoder) + 1)
            ),
        ]
    ]


def probing_settings(config: dict) -> dict:
    """What panels of probes need beside their task; their captions say what short probes are repeated over."""
    section, probe_seeds = config["singh2020"], config["layer_probes"]["seeds"]
    repeated = spread_over(len(section["encoders"]), len(probe_seeds), "probe seeds")
    return picked(section, "initialiser") | {"short_probes": repeated}


def artifacts(config: dict) -> dict[str, Needs]:
    section = config["singh2020"]
    tasks, others, last = tasks_of(section), other_tasks(section), section["last_task"]

    def sweeps(tasks: list[str], table: str = "scores") -> list[str]:
        return [sweep_file(model, table) for model in sweep_models(config, tasks)]

    def probes(tasks: list[str]) -> list[str]:
        return analysis_files("layer_probes", "scores", map(pretrained, section["encoders"]), tasks)

    data = [data_file(place) for task in tasks for place in places_of_task(config, task)]
    made = {
        "table1": Needs({"data": data}, {"tasks": {task: labelled_rows(config, task) for task in tasks}}),
        "fig1": Needs(
            {"sweeps": sweeps(tasks)},
            {"tasks": others} | picked(section, "last_task", "fractions", "small", "initialiser"),
        ),
    }
    if others:
        made["fig2"] = Needs(
            {"probes": probes(others), "sweeps": sweeps(others)}, {"tasks": others} | probing_settings(config)
        )
        made["fig3"] = Needs(
            {"distances": sweeps(others, "distances")}, {"tasks": others} | picked(section, "fractions")
        )
    if last:
        made["fig5"] = Needs(
            {"probes": probes([last]), "sweeps": sweeps([last]), "distances": sweeps([last], "distances")},
            {"tasks": [last]} | probing_settings(config),
        )
    if section["compared"]:
        made["initialisers"] = Needs({"sweeps": sweeps(section["compared"])}, {"tasks": section["compared"]})
    return made


def scored(config: dict) -> Needs:
    """What measured numbers and claims are taken from."""
    section = config["singh2020"]
    tasks = tasks_of(section)
    models = sweep_models(config, tasks)
    return Needs(
        {
            "sweeps": [sweep_file(model) for model in models],
            "distances": [sweep_file(model, "distances") for model in models],
            "probes": analysis_files("layer_probes", "scores", map(pretrained, section["encoders"]), tasks),
            "sizes": "<results>/tables/singh2020/table1.csv",
        },
        {"tasks": tasks} | picked(section, "initialiser", "fractions", "small"),
    )


def trained_tasks(section: dict) -> list[str]:
    """Tasks that are trained as `training` in the paper's section says."""
    return list(section["fractions"])


def check(config: dict, faults) -> None:
    """What the schema cannot say."""
    section = config["singh2020"]
    faults.instances("singh2020.encoders", section["encoders"], source="trained")
    faults.tasks("singh2020.fractions", tasks_of(section), heads=("sequence",))
    valid, what = list(section["fractions"]), "task in singh2020.fractions"
    faults.names("singh2020.small", list(section["small"]), valid, what)
    faults.names("singh2020.compared", section["compared"], valid, what)
    if section["last_task"]:
        faults.name("singh2020.last_task", section["last_task"], valid, what)
    faults.same_depth("singh2020.encoders", section["encoders"])
