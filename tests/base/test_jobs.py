"""However much work shares a process: every item is some job's, and no item is two jobs'."""

import re
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from workflow.lib.base.jobs import Job, jobs_of
from workflow.lib.base.names import encoder_of, target_of

PAPERS = ["matton2019", "merchant2020", "zhou2022"]
SEEDS = range(25)


def drawn(seed: int) -> dict[str, list[str]]:
    """Items of up to three encoders, some with equal lists, and the papers that ask for each."""
    rng = np.random.default_rng(seed)
    items = [f"pretrained/cls/data_{n}-train" for n in range(rng.integers(1, 9))]
    asking = {item: [paper for paper in PAPERS if rng.random() < 0.5] or PAPERS[:1] for item in items}
    encoders = [f"base.{n}" for n in range(rng.integers(1, 4))] + ["deep.10"]
    return {f"{encoder}/{item}": asking[item] for encoder in encoders for item in items if rng.random() < 0.9}


def made(job: Job) -> list[str]:
    return [item for encoder in job.encoders for item in job.of(SimpleNamespace(encoder=encoder))]


@pytest.mark.parametrize("items", [drawn(0), {}])
def test_one_item_per_job_is_one_rule_with_wildcards(items):
    [job] = jobs_of("pca", items, 1)
    assert job == Job("pca")
    wildcards = SimpleNamespace(encoder="base.0", item="pretrained/imdb")
    assert job.of(wildcards) == ["base.0/pretrained/imdb"]
    assert job.files("a/{encoder}/{item}.x") == ["a/{encoder}/{item}.x"] and job.log("l/{item}") == "l/{item}"
    assert re.fullmatch(job.encoder_pattern, "bert_large.12") and not re.fullmatch(job.encoder_pattern, "bert/x.0")


@pytest.mark.parametrize("per_job", [None, 2, 3, 100])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_item_is_lost_or_made_twice(seed, per_job):
    items = drawn(seed)
    jobs = jobs_of("pca", items, per_job)
    assert Counter(item for job in jobs for item in made(job)) == Counter(list(items))
    assert len({job.name for job in jobs}) == len(jobs) and all(
        re.fullmatch(r"pca[a-z0-9_]*", job.name) for job in jobs
    )


@pytest.mark.parametrize("per_job", [None, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_shares_a_job_belongs_to_the_paper_that_asked_first(seed, per_job):
    items = drawn(seed)
    for job in jobs_of("pca", items, per_job):
        assert len({items[item][0] for item in made(job)}) == 1
        assert len(job.items) <= (per_job or len(items))


@pytest.mark.parametrize("seed", SEEDS)
def test_without_a_limit_there_is_a_job_for_each_group_and_equal_lists_share_a_rule(seed):
    items, lists = drawn(seed), {}
    for item, papers in items.items():
        lists.setdefault((encoder_of(item), papers[0]), []).append(item.partition("/")[2])
    jobs = jobs_of("pca", items, None)
    assert sum(len(job.encoders) for job in jobs) == len(lists)
    rules = {(owner, tuple(rests)) for (_, owner), rests in lists.items()}
    assert len(jobs) == len(rules) and {job.items for job in jobs} == {rests for _, rests in rules}
    assert (len(jobs) == 1) == ([job.name for job in jobs] == ["pca"])


@pytest.mark.parametrize("seed", SEEDS)
def test_jobs_are_the_fewest_that_the_limit_allows(seed):
    items = drawn(seed)
    sizes = Counter((encoder_of(item), papers[0]) for item, papers in items.items())
    for per_job in (2, 3):
        n_jobs = sum(len(job.encoders) for job in jobs_of("pca", items, per_job))
        assert n_jobs == sum(-(-size // per_job) for size in sizes.values())


def test_names_say_to_which_paper_items_belong():
    items = {"base.0/a": PAPERS[:1], "base.0/b": PAPERS[1:], "base.0/c": PAPERS[:2], "base.1/a": PAPERS[:1],
             "base.1/b": PAPERS[1:2]}  # fmt: skip
    jobs = {job.name: (job.encoders, job.items) for job in jobs_of("pca", items, None)}
    assert jobs == {
        "pca_matton2019": (("base.0",), ("a", "c")),
        "pca_matton2019_2": (("base.1",), ("a",)),
        "pca_merchant2020": (("base.0", "base.1"), ("b",)),
    }


def test_the_same_plan_gives_the_same_rules():
    assert jobs_of("pca", drawn(3), None) == jobs_of("pca", drawn(3), None)


def test_a_job_names_its_files_inputs_and_params():
    job = Job("pca_two", ("base.0", "base.10"), ("pretrained/x", "pretrained/y"))
    assert job.files("a/{encoder}/{item}.p") == ["a/{encoder}/pretrained/x.p", "a/{encoder}/pretrained/y.p"]
    assert job.log("logs/{encoder}/{item}.log") == "logs/{encoder}/pca_two.log"
    assert [name for name in ("base.0", "base.1", "base.10", "basex0") if re.fullmatch(job.encoder_pattern, name)] == [
        "base.0", "base.10"
    ]  # fmt: skip
    wildcards = SimpleNamespace(encoder="base.10")
    assert job.inputs(lambda item: ["common", f"{item}.in"])(wildcards) == [
        "common", "base.10/pretrained/x.in", "base.10/pretrained/y.in"
    ]  # fmt: skip
    assert job.params(target_of)(wildcards) == {"base.10/pretrained/x": "x", "base.10/pretrained/y": "y"}
