"""The work of a command."""
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

#: The bytes by which a line may grow: the member with its attachment.
MEMBER = 800
_SAMPLED_LINES = 1_000


@dataclass(frozen=True)
class Generated:
    """This many lines, each made on demand, since a million of them would take gigabytes."""
    count: int
    make: Callable  # of the number

    def __len__(self):
        return self.count

    def __iter__(self):
        return map(self.make, range(self.count))

    def sample(self, wanted=_SAMPLED_LINES):
        """A sample of lines spread over all, including the last one."""
        return map(self.make, itertools.chain(range(0, self.count - 1, max(1, self.count // wanted)), [self.count - 1]))


@dataclass(frozen=True)
class Volume:
    """Upper limits in bytes for the input of the work, the output of a run, and the files that it stores."""
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
    """Computed before anything is written. A file is stored for each line, or with `is_stored_once` for each medium."""
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
    """The work of a command: an input and the expected output."""
    input: Path
    expected: object  # ``Expected``, by line: a list or ``Generated``
    jobs: int
    cacert: Path
    volume: Volume

    @property
    def folder(self):
        """The folder of its runs."""
        return self.input.parent
