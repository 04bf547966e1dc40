"""Parts of a job in several processes: the same results in the same order, and everything is counted."""

import pytest

from workflow.lib.base import work
from workflow.lib.base.processes import in_processes


def square(number: int) -> int:
    work.count("fits", number)
    return number**2


@pytest.mark.parametrize("n", [1, 2, 5])
def test_results_and_counts_do_not_depend_on_the_number_of_processes(n, monkeypatch):
    monkeypatch.setattr(work, "_counted", work.Counter(fits=3))
    assert in_processes(square, [4, 2, 7], n) == [16, 4, 49]
    assert work._counted == {"fits": 16}


def test_an_error_in_a_process_is_the_job_s():
    with pytest.raises(TypeError):
        in_processes(square, [1, "two"], 2)
