"""One queue in PostgreSQL, on a primary with two standbys: filled, worked and delivered while processes, servers and connections are broken."""
import collections
import contextlib
import os
import shutil
import signal
import sys
import time
import zlib
from pathlib import Path

from bench import children
from postgresql import programs

from . import checks, commits, deliveries, faults
from .commands import Commands, Failure, last_words
from .enqueuing import UNAVAILABLE, Batches, Stream

_WORKERS, _DELIVERERS = 3, 2
_FINISHED = (0, 75)
#: What a command says that finds no server when it opens the queue. It does not wait then.
_OF_OPENING = "check the address and the server"
#: A worker's lease is twice its deadline and 5 s: 9 s (WorkerConfiguration.leaseSpan).
_PAST_LEASE = 9.6
#: A part of the payloads has no keys.
_WITHOUT_KEYS = 5
_BATCH = 50
#: How long the processes may take to open the queue while it is filled, in seconds.
_OPENING = 5
#: How long what is left may take after the last fault, in seconds.
_PATIENCE = 60
#: How long a worker may take to come back when its server or network has, in seconds.
_RETURN = 5
#: The time that a sender takes for a payload, in seconds.
_PACE = 0.004
_SENDER = Path(__file__).with_name("sender.py")
_CUTS = {"cut before a commit": "before", "cut within a commit": "within", "cut after a commit": "after"}
#: Longer than any fault, so that no process gives up.
_OPTIONS = ("--queue-timeout", "2m")


class Siege:
    """
    - world: payloads, the origin, and the lines that must come out, by their payloads' numbers.
    - place: the cluster and its proxy.
    - name: of the queue.
    """

    def __init__(self, world, place, folder, store, name, draw):
        self._world, self._place, self._draw = world, place, draw
        self._schema = f"attache_{name}"
        self._folder = folder
        shutil.rmtree(store, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._log = folder / "log"
        self._log.touch()
        direct, through = (f"{place.cluster.uri(ports)}?queue={name}" for ports in (None, place.proxy.ports))
        work = ("--attempts", "2", "--deadline", "2s", "--jobs", "16", *world.bucket.options)
        self._commands, self._proxied = (Commands(world.attache, uri, store, 1_000_000, work=work, options=_OPTIONS) for uri in (direct, through))
        self._mode = draw.choice(["line", "envelope"])
        self._workers, self._deliverers, self._sleeper = [], [], None
        self._dead = 0
        self.done = collections.Counter()
        self.repeated = 0

    def run(self, early, late):
        """Does the faults, and checks what is there at the end."""
        self._fill(_OPENING + sum(fault.seconds + 0.4 for fault in early + late))
        try:
            self._workers = [self._worker() for _ in range(_WORKERS)]
            self._deliverers = [self._deliverer() for _ in range(_DELIVERERS)]
            self._wait_until_open()
            for fault in early:
                self._do(fault)
                self._check_deaths()
            for fault in late:
                self._do(fault)
                self._check_deaths()
            self._finish()
        finally:
            for child in [*self._workers, *self._deliverers]:
                with contextlib.suppress(ProcessLookupError):
                    child.send_signal(signal.SIGCONT)
                children.end(child)
            self._stream.close()
        self._check()

    # The processes

    def _fill(self, seconds):
        """Starts to enqueue, so that it takes about this time."""
        payloads = self._world.payloads
        loose = [number for number in payloads if number % _WITHOUT_KEYS == 0]
        keyed = [number for number in payloads if number % _WITHOUT_KEYS]
        self._order = [loose, *(keyed[first:first + _BATCH] for first in range(0, len(keyed), _BATCH))]
        lines = [[payloads[number] for number in numbers] for numbers in self._order]
        path = self._folder / "first"
        path.write_bytes(b"".join(lines[1]))
        self._commands.run("enqueue", path, "--dedupe", "bytes")  # creates the queue
        self._batches = Batches(self._proxied, self._folder, lines[2:])
        self._stream = Stream(self._draw.choice([self._commands, self._proxied]), lines[0])
        self._batches.pause, self._stream.pause = seconds / len(lines), seconds / len(lines[0])
        self._batches.start()
        self._stream.start()

    def _way(self):
        """Most processes use the proxy."""
        return self._draw.choice([self._commands, self._proxied, self._proxied])

    def _worker(self):
        self.done["workers started"] += 1
        return self._way().worker(1)

    def _deliverer(self):
        self.done["deliverers started"] += 1
        way = ["--"] if self._mode == "line" else ["--envelope", "--"]
        child = self._way().start("deliver", "--jobs", self._draw.choice([8, 32]), "--answer-timeout", "20s", "--poison-after", 1_000_000, *way,
                                  sys.executable, "-IS", _SENDER, self._log, self._mode, _PACE)
        child.label = child.pid
        self._note(f"deliverer {child.label}")
        return child

    def _wait_until_open(self):
        """Waits until all processes use the queue: one that finds no server when it starts ends at once."""
        end, count = time.monotonic() + _PATIENCE, _WORKERS + _DELIVERERS
        wanted = f"SELECT (SELECT count(*) FROM {self._schema}.worker) >= {count} AND EXISTS (SELECT 1 FROM {self._schema}.payload WHERE key IS NULL)"
        while self._sql(wanted) != [["t"]]:
            self._look()
            if time.monotonic() > end:
                raise Failure(f"the processes do not open the queue within {_PATIENCE} s")
            time.sleep(0.05)

    def _look(self):
        """All processes that nobody killed are alive. One that found no server when it started is started again, as systemd does."""
        for processes, start in (self._workers, self._worker), (self._deliverers, self._deliverer):
            for index, child in enumerate(processes):
                if child.poll() == UNAVAILABLE and _OF_OPENING in last_words(child):
                    self.done["found no server at the start"] += 1
                    processes[index] = start()
        for child in [*self._workers, *self._deliverers]:
            if child.poll() is not None:
                raise Failure(f"attache {child.name} ends with {child.returncode}; {last_words(child)}")
        if self._batches.failure:
            raise self._batches.failure

    # The faults

    def _do(self, fault):
        self._look()
        self._resume_worker()
        begin = time.monotonic_ns()
        if getattr(self, "_" + _METHODS[fault.name])(fault):
            self.done[fault.name] += 1
        if fault.is_on_database:
            self._note(f"disturbed {begin} {time.monotonic_ns()}")
        if fault.is_on_workers:
            self._dead += 1
        time.sleep(self._draw.expovariate(1 / 0.3))
        self._note_delivered()

    def _kill_enqueuer(self, _):
        return self._batches.kill(self._draw.expovariate(1 / 0.05))

    def _kill_worker(self, fault):
        index = self._draw.randrange(_WORKERS)
        self._kill(self._workers[index], "with" in fault.name)
        self._workers[index] = self._worker()
        return True

    def _kill_deliverer(self, fault):
        index = self._draw.randrange(_DELIVERERS)
        child = self._deliverers[index]
        self._note(f"killed {child.label} {time.monotonic_ns()}")
        if "with" in fault.name:
            for pid in _descendants(child.pid):
                self._note(f"killed {pid} {time.monotonic_ns()}")
        self._kill(child, "with" in fault.name)
        self._deliverers[index] = self._deliverer()
        return True

    def _kill(self, child, with_its_own):
        time.sleep(self._draw.expovariate(1 / 0.05))
        own = _descendants(child.pid) if with_its_own else []
        child.kill()
        for pid in own:
            _kill(pid)
        child.wait()

    def _kill_sender(self, _):
        senders = children.of(self._draw.choice(self._deliverers).pid)
        if not senders:
            return False
        pid = self._draw.choice(senders)
        self._note(f"killed {pid} {time.monotonic_ns()}")
        return _kill(pid)

    def _kill_fetcher(self, _):
        """A grandchild of a worker: its child forks them."""
        worker = self._draw.choice(self._workers)
        fetchers = [pid for child in children.of(worker.pid) for pid in children.of(child)]
        return bool(fetchers) and _kill(self._draw.choice(fetchers))

    def _stop_worker(self, _):
        """It stays so while the next faults happen."""
        self._resume_worker(is_due=True)
        self._sleeper, self._wakes_at = self._draw.choice(self._workers), time.monotonic() + _PAST_LEASE
        self._sleeper.send_signal(signal.SIGSTOP)
        return True

    def _resume_worker(self, is_due=False):
        """
        - is_due: waits until the lease of the stopped worker is over.
        """
        if self._sleeper is None:
            return
        if is_due:
            time.sleep(max(0, self._wakes_at - time.monotonic()))
        if time.monotonic() >= self._wakes_at:
            with contextlib.suppress(ProcessLookupError):  # killed meanwhile
                self._sleeper.send_signal(signal.SIGCONT)
            self._sleeper = None

    def _kill_backend(self, _):
        cluster = self._place.cluster
        is_done = cluster.kill_backend(self._draw)
        cluster.wait_until_replicated()
        return is_done

    def _kill_primary(self, _):
        cluster = self._place.cluster
        cluster.primary.kill()
        acknowledged = len(self._order[1]) + self._batches.count
        killed = cluster.fail_over()
        (kept,), = self._sql(f"SELECT count(*) FROM {self._schema}.payload WHERE key IS NOT NULL")
        commits.kept(int(kept), acknowledged)
        time.sleep(self._draw.uniform(0, 1))
        cluster.rejoin(killed)
        cluster.wait_until_replicated()
        return True

    def _kill_lone_primary(self, fault):
        cluster = self._place.cluster
        for standby in cluster.standbys:
            standby.kill()
        # A commit that waits for no standby is acknowledged now.
        before, end = self._batches.count, time.monotonic() + 3
        self._batches.hurry()
        while self._batches.count == before and time.monotonic() < end:
            time.sleep(0.05)
        cluster.primary.kill()
        for standby in cluster.standbys:
            standby.start(wait=False)
        for standby in cluster.standbys:
            standby.wait_until_ready()
            standby.wait_until_replayed()
        return self._kill_primary(fault)

    def _stop_primary(self, fault):
        with self._stopped([self._place.cluster.primary]):
            time.sleep(fault.seconds)
        return True

    def _stop_standbys(self, fault):
        """Commits wait meanwhile."""
        with self._stopped(self._place.cluster.standbys):
            time.sleep(fault.seconds)
        return True

    @contextlib.contextmanager
    def _stopped(self, servers):
        try:
            for server in servers:
                server.pause()
            yield
        finally:
            for server in servers:
                server.resume()
        self._place.cluster.wait_until_replicated()

    def _cut(self, fault):
        proxy = self._place.proxy
        proxy.arm(_CUTS[fault.name], self._draw.randrange(1, 12), self._draw.random() < 0.5)
        return proxy.has_cut(3)

    def _darken(self, fault):
        self._place.proxy.black(15)
        return True

    # What the log gets beside the senders' own notes

    def _note(self, line):
        with open(self._log, "a") as log:
            log.write(line + "\n")

    def _note_delivered(self):
        """Results that are delivered on the primary and on a standby must not be sent again."""
        found = self._statuses()
        self._place.cluster.wait_until_replicated()
        self._note(" ".join(["delivered", str(time.monotonic_ns()), *map(str, found)]))

    def _statuses(self):
        """The outcome of finished deliveries, by payload."""
        rows = self._sql(f"SELECT substring(encode(line, 'escape') FROM '\"id\":([0-9]+)'), status FROM {self._schema}.result "
                         f"JOIN {self._schema}.payload USING (id) WHERE status IS NOT NULL")
        return {int(number): status for number, status in rows}

    def _sql(self, statement):
        return self._place.cluster.sql(statement)

    # The end

    def _finish(self):
        """Waits until all is enqueued, worked and delivered, and stops the processes."""
        self._resume_worker(is_due=True)
        self._batches.finish(_PATIENCE)
        self._stream.finish(_PATIENCE)
        end, counts = time.monotonic() + _PATIENCE, {}
        while time.monotonic() < end:
            self._look()
            counts = self._commands.counts()
            if not counts["undecided"] and not counts["unread"]:
                break
            time.sleep(0.1)
        else:
            raise Failure(f"{_PATIENCE} s after the last fault the queue says {counts}")
        for child in [*self._workers, *self._deliverers]:
            child.send_signal(signal.SIGTERM)
        for child in [*self._workers, *self._deliverers]:
            with contextlib.suppress(Exception):
                child.wait(30)
            if child.returncode not in _FINISHED:
                raise Failure(f"attache {child.name} ends with {child.returncode} on SIGTERM; {last_words(child)}")

    def _check_deaths(self):
        """A worker that comes back takes the deaths back that were counted meanwhile."""
        end = time.monotonic() + _RETURN
        while True:
            rows = [tuple(map(int, row)) for row in self._sql(f"SELECT id, deaths FROM {self._schema}.work WHERE deaths > 0")]
            try:
                return commits.deaths(rows, self._dead)
            except Failure:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def _check(self):
        world = self._world
        commits.results(self._commands.run("results"), world.expected, self._order)
        commits.records(self._commands.run("results", "--report"))
        counts = self._commands.counts()
        if counts["decided"] != len(world.expected) or counts["dead"] or counts["leased"] or counts["delivering"]:
            raise Failure(f"all is done, and the queue says {counts}")
        (count, largest), = self._sql(f"SELECT count(*), max(id) FROM {self._schema}.payload")
        commits.numbers(int(count), int(largest), len(world.expected))
        if twice := self._sql(f"SELECT key, count(*) FROM {self._schema}.payload WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1"):
            raise Failure(f"these keys are there twice: {twice[:5]}")
        self._check_deaths()
        crcs = {number: zlib.crc32(line.rstrip(b"\n")) for number, line in world.expected.items()}
        self.repeated = deliveries.check(deliveries.Log(self._log.read_text()), crcs, self._statuses())
        self._check_servers()
        self._commands.sweep()
        self._commands.prune()
        checks.store(self._world.store)

    def _check_servers(self):
        cluster = self._place.cluster
        try:
            cluster.wait_until_replicated()
            cluster.check()
        except programs.Unavailable as error:
            raise Failure(str(error)) from None
        tables = ["payload", "work", "result", "output"]
        # In a fixed order: a server that scans large tables in parallel returns the rows as they come.
        sums = " UNION ALL ".join(f"SELECT '{table}', count(*), sum(hashtext(t::text)) FROM {self._schema}.{table} t" for table in tables) + " ORDER BY 1"
        commits.agreement({server.name: str(server.sql(sums, database="attache")) for server in cluster.servers})
        for server in cluster.servers:
            commits.logs(server.name, server.last_words())


_METHODS = {
    "kill an enqueuer": "kill_enqueuer", "kill a deliverer": "kill_deliverer", "kill a deliverer with its processes": "kill_deliverer",
    "kill a sender": "kill_sender", "kill a fetcher": "kill_fetcher", "kill a worker": "kill_worker", "kill a worker with its processes": "kill_worker",
    "stop a worker past its lease": "stop_worker", "kill a backend": "kill_backend", "kill the primary": "kill_primary",
    faults.LONE_PRIMARY: "kill_lone_primary", "stop the primary for 5 s": "stop_primary", "stop the primary for 11 s": "stop_primary",
    "stop the standbys": "stop_standbys",
    "cut before a commit": "cut", "cut within a commit": "cut", "cut after a commit": "cut", "black network for 15 s": "darken",
}


def _kill(pid):
    """Returns whether it was there."""
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


def _descendants(pid):
    own = children.of(pid)
    return own + [other for child in own for other in _descendants(child)]
