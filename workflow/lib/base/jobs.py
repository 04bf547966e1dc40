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

`per_job: 1` makes one such rule, with wildcards {encoder} and {item}. Otherwise the items of a
paper, so many at a time, are outputs of one job. An item belongs to the first paper that asks for it: whoever asks
later takes what it shares a job with along (`papers: […]` in the config makes a run of some papers, and nothing else).
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

WILDCARDS = "{encoder}/{item}"


@dataclass(frozen=True)
class Job:
    """Items that share a process. `items` None: a single item, given by the wildcards {encoder} and {item}."""

    name: str
    items: tuple[str, ...] | None = None

    def files(self, pattern: str, among: Collection[str] | None = None) -> list[str]:
        """One file per item, or per item `among` some, from a `pattern` with {encoder}/{item}."""
        items = [WILDCARDS] if self.items is None else self.items
        chosen = items if among is None or self.items is None else [item for item in items if item in among]
        return [pattern.replace(WILDCARDS, item) for item in chosen]

    def log(self, pattern: str) -> str:
        """One file per job, named after the item or after the rule."""
        return pattern if self.items is None else pattern.replace(WILDCARDS, self.name)

    def of(self, wildcards) -> list[str]:
        return [f"{wildcards.encoder}/{wildcards.item}"] if self.items is None else list(self.items)

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
    of_paper: dict[str, list[str]] = {}
    for item, (owner, *_) in items.items():
        of_paper.setdefault(owner, []).append(item)
    jobs = []
    for owner, asked in of_paper.items():
        size = per_job or len(asked)
        is_all = len(of_paper) == 1 and size >= len(asked)
        for number, start in enumerate(range(0, len(asked), size), 1):
            name = rule if is_all else f"{rule}_{owner}" if number == 1 else f"{rule}_{owner}_{number}"
            jobs.append(Job(name, tuple(asked[start : start + size])))
    return jobs
