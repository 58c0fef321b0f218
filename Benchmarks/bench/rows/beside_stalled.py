"""Healthy transfers beside thousands that never answer."""
import re
import time

from ..checking import AttacheCheck, WrongOutput
from ..conversation import Conversation
from ..figures import median, paired_ratio
from ..result import Goal, Result

NAME = "beside-stalled"
ABOUT = ("64 healthy 5 KB transfers in flight beside 4,000 stalled ones on other origins (`--unordered --per-host 64`), compared with the same run "
         "without stalled ones. All stalled transfers have their connections before the first healthy payload is written. The time ends with the "
         "last healthy line.")
_ID = re.compile(rb'"id":(\d+),')


def measure(bench):
    stalled, healthy = bench.count(4_000, 200), bench.media_lines(bench.count(20_000, 100), "tiny", offset=1_000_000)
    work, waiting = bench.work(NAME, healthy, jobs=64), bench.stalled_lines(stalled)
    attaches = bench.attaches("--unordered", "--per-host", 64, "--deadline", "5m")
    measures = {}
    for command in attaches:
        measures[command.name] = lambda command=command: _run(bench, command, work, waiting)
        measures[f"{command.name} without"] = lambda command=command: _run(bench, command, work, [])
    runs = bench.in_turn(measures)
    rates = {name: [run["rate"] for run in found] for name, found in runs.items()}
    ours = attaches[0].name
    goal = Goal("healthy payloads/s, × without stalled ones", paired_ratio(rates[ours], rates[f"{ours} without"]), 0.9)
    return Result(NAME, ABOUT, [goal], ["command", "healthy payloads/s"], [[name, f"{median(found):,.0f}"] for name, found in rates.items()], [], runs)


def _run(bench, command, work, waiting):
    store = bench.new_store()
    with Conversation(bench, command, store, jobs=len(waiting) + 64) as talk:
        talk.write(waiting)
        bench.stalled.wait_for(len(waiting))
        begin = time.monotonic()
        feeder = talk.write_file(work.input)
        lines, end = talk.read_lines(len(work.expected))
        feeder.wait()
        _check(lines, work.expected, store)
        if sorted(talk.stop()) != sorted(line.raw for line in waiting):
            raise WrongOutput(f"{command.name}: the stalled lines did not come out as they came")
    bench.stalled.wait_for(0)
    return {"rate": len(lines) / (end - begin), "wall": end - begin}


def _check(lines, expected, store):
    """Checks that every healthy line came out once, in any order."""
    by_id = {_ID.search(wanted.raw)[1]: wanted for wanted in expected}
    checker = AttacheCheck(store)
    for number, line in enumerate(lines):
        found = _ID.search(line)
        wanted = by_id.pop(found[1], None) if found else None
        if wanted is None:
            raise WrongOutput(f"line {number + 1}: is no healthy one, or comes twice")
        checker.line(number, line, wanted)
