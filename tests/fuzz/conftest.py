"""The builders of `datasets` that our readers use, without `load_dataset`, which takes longer than to read a small
file: it looks for patterns of file names, modules and caches."""

import importlib

import pytest

from workflow.lib.data.adapters import reading

asked_of_datasets = reading.stream


def of_the_builder(builder: str, file, cache: str, **options):
    import datasets
    from datasets.data_files import DataFilesDict, DataFilesList

    datasets.config.TORCH_AVAILABLE = False  # as our readers do
    module = importlib.import_module(f"datasets.packaged_modules.{builder}.{builder}")
    files = DataFilesDict({"train": DataFilesList([str(file)], origin_metadata=[("",)])})
    made = getattr(module, builder.capitalize())(cache_dir=cache, data_files=files, **options)
    return made.as_streaming_dataset(split="train")


@pytest.fixture(autouse=True)
def quick_streams(monkeypatch, tmp_path):
    monkeypatch.setattr(
        reading, "stream", lambda builder, file, **options: of_the_builder(builder, file, tmp_path, **options)
    )
