"""The last result of each row, so that rows can be measured one by one and appear in one document."""
import dataclasses
import json

from .result import Goal, Result


def keep(folder, result):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{result.name}.json").write_text(json.dumps(dataclasses.asdict(result), ensure_ascii=False))


def missing(folder, names, measured):
    """The rows that are neither kept nor about to be measured."""
    return [name for name in names if name not in measured and not (folder / f"{name}.json").exists()]


def kept(folder, names):
    """The results of these rows that exist."""
    found = []
    for path in (folder / f"{name}.json" for name in names):
        if path.exists():
            fields = json.loads(path.read_text())
            found.append(Result(**{**fields, "goals": [Goal(**goal) for goal in fields["goals"]]}))
    return found
