"""What fills a queue while it is disturbed. Each counts what was acknowledged."""
import subprocess
import threading
import time

from bench import children

from .commands import Failure, last_words

#: The exit status of a command that finds no server.
UNAVAILABLE = 69
_KILLED = -9


class Batches:
    """One `attache enqueue --dedupe` after the other. Each is repeated until it succeeds."""

    def __init__(self, commands, folder, batches):
        self._commands, self._folder, self._batches = commands, folder, batches
        self._child, self._lock, self._hurry = None, threading.Lock(), threading.Event()
        self.pause, self.failure, self.kills, self.unavailable = 0.0, None, 0, 0
        self.acknowledged = []
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()

    def _run(self):
        try:
            for place, lines in enumerate(self._batches):
                path = self._folder / f"batch-{place}"
                path.write_bytes(b"".join(lines))
                while not self._is_enqueued(path):
                    time.sleep(0.1)
                self.acknowledged.append(place)
                self._hurry.wait(self.pause)
                self._hurry.clear()
        except Failure as failure:
            self.failure = failure

    def _is_enqueued(self, path):
        with self._lock:
            child = self._child = self._commands.start("enqueue", path, "--dedupe", "bytes")
        status = child.wait()
        with self._lock:
            self._child = None
        if status == _KILLED:
            self.kills += 1
        elif status == UNAVAILABLE:
            self.unavailable += 1
        elif status:
            raise Failure(f"attache enqueue ends with {status}; {last_words(child)}")
        return status == 0

    @property
    def count(self):
        """The number of payloads whose command has succeeded."""
        return sum(len(self._batches[place]) for place in self.acknowledged)

    def hurry(self):
        """Begins the next batch without a pause."""
        self._hurry.set()

    def kill(self, seconds):
        """Kills the running process, or the next one, after this time. Returns whether there was one."""
        self._hurry.set()
        time.sleep(seconds)
        end = time.monotonic() + 3
        while time.monotonic() < end and self._thread.is_alive():
            with self._lock:
                if self._child and self._child.poll() is None:
                    self._child.kill()
                    return True
            time.sleep(0.001)
        return False

    def finish(self, seconds):
        """Enqueues the rest without pauses."""
        self.pause = 0
        self._hurry.set()
        self._thread.join(seconds)
        if self.failure:
            raise self.failure
        if self._thread.is_alive():
            raise Failure(f"{len(self._batches) - len(self.acknowledged)} batches are not enqueued within {seconds} s")


class Stream:
    """One `attache enqueue` without keys, which lives through everything: its payloads can only come twice by its own fault."""

    def __init__(self, commands, lines):
        self._lines = lines
        self.pause = 0.0
        self.child = commands.start("enqueue", source=subprocess.PIPE)
        self._thread = threading.Thread(target=self._feed, daemon=True)

    def start(self):
        self._thread.start()

    def _feed(self):
        try:
            with self.child.stdin as pipe:
                for line in self._lines:
                    pipe.write(line)
                    pipe.flush()
                    if self.pause:
                        time.sleep(self.pause)
        except BrokenPipeError:
            pass

    def finish(self, seconds):
        self.pause = 0
        try:
            status = self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise Failure(f"attache enqueue does not end within {seconds} s; {last_words(self.child)}") from None
        if status:
            raise Failure(f"attache enqueue ends with {status}; {last_words(self.child)}")

    def close(self):
        children.end(self.child)
