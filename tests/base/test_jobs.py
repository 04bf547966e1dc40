"""However much work shares a process: every item is some job's, and no item is two jobs'."""

import re
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

from workflow.lib.base.jobs import Job, jobs_of
from workflow.lib.base.names import target_of

PAPERS = ["matton2019", "merchant2020", "zhou2022"]
SEEDS = range(25)


def drawn(seed: int) -> dict[str, list[str]]:
    """Items of up to three encoders, some with equal lists, and the papers that ask for each."""
    rng = np.random.default_rng(seed)
    items = [f"pretrained/cls/data_{n}-train" for n in range(rng.integers(1, 9))]
    asking = {item: [paper for paper in PAPERS if rng.random() < 0.5] or PAPERS[:1] for item in items}
    encoders = [f"base.{n}" for n in range(rng.integers(1, 4))] + ["deep.10"]
    return {f"{encoder}/{item}": asking[item] for encoder in encoders for item in items if rng.random() < 0.9}


@pytest.mark.parametrize("items", [drawn(0), {}])
def test_one_item_per_job_is_one_rule_with_wildcards(items):
    [job] = jobs_of("pca", items, 1)
    assert job == Job("pca")
    wildcards = SimpleNamespace(encoder="base.0", item="pretrained/imdb")
    assert job.of(wildcards) == ["base.0/pretrained/imdb"]
    assert job.files("a/{encoder}/{item}.x") == ["a/{encoder}/{item}.x"]
    assert job.log("l/{encoder}/{item}") == "l/{encoder}/{item}"


@pytest.mark.parametrize("per_job", [None, 2, 3, 100])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_item_is_lost_or_made_twice(seed, per_job):
    items = drawn(seed)
    jobs = jobs_of("pca", items, per_job)
    assert Counter(item for job in jobs for item in job.items) == Counter(list(items))
    assert len({job.name for job in jobs}) == len(jobs)
    assert all(re.fullmatch(r"pca[a-z0-9_]*", job.name) for job in jobs)


@pytest.mark.parametrize("per_job", [None, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_shares_a_job_belongs_to_the_paper_that_asked_first(seed, per_job):
    items = drawn(seed)
    for job in jobs_of("pca", items, per_job):
        assert len({items[item][0] for item in job.items}) == 1
        assert len(job.items) <= (per_job or len(items))


@pytest.mark.parametrize("per_job", [None, 2, 3])
@pytest.mark.parametrize("seed", SEEDS)
def test_jobs_are_the_fewest_that_the_limit_allows(seed, per_job):
    items = drawn(seed)
    sizes = Counter(papers[0] for papers in items.values())
    fewest = sum(-(-size // (per_job or size)) for size in sizes.values())
    jobs = jobs_of("pca", items, per_job)
    assert len(jobs) == fewest and (fewest == 1) == ([job.name for job in jobs] == ["pca"])


def test_names_say_to_which_paper_items_belong():
    items = {"base.0/a": PAPERS[:1], "base.0/b": PAPERS[1:], "base.0/c": PAPERS[:2], "base.1/a": PAPERS[:1],
             "base.1/b": PAPERS[1:2]}  # fmt: skip
    assert {job.name: job.items for job in jobs_of("pca", items, 2)} == {
        "pca_matton2019": ("base.0/a", "base.0/c"),
        "pca_matton2019_2": ("base.1/a",),
        "pca_merchant2020": ("base.0/b", "base.1/b"),
    }


def test_the_same_plan_gives_the_same_rules():
    assert jobs_of("pca", drawn(3), None) == jobs_of("pca", drawn(3), None)


def test_a_job_names_its_files_inputs_and_params():
    job = Job("pca_two", ("base.0/pretrained/x", "base.10/pretrained/y"))
    assert job.files("a/{encoder}/{item}.p") == ["a/base.0/pretrained/x.p", "a/base.10/pretrained/y.p"]
    assert job.log("logs/{encoder}/{item}.log") == "logs/pca_two.log"
    assert job.inputs(lambda item: ["common", f"{item}.in"])(SimpleNamespace()) == [
        "common", "base.0/pretrained/x.in", "base.10/pretrained/y.in"
    ]  # fmt: skip
    assert job.params(target_of)(SimpleNamespace()) == {"base.0/pretrained/x": "x", "base.10/pretrained/y": "y"}
