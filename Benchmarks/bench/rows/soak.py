"""A million payloads, many of them faulty."""
import threading
import time

from .. import payloads
from ..checking import AttacheCheck, Expected, WrongOutput
from ..conversation import Conversation
from ..figures import slope
from ..memory_probe import resident_kilobytes, tree
from ..result import Goal, Result, amount

NAME = "soak"
ABOUT = ("1,000,000 payloads, at most 256 undecided at a time, deadline 500 ms. Of every thousand, 200 have media of 5 KB under their own URLs, 40 "
         "have media seen before, 100 are faulty (404, 503, truncated, stalled, a page, too large, a redirect loop, a refused address, not JSON), "
         "and the others have no media. The slope is the growth of the resident memory of attache and its detector per payload, from the 100,000th "
         "on.")
#: Shares of a thousand. The deadline limits how long a stalled one delays the lines after it.
SHARES = {"media": 200, "again": 40, "missing": 30, "busy": 1, "cut": 10, "stalled": 1, "page": 20, "large": 10, "loop": 8, "refused": 10, "invalid": 10}
_KINDS = [kind for kind, share in SHARES.items() for _ in range(share)]
_FLAGS = ["--limits", "image=50KB", "--deadline", "500ms", "--per-host", 64]


class Mixture:
    """The payload of each number, and its expected result."""

    def __init__(self, bench):
        self.nginx, self.stalled, self.media = bench.nginx, bench.stalled, bench.media
        self.names = sorted(name for name in self.media if name.startswith("tiny"))

    def __getitem__(self, number):
        place = number * 617 % 1000  # spreads the kinds; 617 shares no divisor with 1000
        if place >= len(_KINDS):
            return Expected(payloads.passing(number))
        url, medium = getattr(self, "_" + _KINDS[place])(number)
        line = payloads.payload(number, url)
        return Expected(line[:300] if _KINDS[place] == "invalid" else line, medium)

    def _media(self, number):
        name = self.names[number % len(self.names)]
        return self.nginx.url(number, name), self.media[name]

    def _again(self, number):
        return self._media(number % 100)

    def _missing(self, number):
        return self.nginx.url(number, "photo.jpg", folder="missing"), None

    def _busy(self, number):
        return self.nginx.url(number, "photo.jpg", folder="busy"), None

    def _cut(self, number):
        return self.stalled.url(number, path="cut"), None

    def _stalled(self, number):
        return self.stalled.url(number), None

    def _page(self, number):
        return self.nginx.url(number, "photo.jpg", folder="page"), None

    def _large(self, number):
        return self.nginx.url(number, "huge.jpg"), None

    def _loop(self, number):
        return self.nginx.url(number, "photo.jpg", folder="loop"), None

    def _refused(self, number):
        return f"http://127.200.0.1/{number}/photo.jpg", None

    def _invalid(self, number):
        return "http://127.0.0.1/", None


def measure(bench):
    count = bench.count(1_000_000, 3_000)
    runs, goals, table, notes = {}, [], [], []
    for command in bench.attaches(*_FLAGS, network="127.0.0.0/9"):
        run = _run(bench, command, Mixture(bench), count)
        settled = [(lines, kilobytes * 1024) for lines, kilobytes in run["memory"] if lines >= count / 10]
        run["slope"] = slope(settled)
        runs[command.name] = [run]
        table.append([command.name, f"{count:,}", f"{run['attached']:,}", f"{run['unattached']:,}", f"{run['wall']:,.0f}", amount(run["memory"][0][1] / 1024),
                      amount(settled[0][1] / 2**20), amount(settled[-1][1] / 2**20), amount(run["slope"])])
        notes.append(f"{command.name}: {run['summary']}")
    ours = next(iter(runs.values()))[0]
    goals = [Goal("growth after the first tenth", ours["slope"], 1, at_least=False, unit=" bytes per payload"),
             Goal("media that were not attached", ours["unattached"] / max(1, ours["attached"]), 0.05, at_least=False)]
    head = ["command", "payloads", "attached", "media not attached", "seconds", "first MB", "MB after a tenth", "MB at the end", "bytes per payload"]
    return Result(NAME, ABOUT, goals, head, table, notes, runs)


def _run(bench, command, mixture, count):
    store = bench.new_store()
    memory, begin = [], time.monotonic()
    with Conversation(bench, command, store, jobs=256) as talk:
        feeder = threading.Thread(target=_feed, args=(talk, mixture, count), daemon=True)
        feeder.start()
        attached = unattached = number = 0
        next_look = 0.0
        processes = []
        checker = AttacheCheck(store)
        for line in talk.lines():
            wanted = mixture[number]
            if wanted.medium and line == wanted.raw:
                unattached += 1
            else:
                checker.line(number, line, wanted)
                attached += wanted.medium is not None
            number += 1
            if time.monotonic() >= next_look:
                processes = tree(talk.process.pid)
                memory.append((number, resident_kilobytes(processes)))
                next_look = time.monotonic() + 0.2
        if number != count:
            raise WrongOutput(f"{command.name}: {number} lines for {count}")
        talk.process.wait()
        feeder.join()
        return {"wall": time.monotonic() - begin, "memory": memory, "attached": attached, "unattached": unattached, "summary": talk.errors()[-1]}


def _feed(talk, mixture, count):
    try:
        for first in range(0, count, 200):
            talk.write([mixture[number] for number in range(first, min(count, first + 200))])
    finally:
        talk.process.stdin.close()
