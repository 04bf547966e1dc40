"""A stand-in for every dataset of the four papers: same name, same kind, same shape.

A task is a function that takes a Writer and makes one example; `DATASETS` lists them all and `generate` fills splits.
"""

from workflow.lib.corpus.tasks.generate import DATASETS, generate

__all__ = ["DATASETS", "generate"]
