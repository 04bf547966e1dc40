"""What the encoder rules read from the config."""

from workflow.lib.base.paths import is_folder, local

FOLDER_FILES = (".json", ".safetensors", ".bin", ".txt")  # of an encoder: weights, shape, tokenizer


def encoders_from(config: dict, *sources: str) -> str:
    """A regular expression of the encoders with these sources."""
    return "|".join(name for name, entry in config["encoders"].items() if entry["source"] in sources) or "none"


def shape(config: dict, name: str) -> dict:
    return {key: value for key, value in config["encoders"][name].items() if key not in ("source", "seeds")}


def fetched(config: dict, name: str) -> dict:
    """An encoder's source, without note and seeds: editing these must not fetch it again."""
    entry = config["encoders"][name]
    return {key: entry[key] for key in ("id", "revision", "path") if key in entry}


def folder_files(config: dict, name: str) -> list[str]:
    """Files of a local encoder, as inputs: if it is retrained in the same folder, the rule reruns. [] for a Hub id."""
    path = config["encoders"][name].get("path")
    return files_in(path) if path else []


def files_in(path: str) -> list[str]:
    """Those of a local model that are read. None of these has a brace, behind which Snakemake looks for a wildcard."""
    folder = local(path)
    found = sorted(folder.iterdir()) if is_folder(folder) else []
    return [str(file) for file in found if file.name.endswith(FOLDER_FILES) and "{" not in file.name]
