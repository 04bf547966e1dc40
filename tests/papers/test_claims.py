"""What papers claim is written once, in claims.yaml: complete, and the same in READMEs."""

import pytest

from workflow.lib.base.claims import Claims
from workflow.lib.base.claims_docs import generated, readme_of
from workflow.lib.base.verdicts import FAILS, HOLDS, UNCLEAR, Estimate
from workflow.papers import all_papers

PAPERS = {key: paper for key, paper in all_papers().items() if paper.claims}


@pytest.mark.parametrize("key", PAPERS)
def test_every_claim_says_what_where_and_how(key):
    artifacts = {entry["id"] for entry in PAPERS[key].about["artifacts"]}
    for name, entry in Claims(key).entries.items():
        assert set(entry) <= {"says", "statement", "threshold", "because", "artifact", "judged", "slip"}, name
        assert {"says", "statement", "artifact", "judged"} <= set(entry) and entry["artifact"] in artifacts, name
        assert ("threshold" in entry) == ("because" in entry), f"{name}: a threshold has a reason"
        assert "{" not in Claims(key).statement(name)


@pytest.mark.parametrize("key", PAPERS)
def test_readmes_have_the_claims_as_they_are(key):
    text = readme_of(PAPERS[key]).read_text()
    assert generated(text, Claims(key)) == text, "run `make docs`"


@pytest.fixture
def claims() -> Claims:
    made = Claims.__new__(Claims)
    made.paper, entry = "fifth2027", {"says": "so", "artifact": "fig1", "judged": "by it"}
    made.entries = {"much": entry | {"statement": "Above {threshold:g}.", "threshold": 2.0},
                    "slip": entry | {"statement": "All.", "slip": "two of three."}}  # fmt: skip
    return made


def test_every_quantity_must_be_on_the_right_side(claims):
    high, low = Estimate([3.0, 3.1]), Estimate([1.0, 1.1])
    assert claims.above("much", {"a": high, "b": high}, "points").verdict == HOLDS
    assert claims.above("much", {"a": high, "b": low}, "points").verdict == FAILS
    assert claims.below("much", {"a": low}, "points").verdict == HOLDS
    assert claims.above("much", {}, "points").verdict == UNCLEAR
    judged = claims.above("much", {"a": high, "b": low}, "points", voting=["a", "absent"])
    assert claims.above("much", {"b": low}, "points", voting=["absent"]).verdict == UNCLEAR
    assert judged.verdict == HOLDS and judged.evidence == "points: a 3.0 [2.4, 3.7] (2 runs); b 1.1 [0.4, 1.7] (2 runs)"
    assert judged.statement == "Above 2."


def test_all_claims_are_listed_and_no_others(claims):
    listed = claims.complete([claims.above("much", {"a": Estimate([3.0, 3.1])}, "points")])
    assert [claim.verdict for claim in listed] == [HOLDS, UNCLEAR]
    assert listed[1].evidence == "not measured in this run. On the paper's own numbers: two of three."
    listed[0].name = "other"
    with pytest.raises(ValueError, match="fifth2027 has no other"):
        claims.complete(listed)
