"""The files of a run are limited and do not outlive it."""
import os
import select
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from bench import machine
from bench.checking import Expected
from bench.media import Medium
from bench.memory_probe import tree
from bench.programs import SOURCES
from bench.room import PREFIX, Room
from bench.work import Generated, volume

OWNER = """
import sys
from bench.room import Room
print(Room(sys.argv[1], memory=sys.argv[1]).on_disk(1), flush=True)
sys.stdin.read()
"""


class Rooms(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.disk, self.memory = Path(folder.name) / "disk", Path(folder.name) / "memory"
        self.disk.mkdir()
        self.memory.mkdir()

    def room(self):
        room = Room(self.disk, self.memory)
        self.addCleanup(room.close)
        return room

    def owner(self):
        """Another process with a folder on the same disk, which contains a file."""
        process = subprocess.Popen([sys.executable, "-B", "-c", OWNER, self.disk], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   env={**os.environ, "PYTHONPATH": str(SOURCES)})
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        folder = Path(process.stdout.readline().strip())
        (folder / "store").mkdir()
        (folder / "store/photo.jpg").write_bytes(b"a picture")
        return process, folder

    def test_a_folder_is_gone_when_the_room_is_closed(self):
        with self.room() as room:
            (room.folder(1) / "out").write_bytes(b"{}")
            (room.on_disk(1) / "out").write_bytes(b"{}")
        self.assertEqual([*self.disk.iterdir(), *self.memory.iterdir()], [])

    def test_what_a_killed_owner_had_is_removed_by_its_keeper(self):
        process, folder = self.owner()
        keepers = [os.pidfd_open(keeper) for keeper in tree(process.pid)[1:]]
        process.kill()
        for keeper in keepers:
            self.assertTrue(select.select([keeper], [], [], 30)[0], "the keeper does not end")
            os.close(keeper)
        self.assertFalse(folder.exists())

    def test_what_an_owner_left_who_was_killed_with_its_keeper_is_removed_by_the_next_one(self):
        process, folder = self.owner()
        for killed in [*tree(process.pid)[1:], process.pid]:
            os.kill(killed, signal.SIGKILL)
        process.wait()
        self.assertTrue(folder.exists())
        self.room()
        self.assertFalse(folder.exists())

    def test_what_an_owner_who_lives_has_stays(self):
        _, folder = self.owner()
        self.room()
        self.assertTrue((folder / "store/photo.jpg").exists())

    def test_what_is_not_ours_stays(self):
        (self.disk / "results").mkdir()
        (self.disk / f"{PREFIX}link").symlink_to(self.disk / "results")
        self.room()
        self.assertEqual(sorted(path.name for path in self.disk.iterdir()), [f"{PREFIX}link", "results"])

    @unittest.skipUnless(os.geteuid() == 0, "only root can give a folder away")
    def test_what_another_user_left_stays(self):
        folder = self.disk / f"{PREFIX}other"
        folder.mkdir()
        os.chown(folder, 65534, 65534)
        self.room()
        self.assertTrue(folder.exists())

    def test_memory_is_taken_for_a_quarter_of_what_is_free_at_most(self):
        room = self.room()
        with mock.patch.object(machine, "available_memory", return_value=4_000):
            self.assertEqual([room.is_memory(room.folder(need)) for need in (1_000, 1_001)], [True, False])

    def test_a_file_system_in_memory_may_hold_less_than_the_memory(self):
        room = self.room()
        with mock.patch("shutil.disk_usage", side_effect=lambda path: mock.Mock(free=4_000 if Path(path) == self.memory else 1 << 40)):
            self.assertEqual([room.is_memory(room.folder(need)) for need in (1_000, 1_001)], [True, False])

    def test_what_no_disk_has_is_refused_before_anything_is_written(self):
        with self.assertRaisesRegex(RuntimeError, "which neither memory nor the disk"):
            self.room().folder(1 << 62)

    def test_without_a_file_system_in_memory_there_is_the_disk(self):
        room = Room(self.disk, self.disk / "missing")
        self.addCleanup(room.close)
        self.assertEqual(room.folder(1).parent, self.disk)


class Volumes(unittest.TestCase):
    def setUp(self):
        file = tempfile.NamedTemporaryFile(suffix=".jpg")
        self.addCleanup(file.close)
        file.write(bytes(100_000))
        file.flush()
        self.medium = Medium(Path(file.name))

    def campaign(self, count):
        return Generated(count, lambda number: Expected(b'{"id":%d}' % number, self.medium))

    def test_a_million_payloads_are_bounded_without_making_them_all(self):
        made = []
        lines = Generated(1_000_000, lambda number: made.append(number) or Expected(b'{"id":%d}' % number, self.medium))
        found = volume(lines)
        self.assertLess(len(made), 2_000)
        self.assertEqual(found.stored, 1_000_000 * 100_000)

    def test_a_file_that_is_stored_once_counts_once(self):
        self.assertEqual(volume(self.campaign(1_000_000), is_stored_once=True).stored, 100_000)

    def test_the_bound_holds_for_every_line(self):
        lines = self.campaign(12_345)
        self.assertGreaterEqual(volume(lines).input, sum(len(line.raw) + 1 for line in lines))
        self.assertGreaterEqual(volume(list(lines)).input, sum(len(line.raw) + 1 for line in lines))

    def test_lines_without_media_store_nothing(self):
        self.assertEqual(volume([Expected(b"{}")] * 3).stored, 0)


if __name__ == "__main__":
    unittest.main()
