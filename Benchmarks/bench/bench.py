"""One run of the benchmark: its origins, its programs, and how commands take turns."""
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import children, database, machine, media, payloads
from .bucket import Bucket
from .checking import Expected, WrongOutput, check
from .media import Medium
from .origin import Nghttpd, Nginx, Stalled
from .programs import SOURCES, Programs, attache
from .variants import variant
from .work import Work, volume

#: A run counts as disturbed if other processes took more than this share of a processor,
DISTURBED = 0.1
#: or if the machine stood still for this many seconds.
PAUSED = 0.3
#: Bytes that a row may write in addition to its works: logs, reports, stores of few files.
SMALL = 256 << 20
_BALLAST = bytes(1 << 20)


@dataclass
class Options:
    rounds: int = 5
    is_quick: bool = False
    attaches: tuple = ()  # of (label, path)
    peers: tuple = ()
    time_limit: float = 10
    repeats: int = 2
    has_distinct_media: bool = False


class Bench:
    """Everything that rows share. Closing it ends its processes."""

    def __init__(self, options, scratch, room):
        self.options, self.scratch, self.room = options, scratch, room
        self.folder = room.folder(SMALL)
        self.programs = Programs(scratch / "programs")
        self._opened, self._nginx, self._nghttpd, self._stalled, self._bucket, self._database = [], None, None, None, None, None
        self._of_run, self._of_row = set(), set()  # paths to remove, when each is over
        self._heartbeat = machine.Heartbeat()
        self.environment = {**os.environ, "LC_ALL": "C.UTF-8", "TMPDIR": str(room.on_disk(SMALL))}
        self.peers, self.missing = {}, []
        for name in options.peers:
            lack = self.programs.missing(name)
            if lack:
                self.missing.append(lack)
            else:
                self.peers[name] = self.programs.peer(name)

    def close(self):
        for origin in self._opened:
            origin.close()

    @property
    def rounds(self):
        return 1 if self.options.is_quick else self.options.rounds

    def count(self, number, quick):
        """The amount of something; less in a quick run."""
        return quick if self.options.is_quick else number

    def lacks_tools(self):
        """The builds of attache without attache-tools beside them; empty if all have it."""
        lacking = [str(path) for _, path in self.options.attaches if not path.with_name("attache-tools").exists()]
        return f"attache-tools is to stand beside {', '.join(lacking)}" if lacking else ""

    @staticmethod
    def lacks(*programs):
        """The programs that are not on PATH; empty if all are."""
        lacking = [program for program in programs if not shutil.which(program)]
        return f"there is no {' and no '.join(lacking)}" if lacking else ""

    @property
    def nginx(self):
        if not self._nginx:
            folder = self.scratch / ("fixtures" if self.options.is_quick else "media")
            media.fixtures(folder, SOURCES.parent / "Fixtures/media") if self.options.is_quick else media.made(folder)
            self._nginx = self._open(Nginx(SOURCES / "origin/nginx.conf", folder, self.folder / "nginx", self.room.on_disk(SMALL) / "own"))
            self._nginx.warm(path.name for path in folder.iterdir())
            self.media = {path.name: Medium(path) for path in folder.iterdir()}
            if self._nginx.certificate:
                root = str(self._nginx.certificate.root)
                self.environment |= {"SSL_CERT_FILE": root, "CURL_CA_BUNDLE": root}
        return self._nginx

    @property
    def nghttpd(self):
        if not self._nghttpd:
            folder = self.folder / "nghttpd"
            folder.mkdir()
            self._nghttpd = self._open(Nghttpd(folder))
        return self._nghttpd

    @property
    def stalled(self):
        if not self._stalled:
            self._stalled = self._open(Stalled(self.programs.stall(), self.folder / "stalled"))
        return self._stalled

    @property
    def bucket(self):
        if not self._bucket:
            self._bucket = self._open(Bucket(self.folder))
        return self._bucket

    @contextlib.contextmanager
    def postgresql(self, need, has_standbys=False):
        """A PostgreSQL database for a part of a row, with `need` bytes on the disk at most: its server runs only there."""
        with database.running(need, has_standbys) as self._database:
            try:
                yield self._database
            finally:
                self._database = None

    def _open(self, origin):
        self._opened.append(origin)
        return origin

    def attaches(self, *extra, **given):
        """attache, once for each build to compare."""
        return [attache(label, path, *extra, **given) for label, path in self.options.attaches]

    def chosen(self, *names):
        return [self.peers[name] for name in names if name in self.peers]

    # Work

    def work(self, name, lines, jobs, cacert=None, is_stored_once=False):
        """Writes an input where there is space for it and for the output of a run; `lines` are ``Expected``."""
        needed = volume(lines, is_stored_once)
        path = self.room.folder(needed.all) / f"{name}.ndjson"
        self._of_row.add(path)
        with open(path, "wb") as file:
            file.writelines(line.raw + b"\n" for line in lines)
        return Work(path, lines, jobs, cacert, needed)

    def media_lines(self, count, size, extensions=tuple(media.TYPES), tls=False, offset=0, is_distinct=False):
        """Payloads with media of one size, each under its own URL, and with different content if the row or the whole run requires it."""
        nginx = self.nginx
        names = [f"{size}.{extension}" for extension in extensions]
        if is_distinct or self.options.has_distinct_media:
            self._own_folder(sum(self.media[names[number % len(names)]].size for number in range(count)))
            own = [self._own_medium(number, names[number % len(names)]) for number in range(offset, offset + count)]
            return [Expected(payloads.payload(number, nginx.url(number, medium.name, "own", tls)), medium) for number, medium in enumerate(own, offset)]
        return [Expected(payloads.payload(number, nginx.url(number, names[number % len(names)], tls=tls)), self.media[names[number % len(names)]])
                for number in range(offset, offset + count)]

    def _own_folder(self, need):
        """Makes it in the folder of the other media, on disk."""
        self.room.on_disk(need)
        self._nginx.own.mkdir(exist_ok=True)
        self._of_row.add(self._nginx.own)

    def _own_medium(self, number, name):
        path = self._nginx.own / f"{number}-{name}"
        if not path.exists():
            path.write_bytes(variant(self.media[name].content, path.suffix[1:], number))
        return Medium(path)

    def stalled_lines(self, count, addresses=None):
        return [Expected(payloads.payload(number, self.stalled.url(number if addresses is None else number % addresses) + f"?{number}"))
                for number in range(count)]

    # Runs

    def new_store(self, work=None, time_limit=None):
        """An empty folder, on a quiet machine. Just before, as many bytes as a run of `work` may write are written to memory and removed: the first
        who writes to memory that was free for long waits for the host of a virtual machine, and that must not be the one whose turn comes first, or
        after one that stored little."""
        self.end_run()
        machine.wait_for_quiet(self.options.time_limit if time_limit is None else time_limit)
        folder = work.folder if work else self.folder
        if work and self.room.is_memory(folder):
            self._write_ballast(folder / "ballast", work.volume.run)
        store = tempfile.mkdtemp(prefix="store.", dir=folder)
        self._of_run |= {Path(store), folder / "out", self.folder / "out"}
        return store

    def _write_ballast(self, path, count):
        self._of_run.add(path)
        with open(path, "wb", buffering=0) as file:
            for _ in range(count >> 20):
                file.write(_BALLAST)
        path.unlink()

    def end_run(self):
        """Removes the store and the output of the last run."""
        _remove(self._of_run)

    def end_row(self):
        """Also removes inputs, and the row's own media."""
        _remove(self._of_run)
        _remove(self._of_row)

    def run(self, command, work, examine=dict):
        """Runs a command once, checks its output, and returns its cost, with the result of `examine` after each run. Repeats it if others took the
        processors meanwhile."""
        best = None
        for _ in range(1 + self.options.repeats):
            try:
                run = self._run(command, work) | examine()
            finally:
                self.end_run()
            if best is None or run["disturbed"] < best["disturbed"]:
                best = run
            if best["disturbed"] <= DISTURBED:
                break
        return best

    def _run(self, command, work):
        out = work.folder / "out"
        store = self.new_store(work)
        run = self.cost(command.name, command.arguments(store, work.jobs, work.cacert), work, out)
        try:
            with open(out, "rb") as output:
                check(output, work.expected, command.checker(store))
        except WrongOutput as fault:
            raise WrongOutput(f"{command.name}: {fault}") from None
        return run

    def cost(self, name, words, work, out=os.devnull, largest=None):
        """Runs a program over an input once and returns its cost. It does not check `out`. `largest` limits the size of each file that it writes."""
        cost = self.folder / "cost"
        used, served = machine.busy_seconds(), self._served()
        with open(work.input, "rb") as stdin, open(out, "wb") as stdout, open(self.folder / "errors", "wb") as stderr:
            self._heartbeat.pause()
            launch = children.start([self.programs.launch(), cost, 600, 20, *words], orphaned=signal.SIGTERM, largest_file=largest or work.volume.run + SMALL,
                                    stdin=stdin, stdout=stdout, stderr=stderr, env=self.environment)
            try:
                launch.wait()
            finally:
                children.end(launch)
        used = machine.busy_seconds() - used
        pause = self._heartbeat.pause()
        served = self._served() - served
        run = json.loads(cost.read_text())
        run["processor"] = run["user"] + run["system"]
        run["origin"] = served
        run["disturbed"] = max(0.0, used - served - run["processor"] - 0.03) / run["wall"]
        run["pause"] = pause
        if pause > PAUSED:
            run["disturbed"] += 1 + pause / run["wall"]
        run["rate"] = len(work.expected) / run["wall"]
        if run["status"]:
            raise WrongOutput(f"{name} ends with {run['status']}: {(self.folder / 'errors').read_text(errors='replace')[-300:].strip()}")
        return run

    def _served(self):
        """Processor time of the servers that answer."""
        return sum(server.processor_seconds() for server in (self._nginx, self._nghttpd, self._database) if server)

    def in_turn(self, measures):
        """Runs every measure once per round; each round begins with a different one. Returns the results by name."""
        found = {name: [] for name in measures}
        names = list(measures)
        for turn in range(self.rounds):
            print(f"round {turn + 1} of {self.rounds}: {', '.join(names)}", file=sys.stderr)
            for name in names[turn % len(names):] + names[:turn % len(names)]:
                found[name].append(measures[name]())
                self.end_run()
        return found

    def compare(self, commands, work):
        """Several commands over the same work, or each over its own (`work` by name)."""
        chosen = work if isinstance(work, dict) else {command.name: work for command in commands}
        return self.in_turn({command.name: lambda command=command: self.run(command, chosen[command.name]) for command in commands})


def _remove(paths):
    for path in paths:
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    paths.clear()
