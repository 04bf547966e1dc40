"""No code of a dataset's repository runs, and files of data are only read."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workflow.lib.base.errors import UserError
from workflow.lib.data.dataset_files import read_dataset
from workflow.lib.data.own_files import split_of
from workflow.scripts.fetch_dataset import fetch

ENTRY = {
    "kind": "text", "labels": ["no", "yes"], "splits": {"train": {"from": "train"}}, "adapter": "text",
    "options": {"text": "text", "label": "label"},
    "sources": [{"hub": "org/name", "config": "cfg", "revision": "0" * 40}],
}  # fmt: skip
ROWS = {"text": [f"text {n}" for n in range(8)], "label": [0, 1] * 4}


@pytest.mark.parametrize("folder", ["", "cfg/"])
def test_a_loading_script_beside_parquet_files_is_never_run(tmp_path, folder):
    repository = tmp_path / "mirror/org/name"
    (repository / "cfg").mkdir(parents=True)
    pq.write_table(pa.table(ROWS), repository / "cfg/train-00000-of-00001.parquet")
    for name in ("name.py", "cfg.py", "train.py", "dataset.py", "conftest.py", "sitecustomize.py", "__init__.py"):
        (repository / folder / name).write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\n")
    (repository / "dataset_infos.json").write_text('{"cfg": {"builder_name": "name"}}')
    (repository / "README.md").write_text("---\nconfigs:\n- config_name: cfg\n  data_files: ../../../mark\n---\n")
    words = {"entry": ENTRY, "dataset": "toy", "split": "train", "rows": None, "seed": 0}
    fetch(tmp_path / "out.parquet", **words, mirror=str(tmp_path / "mirror"))
    assert len(read_dataset(tmp_path / "out.parquet")[0]) == 8 and not (tmp_path / "mark").exists()


def test_a_pickle_called_parquet_is_one_line(tmp_path):
    repository = tmp_path / "org/name/cfg"
    repository.mkdir(parents=True)
    pd.to_pickle(pd.DataFrame(ROWS), repository / "train-0.parquet", compression=None)
    words = {"entry": ENTRY, "dataset": "toy", "split": "train", "rows": None, "seed": 0, "mirror": str(tmp_path)}
    with pytest.raises(UserError, match="is no readable Parquet"):
        fetch(tmp_path / "out.parquet", **words)


@pytest.mark.parametrize("name", ["$(touch mark).csv", "a {output} [b]*.csv", "'; touch mark; '.csv", "<results>.csv"])
def test_own_files_may_have_any_name(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(ROWS).to_csv(name, index=False)
    table, labels = split_of({"path": name, "text": "text", "label": "label", "test_share": 0.5}, "m", "test", None, 0)
    assert len(table) == 4 and labels == ["0", "1"] and not (tmp_path / "mark").exists()
