"""A stand-in for every dataset of the four papers: same name, same kind, same format.

A task is a function that makes one example with a Writer; `DATASETS` lists all tasks and `generate` fills splits.
"""

from workflow.lib.corpus.tasks.generate import DATASETS, generate

__all__ = ["DATASETS", "generate"]
