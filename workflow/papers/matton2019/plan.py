"""What matton2019's figures and tables are made from."""

from workflow.lib.base.names import analysis_file, data_file, metrics_file, pretrained
from workflow.lib.base.needs import Needs, picked
from workflow.lib.base.runs import spread_over, tuned_models
from workflow.lib.base.tasks import on_real_data, places_of_task
from workflow.lib.encoders.shapes import are_all, shape_of


def before(section: dict, method: str, table: str, tasks: list[str]) -> list[str]:
    """Analyses of the encoders themselves, on the data of tasks."""
    return [
        analysis_file(method, f"{pretrained(encoder)}/{task}", table)
        for encoder in section["encoders"]
        for task in tasks
    ]


def after(section: dict, method: str, table: str) -> list[str]:
    """Analyses of fine-tuned models, each on the data of its own task."""
    return [
        analysis_file(method, f"{model}/{task}", table)
        for task in section["tasks"]
        for model in tuned_models(section, [task])
    ]


def variances(section: dict) -> list[str]:
    """Of components on general text, which are the same whatever the task of the analysis."""
    return before(section, "pca", "variance", section["tasks"][:1]) + after(section, "pca", "variance")


def shown_task(section: dict) -> str:
    """Figure 5 shows AG-news, or, where it is not among the tasks, the middle one."""
    tasks = section["tasks"]
    return "ag_news" if "ag_news" in tasks else tasks[len(tasks) // 2]


def artifacts(config: dict) -> dict[str, Needs]:
    section, tasks = config["matton2019"], config["matton2019"]["tasks"]
    shown, real = shown_task(section), on_real_data(config, tasks)
    compared = {"compared": real if are_all(config, section["encoders"], "base") else []}
    marked = real if config["figures"]["published"] else []
    crosses = " Crosses: ratios that the paper states." if marked else ""
    model = tuned_models(section, [shown])[0]
    data = [data_file(place) for task in tasks for place in places_of_task(config, task)]
    samples = spread_over(len(section["encoders"]), config["pca"]["random_draws"], "samples of sentences")
    tested = [data_file(places_of_task(config, task)[1]) for task in tasks]
    greedy = before(section, "neurons", "greedy", tasks) + after(section, "neurons", "greedy")
    metrics = [metrics_file(model) for task in tasks for model in tuned_models(section, [task])]
    curves = {
        f"fig{number}": Needs(
            {
                "accuracy": before(section, "pca", "accuracy", [task]),
                "data": data_file(places_of_task(config, task)[1]),
            },
            {"task": task},
        )
        for number, task in zip((1, 2, 3), tasks)
    }
    return curves | {
        "table1": Needs({"data": data}, {"tasks": tasks}),
        "table2": Needs({"greedy": greedy, "metrics": metrics}, compared),
        "table3": Needs({"greedy": greedy}, compared),
        "table_components": Needs({"accuracy": after(section, "pca", "accuracy")}, compared),
        "pca_sample_size": Needs(
            {"samples": before(section, "pca", "samples", tasks), "data": tested},
            {"tasks": tasks, "samples": samples} | picked(config["pca"], "sample_components"),
        ),
        "fig4": Needs(
            {"variance": variances(section)},
            {"published": marked, "crosses": crosses},
        ),
        "fig5": Needs(
            {
                "best": [analysis_file("neurons", f"{model}/{shown}", "best")],
                "greedy": [analysis_file("neurons", f"{model}/{shown}", "greedy")],
            },
            {"task": shown},
        ),
        "fig6": Needs({"alone": after(section, "neurons", "alone"), "data": tested}, {"tasks": tasks}),
    }


def scored(config: dict) -> Needs:
    """What measured numbers and claims are taken from."""
    section, made = config["matton2019"], artifacts(config)
    tasks = section["tasks"]
    return Needs(
        {
            "metrics": made["table2"].inputs["metrics"],
            "greedy": made["table3"].inputs["greedy"],
            "alone": made["fig6"].inputs["alone"],
            "accuracy": before(section, "pca", "accuracy", tasks) + after(section, "pca", "accuracy"),
            "variance": variances(section),
            "samples": made["pca_sample_size"].inputs["samples"],
            "sizes": "<results>/tables/matton2019/table1.csv",
        },
        {"tasks": tasks},
    )


def trained_tasks(section: dict) -> list[str]:
    """Tasks that are trained as `training` in the paper's section says."""
    return section["tasks"]


def check(config: dict, faults) -> None:
    """What the schema cannot say."""
    section, pca = config["matton2019"], config["pca"]
    faults.instances("matton2019.encoders", section["encoders"])
    faults.tasks("matton2019.tasks", section["tasks"], heads=("sequence",))
    faults.place("pca.general", pca["general"])
    for encoder in section["encoders"]:
        if faults.known(encoder) and (width := shape_of(config, encoder, "width")):
            must = f"at most {width}, the width of encoder '{encoder.split('.')[0]}'"
            faults.unless(max(pca["components"]) <= width, "pca.components", pca["components"], must)
            for key in ("sample_components", "variance_components"):
                faults.unless(pca[key] <= width, f"pca.{key}", pca[key], must)
            faults.unless(config["neurons"]["neurons"] <= width, "neurons.neurons", config["neurons"]["neurons"], must)
    rows = faults.rows(pca["general"])
    must = f"some of them at most {rows}, the rows of {pca['general']}"
    faults.unless(rows is None or min(pca["sample_sizes"]) <= rows, "pca.sample_sizes", pca["sample_sizes"], must)
