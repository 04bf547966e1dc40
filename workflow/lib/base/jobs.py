"""Groups items of work into jobs.

A rule's work is a list of items (see names.py). Importing torch and transformers takes seconds, so on one machine many
small items share a job; on a cluster every item is a separate job. Either way the files have the same names and
contents, and a rule is written once:

    for job in PLAN.jobs("pca"):

        rule:
            name:
                job.name
            output:
                job.files("<results>/analysis/pca/{encoder}/{item}/accuracy.parquet"),

`per_job: 1` makes one such rule, with wildcards {encoder} and {item}. Otherwise the items of an encoder that belong to
the same paper are outputs of one job. An item belongs to the first paper that asks for it: whoever asks later takes
what it shares a job with along (`papers: […]` in the config makes a run of some papers, and nothing else).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """Items of an encoder that share a process. `items` None: a single item, given by the wildcard {item}."""

    name: str
    encoders: tuple[str, ...] = ()
    items: tuple[str, ...] | None = None  # without their encoder

    @property
    def encoder_pattern(self) -> str:
        return "|".join(encoder.replace(".", r"\.") for encoder in self.encoders) or r"[a-z][a-z0-9_]*\.\d+"

    def files(self, pattern: str) -> list[str]:
        """One file per item, from a `pattern` with {encoder} and {item}."""
        return [pattern] if self.items is None else [pattern.replace("{item}", item) for item in self.items]

    def log(self, pattern: str) -> str:
        """One file per job, named after the item or after the rule."""
        return pattern if self.items is None else pattern.replace("{item}", self.name)

    def of(self, wildcards) -> list[str]:
        """The job's items for these wildcards, with their encoder."""
        items = [wildcards.item] if self.items is None else self.items
        return [f"{wildcards.encoder}/{item}" for item in items]

    def inputs(self, files_of: Callable[[str], Iterable[str]]) -> Callable:
        """A Snakemake input function: the files that the items need, without duplicates."""
        return lambda wildcards: list(dict.fromkeys(file for item in self.of(wildcards) for file in files_of(item)))

    def params(self, value_of: Callable[[str], object]) -> Callable:
        """A Snakemake params function: a value for each item."""
        return lambda wildcards: {item: value_of(item) for item in self.of(wildcards)}


def jobs_of(rule: str, items: Mapping[str, Iterable[str]], per_job: int | None) -> list[Job]:
    """`items`: the papers that ask for each, the first of them its owner. `per_job` None: as many as there are."""
    if per_job == 1 or not items:
        return [Job(rule)]
    lists: dict[tuple[str, str], list[str]] = {}
    for item, (owner, *_) in items.items():
        encoder, _, rest = item.partition("/")
        lists.setdefault((owner, encoder), []).append(rest)
    # encoders with the same list are one rule
    groups: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (owner, encoder), rests in lists.items():
        size = per_job or len(rests)
        for start in range(0, len(rests), size):
            groups.setdefault((owner, tuple(rests[start : start + size])), []).append(encoder)
    jobs, names = [], set()
    for (owner, rests), encoders in groups.items():
        name = rule if len(groups) == 1 else f"{rule}_{owner}"
        number = 2
        while name in names:
            name, number = f"{rule}_{owner}_{number}", number + 1
        names.add(name)
        jobs.append(Job(name, tuple(encoders), rests))
    return jobs
