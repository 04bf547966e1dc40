"""A fifth paper is a folder and a config: nothing else is touched."""

import hashlib
import shutil
import textwrap
from pathlib import Path

import pandas as pd
import pytest

from tests.workflow.conftest import PARTS, Workspace

PAPER = {
    "artifacts.yaml": """
        title: A made-up paper
        authors: Nobody, 2027
        artifacts:
          - {id: fig1, kind: figure, script: figures/similarity.py, caption: "Similarity to the encoder by layer."}
          - {id: table1, kind: table, script: tables/accuracy.py, caption: "Test accuracy after fine-tuning."}
        """,
    "schema.yaml": """
        type: object
        required: [encoders, tasks, text]
        additionalProperties: false
        properties:
          encoders: {$ref: "#/$defs/instances", description: "The encoders."}
          tasks: {$ref: "#/$defs/some_names", description: "The tasks."}
          text: {$ref: "#/$defs/dataset_split", description: "What RSA looks at."}
          training: {$ref: "#/$defs/paper_training", default: {}, description: "How it fine-tunes."}
        """,
    "plan.py": '''
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
        ''',
    "measured.py": '''
        """Its one number and its one claim."""

        from workflow.lib.base.claims import Claims
        from workflow.lib.base.measured import summarised
        from workflow.lib.base.verdicts import HOLDS

        if __name__ == "__main__":
            from workflow.lib.base.logs import to_rule_log
            from workflow.lib.base.tables import read_tables, write_table

            to_rule_log(snakemake.log[0])
            metrics = read_tables(snakemake.input.metrics)
            rows = [("table1", row.task, "accuracy", row.test_accuracy) for row in metrics.itertuples()]
            claim = Claims("fifth2027").judged("learnt", HOLDS, f"{len(rows)} models")
            write_table(summarised(rows, {("table1",): 1.0}), snakemake.output.measured)
            write_table([vars(claim)], snakemake.output.claims)
        ''',
    "claims.yaml": """
        learnt: {says: "Section 1", statement: Something is learnt., artifact: table1, judged: by looking}
        """,
    "published.csv": "artifact,series,x,value,error,source\ntable1,mnli,accuracy,0.9,,table\n",
    "figures/similarity.py": '''
        """Figure 1."""

        from workflow.lib.plotting.figures import new_figure, save_figure

        if __name__ == "__main__":
            from workflow.lib.base.logs import to_rule_log
            from workflow.lib.base.tables import read_tables

            to_rule_log(snakemake.log[0])
            by_layer = read_tables(snakemake.input.similarity).groupby("layer")["similarity"].mean()
            figure, axes = new_figure()
            axes.plot(by_layer.index, by_layer)
            save_figure(figure, snakemake.output)
        ''',
    "tables/accuracy.py": '''
        """Table 1."""

        from workflow.lib.base.tables import read_tables, write_text_tables

        if __name__ == "__main__":
            from workflow.lib.base.logs import to_rule_log

            to_rule_log(snakemake.log[0])
            metrics = read_tables(snakemake.input.metrics)[["task", "test_accuracy"]]
            write_text_tables(metrics, snakemake.output.csv, snakemake.output.md)
        ''',
}
CONFIG = """
run: fifth
papers: [fifth2027]
fifth2027: {encoders: [base.0], tasks: [mnli], text: wikipedia/sentences}
"""


def digests(folder: Path) -> dict[str, str]:
    """Of all files of the project, without what runs leave."""
    files = [path for part in PARTS for path in [folder / part, *(folder / part).rglob("*")] if path.is_file()]
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in files
        if "__pycache__" not in path.parts
    }


@pytest.fixture
def with_fifth(finished) -> Workspace:
    """The finished run and one paper more; taken away again."""
    folder = finished.folder / "workflow/papers/fifth2027"
    for name, text in PAPER.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip())
    (finished.folder / "fifth.yaml").write_text(CONFIG)
    yield finished
    shutil.rmtree(folder)


def test_a_fifth_paper_is_a_folder_and_a_config(with_fifth):
    before = digests(with_fifth.folder)
    with_fifth.second_run("fifth")
    asked = ("--rerun-triggers", "mtime", "--configfile", "config/tiny.yaml", "fifth.yaml")
    with_fifth.snakemake("fifth2027", *asked, preset=None)
    made = with_fifth.folder / "results/fifth"
    assert (made / "figures/fifth2027/fig1.png").stat().st_size > 1000
    assert "mnli" in (made / "tables/fifth2027/table1.md").read_text()
    claims = pd.read_parquet(made / "scorecard/fifth2027.claims.parquet")
    assert claims["verdict"].tolist() == ["holds"]
    assert digests(with_fifth.folder) == before
    card = with_fifth.snakemake("--dry-run", "--configfile", "config/tiny.yaml", "fifth.yaml", preset=None)
    assert "scorecard" in card and "matton2019" not in card


def test_its_config_is_checked_like_any_other(with_fifth):
    wrong = ("--config", "fifth2027={encoders: [bse.0], task: 1}")
    output = with_fifth.snakemake(
        "fifth2027", "--configfile", "config/tiny.yaml", "fifth.yaml", *wrong, preset=None, check=False
    )
    assert "unknown key 'fifth2027.task' (did you mean 'tasks'?)" in output
