"""A benchmark that is ended or killed in the middle leaves no process and no file."""
import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from bench import database
from bench.memory_probe import tree
from bench.programs import SOURCES
from bench.room import PREFIX

#: Replaces attache: writes nothing and ignores signals that ask it to end,
STUCK = "#!/bin/sh\ntrap '' TERM HUP INT\necho >{bell}\nexec sleep 1000\n"
#: as do its children.
STUCK_FAMILY = "#!/bin/sh\ntrap '' TERM HUP INT\nsleep 1000 &\necho >{bell}\nwait\n"
PLACES = (Path("/dev/shm"), SOURCES.parent / ".build/bench")
PATIENCE = 30


@unittest.skipUnless(shutil.which("gcc") and shutil.which("nginx"), "gcc builds what starts the commands, and nginx is an origin")
class Ending(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.bell, self.program = Path(folder.name) / "bell", Path(folder.name) / "attache"
        os.mkfifo(self.bell)

    def driver(self, row, script=STUCK_FAMILY):
        """A benchmark in the middle of a run, with all its descendants."""
        self.program.write_text(script.format(bell=self.bell))
        self.program.chmod(0o755)
        driver = subprocess.Popen([sys.executable, "-B", "-m", "bench", "--quick", "--peers", "", "--attache", self.program, row],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": str(SOURCES)},
                                  preexec_fn=self.hear_signals)
        self.addCleanup(driver.wait)
        self.addCleanup(driver.kill)
        bell = os.open(self.bell, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, bell)
        self.assertTrue(select.select([bell], [], [], PATIENCE)[0], "the command does not start")
        self.assertEqual(os.read(bell, 1), b"\n")
        family = {process: os.pidfd_open(process) for process in tree(driver.pid)}
        for process in family.values():
            self.addCleanup(os.close, process)
            self.addCleanup(self.kill, process)
        return driver, family

    @staticmethod
    def hear_signals():
        """A signal that the parent process ignores would stay ignored: a shell ignores SIGINT for its background jobs."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)

    @staticmethod
    def kill(process):
        """Removes what a failed test would leave behind."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(process, signal.SIGKILL)

    def assertEnded(self, family):
        for process, handle in family.items():
            poller = select.poll()
            poller.register(handle, select.POLLIN)
            self.assertTrue(poller.poll(PATIENCE * 1000), f"process {process} lives on")

    def folders(self, pid):
        return [path for place in PLACES for path in place.glob(f"{PREFIX}{pid}.*")]

    def test_a_killed_benchmark_leaves_nothing(self):
        for row, least in (("media-tiny", 8), ("lateness", 7)):  # driver, a keeper (two processes), launch, script, its child, origin (nginx: two)
            driver, family = self.driver(row)
            self.assertGreaterEqual(len(family), least)
            self.assertNotEqual(self.folders(driver.pid), [])
            driver.kill()
            self.assertEnded(family)
            self.assertEqual(self.folders(driver.pid), [])

    def test_a_benchmark_that_is_killed_in_a_conversation_leaves_nothing(self):
        driver, family = self.driver("soak", STUCK)
        driver.kill()
        self.assertEnded(family)
        self.assertEqual(self.folders(driver.pid), [])

    @unittest.skipIf(database.lacking(), "there is no PostgreSQL")
    def test_a_killed_benchmark_leaves_no_database(self):
        self.program.with_name("attache-tools").touch()
        driver, family = self.driver("queue-postgresql")
        data = [Path(words[words.index(b"-D") + 1].decode()) for words in map(self.words, family) if words[0].endswith(b"/postgres") and b"-D" in words]
        self.assertTrue(data[0].is_dir())
        driver.kill()
        self.assertEnded(family)
        self.assertEqual([folder for folder in data if folder.parent.exists()], [])

    @staticmethod
    def words(process):
        return Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")

    def test_a_benchmark_that_is_asked_to_end_leaves_nothing(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            driver, family = self.driver("media-tiny")
            driver.send_signal(number)
            self.assertEnded(family)
            self.assertEqual(driver.wait(), 128 + number)
            self.assertEqual(self.folders(driver.pid), [], number.name)


if __name__ == "__main__":
    unittest.main()
