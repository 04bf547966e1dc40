"""Data under licence: what a run can have of it, told before any job."""

from collections.abc import Iterable
from pathlib import Path

from workflow.lib.base.errors import UserError
from workflow.lib.base.faults import Faults
from workflow.lib.base.paths import is_file, local


def is_licensed(entry: dict) -> bool:
    """`entry`: of the registry. Nobody may download it for the user."""
    return any("obtain" in source for source in entry.get("sources", []))


def files_of(entry: dict, splits: list[str], folders: list[str | None]) -> dict[str, Path | None]:
    """The file of each of these splits, by its name in the registry: plain or compressed, in the first folder that has
    it; None where none has."""
    [source] = entry["sources"]
    places = [local(folder) / source["raw"] for folder in folders if folder]
    names = [entry["splits"][split]["file"] for split in splits]
    at = {name: [place / f"{name}{end}" for place in places for end in ("", ".gz")] for name in names}
    return {f"{source['raw']}/{name}": next(filter(is_file, paths), None) for name, paths in at.items()}


def check_files(files: Iterable[Path], entry: dict, faults: Faults) -> None:
    """A file of another format is named before any job."""
    from workflow.lib.data.adapters import check_beginning  # pyarrow, which runs without licensed data do without here

    for file in files:
        try:
            check_beginning(file, entry)
        except UserError as error:
            faults.add(str(error))


def check_licences(config: dict, registry: dict, faults: Faults) -> dict[str, str | None]:
    """Datasets under licence that this run does without, because no folder has them, and their public stand-ins.

    Of a dataset that is there in part, every file that is missing is a fault; so is a file of another format.
    """
    without = {}
    for name, entry in config["datasets"].items():
        if entry["source"] != "real" or not is_licensed(registry.get(name, {})):
            continue
        splits = [split for split in entry["rows"] if split in registry[name]["splits"]]  # others are faults already
        files = files_of(registry[name], splits, [config["licensed"], config["mirror"]])
        missing = [file for file, found in files.items() if found is None]
        if len(missing) < len(splits):
            check_files(filter(None, files.values()), registry[name], faults)
        if missing and len(missing) < len(splits):
            more = f" (and {len(missing) - 1} more of it)" if len(missing) > 1 else ""
            faults.add(f"licensed is '{config['licensed']}': no {missing[0]} in it, which datasets.{name} needs{more}")
        elif missing:
            stand_in = registry[name].get("stand_in")
            is_real = config["datasets"].get(stand_in, {}).get("source") == "real"
            without[name] = stand_in if is_real else None
    return without


def public(datasets: list[str], without: dict[str, str | None]) -> list[str]:
    """The same datasets, those under licence replaced by their stand-ins or left out."""
    found = (without.get(name, name) for name in datasets)
    return list(dict.fromkeys(name for name in found if name))
