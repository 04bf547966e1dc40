"""Data under licence: what a run can have of it, told before any job."""

from workflow.lib.base.faults import Faults
from workflow.lib.base.paths import is_file, local


def is_licensed(entry: dict) -> bool:
    """`entry`: of the registry. Nobody may download it for the user."""
    return any("obtain" in source for source in entry.get("sources", []))


def absent(entry: dict, splits: list[str], folders: list[str | None]) -> list[str]:
    """Files of these splits that none of the folders has, plain or compressed."""
    [source] = entry["sources"]
    files = [entry["splits"][split]["file"] for split in splits]
    places = [local(folder) / source["raw"] for folder in folders if folder]
    return [
        f"{source['raw']}/{file}"
        for file in files
        if not any(is_file(place / f"{file}{end}") for place in places for end in ("", ".gz"))
    ]


def check_licences(config: dict, registry: dict, faults: Faults) -> dict[str, str | None]:
    """Datasets under licence that this run does without, because no folder has them, and their public stand-ins.

    Of a dataset that is there in part, every file that is missing is a fault.
    """
    without = {}
    for name, entry in config["datasets"].items():
        if entry["source"] != "real" or not is_licensed(registry.get(name, {})):
            continue
        splits = [split for split in entry["rows"] if split in registry[name]["splits"]]  # others are faults already
        missing = absent(registry[name], splits, [config["licensed"], config["mirror"]])
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
