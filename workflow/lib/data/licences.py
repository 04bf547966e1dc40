"""Data under licence: what a run can have of it, told before any job."""

from pathlib import Path

from workflow.lib.base.faults import Faults


def is_licensed(entry: dict) -> bool:
    """`entry`: of the registry. Nobody may download it for the user."""
    return any("obtain" in source for source in entry["sources"])


def absent(entry: dict, splits: list[str], folders: list[str | None]) -> list[str]:
    """Files of these splits that none of the folders has, plain or compressed."""
    [source] = entry["sources"]
    files = [entry["splits"][split]["file"] for split in splits]
    places = [Path(folder).expanduser() / source["raw"] for folder in folders if folder]
    return [
        f"{source['raw']}/{file}"
        for file in files
        if not any((place / f"{file}{end}").is_file() for place in places for end in ("", ".gz"))
    ]


def check_licences(config: dict, registry: dict, faults: Faults) -> dict[str, str | None]:
    """Datasets under licence that this run does without, because no folder is given, and their public stand-ins.

    With a folder, every file that is not in it is a fault.
    """
    without = {}
    for name, entry in config["datasets"].items():
        if entry["source"] != "real" or name not in registry or not is_licensed(registry[name]):
            continue
        missing = absent(registry[name], list(entry["rows"]), [config["licensed"], config["mirror"]])
        if missing and config["licensed"]:
            faults.add(f"licensed is '{config['licensed']}': no {missing[0]} in it, which datasets.{name} needs"
                       + (f" (and {len(missing) - 1} more of it)" if len(missing) > 1 else ""))  # fmt: skip
        elif missing:
            without[name] = registry[name].get("stand_in")
    return without


def public(datasets: list[str], without: dict[str, str | None]) -> list[str]:
    """The same datasets, those under licence replaced by their stand-ins or left out."""
    found = (without.get(name, name) for name in datasets)
    return list(dict.fromkeys(name for name in found if name))
