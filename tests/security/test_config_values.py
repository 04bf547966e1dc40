"""No value of a config leaves the results folder, reaches a program, or ends in a traceback."""

import functools
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.security.hostile import DEVICES, HOSTILE, LONG_OR_EMPTY, OTHER_LANGUAGES
from tests.security.places import KEY, NAMES, PAPERS, TEXTS, config_in, named, outcome, with_value
from workflow.lib.base import config as checker
from workflow.lib.base.texts import faults_in

FITTING = {*DEVICES, *OTHER_LANGUAGES, *LONG_OR_EMPTY, "BASE", "1e309"}  # some of them are names, or numbers
FREE = [("encoders", "hub", "note"), ("encoders", "own", "published_as"), ("encoders", "hub", "path"),
        ("encoders", "own", "path"), ("weights", "projections", 0), ("edges", "for_dataset", "imdb", KEY)]  # fmt: skip
PROPERTY = {"derandomize": True, "deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}


@pytest.fixture(scope="module", autouse=True)
def schema_is_read_once():
    """A quarter of a check's time."""
    read, made = checker.config_schema, {}

    def once(papers: dict) -> dict:
        return made.setdefault(tuple(papers), None) or made.setdefault(("of", *papers), read(papers))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checker, "config_schema", once)
        yield


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> dict:
    return config_in(tmp_path_factory.mktemp("own"))


@pytest.fixture(autouse=True)
def an_empty_folder(tmp_path, monkeypatch):
    """In which nothing may appear."""
    monkeypatch.chdir(tmp_path)
    yield
    assert os.listdir(tmp_path) == []


def test_the_config_that_values_are_put_into_is_accepted(toy):
    assert outcome(toy) is None
    assert len(HOSTILE) == len(set(HOSTILE)) >= 50


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: ascii(value)[:30])
def test_a_hostile_value_as_a_name_is_refused_wherever_it_stands(toy, value):
    keys = [place for place in NAMES if place[-1] is KEY]
    for places in (keys, [place for place in NAMES if place not in keys]):  # below a key that is no name nobody looks
        faults = outcome(with_value(toy, value, *places))
        assert faults is not None
        # `--config` makes everything a text: values, but no keys, are read as YAML, and `base` and a line end is base
        is_read_as_it_is = places is keys or checker._read(value) == value
        if is_read_as_it_is and not list(faults_in(value)) and value not in FITTING:
            for place in places:
                assert named(place) in faults, place


@pytest.mark.parametrize("value", HOSTILE, ids=lambda value: ascii(value)[:30])
def test_a_hostile_value_as_a_text_is_refused_or_harmless(toy, value):
    outcome(with_value(toy, value, *FREE))
    for place in TEXTS:
        outcome(with_value(toy, value, place))
    faults = outcome(with_value(toy, value, ("mirror",), ("licensed",), ("datasets", "mine", "text")))
    folders = ("..", ".", "/", "~", "~root", "null", "\\", "//etc", "a/..")  # there are such, and they are only read
    assert faults is not None or value in folders


def anything():
    """Texts of hostile characters, values from the list, and values of other types."""
    characters = st.sampled_from("ab0._-/\\~$`'\"{}<>|;&*?!#\n\r\t\0\x1b .:[]()%\u202e\u2028\ud800é")
    texts = st.text(characters, max_size=30) | st.text(max_size=10) | st.sampled_from(HOSTILE)
    floats = st.floats(allow_subnormal=False)  # training code, run by tests before these, switches them off
    leaves = texts | st.none() | st.booleans() | st.integers() | floats
    return texts | st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner))


@settings(max_examples=100, **PROPERTY)
@given(place=st.sampled_from([*NAMES, *TEXTS]), value=anything())
def test_any_value_anywhere_is_refused_in_lines_or_stays_inside(toy, place, value):
    hashable = str(value) if place[-1] is KEY and isinstance(value, list | dict) else value
    outcome(with_value(toy, hashable, place))


@settings(max_examples=20, **PROPERTY)
@given(name=st.from_regex(r"\A[a-z][a-z0-9_]*\n?\Z"))
def test_names_of_the_schema_end_where_their_text_ends(toy, name):
    faults = outcome(toy | {"encoders": toy["encoders"] | {name: toy["encoders"]["own"]}})
    assert (faults is not None) == (name.endswith("\n") or len(name) > 64)


def test_every_pattern_of_the_schema_is_anchored_on_both_sides():
    @functools.singledispatch
    def patterns(part):
        return []

    patterns.register(list, lambda part: [found for inner in part for found in patterns(inner)])

    @patterns.register
    def _(part: dict):
        own = [part["pattern"]] if isinstance(part.get("pattern"), str) else []
        inner = [found for value in part.values() for found in patterns(value)]
        return [*own, *part.get("patternProperties", ()), *inner]

    found = patterns(checker.config_schema(PAPERS))
    assert len(found) > 15
    assert all(pattern.startswith("^") and pattern.endswith(r"\Z") for pattern in found), found


@pytest.mark.parametrize(
    "key, value",
    [
        ("figure.hooks", ["os:abort"]), ("backend", "module://marker"), ("text.usetex", True),
        ("text.latex.preamble", "\\write18{touch marker}"), ("pgf.texsystem", "sh"), ("savefig.directory", "/"),
        ("animation.convert_path", "/bin/sh"), ("ps.usedistiller", "ghostscript"), ("svg.fonttype", "path"),
        ("axes.prop_cycle", "cycler('color', [].__class__)"), ("examples.directory", "/"),
    ],
)  # fmt: skip
def test_settings_of_matplotlib_that_run_or_write_are_refused(toy, key, value):
    assert f"figures.style.{key} is" in outcome(with_value(toy, value, ("figures", "style", key)))


def test_settings_of_the_look_are_taken(toy):
    style = {"font.family": "serif", "font.size": 9, "lines.linewidth": 1.5, "axes.grid": False, "legend.loc": "best"}
    assert outcome(toy | {"figures": {"style": style}}) is None
