"""What a job takes, counted before it runs: a few numbers, from which time, memory and disk follow (estimates.py)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    calls: float = 0.0  # operations on matrices, each of which takes a while however small these are
    flops: float = 0.0  # floating-point operations
    on_core: float = 0.0  # those that a core does even in a job with a GPU: scikit-learn's fits
    moved: float = 0.0  # bytes read from and written to disk
    held: float = 0.0  # bytes in memory at a time, besides Python and its libraries
    kept: float = 0.0  # bytes of output that stay
    passing: float = 0.0  # bytes of output that are deleted once they are read
    scratch: float = 0.0  # bytes of temporary files while it runs

    def __add__(self, other: "Work") -> "Work":
        """Of two items that are worked on one after the other."""
        return Work(
            self.calls + other.calls,
            self.flops + other.flops,
            self.on_core + other.on_core,
            self.moved + other.moved,
            max(self.held, other.held),
            self.kept + other.kept,
            self.passing + other.passing,
            max(self.scratch, other.scratch),
        )
