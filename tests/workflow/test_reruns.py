"""What runs again, and what does not."""

import os
import re
import shutil

import numpy as np
import pandas as pd

from workflow.lib.activations.cache import layer_files, read_vectors
from workflow.papers import all_papers

DRAWING, TABLES, SCORES = {"draw", "page"}, {"tabulate", "page"}, {"score", "scorecard", "page"}


def test_every_artifact_appears(finished):
    made = finished.folder / "results/tiny"
    papers = {key: paper for key, paper in all_papers().items() if key != "given"}  # which needs a model of others
    counts = {key: len(paper.about["artifacts"]) for key, paper in papers.items()}
    assert counts == {"matton2019": 11, "merchant2020": 10, "singh2020": 6, "zhou2022": 17, "beyond": 3}
    for key, paper in papers.items():
        for entry in paper.about["artifacts"]:
            for ending in ("pdf", "png", "svg", "csv") if entry["kind"] == "figure" else ("csv", "md"):
                path = made / f"{entry['kind']}s" / key / f"{entry['id']}.{ending}"
                assert path.stat().st_size > 50, path
    scorecard = (made / "scorecard.md").read_text()
    assert all(f"\n## {paper}\n" in scorecard for paper in ("matton2019", "merchant2020", "singh2020", "zhou2022"))
    assert not list(made.rglob("*.part")) and not list(made.rglob("*.resume.pt"))


def test_every_job_has_log_and_benchmark(finished):
    made = finished.folder / "results/tiny"
    logs = {path.relative_to(made / "logs").with_suffix("") for path in (made / "logs").rglob("*.log")}
    benchmarks = {
        path.relative_to(made / "benchmarks").with_suffix("") for path in (made / "benchmarks").rglob("*.tsv")
    }
    assert logs == benchmarks and len(logs) > 30


def test_caches_hold_only_the_layers_that_are_read(finished):
    """The tiny encoder has two blocks."""
    made = finished.folder / "results/tiny/activations/base.0"
    layers = {name: list(layer_files(made / name)) for name in (
        "pretrained/cls/imdb-train", "pretrained/cls/sst2-train", "pos.full.f1.s0/word/pud-train",
        "pretrained/sampled/wikipedia-sentences", "pretrained/span/ep_relations-dev")}  # fmt: skip
    assert list(layers.values()) == [[2], [0, 1, 2], [1, 2], [0, 1, 2], [0, 1, 2]]


def test_what_is_paired_row_by_row_is_of_the_same_rows(finished):
    """Claims pair a model's answers with classifiers on cached vectors: both are in the order of the test rows."""
    made = finished.folder / "results/tiny"
    model, names = "base.0/imdb.full.f1.s0", ["neg", "pos"]
    labels = pd.read_parquet(made / "data/imdb/test.parquet")["label"].tolist()
    metrics = pd.read_parquet(made / f"models/{model}.metrics.parquet").iloc[0]
    best = pd.read_parquet(made / f"analysis/neurons/{model}/imdb/best.parquet")["label"]
    assert metrics["row_truth"].tolist() == labels == [names.index(label) for label in best]
    greedy = pd.read_parquet(made / f"analysis/neurons/{model}/imdb/greedy.parquet")
    curve = pd.read_parquet(made / f"analysis/pca/{model}/imdb/accuracy.parquet")
    everything = greedy[greedy["step"] == 0]["right"].iloc[0].tolist()
    assert all(right.tolist() == everything for right in curve[curve["dimensions"] == 24]["right"])


def test_second_run_does_nothing(finished):
    assert finished.planned() == {}
    assert "Nothing to be done" in finished.snakemake()


def test_edited_module_reruns_its_users_only(finished):
    module = finished.folder / "workflow/lib/plotting/figures.py"
    before = module.read_bytes()
    module.write_bytes(before + b"\n# an edit\n")
    planned = set(finished.planned())
    module.write_bytes(before)
    # the scores read tables 1 and 6, which have the papers' names of tasks from this module
    assert DRAWING <= planned <= DRAWING | TABLES | SCORES
    assert finished.planned() == {}


def test_edited_deep_module_reruns_what_stands_on_it(finished):
    module = finished.folder / "workflow/lib/methods/linear.py"
    before = module.read_bytes()
    module.write_bytes(before + b"\n# an edit\n")
    planned = set(finished.planned())
    module.write_bytes(before)
    assert {"pca", "neurons"} <= planned
    assert not planned & {"generate_dataset", "pretrain_encoder", "finetune_model", "cache_activations"}


def test_an_edited_figure_script_redraws_its_figures_only(finished):
    script = finished.folder / "workflow/papers/zhou2022/figures/movements.py"
    before, times = script.read_bytes(), script.stat()
    script.write_bytes(before + b"\n# an edit\n")
    planned = finished.planned()
    script.write_bytes(before)
    os.utime(script, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert planned == {"draw": 5, "page": 1}


def test_changed_key_reruns_what_depends_on_it(finished):
    planned = set(finished.planned("--config", "neurons={folds: 4}"))
    assert "neurons" in planned and planned <= {"neurons"} | DRAWING | TABLES | SCORES
    planned = finished.planned("--config", "tasks={imdb: {epochs: 7}}")
    assert planned["finetune_model"] == 2  # the paper's job, and that of the untrained encoder
    assert not set(planned) & {"generate_dataset", "pretrain_encoder"}
    planned = finished.planned("--config", "datasets={imdb: {source: embedded, rows: {train: 40, test: 41}}}")
    assert planned["generate_dataset"] == 2 and "pretrain_encoder" not in planned
    planned = set(finished.planned("--config", "mlp={n_seeds: 3}"))
    assert "mlp" in planned and planned <= {"mlp"} | TABLES | SCORES
    planned = set(finished.planned("--config", "rsa={tokens: 60}"))
    assert "rsa" in planned and planned <= {"rsa"} | DRAWING | TABLES | SCORES
    planned = set(finished.planned("--config", "edges={hidden: 12}"))
    assert "edges" in planned and planned <= {"edges", "description_length"} | DRAWING | TABLES | SCORES
    planned = finished.planned("--config", "paths={every: 2}")
    # the tracked models, which share a job, and what is read from them; no sweep keeps steps
    assert planned["finetune_model"] == 1 and "sweep" not in planned and "edges" not in planned


def test_another_row_count_extracts_that_dataset_alone_on_a_cluster(finished):
    share = "share={models: 1, sweeps: 1, activations: 1, analyses: 1}"
    more = "datasets={imdb: {source: embedded, rows: {train: 60, test: 41}}}"
    planned = finished.snakemake("--dry-run", "--rerun-triggers", "mtime", "--config", share, more, "--forcerun",
                                 "results/tiny/data/imdb/test.parquet")  # fmt: skip
    caches = re.findall(r"^ +output: (results/tiny/activations/\S+)$", planned, re.MULTILINE)
    # models tuned on it are scored on these rows, and so are made again
    others = [path for path in caches if not path.endswith("/imdb-test") and "/imdb.full." not in path]
    assert "results/tiny/activations/base.0/pretrained/cls/imdb-test" in caches and not others


def test_followed_models_keep_their_steps_and_others_none(finished):
    cached = finished.folder / "results/tiny/activations/base.0"
    steps = sorted(path.name for path in (cached / "pos.full.f1.s0/steps").iterdir() if path.name.isdigit())
    assert steps == ["00000", "00001", "00002", "00003", "00004"]  # 24 sentences, batches of 16, two epochs
    assert not (cached / "trec50.full.f1.s0/steps").exists()


def test_temporary_vectors_are_gone_once_they_are_read(finished):
    """And give what kept ones give."""
    made = finished.folder / "results"
    for stage in ("data", "tokenizer", "encoders"):
        shutil.copytree(made / "tiny" / stage, made / "passing" / stage, copy_function=shutil.copy2)
    tables = [
        "paths/base.0/pos.full.f1.s0/pos/distances.parquet",
        "edges/base.0/pretrained/ep_relations/scores.parquet",
    ]
    finished.snakemake("--rerun-triggers", "mtime", "--config", "run=passing", "activations={temporary: [steps, span]}",
                       "share={models: 1, activations: 1, analyses: 1}", "--",
                       *(f"results/passing/analysis/{table}" for table in tables))  # fmt: skip
    for table in tables:
        pd.testing.assert_frame_equal(
            *(pd.read_parquet(made / run / "analysis" / table) for run in ("tiny", "passing"))
        )
    left = {path.parts[-2] for path in (made / "passing/activations").rglob("layer-*.parquet")}
    assert not left


def test_a_model_has_the_same_activations_in_a_job_of_its_own(finished):
    made = finished.second_run("apart")
    folders = [f"activations/base.0/{item}" for item in ("imdb.full.f1.s0/cls/imdb-train", "pretrained/word/ewt-dev",
                                                         "mnli.full.f1.s0/sampled/mnli-test")]  # fmt: skip
    finished.snakemake("--rerun-triggers", "mtime", "--config", "run=apart", "share={activations: 1}", "--",
                       *(f"results/apart/{folder}" for folder in folders))  # fmt: skip
    for folder in folders:
        ours, theirs = layer_files(made / "apart" / folder), layer_files(made / "tiny" / folder)
        assert list(ours) == list(theirs)
        for layer in ours:
            np.testing.assert_array_equal(read_vectors(ours[layer]), read_vectors(theirs[layer]))


def test_a_sweep_gives_the_same_numbers_in_one_process_and_in_many(finished):
    """Also where a sweep keeps none of its models on disk."""
    made = finished.second_run("apart")
    runs = [f"sweeps/base.0/{name}.f{share}.s0" for name, share in (
        ("mnli.freeze-1", "1"), ("sst2.reinit-1", "0.5"), ("mnli.truncate-1", "1"))]  # fmt: skip
    files = [f"{run}.{table}.parquet" for run in runs for table in ("scores", "distances")]
    finished.snakemake("--rerun-triggers", "mtime", "--config", "run=apart", "share={sweeps: 1}", "--",
                       *(f"results/apart/{file}" for file in files))  # fmt: skip
    for file in files:
        pd.testing.assert_frame_equal(pd.read_parquet(made / "apart" / file), pd.read_parquet(made / "tiny" / file))


def test_one_paper_leaves_the_other_alone(finished):
    planned = finished.planned("--config", "zhou2022={tasks: [pos, dep, ps_fxn, ps_role]}")
    assert not set(planned) & {"pca", "neurons", "sweep", "edges"}
    assert planned["finetune_model"] == 1  # its own, which share a job
    needed = finished.snakemake("--dry-run", "--forceall", "matton2019")
    assert "data/pud" not in needed and "data/trec50" not in needed and "sst2" not in needed


def test_targets(finished):
    # of one paper there is a page of its own
    assert all(finished.planned(paper) == {"page": 1} for paper in all_papers() if paper != "given")
    figure = "results/tiny/figures/matton2019/fig4.png"
    assert finished.planned("--forcerun", "draw", "--", figure) == {"draw": 1}
    forced = finished.planned("--forcerun", "neurons", "--", "matton2019")
    assert forced["neurons"] == 1 and "pca" not in forced
    # what two papers ask a method for are two rules
    assert finished.planned("--forcerun", "rsa_merchant2020", "--", "merchant2020")["rsa"] == 1
    until = finished.planned("--forceall", "--until", "train_tokenizer")
    assert set(until) == {"generate_dataset", "train_tokenizer"}


def test_deleted_figure_alone_is_drawn_again(finished):
    figure = finished.folder / "results/tiny/figures/matton2019/fig5.png"
    before = figure.read_bytes()
    figure.unlink()
    assert finished.planned() == {"draw": 1, "page": 1}
    finished.snakemake()
    assert figure.read_bytes() == before
