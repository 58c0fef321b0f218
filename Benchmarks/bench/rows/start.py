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
HEAD = ["command", "median ms", "p10 ms", "p90 ms"]


def measure(bench):
    if not shutil.which("readelf"):
        return Result(NAME, ABOUT, absent="readelf is needed, which names the libraries")
    work = bench.work(NAME, bench.media_lines(1, "tiny", ["jpg"]), jobs=64)
    attaches = bench.attaches()
    empty = bench.programs.empty(bench.options.attaches[0][1])
    commands = attaches + [Command("empty C program", lambda *_: [empty])] + bench.chosen("limit")
    found = turns(bench, commands, lambda command: _run(bench, command, work))
    ours = median(found[attaches[0].name])
    goal = Goal("more than the empty program", ours - median(found["empty C program"]), 6, at_least=False, unit=" ms")
    return Result(NAME, ABOUT, [goal], HEAD, table(found), [], found)


def turns(bench, commands, run, turns=None):
    """Runs commands in turn and returns the milliseconds of each run, by the command's name. ``run`` gives the seconds of one run."""
    found = {command.name: [] for command in commands}
    for turn in range(turns or bench.count(60 * bench.rounds, 3)):
        if turn % 20 == 0:
            machine.wait_for_quiet(bench.options.time_limit)
        for command in commands[turn % len(commands):] + commands[:turn % len(commands)]:
            found[command.name].append(run(command) * 1000)
    return found


def table(found):
    return [[name, amount(median(times)), amount(percentile(times, 0.1)), amount(percentile(times, 0.9))] for name, times in found.items()]


def launch(bench, words, stdin, stdout):
    """Runs a program from start to exit."""
    cost = bench.folder / "cost"
    launcher = children.start([bench.programs.launch(), cost, 60, 10_000, *words], orphaned=signal.SIGTERM, stdin=stdin, stdout=stdout,
                              stderr=subprocess.DEVNULL, env=bench.environment)
    try:
        launcher.wait()
    finally:
        children.end(launcher)
    return json.loads(cost.read_text())


def _run(bench, command, work):
    store, out = bench.new_store(time_limit=0), bench.folder / "out"
    with open(work.input, "rb") as stdin, open(out, "wb") as stdout:
        cost = launch(bench, command.arguments(store, work.jobs, None), stdin, stdout)
    if command.name != "empty C program":
        with open(out, "rb") as output:
            check(output, work.expected, command.checker(store))
    return cost["wall"]
