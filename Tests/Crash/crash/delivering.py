"""One queue of results, from undelivered to delivered, whose deliverers and senders, or the HTTP endpoint, are killed meanwhile."""
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import sys
import time
import zlib
from pathlib import Path

from bench import children

from . import checks, deliveries, watch
from .commands import Commands, Failure, ended, last_words
from .serving import Serving

MODES = ["line", "http", "envelope", "each", "folder"]
_DELIVERERS = 2
#: The share of the payloads: a process for each takes longer, and so does an absent endpoint, since deliverers pause.
_SHARES = {"http": 2, "each": 10}
#: The time for a payload, in seconds, so that kills hit a working process in any build.
_PACE = {"line": 0.006, "http": 0.006, "envelope": 0.006, "each": 0.01}
_FINISHED = (0, 75)
_SENDER = Path(__file__).with_name("sender.py")


class Delivery:
    JOBS = [1, 8, 32]

    def __init__(self, attache, folder, store, mode, count, draw):
        self._draw, self._folder, self._mode = draw, folder, mode
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._database, self._out = folder / "queue", folder / "out"
        self._out.mkdir()
        self._log = folder / "log"
        self._log.touch()
        self._commands = Commands(attache, f"sqlite:{self._database}", store, 0)
        lines = [self._line(number, "x" * draw.randrange(400)) for number in range(max(20, count // _SHARES.get(mode, 1)))]
        self._crcs = [zlib.crc32(line) for line in lines]
        self._input = folder / "payloads.ndjson"
        self._input.write_bytes(b"\n".join(lines) + b"\n")
        self.restarts = self.repeated = 0

    def _line(self, number, text):
        return b'{"aps":{"alert":"News %d"},"id":%d,"text":"%s"}' % (number, number, text.encode())

    def run(self, kills, killer):
        """Kills this many times, or until everything is delivered, and checks what was sent.

        - Returns: how many were killed.
        """
        before = sum(killer.counts.values())
        self._commands.run("enqueue", self._input)
        ended(self._commands.worker(1))
        watched = watch.Folders([self._folder])
        deliverers = []
        self._begin()
        try:
            deliverers += [self._deliverer() for _ in range(_DELIVERERS)]
            while sum(killer.counts.values()) - before < kills and not self._is_done(deliverers):
                self._disturb(deliverers, killer, watched)
            for deliverer in deliverers:
                ended(deliverer, _FINISHED)
            ended(self._deliverer())
        finally:
            watched.close()
            for deliverer in deliverers:
                children.end(deliverer)
            self._end()
        self._check()
        return sum(killer.counts.values()) - before

    def _begin(self):
        self._endpoint = Serving(self._log, _PACE["http"]) if self._mode == "http" else None

    def _end(self):
        if self._endpoint:
            self._endpoint.close()

    def _way(self):
        """A new deliverer's name in the notes, if it is not its process id, and its options."""
        if self._mode == "http":
            label = f"d{self.restarts}"
            return label, ["--http", self._endpoint.url, "--http-header", f"Deliverer: {label}"]
        if self._mode == "folder":
            return None, ["--folder", self._out]
        kind = [] if self._mode == "line" else [f"--{self._mode}"]
        return None, [*kind, "--", sys.executable, "-IS", _SENDER, self._log, self._mode, _PACE[self._mode]]

    def _deliverer(self):
        self.restarts += 1
        (label, way), jobs = self._way(), self._draw.choice(self.JOBS)
        # A kill from outside does not count against a payload.
        child = self._commands.start("deliver", "--once", "--jobs", jobs, "--poison-after", 1_000_000, *way)
        child.label = label or child.pid
        self._note(f"deliverer {child.label} {jobs}")
        return child

    def _is_done(self, deliverers):
        for deliverer in deliverers:
            if deliverer.poll() is not None and deliverer.poll() not in _FINISHED:
                raise Failure(f"attache deliver ends with {deliverer.poll()}; {last_words(deliverer)}")
        return any(deliverer.poll() == 0 for deliverer in deliverers)

    def _fault(self):
        # An endpoint has at least one kill.
        if self._endpoint and self._endpoint.starts == 1:
            return "sender"
        what = self._draw.choices(["sender", "deliverer", "all", "drain"], [12, 6, 1, 1])[0]
        return "deliverer" if what == "sender" and self._mode == "folder" else what

    def _disturb(self, deliverers, killer, watched):
        what, index = self._fault(), self._draw.randrange(len(deliverers))
        if what == "drain":
            deliverers[index].send_signal(signal.SIGTERM)
            status = ended(deliverers[index], (*_FINISHED, -signal.SIGTERM))
            if status in _FINISHED:
                self._note_end(deliverers[index].label)
            if status != 0:
                deliverers[index] = self._deliverer()
        elif what not in ("deliverer", "all"):
            self._break(what, deliverers[index], killer)
        else:
            self._note_delivered()
            self._note_kill(deliverers[index].label)
            if not killer.kill(deliverers[index], watched):
                return
            if what == "all":
                for deliverer in deliverers:
                    if deliverer.poll() is None:
                        self._note_kill(deliverer.label)
                        deliverer.kill()
                        deliverer.wait()
                        killer.note("deliver: together with another")
                checks.integrity(self._database)
            self._note_delivered()
            for place, deliverer in enumerate(deliverers):
                if deliverer.returncode == -signal.SIGKILL:
                    deliverers[place] = self._deliverer()

    def _break(self, what, deliverer, killer):
        """Disturbs what is not a deliverer."""
        if self._endpoint:
            self._kill_endpoint(killer)
        else:
            self._kill_sender(deliverer, killer)

    def _kill_sender(self, deliverer, killer):
        time.sleep(self._draw.expovariate(1 / 0.05))
        senders = children.of(deliverer.pid)
        if not senders or deliverer.poll() is not None:
            return
        pid = self._draw.choice(senders)
        self._note_kill(pid)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
            killer.note(f"a sender, {self._mode}")

    def _kill_endpoint(self, killer):
        # Otherwise kills would only hit paused deliverers.
        self._endpoint.wait_for_request()
        time.sleep(self._draw.expovariate(1 / 0.05))
        self._note_kill(self._endpoint.name)
        if self._endpoint.kill():
            killer.note("an endpoint, http")
        self._endpoint.start()

    # What the log gets beside the senders' own notes

    def _note_kill(self, name):
        self._note(f"killed {name} {time.monotonic_ns()}")

    def _note_end(self, name):
        """A deliverer has ended by itself."""

    def _note_delivered(self):
        """Results that the queue now calls delivered must not be sent again."""
        numbers = [str(number) for number in self._statuses()]
        if self._mode == "folder":
            self._check_files(numbers)
        self._note(" ".join(["delivered", str(time.monotonic_ns()), *numbers]))

    def _note(self, line):
        with open(self._log, "a") as log:
            log.write(line + "\n")

    def _statuses(self):
        """The outcome of finished deliveries, by payload."""
        with contextlib.closing(sqlite3.connect(f"file:{self._database}?mode=ro", uri=True, timeout=60)) as database:
            return dict(database.execute("SELECT id - 1, status FROM result WHERE status IS NOT NULL"))

    def _check(self):
        counts = self._commands.counts()
        if counts["decided"] != len(self._crcs) or counts["unread"] or counts["delivering"]:
            raise Failure(f"all is delivered, and the queue says {counts}")
        self._check_sent()
        checks.integrity(self._database)

    def _check_sent(self):
        if self._mode == "folder":
            self._check_files(range(len(self._crcs)))
            left = list((self._folder / "out.writing").iterdir())
            if left:
                raise Failure(f"unfinished files are left: {left[:5]}")
            return
        log = deliveries.Log(self._log.read_text(), is_each=self._mode == "each")
        self.repeated = deliveries.check(log, dict(enumerate(self._crcs)), self._statuses())

    def _check_files(self, numbers):
        """Every file is whole, at any time, and each of these payloads has its two."""
        found = set()
        for path in self._out.iterdir():
            name, dot, _ = path.name.partition(".record")
            content, number = path.read_bytes(), int(name) - 1
            if json.loads(content)["line"] != int(name) if dot else zlib.crc32(content.removesuffix(b"\n")) != self._crcs[number]:
                raise Failure(f"{path.name} is not whole: {content[:300]}")
            found.add((number, dot))
        missing = [number for number in map(int, numbers) if not {(number, ""), (number, ".record")} <= found]
        if missing:
            raise Failure(f"{len(missing)} payloads count as delivered and are no files: {missing[:5]}")
