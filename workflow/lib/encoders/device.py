"""The device that models run on."""

import torch


def device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"
