"""Speed of the embedded corpus on one core: `python -m tests.benchmarks.bench_corpus`.

Processor seconds are counted, so that a busy machine tells the same. Target: 5,000 fully annotated sentences a second.
"""

import time
from collections.abc import Callable

from workflow.lib.corpus.documents import Writer
from workflow.lib.corpus.tasks import DATASETS, generate
from workflow.lib.corpus.tasks.structure import annotated

TARGET, N_SENTENCES, N_ROWS, REPEATS = 5_000, 20_000, 2_000, 3


def best_rate(make: Callable[[int], int]) -> float:
    """Things made per processor second, in the best of a few rounds; a round has its own seed and returns a count."""
    rates = []
    for seed in range(REPEATS):
        start = time.process_time()
        made = make(seed)
        rates.append(made / (time.process_time() - start))
    return max(rates)


def treebank_sentences(seed: int) -> int:
    writer = Writer(f"bench {seed}")
    for _ in range(N_SENTENCES):
        annotated(writer)
    return N_SENTENCES


def document_sentences(seed: int) -> int:
    writer, made = Writer(f"bench {seed}"), 0
    while made < N_SENTENCES:
        made += len(writer.general_document().sentences)
    return made


def main() -> None:
    treebank_sentences(0)  # the lexicon is made once
    print(f"fully annotated sentences a second on one core (target {TARGET:,})")
    for name, make in (("treebank", treebank_sentences), ("general documents", document_sentences)):
        rate = best_rate(make)
        print(f"  {name:20s} {rate:9,.0f}   {rate / TARGET:5.1f}x the target", flush=True)
    print(f"rows a second, {N_ROWS:,} rows with deduplication")
    for name in DATASETS:

        def rows(seed: int, name: str = name) -> int:
            return len(generate(name, "train", {"train": N_ROWS}, seed))

        print(f"  {name:20s} {best_rate(rows):9,.0f}", flush=True)


if __name__ == "__main__":
    main()
