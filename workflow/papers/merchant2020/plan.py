"""What merchant2020's figures and tables are made from."""

from workflow.lib.base.names import (
    analysis_files,
    data_file,
    folder_name,
    metrics_file,
    pretrained,
    sweep_file,
    task_of,
)
from workflow.lib.base.needs import Needs, picked
from workflow.lib.base.runs import sweep_models, tuned_models
from workflow.lib.base.tasks import places_of_task
from workflow.lib.encoders.shapes import layers_of

PUBLISHED_LAYERS = 12  # of the paper's BERT-base


def base_models(section: dict) -> list[str]:
    return [pretrained(encoder) for encoder in section["encoders"]]


def own_text(config: dict, task: str) -> str:
    """The rows that a task is scored on, as a folder."""
    return folder_name(places_of_task(config, task)[1])


def similarity_files(config: dict, tasks: list[str], own: bool) -> list[str]:
    """RSA on general text, or on each task's own."""
    section = config["merchant2020"]
    return [
        file
        for model in tuned_models(section, tasks)
        for file in analysis_files(
            "rsa",
            "similarity",
            [model],
            [own_text(config, task_of(model)) if own else folder_name(section["general"])],
        )
    ]


def recipes(n_layers: int) -> list[str]:
    """Of the sweeps: lower layers frozen, or upper ones removed."""
    frozen = [f"freeze-{k}" for k in range(1, n_layers + 1)]
    return frozen + [f"truncate-{k}" for k in range(1, n_layers)]


def heads(config: dict) -> dict[str, str]:
    return {task: config["tasks"][task]["head"] for task in config["merchant2020"]["tasks"]}


def layers(config: dict) -> dict[str, int]:
    return {encoder: layers_of(config, encoder) for encoder in config["merchant2020"]["encoders"]}


def is_published_depth(config: dict) -> bool:
    """Curves over layers compare with the paper's where all encoders are as deep as its own."""
    return set(layers(config).values()) == {PUBLISHED_LAYERS}


def artifacts(config: dict) -> dict[str, Needs]:
    section, tasks = config["merchant2020"], config["merchant2020"]["tasks"]
    general, in_domain = folder_name(section["general"]), section["in_domain"]
    probed = base_models(section) + tuned_models(section, tasks)
    randomised = [pretrained(encoder) for encoder in section["randomised"]]
    drawn = {"published": config["figures"]["published"] and is_published_depth(config)}
    sweeps = {
        "metrics": [metrics_file(model) for model in tuned_models(section, tasks)],
        "sweeps": [sweep_file(model) for model in sweep_models(config, section, recipes)],
    }
    shapes = {"layers": layers(config), "heads": heads(config)} | drawn
    made = {
        "fig1": Needs({"scores": analysis_files("structural", "scores", probed, [section["treebank"]])}, drawn),
        "fig2": Needs(
            {"similarity": similarity_files(config, tasks, own=False)},
            {"texts": {task: [general] for task in tasks}} | drawn,
        ),
        "fig3": Needs(sweeps, {"sweep": "freeze"} | shapes),
        "fig4": Needs(sweeps, {"sweep": "truncate"} | shapes),
    }
    if in_domain:
        files = similarity_files(config, in_domain, own=True) + similarity_files(config, in_domain, own=False)
        texts = {task: [own_text(config, task), general] for task in in_domain}
        made["fig5"] = Needs({"similarity": files}, {"texts": texts} | drawn)
    if section["edge_tasks"]:
        scores = {"scores": analysis_files("edges", "scores", probed + randomised, section["edge_tasks"])}
        about = picked(section, "tasks", "edge_tasks", "randomised")
        made["table1"] = Needs(scores, {"input": "mix"} | about)
        made["table_top"] = Needs(scores, {"input": "top"} | about)
        lengths = analysis_files("description_length", "codelength", probed, section["edge_tasks"])
        made["mdl"] = Needs({"codelength": lengths}, {"tasks": tasks})
    return made


def scored(config: dict) -> Needs:
    """What measured numbers and claims are taken from."""
    section, made = config["merchant2020"], artifacts(config)
    # tasks on which a guess scores more than 0: labels, and answers in short texts
    guessable = [task for task, head in heads(config).items() if head in ("sequence", "answers")]
    sources = {"edges": ("table1", "scores"), "mdl": ("mdl", "codelength"), "structural": ("fig1", "scores")}
    inputs = {name: made[of].inputs[files] for name, (of, files) in sources.items() if of in made}
    similarity = made["fig2"].inputs["similarity"] + (made["fig5"].inputs["similarity"] if "fig5" in made else [])
    return Needs(
        inputs
        | made["fig3"].inputs
        | {
            "rsa": list(dict.fromkeys(similarity)),
            "guessable": [data_file(places_of_task(config, task)[1]) for task in guessable],
        },
        {
            "tasks": section["tasks"],
            "randomised": section["randomised"],
            "heads": heads(config),
            "guessable": guessable,
            "layers": layers(config),
            "is_published_depth": is_published_depth(config),
            # parts of speech are published for OntoNotes; EWT's are another task
            "not_comparable": ["ep_pos"] * (config["datasets"].get("ep_pos", {}).get("source") == "real"),
            "general": folder_name(section["general"]),
            "own": {task: own_text(config, task) for task in section["in_domain"]},
        },
    )


def trained_tasks(section: dict) -> list[str]:
    """Tasks that are trained as `training` in the paper's section says."""
    return section["tasks"]


def check(config: dict, faults) -> None:
    """What the schema cannot say."""
    section = config["merchant2020"]
    faults.instances("merchant2020.encoders", section["encoders"], source="trained")
    faults.instances("merchant2020.randomised", section["randomised"], source="random")
    faults.tasks("merchant2020.tasks", section["tasks"])
    faults.place("merchant2020.general", section["general"])
    faults.names("merchant2020.in_domain", section["in_domain"], section["tasks"], "task in merchant2020.tasks")
    faults.splits("merchant2020.treebank", section["treebank"], ("train", "dev", "test"))
    coded = config["description_length"]["coded"]
    faults.unless(coded != "dev", "description_length.coded", coded, "a split that early stopping does not look at")
    for at, dataset in enumerate(section["edge_tasks"]):
        needed = dict.fromkeys(("train", "dev", "test", coded))
        faults.splits(f"merchant2020.edge_tasks[{at}]", dataset, tuple(needed))
    faults.same_depth("merchant2020.encoders", section["encoders"])
    shortest, longest = config["structural"]["min_length"], config["structural"]["max_length"]
    faults.unless(shortest <= longest, "structural.max_length", longest, f"at least {shortest}")
    portions = config["description_length"]["portions"]
    rises = sorted(portions) == portions and portions[-1] == 100
    faults.unless(rises, "description_length.portions", portions, "rising, up to 100")
