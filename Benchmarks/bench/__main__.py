"""The benchmark's command line; scripts/bench sets up what it needs and calls it."""
import argparse
import contextlib
import sys
import time
import traceback
from pathlib import Path

from . import archive, children, machine, report
from .bench import Bench, Options
from .checking import WrongOutput
from .programs import PEERS, SOURCES
from .result import Result
from .room import Room
from .rows import ROWS, instructions, kills

ROOT = SOURCES.parent


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description="attache beside its peers, in turn, on this machine.")
    parser.add_argument("rows", nargs="*", metavar="NAME", help=f"a row: {', '.join(ROWS)} (all)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each command (5)")
    parser.add_argument("--peers", default=",".join(PEERS), metavar="LIST", help=f"some of {','.join(PEERS)} (all)")
    parser.add_argument("--attache", action="append", default=[], metavar="[LABEL=]PATH",
                        help="a build of attache instead of this clone's; several are measured in turn, and goals are those of the first")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where everything goes, single runs included")
    parser.add_argument("--markdown", action="store_true", help="write Documentation/benchmarks.md from the last result of each row, and record the instructions")
    parser.add_argument("--quick", action="store_true", help="one round with little work and fixtures for media: whether all works, not how fast")
    parser.add_argument("--distinct", action="store_true", help="a file with bytes of its own for each payload; otherwise one of each type under many URLs")
    parser.add_argument("--time-limit", type=float, default=10, metavar="SECONDS", help="how long a run may wait for the machine to be quiet (10)")
    parser.add_argument("--repeats", type=int, default=2, metavar="N", help="how often a run that others disturbed is repeated (2)")
    chosen = parser.parse_args()
    unknown = [name for name in chosen.rows if name not in ROWS] + [name for name in chosen.peers.split(",") if name and name not in PEERS]
    if chosen.markdown and chosen.quick:
        parser.error("a quick run is not for Documentation/benchmarks.md")
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    return chosen


def attaches(given):
    """Labels and paths. A build without a label gets its number."""
    found = []
    for number, text in enumerate(given, 1):
        label, equals, path = text.partition("=")
        if not equals:
            label, path = "attache" if number == 1 else f"attache {number}", text
        found.append((label, Path(path).resolve(strict=True)))
    return tuple(found)


def measured(bench, name):
    row = ROWS[name]
    try:
        result = row.measure(bench)
    except Exception as problem:  # the other rows are measured all the same; a fault ends in status 1
        if not isinstance(problem, WrongOutput):
            traceback.print_exc()
        result = Result(name, row.ABOUT, fault=str(problem))
    finally:
        bench.end_row()
    result.measured = f"{time.strftime('%Y-%m-%d %H:%M')}, {bench.rounds} round{'s' * (bench.rounds > 1)}"
    for goal in result.goals:
        goal.judged = not bench.options.is_quick
    if not bench.options.is_quick and not result.fault:
        archive.keep(bench.scratch / "results", result)
    return result


def main():
    chosen = arguments()
    children.exit_on_signals()
    children.raise_file_limit()
    scratch = ROOT / ".build/bench"
    scratch.mkdir(parents=True, exist_ok=True)
    if chosen.markdown and chosen.rows and (lost := archive.missing(scratch / "results", ROWS, chosen.rows)):
        print(f"scripts/bench: Documentation/benchmarks.md would lose these rows, since {scratch / 'results'} has no result of them: {' '.join(lost)}. "
              "Measure them too, or leave out --markdown.", file=sys.stderr)
        return 64
    options = Options(rounds=chosen.rounds, is_quick=chosen.quick, peers=tuple(filter(None, chosen.peers.split(","))), has_distinct_media=chosen.distinct,
                      attaches=attaches(chosen.attache or [f"attache={ROOT}/.build/release/attache"]), time_limit=0 if chosen.quick else chosen.time_limit,
                      repeats=0 if chosen.quick else chosen.repeats)
    settings = "; ".join(f"{label} is {path}" for label, path in options.attaches)
    description, results = machine.description(), []
    with Room(scratch) as room, contextlib.closing(Bench(options, scratch, room)) as bench:
        for lack in bench.missing:
            print(f"left out: {lack}", file=sys.stderr)
        for name in chosen.rows or [name for name in ROWS if not (chosen.quick and name in (instructions.NAME, kills.NAME))]:
            results.append(measured(bench, name))
            print(f"## {name}\n\n{results[-1].about}\n\n{report.text(results[-1])}\n", flush=True)
            if chosen.json:
                chosen.json.write_text(report.record(results, description, settings))
    if len(results) > 1:
        print(report.summary(results))
    if chosen.markdown:
        found = archive.kept(scratch / "results", ROWS)
        (ROOT / "Documentation/benchmarks.md").write_text(report.document(found, description))
        for result in found:
            if result.name == instructions.NAME and result.runs:
                instructions.record(result)
    return 1 if any(result.fault for result in results) else 0


sys.exit(main())
