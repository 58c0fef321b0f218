"""Where a process is killed: at a random moment, at a change of its files, within a system call."""
import collections
import time

from . import watch

#: How long to wait for a state, in seconds. Then the process is killed anyway.
_PATIENCE = 2
#: The share of processes that are killed during their start. The others have begun to work.
_EARLY = 0.2
#: A younger process has hardly opened its queue.
_YOUNG = 0.05


class Killer:
    """Kills with SIGKILL, and counts what the killed processes were doing."""

    def __init__(self, draw, queue, store):
        self._draw, self._queue, self._store = draw, str(queue), str(store)
        self.counts = collections.Counter()

    def kill(self, child, folders):
        """Kills a process at the chosen moment.

        - folders: where changes may be such a moment.
        - Returns: whether it was still alive then.
        """
        aim, is_early = self._draw.choices(["moment", "change", "call"], [2, 5, 5])[0], self._draw.random() < _EARLY
        found = None
        if is_early:
            aim = "moment"
        else:
            watch.wait_for_work(child, _PATIENCE)
        if aim == "moment":
            time.sleep(self._draw.expovariate(1 / 0.08))
        elif aim == "change":
            found = folders.wait(child, _PATIENCE, self._draw.randrange(1, 12))
        else:
            wanted = self._draw.choice([{"syncs"}, {"writes"}, {"renames", "links", "removes"}, {"locks"}])
            found = watch.wait_for_call(child, _PATIENCE, wanted)
        found = found or next(iter(watch.calls(child.pid)), None)
        age = time.monotonic() - child.begin
        child.kill()
        child.wait()
        if child.returncode >= 0:
            return False
        self.counts[f"{child.name}: {self._state(found, age)}"] += 1
        return True

    def note(self, state):
        self.counts[state] += 1

    def _state(self, found, age):
        if found is None:
            return "in its first 50 ms" if age < _YOUNG else "waiting or computing"
        what, path = found
        if what == "locks":
            return "at a lock"
        place = "of the queue" if path.startswith(self._queue) else "of the store" if path.startswith(self._store) else ""
        does = {"writes": "writing a file", "syncs": "syncing a file", "creates": "making a file"}.get(what, "renaming, linking or removing a file")
        return f"{does} {place}".strip()
