"""Saves the state of a training, to resume it after a kill, beside the rule's outputs (which Snakemake deletes).

torch.load takes a file with flipped bits as it is, so a checksum of all values is saved with them.
"""

import pickle
import shutil
import time
import zlib
from pathlib import Path

import torch

from workflow.lib.base.errors import UserError
from workflow.lib.base.files import whole_file

SHARE = 0.02  # maximum share of the time spent on saving; without a limit, a tenth of a training of seconds


def checksum(value: object, so_far: int = 0) -> int:
    """Of nested dictionaries and lists of tensors and plain values, whatever device they are on."""
    if isinstance(value, torch.Tensor):
        return zlib.crc32(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy(), so_far)
    if isinstance(value, dict):
        value = [part for item in value.items() for part in item]
    if isinstance(value, list | tuple):
        for part in value:
            so_far = checksum(part, so_far)
        return so_far
    return zlib.crc32(repr(value).encode(), so_far)


class SavedState:
    """One file, replaced atomically. Resuming from it gives the same numbers as an uninterrupted run."""

    def __init__(self, output: str | Path, settings: object):
        self.path = Path(output).with_name(f".{Path(output).name}.resume.pt")
        self.folder = Path(output).with_name(f".{Path(output).name}.steps")  # for steps saved during training
        self.settings = repr(settings)  # a state saved with other settings must not be resumed
        self.saved_at, self.cost = -float("inf"), 0.0

    def save(self, **parts: object) -> None:
        """Save, unless the last save was too recent (see `SHARE`)."""
        begun = time.monotonic()
        if begun - self.saved_at < self.cost / SHARE:
            return
        state = parts | {"settings": self.settings, "rng": torch.get_rng_state()}
        if torch.cuda.is_available():
            state["cuda_rng"] = torch.cuda.get_rng_state_all()
        # given a path, torch would not say why it could not write
        with whole_file(self.path) as beside, open(beside, "wb") as file:
            torch.save(state | {"checksum": checksum(state)}, file)
        self.saved_at = time.monotonic()
        self.cost = self.saved_at - begun

    def load(self) -> dict | None:
        state = self._read() if self.path.exists() else {"settings": None}
        if state.pop("settings") != self.settings:
            shutil.rmtree(self.folder, ignore_errors=True)  # steps of a training that is not resumed
            return None
        torch.set_rng_state(state.pop("rng"))
        of_gpus = state.pop("cuda_rng", [])
        if len(of_gpus) == torch.cuda.device_count():  # otherwise another machine, where numbers differ in any case
            torch.cuda.set_rng_state_all(of_gpus)
        return state

    def _read(self) -> dict:
        try:
            state = torch.load(self.path, map_location="cpu", weights_only=True)
            if state.pop("checksum") == checksum(state):
                return state
            why = "its checksum does not fit"
        except (RuntimeError, KeyError, ValueError, EOFError, OSError, AttributeError, TypeError, IndexError,
                pickle.UnpicklingError) as error:  # fmt: skip
            why = type(error).__name__
        raise UserError(f"{self.path} is damaged ({why}); delete it and run again: this training begins anew")

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
