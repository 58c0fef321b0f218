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
_SHARES = {"line": 1, "http": 2, "envelope": 1, "each": 10, "folder": 1}
#: The time for a payload, in seconds, so that kills hit a working process in any build.
_PACE = {"line": 0.006, "http": 0.006, "envelope": 0.006, "each": 0.01}
_FINISHED = (0, 75)
_SENDER = Path(__file__).with_name("sender.py")


class Delivery:
    def __init__(self, attache, folder, store, mode, count, draw):
        self._draw, self._folder, self._mode = draw, folder, mode
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._database, self._out = folder / "queue", folder / "out"
        self._out.mkdir()
        self._log = folder / "log"
        self._log.touch()
        self._commands = Commands(attache, f"sqlite:{self._database}", store, 0)
        lines = [b'{"aps":{"alert":"News %d"},"id":%d,"text":"%s"}' % (number, number, b"x" * draw.randrange(400))
                 for number in range(max(20, count // _SHARES[mode]))]
        self._crcs = [zlib.crc32(line) for line in lines]
        self._input = folder / "payloads.ndjson"
        self._input.write_bytes(b"\n".join(lines) + b"\n")
        self.restarts = self.repeated = 0

    def run(self, kills, killer):
        """Kills this many times, or until everything is delivered, and checks what was sent.

        - Returns: how many were killed.
        """
        before = sum(killer.counts.values())
        self._commands.run("enqueue", self._input)
        ended(self._commands.worker(1))
        watched = watch.Folders([self._folder])
        self._endpoint = Serving(self._log, _PACE["http"]) if self._mode == "http" else None
        deliverers = [self._deliverer() for _ in range(_DELIVERERS)]
        try:
            while sum(killer.counts.values()) - before < kills and not self._is_done(deliverers):
                self._disturb(deliverers, killer, watched)
            for deliverer in deliverers:
                ended(deliverer, _FINISHED)
            ended(self._deliverer())
        finally:
            watched.close()
            for deliverer in deliverers:
                children.end(deliverer)
            if self._endpoint:
                self._endpoint.close()
        self._check()
        return sum(killer.counts.values()) - before

    def _deliverer(self):
        self.restarts += 1
        if self._mode == "http":
            label = f"d{self.restarts}"
            way = ["--http", self._endpoint.url, "--http-header", f"Deliverer: {label}"]
        elif self._mode == "folder":
            label, way = None, ["--folder", self._out]
        else:
            label = None
            way = [*([] if self._mode == "line" else [f"--{self._mode}"]), "--", sys.executable, "-IS", _SENDER, self._log, self._mode, _PACE[self._mode]]
        # A kill from outside does not count against a payload.
        child = self._commands.start("deliver", "--once", "--jobs", self._draw.choice([1, 8, 32]), "--poison-after", 1_000_000, *way)
        child.label = label or child.pid
        self._note(f"deliverer {child.label}")
        return child

    def _is_done(self, deliverers):
        for deliverer in deliverers:
            if deliverer.poll() is not None and deliverer.poll() not in _FINISHED:
                raise Failure(f"attache deliver ends with {deliverer.poll()}; {last_words(deliverer)}")
        return any(deliverer.poll() == 0 for deliverer in deliverers)

    def _disturb(self, deliverers, killer, watched):
        what = self._draw.choices(["sender", "deliverer", "all", "drain"], [12, 6, 1, 1])[0]
        if what == "sender" and self._mode == "folder":
            what = "deliverer"
        # An endpoint has at least one kill.
        if self._endpoint and self._endpoint.starts == 1:
            what = "sender"
        index = self._draw.randrange(len(deliverers))
        if what == "sender" and self._endpoint:
            self._kill_endpoint(killer)
        elif what == "sender":
            self._kill_sender(deliverers[index], killer)
        elif what == "drain":
            deliverers[index].send_signal(signal.SIGTERM)
            if ended(deliverers[index], (*_FINISHED, -signal.SIGTERM)) != 0:
                deliverers[index] = self._deliverer()
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
        if self._mode == "folder":
            self._check_files(range(len(self._crcs)))
            left = list((self._folder / "out.writing").iterdir())
            if left:
                raise Failure(f"unfinished files are left: {left[:5]}")
            checks.integrity(self._database)
            return
        log = deliveries.Log(self._log.read_text(), is_each=self._mode == "each")
        self.repeated = deliveries.check(log, dict(enumerate(self._crcs)), self._statuses())
        checks.integrity(self._database)

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
