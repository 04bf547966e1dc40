"""What runs again, and what does not."""

import csv
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd

from workflow.lib.activations.cache import read_vectors
from workflow.lib.base.tables import read_tables

DRAWING = {"plot_matton2019", "plot_matton2019_pca_curves", "plot_merchant2020", "plot_singh2020", "plot_zhou2022",
           "plot_depth_of_change"}  # fmt: skip
TABLES = {"tabulate_matton2019", "tabulate_merchant2020", "tabulate_singh2020", "tabulate_zhou2022",
          "tabulate_depth_agreement"}  # fmt: skip
SCORES = {"score_matton2019", "score_merchant2020", "score_singh2020", "score_zhou2022", "scorecard"}


def test_every_artifact_appears(finished):
    made = finished.folder / "results/tiny"
    with open(finished.folder / "config/artifacts.tsv") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    counts = {"matton2019": 11, "merchant2020": 8, "singh2020": 6, "zhou2022": 17, "beyond": 3}
    assert Counter(row["paper"] for row in rows) == counts
    for row in rows:
        for ending in ("pdf", "png") if row["kind"] == "figure" else ("csv", "md"):
            path = made / f"{row['kind']}s" / row["paper"] / f"{row['id']}.{ending}"
            assert path.stat().st_size > 50, path
    scorecard = (made / "scorecard.md").read_text()
    assert all(f"| {paper} |" in scorecard for paper in ("matton2019", "merchant2020", "singh2020", "zhou2022"))
    assert not list(made.rglob("*.part")) and not list(made.rglob("*.resume.pt"))


def test_every_job_has_log_and_benchmark(finished):
    made = finished.folder / "results/tiny"
    logs = {path.relative_to(made / "logs").with_suffix("") for path in (made / "logs").rglob("*.log")}
    benchmarks = {
        path.relative_to(made / "benchmarks").with_suffix("") for path in (made / "benchmarks").rglob("*.tsv")
    }
    assert logs == benchmarks and len(logs) > 30


def test_second_run_does_nothing(finished):
    assert finished.planned() == {}
    assert "Nothing to be done" in finished.snakemake()


def test_edited_module_reruns_its_users_only(finished):
    module = finished.folder / "workflow/lib/figures.py"
    before = module.read_bytes()
    module.write_bytes(before + b"\n# an edit\n")
    planned = set(finished.planned())
    module.write_bytes(before)
    # the scores read tables 1 and 6, which have the papers' names of tasks from this module
    assert DRAWING <= planned <= DRAWING | TABLES | SCORES
    assert finished.planned() == {}


def generated(planned) -> set[str]:
    return {rule for rule in planned if rule.startswith("generate_")}


def test_edited_deep_module_reruns_what_stands_on_it(finished):
    module = finished.folder / "workflow/lib/linear.py"
    before = module.read_bytes()
    module.write_bytes(before + b"\n# an edit\n")
    planned = set(finished.planned())
    module.write_bytes(before)
    assert {"pca_accuracy", "search_neurons"} <= planned
    assert not generated(planned) and not planned & {"pretrain_encoder", "finetune_model", "cache_activations"}


def test_changed_key_reruns_what_depends_on_it(finished):
    planned = set(finished.planned("--config", "matton2019={folds: 4}"))
    assert "search_neurons" in planned and planned <= {"search_neurons"} | DRAWING | TABLES | SCORES
    planned = finished.planned("--config", "tasks={imdb: {epochs: 3}}")
    assert planned["finetune_model"] == 3  # two encoders and the untrained one
    assert not generated(planned) and "pretrain_encoder" not in planned
    planned = finished.planned("--config", "datasets={imdb: {source: embedded, rows: {train: 40, test: 41}}}")
    assert generated(planned) == {"generate_imdb"} and "pretrain_encoder" not in planned
    planned = set(finished.planned("--config", "zhou2022={probe_n_seeds: 3}"))
    assert "mlp_probe" in planned and planned <= {"mlp_probe"} | TABLES | SCORES
    planned = set(finished.planned("--config", "merchant2020={rsa_tokens: 60}"))
    beyond = {"layer_changes", "tabulate_depth_agreement"}  # these show RSA too
    assert "rsa" in planned and planned <= {"rsa"} | beyond | DRAWING | SCORES
    planned = set(finished.planned("--config", "merchant2020={edge_hidden: 12}"))
    assert "edge_probe" in planned and planned <= {"edge_probe", "description_length"} | TABLES | SCORES
    planned = finished.planned("--config", "zhou2022={path_every: 2}")
    # the followed models alone, one of which the figure beyond the papers looks at too
    assert planned["finetune_model"] == 4 and planned["cache_activations"] == 2


def test_followed_models_keep_their_steps_and_others_none(finished):
    models = finished.folder / "results/tiny/models/base.0"
    steps = sorted(path.name for path in (models / "pos.full.f1.s0/steps").iterdir())
    assert steps == ["00000", "00001", "00002", "00003", "00004"]  # 24 sentences, batches of 16, two epochs
    assert not (models / "trec50.full.f1.s0/steps").exists()


def test_a_model_has_the_same_activations_in_a_job_of_its_own(finished):
    made = finished.folder / "results/tiny/activations/base.0/matton2019"
    assert sorted(path.name for path in (made / "pretrained").iterdir() if path.is_dir()) == [
        "ag_news.full.f1.s0", "dbpedia.full.f1.s0", "imdb.full.f1.s0", "pretrained",
    ]  # fmt: skip
    own = made / "imdb.full.f1.s0"
    folder = "results/tiny/activations/base.0/matton2019/imdb.full.f1.s0"
    finished.snakemake("--config", "activations={models_per_job: 1}", "--", folder)
    alone = list(own.rglob("*.parquet"))
    assert {path.relative_to(made).parts[1] for path in alone} == {"imdb.full.f1.s0"} and len(alone) == 9
    for path in alone:
        np.testing.assert_array_equal(read_vectors(path), read_vectors(made / "pretrained" / path.relative_to(own)))
    shutil.rmtree(own)
    assert finished.planned() == {}


def test_a_sweep_gives_the_same_numbers_in_one_process_and_in_many(finished):
    """Also where a sweep keeps none of its models on disk."""
    made = finished.folder / "results/tiny/sweeps/merchant2020/mnli"
    together, moved = (read_tables([made / f"base.0.s0.f1.freeze-1{table}.parquet"]) for table in ("", ".distances"))
    recipes = ["freeze-1", "freeze-2", "truncate-1"]
    assert list(together["recipe"]) == recipes
    assert [path.name for path in made.rglob("*") if path.is_file() and path.suffix != ".parquet"] == []
    apart = [f"results/tiny/sweeps/merchant2020/mnli/base.0.s0.f1.{recipe}.parquet" for recipe in recipes]
    finished.snakemake("--config", "sweeps={runs_per_job: 1}", "--", *apart)
    apart = [finished.folder / path for path in apart]
    pd.testing.assert_frame_equal(read_tables(apart), together)
    distances = [path.with_name(f"{path.stem}.distances.parquet") for path in apart]
    pd.testing.assert_frame_equal(read_tables(distances), moved)
    assert (moved.query("recipe == 'freeze-2'")["distance"] == 0).all()
    assert (moved.query("recipe == 'truncate-1'")["distance"] > 0).all()
    for path in (*apart[1:], *distances[1:]):
        path.unlink()
    finished.snakemake()
    assert finished.planned() == {}


def test_papers_do_not_wait_for_each_other_s_data(finished):
    """A task added to one paper leaves the analyses of the other alone."""
    planned = finished.planned("--config", "zhou2022={tasks: [pos, dep, ps_fxn, ps_role]}")
    assert not set(planned) & {"pca_accuracy", "search_neurons", "finetune_model"}
    needed = finished.snakemake("--dry-run", "--forceall", "matton2019")
    assert "data/pud" not in needed and "data/trec50" not in needed


def test_targets(finished):
    assert all(finished.planned(paper) == {} for paper in ("matton2019", "merchant2020", "singh2020", "zhou2022"))
    figure = "results/tiny/figures/matton2019/fig4.png"
    assert finished.planned("--forcerun", "plot_matton2019", "--", figure) == {"plot_matton2019": 1}
    forced = finished.planned("--forcerun", "search_neurons", "--", "matton2019")
    assert forced["search_neurons"] == 8 and "pca_accuracy" not in forced
    until = finished.planned("--forceall", "--until", "train_tokenizer")
    assert set(until) == {"generate_wikipedia", "train_tokenizer"}


def test_deleted_figure_alone_is_drawn_again(finished):
    figure = finished.folder / "results/tiny/figures/matton2019/fig5.png"
    before = figure.read_bytes()
    figure.unlink()
    assert finished.planned() == {"plot_matton2019": 1}
    finished.snakemake()
    assert Path(figure).read_bytes() == before
