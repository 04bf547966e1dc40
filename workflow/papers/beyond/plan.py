"""What the figures and tables that no paper has are made from."""

from workflow.lib.base.names import analysis_file, folder_name, metrics_file, pretrained, sweep_file, tuned
from workflow.lib.base.needs import Needs, picked
from workflow.lib.base.runs import runs, sweep_models, tuned_models


def recipes(n_layers: int) -> list[str]:
    """freeze-0 freezes the embeddings alone, which are no layer's cost."""
    frozen = [f"freeze-{k}" for k in range(n_layers + 1)]
    kept = [f"truncate-{k}" for k in range(1, n_layers)]
    return ["full", *frozen, *kept, *(f"reinit-{k}" for k in range(1, n_layers + 1))]


def depth_needs(config: dict) -> Needs:
    """Where does fine-tuning act? What every method says of the same models."""
    section = config["beyond"]
    general, swept = folder_name(section["general"]), sweep_models(config, section, recipes)
    labels = [
        analysis_file("label_distances", f"{model}/{task}", "distances")
        for task in section["tasks"]
        for encoder, seed in runs(section)
        for model in (pretrained(encoder), tuned(encoder, task, seed=seed))
    ]
    return Needs(
        {
            "rsa": [
                analysis_file("rsa", f"{model}/{general}", "similarity")
                for model in tuned_models(section, section["tasks"])
            ],
            "labels": list(dict.fromkeys(labels)),
            "sweeps": [sweep_file(model) for model in swept],
            "distances": [sweep_file(model, "distances") for model in swept],
        }
    )


def artifacts(config: dict) -> dict[str, Needs]:
    section, gain = config["beyond"], config["beyond"]["pretraining_gain"]
    made = {}
    if section["tasks"]:
        made |= dict.fromkeys(("depth_of_change", "depth_agreement"), depth_needs(config))
    if gain["tasks"]:
        models = [
            tuned(encoder, task, seed=seed)
            for encoder in gain["trained"] + gain["untrained"]
            for task in gain["tasks"]
            for seed in gain["seeds"]
        ]
        metrics = {"metrics": [metrics_file(model) for model in models]}
        made["pretraining_gain"] = Needs(metrics, picked(gain, "trained", "untrained"))
    return made


def check(config: dict, faults) -> None:
    """What the schema cannot say."""
    section, gain = config["beyond"], config["beyond"]["pretraining_gain"]
    faults.instances("beyond.encoders", section["encoders"], source="trained")
    faults.tasks("beyond.tasks", section["tasks"], heads=("sequence", "word", "word_pair"))
    faults.place("beyond.general", section["general"])
    faults.same_depth("beyond.encoders", section["encoders"])
    faults.instances("beyond.pretraining_gain.trained", gain["trained"], source="trained")
    faults.instances("beyond.pretraining_gain.untrained", gain["untrained"], source="random")
    faults.tasks("beyond.pretraining_gain.tasks", gain["tasks"], heads=("sequence", "word", "word_pair"))
