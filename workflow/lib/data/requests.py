"""What the data rules read from the config."""


def datasets_from(config: dict, source: str) -> str:
    """A regular expression of the datasets with this source (`embedded`, `real` or `file`)."""
    return "|".join(name for name, entry in config["datasets"].items() if entry["source"] == source) or "none"


def fetch_settings(config: dict, dataset: str, split: str) -> dict:
    """Settings of a dataset's split, without what does not change its rows: editing that must not fetch them again."""
    others = ("note", "licence", "sentences_of")
    entry = {key: value for key, value in config["registry"][dataset].items() if key not in others}
    return {
        "entry": entry,
        "dataset": dataset,
        "split": split,
        "rows": config["datasets"][dataset]["rows"][split],
        "seed": config["seed"],
        "mirror": config["mirror"],
        "licensed": config["licensed"],
    }


def own_entry(config: dict, dataset: str) -> dict:
    """Where a dataset in the user's own files is, and which of its columns are read."""
    return {key: value for key, value in config["datasets"][dataset].items() if key not in ("source", "rows")}
