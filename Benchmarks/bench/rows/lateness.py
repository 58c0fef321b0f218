"""Ten thousand payloads in flight, and no origin answers."""
import json

from .. import comparison
from ..figures import median, percentile
from ..result import Goal, Result, amount

NAME = "lateness"
DEADLINE, GRACE = 2000, 50
ABOUT = ("10,000 payloads in flight (`--jobs 10000 --per-host 10000`). Every origin accepts the connection and never answers. The deadline is 2 s. "
         "The figures come from the report: a line is late if it was passed to `write` after its deadline; a decision is due when the grace (50 ms) "
         "before the deadline begins.")


def measure(bench):
    in_flight = bench.count(10_000, 300)
    work = bench.work(NAME, bench.stalled_lines(2 * in_flight), jobs=in_flight)
    report = bench.folder / "report"
    attaches = bench.attaches("--deadline", f"{DEADLINE}ms", "--grace", f"{GRACE}ms", "--report", report)
    runs = bench.in_turn({command.name: lambda command=command: bench.run(command, work, lambda: _examine(report)) for command in attaches})
    ours = runs[attaches[0].name]
    goals = [Goal("late lines in any round", max(run["late"] for run in ours), 0, at_least=False),
             Goal("p99 of decision − (deadline − grace)", median(run["p99"] for run in ours), 10, at_least=False, unit=" ms")]
    head = ["command", "late lines", "decision p50 ms", "p99 ms", "largest ms", "handed to write p99 ms before the deadline", "longest pause of the machine ms", "resident MB"]
    table = [[name, sum(run["late"] for run in found), *(amount(median(run[key] for run in found)) for key in ("p50", "p99", "largest", "before")),
              amount(max(run["pause"] for run in found) * 1000),
              amount(median(run["tree_kb"] for run in found) / 1024)] for name, found in runs.items()]
    return Result(NAME, ABOUT, goals, head, table, comparison.notes(bench, runs), runs)


def _examine(report):
    with open(report) as file:
        records = [json.loads(line) for line in file]
    over = [record["elapsed_ms"] - (DEADLINE - GRACE) for record in records]
    handed = [record["lateness_ms"] for record in records]
    return {"late": sum(value > 0 for value in handed), "p50": percentile(over, 0.5), "p99": percentile(over, 0.99), "largest": max(over),
            "before": -percentile(handed, 0.99)}
