"""One queue, from empty to done, whose commands are killed meanwhile."""
import contextlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from bench import children

from . import checks, watch
from .commands import Failure, Commands, ended, last_words

_WORKERS = 3
#: The exit statuses of a worker that ends by itself: all done, or told to stop with work left.
_FINISHED = (0, 75)


class Trial:
    """
    - world: payloads, the origin and what must come out.
    - folder: for the queue.
    - store: the same for all, since its path is in the results.
    - upload: options of workers.
    """

    def __init__(self, world, folder, store, draw, poison_after, upload=()):
        self._world, self._draw, self._poison_after = world, draw, poison_after
        shutil.rmtree(store, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._folder, self._store = folder, store
        self._database = folder / "queue"
        self._commands = Commands(world.attache, f"sqlite:{self._database}", store, poison_after, work=("--once", "--jobs", "8", *upload))
        self._log = world.origin.position
        self._settled = {}  # requests for the media of finished payloads, when they were seen to be finished
        self.restarts = self.drains = self.abandoned = 0

    def undisturbed(self):
        """The output of an undisturbed run."""
        self._commands.run("enqueue", self._world.input)
        worker = self._commands.worker(2)
        ended(worker)
        return self._commands.run("results")

    def run(self, kills, killer):
        """Kills this many times, or until all is done, and checks the final state.

        - Returns: how many were killed.
        """
        before = sum(killer.counts.values())
        self._enqueue(killer)
        watched = watch.Folders([self._folder, self._store.parent])
        workers = [self._worker() for _ in range(_WORKERS)]
        try:
            while sum(killer.counts.values()) - before < kills and not self._is_done(workers):
                self._disturb(workers, killer, watched)
            for worker in workers:
                ended(worker, _FINISHED)
            # A drained worker leaves payloads, and so does the last killed one.
            ended(self._worker())
        finally:
            watched.close()
            for worker in workers:
                children.end(worker)
        self._check()
        return sum(killer.counts.values()) - before

    def _worker(self):
        self.restarts += 1
        return self._commands.worker(self._draw.choice([1, 1, 2]))

    def _is_done(self, workers):
        """Whether a worker has ended by itself because all is done."""
        for worker in workers:
            if worker.poll() is not None and worker.poll() not in _FINISHED:
                raise Failure(f"attache work ends with {worker.poll()}; {last_words(worker)}")
        return any(worker.poll() == 0 for worker in workers)

    # What is done to it

    def _enqueue(self, killer):
        """Killed meanwhile and started again: each line is in the queue once."""
        if self._draw.random() < 0.5:
            self._enqueue_files(killer)
        else:
            self._enqueue_lines(killer)
        if self._commands.counts()["ready"] != len(self._world.payloads):
            raise Failure(f"{self._commands.counts()} after {len(self._world.payloads)} payloads were enqueued")

    def _enqueue_lines(self, killer):
        for _ in range(self._draw.randrange(3)):
            child = self._commands.start("enqueue", "--dedupe", "bytes", source=subprocess.PIPE)
            feeder = threading.Thread(target=self._feed, args=(child.stdin,), daemon=True)
            feeder.start()
            with contextlib.closing(watch.Folders([self._folder])) as watched:
                killer.kill(child, watched)
            feeder.join()
        self._commands.run("enqueue", self._world.input, "--dedupe", "bytes")

    def _enqueue_files(self, killer):
        """Each line is a file, and a share of the files comes before each start. No key tells a line that comes twice."""
        drops, written = self._folder / "in", self._folder / "written"
        drops.mkdir()
        lines, starts = [payload.line for payload in self._world.payloads], self._draw.randrange(1, 5)
        share = -(-len(lines) // starts)
        for first in range(0, len(lines), share):
            for number, line in enumerate(lines[first:first + share], first):
                written.write_bytes(line)
                written.rename(drops / f"{number:06}.json")
            child = self._commands.start("enqueue", "--folder", drops, "--follow")
            with contextlib.closing(watch.Folders([self._folder])) as watched:
                killer.kill(child, watched)
        self._commands.run("enqueue", "--folder", drops)
        left = [path for folder in (drops, self._folder / "in.taken", self._folder / "in.refused") for path in folder.rglob("*")]
        if left:
            raise Failure(f"{len(left)} dropped files are left: {left[:5]}")

    def _feed(self, pipe):
        """Sends the input piece by piece: everything before a pause is in the queue by then."""
        lines = [payload.line for payload in self._world.payloads]
        try:
            with pipe:
                for first in range(0, len(lines), 20):
                    pipe.write(b"".join(lines[first:first + 20]))
                    pipe.flush()
                    time.sleep(0.01)
        except BrokenPipeError:
            pass

    def _disturb(self, workers, killer, watched):
        what = self._draw.choices(["one", "all", "reader", "drain"], [10, 3, 1, 1])[0]
        index = self._draw.randrange(len(workers))
        if what == "reader":
            self._read(killer, watched)
        elif what == "drain":
            workers[index].send_signal(signal.SIGTERM)
            # A process that has just started does not handle draining yet.
            if ended(workers[index], (*_FINISHED, -signal.SIGTERM)) != 0:
                self.drains += 1
                workers[index] = self._worker()
        elif killer.kill(workers[index], watched):
            if what == "all":
                for worker in workers:
                    if worker.poll() is None:
                        worker.kill()
                        worker.wait()
                        killer.note("work: together with another")
                self._look()
            for place, worker in enumerate(workers):
                if worker.returncode == -signal.SIGKILL:
                    workers[place] = self._worker()

    def _read(self, killer, watched):
        """Reads results meanwhile, and kills the readers as well."""
        with tempfile.TemporaryFile() as output:
            reader = self._commands.start("results", "--unread", output=output)
            if not killer.kill(reader, watched):
                ended(reader)

    def _look(self):
        """Checks the database while no worker runs. Returns the payloads of dead workers, and the finished ones, whose media must not be requested again."""
        checks.integrity(self._database)
        self.abandoned += self._commands.counts()["leased"]
        records, requests = self._commands.records(), self._world.origin.requests(self._log)
        for number in records:
            target = self._world.payloads[number].target
            if target:
                self._settled.setdefault(target, requests[target])

    # What is there at the end

    def _check(self):
        count = len(self._world.payloads)
        records, counts = self._commands.records(), self._commands.counts()
        if sorted(records) != list(range(count)):
            raise Failure(f"{len(records)} records for {count} payloads; missing: {sorted(set(range(count)) - set(records))[:10]}")
        if self._poison_after and (counts["dead"] or any(record.get("reason") == "queue.poison" for record in records.values())):
            raise Failure(f"{counts['dead']} payloads were taken for what killed their workers")
        if counts["decided"] != count or counts["leased"] or counts["ready"] or counts["waiting"]:
            raise Failure(f"all is done, and the queue says {counts}")
        came = self._commands.run("results")
        checks.output(came, self._world.expected, records, [payload.line for payload in self._world.payloads], not self._poison_after)
        self._commands.run("results", "--unread")
        if self._commands.run("results", "--unread"):
            raise Failure("results were read, and are unread")
        requests = self._world.origin.requests(self._log)
        again = [target for target, seen in self._settled.items() if requests[target] > seen]
        if again:
            raise Failure(f"media of {len(again)} finished payloads were fetched again: {again[:5]}")
        checks.integrity(self._database)
        self._commands.prune()
        checks.store(self._store)

    @property
    def settled(self):
        return len(self._settled)
