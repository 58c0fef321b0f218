"""Files over TLS and HTTP/2."""
from .. import comparison
from ..result import Result

NAME = "tls-h2"
ABOUT = "5 KB and 100 KB files of ten types over TLS and HTTP/2 (aiohttp: HTTP/1.1), 64 in flight."


def measure(bench):
    if not bench.nginx.certificate:
        return Result(NAME, ABOUT, absent="openssl is needed for certificates")
    result = Result(NAME, ABOUT)
    for size, what, count, faster in (("tiny", "5 KB", 10_000, 2.8), ("typical", "100 KB", 3_000, 1.3)):
        lines = bench.media_lines(bench.count(count, 60), size, tls=True)
        work = bench.work(f"{NAME}-{size}", lines, jobs=64, cacert=bench.nginx.certificate.root)
        commands = bench.attaches() + bench.chosen("limit", "sharded", "go", "aiohttp")
        runs = bench.compare(commands, work)
        result.goals += comparison.goals(runs, commands[0].name, f"{what}: ", limit=faster)
        result.head = comparison.head(runs)
        result.table += comparison.table(runs, f"{what}: ")
        result.notes += comparison.notes(bench, runs, f"{what}: ")
        result.runs[what] = runs
    return result
