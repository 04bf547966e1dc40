"""What the data rules read from the config."""


def datasets_from(config: dict, source: str) -> str:
    """A regular expression of the datasets with this source (`embedded` or `real`)."""
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
