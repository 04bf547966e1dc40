"""What merchant2020's figures and tables are made from."""

from workflow.lib.base.names import (
    analysis_file,
    analysis_files,
    data_file,
    folder_name,
    metrics_file,
    pretrained,
    sweep_file,
)
from workflow.lib.base.needs import Needs, picked
from workflow.lib.base.runs import sweep_models, tuned_models
from workflow.lib.base.tasks import TEXT_HEADS, is_generated, is_real, places_of_task
from workflow.lib.data.licences import public
from workflow.lib.encoders.shapes import are_all, layers_of
from workflow.papers.merchant2020.edge_names import published_edge
from workflow.papers.merchant2020.structural_names import STRUCTURAL

PUBLIC_TASKS = ("ep_pos", "ep_dependencies", "ep_relations")  # edge tasks on data without a licence
PUBLISHED_LAYERS = 12  # of the paper's BERT-base
TREEBANK = "ptb"  # figure 1's, as in Hewitt and Manning's work, whose numbers on BERT-base it comes near
SERIES = ("base", "dep", "mnli", "squad")  # figure 1's


def base_models(section: dict) -> list[str]:
    return [pretrained(encoder) for encoder in section["encoders"]]


def own_texts(config: dict, task: str) -> dict[str, str]:
    """Targets of RSA on a task's own text: the rows that it is scored on; as variants (footnotes 9 and 10) its training
    rows, and single texts (the premise or the question) of the rows that it is scored on."""
    train, test = (folder_name(place) for place in places_of_task(config, task))
    variants = {"training": train, "single": f"{test}.first"} if config["merchant2020"]["variants"] else {}
    return {"own": test} | variants


def texts(config: dict) -> dict[str, dict[str, str]]:
    """Of figure 5: by task the texts that its models are compared on."""
    section = config["merchant2020"]
    general = {"general": folder_name(section["general"])}
    return {task: own_texts(config, task) | general for task in section["in_domain"]}


def similarity_files(section: dict, texts: dict[str, dict[str, str]]) -> list[str]:
    """`texts`: by task, the targets of RSA."""
    return [
        analysis_file("rsa", f"{model}/{text}", "similarity")
        for task, of_task in texts.items()
        for model in tuned_models(section, [task])
        for text in of_task.values()
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


def is_of_stand_ins(config: dict) -> bool:
    """Are any of the texts generated that its figures are of?"""
    section = config["merchant2020"]
    datasets = [config["tasks"][task]["dataset"] for task in section["tasks"]]
    datasets += [section["treebank"], section["general"].partition("/")[0]]
    return any(is_generated(config, name) for name in datasets)


def guessable(config: dict) -> dict[str, str]:
    """Tasks on which a guess scores more than 0 (labels, answers in short texts), and the rows they are scored on."""
    tasks = [task for task, head in heads(config).items() if head in (*TEXT_HEADS, "answers")]
    return {task: data_file(places_of_task(config, task)[1]) for task in tasks}


def is_papers_own(config: dict, dataset: str) -> bool:
    """Are numbers on it to be compared with the published ones? EWT's parts of speech are not OntoNotes'."""
    is_data = is_real(config, dataset) and dataset != "ep_pos"
    return is_data and are_all(config, config["merchant2020"]["encoders"], "base")


def is_papers_treebank(config: dict) -> bool:
    """Are structural probes to be compared with the published ones? Correlations on EWT are other numbers."""
    name = config["merchant2020"]["treebank"]
    return name == TREEBANK and config["datasets"][name]["source"] == "real"


def evaluated_on(config: dict, task: str) -> dict[str, str]:
    """Splits by the prefix of their columns in the table of metrics; the second is optional."""
    settings = config["tasks"][task]
    also = {"also": settings["also_evaluate"]} if settings.get("also_evaluate") else {}
    return {"test": settings["evaluate"]} | also


def artifacts(config: dict) -> dict[str, Needs]:
    section, tasks = config["merchant2020"], config["merchant2020"]["tasks"]
    general = {task: {"general": folder_name(section["general"])} for task in tasks}
    probed = base_models(section) + tuned_models(section, tasks)
    randomised = [pretrained(encoder) for encoder in section["randomised"]]
    drawn = {"published": config["figures"]["published"] and is_published_depth(config) and not is_of_stand_ins(config)}
    metrics = {"metrics": [metrics_file(model) for model in tuned_models(section, tasks)]}
    sweeps = metrics | {
        "sweeps": [sweep_file(model) for model in sweep_models(config, section, recipes)],
        "guessable": list(guessable(config).values()),
    }
    shapes = {"layers": layers(config), "heads": heads(config), "guessable": list(guessable(config))} | drawn
    made = {
        "table_models": Needs(
            metrics,
            {
                "heads": heads(config),
                "splits": {task: evaluated_on(config, task) for task in tasks},
                "compared": [task for task in tasks if is_papers_own(config, config["tasks"][task]["dataset"])],
            },
        ),
        "fig1": Needs({"scores": analysis_files("structural", "scores", probed, [section["treebank"]])}, drawn),
        "fig2": Needs({"similarity": similarity_files(section, general)}, {"texts": general} | drawn),
        "fig3": Needs(sweeps, {"sweep": "freeze"} | shapes),
        "fig4": Needs(sweeps, {"sweep": "truncate"} | shapes),
    }
    if section["in_domain"]:
        made["fig5"] = Needs({"similarity": similarity_files(section, texts(config))}, {"texts": texts(config)} | drawn)
    if section["edge_tasks"]:
        scores = {"scores": analysis_files("edges", "scores", probed + randomised, section["edge_tasks"])}
        about = picked(section, "tasks", "edge_tasks", "randomised")
        compared = [task for task in section["edge_tasks"] if is_papers_own(config, task)]
        rows = ' Rows "paper" are the published numbers.' if compared else ""
        made["table1"] = Needs(scores, {"input": "mix", "compared": compared, "paper_rows": rows} | about)
        made["table_top"] = Needs(scores, {"input": "top", "compared": []} | about)  # no published numbers are known
        lengths = analysis_files("description_length", "codelength", probed, section["edge_tasks"])
        made["mdl"] = Needs({"codelength": lengths}, {"tasks": tasks})
        made["mdl_curve"] = Needs({"codelength": lengths})
    return made


def scored(config: dict) -> Needs:
    """What measured numbers and claims are taken from."""
    section, made = config["merchant2020"], artifacts(config)
    sources = {"edges": ("table1", "scores"), "mdl": ("mdl", "codelength"), "structural": ("fig1", "scores")}
    inputs = {name: made[of].inputs[files] for name, (of, files) in sources.items() if of in made}
    similarity = made["fig2"].inputs["similarity"] + (made["fig5"].inputs["similarity"] if "fig5" in made else [])
    return Needs(
        inputs | made["fig3"].inputs | {"rsa": list(dict.fromkeys(similarity))},
        {
            **picked(section, "tasks", "randomised"),
            **picked(made["fig3"].settings, "heads", "layers", "guessable"),
            "is_published_depth": is_published_depth(config),
            "is_papers_treebank": is_papers_treebank(config),
            "compared": [task for task in section["edge_tasks"] if is_papers_own(config, task)],
            "general": folder_name(section["general"]),
            "texts": texts(config),
        },
    )


def unmeasured(config: dict) -> dict[str, str]:
    """Published numbers that this run cannot have, as `<artifact>/<series>`, and what they need."""
    licensed = {name: published_edge(name) for name in config["without_licence"] if name.startswith("ep_")}
    needed = {f"table1/{edge}": _corpus(config, name) for name, edge in licensed.items()}
    if is_published_depth(config) and not is_papers_treebank(config):
        needed |= {f"{panel}/{series}": "PTB" for panel in STRUCTURAL.values() for series in SERIES}
    return {number: f"needs {corpus} (`licensed`)" for number, corpus in needed.items()}


def _corpus(config: dict, dataset: str) -> str:
    return config["registry"][dataset]["sources"][0]["obtain"].split(" (")[0]


def trained_tasks(section: dict) -> list[str]:
    """Tasks that are trained as `training` in the paper's section says."""
    return section["tasks"]


def check(config: dict, faults) -> None:
    """What the schema cannot say."""
    section = config["merchant2020"]
    asked, without = section["edge_tasks"], config["without_licence"]
    found = [name for name in asked if name not in without and name not in PUBLIC_TASKS]
    if config["licensed"] and without and not found and section["treebank"] != TREEBANK:
        faults.add(f"licensed is '{config['licensed']}': nothing in it that merchant2020.edge_tasks names")
    section["edge_tasks"] = public(asked, without)
    faults.unless(section["treebank"] not in config["without_licence"], "merchant2020.treebank", section["treebank"],
                  "a treebank without a licence, or in the folder `licensed`")  # fmt: skip
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
