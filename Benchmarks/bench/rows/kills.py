"""Fetchers that end in the middle of their work, by scripts/soak."""
import re
import sys

from .. import children
from ..programs import SOURCES
from ..result import Goal, Result, amount

NAME = "kills"
ABOUT = ("A slow origin and a filter with continuous input, whose fetchers get SIGKILL, SIGSEGV or SIGSTOP at random, 17 times per second, 1,000 "
         "times in all. A lost, changed or late line is an error of the row.")
_FOUND = re.compile(r"(\d+) kills over (\d+) payloads: none lost, changed or late; ([\d.]+)% attached; (\d+) payloads/s, undisturbed (\d+): ([\d.]+)")


def measure(bench):
    table, goals, runs = [], [], {}
    for label, path in bench.options.attaches:
        words = [sys.executable, "-B", "-m", "crash.fetchers", 1_000, "--attache", path]
        paths = f"{SOURCES.parent / 'Tests/Crash'}:{SOURCES}"
        said, status = children.run(words, env={**bench.environment, "PYTHONPATH": paths}, cwd=SOURCES.parent)
        found = _FOUND.search(said)
        if status or not found:
            raise RuntimeError(f"scripts/soak ends with {status}: {said[-500:]}")
        kills, lines, share, rate, undisturbed, ratio = map(float, found.groups())
        table.append([label, *map(amount, (kills, lines, share, rate, undisturbed))])
        runs[label] = {"kills": kills, "payloads": lines, "attached": share, "rate": rate, "undisturbed": undisturbed}
        goals = goals or [Goal("attached", share, 99, unit=" %"), Goal("payloads/s, × undisturbed", ratio, 0.5)]
    return Result(NAME, ABOUT, goals, ["command", "kills", "payloads", "attached %", "payloads/s", "undisturbed payloads/s"], table, [], runs)
