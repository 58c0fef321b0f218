"""Films of 3 MB."""
from .. import comparison
from ..media import VIDEOS
from ..result import Result

NAME = "media-large"
ABOUT = "3 MB videos, each under a URL of its own, 16 in flight."


def measure(bench):
    work = bench.work(NAME, bench.media_lines(bench.count(240, 20), "large", VIDEOS), jobs=16)
    commands = bench.attaches() + bench.chosen("limit", "transfers", "go", "shell", "aiohttp")
    runs = bench.compare(commands, work)
    return Result(NAME, ABOUT, comparison.goals(runs, commands[0].name, limit=1.5, cpu=1.2), comparison.HEAD, comparison.table(runs),
                  comparison.notes(bench, runs), runs)
