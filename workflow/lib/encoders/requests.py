"""What the encoder rules ask of the config."""

from pathlib import Path

FOLDER_FILES = (".json", ".safetensors", ".bin", ".txt")  # of an encoder: weights, shape, tokenizer


def encoders_from(config: dict, *sources: str) -> str:
    """A pattern of the encoders of these sources."""
    return "|".join(name for name, entry in config["encoders"].items() if entry["source"] in sources) or "none"


def shape(config: dict, name: str) -> dict:
    return {key: value for key, value in config["encoders"][name].items() if key not in ("source", "seeds")}


def fetched(config: dict, name: str) -> dict:
    """Where it comes from; not its note or seeds: a word about an encoder must not fetch it again."""
    entry = config["encoders"][name]
    return {key: entry[key] for key in ("id", "revision", "path") if key in entry}


def folder_files(config: dict, name: str) -> list[str]:
    """What a local encoder is made of: trained anew in the same folder, it is another encoder. None for a Hub id."""
    path = config["encoders"][name].get("path")
    folder = Path(path).expanduser() if path else None
    found = sorted(folder.iterdir()) if folder and folder.is_dir() else []
    return [str(file) for file in found if file.name.endswith(FOLDER_FILES)]
