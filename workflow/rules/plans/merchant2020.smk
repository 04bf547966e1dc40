"""What merchant2020 asks of models and analyses. No rules here."""

EDGE_SPLITS = ("train", "dev", "test")
PUBLISHED_DEPTH = 12  # of the paper's BERT-base


def merchant_settings(prefix):
    """The keys of one method, without their prefix."""
    section = config["merchant2020"]
    return {
        key.removeprefix(f"{prefix}_"): value
        for key, value in section.items()
        if key.startswith(f"{prefix}_")
    }


def merchant_runs():
    """Encoder and fine-tuning seed of every repetition: the spread of every curve is over these."""
    section = config["merchant2020"]
    return [(encoder, seed) for encoder in section["encoders"] for seed in section["seeds"]]


def merchant_models(state, tasks=None):
    """`pretrained`, `randomised`, or `tuned` on tasks."""
    section = config["merchant2020"]
    if state in ("pretrained", "randomised"):
        encoders = section["encoders"] if state == "pretrained" else section["randomised"]
        return [pretrained(encoder) for encoder in encoders]
    return [
        tuned(encoder, task, seed=seed)
        for task in tasks or section["tasks"]
        for encoder, seed in merchant_runs()
    ]


def merchant_probed():
    """Models that are probed: all but the randomised, which only edge probes look at."""
    return merchant_models("pretrained") + merchant_models("tuned")


def probed_in(wildcards):
    """The models that one job of probes looks at: all whose activations stand in one folder."""
    return models_in(wildcards.encoder, "merchant2020", wildcards.first)


def probes_of(models, method, table):
    return analysis_by_cache(models, "merchant2020", method, table)


def edge_places():
    return [
        f"{task}/{split}" for task in config["merchant2020"]["edge_tasks"] for split in EDGE_SPLITS
    ]


def edge_data():
    return [data_file(place) for place in edge_places()]


def structural_places():
    dataset = config["merchant2020"]["structural_dataset"]
    return [f"{dataset}/{split}" for split in ("train", "dev", "test")]


def in_domain_place(task):
    """The rows that a task is scored on."""
    return task_places(task)[1]


def merchant_tokens(model):
    """Datasets whose tokens RSA compares: general text, and the task's own of those that figure 5 shows."""
    section = config["merchant2020"]
    own = [
        task
        for task in section["in_domain"]
        if model in merchant_models("pretrained") or task_of(model) == task
    ]
    return [section["general"]] + [in_domain_place(task) for task in own]


def rsa_settings():
    """How tokens are drawn; `rows` says how many texts are run through the models."""
    return {key: value for key, value in merchant_settings("rsa").items() if key != "rows"}


def row_limits(model, paper):
    """Most rows of a dataset that are extracted: RSA looks at few tokens of each, and those of a large one are enough."""
    limit = config["merchant2020"]["rsa_rows"]
    if paper == "merchant2020" and model not in merchant_models("randomised"):
        return dict.fromkeys(rsa_places(model), limit)
    return {folder_name(config["depth_of_change"]["general"]): limit} if paper == "beyond" else {}


def rsa_places(model):
    return [folder_name(place) for place in dict.fromkeys(merchant_tokens(model))]


def rsa_places_in(wildcards):
    """Places by model, of the tuned models whose activations stand in one folder."""
    return {
        model: rsa_places(model)
        for model in probed_in(wildcards)
        if model != pretrained(wildcards.encoder)
    }


def merchant_cached():
    return merchant_probed() + merchant_models("randomised")


def merchant_inputs_of(model):
    """Datasets by unit: tokens for RSA and edge probes, words for structural probes."""
    if model in merchant_models("randomised"):
        return {"token": edge_places()}
    return {
        "token": merchant_tokens(model) + edge_places(),
        "word": structural_places(),
    }


def merchant_inputs(artifact):
    """What an artifact of merchant2020 is made from."""
    section, after = config["merchant2020"], merchant_models("tuned")
    edges = probes_of(merchant_probed() + merchant_models("randomised"), "edges", "scores")
    sweeps = {
        "metrics": metrics_of(after),
        "sweeps": [
            file for task in section["tasks"] for file in sweep_tables("merchant2020", task)
        ],
    }
    inputs = {
        "table1": {"scores": edges},
        "table_top": {"scores": edges},
        "mdl": {"codelength": probes_of(merchant_probed(), "mdl", "codelength")},
        "fig1": {"scores": probes_of(merchant_probed(), "structural", "scores")},
        "fig2": {"similarity": probes_of(after, "rsa", "similarity")},
        "fig3": sweeps,
        "fig4": sweeps,
        "fig5": {
            "similarity": probes_of(
                merchant_models("tuned", section["in_domain"]), "rsa", "similarity"
            )
        },
    }
    return inputs[artifact] | {"published": published("merchant2020")}


def merchant_parameters(artifact):
    """The piece of config an artifact itself depends on."""
    section = config["merchant2020"]
    parameters = {
        "table1": {"input": "mix"},
        "table_top": {"input": "top"},
        "mdl": {"tasks": section["tasks"]},
        "fig2": {"places": {task: [folder_name(section["general"])] for task in section["tasks"]}},
        "fig3": {"sweep": "freeze"},
        "fig4": {"sweep": "truncate"},
        "fig5": {
            "places": {
                task: [folder_name(in_domain_place(task)), folder_name(section["general"])]
                for task in section["in_domain"]
            }
        },
    }.get(artifact, {})
    if "input" in parameters:
        return parameters | {key: section[key] for key in ("tasks", "edge_tasks", "randomised")}
    if "sweep" in parameters:
        parameters |= {"layers": depth_by_encoder("merchant2020"), "heads": merchant_heads()}
    return parameters | {"published": merchant_published()}


def merchant_heads():
    return {task: training_of(config, task)["head"] for task in config["merchant2020"]["tasks"]}


def merchant_labelled():
    """Tasks on which a guess scores more than 0: labels, and answers in short texts."""
    return [task for task, head in merchant_heads().items() if head in ("sequence", "answers")]


def merchant_scored():
    """What the scorecard must know of the section."""
    section = config["merchant2020"]
    layers, heads = depth_by_encoder("merchant2020"), merchant_heads()
    return {
        "tasks": section["tasks"],
        "randomised": section["randomised"],
        "heads": heads,
        "labelled": merchant_labelled(),
        "layers": layers,
        "is_published_depth": set(layers.values()) == {PUBLISHED_DEPTH},
        # parts of speech are published for OntoNotes; EWT's are another task
        "not_comparable": ["ep_pos"]
        * (config["datasets"].get("ep_pos", {}).get("source") == "real"),
        "general": folder_name(section["general"]),
        "own": {task: folder_name(in_domain_place(task)) for task in section["in_domain"]},
    }


def merchant_published():
    """Curves are drawn beside the paper's where asked for and where all encoders are as deep as its own."""
    return config["figures"]["published"] and set(depth_by_encoder("merchant2020").values()) == {
        PUBLISHED_DEPTH
    }


def merchant_script(artifact):
    """Several artifacts are one script."""
    shared = {
        "edges": ("table1", "table_top"),
        "rsa": ("fig2", "fig5"),
        "depths": ("fig3", "fig4"),
        "structural": ("fig1",),
    }
    return next((name for name, ids in shared.items() if artifact in ids), artifact)
