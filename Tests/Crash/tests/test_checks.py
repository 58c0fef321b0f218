"""The checks of the crash test find violations."""
import contextlib
import hashlib
import sqlite3
import tempfile
import unittest
from pathlib import Path

from crash import checks
from crash.commands import Failure

RECORDS = {0: {"outcome": "attached"}, 1: {"outcome": "fallback", "reason": "queue.poison"}}


class Results(unittest.TestCase):
    def test_the_same_bytes_are_right(self):
        checks.output(b"a+\nb\n", b"a+\nb\n", RECORDS, [b"a\n", b"b\n"], may_be_dead=False)

    def test_a_line_too_few_or_too_many_is_found(self):
        for came in (b"a+\n", b"a+\nb+\nb+\n", b""):
            with self.assertRaisesRegex(Failure, "results for 2 payloads"):
                checks.output(came, b"a+\nb+\n", RECORDS, [b"a\n", b"b\n"], may_be_dead=True)

    def test_a_changed_line_is_found(self):
        with self.assertRaisesRegex(Failure, "payload 1 .attached, None.: b'a.n' came"):
            checks.output(b"a\nb+\n", b"a+\nb+\n", RECORDS, [b"a\n", b"b\n"], may_be_dead=True)

    def test_a_dead_payload_has_its_original_where_that_may_be(self):
        checks.output(b"a+\nb\n", b"a+\nb+\n", RECORDS, [b"a\n", b"b\n"], may_be_dead=True)
        with self.assertRaises(Failure):
            checks.output(b"a+\nb\n", b"a+\nb+\n", RECORDS, [b"a\n", b"b\n"], may_be_dead=False)
        with self.assertRaises(Failure):
            checks.output(b"a+\nc\n", b"a+\nb+\n", RECORDS, [b"a\n", b"b\n"], may_be_dead=True)


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def test_whole_files_under_their_hash_are_right(self):
        digest = hashlib.sha256(b"picture").hexdigest()
        self.write(f"{digest[:2]}/{digest}.jpg", b"picture")
        self.write(".index/index.sqlite", b"anything")
        self.write(".held/name/queue", b"/where/it/is")
        checks.store(self.folder)

    def test_a_half_file_a_leftover_and_a_hold_are_found(self):
        digest = hashlib.sha256(b"picture").hexdigest()
        for name, word in ((f"{digest[:2]}/{digest}.jpg", "other bytes"), ("tmp/7", "is left"), (f".held/name/{digest}.jpg", "still held")):
            self.write(name, b"pict")
            with self.assertRaisesRegex(Failure, word):
                checks.store(self.folder)
            (self.folder / name).unlink()

    def test_a_database_is_whole_or_is_not(self):
        path = self.folder / "queue"
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE payload (id INTEGER PRIMARY KEY, line BLOB)")
            database.executemany("INSERT INTO payload VALUES (?, ?)", [(number, b"x" * 500) for number in range(100)])
            database.execute("CREATE INDEX lines ON payload (line, id)")
            database.commit()
        checks.integrity(path)
        checks.integrity(f"{path}-none")
        content = bytearray(path.read_bytes())
        content[3 * 4096:4 * 4096] = bytes(4096)
        path.write_bytes(content)
        with self.assertRaises((Failure, sqlite3.DatabaseError)):
            checks.integrity(path)
