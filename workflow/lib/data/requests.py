"""What the data rules read from the config."""


def datasets_from(config: dict, source: str) -> str:
    """A regular expression of the datasets with this source (`embedded` or `real`)."""
    return "|".join(name for name, entry in config["datasets"].items() if entry["source"] == source) or "none"


def fetch_settings(config: dict, dataset: str, split: str) -> dict:
    """Settings of a dataset's split, without note and licence: editing these must not fetch the data again."""
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
