"""What a command is to do."""
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Callable


@dataclass(frozen=True)
class Generated:
    """So many lines, each made when it is asked for: a million of them would take gigabytes."""
    count: int
    make: Callable  # of the number

    def __len__(self):
        return self.count

    def __iter__(self):
        return map(self.make, range(self.count))


@dataclass
class Work:
    """What a command is to do: an input and what must come of it."""
    input: Path
    expected: object  # ``Expected``, by line: a list or ``Generated``
    jobs: int
    cacert: Path = None

    @cached_property
    def volume(self):
        """Bytes that a run may write: lines, and a file for each medium."""
        return sum(len(line.raw) + 400 + (line.medium.size if line.medium else 0) for line in self.expected)
