"""The files of a run are limited while it runs and removed when it ends."""
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from bench import bench as driver
from bench.bench import Bench, Options
from bench.checking import AttacheCheck, Expected, WrongOutput
from bench.programs import Command
from bench.room import Room

#: Passes everything through, and leaves a file in its store.
KEEPING = 'echo picture >"$0/photo.jpg"; exec cat'


@unittest.skipUnless(shutil.which("gcc"), "gcc builds what starts the commands")
class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.disk, memory = Path(folder.name) / "disk", Path(folder.name) / "memory"
        self.disk.mkdir()
        memory.mkdir()
        self.room = Room(self.disk, memory)
        self.addCleanup(self.room.close)
        self.bench = Bench(Options(rounds=2, patience=0, repeats=0), self.disk, self.room)
        self.addCleanup(self.bench.close)
        self.work = self.bench.work("lines", [Expected(b"{}")] * 3, jobs=1)

    def command(self, script):
        return Command("script", lambda store, *_: ["sh", "-c", script, store], AttacheCheck)

    def left(self):
        """The files whose size grows with the work."""
        folders = {self.work.folder, self.bench.folder, self.room.on_disk(1)}
        return sorted(path.name for folder in folders for path in folder.rglob("*") if path.name not in ("cost", "errors"))

    def test_a_store_and_an_output_are_gone_after_their_run(self):
        seen = []
        self.bench.run(self.command(KEEPING), self.work, lambda: seen.extend(self.left()) or {})
        self.assertEqual([name for name in seen if "store" not in name], ["lines.ndjson", "out", "photo.jpg"])
        self.assertEqual(self.left(), ["lines.ndjson"])

    def test_so_they_are_after_a_run_with_wrong_output(self):
        with self.assertRaises(WrongOutput):
            self.bench.run(self.command('echo picture >"$0/photo.jpg"; echo nothing'), self.work)
        self.assertEqual(self.left(), ["lines.ndjson"])

    def test_a_store_without_a_run_is_gone_after_its_turn(self):
        self.bench.in_turn({"one": lambda: (Path(self.bench.new_store()) / "photo.jpg").touch()})
        self.assertEqual(self.left(), ["lines.ndjson"])

    def test_inputs_are_gone_after_their_row(self):
        self.bench.end_row()
        self.assertEqual(self.left(), [])

    def test_a_command_that_writes_without_end_is_killed(self):
        with mock.patch.object(driver, "SMALL", 1 << 20), self.assertRaisesRegex(WrongOutput, "script ends with 153"):
            self.bench.run(self.command("exec yes"), self.work)
        self.assertEqual(self.left(), ["lines.ndjson"])


if __name__ == "__main__":
    unittest.main()
