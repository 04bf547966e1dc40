"""What the data rules ask of the config."""


def datasets_from(config: dict, source: str) -> str:
    """A pattern of the datasets that are `embedded` or `real`."""
    return "|".join(name for name, entry in config["datasets"].items() if entry["source"] == source) or "none"


def fetch_settings(config: dict, dataset: str, split: str) -> dict:
    """Not the entry's note or licence: a word about a dataset must not fetch it again."""
    entry = {key: value for key, value in config["registry"][dataset].items() if key not in ("note", "licence")}
    return {
        "entry": entry,
        "dataset": dataset,
        "split": split,
        "rows": config["datasets"][dataset]["rows"][split],
        "seed": config["seed"],
        "mirror": config["mirror"],
        "licensed": config["licensed"],
    }
