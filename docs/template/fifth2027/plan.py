"""What fifth2027 needs."""

from workflow.lib.base.names import analysis_files, folder_name, metrics_file, tuned
from workflow.lib.base.needs import Needs


def artifacts(config):
    section = config["fifth2027"]
    models = [tuned(encoder, task) for task in section["tasks"] for encoder in section["encoders"]]
    similarity = analysis_files("rsa", "similarity", models, [folder_name(section["text"])])
    return {
        "fig1": Needs({"similarity": similarity}),
        "table1": Needs({"metrics": [metrics_file(model) for model in models]}),
    }


def scored(config):
    return artifacts(config)["table1"]


def trained_tasks(section):
    return section["tasks"]


def check(config, faults):
    faults.instances("fifth2027.encoders", config["fifth2027"]["encoders"])
    faults.tasks("fifth2027.tasks", config["fifth2027"]["tasks"])
    faults.place("fifth2027.text", config["fifth2027"]["text"])
