"""Each line is written after the previous one has come out."""
import time

from ..conversation import Conversation
from ..figures import median, percentile
from ..result import Goal, Result, amount

NAME = "one-at-a-time"
ABOUT = ("Each payload is written after the previous line has come out: 1,000 JPEG files of 5 KB, each under its own URL, over a connection that "
         "stays open.")


def measure(bench):
    lines = bench.media_lines(bench.count(1_000, 30), "tiny", ["jpg"])
    commands = bench.attaches() + bench.chosen("limit", "go", "aiohttp")
    runs = bench.in_turn({command.name: lambda command=command: _run(bench, command, lines) for command in commands})
    ours = runs[commands[0].name]
    goals = [Goal("p50", median(run["p50"] for run in ours), 0.22, at_least=False, unit=" ms"),
             Goal("p99", median(run["p99"] for run in ours), 0.5, at_least=False, unit=" ms")]
    table = [[name, *(amount(median(run[key] for run in found)) for key in ("first", "p50", "p90", "p99", "largest"))] for name, found in runs.items()]
    return Result(NAME, ABOUT, goals, ["command", "first ms", "p50 ms", "p90 ms", "p99 ms", "largest ms"], table, [], runs)


def _run(bench, command, lines):
    store = bench.new_store()
    took, answers = [], []
    begin = time.perf_counter()
    with Conversation(bench, command, store, jobs=64) as talk:
        for line in lines:
            answers.append(talk.ask(line.raw))
            end = time.perf_counter()
            took.append((end - begin) * 1000)
            begin = time.perf_counter()
    checker = command.checker(store)
    for number, (answer, line) in enumerate(zip(answers, lines)):
        checker.line(number, answer, line)
    rest = took[1:]
    return {"first": took[0], "p50": percentile(rest, 0.5), "p90": percentile(rest, 0.9), "p99": percentile(rest, 0.99), "largest": max(rest), "all": rest}
