"""Where models run: one place chooses."""

import torch


def device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"
