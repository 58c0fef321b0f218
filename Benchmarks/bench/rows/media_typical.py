"""Files of 100 KB of all types."""
from .. import comparison
from ..result import Result

NAME = "media-typical"
ABOUT = "100 KB files of ten types, each under a URL of its own, 64 in flight."


def measure(bench):
    work = bench.work(NAME, bench.media_lines(bench.count(4_000, 60), "typical"), jobs=64)
    commands = bench.attaches() + bench.chosen("limit", "transfers", "go", "shell", "aiohttp")
    runs = bench.compare(commands, work)
    return Result(NAME, ABOUT, comparison.goals(runs, commands[0].name, limit=1.8, shell=3, cpu=1.1), comparison.HEAD, comparison.table(runs),
                  comparison.notes(bench, runs), runs)
