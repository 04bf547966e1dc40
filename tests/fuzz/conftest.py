"""The builders of `datasets` that our readers use, without `load_dataset`, which takes longer than to read a small
file: it looks for patterns of file names, modules and caches."""

import copy
import importlib
from functools import cache

import pytest
from hypothesis.internal.conjecture import providers

from workflow.lib.data.adapters import reading

asked_of_datasets = reading.stream


@cache
def builder_of(name: str, folder):
    import datasets

    datasets.config.TORCH_AVAILABLE = False  # as our readers do
    module = importlib.import_module(f"datasets.packaged_modules.{name}.{name}")
    return getattr(module, name.capitalize())(cache_dir=folder, data_files={"train": []})


def of_the_builder(name: str, file, folder, **options):
    from datasets.data_files import DataFilesDict, DataFilesList

    known = builder_of(name, folder)
    made = object.__new__(type(known))
    made.__dict__ |= vars(known) | {"config": copy.copy(known.config), "info": known.info.copy()}
    made.config.data_files = DataFilesDict({"train": DataFilesList([str(file)], origin_metadata=[("",)])})
    for option, value in options.items():
        setattr(made.config, option, value)
    return made.as_streaming_dataset(split="train")


@pytest.fixture(autouse=True)
def same_inputs(monkeypatch):
    """Hypothesis also draws constants of whatever modules of ours are loaded: another choice of tests to run would give
    other inputs, though `derandomize` is set."""
    none = providers.Constants()
    monkeypatch.setattr(providers, "_get_local_constants", lambda: none)
    providers.CONSTANTS_CACHE.cache.clear()


@pytest.fixture(autouse=True)
def quick_streams(monkeypatch, tmp_path):
    monkeypatch.setattr(
        reading, "stream", lambda builder, file, **options: of_the_builder(builder, file, tmp_path, **options)
    )
