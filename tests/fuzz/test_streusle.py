"""STREUSLE's JSON, damaged as text and as values."""

import json

from hypothesis import strategies as st

from tests.fuzz.damage import damaged, damages, fuzzed
from tests.fuzz.json_damage import JSON
from tests.fuzz.published import rows_of, spans_lie_within
from tests.fuzz.text_damage import TEXT

LABELS = ["p.Gestalt", "p.Goal", "p.Purpose", "p.SocialRel"]


def sentence(key: str) -> dict:
    expressions = [([3], "p.Purpose", "p.Goal"), ([1], "p.SocialRel", "p.Gestalt"), ([2], "n.ANIMAL", None)]
    swes = {str(at): {"lexcat": "P", "toknums": n, "ss": ss, "ss2": ss2} for at, (n, ss, ss2) in enumerate(expressions)}
    toks = [{"#": number, "word": form} for number, form in enumerate(["My", "dog", "for", "fun"], 1)]
    return {"sent_id": key, "toks": toks, "swes": swes, "smwes": {}, "wmwes": {}}


CONTENT = [sentence("r-1"), sentence("r-2")]
CHOSEN = st.tuples(damages(*JSON), damages(*TEXT, most=1, often=4))


def written(chosen) -> bytes:
    values, text = chosen
    return damaged(json.dumps(damaged(CONTENT, values), indent=0).encode(), text)


def test_prepositions(tmp_path):
    file = tmp_path / "toy.json"

    def read(drawn):
        label, chosen = drawn
        file.write_bytes(written(chosen))
        return rows_of(file, "prepositions", "spans", labels=LABELS, options={"label": label})

    def check(drawn, rows):
        (label, chosen), expected = drawn, []
        for plain in json.loads(written(chosen).decode("utf-8-sig")):
            single = [e for e in plain["swes"].values() if len(e["toknums"]) == 1 and str(e["ss"]).startswith("p.")]
            found = sorted((e["toknums"][0] - 1, e["toknums"][0], e[label]) for e in single)
            if found:
                expected.append((f"train-{plain['sent_id']}", [token["word"] for token in plain["toks"]], found))
            assert isinstance(plain["sent_id"], str) and all(
                isinstance(e["ss"], str | None) for e in plain["swes"].values()
            )
        assert expected == [
            (row["id"], row["words"], [(t["start1"], t["end1"], *t["labels"]) for t in row["targets"]]) for row in rows
        ]
        starts = [[target["start1"] for target in row["targets"]] for row in rows]
        assert all(map(spans_lie_within, rows)) and all(len(set(found)) == len(found) for found in starts)

    fuzzed(st.tuples(st.sampled_from(["ss", "ss2"]), CHOSEN), read, check)
