"""attache's commands over one queue and one store."""
import json
import subprocess
import tempfile
import time

from bench import children

#: Longer than any command takes that does not hang.
_PATIENCE = 120
#: The time after which a payload with a stalled origin is decided; twice, since it is retried.
_DEADLINE = "2s"


class Failure(Exception):
    """A violation of a promise."""


class Commands:
    def __init__(self, attache, queue, store, poison_after, work=("--once", "--jobs", "8"), options=()):
        """
        - work: options of workers.
        - options: of every command of the queue.
        """
        self.attache, self.queue, self.store, self._options = attache, queue, store, options
        self._work = [*work, "--attempts", "2", "--store", store, "--deadline", _DEADLINE, "--allow-http", "--allow-net", "127.0.0.1/32",
                      *(["--poison-after", str(poison_after)] if poison_after else [])]

    def start(self, name, *words, output=None, source=subprocess.DEVNULL):
        """A running command of the queue. Its standard error goes to an unnamed file, and its age counts from here."""
        errors = tempfile.TemporaryFile()
        child = children.start([self.attache, name, "--queue", self.queue, *self._options, *words], stdin=source, stdout=output or subprocess.DEVNULL,
                               stderr=errors)
        child.errors, child.begin, child.name = errors, time.monotonic(), name
        return child

    def worker(self, fetchers):
        return self.start("work", *self._work, "--fetchers", fetchers)

    def run(self, name, *words):
        """Runs a command that must succeed and returns its output."""
        with tempfile.TemporaryFile() as output:
            child = self.start(name, *words, output=output)
            ended(child)
            output.seek(0)
            return output.read()

    def counts(self):
        return json.loads(self.run("queue", "--json"))

    def records(self):
        """The outcome of each payload with a result, by its number from 0."""
        found = {}
        for line in self.run("results", "--report").splitlines():
            record = json.loads(line)
            if record["line"] - 1 in found:
                raise Failure(f"payload {record['line']} has two results")
            found[record["line"] - 1] = record
        return found

    def sweep(self):
        """A worker that finds nothing to do: at its start, it removes the links that killed processes have left."""
        ended(self.start("work", *self._work, *([] if "--once" in self._work else ["--once"])))

    def prune(self):
        said, status = children.run([self.attache, "store", "prune", "--store", self.store])
        if status:
            raise Failure(f"attache store prune ends with {status}: {said}")


def ended(child, statuses=(0,)):
    """Waits for a command that must end, with one of these statuses."""
    try:
        status = child.wait(_PATIENCE)
    except subprocess.TimeoutExpired:
        children.end(child)
        raise Failure(f"attache {child.name} does not end within {_PATIENCE} s; {last_words(child)}") from None
    if status not in statuses:
        raise Failure(f"attache {child.name} ends with {status}; {last_words(child)}")
    return status


def last_words(child):
    child.errors.seek(0)
    text = child.errors.read().decode(errors="replace").strip()
    return f"its standard error: {text[-800:]}" if text else "it says nothing"
