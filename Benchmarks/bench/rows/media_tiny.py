"""Files of 5 KB of all types."""
from .. import comparison
from ..result import Result

NAME = "media-tiny"
ABOUT = "5 KB files of ten types, each under a URL of its own, 64 in flight."


def measure(bench):
    work = bench.work(NAME, bench.media_lines(bench.count(20_000, 100), "tiny"), jobs=64)
    commands = bench.attaches() + bench.chosen("limit", "transfers", "go", "shell", "aiohttp")
    runs = bench.compare(commands, work)
    return Result(NAME, ABOUT, comparison.goals(runs, commands[0].name, limit=2.2, shell=5, cpu=0.8), comparison.HEAD, comparison.table(runs),
                  comparison.notes(bench, runs), runs)
