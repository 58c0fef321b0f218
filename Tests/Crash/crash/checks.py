"""Checks a queue whose workers were killed, after all is done."""
import hashlib
import os
import shutil
import sqlite3
import tempfile
from pathlib import Path

from .commands import Failure


def integrity(path):
    """The database is intact on disk. The check uses a copy, since opening the database would repair it."""
    if not os.path.exists(path):
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in ("", "-wal"):
            if os.path.exists(f"{path}{name}"):
                shutil.copyfile(f"{path}{name}", f"{folder}/copy{name}")
        database = sqlite3.connect(f"{folder}/copy")
        try:
            said = [row[0] for row in database.execute("PRAGMA integrity_check")] + database.execute("PRAGMA foreign_key_check").fetchall()
        finally:
            database.close()
    if said != ["ok"]:
        raise Failure(f"the database is not whole: {said[:5]}")


def store(folder):
    """Every file matches its name, and nothing unfinished or held is left. Call it after a prune of the store."""
    folder = Path(folder)
    for path in folder.rglob("*"):
        within = path.relative_to(folder)
        if not path.is_file() or within.parts[0] == ".index":
            continue
        if within.parts[0] == "tmp":
            raise Failure(f"{within} is left in the store")
        if within.parts[0] == ".held":
            if path.name == "queue":  # says whose holds these were
                continue
            raise Failure(f"{within} is still held, and nobody has to read its result")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if not path.name.startswith(digest):
            raise Failure(f"{within} has other bytes than its name says")


def output(came, expected, records, originals, may_be_dead):
    """The results are those of an undisturbed run, byte for byte; a payload blamed for its workers' deaths has its original, if allowed."""
    if came == expected:
        return
    lines, wanted = came.splitlines(keepends=True), expected.splitlines(keepends=True)
    if len(lines) != len(wanted):
        raise Failure(f"{len(lines)} results for {len(wanted)} payloads")
    for number, (line, right) in enumerate(zip(lines, wanted)):
        is_dead = records[number].get("reason") == "queue.poison"
        if line != right and not (may_be_dead and is_dead and line == originals[number]):
            raise Failure(f"payload {number + 1} ({records[number]['outcome']}, {records[number].get('reason')}): {line[:300]} came instead of {right[:300]}")
