"""Checks that the output of a command is the expected one: lines, order, types, sizes and the bytes of the files."""
import hashlib
import itertools
import json
import os
from dataclasses import dataclass
from typing import Optional

from .media import OTHER_NAMES, Medium

#: The number of files per run of a peer whose contents are compared; sizes are compared for all.
SAMPLED_FILES = 200


class WrongOutput(Exception):
    """A command did not do its work, so it has no figure."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One line of the input, and the medium that its line of the output must name, if any."""
    raw: bytes
    medium: Optional[Medium] = None


def _require(condition, number, complaint):
    if not condition:
        raise WrongOutput(f"line {number + 1}: {complaint}")


def _digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class AttacheCheck:
    """attache's lines: the original with one inserted member, byte for byte; files are named by their hash."""

    def __init__(self, store):
        self.store = os.path.realpath(store)
        self._members = {}
        self._files = set()

    def line(self, number, line, expected):
        if expected.medium is None:
            _require(line == expected.raw, number, "was to pass through as it came")
            return
        before = expected.raw[:-1]
        _require(line.startswith(before) and line.endswith(b"}") and line != expected.raw, number, "is not the original with one member more")
        member = line[len(before):-1]
        # One campaign has a million equal members.
        if self._members.get(member) != expected.medium.name:
            self._member(number, member, expected.medium, expected.raw)
            if len(self._members) < 10_000:
                self._members[member] = expected.medium.name

    def _member(self, number, member, medium, raw):
        _require(member.startswith(b',"attache":'), number, "has another member")
        attachment, = json.loads(b"{" + member[1:] + b"}")["attache"]["attachments"]
        mime, uniform = medium.types
        _require((attachment["mime"], attachment["type"]) == (mime, uniform), number, f"{medium.name} is called {attachment['mime']}, {attachment['type']}")
        _require(attachment["size"] == medium.size, number, f"{medium.name} has the size {attachment['size']}")
        _require(attachment["sha256"] == medium.sha256, number, f"{medium.name} has another hash")
        _require(attachment["source"].encode() in raw, number, f"the source is {attachment['source']}")
        path = attachment["url"].removeprefix("file://")
        _require(path.startswith(self.store + "/"), number, f"{path} is not in the store")
        if (path, medium.sha256) not in self._files:
            _require(_digest(path) == medium.sha256, number, f"{path} is not {medium.name}")
            self._files.add((path, medium.sha256))

    def finish(self, count):
        pass


class PeerCheck:
    """A peer's lines: the original's members and one more; a file for each line. Without files, only a size."""

    def __init__(self, store, has_files=True):
        self.store, self.has_files, self._sampled = store, has_files, 0

    def line(self, number, line, expected):
        if expected.medium is None:
            _require(line == expected.raw, number, "was to pass through as it came")
            return
        try:
            payload = json.loads(line)
            attachment = payload.pop("attachment")
        except (ValueError, KeyError, AttributeError, TypeError):
            raise WrongOutput(f"line {number + 1}: has no attachment") from None
        _require(payload == json.loads(expected.raw), number, "is not the original with one member more")
        medium = expected.medium
        _require(attachment["size"] == medium.size, number, f"{medium.name} has the size {attachment['size']}")
        if not self.has_files:
            return
        kind = OTHER_NAMES.get(attachment["type"], attachment["type"])
        _require(kind == medium.types[0], number, f"{medium.name} is called {kind}")
        path = attachment["path"]
        _require(path.startswith(f"{self.store}/"), number, f"{path} is not in the store")
        _require(os.stat(path).st_size == medium.size, number, f"{path} is not {medium.name}")
        if self._sampled < SAMPLED_FILES or number % 97 == 0:
            self._sampled += 1
            _require(_digest(path) == medium.sha256, number, f"{path} is not {medium.name}")

    def finish(self, count):
        if self.has_files:
            found = sum(len(files) for _, _, files in os.walk(self.store))
            if found != count:
                raise WrongOutput(f"{found} files for {count} attachments")


class UncheckedTypes(PeerCheck):
    """Only transfers, without types and files."""

    def __init__(self, store):
        super().__init__(store, has_files=False)


class HashedNames(PeerCheck):
    """Checks that the names of files are their hashes."""

    def line(self, number, line, expected):
        super().line(number, line, expected)
        if expected.medium:
            _require(expected.medium.sha256 in os.path.basename(json.loads(line)["attachment"]["path"]), number, f"{expected.medium.name} has another hash")


def check(output, expected, checker):
    """Compares a whole output (a binary file) with the expected one, line by line and in order."""
    count = 0
    for number, (line, wanted) in enumerate(itertools.zip_longest(output, expected)):
        if line is None or wanted is None:
            raise WrongOutput(f"{'fewer' if line is None else 'more'} lines than {len(expected)}")
        _require(line.endswith(b"\n"), number, "is cut off")
        checker.line(number, line[:-1], wanted)
        count += wanted.medium is not None
    checker.finish(count)
