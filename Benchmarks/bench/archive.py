"""The last result of each row, so that rows may be measured one by one and stand in one document."""
import dataclasses
import json

from .result import Goal, Result


def keep(folder, result):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{result.name}.json").write_text(json.dumps(dataclasses.asdict(result), ensure_ascii=False))


def kept(folder, names):
    """The results of these rows, as far as there are any."""
    found = []
    for path in (folder / f"{name}.json" for name in names):
        if path.exists():
            fields = json.loads(path.read_text())
            found.append(Result(**{**fields, "goals": [Goal(**goal) for goal in fields["goals"]]}))
    return found
