"""Training that survives a kill: its whole state, beside the rule's outputs (which Snakemake wipes before a job)."""

from pathlib import Path

import torch

from workflow.lib.files import whole_file


class SavedState:
    """One file, replaced whole. Resuming from it gives the same numbers as never having been interrupted."""

    def __init__(self, output: str | Path, settings: object):
        self.path = Path(output).with_name(f".{Path(output).name}.resume.pt")
        self.settings = repr(settings)  # a state saved under other settings must not be continued

    def save(self, **parts: object) -> None:
        state = parts | {"settings": self.settings, "rng": torch.get_rng_state()}
        with whole_file(self.path) as beside:
            torch.save(state, beside)

    def load(self) -> dict | None:
        if not self.path.exists():
            return None
        state = torch.load(self.path, weights_only=True)
        if state.pop("settings") != self.settings:
            return None
        torch.set_rng_state(state.pop("rng"))
        return state

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
