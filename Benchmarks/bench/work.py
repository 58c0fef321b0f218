"""What a command is to do."""
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

#: What a line may grow by: the member that names its attachment.
MEMBER = 800
_SAMPLED_LINES = 1_000


@dataclass(frozen=True)
class Generated:
    """So many lines, each made when it is asked for: a million of them would take gigabytes."""
    count: int
    make: Callable  # of the number

    def __len__(self):
        return self.count

    def __iter__(self):
        return map(self.make, range(self.count))

    def sample(self, wanted=_SAMPLED_LINES):
        """Lines spread over all, the last one among them."""
        return map(self.make, itertools.chain(range(0, self.count - 1, max(1, self.count // wanted)), [self.count - 1]))


@dataclass(frozen=True)
class Volume:
    """Bytes, at most: what the work's input holds, what one run's output may hold, and what it may store."""
    input: int
    output: int
    stored: int

    @property
    def run(self):
        return self.output + self.stored

    @property
    def all(self):
        return self.input + self.run


def volume(lines, is_stored_once=False):
    """Worked out before anything is written. A file is stored for each line, or `is_stored_once` for each medium."""
    sample = list(lines.sample()) if isinstance(lines, Generated) else lines
    length = max((len(line.raw) for line in sample), default=0) + 16  # numbers in between may have more digits
    media = [line.medium for line in sample if line.medium]
    if is_stored_once:
        stored = sum(medium.size for medium in set(media))
    else:
        stored = sum(medium.size for medium in media) * len(lines) // max(1, len(sample))
    return Volume(len(lines) * length, len(lines) * (length + MEMBER), stored)


@dataclass
class Work:
    """What a command is to do: an input and what must come of it."""
    input: Path
    expected: object  # ``Expected``, by line: a list or ``Generated``
    jobs: int
    cacert: Path
    volume: Volume

    @property
    def folder(self):
        """Where its runs write."""
        return self.input.parent
