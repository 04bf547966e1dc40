"""Damage to the arrays of an .npz file: names, types, shapes, values; then to the bytes of the archive."""

import io
import warnings
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from tests.fuzz.damage import damaged, damages
from tests.fuzz.text_damage import BYTES

TYPES = ["int8", "uint64", "float16", "float64", "longdouble", "complex128", "bool", "U2", "S2", "O", "M8[D]", "m8[D]"]
NUMBERS = [np.nan, np.inf, 1e39, 1e300, -1e308, 1e-310, 0, -1, 1, 2, 5, 2**31]


def on_arrays(change):
    def damage(arrays: dict, at: int, what: int) -> dict:
        arrays = {name: np.array(array) for name, array in arrays.items()}
        if arrays:
            change(arrays, list(arrays)[at % len(arrays)], what)
        return arrays

    damage.__name__ = change.__name__
    return damage


@on_arrays
def drop_array(arrays, name, what):
    del arrays[name]


@on_arrays
def swap_arrays(arrays, name, what):
    other = list(arrays)[what % len(arrays)]
    arrays[name], arrays[other] = arrays[other], arrays[name]


@on_arrays
def retype(arrays, name, what):
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            arrays[name] = arrays[name].astype(TYPES[what % len(TYPES)])
        except (TypeError, ValueError, OverflowError, RuntimeError):
            arrays[name] = arrays[name].astype(str)


@on_arrays
def reshape(arrays, name, what):
    x = np.atleast_1d(arrays[name])
    others = [
        x.reshape(-1),
        x[None],
        x[..., None],
        x[:0],
        x[1:],
        x[..., :0],
        np.array(0),
        np.concatenate([x, x]) if x.ndim else x,
    ]
    arrays[name] = others[what % len(others)]


@on_arrays
def odd_value(arrays, name, what):
    x, value = arrays[name], NUMBERS[what % len(NUMBERS)]
    if x.size and x.dtype.kind in "fiu":
        x = x if x.dtype.kind == "f" or (isinstance(value, int) and x.dtype.itemsize == 8) else x.astype(float)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x.flat[what // len(NUMBERS) % x.size] = value
        arrays[name] = x
    elif x.size and x.dtype.kind == "U":
        x.flat[what % x.size] = ["", "no", "on"][what % 3]


ARRAYS = (odd_value, odd_value, odd_value, reshape, reshape, retype, retype, swap_arrays, drop_array)
FILES = st.tuples(damages(*ARRAYS), damages(*BYTES, most=2, often=4))


def write(file: Path, arrays: dict, chosen: tuple) -> dict:
    """Write the damaged file; returns the arrays that it had before its bytes were damaged."""
    left, archive = damaged(arrays, chosen[0]), io.BytesIO()
    np.savez(archive, **left)
    file.write_bytes(damaged(archive.getvalue(), chosen[1]))
    return left
