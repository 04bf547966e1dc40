"""Damage to parsed JSON: a value somewhere inside is replaced, dropped, repeated, or swapped with another one."""

import copy
import math

ODD = [
    None,
    True,
    False,
    -1,
    0,
    1,
    2,
    1.0,
    1.5,
    10**12,
    10**30,
    math.nan,
    math.inf,
    "",
    " ",
    "1",
    "x",
    "p.Goal",
    "\ud800",
]
ODD += ["a\nb", "\0", [], {}, [[]], [None], [1], [0, 1], {"a": 1}, ["x"], [1, 2, 3]]


def _places(value) -> list[tuple]:
    """(container, key) of every value inside."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    found = [(value, key) for key in keys]
    return found + [place for key in keys for place in _places(value[key])]


def in_place(change):
    def damage(value, at: int, what: int):
        value = copy.deepcopy(value)
        if places := _places(value):
            container, key = places[at % len(places)]
            change(container, key, what, places)
        return value

    damage.__name__ = change.__name__
    return damage


@in_place
def replace(container, key, what, places):
    container[key] = copy.deepcopy(ODD[what % len(ODD)])


@in_place
def nudge(container, key, what, places):
    """A number or a text that is nearly right."""
    value = container[key]
    if isinstance(value, int):
        container[key] = value + what % 5 - 2
    elif isinstance(value, str):
        container[key] = value[what % 3 :] + " x"[: what % 3]


@in_place
def drop(container, key, what, places):
    del container[key]


@in_place
def repeat(container, key, what, places):
    if isinstance(container, list):
        container.insert(what % (len(container) + 1), copy.deepcopy(container[key]))
    else:
        container[str(what)] = copy.deepcopy(container[key])


@in_place
def swap(container, key, what, places):
    other, of_other = places[what % len(places)]
    one, two = copy.deepcopy(container[key]), copy.deepcopy(other[of_other])
    container[key], other[of_other] = two, one


JSON = (replace, nudge, drop, repeat, swap)
