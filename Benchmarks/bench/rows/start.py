"""One payload, from start to exit."""
import json
import shutil
import signal
import subprocess

from .. import children, machine
from ..checking import check
from ..figures import median, percentile
from ..programs import Command
from ..result import Goal, Result, amount

NAME = "start"
ABOUT = ("One payload with a 5 KB picture, from start to exit, and an empty C program that is linked with the same libraries. They run in turn "
         "hundreds of times, each with an empty store.")


def measure(bench):
    if not shutil.which("readelf"):
        return Result(NAME, ABOUT, absent="readelf is needed, which names the libraries")
    work = bench.work(NAME, bench.media_lines(1, "tiny", ["jpg"]), jobs=64)
    attaches = bench.attaches()
    empty = bench.programs.empty(bench.options.attaches[0][1])
    commands = attaches + [Command("empty C program", lambda *_: [empty])] + bench.chosen("limit")
    found = {command.name: [] for command in commands}
    for turn in range(bench.count(60 * bench.rounds, 3)):
        if turn % 20 == 0:
            machine.wait_for_quiet(bench.options.patience)
        for command in commands[turn % len(commands):] + commands[:turn % len(commands)]:
            found[command.name].append(_run(bench, command, work) * 1000)
    ours = median(found[attaches[0].name])
    goal = Goal("more than the empty program", ours - median(found["empty C program"]), 10, at_least=False, unit=" ms")
    table = [[name, amount(median(times)), amount(percentile(times, 0.1)), amount(percentile(times, 0.9))] for name, times in found.items()]
    return Result(NAME, ABOUT, [goal], ["command", "median ms", "p10 ms", "p90 ms"], table, [], found)


def _run(bench, command, work):
    store, out, cost = bench.new_store(patience=0), bench.folder / "out", bench.folder / "cost"
    with open(work.input, "rb") as stdin, open(out, "wb") as stdout:
        launch = children.start([bench.programs.launch(), cost, 60, 10_000, *command.arguments(store, work.jobs, None)], orphaned=signal.SIGTERM,
                                stdin=stdin, stdout=stdout, stderr=subprocess.DEVNULL, env=bench.environment)
        try:
            launch.wait()
        finally:
            children.end(launch)
    if command.name != "empty C program":
        with open(out, "rb") as output:
            check(output, work.expected, command.checker(store))
    return json.loads(cost.read_text())["wall"]
