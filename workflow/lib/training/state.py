"""Training that survives a kill: its whole state, beside the rule's outputs (which Snakemake wipes before a job)."""

import shutil
import time
from pathlib import Path

import torch

from workflow.lib.base.files import whole_file

SHARE = 0.02  # of the time, at most, goes into saving: of a training of seconds it would be a tenth


class SavedState:
    """One file, replaced whole. Resuming from it gives the same numbers as never having been interrupted."""

    def __init__(self, output: str | Path, settings: object):
        self.path = Path(output).with_name(f".{Path(output).name}.resume.pt")
        self.folder = Path(output).with_name(f".{Path(output).name}.steps")  # for what training saves on its way
        self.settings = repr(settings)  # a state saved under other settings must not be continued
        self.saved_at, self.cost = -float("inf"), 0.0

    def save(self, **parts: object) -> None:
        """For the first time, or if enough has been done since the last."""
        begun = time.monotonic()
        if begun - self.saved_at < self.cost / SHARE:
            return
        state = parts | {"settings": self.settings, "rng": torch.get_rng_state()}
        if torch.cuda.is_available():
            state["cuda_rng"] = torch.cuda.get_rng_state_all()
        with whole_file(self.path) as beside:
            torch.save(state, beside)
        self.saved_at = time.monotonic()
        self.cost = self.saved_at - begun

    def load(self) -> dict | None:
        state = (
            torch.load(self.path, map_location="cpu", weights_only=True) if self.path.exists() else {"settings": None}
        )
        if state.pop("settings") != self.settings:
            shutil.rmtree(self.folder, ignore_errors=True)  # of a training that is not continued
            return None
        torch.set_rng_state(state.pop("rng"))
        of_gpus = state.pop("cuda_rng", [])
        if len(of_gpus) == torch.cuda.device_count():  # on another machine the numbers differ in any case
            torch.cuda.set_rng_state_all(of_gpus)
        return state

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
