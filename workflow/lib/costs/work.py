"""What a job takes, counted before it runs: a few numbers, from which time, memory and disk follow (estimates.py)."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Work:
    calls: float = 0.0  # operations on matrices, each of which takes a while however small these are
    flops: float = 0.0  # floating-point operations
    held: float = 0.0  # bytes in memory at a time, besides Python and its libraries
    kept: float = 0.0  # bytes of output
    scratch: float = 0.0  # bytes of temporary files while it runs

    def __add__(self, other: "Work") -> "Work":
        """Of two items that are worked on one after the other."""
        return Work(
            self.calls + other.calls,
            self.flops + other.flops,
            max(self.held, other.held),
            self.kept + other.kept,
            max(self.scratch, other.scratch),
        )
