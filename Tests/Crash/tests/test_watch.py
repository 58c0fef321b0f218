"""What can be observed of a process from outside."""
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from bench import children
from crash import payloads, watch

#: Writes and waits for the disk, repeatedly.
WRITES = "import os\nfile = os.open({!r}, os.O_WRONLY | os.O_CREAT)\nwhile True:\n    os.write(file, b'x')\n    os.fdatasync(file)\n"


class Watching(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(dir=Path(__file__).parent)  # on disk, where waiting for it takes time
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name).resolve()

    def start(self, program):
        child = children.start(["python3", "-c", program], stdin=subprocess.DEVNULL)
        self.addCleanup(children.end, child)
        return child

    def test_changes_of_a_folder_and_system_calls_are_seen(self):
        folders = watch.Folders([self.folder])
        self.addCleanup(folders.close)
        child = self.start(WRITES.format(str(self.folder / "file")))
        watch.wait_for_work(child, 20)
        self.assertEqual(folders.wait(child, 20, 3), ("writes", str(self.folder / "file")))
        self.assertEqual(watch.wait_for_call(child, 20, {"syncs"}), ("syncs", str(self.folder / "file")))

    def test_nothing_is_waited_for_when_the_process_has_ended(self):
        folders = watch.Folders([self.folder])
        self.addCleanup(folders.close)
        child = self.start("")
        begin = time.monotonic()
        watch.wait_for_work(child, 600)
        self.assertIsNone(folders.wait(child, 600, 1))
        self.assertIsNone(watch.wait_for_call(child, 600, {"syncs"}))
        self.assertLess(time.monotonic() - begin, 300)


class Payloads(unittest.TestCase):
    def test_a_seed_gives_the_same_payloads_and_no_two_alike(self):
        first, second, other = (payloads.made(300, seed, "http://127.0.0.1:1") for seed in (1, 1, 2))
        self.assertEqual(first, second)
        self.assertNotEqual(first, other)
        self.assertEqual(len({payload.line for payload in first}), 300)
        targets = [payload.target for payload in first if payload.target]
        self.assertEqual(len(set(targets)), len(targets), "each request in the origin's log is one payload's")
        self.assertEqual(sum("/stall/" in target for target in targets), payloads.STALLS)
