"""Payloads without media."""
import json
import os
import shutil

from .. import comparison, payloads
from ..checking import Expected, PeerCheck, WrongOutput
from ..figures import median
from ..programs import Command
from ..result import Goal, Result
from ..work import Generated

NAME = "pass-through"
ABOUT = "1 KB payloads without media, from a file into a file (this is the figure for the goal), and from a pipe that another process fills."


class JSONCheck(PeerCheck):
    """jq formats the same values differently, so every hundredth line is compared."""

    def line(self, number, line, expected):
        if number % 100 == 0 and json.loads(line) != json.loads(expected.raw):
            raise WrongOutput(f"line {number + 1}: has other values")

    def finish(self, count):
        pass


def _from_pipe(command, path):
    return Command(f"{command.name} from a pipe", lambda *given: ["sh", "-c", 'cat "$0" | "$@"', path, *command.arguments(*given)], command.checker)


def measure(bench):
    work = bench.work(NAME, Generated(bench.count(300_000, 2_000), lambda number: Expected(payloads.passing(number))), jobs=64)
    attaches = bench.attaches()
    commands = attaches + [_from_pipe(command, work.input) for command in attaches] + bench.chosen("limit")
    if shutil.which("jq"):
        commands.append(Command("jq", lambda *_: ["jq", "-c", "."], JSONCheck))
    runs = bench.compare(commands, work)
    megabytes = os.path.getsize(work.input) / 1e6
    speeds = {name: megabytes / median(run["wall"] for run in all_runs) for name, all_runs in runs.items()}
    goals = comparison.goals(runs, attaches[0].name, jq=35) + [Goal("speed", speeds[attaches[0].name], 400, unit=" MB/s")]
    table = [[*row, f"{speeds[name]:,.0f}"] for row, name in zip(comparison.table(runs), runs)]
    return Result(NAME, ABOUT, goals, [*comparison.head(runs), "MB/s"], table, comparison.notes(bench, runs), runs)
